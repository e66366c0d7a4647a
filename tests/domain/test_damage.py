"""A transcript of which a crash or a bad disk damaged lines that git has whole."""

import json

import pytest

from bot.domain.transcript.damage import repaired

ROWS = [
    json.dumps(
        {"ts": f"2026-11-21T10:00:0{n}.000Z", "content": text, "meta": {"message_id": f"m{n}"}}
    ).encode()
    for n, text in enumerate(("It is too bright.", "At night?", "Always.", "Then dim it.", "Who pays?"))
]
HEAD = b"".join(row + b"\n" for row in ROWS)
NEW = json.dumps({"ts": "2026-11-21T10:00:09.000Z", "content": "New.", "meta": {"message_id": "m9"}}).encode()
ENDS = [end for end, byte in enumerate(HEAD) if byte == ord("\n")]


def file_of(*rows: bytes) -> bytes:
    return b"".join(row + b"\n" for row in rows)


@pytest.mark.parametrize(
    "cut", [at for at in range(len(HEAD)) if at not in ENDS and at - 1 not in ENDS and at]
)
def test_a_file_that_was_cut_anywhere_in_a_line_is_as_in_git(cut: int) -> None:
    """The line, and those that came after it; also when the disk put zeros behind."""
    for tail in (b"", bytes(100)):
        found = repaired(HEAD[:cut] + tail, HEAD)

        assert found.content.rstrip(b"\n") == HEAD.rstrip(b"\n")
        assert (found.lines, found.lossless) == (len(ROWS) - HEAD.count(b"\n", 0, cut), True)


@pytest.mark.parametrize("content", [b"", bytes(len(HEAD))])
def test_a_file_of_nothing_is_as_in_git(content: bytes) -> None:
    """What a file system leaves of one that was never flushed."""
    assert repaired(content, HEAD) == (HEAD, len(ROWS), True)


@pytest.mark.parametrize("number", range(len(ROWS)))
def test_a_torn_line_anywhere_comes_back(number: int) -> None:
    """In the middle, with everything after it; what others added below stays."""
    for left in (ROWS[number][:-3], ROWS[number][:2], ROWS[number][:20] + bytes(30)):
        found = repaired(file_of(*ROWS[:number], left, *ROWS[number + 1 :], NEW), HEAD)

        assert (found.content, found.lines) == (HEAD + NEW + b"\n", 1)


def test_what_was_written_right_behind_a_torn_line_stays() -> None:
    """Another program did not look whether the last line was whole."""
    assert repaired(file_of(*ROWS[:4], ROWS[4][:30] + NEW), HEAD) == (HEAD + NEW + b"\n", 1, True)
    assert repaired(file_of(*ROWS[:2], ROWS[2][:30] + ROWS[3], ROWS[4]), HEAD).content == HEAD


def test_a_flipped_bit_that_makes_a_line_unreadable_is_mended() -> None:
    """What stood there is nothing that git has, so it is not lossless."""
    spoilt = bytearray(ROWS[2])
    spoilt[8] ^= 0x80

    assert repaired(file_of(*ROWS[:2], bytes(spoilt), *ROWS[3:]), HEAD) == (HEAD, 1, False)


def test_zeros_over_several_lines_are_mended() -> None:
    """A block that was never written."""
    content = HEAD[: ENDS[0] + 10] + bytes(ENDS[2] - ENDS[0]) + HEAD[ENDS[2] + 10 :]

    assert repaired(content, HEAD).content == HEAD


@pytest.mark.parametrize(
    "rows",
    [
        [*ROWS, b"NOTE: ask Grace about this"],
        [*ROWS[:2], b"NOTE: took out what Linus said", *ROWS[3:]],
        [*ROWS[:2], ROWS[2].replace(b"Always", b"Never"), *ROWS[3:]],
        [*ROWS[:2], *ROWS[3:]],
        ROWS[:3],
        [*ROWS[:2], b"", *ROWS[2:]],
        [*ROWS, b"{half a line of somebody's own"],
        [*ROWS, NEW[:40]],
        [row + b"\r" for row in ROWS],
    ],
)
def test_what_somebody_did_by_hand_stands(rows: list[bytes]) -> None:
    """A note, an edit that can be read, a line that is gone, an empty row; and a torn line that is in no commit."""
    assert repaired(file_of(*rows), HEAD) == (file_of(*rows), 0, True)


def test_edits_by_hand_stay_beside_a_damaged_line() -> None:
    """Each row is looked at by itself."""
    edited = ROWS[1].replace(b"At night?", b"At noon?")
    rows = [ROWS[0], edited, b"NOTE: hm", ROWS[2][:-9], ROWS[3], NEW]

    assert repaired(file_of(*rows), HEAD).content == file_of(*rows[:3], ROWS[2], ROWS[3], NEW)
    after = [ROWS[0][:-9], edited, *ROWS[2:]]
    assert repaired(file_of(*after), HEAD).content == file_of(ROWS[0], *after[1:])


def test_line_ends_of_windows_are_no_difference() -> None:
    """Git may check the file out with them."""
    rows = [row + b"\r" for row in ROWS]

    assert (
        repaired(file_of(*rows[:4], ROWS[4][:20]), HEAD).content == file_of(*rows[:4], ROWS[4])[:-1] + b"\n"
    )
