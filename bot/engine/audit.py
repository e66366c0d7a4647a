"""
What operators can read afterwards: who did what.

The logger `audit` has one line for every act of a person that changed something: who did what to which item, in which
step. Ids only, never words. The event is one word, that of the button, also when it was typed or asked for with a
command. It is written after the save, once; what was repeated or refused is not there.
"""

import logging
from typing import assert_never

from bot.domain.actions.table import ACTIONS, Action
from bot.domain.roundtable.inputs import (
    Amend,
    AnswerDirectly,
    AnswerQuestion,
    Command,
    Input,
    MarkMessage,
    Mute,
    Press,
    RecordDecision,
    Request,
    Retract,
    Say,
    SetDepth,
    Start,
)
from bot.domain.roundtable.state import Roundtable

TAKEN_UP_AGAIN = "lost."
"""Start of the key of a `Start` that no person asked for: the store had lost the item."""

log = logging.getLogger("audit")


def audited(happened: Input, before: Roundtable | None, after: Roundtable) -> None:
    """*happened* was saved, and changed *before* to *after*."""
    if not isinstance(happened, Command) or after is before:
        return
    if event := _event(happened, before, after):
        step = before.step_id if before else after.step_id
        line(event, team=after.place.team, person=happened.person.id, item=after.slug, step=step)


def line(event: str, *, team: str, person: str, item: str, step: str = "") -> None:
    log.info("%s", event, extra={"team": team, "person": person, "item": item, "step": step})


def forgot(event: str, *, items: int, what: str, by: str, person: str = "", item: str = "") -> None:
    """*by* is the user of this machine who ran the command."""
    log.info("%s", event, extra={"person": person, "item": item, "items": items, "what": what, "by": by})


def _event(happened: Command, before: Roundtable | None, after: Roundtable) -> str:
    """Empty for words that are no command, and for their corrections: the transcript has them."""
    match happened:
        case Start():
            return "" if happened.key.startswith(TAKEN_UP_AGAIN) else "start"
        case Press(action=action):
            return action
        case SetDepth(depth=depth):
            return f"depth_{depth.value}"
        case Mute(muted=muted):
            return "mute" if muted else "unmute"
        case Request():
            return type(happened).__name__.lower()
        case MarkMessage(mark=mark, removed=removed):
            return f"{'unmark' if removed else 'mark'}_{mark.value}"
        case Say():
            return _typed(happened, before) if before and _changed(before, after) else ""
        case Amend() | Retract() | AnswerDirectly() | AnswerQuestion():
            return ""
        case _:
            assert_never(happened)


def _typed(said: Say, rt: Roundtable) -> str:
    found = next(ACTIONS.read_words(said.text, rt.stage), None)
    if found is None:
        return ""
    return RecordDecision.__name__.lower() if found.action == Action.RECORD else found.action


def _changed(before: Roundtable, after: Roundtable) -> bool:
    """A person who may not press gets an answer, and nothing changes."""
    return _decisive(before) != _decisive(after)


def _decisive(rt: Roundtable) -> tuple[object, ...]:
    decided = (rt.discussed.decisions, rt.debate.not_agreed) if rt.elaboration else ()
    return rt.stage, rt.menu, rt.depth, rt.depth_overrides, rt.marks, decided
