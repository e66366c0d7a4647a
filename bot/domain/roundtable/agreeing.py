"""When people are asked whether they agreed, and the words that answer it."""

import re

from bot.domain.discussion import board, dissent
from bot.domain.discussion.board import Agreement
from bot.domain.roundtable.marks import MessageMark
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable

_YES = re.compile(r"yes(?: (?P<number>[1-9]))?[.!]?", re.IGNORECASE)
_NOT_YET = re.compile(r"not yet(?: (?P<number>[1-9]))?[.!]?", re.IGNORECASE)


def agreements(rt: Roundtable) -> tuple[Agreement, ...]:
    """What people are asked whether they agreed on."""
    if rt.elaboration is None or rt.stage is not Stage.ELABORATING or rt.elaboration.sealed:
        return ()
    return board.agreements(rt.elaboration, tuple(rt.people))


def marked(rt: Roundtable) -> tuple[MessageMark, ...]:
    """The messages of the open step or discussion that people marked as a decision, until a press says yes or no."""
    if rt.elaboration and rt.elaboration.sealed:
        return ()
    return tuple(one for one in rt.marks if one.is_open and one.step_id == rt.step_id)


def answer(text: str) -> tuple[bool, int] | None:
    """Yes or no, and the number of the question that it is for."""
    for pattern, is_yes in ((_YES, True), (_NOT_YET, False)):
        if found := pattern.fullmatch(text.strip()):
            return is_yes, int(found["number"] or 0)
    return None


def is_wish(rt: Roundtable, text: str) -> bool:
    """Whether *text* does what a button does: it decides, or says whether all agree."""
    return bool(dissent.decisions(text)) or (answer(text) is not None and bool(agreements(rt)))


def may_be_wish(text: str) -> bool:
    return bool(dissent.decisions(text)) or answer(text) is not None
