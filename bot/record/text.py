"""A record as Markdown and as JSON. Everything is written row by row."""

import json
from collections.abc import Iterable, Iterator, Mapping

from bot.domain.transcript.state import RecordedSpending, State
from bot.domain.values.json_files import pretty
from bot.domain.values.markdown import escaped, quoted
from bot.domain.values.text import counted, one_line
from bot.record.brief import BriefPoint, ReadRecord, RecordResults
from bot.record.reading import RecordEntry

LINE_CHARS = 150


def standing(state: State) -> str:
    place = [
        f"phase {state.phase_key}" if state.phase_key else "",
        f"step {state.step_id}" if state.step_id else "",
    ]
    place += [f"depth {state.depth}" if state.depth else "", f"round {state.round}", state.part]
    return one_line(", ".join((state.progress.derived_status, *(one for one in place if one))), LINE_CHARS)


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
        for move in issue.moves:
            lines = ", ".join(f"line {number}" for number in move.because)
            because = f", because of {lines}" if lines else ""
            yield f"{move.by}: {move.was} → {move.position} (line {move.line}{because})"


# --- Markdown: escaped, so that headings and comments of others are only text ---------------------------------------

CELL_CHARS = 80


def as_markdown(record: ReadRecord, *, title: str) -> Iterator[str]:
    """The state first, then the lines."""
    state, brief = record.state, record.brief
    yield f"# {escaped(one_line(title))}"
    yield ""
    yield f"After line {state.line}: {escaped(standing(state))}."
    came_to = [(heading, map(in_words, points)) for heading, points in lists(brief)]
    for heading, found in (("Progress", _progress(state)), *came_to, ("Positions", positions(brief))):
        yield from _section(heading, (f"- {escaped(one)}" for one in found))
    spoke = (
        f"| {_cell(one.name)} | {one.kind} | {one.lines} | {one.first} | {one.last} |"
        for one in state.speakers
    )
    yield from _section("Who spoke", spoke, "| who | | lines | from | to |", "|---|---|--:|--:|--:|")
    for by, spent in (("actor", state.totals.by_actor), ("provider", state.totals.by_provider)):
        rows = (
            f"| {_cell(name)} | {one.lines} | {amounts(one)} |" for name, one in spent.items() if amounts(one)
        )
        yield from _section(f"Model calls by {by}", rows, "| | lines | |", "|---|--:|---|")
    flaws = (f"- Line {flaw.number} {escaped(flaw.sentence)}" for flaw in state.flaws)
    yield from _section("Not as it should be", flaws)
    yield from _lines(record.lines)


def _progress(state: State) -> Iterator[str]:
    done = state.progress
    facts = [
        ("steps done", ", ".join(done.steps_completed)),
        ("phases done", ", ".join(done.phases_completed)),
        ("depths", ", ".join(f"{phase} {depth}" for phase, depth in done.depth_overrides.items())),
        *(("discussed", f"{one.step_id}: {one.synthesis_summary}") for one in done.elaborations),
    ]
    return (f"{name}: {one_line(fact, LINE_CHARS)}" for name, fact in facts if fact)


def _section(heading: str, found: Iterable[str], *head: str) -> Iterator[str]:
    if rows := list(found):
        yield from ("", f"## {heading}", "", *head, *rows)


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
        "state": {**state.model_dump(mode="json"), "status": state.progress.derived_status},
        **{
            name.lower().replace(" ", "_"): [
                _facts(one._asdict() | {"facts": dict(one.facts)}) for one in points
            ]
            for name, points in lists(brief)
        },
        "positions": list(positions(brief)),
    }
    yield pretty(head).removesuffix("\n}\n") + ',\n  "lines": ['
    between = "\n"
    for entry in record.lines:
        yield f"{between}    {json.dumps(_facts(entry._asdict()), ensure_ascii=False)}"
        between = ",\n"
    yield "\n  ]\n}\n"


def _facts(fields: Mapping[str, object]) -> dict[str, object]:
    """Without empty ones. A call without figures is an empty object."""
    return {name: fact for name, fact in fields.items() if fact or (name == "call" and fact is not None)}
