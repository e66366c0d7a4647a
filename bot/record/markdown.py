"""A record as Markdown, in which nothing that was said can act: headings are lowered, comments are text."""

from collections.abc import Iterable, Iterator, Mapping

from bot.domain.markdown import escaped, quoted
from bot.domain.replay_state import Point, Spent, State
from bot.domain.text import one_line
from bot.record.entries import Entry
from bot.record.text import amounts, standing

CELL_CHARS = 80


def as_markdown(entries: Iterable[Entry], state: State, *, title: str) -> Iterator[str]:
    """Row by row, what it has come to first."""
    yield f"# {escaped(one_line(title))}"
    yield ""
    yield f"After line {state.line}: {escaped(standing(state))}."
    for heading, points in (
        ("Decisions", state.decisions),
        ("Open questions", state.questions),
        ("Objections", state.objections),
    ):
        yield from _points(heading, points)
    yield from _speakers(state)
    yield from _table("Model calls by actor", state.totals.by_actor)
    yield from _table("Model calls by provider", state.totals.by_provider)
    yield from _flaws(state)
    yield from _lines(entries)


def _points(heading: str, points: Iterable[Point]) -> Iterator[str]:
    rows = [
        f"- {escaped(point.text)}{f' ({escaped(point.by)})' if point.by else ''}, line {point.line}"
        for point in points
    ]
    if rows:
        yield from ("", f"## {heading}", "", *rows)


def _speakers(state: State) -> Iterator[str]:
    if state.speakers:
        yield from ("", "## Who spoke", "", "| who | | lines | from | to |", "|---|---|--:|--:|--:|")
        for one in state.speakers:
            yield f"| {_cell(one.name)} | {one.kind} | {one.lines} | {one.first} | {one.last} |"


def _table(heading: str, spent: Mapping[str, Spent]) -> Iterator[str]:
    rows = [
        f"| {_cell(name)} | {one.lines} | {amounts(one)} |" for name, one in spent.items() if amounts(one)
    ]
    if rows:
        yield from ("", f"## {heading}", "", "| | lines | |", "|---|--:|---|", *rows)


def _flaws(state: State) -> Iterator[str]:
    if state.flaws:
        yield from ("", "## Not as it should be", "")
        yield from (f"- Line {flaw.number} {escaped(flaw.sentence)}" for flaw in state.flaws)


def _lines(entries: Iterable[Entry]) -> Iterator[str]:
    round_, step = 0, ""
    for entry in entries:
        if entry.flaw:
            yield from ("", f"*Line {entry.number} {escaped(entry.flaw)}.*")
            continue
        if (entry.round, entry.step_id) != (round_, step):
            round_, step = entry.round, entry.step_id
            yield from ("", f"## Round {round_}, {entry.part}{f', {escaped(step)}' if step else ''}")
        said = [f"**{escaped(entry.by)}**", entry.ts, f"line {entry.number}", entry.turn, *entry.marks]
        yield from ("", " · ".join(escaped(one) if one == entry.turn else one for one in said if one), "")
        yield quoted(entry.text)


def _cell(text: str) -> str:
    return escaped(one_line(text, CELL_CHARS))
