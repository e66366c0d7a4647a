"""
The only door: `decide(roundtable, input)` gives the next value, or the very same object when the input is old news.

`TRANSITIONS` is the whole behaviour at a glance. What is not in it cannot happen; asking for it raises NotNow.
"""

from collections.abc import Callable, Mapping
from typing import Any

from bot.domain import wording
from bot.domain.agenda import Playbook
from bot.domain.effects import Attemptable
from bot.domain.inputs import (
    Attempted,
    Committed,
    Done,
    Drafted,
    Failed,
    Finish,
    Input,
    ItemRead,
    Outcome,
    PersonaSpoke,
    PersonMet,
    Posted,
    Press,
    Resume,
    Say,
    SetDepth,
    Start,
    Stop,
    Surveyed,
    Synthesized,
    ThreadOpened,
    ThreadRead,
)
from bot.domain.message import Action
from bot.domain.roundtable import BUSY, MenuKind, Roundtable, Stage
from bot.domain.transitions import boundary, elaborations, opening, pausing, steps, syntheses, trouble
from bot.errors import NotNow

Transition = Callable[[Roundtable, Any, Playbook], Roundtable]

TRANSITIONS: Mapping[tuple[Stage, type], Transition] = {
    (Stage.OPENING, ThreadOpened): opening.thread_opened,
    (Stage.OPENING, ThreadRead): opening.thread_read,
    (Stage.OPENING, ItemRead): opening.item_read,
    (Stage.OPENING, Committed): opening.committed,
    (Stage.OPENING, Say): boundary.interjected,
    (Stage.DISCUSSING, Say): steps.answered,
    (Stage.DISCUSSING, Finish): steps.finish_asked,
    (Stage.DISCUSSING, SetDepth): boundary.depth_asked,
    (Stage.DISCUSSING, Stop): pausing.stop_asked,
    (Stage.DISCUSSING, Resume): pausing.resume,
    (Stage.DISCUSSING, Surveyed): steps.surveyed,
    (Stage.DISCUSSING, PersonaSpoke): steps.acknowledged,
    (Stage.DISCUSSING, ItemRead): pausing.looked,
    (Stage.DISCUSSING, Committed): pausing.note_saved,
    (Stage.WRITING, Say): boundary.interjected,
    (Stage.WRITING, Surveyed): steps.surveyed,
    (Stage.WRITING, Drafted): steps.drafted,
    (Stage.WRITING, Committed): steps.committed,
    (Stage.WRITING, PersonaSpoke): boundary.feedback_acknowledged,
    (Stage.AT_BOUNDARY, Say): boundary.typed,
    (Stage.AT_BOUNDARY, SetDepth): boundary.depth_asked,
    (Stage.AT_BOUNDARY, Stop): pausing.stop_asked,
    (Stage.AT_BOUNDARY, Resume): pausing.resume,
    (Stage.AT_BOUNDARY, ItemRead): pausing.looked,
    (Stage.AT_BOUNDARY, Committed): pausing.note_saved,
    (Stage.ELABORATING, Say): elaborations.person_spoke,
    (Stage.ELABORATING, Stop): pausing.stop_asked,
    (Stage.ELABORATING, Resume): pausing.resume,
    (Stage.ELABORATING, PersonaSpoke): elaborations.persona_spoke,
    (Stage.ELABORATING, ItemRead): pausing.looked,
    (Stage.ELABORATING, Committed): pausing.note_saved,
    (Stage.SYNTHESIZING, Say): syntheses.too_late,
    (Stage.SYNTHESIZING, Synthesized): syntheses.synthesized,
    (Stage.SYNTHESIZING, Committed): syntheses.committed,
    (Stage.CLOSING, Say): boundary.interjected,
    (Stage.CLOSING, Drafted): boundary.drafts_of_skipped,
    (Stage.CLOSING, Committed): boundary.closing_committed,
    (Stage.STALLED, Say): pausing.noted,
    (Stage.STALLED, Start): opening.start_again,
    (Stage.STALLED, Committed): pausing.note_saved,
    (Stage.PAUSED, Say): pausing.noted,
    (Stage.PAUSED, Resume): pausing.resume,
    (Stage.PAUSED, ItemRead): pausing.looked,
    (Stage.PAUSED, Committed): pausing.note_saved,
    (Stage.ANALYSED, Say): pausing.noted,
    (Stage.ANALYSED, Resume): pausing.resume,
    (Stage.ANALYSED, ItemRead): pausing.looked,
    (Stage.ANALYSED, Committed): pausing.note_saved,
}

PRESSES: Mapping[tuple[MenuKind, Action], Transition] = {
    (MenuKind.PROMPT, Action.FINISH_STEP): lambda rt, press, playbook: steps.finish(
        rt, press.person, playbook, ts=press.ts
    ),
    (MenuKind.PROMPT, Action.DEPTH_BRIEF): boundary.pressed,
    (MenuKind.PROMPT, Action.DEPTH_STANDARD): boundary.pressed,
    (MenuKind.PROMPT, Action.DEPTH_DEEP): boundary.pressed,
    (MenuKind.STEP, Action.CONTINUE): boundary.pressed,
    (MenuKind.STEP, Action.ELABORATE): boundary.pressed,
    (MenuKind.STEP, Action.SKIP): boundary.pressed,
    (MenuKind.STEP, Action.STOP): boundary.pressed,
    (MenuKind.STEP, Action.DEPTH_BRIEF): boundary.pressed,
    (MenuKind.STEP, Action.DEPTH_STANDARD): boundary.pressed,
    (MenuKind.STEP, Action.DEPTH_DEEP): boundary.pressed,
    (MenuKind.PHASE, Action.CONTINUE): boundary.pressed,
    (MenuKind.PHASE, Action.ELABORATE): boundary.pressed,
    (MenuKind.PHASE, Action.STOP): boundary.pressed,
    (MenuKind.FLOOR, Action.GO_ON): elaborations.went_on,
    (MenuKind.FLOOR, Action.END_ELABORATION): elaborations.ended,
    (MenuKind.PAUSED, Action.RESUME): pausing.resume_pressed,
    (MenuKind.RETRY, Action.RETRY): trouble.retry,
    (MenuKind.STALE, Action.REANALYSE): pausing.reanalyse,
    (MenuKind.STALE, Action.CANCEL): pausing.cancelled,
}

NOT_NOW: Mapping[type, Callable[[], str]] = {
    Finish: wording.nothing_to_finish,
    SetDepth: wording.no_depth_now,
    Stop: wording.nothing_running,
}


def decide(rt: Roundtable, happened: Input, playbook: Playbook) -> Roundtable:
    """
    What *rt* becomes by *happened*.

    Raises NotNow, with a sentence for the person, when that makes no sense at this point; nothing has changed.
    """
    if isinstance(happened, Outcome):
        return _settled(rt, happened, playbook)
    if happened.key in rt.seen:
        return rt

    rt = rt.but(now=max(rt.now, happened.at)).knowing(happened.key).meeting(happened.person)
    if isinstance(happened, Press):
        return _pressed(rt, happened, playbook)
    transition = TRANSITIONS.get((rt.stage, type(happened)))
    if transition is None:
        raise NotNow(
            wording.saving() if rt.stage in BUSY else NOT_NOW.get(type(happened), wording.unknown_menu)()
        )
    return transition(rt, happened, playbook)


def _settled(rt: Roundtable, happened: Outcome, playbook: Playbook) -> Roundtable:
    """An outcome settles the debt it belongs to; a debt that is no longer owed has no outcome."""
    effect = next((one for one in rt.outbox if one.id == happened.effect), None)
    if effect is None:
        return rt
    rt = rt.but(now=max(rt.now, happened.at))
    if isinstance(happened, Attempted):
        return rt.attempting(effect)

    rt = rt.paid(effect.id)
    match happened:
        case Failed():
            return trouble.failed(rt, trouble.Unpaid(effect, happened), playbook)
        case Posted():
            return _posted(rt, happened, effect)
        case PersonMet():
            return _met(rt, happened)
        case Done():
            return rt
        case _:
            transition = TRANSITIONS.get((rt.stage, type(happened)))
            return transition(rt, happened, playbook) if transition else rt


def _met(rt: Roundtable, happened: PersonMet) -> Roundtable:
    """Lines that are not in git yet still get the name."""
    lines = tuple(
        line.but(meta={**line.meta, "user_name": happened.name})
        if line.meta.get("user_id") == happened.person
        else line
        for line in rt.lines
    )
    return rt.but(people={**rt.people, happened.person: happened.name}, lines=lines)


def _posted(rt: Roundtable, happened: Posted, effect: Attemptable) -> Roundtable:
    """Where a menu stands, and where the line can be found in Slack, if it is not in git yet."""
    message = getattr(effect, "message", None)
    if message and message.token:
        rt = rt.standing_at(message.token, happened.ts)
    lines = tuple(
        line.but(meta={**line.meta, "message_ts": happened.ts}) if line.message_id == effect.id else line
        for line in rt.lines
    )
    return rt.but(lines=lines)


def _pressed(rt: Roundtable, happened: Press, playbook: Playbook) -> Roundtable:
    menu = rt.menu
    if menu is None or menu.token != happened.token:
        became = rt.what_became_of(happened.token)
        raise NotNow(wording.already_decided(became) if became else wording.unknown_menu())
    transition = PRESSES.get((menu.kind, happened.action))
    if transition is None:
        raise NotNow(wording.unknown_menu())
    return transition(rt, happened, playbook)
