"""`roundtable eval`: plays meetings with models, and says in a table what their records kept, invented and cost."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from bot import cast
from bot.content import load
from bot.domain.catalog.agenda import Playbook
from bot.domain.privacy.redaction import Redact
from bot.errors import ConfigError
from bot.settings import Settings
from bot.shipped import meetings_dir, personas_dir, steps_dir
from roundtable_eval.contending import CONTENDERS, PANEL, Contest, ContestModels, contest, scripted
from roundtable_eval.files import read_meeting, read_meetings
from roundtable_eval.meeting import Meeting, MeetingScore

COLUMNS = (
    "contender", "facts kept", "false claims", "dissent verbatim", "decisions invented",
    "collapses noticed", "false alarms", "questions", "calls", "tokens", "cost", "seconds",
)  # fmt: skip


class Threshold(NamedTuple):
    """For the panel, over all meetings: *holds* says whether the sums are good enough."""

    name: str
    wanted: str
    holds: Callable[[MeetingScore], bool]


THRESHOLDS = (
    Threshold("facts kept", "at least 90 %", lambda sums: sums.facts * 10 >= sums.of_facts * 9),
    Threshold("false claims", "0", lambda sums: sums.false_claims == 0),
    Threshold("dissent verbatim", "all", lambda sums: sums.dissent == sums.of_dissent),
    Threshold("decisions invented", "0", lambda sums: sums.invented == 0),
    Threshold("collapses noticed", "all", lambda sums: sums.collapses == sums.of_collapses),
    Threshold("false alarms", "at most 1", lambda sums: sums.alarms <= 1),
)


class Evaluation(NamedTuple):
    contests: tuple[Contest, ...]
    below: tuple[str, ...]
    """A sentence for each threshold that the panel misses."""


async def evaluate(
    paths: Sequence[Path], *, settings: Settings, redact: Redact, use_scripts: bool
) -> Evaluation:
    """Raises ContentError for a bad file, and ConfigError where no model is configured."""
    playbook = load(settings.personas or personas_dir(), settings.steps or steps_dir())
    meetings = _meetings(paths, playbook)
    found: list[Contest] = []
    if use_scripts:
        for one in meetings:
            found += await contest(one, playbook, scripted(one, playbook))
    else:
        if settings.model == "offline":
            raise ConfigError("No model is configured: set ROUNDTABLE_MODEL, or add --scripted.")
        async with _models(settings, playbook, redact) as models:
            for one in meetings:
                found += await contest(one, playbook, models)
    return Evaluation(tuple(found), tuple(_below(found)))


@asynccontextmanager
async def _models(settings: Settings, playbook: Playbook, redact: Redact) -> AsyncIterator[ContestModels]:
    async with cast.opened_models(settings, playbook, redact) as opened:
        common = opened.common
        verifier = opened.verifier
        yield ContestModels(lambda key: opened.of(key) or common, common, common, common, verifier)


def _meetings(paths: Sequence[Path], playbook: Playbook) -> tuple[Meeting, ...]:
    if not paths:
        return read_meetings(meetings_dir(), playbook.roster)
    found: list[Meeting] = []
    for path in paths:
        is_file = path.suffix in {".yaml", ".yml"}
        found += [read_meeting(path, playbook.roster)] if is_file else read_meetings(path, playbook.roster)
    return tuple(found)


def _below(contests: Iterable[Contest]) -> Iterable[str]:
    panel = [one for one in contests if one.contender == PANEL]
    yield from (f"{one.meeting}: no record, because {one.failed}" for one in panel if one.failed)
    sums = _sums(panel)
    yield from (f"{one.name}: {one.wanted} wanted" for one in THRESHOLDS if not one.holds(sums))


def _sums(contests: Iterable[Contest]) -> MeetingScore:
    scores = [one.score for one in contests]
    return MeetingScore(
        **{name: sum(getattr(one, name) for one in scores) for name in MeetingScore.model_fields}
    )


def as_text(found: Evaluation) -> str:
    rows = [COLUMNS, *(_row(one, [c for c in found.contests if c.contender == one]) for one in CONTENDERS)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(COLUMNS))]
    table = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    meetings = len({one.meeting for one in found.contests})
    verdict = [f"Below the threshold: {one}." for one in found.below] or [
        "The panel is above all thresholds."
    ]
    return "\n".join([f"{meetings} meetings", "", *table, "", *verdict])


def _row(contender: str, contests: Sequence[Contest]) -> tuple[str, ...]:
    sums = _sums(contests)
    is_panel = contender == PANEL
    priced = [one.dollars for one in contests if one.dollars is not None]
    return (
        contender,
        f"{sums.facts} of {sums.of_facts}",
        str(sums.false_claims),
        f"{sums.dissent} of {sums.of_dissent}",
        str(sums.invented),
        f"{sums.collapses} of {sums.of_collapses}" if is_panel else "-",
        str(sums.alarms) if is_panel else "-",
        str(sum(one.asked for one in contests)),
        str(sum(one.calls for one in contests)),
        f"{sum(one.tokens for one in contests):,}",
        f"${sum(priced, Decimal(0)):.4f}" if priced and len(priced) == len(contests) else "-",
        f"{sum(one.seconds for one in contests):.1f}",
    )


def as_json(found: Evaluation) -> Mapping[str, Any]:
    return {
        "contests": [
            {
                "meeting": one.meeting,
                "contender": one.contender,
                **one.score.model_dump(mode="json"),
                "asked": one.asked,
                "calls": one.calls,
                "tokens": one.tokens,
                "dollars": None if one.dollars is None else str(one.dollars),
                "seconds": one.seconds,
                "failed": one.failed,
            }
            for one in found.contests
        ],
        "below": list(found.below),
    }
