"""The files of a workshop as edits: what is written when a plan is ready, and what a redo puts aside."""

from collections.abc import Collection, Mapping
from typing import Literal

from bot.domain.planning.minutes import minutes
from bot.domain.planning.paths import (
    BRIEF,
    FOLDER,
    MINUTES,
    PLAN,
    REQUIRED,
    REVIEW,
    VERSIONED,
    version_folder,
)
from bot.domain.planning.plan import Plan
from bot.domain.planning.projections import projected
from bot.domain.planning.review import review_json
from bot.domain.planning.validating import read_plan
from bot.domain.planning.workshop import Workshop
from bot.domain.transcript import Part
from bot.domain.value import Stored


class PlanEdit(Stored):
    """Writes a whole file of the workshop, whatever was there; `None` takes it away, once a redo has put it aside."""

    kind: Literal["plan"] = "plan"
    path: str
    text: str | None

    @property
    def takes_away(self) -> bool:
        return self.text is None

    def apply(self, _: str | None) -> str:
        """Nothing, of a file that is taken away."""
        return self.text or ""


def outputs(ws: Workshop, plan: Plan, *, names: Mapping[str, str], now: str) -> tuple[PlanEdit, ...]:
    """Everything that is written when a plan is valid. `planning/meeting.jsonl` is the engine's own."""
    texts = {
        **projected(plan),
        MINUTES: minutes(ws, names),
        REVIEW: review_json(ws, plan, now=now),
        BRIEF: f"{ws.brief.strip()}\n",
    }
    return tuple(PlanEdit(path=path, text=text) for path, text in texts.items())


def put_aside(ws: Workshop, files: Mapping[str, str], *, names: Mapping[str, str]) -> tuple[PlanEdit, ...]:
    """
    What becomes of *files*, those of version `ws.version` by path, before the next one begins.

    Also a version that came to no plan leaves its minutes. The transcript stays where it is, and goes on.
    """
    folder = free_folder(ws.version, files)
    present = {path: text for path, text in files.items() if path in VERSIONED}
    kept = {MINUTES: minutes(ws, names), BRIEF: f"{ws.brief.strip()}\n", **present}
    moved = [PlanEdit(path=f"{folder}{path.removeprefix(FOLDER)}", text=text) for path, text in kept.items()]
    return (*moved, *(PlanEdit(path=path, text=None) for path in present))


def taken_up(drafted: Workshop, files: Mapping[str, str]) -> Workshop:
    """
    Where git alone says a workshop stands, after the store was lost: *drafted* as it would begin, with the brief and
    the version of *files*, and ready for review if the plan and its projections are all there.
    """
    brief = files.get(BRIEF, "").strip() or drafted.brief
    ready = files.keys() >= REQUIRED and read_plan(files[PLAN]).plan is not None
    found = drafted.but(version=_first_free(1, files), brief=brief)
    return found.but(stage=Part.REVIEW_READY, outputs=tuple(sorted(REQUIRED))) if ready else found


def free_folder(version: int, taken: Collection[str]) -> str:
    """Nothing that was put aside is ever written over, also where the count of versions was lost."""
    return version_folder(_first_free(version, taken))


def _first_free(version: int, taken: Collection[str]) -> int:
    while any(path.startswith(f"{version_folder(version)}/") for path in taken):
        version += 1
    return version
