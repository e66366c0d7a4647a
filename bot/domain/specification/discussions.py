"""What became of the entries that the block of a discussion shows; the block itself never changes."""

import hashlib
from collections.abc import Iterable, Iterator

from bot.domain.messages import discussion_wording as wording
from bot.domain.specification.entries import DISCUSSION, Entry, EntryState, Specification

CONCLUDED_IN = ("decision", "objection", "question", "insight", "action")
"""The kinds that the block shows."""
REVISION_CHARS = 8


def shown_entries(specification: Specification, discussion: str) -> Iterator[Entry]:
    for kind in CONCLUDED_IN:
        yield from (one for one in specification.active(kind) if one[DISCUSSION] == discussion)


def as_shown(id: str, text: str) -> str:
    """An element of `shows`: the entry, and a mark of its words."""
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    return f"{id}@{digest[:REVISION_CHARS]}"


def since_then(specification: Specification, discussion: Entry) -> tuple[str, ...]:
    """A sentence for each entry that does not stand as the block shows it."""
    return tuple(_changes(specification, map(str, discussion["shows"] or ())))


def _changes(specification: Specification, shows: Iterable[str]) -> Iterator[str]:
    for shown in shows:
        id = shown.partition("@")[0]
        entry = specification.entries.get(id)
        if entry is None:
            continue
        text = str(entry["text"] or "")
        if entry.state is EntryState.SUPERSEDED:
            yield wording.was_replaced(id, entry.replaced_by)
        elif entry.state is EntryState.WITHDRAWN:
            yield wording.was_withdrawn(id)
        elif as_shown(id, text) != shown:
            yield wording.reads_now(id, text)
