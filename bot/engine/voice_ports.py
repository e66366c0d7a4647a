"""What the engine needs of those who speak, judge and write, as promises. See `ports` for what all of them keep."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, NamedTuple, Protocol

from bot.domain.agenda import Playbook
from bot.domain.artifact import Edit
from bot.domain.planning.verdict import Verdict
from bot.domain.planning.workshop import Workshop
from bot.domain.roundtable import Roundtable
from bot.domain.stance import Stance
from bot.domain.synthesis import Synthesis
from bot.domain.transcript import Line

Facts = Mapping[str, Any]
"""
What a model's part took, for the line's `meta`: provider, model, tokens_in, tokens_out, tokens_cached, seconds, and
cost as a decimal text. What nobody knows is absent.
"""

NO_FACTS: Facts = {}


async def no_files() -> Mapping[str, str]:
    return {}


class Cue(NamedTuple):
    """What a voice is given: everything, read only. `files` reads the item's artifacts, for a voice that wants them."""

    roundtable: Roundtable
    playbook: Playbook
    persona: str
    files: Callable[[], Awaitable[Mapping[str, str]]] = no_files


class Speech(NamedTuple):
    """
    What a persona says. `satisfied` is its assessment of the answers to the open step, if it made one. Who `passed` has
    nothing to add, which is said in the record and not in the thread.
    """

    text: str
    facts: Facts = NO_FACTS
    stances: tuple[Stance, ...] = ()
    satisfied: bool | None = None
    passed: bool = False


class Voices(Protocol):
    """Raises VoiceError; `reason` "context" when the discussion no longer fits, "unstructured" for bad output."""

    async def acknowledge(self, cue: Cue) -> Speech:
        """One line for the newest answer of the open step, with at most one question. Empty: nothing to add."""
        ...

    async def frame(self, cue: Cue) -> Speech:
        """The lead's opening of an elaboration: recap, focus question, a colleague addressed by name."""
        ...

    async def respond(self, cue: Cue) -> Speech:
        """One contribution to the running elaboration."""
        ...

    async def draft(
        self, cue: Cue, *, steps: tuple[str, ...], files: Mapping[str, str], skipped: bool
    ) -> tuple[tuple[Edit, ...], Facts]:
        """The sections that *steps* own, out of what was said; *files* are the item's artifacts as they are."""
        ...

    async def synthesize(self, cue: Cue, files: Mapping[str, str]) -> tuple[Synthesis, Facts]: ...


class Formal(NamedTuple):
    """A plan as it was written, valid or not, and the *requirements* that it may trace to: none, to any."""

    plan: str
    requirements: frozenset[str] = frozenset()
    facts: Facts = NO_FACTS


class Planners(Protocol):
    """
    The roles of the planning workshop, and whoever writes its plan. *files* are the item's artifacts.

    Raises VoiceError.
    """

    @property
    def reads(self) -> tuple[str, ...]:
        """The artifacts that they want to see of an item, as far as they are there."""
        ...

    async def judge(self, ws: Workshop, role: str, files: Mapping[str, str]) -> tuple[Verdict, Facts]:
        """What *role* thinks of it in this round, in its own field and in no other."""
        ...

    async def formalize(self, ws: Workshop, files: Mapping[str, str], *, lines: Iterable[Line]) -> Formal:
        """The plan, out of what the item's files and people's *lines* say; `ws.errors` are those of the one before."""
        ...
