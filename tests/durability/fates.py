"""
The one choke point of the simulator: whatever reaches out of the engine comes through `Fates.io`, and is numbered.

A scenario says what becomes of some of these numbers. The process that meets a fatal one is `Died`: an exception that
nobody in the engine catches, so that nothing runs after it, as nothing runs after kill -9.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, TypeVar

T = TypeVar("T")


class Died(BaseException):
    """Not an Exception: who catches everything must not catch this."""


class Refused(Exception):
    """The other side said no, or its answer got lost. The port at hand says it in the engine's words."""


class Blind(Exception):
    """Slack does not let us look."""


class Kind(StrEnum):
    SAVE = "save"
    WAKE = "wake"
    POST = "post"
    LOOK = "look"
    SLACK = "slack"
    """Calls that do no harm when they are made again: reactions, reads."""
    EDIT = "edit"
    """Of a message of ours, which does no harm when it is made again."""
    VOICE = "voice"
    PAUSE = "pause"
    """Before something is tried again that was refused; what follows it is the next attempt."""
    FILE = "file"
    REF = "ref"


class Fate(StrEnum):
    BEFORE = "died before"
    AFTER = "died after"
    """Performed, and nobody heard of it."""
    LATE = "died, and it was performed when the successor had looked"
    LOST = "performed, and the answer got lost"
    REFUSED = "refused for the moment"
    BLIND = "refused for good"
    SPOKEN = "somebody spoke to another process first"
    RIVAL = "another process paid first"
    FLUSHED = "the store forgot everything"


MEETS: Mapping[Kind, tuple[Fate, ...]] = {
    Kind.SAVE: (Fate.BEFORE, Fate.AFTER, Fate.LOST, Fate.REFUSED, Fate.SPOKEN, Fate.RIVAL, Fate.FLUSHED),
    Kind.WAKE: (Fate.BEFORE,),
    Kind.POST: (Fate.BEFORE, Fate.AFTER, Fate.LATE, Fate.LOST, Fate.REFUSED),
    Kind.LOOK: (Fate.BEFORE, Fate.REFUSED, Fate.BLIND),
    Kind.SLACK: (Fate.BEFORE, Fate.AFTER, Fate.LOST),
    Kind.EDIT: (Fate.BEFORE, Fate.AFTER, Fate.LOST, Fate.REFUSED),
    Kind.VOICE: (Fate.BEFORE, Fate.AFTER, Fate.REFUSED),
    Kind.PAUSE: (Fate.BEFORE, Fate.SPOKEN, Fate.RIVAL, Fate.FLUSHED),
    Kind.FILE: (Fate.BEFORE, Fate.REFUSED),
    Kind.REF: (Fate.BEFORE, Fate.AFTER, Fate.LOST),
}


class Met(NamedTuple):
    number: int
    kind: Kind
    fate: Fate


@dataclass
class Fates:
    """*plan* says what happens at which number. `seen` is every kind that went by, `met` what was fated and came."""

    plan: dict[int, Fate] = field(default_factory=dict)
    seen: list[Kind] = field(default_factory=list)
    met: list[Met] = field(default_factory=list)
    elsewhere: Mapping[Fate, Callable[[], None]] = field(default_factory=dict)
    """What others do, or the world, right before something is performed."""
    late: list[Callable[[], object]] = field(default_factory=list)
    at_peace: bool = True
    """Nothing is numbered, and nothing happens."""

    def io(self, kind: Kind, act: Callable[[], T]) -> T:
        if self.at_peace:
            return act()
        number = len(self.seen)
        self.seen.append(kind)
        fate = self.plan.get(number)
        if fate is None or fate not in MEETS[kind]:
            return act()
        self.met.append(Met(number, kind, fate))
        return self._meet(fate, act)

    def land(self) -> None:
        """What was on its way when its process died arrives now."""
        while self.late:
            self.late.pop(0)()

    def _meet(self, fate: Fate, act: Callable[[], T]) -> T:
        if fate is Fate.BEFORE:
            raise Died
        if fate is Fate.LATE:
            self.late.append(act)
            raise Died
        if fate is Fate.REFUSED:
            raise Refused
        if fate is Fate.BLIND:
            raise Blind
        if fate in self.elsewhere:
            self.at_peace = True
            try:
                self.elsewhere[fate]()
            finally:
                self.at_peace = False
            return act()
        found = act()
        if fate is Fate.AFTER:
            raise Died
        if fate is Fate.LOST:
            raise Refused
        return found
