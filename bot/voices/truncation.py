"""
How much of what people say a voice takes in.

Slack lets a message have 40,000 characters; nobody types that much. Of such a message the beginning is read, and says
that it was cut: whoever pastes a log must not keep everybody else waiting.
"""

import re
from collections.abc import Iterable
from itertools import islice
from typing import TypeVar

from bot.domain.discussion.elaboration import Turn
from bot.domain.roundtable.state import Answer, Roundtable

MESSAGE_CHARS = 8_000
MESSAGE_CLAUSES = 300
"""Prose of that length has fewer; a table or a log has thousands, and each would be looked at by itself."""

CUT = " … [cut here, the whole message is in the transcript]"

Spoken = TypeVar("Spoken", Answer, Turn)

_CLAUSE_END = re.compile(r"[\n\r\x0b\x0c\x85\u2028\u2029]|[.,;:!?。！？、，]+")


def truncated(rt: Roundtable) -> Roundtable:
    """*rt* as a voice reads it: no answer and no turn is longer than a person's."""
    debate = rt.elaboration
    return rt.but(answers=_heard(rt.answers), elaboration=debate and debate.but(turns=_heard(debate.turns)))


def _heard(spoken: Iterable[Spoken]) -> tuple[Spoken, ...]:
    return tuple(
        one if (end := _end(one.text)) == len(one.text) else one.but(text=one.text[:end].rstrip() + CUT)
        for one in spoken
    )


def _end(text: str) -> int:
    """Where reading stops."""
    clauses = islice(_CLAUSE_END.finditer(text, 0, MESSAGE_CHARS), MESSAGE_CLAUSES, None)
    last = next(clauses, None)
    return last.start() if last else min(len(text), MESSAGE_CHARS)
