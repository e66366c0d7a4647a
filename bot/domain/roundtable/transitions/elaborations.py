"""
The discussion of a finished step: framed by the lead, bounded in turns, ended by people or by the limit.

Nothing in here moves the step: the same menu follows in any case.
"""

from collections.abc import Iterable
from typing import Any

from bot.domain.actions.words import EndIntent, exit_wish
from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.personas import Address, AddressKind
from bot.domain.catalog.steps import Step
from bot.domain.catalog.taxonomy import trouble
from bot.domain.discussion import board, floor, positions
from bot.domain.discussion.elaboration import (
    Dispute,
    Elaboration,
    EndedDiscussion,
    EndReason,
    UnansweredMessage,
)
from bot.domain.discussion.floor import answering
from bot.domain.discussion.positions import Side
from bot.domain.discussion.words import name as name_of
from bot.domain.messages import (
    discussion_wording,
    menus,
    step_wording,
    trouble_wording,
)
from bot.domain.messages.discussion_wording import Favored
from bot.domain.messages.menus import MenuKind
from bot.domain.messages.message import Message
from bot.domain.roundtable import words
from bot.domain.roundtable.effects import React, Speak, Tell
from bot.domain.roundtable.inputs import Press, Say
from bot.domain.roundtable.outcomes import ItemRead, PersonaSpoke
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import (
    asking,
    deciding,
    ending,
    speaking,
    specifying,
    standing,
)
from bot.domain.roundtable.transitions.asking import report
from bot.domain.roundtable.transitions.cards import NOTED
from bot.domain.roundtable.transitions.speaking import (
    PersonaUtterance,
    lead_of,
    named_first,
    next_speaks,
    other_step,
    own_words,
    told,
)
from bot.domain.transcript.lines import BY_RULE, LinePhase
from bot.errors import NotNow

# Disagreement that only people can end.
#
# Nothing in here decides: people get a button for every position. A decision is a line with a name on it; what comes
# of it is the people's, as before.


MOST_OPTIONS = 5
"""More buttons than that are a menu, and no question. Those with the most holders stay."""

# --- for people to decide -----------------------------------------------------------------------------------------


def floor_given(rt: Roundtable, sayings: list[PersonaUtterance], playbook: Playbook) -> Roundtable:
    """The people's floor. The lead puts to people what personas disagree on; the card has a button for each side."""
    debate = rt.debate
    rt = told(rt, sayings)
    if not (dispute := undecided(rt)):
        return rt
    rt = rt.but(elaboration=rt.debate.but(put=(*rt.debate.put, dispute)))
    text = discussion_wording.both_sides(dispute.issue, _favored(debate, dispute))
    note = discussion_wording.YOURS_TO_DECIDE
    return told(rt, [PersonaUtterance(lead_of(rt, playbook), text, note=note)])


def undecided(rt: Roundtable) -> Dispute | None:
    """The first issue with several sides that people were not asked about yet, or not with all of them."""
    debate, settled = rt.debate, rt.discussed.settled
    for issue, found in positions.sides(debate).items():
        held = sorted(found, key=lambda side: -len(side.holders))[:MOST_OPTIONS]
        said = [side.position for side in held]
        if len(said) < 2 or issue in settled:
            continue
        if not _was_put(debate, issue, held):
            options = tuple(side.position for side in held)
            return Dispute(issue=positions.title(debate, issue), options=options)
    return None


def decided(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """On record in the person's name. Personas and people go on as they like."""
    assert rt.menu, "only what the open menu offers is pressed"
    pressed = (event.action, event.value)
    choice = next((one for one in rt.menu.message.choices if (one.action, one.value) == pressed), None)
    if choice is None:
        raise NotNow(trouble_wording.UNKNOWN_MENU)
    dispute, name = rt.debate.put[-1], rt.name_of(event.person.id)
    position = dispute.options[int(choice.value)]
    rt = rt.opening_round(LinePhase.WORKSHOP)
    facts = specifying.decided(rt, f"{dispute.issue}: {position}", playbook)
    sentence = discussion_wording.decided(name, dispute.issue, position)
    rt = rt.heard(
        event.person,
        sentence,
        ts="",
        part=LinePhase.WORKSHOP,
        message_id=event.key,
        **facts,
    )
    debate = rt.debate.but(acted=rt.debate.turn_count, silent_rounds=0)
    return floor_given(rt.but(elaboration=debate), [], playbook)


def _was_put(debate: Elaboration, issue: str, held: list[Side]) -> bool:
    options = {name_of(side.position) for side in held}
    return any(
        name_of(one.issue) == issue and options <= set(map(name_of, one.options)) for one in debate.put
    )


def _favored(debate: Elaboration, dispute: Dispute) -> list[Favored]:
    names = {turn.by: turn.name for turn in debate.turns}
    speakers = {turn.id: turn.name for turn in debate.turns}
    by_position = {side.position: side for side in positions.sides(debate)[name_of(dispute.issue)]}
    return [
        Favored(
            option,
            [names[key] for key in by_position[option].holders],
            [f"{turn} ({speakers[turn]})" for turn in positions.grounds(debate, dispute.issue, option)],
        )
        for option in dispute.options
    ]


# What people say while a persona is at work: turns like any other, which are answered next.
#
# A person is answered once, however many messages it took them to say it. When too much is waiting, what is
# said on top is only kept, and its author is told so, once.


LONGEST = 20
"""So many turns of people wait while a persona speaks. More, and every answer would be stale before it is written."""


def who_answers(rt: Roundtable, address: Address, playbook: Playbook) -> tuple[str, ...]:
    """
    The personas that the newest turn is for. None, when its author is going to be answered anyway: several messages
    of one person are one thing to say.
    """
    debate = rt.debate
    if address.kind is AddressKind.DEFAULT and debate.waiting and _goes_on(debate):
        return ()
    named = address.personas if address.kind is AddressKind.DIRECT else ()
    asked = answering(debate, playbook.roster, address)
    return tuple(key for key in asked if key in named or not _only_listens(rt, key, playbook))


def still_asked(rt: Roundtable, playbook: Playbook) -> tuple[str, ...]:
    """
    Who takes over from a persona whose answer came too late twice: one that did not have the floor since, if what
    waits was said to no persona by name. Where one was named, no other answers for it.
    """
    debate, roster, lead = rt.debate, playbook.roster, lead_of(rt, playbook).key
    addresses = (roster.addressed(turn.text, lead=lead) for turn in reversed(debate.unanswered))
    to_anybody = next((one for one in addresses if one.kind is AddressKind.DEFAULT), None)
    if debate.waiting or to_anybody is None:
        return ()
    others = (*answering(debate, roster, to_anybody), *(one.key for one in roster))
    return tuple(key for key in others if key not in debate.unheard)[:1]


def _only_listens(rt: Roundtable, persona: str, playbook: Playbook) -> bool:
    """Without a model a persona speaks when it is addressed by name: its newest turn, or the framing, tells that."""
    turns = [*rt.debate.turns[:1], *(one for one in rt.debate.turns if one.by == persona)]
    if not ((turns and turns[-1].by_rule) or rt.is_unaided(persona)):
        return False
    return not asking.thinks(Speak(persona=persona, task="respond"), rt, playbook)


def _all_listen(rt: Roundtable, playbook: Playbook) -> bool:
    return all(_only_listens(rt, one.key, playbook) for one in playbook.roster)


def can_go_on(rt: Roundtable, playbook: Playbook) -> bool:
    """Personas cannot go on alone where all only listen, unless the model comes back."""
    return rt.unaided or bool(rt.unaided_personas) or not _all_listen(rt, playbook)


def is_full(rt: Roundtable) -> bool:
    """Only while a persona speaks: on the people's floor they may talk to each other as long as they like."""
    return rt.has_pending(Speak) and len(rt.debate.unanswered) >= LONGEST


def only_kept(rt: Roundtable, event: Say, playbook: Playbook) -> Roundtable:
    """On record, and read when the discussion is over; no persona answers it. After the last turn the card says so."""
    person = event.person
    is_told = rt.debate.exhausted or any(one.by == person.id for one in rt.debate.besides)
    rt, facts = deciding.said(rt, event, playbook)
    rt = rt.heard(person, event.text, ts=event.ts, part=LinePhase.WORKSHOP, **facts)
    beside = UnansweredMessage(by=person.id, name=rt.name_of(person.id), text=event.text, ts=event.ts)
    rt = rt.but(elaboration=rt.debate.but(besides=(*rt.debate.besides, beside)))
    rt = rt.queueing(React(ts=event.ts, emoji=NOTED))
    if is_told:
        return rt
    return rt.queueing(Tell(person=person.id, message=Message(text=discussion_wording.TOO_MUCH_AT_ONCE)))


def _goes_on(debate: Elaboration) -> bool:
    *earlier, newest = debate.unanswered
    return any(turn.by == newest.by for turn in earlier)


PERSONAS_GOING_ON = 2
HEARD = "speech_balloon"


# --- opening ------------------------------------------------------------------------------------------------------


def limit_read(rt: Roundtable, event: ItemRead, playbook: Playbook) -> Roundtable:
    """People may have changed `max_turns` in meta.json since the last commit."""
    if not event.discussing:
        return rt
    rt = rt.but(max_turns=event.state.meta.max_turns) if event.state else rt
    return begin(rt, playbook, from_phase_menu=event.discussing == "phase")


def begin(rt: Roundtable, playbook: Playbook, *, from_phase_menu: bool) -> Roundtable:
    step = playbook.agenda.get(rt.step_id)
    if step is None:
        kind = MenuKind.PHASE if from_phase_menu else MenuKind.STEP
        return asking.menu(report(rt, [trouble("ERR-ELAB-001")]), playbook, "", kind=kind)

    lead, unknown = playbook.roster.lead_of(rt.phase_key)
    topic = _topic(step, playbook, whole_phase=from_phase_menu)
    before = rt.ended.get(step.step_id, EndedDiscussion())
    entry, opened = specifying.discussion_opened(rt, topic, step.step_id, playbook)
    debate = Elaboration(
        step_id=step.step_id,
        entry=entry,
        lead=lead.key,
        topic=topic,
        max_turns=rt.max_turns,
        from_phase_menu=from_phase_menu,
        options=before.options,
        opened_at=rt.now,
    )
    named_in = f"{step.phase_key}-" if from_phase_menu else step.step_id
    debate = board.with_options(debate, board.options_in_step(named_in, rt.specification))
    rt = rt.dropping(Speak).but(stage=Stage.ELABORATING, elaboration=debate)
    rt = rt.opening_round(LinePhase.WORKSHOP)
    if unknown:
        rt = rt.logging(trouble("ERR-ELAB-002", phase_key=rt.phase_key))
    intro = discussion_wording.intro(
        playbook.roster.others(lead.key), topic, item=rt.title, max_turns=debate.max_turns
    )
    rt = speaking.opening(rt, intro, playbook, speak=Speak(persona=lead.key, task="frame"), **opened)
    return rt.opening(step.step_id, discussion=True)


def back(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """
    Resumed in the middle of a discussion: the floor is the people's.

    The limit may have been lowered in meta.json; then it is reached now (ERR-ELAB-006).
    """
    was_used_up = rt.debate.exhausted
    debate = rt.debate.back(rt.max_turns)
    rt = rt.but(stage=Stage.ELABORATING, elaboration=debate)
    if debate.exhausted and not was_used_up:
        return conclude(rt.logging(trouble("ERR-ELAB-006")), EndReason.TURN_LIMIT, playbook)
    text = discussion_wording.back_to_the_table(debate)
    rt = speaking.on_a_card(rt, text)
    if not debate.framed and not asking.is_silenced(rt, playbook):
        return rt.queueing(Speak(persona=lead_of(rt, playbook).key, task="frame"))
    return floor_given(rt, [], playbook)


def _topic(step: Step, playbook: Playbook, *, whole_phase: bool) -> str:
    """At a phase's menu the discussion is about the phase; the record still names its last step."""
    return f"{asking.phase_of(step.phase_key, playbook).name}: {step.title}" if whole_phase else step.title


# --- personas -----------------------------------------------------------------------------------------------------


def persona_spoke(rt: Roundtable, event: PersonaSpoke, playbook: Playbook) -> Roundtable:
    """One turn. The framing gives the floor to the others, the colleague it named first."""
    persona = playbook.roster.get(event.persona)
    if persona is None:
        return said_nothing(rt, event.persona, playbook)
    if speaking.is_stale_reply(rt.debate, event):
        return _written_belatedly(speaking.late_words_noted(rt, persona, event), event, playbook)
    if event.passed or not speaking.is_new(rt.debate, event):
        rt = rt if event.by_rule else speaking.pass_noted(rt, persona, event)
        return said_nothing(rt, persona.key, playbook)
    text, forged = own_words(event.text, persona, playbook)
    if forged:
        rt = rt.logging(trouble("ERR-ELAB-004"))
    if not text:
        return said_nothing(rt, persona.key, playbook)

    framing = not rt.debate.framed
    was_near = rt.debate.nearly_over
    debate = speaking.spoken(rt.debate, text, event, by=persona)
    if framing:
        debate = debate.asked(*named_first(text, playbook.roster.others(persona.key)))
    debate = board.with_persona_options(debate)
    rt = rt.but(elaboration=debate)
    taken = specifying.stances_taken(rt, persona, playbook)
    facts = {**speaking.facts(rt, event), **taken, **_turn(debate)}
    sayings = [PersonaUtterance(persona, text, facts)]
    if other := other_step(rt, text, playbook):
        rt, sayings = _drifted(rt, sayings, playbook, other=other)
    rt = _after_turn(rt, playbook, sayings)
    return _warned(rt, playbook) if debate.nearly_over and not was_near else rt


def _written_belatedly(rt: Roundtable, event: PersonaSpoke, playbook: Playbook) -> Roundtable:
    """A framing is never left out: without it there is no discussion."""
    if event.redone and rt.debate.framed:
        rt = rt.but(elaboration=rt.debate.passed_over(event.persona))
        rt = rt.but(elaboration=rt.debate.asked(*still_asked(rt, playbook)))
        return _after_turn(rt, playbook, [])
    return speaking.asking_to_speak(rt, speaking.again(rt, event.persona), playbook)


def said_nothing(rt: Roundtable, persona: str, playbook: Playbook) -> Roundtable:
    """A persona that has nothing to say, or failed, is passed over: the round goes on."""
    return _after_turn(rt.but(elaboration=rt.debate.passed_over(persona)), playbook, [])


def _after_turn(rt: Roundtable, playbook: Playbook, sayings: list[PersonaUtterance]) -> Roundtable:
    """The next one who waits, or the people's floor. At the limit personas fall silent; people do not."""
    rt = _room_left(rt)
    if rt.debate.waiting:
        return next_speaks(told(rt, sayings), playbook)
    if rt.debate.exhausted:
        return floor_given(rt, sayings, playbook)

    rt = floor_given(rt.but(elaboration=rt.debate.round_over()), sayings, playbook)
    if rt.debate.has_nothing_new:
        return _on_card(rt, discussion_wording.NOTHING_NEW, playbook)
    return _on_card(rt, discussion_wording.ANYBODY_THERE, playbook) if rt.debate.asks_for_people else rt


def _room_left(rt: Roundtable) -> Roundtable:
    """Who waits for the floor without having been asked by people gets none when the personas' share is used."""
    debate = rt.debate
    if debate.exhausted:
        return rt.but(elaboration=debate.but(waiting=(), named=())).dropping(Speak)
    if not (debate.personas_rest or debate.has_nothing_new):
        return rt
    return rt.but(elaboration=debate.but(waiting=tuple(key for key in debate.waiting if key in debate.named)))


def _warned(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """Two turns before the limit."""
    return _on_card(rt, discussion_wording.NEARING_THE_END, playbook)


def _on_card(rt: Roundtable, text: str, playbook: Playbook) -> Roundtable:
    """Said by the lead, where it stands on the card."""
    return rt.saying_on_card(text, part=LinePhase.WORKSHOP, actor=lead_of(rt, playbook).actor, **BY_RULE)


def _drifted(
    rt: Roundtable, sayings: list[PersonaUtterance], playbook: Playbook, *, other: Step
) -> tuple[Roundtable, list[PersonaUtterance]]:
    """Only the lead brings people back; none does it for the lead (ERR-ELAB-005)."""
    lead, drifter = lead_of(rt, playbook), sayings[0].persona
    if lead == drifter:
        return rt.logging(trouble("ERR-ELAB-005")), sayings
    phase = asking.phase_of(other.phase_key, playbook)
    sentence = discussion_wording.persona_off_topic(drifter, other, phase, topic=rt.debate.topic)
    return rt, [*sayings, PersonaUtterance(lead, sentence)]


# --- people -------------------------------------------------------------------------------------------------------


def person_spoke(rt: Roundtable, event: Say, playbook: Playbook) -> Roundtable:
    """A turn, also while a persona speaks; or the wish to end the discussion."""
    wish = exit_wish(event.text)
    ends = wish is EndIntent.YES
    if ends or not event.text.strip():
        rt = rt.heard(event.person, event.text, ts=event.ts, part=LinePhase.WORKSHOP)
        return conclude(rt, EndReason.BY_PEOPLE, playbook) if ends else rt
    if (after := deciding.answered(rt, event, playbook)) is not None:
        return after
    if is_full(rt) or not rt.debate.takes_people:
        return only_kept(rt, event, playbook)

    was_near = rt.debate.nearly_over
    rt = _heard(rt, event, playbook)
    if rt.debate.exhausted:
        return _room_left(rt).queueing(React(ts=event.ts, emoji=NOTED))
    lead = lead_of(rt, playbook)
    if rt.debate.nearly_over and not was_near:
        rt = _warned(rt, playbook)
    if wish is EndIntent.UNSURE:
        return rt.telling(Message(text=discussion_wording.END_OR_GO_ON), part=LinePhase.WORKSHOP)

    if other := other_step(rt, event.text, playbook):
        phase = asking.phase_of(other.phase_key, playbook)
        sentence = discussion_wording.person_off_topic(other, phase, topic=rt.debate.topic)
        rt = told(rt, [PersonaUtterance(lead, sentence)])
    return _asked(rt, event, playbook)


def went_on(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """People have nothing to add: the personas go on by themselves."""
    rt = _pressed(rt, event, step_wording.chosen(menus.GO_ON.label, rt.name_of(event.person.id)), playbook)
    rt = rt.but(elaboration=rt.debate.but(asks_all=""))
    return _given_floor(rt, floor.going_on(rt.debate, playbook.roster, PERSONAS_GOING_ON), playbook)


def all_asked(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """Everybody at the table, persons and personas; those who only listen without a model do so on."""
    name = rt.name_of(event.person.id)
    if rt.debate.exhausted or not can_go_on(rt, playbook):
        sentence = discussion_wording.asked_everybody(name)
        rt = rt.recording(sentence, part=LinePhase.WORKSHOP, person=event.person.id, user_name=name)
        return rt.but(elaboration=rt.debate.but(asks_all=name))
    rt = _pressed(rt, event, discussion_wording.asked_everybody(name), playbook)
    rt = rt.but(elaboration=rt.debate.but(asks_all=name))
    speakers = [one.key for one in playbook.roster if not _only_listens(rt, one.key, playbook)]
    return _given_floor(rt, speakers, playbook, together=True)


def _pressed(rt: Roundtable, event: Press, sentence: str, playbook: Playbook) -> Roundtable:
    if rt.debate.exhausted:
        raise NotNow(discussion_wording.LIMIT_ON_CARD)
    rt = speaking.let_speak(rt, playbook).opening_round(LinePhase.WORKSHOP)
    name = rt.name_of(event.person.id)
    return rt.recording(sentence, part=LinePhase.WORKSHOP, person=event.person.id, user_name=name)


def _given_floor(
    rt: Roundtable, personas: Iterable[str], playbook: Playbook, *, together: bool = False
) -> Roundtable:
    """By people, so that they may speak also when the personas' share is used."""
    personas = tuple(personas)
    debate = rt.debate.asked(*personas)
    named = tuple(dict.fromkeys((*debate.named, *debate.waiting)))
    rt = rt.but(elaboration=debate.but(named=named))
    return next_speaks(rt, playbook, together=personas if together else ())


def ended(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    label = menus.END_ELABORATION.label
    rt = asking.chosen(rt, label, event.person, part=LinePhase.WORKSHOP)
    return conclude(rt, EndReason.BY_PEOPLE, playbook)


def _heard(rt: Roundtable, event: Say, playbook: Playbook) -> Roundtable:
    if rt.debate.framed and not rt.debate.turns[-1].human:
        rt = rt.opening_round(LinePhase.WORKSHOP)
    name = rt.name_of(event.person.id)
    line = rt.line_of(event.ts)
    debate = rt.debate.heard(by=event.person.id, name=name, text=event.text, ts=event.ts, line=line)
    rt, facts = deciding.said(rt.but(elaboration=debate), event, playbook)
    debate = rt.debate
    return rt.heard(event.person, event.text, ts=event.ts, part=LinePhase.WORKSHOP, **_turn(debate), **facts)


def _asked(rt: Roundtable, event: Say, playbook: Playbook) -> Roundtable:
    """The personas that are spoken to get the floor, after those who have it already."""
    address = playbook.roster.addressed(event.text, lead=lead_of(rt, playbook).key)
    if address.kind is AddressKind.DEFAULT and words.addresses_no_one(event.text, playbook.roster):
        rt = rt.logging(trouble("ERR-ELAB-012"))
    answering = who_answers(rt, address, playbook)
    rt = rt.queueing(React(ts=event.ts, emoji=HEARD))
    if address.kind is not AddressKind.DEFAULT:
        return _given_floor(rt, answering, playbook, together=True)
    rt = _room_left(rt.but(elaboration=rt.debate.asked(*answering)))
    return next_speaks(rt, playbook)


# --- ending -------------------------------------------------------------------------------------------------------


def conclude(rt: Roundtable, reason: EndReason, playbook: Playbook) -> Roundtable:
    """No more turns, also for those who still waited for the floor."""
    rt = standing.shown_at_the_end(rt, playbook)
    reason = EndReason.TURN_LIMIT if rt.debate.exhausted and reason is EndReason.BY_PEOPLE else reason
    debate = rt.debate.but(waiting=(), ending=reason)
    rt = rt.closing_menu(discussion_wording.STILL_TALKING, quietly=True).dropping(Speak)
    rt = rt.but(elaboration=debate, stage=Stage.WRITING)
    text = ending.LAST_WORDS[reason]
    lead = lead_of(rt, playbook)
    if rt.board and reason is not EndReason.BUDGET:
        rt = rt.saying_on_card(text, part=LinePhase.FORMALIZING, actor=lead.actor, **BY_RULE)
    else:
        message = Message(text=text, speaker=lead.key)
        rt = rt.telling(message, part=LinePhase.FORMALIZING, actor=lead.actor, **BY_RULE)
    return ending.concluded(rt, playbook)


def too_much_to_hold(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """The voices cannot take in any more of the discussion."""
    return conclude(report(rt, [trouble("ERR-ELAB-014")]), EndReason.TURN_LIMIT, playbook)


# --- small things -------------------------------------------------------------------------------------------------


def _turn(debate: Elaboration) -> dict[str, Any]:
    return {"turn": debate.turn_count, "turn_id": debate.turns[-1].id, "turns_used": debate.turns_used}
