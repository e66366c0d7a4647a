"""
A transcript, read from its file in blocks: a record of any length takes the memory of a few of them.

A block of whole lines is decoded at once, as one array, which takes half the time of decoding line by line. Where
that says no, or where two rows could have become one line, the block is decoded row by row, and each bad row is named.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple

from pydantic_core import from_json

from bot.domain.transcript.fold import Replay
from bot.domain.transcript.lines import Flaw
from bot.domain.values.json_files import cut_off, decoded
from bot.files import LONGEST_ROW_BYTES, File

BLOCK_BYTES = 128 * 1024

TOO_LONG = "is longer than 16 MiB, and was not read"
TORN = "was cut off in the middle of being written"

_TWO_ON_A_ROW = re.compile(rb"\}[ \t\r]*,[ \t\r]*\{")
_PADDING = b"\x00 \t\r"

Row = dict[str, Any] | str
"""What a row says, or a sentence about why that cannot be known."""


class Block(NamedTuple):
    """Rows with their ends; `too_long` says that it is the beginning of one row, whose rest was skipped."""

    first: int
    content: bytes
    too_long: bool = False


def replay(record: File, *, until: int | None = None) -> Replay:
    """Every line of the file, or those up to the line *until*. Raises OSError."""
    replayed = Replay()
    with record.opened() as file:
        for first, found in batches(file):
            wanted = found if until is None else found[: max(until + 1 - first, 0)]
            replayed.take_all(first, wanted)
            if len(wanted) < len(found):
                break
    return replayed


def rows(file: BinaryIO) -> Iterator[tuple[int, Row]]:
    """By their numbers, which count empty ones; those are left out."""
    for first, found in batches(file):
        for number, row in enumerate(found, start=first):
            if row is not None:
                yield number, row


def batches(file: BinaryIO) -> Iterator[tuple[int, Sequence[Row | None]]]:
    """The rows of a block, and the number of its first one; None is an empty row."""
    for block in blocks(file):
        if block.too_long:
            yield block.first, [TOO_LONG]
        else:
            yield block.first, _at_once(block.content) or _one_by_one(block.content)


def blocks(file: BinaryIO) -> Iterator[Block]:
    first, rest = 1, b""
    while chunk := file.read(BLOCK_BYTES):
        end = chunk.rfind(b"\n") + 1
        if end:
            content = rest + chunk[:end]
            yield Block(first, content)
            first, rest = first + content.count(b"\n"), chunk[end:]
        else:
            rest += chunk
        if len(rest) > LONGEST_ROW_BYTES:
            yield Block(first, rest[:BLOCK_BYTES], too_long=True)
            first, rest = first + 1, _skipped(file)
    if rest:
        yield Block(first, rest)


def _skipped(file: BinaryIO) -> bytes:
    """What follows the row that the file is in the middle of."""
    while chunk := file.read(BLOCK_BYTES):
        end = chunk.find(b"\n") + 1
        if end:
            return chunk[end:]
    return b""


def _at_once(content: bytes) -> list[dict[str, Any]] | None:
    """
    None when it takes a closer look. A text cannot reach over a line end, and no row may hold two objects: so none
    makes up for another one that reaches into the next row.
    """
    if not content.endswith(b"\n") or _TWO_ON_A_ROW.search(content):
        return None
    try:
        found = from_json(b"[" + content[:-1].replace(b"\n", b",\n") + b"]", cache_strings="keys")
    except ValueError:
        return None
    whole = len(found) == content.count(b"\n") and set(map(type, found)) == {dict}
    return found if whole else None


def _one_by_one(content: bytes) -> list[Row | None]:
    *ended, last = content.split(b"\n")
    found: list[Row | None] = [decoded(row) if row.strip() else None for row in ended]
    if left := last.strip(_PADDING):
        found.append(TORN if cut_off(left) else decoded(left))
    return found


# Lines that use an id for the second time, found in the memory of a few of them however many there are.
#
# What was seen is kept as marks in a fixed table, which can be wrong about a new id, and never about an old
# one. So a second look, at the suspects alone, settles it; mostly there are none, and no second look is
# needed.


TABLE_BITS = 27
PROBES = 3
_PLACES = (1 << TABLE_BITS) - 1


def repeated(record: File) -> Iterator[Flaw]:
    """Raises OSError."""
    with record.opened() as file:
        suspects = _suspects(id_ for _, id_ in _ids(file))
    if not suspects:
        return
    first: dict[str, int] = {}
    with record.opened() as file:
        for number, id_ in _ids(file):
            if id_ in suspects and first.setdefault(id_, number) != number:
                yield Flaw(number=number, sentence=f"has the message_id of line {first[id_]}")


def _suspects(ids: Iterable[str]) -> set[str]:
    table, suspects = bytearray(1 << (TABLE_BITS - 3)), set()
    for id_ in ids:
        known = True
        value = hash(id_)
        for probe in range(PROBES):
            place = (value >> (probe * 18)) & _PLACES
            bit = 1 << (place & 7)
            known = known and bool(table[place >> 3] & bit)
            table[place >> 3] |= bit
        if known:
            suspects.add(id_)
    return suspects


def _ids(file: Any) -> Iterator[tuple[int, str]]:
    for number, row in rows(file):
        meta = row.get("meta") if isinstance(row, dict) else None
        found = meta.get("message_id") if isinstance(meta, dict) else None
        if isinstance(found, str) and found:
            yield number, found
