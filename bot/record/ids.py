"""
Lines that use an id for the second time, found in the memory of a few of them however many there are.

What was seen is kept as marks in a fixed table, which can be wrong about a new id, and never about an old one. So a
second look, at the suspects alone, settles it; mostly there are none, and no second look is needed.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from bot.domain.transcript import Flaw
from bot.files import File
from bot.record.reading import rows

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
