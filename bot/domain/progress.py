"""How far an item is: what its meta.json says, once it is understood."""

from collections.abc import Collection, Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from bot.domain.json_file import whole
from bot.domain.phases import PHASE_KEYS
from bot.domain.steps import Depth
from bot.domain.value import Stored

DEFAULT_MAX_TURNS = 10


def _whole(turns: Any) -> Any:
    """As JSON has it, where 7.0 is 7."""
    return turns if (number := whole(turns)) is None else number


class Record(Stored):
    """One elaboration that was held (seed 001 §2.3)."""

    step_id: str
    turn_count: Annotated[int, BeforeValidator(_whole), Field(strict=True, ge=0)]
    personas_active: tuple[str, ...]
    timestamp: str
    synthesis_summary: str


class SlackPlace(Stored):
    """
    The thread an item is discussed in; whether only some can see it, if that is known. `seal` shows that the bot
    itself wrote this: without a valid one it is only what somebody says.
    """

    team_id: str = ""
    channel_id: str = ""
    thread_ts: str = ""
    started_by: str = ""
    private: bool | None = None
    seal: str = ""


class Meta(Stored):
    """What we understand of a meta.json. `depth_overrides` may name depths that do not exist."""

    description: str = ""
    source: str = "manual"
    source_id: str | None = None
    slug: str = ""
    created_at: str = ""
    analysis_status: str = "raw"
    phases_completed: tuple[str, ...] = ()
    codebase_hash: str = ""
    steps_completed: tuple[str, ...] = ()
    depth_overrides: Mapping[str, str] = {}
    elaborations: tuple[Record, ...] = ()
    max_turns: int = DEFAULT_MAX_TURNS
    slack: SlackPlace | None = None

    @property
    def depths(self) -> Mapping[str, Depth]:
        """The overrides that mean something."""
        known = {depth.value for depth in Depth}
        return {phase: Depth(depth) for phase, depth in self.depth_overrides.items() if depth in known}

    @property
    def derived_status(self) -> str:
        return status(self.phases_completed)


def status(phases: Collection[object]) -> str:
    """Steps never count, and neither do phases that we do not know."""
    done = sum(phase in phases for phase in PHASE_KEYS)
    if done == 0:
        return "raw"
    return "partial" if done < len(PHASE_KEYS) else "analyzed"


def contiguous_phases(phases: object) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The phases done without a gap from the first on, and warnings about the others."""
    if not isinstance(phases, list | tuple):
        return (), ("phases_completed is not an array",)
    recognised = [phase for phase in phases if phase in PHASE_KEYS]
    valid: list[str] = []
    for phase in PHASE_KEYS:
        if phase not in recognised:
            break
        valid.append(phase)
    if len(recognised) <= len(valid):
        return tuple(valid), ()
    found, prefix = ", ".join(recognised), ", ".join(valid)
    warning = f"Non-contiguous phases detected: found [{found}] but only [{prefix}] form a contiguous prefix"
    return tuple(valid), (warning,)


def stale(meta: Meta, current: str) -> bool:
    """Whether the code base has changed since; short hashes of different length may be the same commit."""
    then = meta.codebase_hash
    return bool(then and current) and not (then.startswith(current) or current.startswith(then))
