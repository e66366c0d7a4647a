"""The specification as a file: it says what the lines say, and counts only if they say that it does."""

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.specification import snapshot
from bot.domain.specification.claims import EntryState
from bot.domain.specification.entries import Specification
from bot.domain.specification.snapshot import (
    HASH,
    SECTIONS,
    first_difference,
    folded,
    folded_content,
    hash_of,
)
from bot.domain.transcript.lines import Line, LinePhase, Source, append, as_heard, in_thread_order
from tests.sealing import TRUSTED, sealed
from tests.specification.meeting import Meeting

SAID = ("requirement: Filter by date", "decision: We use SQLite", "risk: Sync loses edits", "It is “slow” ☕")
WRITTEN = {"requirements-spec.md#6. Functional Requirements": "0123456789abcdef"}


def a_meeting() -> Meeting:
    meeting = Meeting()
    for number, text in enumerate(SAID):
        meeting.say(("Ada", "Grace")[number % 2], "01-06", text)
    meeting.propose({"id": "FR-001", "set": {"priority": "must"}})
    meeting.press("Grace", {"id": "FR-001", "set": {"priority": "should"}})
    return meeting


def committed(meeting: Meeting) -> tuple[bytes, bytes]:
    """The file, and the transcript whose last line has its hash."""
    text = snapshot.text_of(meeting.specification, WRITTEN)
    last = meeting.lines[-1]
    marked = last.but(meta={**last.meta, HASH: hash_of(text), SECTIONS: WRITTEN})
    return text.encode(), sealed([*meeting.lines[:-1], marked])


def test_what_is_written_is_read_back() -> None:
    """What people are called is no difference."""
    meeting = a_meeting()
    text = snapshot.text_of(meeting.specification, WRITTEN)

    assert snapshot.read(text) == (meeting.specification.but(heard={}), WRITTEN)
    assert text == snapshot.text_of(*snapshot.read(text))
    assert snapshot.laid_out(json.loads(text)) == text

    renamed = [line.but(meta={**line.meta, "user_name": "Somebody"}) for line in meeting.lines]
    assert first_difference(meeting.specification, folded(renamed).specification) == ("", "")


def test_a_file_of_many_entries_stays_small() -> None:
    """Half a kilobyte for an entry, so 150 entries are less than 100 KB; each claim has a line of its own."""
    meeting = Meeting()
    for number in range(150):
        meeting.say("Ada", "01-06", f"requirement: People filter the list by criterion number {number}")

    text = snapshot.text_of(meeting.specification, {})
    assert len(text) < 150 * 500
    assert sum('"value": ' in row for row in text.splitlines()) == text.count('"value": ')


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda rows: [*rows[:1], *rows[2:]], "1 sealed line is missing before "),
        (lambda rows: [rows[0], rows[1].replace(b"SQLite", b"Redis"), *rows[2:]], "the seal of "),
    ],
)
def test_what_cannot_be_put_back_is_not_settled(
    damage: Callable[[list[bytes]], list[bytes]], sentence: str
) -> None:
    """Lines that our last commit has come back with the next one, so that nothing is wrong with them."""
    _, content = committed(a_meeting())
    now = b"".join(damage(content.splitlines(keepends=True)))

    assert folded_content(now, TRUSTED, committed=content).specification.damage == ()
    found = folded_content(now, TRUSTED).specification
    assert any(one.startswith(sentence) for one in found.damage)
    assert snapshot.read(snapshot.text_of(found, {})).specification.damage == found.damage


def test_later_lines_of_others_only_propose() -> None:
    """They take nothing back, nor do they say which sections were written."""
    meeting = a_meeting()
    text, content = committed(meeting)
    same = folded_content(content, TRUSTED)
    assert same.specification.but(heard={}) == snapshot.read(text.decode()).specification

    meeting.press("Mallory", {"id": "FR-001", "set": {"priority": "could"}})
    found = folded_content(append(content, meeting.lines[-1:]), TRUSTED)

    assert found.written == WRITTEN
    assert found.specification.entries["FR-001"]["priority"] == "should"
    pending = found.specification.entries["FR-001"].pending("priority")
    assert pending
    assert pending.value == "could"

    meeting.press("Mallory", {"id": "FR-001", "state": "withdrawn"})
    line = meeting.lines[-1]
    line = line.but(meta={**line.meta, SECTIONS: {"a.md#1": "0"}, HASH: "0"})
    found = folded_content(append(content, [line]), TRUSTED)
    assert found.specification.entries["FR-001"].state is EntryState.ACCEPTED
    assert found.written == WRITTEN


def test_entries_of_a_line_that_was_taken_away_are_gone() -> None:
    """A revert stands: the file knows of a line that is in the transcript no more."""
    meeting = a_meeting()
    text, content = committed(meeting)
    first, *rest = content.splitlines(keepends=True)

    found = folded_content(b"".join(rest), TRUSTED, committed=content)

    assert "FR-001" in snapshot.read(text.decode()).specification.entries
    assert b"FR-001" in first
    assert "DEC-001" in found.specification.entries
    assert "Filter by date" not in str(found.specification.entries)


def test_an_old_transcript_has_no_entries() -> None:
    """Rows of other tools are passed over."""
    assert folded_content(b'{"not": "a line"}\n', TRUSTED) == folded(())


def test_the_first_difference_is_named() -> None:
    meeting = a_meeting()
    before = meeting.specification
    assert first_difference(before, before) == ("", "")

    meeting.press("Ada", {"id": "FR-001", "set": {"priority": "must"}})
    assert first_difference(meeting.specification, before) == (
        "FR-001",
        'has priority "must", and the lines say "should"',
    )
    meeting.press("Ada", {"id": "DEC-001", "state": "withdrawn"})
    assert first_difference(meeting.specification, before) == (
        "DEC-001",
        'has state "withdrawn", and the lines say "accepted"',
    )
    assert first_difference(before, Specification())[1] == "is in no line of the transcript"
    assert first_difference(Specification(), before)[1] == "is missing"


def a_message(number: int, ts: str, text: str, step: str) -> Line:
    """A priority that a person gives in a message; who says it last is right."""
    return Line(
        ts=f"2026-11-22T10:00:{number:02}.000Z",
        round=1,
        actor="User",
        phase=LinePhase.CLARIFYING,
        role="user",
        source=Source.USER,
        content=text,
        meta={
            "message_id": f"m{number}",
            "message_ts": ts,
            "user_id": "U1",
            "step_id": step,
            "entries": [{"id": "FR-001", "kind": "requirement", "set": {"priority": text}}],
        },
    )


@given(st.permutations(range(1, 7)))
def test_late_messages_give_the_same_specification_from_the_file(heard: list[int]) -> None:
    """The transcript has them in the order of the thread, and they count in the order in which they came."""
    lines = [
        a_message(number, f"1700000000.{said:06}", f"p{said}", f"01-0{said}")
        for number, said in enumerate(heard, start=1)
    ]
    live = Specification().folding(lines)
    stored = in_thread_order(lines)

    assert [line.heard for line in stored] == sorted(line.heard for line in lines)
    assert [line.message_id for line in as_heard(stored)] == [line.message_id for line in lines]
    assert folded(stored).specification.entries == live.entries
