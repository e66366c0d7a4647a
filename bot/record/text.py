"""A record as text for a terminal, as Markdown and as JSON. Everything is written row by row."""

import json
from collections.abc import Iterable, Iterator, Mapping

from bot.domain.transcript.state import RecordedSpending, Speaker, State
from bot.domain.values.json_files import pretty
from bot.domain.values.markdown import escaped, quoted
from bot.domain.values.text import counted, one_line
from bot.record.brief import BriefPoint, PositionMove, ReadRecord, RecordResults
from bot.record.reading import RecordEntry

LINE_CHARS = 150
FLAWS_SHOWN = 20
RANGES_SHOWN = 12


class Ranges:
    """Numbers as `1-3, 7`; of many, the first ones and a count."""

    def __init__(self) -> None:
        self._spans: list[list[int]] = []
        self._more = 0

    def add(self, number: int) -> None:
        if self._spans and number == self._spans[-1][1] + 1:
            self._spans[-1][1] = number
        elif len(self._spans) < RANGES_SHOWN:
            self._spans.append([number, number])
        else:
            self._more += 1

    def __str__(self) -> str:
        shown = ", ".join(f"{first}-{last}" if first < last else f"{first}" for first, last in self._spans)
        return f"{shown} and {self._more:,} more" if self._more else shown


def as_text(record: ReadRecord) -> Iterator[str]:
    """The lines by round and step, then the state."""
    unrecorded = Ranges()
    place: tuple[object, ...] = ()
    for entry in record.lines():
        if not entry.flaw and (entry.round, entry.part, entry.step_id) != place:
            place = (entry.round, entry.part, entry.step_id)
            yield ""
            yield " · ".join(part for part in (f"Round {entry.round}", entry.part, entry.step_id) if part)
        if entry.call == {}:
            unrecorded.add(entry.number)
        yield _said(entry)
    yield ""
    yield from summary(record.state, record.brief)
    if str(unrecorded):
        yield from _listed("Calls that nothing is recorded of", [f"lines {unrecorded}"])


def summary(state: State, brief: RecordResults) -> Iterator[str]:
    yield f"After line {state.line}: {standing(state)}"
    done = state.progress
    facts = [
        ("steps done", ", ".join(done.steps_completed)),
        ("phases done", ", ".join(done.phases_completed)),
        ("depths", ", ".join(f"{phase} {depth}" for phase, depth in done.depth_overrides.items())),
        *(("discussed", f"{one.step_id}: {one.synthesis_summary}") for one in done.elaborations),
    ]
    yield from (f"  {name:<12} {one_line(fact, LINE_CHARS)}" for name, fact in facts if fact)
    for heading, points in lists(brief):
        yield from _listed(heading, map(in_words, points))
    yield from _listed("Positions", positions(brief))
    yield from _listed("People", map(_speaker, state.people))
    yield from _listed("Personas", map(_speaker, state.personas))
    yield from _spent(state)
    yield from _flaws(state)


def standing(state: State) -> str:
    place = [
        f"phase {state.phase_key}" if state.phase_key else "",
        f"step {state.step_id}" if state.step_id else "",
    ]
    place += [f"depth {state.depth}" if state.depth else "", f"round {state.round}", state.part]
    return one_line(", ".join((state.progress.analysis_status, *(one for one in place if one))), LINE_CHARS)


def amounts(spent: RecordedSpending) -> str:
    facts = [
        counted(spent.calls, "call") if spent.calls else "",
        f"{spent.unrecorded:,} unrecorded" if spent.unrecorded else "",
        f"{spent.tokens_in:,} tokens in, {spent.tokens_out:,} out"
        if spent.tokens_in or spent.tokens_out
        else "",
        f"cost {spent.cost:,.4f}" if spent.cost else "",
        f"{spent.seconds:,.1f} s" if spent.seconds else "",
    ]
    return ", ".join(fact for fact in facts if fact)


def _said(entry: RecordEntry) -> str:
    if entry.flaw:
        return f"{entry.number:>6}  !!  {one_line(entry.flaw, LINE_CHARS)}"
    marks = [entry.turn, *entry.marks, f"position: {entry.position}" if entry.position else ""]
    noted = f"  [{', '.join(mark for mark in marks if mark)}]" if any(marks) else ""
    said = f"{entry.number:>6}  {entry.ts[11:19]}  {entry.by}: {one_line(entry.text, LINE_CHARS)}{noted}"
    return "\n".join((said, *(f"{'':>18}{one.sentence}" for one in entry.passages)))


def _listed(heading: str, items: Iterable[str]) -> Iterator[str]:
    for number, item in enumerate(items):
        if not number:
            yield heading
        yield f"  - {one_line(item, LINE_CHARS)}"


def lists(brief: RecordResults) -> tuple[tuple[str, tuple[BriefPoint, ...]], ...]:
    """What it came to: the same lists in every form."""
    return (
        ("Decisions", brief.decisions),
        ("Open questions", brief.questions),
        ("Objections", brief.objections),
    )


def in_words(point: BriefPoint) -> str:
    facts = "; ".join(f"{name}: {fact}" if name else fact for name, fact in point.facts)
    said = ", ".join(filter(None, (point.by, point.fate, f"line {point.line}" if point.line else "")))
    return " ".join(filter(None, (point.id, point.text, f"– {facts}" if facts else "", f"({said})")))


def positions(brief: RecordResults) -> Iterator[str]:
    """Who stands where, and who moved because of what."""
    for issue in brief.issues:
        for position, holders in issue.positions.items():
            names = ", ".join(one.name for one in holders if not one.left)
            yield f"{issue.title}: {position}: {names or 'no one now'}"
        yield from map(_render_move, issue.moves)


def _render_move(move: PositionMove) -> str:
    lines = ", ".join(f"line {number}" for number in move.because)
    because = f", because of {lines}" if lines else ""
    return f"{move.by}: {move.was} → {move.position} (line {move.line}{because})"


def _speaker(speaker: Speaker) -> str:
    where = f"lines {speaker.first} to {speaker.last}" if speaker.lines > 1 else f"line {speaker.first}"
    return f"{speaker.name}: {speaker.lines:,} ({where})"


def _spent(state: State) -> Iterator[str]:
    totals = state.totals
    if not (totals.all.calls or totals.all.unrecorded):
        return
    yield f"Model calls: {amounts(totals.all)}"
    for spent in (totals.by_actor, totals.by_provider):
        yield from (f"  {name:<24} {amounts(one)}" for name, one in spent.items() if amounts(one))


def _flaws(state: State) -> Iterator[str]:
    shown = [f"line {flaw.number} {flaw.sentence}" for flaw in state.flaws[:FLAWS_SHOWN]]
    more = state.flaw_count - len(shown)
    yield from _listed("Not as it should be", [*shown, *([f"and {more:,} more"] if more > 0 else [])])


# --- Markdown: escaped, so that headings and comments of others are only text ---------------------------------------

CELL_CHARS = 80


def as_markdown(record: ReadRecord, *, title: str) -> Iterator[str]:
    """The state first, then the lines."""
    state, brief = record.state, record.brief
    yield f"# {escaped(one_line(title))}"
    yield ""
    yield f"After line {state.line}: {escaped(standing(state))}."
    for heading, points in lists(brief):
        yield from _section(heading, map(in_words, points))
    yield from _section("Positions", positions(brief))
    yield from _speakers(state)
    yield from _table("Model calls by actor", state.totals.by_actor)
    yield from _table("Model calls by provider", state.totals.by_provider)
    yield from _markdown_flaws(state)
    yield from _lines(record.lines())


def _section(heading: str, found: Iterable[str]) -> Iterator[str]:
    rows = [f"- {escaped(one)}" for one in found]
    if rows:
        yield from ("", f"## {heading}", "", *rows)


def _speakers(state: State) -> Iterator[str]:
    if state.speakers:
        yield from ("", "## Who spoke", "", "| who | | lines | from | to |", "|---|---|--:|--:|--:|")
        for one in state.speakers:
            yield f"| {_cell(one.name)} | {one.kind} | {one.lines} | {one.first} | {one.last} |"


def _table(heading: str, spent: Mapping[str, RecordedSpending]) -> Iterator[str]:
    rows = [
        f"| {_cell(name)} | {one.lines} | {amounts(one)} |" for name, one in spent.items() if amounts(one)
    ]
    if rows:
        yield from ("", f"## {heading}", "", "| | lines | |", "|---|--:|---|", *rows)


def _markdown_flaws(state: State) -> Iterator[str]:
    if state.flaws:
        yield from ("", "## Not as it should be", "")
        yield from (f"- Line {flaw.number} {escaped(flaw.sentence)}" for flaw in state.flaws)


def _lines(entries: Iterable[RecordEntry]) -> Iterator[str]:
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
        for one in entry.passages:
            yield from ("", escaped(one.sentence))


def _cell(text: str) -> str:
    return escaped(one_line(text, CELL_CHARS))


# --- JSON ---------------------------------------------------------------------------------------------------------


def as_json(record: ReadRecord, *, slug: str) -> Iterator[str]:
    """The state, then `lines`."""
    state, brief = record.state, record.brief
    head: dict[str, object] = {
        "slug": slug,
        "state": {**state.model_dump(mode="json"), "status": state.progress.analysis_status},
        **{name.lower().replace(" ", "_"): [_point(one) for one in points] for name, points in lists(brief)},
        "positions": list(positions(brief)),
    }
    yield pretty(head).removesuffix("\n}\n") + ',\n  "lines": ['
    between = "\n"
    for entry in record.lines():
        yield f"{between}    {json.dumps(_fields(entry), ensure_ascii=False)}"
        between = ",\n"
    yield "\n  ]\n}\n"


def _point(point: BriefPoint) -> dict[str, object]:
    return {name: fact for name, fact in (point._asdict() | {"facts": dict(point.facts)}).items() if fact}


def _fields(entry: RecordEntry) -> dict[str, object]:
    """Without empty fields. A call without figures is an empty object."""
    found = entry._asdict()
    return {
        name: fact for name, fact in found.items() if fact not in ("", None, ()) and (name != "round" or fact)
    }
