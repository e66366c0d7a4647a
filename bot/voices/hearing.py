"""
How much of what people say a voice takes in.

Slack lets a message have 40,000 characters; nobody types that much. Of such a message the beginning is read, and says
that it was cut: whoever pastes a log must not keep everybody else waiting.
"""

from collections.abc import Iterable
from typing import TypeVar

from bot.domain.elaboration import Turn
from bot.domain.roundtable import Answer, Roundtable

MESSAGE_CHARS = 8_000
CUT = " … [cut here, the whole message is in the transcript]"

Spoken = TypeVar("Spoken", Answer, Turn)


def as_heard(rt: Roundtable) -> Roundtable:
    """*rt* as a voice reads it: no answer and no turn is longer than a person's."""
    debate = rt.elaboration
    return rt.but(answers=_heard(rt.answers), elaboration=debate and debate.but(turns=_heard(debate.turns)))


def _heard(spoken: Iterable[Spoken]) -> tuple[Spoken, ...]:
    return tuple(
        one if len(one.text) <= MESSAGE_CHARS else one.but(text=one.text[:MESSAGE_CHARS].rstrip() + CUT)
        for one in spoken
    )
