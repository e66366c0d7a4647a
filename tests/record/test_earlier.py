"""Transcripts that four earlier versions wrote, from the first one on: they are read, shown and taken over."""

from html import escape
from pathlib import Path

import pytest

from bot.domain.specification.claims import EntryState
from bot.domain.specification.entries import Specification
from bot.domain.specification.snapshot import folded_content
from bot.domain.transcript.lines import Line, LinePhase, Source, read
from bot.domain.transcript.seal import TAKES_OVER, Sealer, old_lines
from bot.record.brief import read_record
from bot.record.page import as_html
from tests.record.kept import record_at

SAMPLES = sorted((Path(__file__).parent / "earlier").glob("*.jsonl"))
SEALER = Sealer(b"the key of a test")


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.stem)
def test_it_is_read_without_a_flaw_and_shown(sample: Path) -> None:
    """Every word of a person is on the page."""
    record = record_at(sample)
    known = read_record(record)
    page = "".join(as_html(known, title="Offline sync"))
    said = [line for line in read(sample.read_bytes()) if line.source is Source.USER]

    assert known.state.flaw_count == 0
    assert len([*known.lines]) == known.state.lines
    assert all(escape(line.content.split("\n")[0]) in page for line in said)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.stem)
def test_what_was_accepted_is_accepted_after_it_was_taken_over(sample: Path) -> None:
    """For a bot with keys, lines without a seal only propose until then."""
    content = sample.read_bytes()
    before = accepted(folded_content(content).specification)
    pushed = SEALER.append(content, [pressed("An ordinary line.")])
    taken = SEALER.append(
        content, [pressed("Taken over.", **{TAKES_OVER: old_lines(content, SEALER.trusted).model_dump()})]
    )

    assert accepted(folded_content(pushed, SEALER.trusted).specification) == set()
    assert accepted(folded_content(taken, SEALER.trusted).specification) == before


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.stem)
def test_what_was_said_in_a_step_is_in_an_entry(sample: Path) -> None:
    """Also where the version had no entries, so that it stands in a file."""
    lines = read(sample.read_bytes())
    said = [line for line in lines if line.source is Source.USER and line.phase is LinePhase.CLARIFYING]
    known = folded_content(sample.read_bytes()).specification.entries.values()
    grounds = {claim.line for entry in known for claims in entry.claims.values() for claim in claims}

    assert {line.content for line in said if line.message_id not in grounds} <= {"done"}


def test_a_long_message_is_kept_whole() -> None:
    """In several notes, and an edit that is shorter takes the rest back."""
    words = "x" * 9_000
    first = said(words, message_id="C1.1")
    shorter = said("Only this.", message_id="C1.1.edit", amends="C1.1")

    assert "".join(notes(first)) == words
    assert notes(first, shorter) == ["Only this."]


def said(content: str, **facts: object) -> Line:
    about = {"step_id": "01-01", "message_ts": "1.000100", "user_id": "U1", "user_name": "Ada"}
    return pressed(content).but(actor="User", role="user", source=Source.USER, meta={**about, **facts})


def notes(*lines: Line) -> list[str]:
    content = "".join(f"{line.as_json()}\n" for line in lines).encode()
    return [str(entry["text"]) for entry in folded_content(content).specification.active("note")]


def accepted(specification: Specification) -> set[str]:
    return {id for id, entry in specification.entries.items() if entry.state is EntryState.ACCEPTED}


def pressed(content: str, **facts: object) -> Line:
    return Line(
        ts="2026-11-24T10:00:00.000Z",
        round=9_999,
        actor="PlanningAgent",
        phase=LinePhase.CLARIFYING,
        role="planning",
        source=Source.SYSTEM,
        content=content,
        meta={"message_id": "item.1.9999", "user_id": "ada", "user_name": "Ada", **facts},
    )
