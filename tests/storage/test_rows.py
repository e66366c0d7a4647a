"""Rows of two sides, whatever they are: each is what somebody wanted it to be, or nothing is put together."""

import csv
import io
import json

from hypothesis import given
from hypothesis import strategies as st

from bot.storage.git.rebase import objects, table

Side = dict[str, str]
keys = st.text("abc\"', €", min_size=1, max_size=2)
sides = st.dictionaries(keys, st.text("xy,\"\n'", max_size=3), max_size=5)


def wanted(before: Side, theirs: Side, ours: Side) -> Side | None:
    """By the book: three versions of one row at a time. None when both changed one."""
    merged = {}
    for key in {**before, **theirs, **ours}:
        was, now, mine = before.get(key), theirs.get(key), ours.get(key)
        if now != mine and was not in (now, mine):
            return None
        chosen = mine if now == was else now
        if chosen is not None:
            merged[key] = chosen
    return merged


def as_json(side: Side) -> bytes:
    return json.dumps([{"id": key, "text": text} for key, text in side.items()]).encode()


def as_csv(side: Side) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text).writerows([("Key", "Text"), *side.items()])
    return text.getvalue().encode()


def in_order(merged: list[str], side: Side) -> bool:
    kept = [key for key in side if key in merged]
    return kept == [key for key in merged if key in side]


@given(sides, sides, sides)
def test_every_object_is_what_somebody_made_it(before: Side, theirs: Side, ours: Side) -> None:
    """Also when all of them are new, or gone; theirs stay in their order."""
    found = objects(as_json(before), as_json(theirs), as_json(ours))

    merged = None if found is None else {one["id"]: one["text"] for one in json.loads(found)}
    assert merged == wanted(before, theirs, ours)
    assert merged is None or in_order(list(merged), theirs)


@given(sides, sides, sides)
def test_every_row_is_what_somebody_made_it(before: Side, theirs: Side, ours: Side) -> None:
    """Whatever its cells hold: quotes, commas, line ends."""
    found = table(as_csv(before), as_csv(theirs), as_csv(ours))

    rows = None if found is None else list(csv.reader(io.StringIO(found.decode(), newline="")))
    merged = None if rows is None else dict(rows[1:])
    assert merged == wanted(before, theirs, ours)
    assert merged is None or in_order(list(merged), theirs)
