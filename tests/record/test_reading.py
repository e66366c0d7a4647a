"""A transcript as it is found: written by whom ever, whole or not, of any length."""

import json
from pathlib import Path

import pytest

from bot.domain.transcript.state import State
from bot.files import LONGEST_ROW_BYTES
from bot.record.brief import read_record
from bot.record.reading import repeated, replay
from tests.record.kept import record_at

GOLDEN = Path(__file__).parent / "golden"
LINE = {
    "ts": "2025-03-01T10:15:30.123Z", "round": 1, "actor": "User", "phase": "draft", "role": "user",
    "source": "user", "content": "Hello",
}  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "meeting.jsonl"


def row(**fields: object) -> bytes:
    return json.dumps({**LINE, **fields}).encode()


def read(path: Path, content: bytes) -> State:
    path.write_bytes(content)
    return replay(record_at(path))


def said(state: State) -> list[tuple[int, str]]:
    return [(flaw.number, flaw.sentence) for flaw in state.flaws]


def test_a_workshop_of_another_tool() -> None:
    """Written by hand to the schema: roles, verdicts, positions, and what the calls took."""
    state, _, brief, _ = read_record(record_at(GOLDEN / "workshop.jsonl"))

    assert state.flaws == ()
    assert [one.text for one in brief.decisions] == ["Render on the server, in A4 and Letter"]
    assert [(one.text, one.by) for one in brief.questions] == [
        ("Is one format enough?", "proposed by ProductPlanner (persona), not accepted"),
        ("Which page size?", "proposed by TestPlanner (persona), not accepted"),
    ]
    assert [one.by for one in brief.objections] == [
        f"proposed by {role} (persona), not accepted" for role in ("SeniorDeveloper", "RiskPlanner")
    ]
    moves = [(move.by, move.was) for issue in brief.issues for move in issue.moves]
    assert moves == [("SeniorDeveloper", "render in the browser")]
    assert state.totals.by_provider["openai"].tokens_in == 2808
    assert (state.totals.all.calls, state.totals.all.unrecorded) == (5, 1)


def test_every_variation_that_is_allowed() -> None:
    """Rounds from 0, actors and fields of one's own, any order and spacing, no `meta`, no last line end."""
    state = replay(record_at(GOLDEN / "variations.jsonl"))

    assert state.flaws == ()
    assert state.lines == 7
    assert [one.name for one in state.speakers if one.kind == "persona"] == [
        "ProductPlanner",
        "SecurityReviewer",
        "SystemDesigner",
        "TestPlanner",
    ]


def test_rows_cannot_become_one_another(path: Path) -> None:
    """A row that is left open, and one that closes too much, are two bad rows in any order."""
    opened, closing = row()[:-1] + b', "meta": {"a": [{"b": 1}', b'{"c": 2}]}}'
    state = read(path, b"\n".join([row(), opened, closing, row() + b", " + row(), row(), b""]))

    assert [number for number, _ in said(state)] == [2, 3, 4]
    assert state.lines == 2


@pytest.mark.parametrize("end", [b"\r\n", b" \n", b"\n\n"])
def test_other_line_ends_and_marks_of_the_byte_order(path: Path, end: bytes) -> None:
    """What editors do to files."""
    state = read(path, b"\xef\xbb\xbf" + row() + end + row(meta={"step_id": "00-01"}) + end)

    assert state.flaws == ()
    assert state.lines == 2


def test_a_torn_last_line(path: Path) -> None:
    """Cut off by a crash, with or without the zeros that a disk puts behind it."""
    assert said(read(path, row() + b"\n" + row()[:-9])) == [(2, "was cut off in the middle of being written")]
    assert said(read(path, row() + b"\n" + row()[:-9] + b"\x00" * 512))[0][0] == 2
    assert said(read(path, row() + b"\n" + row() + b"\x00" * 512)) == []


def test_a_row_that_nobody_said_is_skipped(path: Path) -> None:
    state = read(path, row() + b"\n" + b" " * LONGEST_ROW_BYTES + b"\n" + row() + b"\n" + row() + b"\n")

    assert said(state) == [(2, "is longer than 16 MiB, and was not read")]
    assert (state.lines, state.line) == (3, 4)


def test_the_state_at_a_line_is_that_of_the_lines_up_to_it(path: Path) -> None:
    """Lines after it are not looked at."""
    many = 2_000
    path.write_bytes(b"".join(row(round=number) + b"\n" for number in range(many)))

    for until in (1, 2, many // 2, many - 1, many, many + 5):
        state = replay(record_at(path), until=until)
        assert (state.line, state.round) == (min(until, many), min(until, many) - 1)


def test_ids_that_were_used_before_are_found(path: Path) -> None:
    """Each by its line, and where it was first; lines without one have none in common."""
    ids = ["a", "b", "a", "", "", "b", "a"]
    path.write_bytes(b"".join(row(meta={"message_id": one}) + b"\n" for one in ids))

    assert [(flaw.number, flaw.sentence) for flaw in repeated(record_at(path).rows)] == [
        (3, "has the message_id of line 1"),
        (6, "has the message_id of line 2"),
        (7, "has the message_id of line 1"),
    ]
