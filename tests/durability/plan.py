"""What an ordeal is to be like, and what came of it."""

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.durability.trap import When

API, RETRY, CLOCK, WRITE, LOCKS, SAVE, SPOKEN, ACKED, TERM, PUSH, FREEZE, RESET = (
    "api", "retry", "clock", "write", "locks", "save", "spoken", "acked", "term", "push", "freeze", "reset",
)  # fmt: skip
KINDS = (API, API, API, API, RETRY, CLOCK, WRITE, LOCKS, SAVE, SAVE, SPOKEN, ACKED, TERM)
KINDS_OF_TWO = (*KINDS, FREEZE, FREEZE)
"""Where somebody else takes over what a process that stands still was doing."""
KINDS_WITH_REMOTE = (*KINDS, PUSH, PUSH, PUSH)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """*fresh* bots are `python -m bot run` to the letter; *planted* are bugs put in on purpose."""

    seed: int
    redis_url: str = ""
    replicas: int = 1
    kills: int = 10
    meetings: int = 1
    flushes: int = 0
    fresh: bool = False
    kinds: tuple[str, ...] = KINDS
    moments: tuple[When, ...] = (When.BEFORE, When.DURING, When.AFTER)
    lost_answers: float = 0.3
    """How likely it is that a call before the fatal one is performed, and the bot does not hear of it."""
    planted: tuple[str, ...] = ()
    remote: bool = False
    """Whether every process has a clone of its own, with a remote between them."""
    http: bool = False
    """Whether Slack posts signed requests to the bot, instead of Socket Mode. There is one request URL."""


class Killed(NamedTuple):
    how: str
    code: int
    seconds: float


@dataclass
class Verdict:
    plan: Plan
    wrong: list[str] = field(default_factory=list)
    killed: list[Killed] = field(default_factory=list)
    seconds: float = 0.0
    steps: int = 0
    said: int = 0
    story: str = ""

    @property
    def kills(self) -> int:
        return sum(one.code < 0 for one in self.killed)

    @property
    def kinds(self) -> Counter[str]:
        return Counter(one.how.partition(" ")[0] for one in self.killed)
