"""What is worth counting. The engine says what happened; who counts, and by which names, is not its business."""

import re
from functools import cache
from typing import Protocol

from bot.domain.roundtable.effects import Effect
from bot.domain.roundtable.inputs import Input
from bot.domain.roundtable.outcomes import Outcome
from bot.domain.roundtable.state import Roundtable
from bot.errors import BotError


class Meter(Protocol):
    """Every call returns at once, and raises nothing."""

    def decided(self, happened: Input, before: Roundtable | None, after: Roundtable) -> None:
        """*happened* is saved; or it was old news, and *after* is *before*."""

    def refused(self, happened: Input, error: BotError) -> None:
        """Nothing of *happened* was saved: it made no sense (UserError), or the store did not take it."""

    def conflicted(self) -> None:
        """Somebody else saved first, and the decision is made again."""

    def paid(self, effect: Effect, outcome: Outcome, *, seconds: float) -> None:
        """*seconds* from the first attempt to the outcome, waits between attempts included."""

    def retried(self, effect: Effect) -> None: ...

    def acknowledged(self, door: str, *, taken: bool, seconds: float) -> None:
        """Slack was answered at one of its doors; *taken* says that it need not deliver this again."""

    def pushed(self, result: str) -> None:
        """The commits are at the remote, or not: one word of a few."""


class Unmetered:
    """Nobody counts."""

    def _nothing(self, *_: object, **__: object) -> None:
        return

    decided = refused = conflicted = paid = retried = acknowledged = pushed = _nothing


@cache
def kind_of(happened: type[Input]) -> str:
    """`SetDepth` is counted as `set_depth`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", happened.__name__).lower()
