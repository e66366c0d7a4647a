"""
The fold of a transcript: lines go in, in their order, and the state of the item comes out.

It needs no store, no model and no Slack. A row that is not a line becomes a flaw with its number, and the other lines
still count. `_Fold` changes in place, unlike the values of the domain; nothing outside of this module sees it.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Annotated, Any

from pydantic import BeforeValidator

from bot.domain.item.meta import ProgressChange, Record, add_progress
from bot.domain.transcript.earlier import SYNTHESIS, is_synthesis, positions_of
from bot.domain.transcript.lines import Flaw, Line, LinePhase, Source, out_of_order
from bot.domain.transcript.state import (
    CHANGE,
    Concluded,
    Progress,
    RecordedSpending,
    Speaker,
    State,
    Totals,
)
from bot.domain.values.text import one_line

Row = Line | str
"""A line, or a sentence that says why a row is not one."""

NAME_CHARS = 80
HIGHEST_AMOUNT = 10**15

CALL = frozenset({"provider", "tokens_in", "tokens_out"})
"""A line with one of these in its `meta` records a call of a model."""
AMOUNTS = ("tokens_in", "tokens_out", "cost", "seconds")


def fold(rows: Iterable[tuple[int, Row]]) -> State:
    """The state after the numbered *rows*."""
    folded = _Fold()
    for number, row in rows:
        if isinstance(row, str):
            folded.refuse(number, row)
        else:
            folded.take(number, row)
    return folded.state()


class _Fold:
    def __init__(self) -> None:
        self._last: Line | None = None
        self._number = self._lines = 0
        self._began = self._permalink = ""
        self._flaws: list[Flaw] = []
        self._spoken: Line | None = None
        self._joined_round = -1
        self._phase_key = self._step_id = self._depth = ""
        self._concluded: list[Concluded] = []
        self._changes: list[_Change] = []
        self._is_whole = False
        self._tally = _Tally()

    def refuse(self, number: int, sentence: str) -> None:
        self._number = max(number, self._number)
        self._flaws.append(Flaw(number=number, sentence=sentence))

    def take(self, number: int, line: Line) -> None:
        """What a line means depends on its phase and on the facts in its `meta`; one line may have several."""
        self._check_order(number, line)
        self._number, self._last, self._lines = number, line, self._lines + 1
        self._began = self._began or line.ts
        self._tally.count(number, line)
        phase = line.text("phase_key")
        if phase not in {"", self._phase_key}:
            self._phase_key, self._step_id, self._depth = phase, "", ""
        self._step_id = line.text("step_id") or self._step_id
        if line.phase is LinePhase.FORMALIZING or CHANGE in line.meta:
            self._conclude(number, line)
        if "permalink" in line.meta:
            self._permalink = str(line.meta["permalink"])
        if "depth" in line.meta:
            self._depth = str(line.meta["depth"])

    def _conclude(self, number: int, line: Line) -> None:
        """A synthesis ends an elaboration, and so does the record of one in a change."""
        record = self._change(number, line) if CHANGE in line.meta else None
        is_written = line.phase is LinePhase.FORMALIZING and is_synthesis(line)
        if not (is_written or record):
            return
        concluded = Concluded(
            line=number,
            step_id=record.step_id if record else self._step_id,
            text=line.content,
            whole=line.content.startswith(SYNTHESIS),
            record=record,
        )
        self._concluded.append(concluded)

    def _change(self, number: int, line: Line) -> Record | None:
        """The record of the elaboration that ends with the change, if one does."""
        try:
            change = _Change.model_validate(line.meta[CHANGE])
        except ValueError:
            self.refuse(number, "has an invalid change")
            return None
        if change.created and not change.restart:
            self._changes.clear()
        self._changes.append(change)
        self._is_whole = self._is_whole or change.created
        return change.elaborations[-1] if change.elaborations and not change.restart else None

    # --- order --------------------------------------------------------------------------------------------------------

    def _check_order(self, number: int, line: Line) -> None:
        """Seed 004 §3: rounds and times do not go back, and a round has one phase."""
        for sentence in out_of_order(self._last, line):
            self.refuse(number, sentence)
        if line.source is Source.USER:
            return  # people may write at any time
        before, self._spoken = self._spoken, line
        if before is None or line.round != before.round or line.phase == before.phase:
            return
        # A note of the host may change the phase of a round. Where two meetings were joined, because the store was
        # lost or clones were merged, their rounds may be the same.
        if line.is_note or _writer(line) != _writer(before):
            self._joined_round = line.round
        if self._joined_round != line.round:
            sentence = (
                f"is {line.phase.value} in round {line.round}, which was {before.phase.value} before it"
            )
            self.refuse(number, sentence)

    # --- the state ----------------------------------------------------------------------------------------------------

    def state(self) -> State:
        progress = add_progress(Progress(whole=self._is_whole), *self._changes)
        last = self._last
        return State(
            line=self._number,
            lines=self._lines,
            round=last.round if last else 0,
            part=last.phase.value if last else "",
            ts=last.ts if last else "",
            began=self._began,
            actor=last.actor if last else "",
            phase_key=self._phase_key,
            step_id=self._step_id,
            depth=progress.depth_overrides.get(self._phase_key) or self._depth,
            permalink=self._permalink,
            progress=progress,
            concluded=tuple(self._concluded),
            speakers=self._tally.speakers(),
            totals=self._tally.totals(),
            flaws=tuple(self._flaws),
            flaw_count=len(self._flaws),
        )


def _writer(line: Line) -> str:
    """Message ids of ours are numbered; the text before the number names the roundtable that wrote them."""
    return message_id(0, line).rpartition(".")[0]


class _Change(ProgressChange):
    """`meta.change` of a line, as `state.carried` writes it. Other values than true mean false in the flags."""

    restart: Annotated[bool, BeforeValidator(lambda found: found is True)] = False
    created: Annotated[bool, BeforeValidator(lambda found: found is True)] = False


# --- who spoke, and what the models used ------------------------------------------------------------------------------


def message_id(number: int, line: Line) -> str:
    """Lines of other tools may have none."""
    return line.text("message_id") or f"line {number}"


def position_in(line: Line) -> str:
    """The positions that its speaker takes in *line*, as one text; empty where it takes none."""
    fields = [one.get("set") for one in line.patches if str(one.get("id", "")).startswith("POS-")]
    told = [
        (one.get("issue"), one.get("words") or one.get("option"))
        for one in fields
        if isinstance(one, Mapping)
    ]
    told += [(one.issue, one.told) for one in positions_of(line.meta)]
    return one_line(
        "; ".join(f"{issue}: {text}" if issue else str(text) for issue, text in told if text), 400
    )


def called(meta: Mapping[str, Any]) -> str:
    """The provider of a call, with the model where the line names one."""
    names = [name for name in (meta.get("provider"), meta.get("model")) if isinstance(name, str)]
    return "/".join(names) or "unnamed"


def amount(found: object) -> float:
    """0 for a value that cannot be added up; other tools may write anything."""
    if isinstance(found, bool) or not isinstance(found, int | float):
        return 0.0
    return float(found) if 0 <= found <= HIGHEST_AMOUNT else 0.0


def kind_of(line: Line) -> str:
    """`person`, `persona` or `host`."""
    if line.source is Source.USER:
        return "person"
    return "host" if line.is_note else "persona"


def named(line: Line) -> tuple[str, str]:
    """The key and the name of the speaker: for a person the id and the name, for all others the actor."""
    if line.source is not Source.USER:
        return line.actor, line.actor
    key = line.person or line.person_name or line.actor
    return key, line.person_name or key


_Use = defaultdict[str, float]
"""Sums by the field of RecordedSpending."""


@dataclass(slots=True)
class _Heard:
    name: str
    first: int
    last: int = 0
    lines: int = 0


class _Tally:
    def __init__(self) -> None:
        new_use = partial(_Use, float)
        self._all = new_use()
        self._by_actor = defaultdict[str, _Use](new_use)
        self._by_provider = defaultdict[str, _Use](new_use)
        self._speakers: dict[tuple[str, str], _Heard] = {}

    def count(self, number: int, line: Line) -> None:
        self._hear(number, line)
        uses = [self._all, self._by_actor[line.actor]]
        if has_call := not CALL.isdisjoint(line.meta):
            uses.append(self._by_provider[called(line.meta)])
        for use in uses:
            use["lines"] += 1
            if has_call:
                use["calls"] += 1
                for name in AMOUNTS:
                    use[name] += amount(line.meta.get(name))
            elif line.source is Source.MODEL:
                use["unrecorded"] += 1

    def _hear(self, number: int, line: Line) -> None:
        (key, name), kind = named(line), kind_of(line)
        speaker = self._speakers.setdefault((kind, key), _Heard(name, number))
        speaker.name = name  # people may change theirs
        speaker.lines += 1
        speaker.last = number

    def speakers(self) -> tuple[Speaker, ...]:
        """In the order of their first lines."""
        found = (
            Speaker(
                key=one_line(key, NAME_CHARS),
                name=one_line(heard.name, NAME_CHARS),
                kind=kind,
                lines=heard.lines,
                first=heard.first,
                last=heard.last,
            )
            for (kind, key), heard in self._speakers.items()
        )
        return tuple(sorted(found, key=attrgetter("first")))

    def totals(self) -> Totals:
        return Totals(
            all=_spending(self._all),
            by_actor={one_line(name, NAME_CHARS): _spending(use) for name, use in self._by_actor.items()},
            by_provider={
                one_line(name, NAME_CHARS): _spending(use) for name, use in self._by_provider.items()
            },
        )


def _spending(use: _Use) -> RecordedSpending:
    counts = {name: int(use[name]) for name in ("lines", "calls", "unrecorded", "tokens_in", "tokens_out")}
    return RecordedSpending(**counts, cost=round(use["cost"], 6), seconds=round(use["seconds"], 3))
