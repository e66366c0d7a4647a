"""The state of an item at a line of its transcript, as values. `fold.py` calculates it."""

from collections.abc import Mapping
from typing import Any

from bot.domain.item.artifacts import marker
from bot.domain.item.meta import ItemProgress, MetaChange, ProgressChange, Record
from bot.domain.transcript.lines import Flaw
from bot.domain.values.value import Value

CHANGE = "change"
"""In a line's `meta`: the change of `meta.json` that is committed with the line (ADR 12)."""

REPRODUCED = ("steps_completed", "phases_completed", "depth_overrides", "elaborations", "analysis_status")
"""The fields of meta.json that follow from the lines."""


class Progress(ItemProgress):
    """
    What the lines say about meta.json. `whole` is false for a transcript that began before lines carried changes: then
    the lines lack a part of the progress.
    """

    whole: bool = False


def carried(change: MetaChange) -> dict[str, Any]:
    """The part of *change* that a replay reproduces, for the `meta` of a line; may be empty."""
    facts = change.model_dump(mode="json", include={*ProgressChange.model_fields})
    facts = {"created": change.created is not None, **facts}
    return {name: fact for name, fact in facts.items() if fact}


class Concluded(Value):
    """An elaboration that is over."""

    line: int
    step_id: str
    text: str
    whole: bool
    """False when the result is only one sentence. Then no file has a section for it."""
    record: Record | None = None
    """The record that the line carries. Lines of older versions carry none."""

    @property
    def marker(self) -> str:
        """Above its section in files; empty without a record."""
        return marker(self.record.step_id, self.record.timestamp) if self.record else ""


class Speaker(Value):
    """`key` tells two people with the same name apart."""

    key: str
    name: str
    kind: str
    """`person`, `persona` or `host`."""
    lines: int
    first: int
    last: int


class RecordedSpending(Value):
    """Use of models. `unrecorded` counts lines of models that say nothing about the call."""

    lines: int = 0
    calls: int = 0
    unrecorded: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    seconds: float = 0.0


class Totals(Value):
    all: RecordedSpending = RecordedSpending()
    by_actor: Mapping[str, RecordedSpending] = {}
    by_provider: Mapping[str, RecordedSpending] = {}


class State(Value):
    """
    The state of an item after a line of its transcript. `line` is the number of the last row, `lines` the number of
    valid lines.
    """

    line: int = 0
    lines: int = 0
    round: int = 0
    part: str = ""
    ts: str = ""
    began: str = ""
    actor: str = ""
    phase_key: str = ""
    step_id: str = ""
    depth: str = ""
    permalink: str = ""
    progress: Progress = Progress()
    concluded: tuple[Concluded, ...] = ()
    speakers: tuple[Speaker, ...] = ()
    totals: Totals = Totals()
    flaws: tuple[Flaw, ...] = ()
    flaw_count: int = 0

    @property
    def people(self) -> tuple[Speaker, ...]:
        return tuple(one for one in self.speakers if one.kind == "person")

    @property
    def personas(self) -> tuple[Speaker, ...]:
        return tuple(one for one in self.speakers if one.kind == "persona")
