"""
The discussion of a finished step: opened by all personas at once, bounded in turns, ended by people or by the limit.

Nothing in here moves the step: the same menu follows in any case.
"""

from collections.abc import Iterator
from typing import Any

from bot.domain.actions.action import EndIntent, exit_wish
from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.personas import AddressKind
from bot.domain.catalog.taxonomy import trouble
from bot.domain.discussion import board, positions
from bot.domain.discussion.block import DiscussionBlock, block_of, markdown, sources
from bot.domain.discussion.elaboration import (
    AnswerNote,
    Contribution,
    Dispute,
    Elaboration,
    EndedDiscussion,
    EndReason,
    Turn,
    TurnKind,
    UnansweredMessage,
    has_new_quote,
)
from bot.domain.discussion.positions import Side
from bot.domain.discussion.words import name as name_of
from bot.domain.item.artifacts import Edit, InsightEdit, applies_to, digest_of, marker
from bot.domain.item.item_paths import shared
from bot.domain.item.meta import MetaChange, Record
from bot.domain.messages import (
    discussion_card,
    discussion_wording,
    draft_wording,
    menus,
    step_wording,
    trouble_wording,
)
from bot.domain.messages.discussion_wording import Favored
from bot.domain.messages.menus import MenuKind
from bot.domain.messages.message import Link, Message
from bot.domain.roundtable import agreeing, ended, root, words
from bot.domain.roundtable.budget import used_up
from bot.domain.roundtable.effects import React, Speak, Then
from bot.domain.roundtable.inputs import Press, Say, TimeCame
from bot.domain.roundtable.marks import MarkKind
from bot.domain.roundtable.outcomes import CommitResult, ItemRead, TurnTaken, looks_until_stopped, spent
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.timers import TimerName
from bot.domain.roundtable.transitions import (
    asking,
    deciding,
    speaking,
    specifying,
    standing,
    steps,
)
from bot.domain.roundtable.transitions.asking import report
from bot.domain.roundtable.transitions.cards import NOTED
from bot.domain.roundtable.transitions.saving import queue_commit
from bot.domain.roundtable.transitions.speaking import lead_of, other_step, say_as_persona
from bot.domain.roundtable.waiting import unheard_in_discussion
from bot.domain.specification.files import document_title
from bot.domain.transcript.lines import BY_RULE, ENTRIES, RAW, RAW_CHARS, LinePhase
from bot.domain.values.text import one_line
from bot.errors import NotNow

# Disagreement that only people can end.
#
# Nothing in here decides: people get a button for every position. A decision is a line with a name on it; what comes
# of it is the people's, as before.


MARK_CHARS = 200
SUMMARY_CHARS = 100
"""Seed 001: what the record of a discussion in meta.json has room for."""
LAST_WORDS = {
    EndReason.TURN_LIMIT: discussion_wording.LIMIT_REACHED,
    EndReason.BY_PEOPLE: discussion_wording.WRAPPING_UP,
    EndReason.QUIET: discussion_wording.QUIET_SINCE,
    EndReason.DUE: discussion_wording.DUE_BY_NOW,
    EndReason.BUDGET: trouble_wording.USED_UP_IN_A_DISCUSSION,
}
MOST_OPTIONS = 5
"""More buttons than that are a menu, and no question. Those with the most holders stay."""

# --- for people to decide -----------------------------------------------------------------------------------------


def floor_given(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """The people's floor. The lead puts to people what personas disagree on; the card has a button for each side."""
    debate = rt.debate
    if not (dispute := undecided(rt)):
        return rt
    rt = rt.but(elaboration=rt.debate.but(put=(*rt.debate.put, dispute)))
    text = discussion_wording.both_sides(dispute.issue, _favored(debate, dispute))
    note = discussion_wording.YOURS_TO_DECIDE
    return say_as_persona(rt, lead_of(rt, playbook), text, note=note)


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
    patches = specifying.decided(rt, f"{dispute.issue}: {position}", playbook)
    sentence = discussion_wording.decided(name, dispute.issue, position)
    rt = rt.heard(
        event.person,
        sentence,
        ts="",
        part=LinePhase.WORKSHOP,
        message_id=event.key,
        entries=patches,
    )
    return floor_given(rt, playbook)


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


# --- who can speak ------------------------------------------------------------------------------------------------


def only_kept(rt: Roundtable, event: Say, playbook: Playbook) -> Roundtable:
    """On record, and read when the discussion is over; no persona answers it, and the card says so."""
    person = event.person
    rt, patches = deciding.said(rt, event, playbook)
    rt = rt.hearing(event, part=LinePhase.WORKSHOP, entries=patches)
    beside = UnansweredMessage(by=person.id, name=rt.name_of(person.id), text=event.text, ts=event.ts)
    rt = rt.but(elaboration=rt.debate.but(besides=(*rt.debate.besides, beside)))
    return rt.queueing(React(ts=event.ts, emoji=NOTED))


HEARD = "speech_balloon"


# --- opening ------------------------------------------------------------------------------------------------------


def limit_read(rt: Roundtable, event: ItemRead, playbook: Playbook) -> Roundtable:
    """People may have changed `max_turns` in meta.json since the last commit."""
    if not event.discussing:
        return rt
    rt = rt.but(max_turns=state.meta.max_turns) if (state := event.item.state) else rt
    return begin(rt, playbook, from_phase_menu=event.discussing == "phase")


def begin(rt: Roundtable, playbook: Playbook, *, from_phase_menu: bool) -> Roundtable:
    step = playbook.agenda.get(rt.step_id)
    if step is None:
        kind = MenuKind.PHASE if from_phase_menu else MenuKind.STEP
        return asking.menu(report(rt, [trouble("ERR-ELAB-001")]), playbook, "", kind=kind)

    lead, unknown = playbook.roster.lead_of(rt.phase_key)
    # The record names the last step of a phase all the same.
    phase = asking.phase_of(step.phase_key, playbook)
    topic = f"{phase.name}: {step.title}" if from_phase_menu else step.title
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
    rt = speaking.on_a_card(rt, intro, entries=opened)
    assert rt.board, "a card was posted"
    rt = rt.but(board=rt.board.but(first=""))  # the card says it in its own parts
    return speaking.asking_all_to_open(rt, playbook).opening(step.step_id, discussion=True)


def back(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """
    Resumed in the middle of a discussion: the floor is the people's.

    The limit may have been lowered in meta.json; then it is reached now (ERR-ELAB-006).
    """
    was_used_up = rt.debate.exhausted
    # People may be asked again for what they have not decided.
    debate = rt.debate.but(max_turns=rt.max_turns + rt.debate.more_turns, put=())
    rt = rt.but(stage=Stage.ELABORATING, elaboration=debate)
    is_over = debate.exhausted and not was_used_up
    if not (is_over and rt.board):
        rt = speaking.on_a_card(rt, discussion_wording.back_to_the_table(debate))
    if is_over:
        return conclude(rt.logging(trouble("ERR-ELAB-006")), EndReason.TURN_LIMIT, playbook)
    return floor_given(rt, playbook) if debate.framed else speaking.asking_all_to_open(rt, playbook)


# --- personas -----------------------------------------------------------------------------------------------------


def turn_taken(rt: Roundtable, event: TurnTaken, playbook: Playbook) -> Roundtable:
    """What personas say, each in a message of its own. What a round brings that quotes nothing new is not posted."""
    heard, left_out = list[Contribution](), list[str]()
    debate = rt.debate
    for one in event.contributions:
        if one.blends:
            rt = rt.logging(trouble("ERR-ELAB-004"))
        before: list[Turn | Contribution] = [*debate.turns, *heard]
        is_new = event.turn is not TurnKind.ROUND or has_new_quote(before, one.quotes)
        has_room = len(heard) < debate.turns_left or one.by_rule
        if one.text and one.persona in playbook.roster and is_new and has_room:
            heard.append(one.but(by_rule=one.by_rule or event.by_rule))
        else:
            left_out.append(one.text)
    rest = {**event.facts, **({RAW: "\n\n".join(left_out)[:RAW_CHARS]} if any(left_out) else {})}
    was_near = debate.nearly_over
    for place, one in enumerate(heard):
        rt = _said(rt, one.but(facts={**(rest if place == 0 else {}), **one.facts}), playbook)
    if not heard and not event.by_rule:
        rt = _nothing_said(rt, event, playbook, **spent(rest))
    calls, notes = rt.debate.calls + (not event.by_rule), rt.debate.notes
    if looks := looks_until_stopped(event.facts):
        notes = (*notes, AnswerNote(step_id=rt.step_id, persona=event.personas[0], looks=looks))
    rt = rt.but(elaboration=rt.debate.but(calls=calls, notes=notes))
    if rt.debate.nearly_over and not was_near:
        rt = _on_card(rt, discussion_wording.NEARING_THE_END, playbook)
    return call_ended(rt, playbook)


def call_ended(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """
    People have the floor when nobody else is about to speak, or the round begins that came due meanwhile. At the limit
    personas fall silent, and people do not.
    """
    rt = rt.dropping(Speak) if rt.debate.exhausted else rt
    if rt.has_pending(Speak):
        return rt
    rt = floor_given(rt, playbook)
    is_due = rt.debate.is_round_wanted and TimerName.ROUND not in rt.timers
    return speaking.starting_round(rt, playbook) if is_due else rt


def not_answered(rt: Roundtable, effect: Speak, reason: str, raw: str, playbook: Playbook) -> Roundtable:
    """The card says what to do; the others of an opening are heard."""
    names = [one.first_name for one in playbook.roster if one.key in effect.personas]
    about = {
        "step_id": rt.step_id,
        "persona": effect.persona,
        "turn": effect.turn,
        "personas": effect.personas,
    }
    notes = (*rt.debate.notes, AnswerNote(reason=reason, raw=raw, **about))
    rt = rt.but(elaboration=rt.debate.but(calls=rt.debate.calls + 1, notes=notes))
    rt = _on_card(rt, draft_wording.no_answer(names, reason), playbook)
    return call_ended(rt, playbook)


def round_due(rt: Roundtable, event: TimeCame, playbook: Playbook) -> Roundtable:
    """Where a call is on its way, the round begins when that has ended."""
    return speaking.starting_round(rt, playbook) if rt.stage is Stage.ELABORATING else rt


def wants_round(rt: Roundtable) -> bool:
    return rt.stage is Stage.ELABORATING and rt.debate.is_round_wanted and not rt.debate.exhausted


def _said(rt: Roundtable, said: Contribution, playbook: Playbook) -> Roundtable:
    persona = playbook.roster[said.persona]
    sound = positions.sound(said.stances, rt.debate.turns)
    stances = tuple(positions.normalized(one, rt.debate) for one in sound)
    debate = rt.debate.spoken(said.but(stances=stances), name=persona.first_name)
    rt = rt.but(elaboration=board.with_persona_options(debate))
    taken = specifying.stances_taken(rt, persona, playbook)
    quotes = {"quotes": [one.model_dump(mode="json") for one in said.quotes]} if said.quotes else {}
    by_rule = BY_RULE if said.by_rule else {}
    facts = {**spent(said.facts), **quotes, **by_rule, ENTRIES: taken, **_turn(debate)}
    lead, other = lead_of(rt, playbook), other_step(rt, said.text, playbook)
    if other and persona == lead:  # none brings people back for the lead
        rt = rt.logging(trouble("ERR-ELAB-005"))
    rt = say_as_persona(rt, persona, said.text, facts)
    if other is None or persona == lead:
        return rt
    phase, topic = asking.phase_of(other.phase_key, playbook), rt.debate.topic
    return say_as_persona(rt, lead, discussion_wording.persona_off_topic(persona, other, phase, topic=topic))


def _nothing_said(rt: Roundtable, event: TurnTaken, playbook: Playbook, **facts: Any) -> Roundtable:
    """On record, with what the call took. After a round the card asks people; who was asked is named on it."""
    if event.turn is TurnKind.ROUND:
        rt = _on_card(rt, discussion_wording.NOTHING_NEW, playbook, **facts)
        return rt.but(elaboration=rt.debate.but(has_nothing_new=True))
    names = [one.first_name for one in playbook.roster if one.key in event.personas]
    sentence = discussion_wording.passed(names)
    rt = rt.recording(sentence, part=LinePhase.WORKSHOP, persona=event.personas[0], **facts)
    if event.turn is not TurnKind.ASKED:
        return rt
    about = {"step_id": rt.step_id, "persona": event.personas[0], "personas": event.personas}
    note = AnswerNote(reason=draft_wording.PASSED, turn=event.turn, raw=str(facts.get(RAW) or ""), **about)
    return rt.but(elaboration=rt.debate.but(notes=(*rt.debate.notes, note)))


def _on_card(rt: Roundtable, text: str, playbook: Playbook, **facts: Any) -> Roundtable:
    """Said by the lead, where it stands on the card."""
    actor = lead_of(rt, playbook).actor
    return rt.saying_on_card(text, part=LinePhase.WORKSHOP, actor=actor, **{**BY_RULE, **facts})


# --- people -------------------------------------------------------------------------------------------------------


def person_spoke(rt: Roundtable, event: Say, playbook: Playbook) -> Roundtable:
    """A turn, also while a persona speaks; or the wish to end the discussion."""
    wish = exit_wish(event.text)
    ends = wish is EndIntent.YES
    if ends or not event.text.strip():
        rt = rt.hearing(event, part=LinePhase.WORKSHOP)
        return conclude(rt, EndReason.BY_PEOPLE, playbook) if ends else rt
    if (after := deciding.answered(rt, event, playbook)) is not None:
        return after
    if not rt.debate.takes_people:
        return only_kept(rt, event, playbook)

    was_near = rt.debate.nearly_over
    rt = _heard(rt, event, playbook)
    if rt.debate.exhausted:
        return rt.dropping(Speak).queueing(React(ts=event.ts, emoji=NOTED))
    if rt.debate.nearly_over and not was_near:
        rt = _on_card(rt, discussion_wording.NEARING_THE_END, playbook)
    if wish is EndIntent.UNSURE:
        return rt.telling(Message(text=discussion_wording.END_OR_GO_ON), part=LinePhase.WORKSHOP)

    if other := other_step(rt, event.text, playbook):
        phase = asking.phase_of(other.phase_key, playbook)
        sentence = discussion_wording.person_off_topic(other, phase, topic=rt.debate.topic)
        rt = say_as_persona(rt, lead_of(rt, playbook), sentence)
    return _asked(rt, event, playbook)


def went_on(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """People have nothing to add now: a round begins."""
    rt = _pressed(rt, event, step_wording.chosen(menus.GO_ON.label, rt.name_of(event.person.id)), playbook)
    rt = rt.but(elaboration=rt.debate.but(asks_all="", is_round_wanted=True))
    if not rt.debate.framed and not rt.has_pending(Speak):
        return speaking.asking_all_to_open(rt, playbook)
    return speaking.starting_round(rt, playbook)


def all_asked(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """Everybody at the table, persons and personas; those who only listen without a model do so on."""
    name = rt.name_of(event.person.id)
    if rt.debate.exhausted or not speaking.able(rt, playbook):
        sentence = discussion_wording.asked_everybody(name)
        rt = rt.recording(sentence, part=LinePhase.WORKSHOP, by=event.person.id)
        return rt.but(elaboration=rt.debate.but(asks_all=name))
    rt = _pressed(rt, event, discussion_wording.asked_everybody(name), playbook)
    rt = rt.but(elaboration=rt.debate.but(asks_all=name))
    return speaking.asking_personas(rt, speaking.able(rt, playbook), playbook)


def person_asked(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """By mention, in the thread. The value is the id of a person who has said nothing here yet."""
    if event.value not in unheard_in_discussion(rt):
        raise NotNow(trouble_wording.UNKNOWN_MENU)
    name, asked = rt.name_of(event.person.id), rt.name_of(event.value)
    text = discussion_wording.asks_person(name, asked, rt.debate.topic)
    message = Message(text=text, pings=(event.value,))
    return rt.telling(message, part=LinePhase.WORKSHOP, person=event.person.id)


def _pressed(rt: Roundtable, event: Press, sentence: str, playbook: Playbook) -> Roundtable:
    """A person lets the personas go on: that ends a silence which people asked for, and no other."""
    if rt.debate.exhausted:
        raise NotNow(discussion_wording.LIMIT_ON_CARD)
    if used_up(rt.purse, playbook.policy):
        raise NotNow(trouble_wording.BUDGET_USED_UP)
    rt = rt.but(manners=rt.manners.but(muted=False)).opening_round(LinePhase.WORKSHOP)
    return rt.recording(sentence, part=LinePhase.WORKSHOP, by=event.person.id)


def end_pressed(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    label = menus.END_ELABORATION.label
    rt = asking.chosen(rt, label, event.person, part=LinePhase.WORKSHOP)
    return conclude(rt, EndReason.BY_PEOPLE, playbook)


def _heard(rt: Roundtable, event: Say, playbook: Playbook) -> Roundtable:
    if rt.debate.framed and not rt.debate.turns[-1].human:
        rt = rt.opening_round(LinePhase.WORKSHOP)
    name = rt.name_of(event.person.id)
    line = rt.line_of(event.ts)
    debate = rt.debate.heard(by=event.person.id, name=name, text=event.text, ts=event.ts, line=line)
    rt, patches = deciding.said(rt.but(elaboration=debate), event, playbook)
    facts = {**_turn(rt.debate), ENTRIES: patches}
    return rt.hearing(event, part=LinePhase.WORKSHOP, **facts)


def _asked(rt: Roundtable, event: Say, playbook: Playbook) -> Roundtable:
    """The personas that are spoken to answer at once; what is said to nobody by name waits for the next round."""
    address = playbook.roster.addressed(event.text, lead=lead_of(rt, playbook).key)
    rt = rt.queueing(React(ts=event.ts, emoji=HEARD))
    if address.kind is AddressKind.DIRECT:
        return speaking.asking_personas(rt, address.personas, playbook)
    if address.kind is not AddressKind.DEFAULT:
        return speaking.asking_personas(rt, speaking.able(rt, playbook, address.personas), playbook)
    if words.addresses_no_one(event.text, playbook.roster):
        rt = rt.logging(trouble("ERR-ELAB-012"))
    is_wanted = bool(speaking.able(rt, playbook))
    return rt.but(elaboration=rt.debate.but(is_round_wanted=is_wanted))


# --- ending -------------------------------------------------------------------------------------------------------


def conclude(rt: Roundtable, reason: EndReason, playbook: Playbook) -> Roundtable:
    """No more turns, also for those who still waited for the floor."""
    rt = standing.shown_at_the_end(rt, playbook)
    reason = EndReason.TURN_LIMIT if rt.debate.exhausted and reason is EndReason.BY_PEOPLE else reason
    debate = rt.debate.but(ending=reason)
    rt = rt.closing_menu(discussion_wording.STILL_TALKING, quietly=True).dropping(Speak)
    rt = rt.but(elaboration=debate, stage=Stage.WRITING)
    text = LAST_WORDS[reason]
    lead = lead_of(rt, playbook)
    if reason is not EndReason.BUDGET:
        rt = rt.saying_on_card(text, part=LinePhase.FORMALIZING, actor=lead.actor, **BY_RULE)
    else:
        message = Message(text=text, speaker=lead.key)
        rt = rt.telling(message, part=LinePhase.FORMALIZING, actor=lead.actor, **BY_RULE)
    return concluded(rt, playbook)


# --- small things -------------------------------------------------------------------------------------------------


def _turn(debate: Elaboration) -> dict[str, Any]:
    return {"turn": debate.turn_count, "turn_id": debate.turns[-1].id, "turns_used": debate.turns_used}


# --- saving what came of it ------------------------------------------------------------------------------------------


# Its block is made from the record, and no model is waited for. After that a model reads what people said there, as it
# reads what they say about a step.


def concluded(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """Saved with the transcript, the record and the files; shown when that is done."""
    block = block_of(rt.discussed, rt.specification, rt.people, asked=_without_reason(rt))
    if rt.debate.only_framed and not block.has_rows:
        sentence = discussion_wording.ended_early(rt.debate.topic)
        return _save(rt, sentence, playbook, summary=sentence, shown=Message(text=sentence))
    text = _as_markdown(rt, block, playbook)
    kept = "\n".join(filter(None, (text, sources(block, rt.debate))))
    shown = Message(text=text, links=_links(rt, block))
    return _save(rt, kept, playbook, summary=_summary(rt), edits=_additions(rt, kept, playbook), shown=shown)


def saved(rt: Roundtable, playbook: Playbook, told: CommitResult | None) -> Roundtable:
    """The summary is shown by the post that follows the commit; now which files it went into, and the menu."""
    step = playbook.own_step(rt.debate.step_id)
    # The first edit of a file adds the block; those of its sections come after it.
    touched = {
        one.path: one for one in reversed(told.touched if told else ()) if step and one.path in step.outputs
    }
    insights = len(rt.discussed.own(rt.specification.active("insight")))
    text = discussion_wording.insights_added(tuple(reversed(touched.values())), insights)
    asked = playbook.agenda.get(rt.debate.step_id)
    ends_phase = rt.debate.from_phase_menu or (asked is not None and asked.is_card)
    kind = MenuKind.PHASE if ends_phase else MenuKind.STEP
    rt = ended.keep(_shown_on_card(rt))
    rt = steps.menu(rt.but(elaboration=None), playbook, text, kind=kind, anew=True)
    return speaking.drafting_next(rt, playbook)


def _shown_on_card(rt: Roundtable) -> Roundtable:
    """The block replaces the card of the discussion."""
    if rt.board is None or rt.board.ending is None:
        return rt
    # People wait for it: it goes out before the menu that is posted below.
    return rt.ending(rt.board.token, rt.board.ending).showing_ending(rt.board.token, pressed=True)


def _without_reason(rt: Roundtable) -> Iterator[str]:
    """An objection that is only a mark is no entry; that it is open is in the block all the same."""
    for one in agreeing.shown_marks(rt, rt.debate.step_id):
        if one.kind is MarkKind.OBJECTION and not one.entry:
            yield f"{discussion_wording.why_against(one.by, one_line(one.quote, MARK_CHARS))}: marked by {one.by}"


def _summary(rt: Roundtable) -> str:
    """One sentence for meta.json: what people decided, by ids, since their words stand in the entries alone."""
    ids = [one.id for one in rt.discussed.own(rt.discussed.current_decisions)]
    topic = rt.debate.topic
    said = discussion_wording.decided_on(ids, topic) if ids else discussion_wording.nothing_decided(topic)
    return one_line(said, SUMMARY_CHARS)


def _as_markdown(rt: Roundtable, block: DiscussionBlock, playbook: Playbook) -> str:
    step = playbook.agenda.get(rt.debate.step_id)
    turns = (turn.name for turn in rt.debate.turns if turn.human)
    people = dict.fromkeys((*turns, *(one.name for one in rt.debate.besides)))
    personas = (f"{persona.name} ({persona.short})" for persona in playbook.roster)
    return markdown(
        block,
        step_id=rt.debate.step_id,
        title=step.title if step else rt.debate.topic,
        participants=", ".join((*people, *personas)),
        turns=rt.debate.turns_recorded,
        exit=(rt.debate.ending or EndReason.BY_PEOPLE).value,
    )


def _links(rt: Roundtable, block: DiscussionBlock) -> tuple[Link, ...]:
    """To the messages that the block names, for those who read the thread."""
    cited = (turn for turn in rt.debate.turns if turn.id in block.cited)
    found = ((turn, root.link_to(rt, turn.ts or turn.posted)) for turn in cited)
    return tuple(Link(label=f"{turn.id} {turn.name}", url=url) for turn, url in found if url)


def _additions(rt: Roundtable, text: str, playbook: Playbook) -> tuple[Edit, ...]:
    """
    The same addition for every text file of the step, under a marker that makes it findable; in the file that all
    items share, it belongs to the item's own section.
    """
    step = playbook.own_step(rt.debate.step_id)
    if step is None:
        return ()
    return tuple(
        InsightEdit(
            path=output,
            keywords=(rt.title if shared(output) else step.title,),
            marker=marker(step.step_id, rt.now),
            body=text,
            title="" if _is_written(rt, output) else document_title(output, rt.title),
        )
        for output in step.outputs
        if applies_to(output)
    )


def _is_written(rt: Roundtable, path: str) -> bool:
    """Whether we wrote a section there that still says something: a file that people removed since is not made anew."""
    return any(key.startswith(f"{path}#") and digest != digest_of("") for key, digest in rt.written.items())


def _save(
    rt: Roundtable,
    text: str,
    playbook: Playbook,
    *,
    summary: str,
    shown: Message,
    edits: tuple[Edit, ...] = (),
) -> Roundtable:
    step_id = rt.debate.step_id
    step = playbook.agenda.get(step_id)
    record = Record(
        step_id=step_id,
        turn_count=rt.debate.turns_recorded,
        personas_active=tuple(persona.key for persona in playbook.roster),
        timestamp=rt.now,
        synthesis_summary=summary,
    )
    subject = f"elaboration {step_id} {step.title if step else rt.debate.topic}"
    change = MetaChange(elaborations=(record,))
    ended_with = specifying.discussion_ended(rt)
    assert rt.board, "a discussion has a card"
    heading = LAST_WORDS[rt.debate.ending or EndReason.BY_PEOPLE]
    card = discussion_card.ended_card(rt.debate.topic, shown, heading=heading)
    rt = rt.but(board=rt.board.but(ending=card))
    rt = rt.saying_on_card(text, part=LinePhase.FORMALIZING, entries=ended_with)
    return queue_commit(rt, subject, then=Then.SYNTHESIS, step=step_id, edits=edits, change=change)
