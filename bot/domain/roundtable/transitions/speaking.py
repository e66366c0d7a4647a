"""What personas say in a discussion, on its way into the thread and the transcript."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.personas import Persona
from bot.domain.catalog.steps import Step
from bot.domain.discussion.elaboration import MOST_IN_THE_OPENING, TurnKind
from bot.domain.messages import trouble_wording
from bot.domain.messages.menus import MenuKind
from bot.domain.messages.message import Message
from bot.domain.roundtable.asked import AskedAs, asked_in
from bot.domain.roundtable.effects import Speak, Survey
from bot.domain.roundtable.inputs import Mute, TimeCame
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import ABOUT_A_STEP, Roundtable
from bot.domain.roundtable.timers import OF_DRAFTS, TimerName, cleared
from bot.domain.roundtable.transitions import asking
from bot.domain.transcript.lines import BY_RULE, LinePhase
from bot.errors import NotNow

TURN_ID = "turn_id"


def lead_of(rt: Roundtable, playbook: Playbook) -> Persona:
    return playbook.roster.get(rt.debate.lead) or playbook.roster.lead_of(rt.phase_key)[0]


def say_as_persona(
    rt: Roundtable, persona: Persona, text: str, facts: Mapping[str, Any] = BY_RULE, *, note: str = ""
) -> Roundtable:
    """
    *persona* says *text*, which is posted before the answer of another one is waited for. A turn knows its line, so
    that what rests on it can be looked up. *note* is small print below it.
    """
    awaited = tuple(one for one in rt.outbox if isinstance(one, Speak))
    message = Message(text=text, speaker=persona.key, note=note)
    rt = rt.dropping(Speak).telling(message, part=LinePhase.WORKSHOP, actor=persona.actor, **facts)
    if TURN_ID in facts:
        rt = rt.but(elaboration=rt.debate.written(rt.lines[-1].message_id))
    return rt.queueing(*awaited)


# When personas are silent: people muted them, or the budget is used up.
#
# What people say is heard all the same, and what personas were about to say waits for its time.


def asking_to_speak(rt: Roundtable, speak: Speak, playbook: Playbook) -> Roundtable:
    return rt if asking.is_silenced(rt, playbook) else rt.queueing(speak)


def on_a_card(rt: Roundtable, text: str, **facts: Any) -> Roundtable:
    """The card of the discussion, posted below all that was said: *text* stands first on it."""
    return rt.offering(MenuKind.FLOOR, Message(text=text), part=LinePhase.WORKSHOP, **facts)


def mute_asked(rt: Roundtable, event: Mute, playbook: Playbook) -> Roundtable:
    """A pending contribution is dropped; a discussion can still be ended."""
    if not rt.place.thread:
        raise NotNow(trouble_wording.NOTHING_RUNNING)
    if event.muted is rt.manners.muted:
        raise NotNow(trouble_wording.MUTED_ALREADY if event.muted else trouble_wording.NOT_MUTED)
    name = rt.name_of(event.person.id)
    rt = rt.but(manners=rt.manners.but(muted=event.muted))
    if event.muted:
        return putting_off(rt).telling(Message(text=trouble_wording.muted(name)), part=rt.part)
    return waiting_speak(rt.telling(Message(text=trouble_wording.unmuted(name)), part=rt.part), playbook)


def putting_off(rt: Roundtable) -> Roundtable:
    """What personas were about to say in a discussion waits for the next round."""
    if rt.stage is Stage.ELABORATING and rt.has_pending(Speak):
        rt = rt.but(elaboration=rt.debate.but(is_round_wanted=True))
    return rt.dropping(Speak)


def waiting_speak(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """After a silence: a model reads what none has read, or the discussion goes on."""
    if asking.is_silenced(rt, playbook) or rt.has_pending(Speak):
        return rt
    if rt.stage in ABOUT_A_STEP:
        return reading(rt, playbook)
    if rt.stage is not Stage.ELABORATING:
        return rt
    if not rt.debate.framed:
        return asking_all_to_open(rt, playbook)
    return starting_round(rt, playbook) if rt.debate.is_round_wanted else rt


# Who is asked to speak in a discussion.


def able(rt: Roundtable, playbook: Playbook, personas: Iterable[str] = ()) -> tuple[str, ...]:
    """Those of *personas*, or of all, that do not only listen: the lead first."""
    lead = lead_of(rt, playbook).key
    keys = tuple(personas) or tuple(sorted((one.key for one in playbook.roster), key=lambda key: key != lead))
    return tuple(key for key in keys if not _only_listens(rt, key, playbook))


def _only_listens(rt: Roundtable, persona: str, playbook: Playbook) -> bool:
    """Without a model a persona speaks when it is addressed by name: its newest turn, or the first, tells that."""
    turns = [*rt.debate.turns[:1], *(one for one in rt.debate.turns if one.by == persona)]
    if not (turns and turns[-1].by_rule):
        return False
    return not asking.thinks(persona, playbook)


def asking_all_to_open(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """At the same time, and blind. The lead opens also without a model."""
    if asking.is_silenced(rt, playbook):
        return rt
    rt = rt.but(elaboration=rt.debate.but(notes=()))
    most = min(MOST_IN_THE_OPENING, rt.debate.turns_left)
    for key in tuple(dict.fromkeys((lead_of(rt, playbook).key, *able(rt, playbook))))[:most]:
        rt = rt.queueing(Speak(persona=key, task="turn", turn=TurnKind.OPENING, personas=(key,)))
    return rt


def asking_personas(rt: Roundtable, personas: Iterable[str], playbook: Playbook) -> Roundtable:
    """People asked them: those with a model by one call; the others say that they have none."""
    if asking.is_silenced(rt, playbook):
        return rt.but(elaboration=rt.debate.but(is_round_wanted=True))
    personas = tuple(personas)
    with_model = able(rt, playbook, personas) if personas else ()
    alone = tuple((key,) for key in personas if key not in with_model)
    for keys in filter(None, (with_model, *alone)):
        asked = (one.personas for one in rt.outbox if isinstance(one, Speak) and one.turn is TurnKind.ASKED)
        if keys in asked:  # it may have read the thread already: what was said since is for the next round
            rt = rt.but(elaboration=rt.debate.but(is_round_wanted=True))
        elif keys != with_model or _has_call_left(rt):
            rt = rt.queueing(Speak(persona=keys[0], task="turn", turn=TurnKind.ASKED, personas=keys))
    return rt


def asking_other(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """Once more what a model refused: the one that reviews drafts answers."""
    refused = [one for one in rt.debate.notes if one.reason == "refused"]
    rt = rt.but(elaboration=rt.debate.but(notes=()))
    for one in refused:
        if _has_call_left(rt):
            about = {"persona": one.persona, "turn": one.turn, "personas": one.personas}
            rt = asking_to_speak(rt, Speak(task="turn", by_other=True, **about), playbook)
    return rt


def starting_round(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """One call for all. While people give sealed positions, or another call is on its way, it waits."""
    personas = able(rt, playbook)
    if rt.has_pending(Speak) or rt.debate.sealed or not personas or not _has_call_left(rt):
        return rt
    if asking.is_silenced(rt, playbook):
        return rt
    rt = cleared(rt, TimerName.ROUND)
    if not rt.debate.framed:
        return asking_all_to_open(rt.but(elaboration=rt.debate.but(is_round_wanted=False)), playbook)
    debate = rt.debate.but(is_round_wanted=False, has_nothing_new=False, notes=())
    rt = rt.but(elaboration=debate)
    return rt.queueing(Speak(persona=personas[0], task="turn", turn=TurnKind.ROUND, personas=personas))


def _has_call_left(rt: Roundtable) -> bool:
    pending = sum(isinstance(one, Speak) for one in rt.outbox)
    return not rt.debate.exhausted and rt.debate.calls_left > pending


# Other steps in what a persona or a person says in a discussion.


def other_step(rt: Roundtable, text: str, playbook: Playbook) -> Step | None:
    """The step that *text* names outright, if it is not the one we discuss. Quoting is not naming."""
    said = re.sub(r'"[^"\n]*"', "", text)
    named = (
        step for step in playbook.agenda.steps if _names(said, step) and step.step_id != rt.debate.step_id
    )
    return next(named, None)


def _names(text: str, step: Step) -> bool:
    return bool(re.search(rf"(?<![\d-]){step.step_id}(?![\d-])", text)) or step.title.lower() in text.lower()


def taking_up(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """
    What people said waits until they are silent (see `silence`); whom they ask by name reads at once. Without a model
    nothing waits.
    """
    if not asking.thinks(asking.listening(rt, playbook).persona, playbook):
        return rt.but(unread=())
    lead = asking.speaker_of(rt, playbook).key
    found = asked_in(rt.unread[-1], rt, playbook, lead=lead) if rt.unread else None
    return reading(rt, playbook) if found and found.how is not AskedAs.UNNAMED else rt


def reading_on(rt: Roundtable, playbook: Playbook, *, is_read: bool) -> Roundtable:
    """
    After a call: who was asked by name meanwhile answers at once, and the rest waits for the next draft. Where nothing
    *is_read*, another call at once would come to the same.
    """
    if is_read and asking.called(rt, playbook, by_name=True):
        return reading(rt, playbook)
    return rt if TimerName.DRAFT in rt.timers else drafting_next(rt, playbook)


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
    if not asking.thinks(speak.persona, playbook):
        return rt.but(unread=())
    if not rt.unread or asking.is_silenced(rt, playbook):
        return rt
    return _waiting_for(rt, speak) if rt.has_pending(Speak) else asking.drafting(rt, speak)


def is_left_unread(rt: Roundtable, playbook: Playbook) -> bool:
    """
    Whether words of people are unread, and no model is about to read them: the last answer could not be used, or no
    more drafts are made of the step.
    """
    return bool(rt.unread) and rt.timers.keys().isdisjoint(OF_DRAFTS) and _is_idle(rt, playbook)


def can_draft_again(rt: Roundtable, playbook: Playbook) -> bool:
    """Also where nobody has said anything, and the first look gave no answer."""
    return is_left_unread(rt, playbook) or (is_lost(rt, rt.step_id) and _is_idle(rt, playbook))


def is_lost(rt: Roundtable, step_id: str) -> bool:
    """Whether the newest draft failed: the card says so, with what to do."""
    return rt.draft is not None and rt.draft.step_id == step_id and bool(rt.draft.reason)


def _is_idle(rt: Roundtable, playbook: Playbook) -> bool:
    """Whether a model could make a draft, and none is at it."""
    if rt.stage not in ABOUT_A_STEP or rt.has_pending(Speak, Survey) or asking.is_silenced(rt, playbook):
        return False
    return asking.thinks(asking.listening(rt, playbook).persona, playbook)


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
