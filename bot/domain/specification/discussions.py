"""What became of the entries that the block of a discussion shows; the block itself never changes."""

import hashlib
from collections.abc import Iterator

from bot.domain.messages import discussion_wording as wording
from bot.domain.specification.claims import Entry, EntryState
from bot.domain.specification.entries import DISCUSSION, POSITION, Specification

CONCLUDED_IN = ("decision", "objection", "question", "insight", "action")
"""The kinds that the block lists, besides positions."""
IN_POSITIONS = ("option", "why", "condition")
"""The fields of a position that the block shows."""
REVISION_CHARS = 8


def shown_entries(specification: Specification, discussion: str) -> Iterator[Entry]:
    for kind in CONCLUDED_IN:
        yield from (one for one in specification.active(kind) if one[DISCUSSION] == discussion)


def words_of(entry: Entry) -> str:
    """What the block has of it."""
    said = [entry[name] for name in IN_POSITIONS] if entry.kind == POSITION else [entry["text"]]
    return "; ".join(str(one) for one in said if one)


def as_shown(id: str, text: str) -> str:
    """An element of `shows`: the entry, and a mark of its words."""
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    return f"{id}@{digest[:REVISION_CHARS]}"


def shown_ids(discussion: Entry) -> tuple[str, ...]:
    """What the block shows; where it reads otherwise by now, that stands below the block."""
    return tuple(str(one).partition("@")[0] for one in discussion["shows"] or ())


def since_then(specification: Specification, discussion: Entry) -> Iterator[str]:
    """A sentence for each entry that does not stand as the block shows it."""
    for shown in map(str, discussion["shows"] or ()):
        entry = specification.entries.get(shown.partition("@")[0])
        if entry is None:
            continue
        name, words = _named(entry), words_of(entry)
        if entry.state is EntryState.SUPERSEDED:
            yield wording.was_replaced(name, entry.replaced_by)
        elif entry.state is EntryState.WITHDRAWN:
            yield wording.was_withdrawn(name)
        elif as_shown(entry.id, words) != shown:
            yield wording.reads_now(name, words)


def _named(entry: Entry) -> str:
    """The block names who takes a position, and no id of it."""
    claim = entry.claim("option") if entry.kind == POSITION else None
    return f"{entry.id} ({claim.owner.name})" if claim else entry.id
