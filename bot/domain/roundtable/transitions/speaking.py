"""What personas say in a discussion, on its way into the thread and the transcript."""

import re
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.personas import Persona
from bot.domain.catalog.steps import Step
from bot.domain.discussion import positions
from bot.domain.discussion.elaboration import Elaboration
from bot.domain.messages import discussion_wording, menus, trouble_wording
from bot.domain.messages.menus import MenuKind
from bot.domain.messages.message import Message
from bot.domain.roundtable.asked import AskedAs, asked_in
from bot.domain.roundtable.budget import used_up
from bot.domain.roundtable.effects import Speak, Survey
from bot.domain.roundtable.inputs import Mute, TimeCame
from bot.domain.roundtable.outcomes import PersonaSpoke
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import ABOUT_A_STEP, Roundtable
from bot.domain.roundtable.timers import OF_DRAFTS, cleared
from bot.domain.roundtable.transitions import asking
from bot.domain.transcript.lines import BY_RULE, LinePhase
from bot.errors import NotNow

TURN_ID = "turn_id"


class PersonaUtterance(NamedTuple):
    """Something a persona says, with the facts for its line. *note* is small print below it."""

    persona: Persona
    text: str
    facts: Mapping[str, Any] = BY_RULE
    note: str = ""


def lead_of(rt: Roundtable, playbook: Playbook) -> Persona:
    return playbook.roster.get(rt.debate.lead) or playbook.roster.lead_of(rt.phase_key)[0]


def told(rt: Roundtable, sayings: list[PersonaUtterance]) -> Roundtable:
    """What was said is posted before the answer of another persona is waited for."""
    if not sayings:
        return rt
    awaited = tuple(one for one in rt.outbox if isinstance(one, Speak))
    rt = rt.dropping(Speak)
    for one in sayings:
        message = Message(text=one.text, speaker=one.persona.key, note=one.note)
        rt = rt.telling(message, part=LinePhase.WORKSHOP, actor=one.persona.actor, **one.facts)
        rt = _written(rt, one)
    return rt.queueing(*awaited)


def _written(rt: Roundtable, saying: PersonaUtterance) -> Roundtable:
    """A turn knows its line, so that what rests on it can be looked up."""
    if TURN_ID not in saying.facts:
        return rt
    return rt.but(elaboration=rt.debate.written(rt.lines[-1].message_id))


# When personas are silent: people muted them, or the budget is used up.
#
# What people say is heard all the same, and what personas were about to say waits for its time.


def asking_to_speak(rt: Roundtable, speak: Speak, playbook: Playbook) -> Roundtable:
    return rt if asking.is_silenced(rt, playbook) else rt.queueing(speak)


def opening(rt: Roundtable, intro: str, playbook: Playbook, *, speak: Speak, **facts: Any) -> Roundtable:
    """Of a discussion: *speak* frames it. In silence the floor is the people's from the beginning."""
    rt = on_a_card(rt, intro, **facts)
    assert rt.board, "a card was posted"
    rt = rt.but(board=rt.board.but(first=""))  # the card says it in its own parts
    return rt if asking.is_silenced(rt, playbook) else rt.queueing(speak)


def on_a_card(rt: Roundtable, text: str, **facts: Any) -> Roundtable:
    """The card of the discussion, posted below all that was said: *text* stands first on it."""
    message = Message(text=text, choices=menus.FLOOR)
    return rt.offering(MenuKind.FLOOR, message, part=LinePhase.WORKSHOP, **facts)


def mute_asked(rt: Roundtable, event: Mute, playbook: Playbook) -> Roundtable:
    if not rt.place.thread:
        raise NotNow(trouble_wording.NOTHING_RUNNING)
    if event.muted is rt.manners.muted:
        raise NotNow(trouble_wording.MUTED_ALREADY if event.muted else trouble_wording.NOT_MUTED)
    name = rt.name_of(event.person.id)
    rt = rt.but(manners=rt.manners.but(muted=event.muted))
    return _muted(rt, name) if event.muted else _speaking_again(rt, name, playbook)


def _muted(rt: Roundtable, name: str) -> Roundtable:
    """A pending contribution is dropped; a discussion can still be ended."""
    return rt.dropping(Speak).telling(Message(text=trouble_wording.muted(name)), part=rt.part)


def _speaking_again(rt: Roundtable, name: str, playbook: Playbook) -> Roundtable:
    return waiting_speak(rt.telling(Message(text=trouble_wording.unmuted(name)), part=rt.part), playbook)


def waiting_speak(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """After a silence: a model reads what none has read, or the next persona speaks."""
    if asking.is_silenced(rt, playbook) or rt.has_pending(Speak):
        return rt
    if rt.stage in ABOUT_A_STEP:
        return reading(rt, playbook)
    if rt.stage is not Stage.ELABORATING:
        return rt
    if not rt.debate.framed:
        return rt.queueing(Speak(persona=rt.debate.lead, task="frame"))
    return next_speaks(rt, playbook)


def next_speaks(rt: Roundtable, playbook: Playbook, *, together: tuple[str, ...] = ()) -> Roundtable:
    """
    The next one who waits. Those who answer the same words are asked at the same time: in the first round all who
    answer the framing alone, and later *together*. Who speaks after that is decided when that has been said.
    """
    debate = rt.debate
    if not debate.waiting or rt.has_pending(Speak):
        return rt
    same = [key for key in debate.waiting if key in together or debate.is_blind(key)]
    asked = same[: debate.turns_left] if debate.waiting[0] in same else debate.waiting[:1]
    for persona in asked:
        rt = asking_to_speak(rt, Speak(persona=persona, task="respond", together=len(asked) > 1), playbook)
    return rt


def let_speak(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """A person lets the personas go on: that ends a silence which people asked for, and no other."""
    if used_up(rt.purse, playbook.policy):
        raise NotNow(trouble_wording.BUDGET_USED_UP)
    return rt.but(manners=rt.manners.but(muted=False))


# Names in what a persona or a person says in a discussion: speakers, colleagues, other steps.


def own_words(text: str, persona: Persona, playbook: Playbook) -> tuple[str, bool]:
    """*text* without a speaker's name before it, and whether it spoke in another's name."""
    everybody = "|".join(re.escape(name) for one in playbook.roster for name in (one.name, one.first_name))
    prefix = re.match(rf"\s*\**({everybody})\b(?: \([^)\n]*\))?\**:\**\s*", text, re.IGNORECASE)
    if not prefix:
        return text.strip(), False
    own = prefix[1].lower() in {persona.name.lower(), persona.first_name.lower()}
    return text[prefix.end() :].strip(), not own


def other_step(rt: Roundtable, text: str, playbook: Playbook) -> Step | None:
    """The step that *text* names outright, if it is not the one we discuss. Quoting is not naming."""
    said = re.sub(r'"[^"\n]*"', "", text)
    named = (
        step for step in playbook.agenda.steps if _names(said, step) and step.step_id != rt.debate.step_id
    )
    return next(named, None)


def _names(text: str, step: Step) -> bool:
    return bool(re.search(rf"(?<![\d-]){step.step_id}(?![\d-])", text)) or step.title.lower() in text.lower()


def named_first(text: str, others: tuple[Persona, ...]) -> tuple[str, ...]:
    """The others, and before them the first one whom *text* names."""
    named = [one.key for one in others if re.search(rf"\b{re.escape(one.first_name)}\b", text)]
    return tuple(dict.fromkeys((*named[:1], *(one.key for one in others))))


# What a contribution puts on record besides its words: where its speaker stands, and what it quotes.


UNRECORDED = "unrecorded"
RAW = "raw"
RAW_CHARS = 8_000


def spoken(debate: Elaboration, text: str, event: PersonaSpoke, *, by: Persona) -> Elaboration:
    stances = positions.normalized(positions.sound(event.stances, debate.turns), debate)
    return debate.spoken(
        by=by.key,
        name=by.first_name,
        text=text,
        stances=stances,
        unrecorded=not stances and bool(event.facts.get(UNRECORDED) or event.stances),
        by_rule=event.by_rule,
        quotes=event.quotes,
    )


def facts(rt: Roundtable, event: PersonaSpoke) -> Mapping[str, Any]:
    """Of the newest turn, for its line; its positions are entries."""
    return {**event.meta, **({UNRECORDED: True} if rt.debate.turns[-1].unrecorded else {})}


def is_new(debate: Elaboration, event: PersonaSpoke) -> bool:
    """
    Whether a contribution is heard: after the first round, a persona that goes on without people has to quote what
    nobody has quoted yet.
    """
    is_asked = debate.answers_people(event.persona) or (debate.asks_all and event.persona in debate.named)
    return bool(not debate.first_round or event.by_rule or is_asked) or debate.has_new_quote(event.quotes)


# Silence instead of an echo: it stands in the record, is no post, and uses no turn.


def pass_noted(rt: Roundtable, persona: Persona, event: PersonaSpoke) -> Roundtable:
    """With the words of one that quoted nothing new, which are not posted."""
    sentence = discussion_wording.passed(persona)
    unheard = {RAW: event.text[:RAW_CHARS]} if event.text else {}
    rt = rt.recording(sentence, part=LinePhase.WORKSHOP, persona=persona.key, **event.meta, **unheard)
    silent = dict.fromkeys((*rt.debate.silent, persona.key))
    return rt.but(elaboration=rt.debate.but(silent=tuple(silent)))


# What a persona wrote while people went on speaking: it answers a discussion that is another by now.
#
# It is asked for once more, with all that was said. When people go on even then, it is left out, and the
# floor is theirs: the record says so, and what it took is in the record, too.


def is_stale_reply(debate: Elaboration, event: PersonaSpoke) -> bool:
    """What other personas say meanwhile is no reason: those who are asked together answer alone."""
    return event.turns is not None and any(turn.human for turn in debate.turns[event.turns :])


def taking_up(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """
    What people said waits until they are silent (see `silence`); whom they ask by name reads at once. Without a model
    nothing waits.
    """
    if not asking.thinks(asking.listening(rt, playbook), rt, playbook):
        return rt.but(unread=())
    lead = asking.speaker_of(rt, playbook).key
    found = asked_in(rt.unread[-1], rt, playbook, lead=lead) if rt.unread else None
    return reading(rt, playbook) if found and found.how is not AskedAs.UNNAMED else rt


def draft_due(rt: Roundtable, _: TimeCame, playbook: Playbook) -> Roundtable:
    """While another one is made, the next draft follows it."""
    return drafting_next(cleared(rt, *OF_DRAFTS), playbook)


def drafting_next(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """After so many drafts of one step, people ask for the next one."""
    is_next = rt.drafts < playbook.policy.most_drafts and not rt.has_pending(Speak)
    return reading(rt, playbook) if is_next else rt


def reading(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """A model reads what none has read yet, one call at a time. Without one nothing waits to be read."""
    speak = asking.listening(rt, playbook)
    if not asking.thinks(speak, rt, playbook):
        return rt.but(unread=())
    if not rt.unread or asking.is_silenced(rt, playbook):
        return rt
    return _waiting_for(rt, speak) if rt.has_pending(Speak) else asking.drafting(rt, speak)


def is_left_unread(rt: Roundtable, playbook: Playbook) -> bool:
    """
    Whether words of people are unread, and no model is about to read them: the last answer could not be used, or no
    more drafts are made of the step.
    """
    if rt.stage not in ABOUT_A_STEP or not rt.unread or rt.has_pending(Speak, Survey):
        return False
    if not rt.timers.keys().isdisjoint(OF_DRAFTS) or asking.is_silenced(rt, playbook):
        return False
    return asking.thinks(asking.listening(rt, playbook), rt, playbook)


def _waiting_for(rt: Roundtable, speak: Speak) -> Roundtable:
    """
    *speak* in place of the persona that waits for its turn in the outbox. One at the front may be thinking already; it
    looks again afterwards.
    """
    outbox = (
        one.but(persona=speak.persona, then=speak.then)
        if isinstance(one, Speak) and one is not rt.next_effect
        else one
        for one in rt.outbox
    )
    return rt.but(outbox=tuple(outbox))


def again(rt: Roundtable, persona: str) -> Speak:
    task: Literal["respond", "frame"] = "respond" if rt.debate.framed else "frame"
    return Speak(persona=persona, task=task, redone=True, together=rt.debate.is_blind(persona))


def late_words_noted(rt: Roundtable, persona: Persona, event: PersonaSpoke) -> Roundtable:
    """Its stances are not on record: they belong to words that were not posted."""
    sentence = discussion_wording.belated(persona, left_out=event.redone)
    meta = event.but(stances=(), passed=False).meta
    return rt.recording(sentence, part=LinePhase.WORKSHOP, persona=persona.key, **meta)
