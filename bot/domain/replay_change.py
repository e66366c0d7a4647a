"""
What a line of the transcript carries of the change that is committed with it: `meta.change`.

With it the lines alone say how far an item is, so that `meta.json` can be reproduced from them, and doubted.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from bot.domain.meta import Change
from bot.domain.progress import Record, status
from bot.domain.value import Value

CHANGE = "change"
"""The name of it in a line's `meta`."""

REPRODUCED = ("steps_completed", "phases_completed", "depth_overrides", "elaborations", "analysis_status")
"""The fields of meta.json that follow from the lines."""


class Progress(Value):
    """
    What the lines so far say about meta.json. `whole` is false for a transcript that began before lines carried
    changes: then some of the progress is not in them.
    """

    steps_completed: tuple[str, ...] = ()
    phases_completed: tuple[str, ...] = ()
    depth_overrides: Mapping[str, str] = {}
    elaborations: tuple[Record, ...] = ()
    whole: bool = False

    @property
    def analysis_status(self) -> str:
        return status(self.phases_completed)


class Carried(NamedTuple):
    steps: tuple[str, ...]
    phases: tuple[str, ...]
    depth_overrides: Mapping[str, str]
    elaborations: tuple[Record, ...]
    restart: bool
    created: bool

    @classmethod
    def of(cls, found: object) -> "Carried":
        """Raises ValueError."""
        if isinstance(found, dict):
            return cls._of(found)
        raise ValueError(CHANGE)

    @classmethod
    def _of(cls, found: Mapping[str, Any]) -> "Carried":
        return cls(
            _texts(found["steps"]) if "steps" in found else (),
            _texts(found["phases"]) if "phases" in found else (),
            _depths(found["depth_overrides"]) if "depth_overrides" in found else {},
            _records(found["elaborations"]) if "elaborations" in found else (),
            restart=found.get("restart") is True,
            created=found.get("created") is True,
        )


class Growing:
    """A progress to which changes are added: the same as `meta.apply`, at a cost that does not grow with it."""

    def __init__(self) -> None:
        self._steps: dict[str, None] = {}
        self._phases: dict[str, None] = {}
        self._depths: dict[str, str] = {}
        self._elaborations: dict[tuple[str, str], Record] = {}
        self._whole = False

    def add(self, carried: object) -> Carried:
        """Raises ValueError when *carried* is no change; then nothing of it is added."""
        change = Carried.of(carried)
        begins = change.created and not change.restart
        if begins:
            self._elaborations, self._depths = {}, {}
        if begins or change.restart:
            self._steps, self._phases = {}, {}
        self._steps.update(dict.fromkeys(change.steps))
        self._phases.update(dict.fromkeys(change.phases))
        self._depths.update(change.depth_overrides)
        for record in change.elaborations:
            self._elaborations.setdefault((record.step_id, record.timestamp), record)
        self._whole = self._whole or change.created
        return change

    def progress(self) -> Progress:
        return Progress(
            steps_completed=tuple(self._steps),
            phases_completed=tuple(self._phases),
            depth_overrides=dict(self._depths),
            elaborations=tuple(self._elaborations.values()),
            whole=self._whole,
        )


def carried(change: Change) -> dict[str, Any]:
    """Of *change*, what replaying reproduces; empty when that is nothing."""
    facts = {
        "created": change.created is not None,
        "restart": change.restart,
        "steps": list(change.steps),
        "phases": list(change.phases),
        "depth_overrides": dict(change.depth_overrides),
        "elaborations": [record.model_dump(mode="json") for record in change.elaborations],
    }
    return {name: fact for name, fact in facts.items() if fact}


def _texts(found: Any) -> tuple[str, ...]:
    if isinstance(found, list) and set(map(type, found)) <= {str}:
        return tuple(found)
    raise ValueError(CHANGE)


def _depths(found: Any) -> Mapping[str, str]:
    if isinstance(found, dict):
        return dict(zip(found, _texts([*found.values()]), strict=True))
    raise ValueError(CHANGE)


def _records(found: Any) -> tuple[Record, ...]:
    """Pydantic's errors are ValueErrors, too."""
    if isinstance(found, list):
        return tuple(Record.model_validate(one) for one in found)
    raise ValueError(CHANGE)
