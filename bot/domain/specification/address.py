"""`ITEM/ID` names an entry everywhere: in commands, code, commits, issues, and for agents."""

import re
from collections.abc import Collection
from difflib import get_close_matches
from typing import NamedTuple

from bot.domain.catalog.schema import CANONICAL_ID, ids_in
from bot.errors import UserError

SLUG = r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}+"
"""Folders that other tools made have names of their own: `REQ-0027_Offline-sync`."""
CITED = re.compile(rf"(?<![\w/.-])(?:({SLUG})/)?({CANONICAL_ID.pattern})(?![\w-])")
"""An address in any text; without an item, the id of an entry alone."""
SHOWN_CHARS = 80


class EntryAddress(NamedTuple):
    """Of an entry; of a whole item where there is no `id`."""

    item: str
    id: str = ""

    def __str__(self) -> str:
        return f"{self.item}/{self.id}" if self.id else self.item


def read_address(text: str, items: Collection[str], default: str = "") -> EntryAddress:
    """
    An id alone belongs to the item *default*, or to the only one of *items*. Ids are read as people write them: `fr-1`
    is FR-001. Raises UserError.
    """
    told = text.strip()
    slug, slash, written = told.partition("/")
    alone = _id_in(slug) if not slash and slug not in items else ""
    if alone:
        return EntryAddress(default or _only(items, alone), alone)
    if slug not in items:
        raise UserError(no_item(told if "/" in written else slug, items))
    if not slash:
        return EntryAddress(slug)
    if id := _id_in(written):
        return EntryAddress(slug, id)
    raise UserError(f"{written[:SHOWN_CHARS]!r} is not the id of an entry, such as FR-001.")


def read_entry_address(text: str, items: Collection[str], default: str = "") -> EntryAddress:
    """As `read_address`. A whole item is refused, too."""
    found = read_address(text, items, default)
    if not found.id:
        raise UserError(f"{found.item} is an item. Name an entry of it: {found.item}/ID.")
    return found


def names_entry(text: str) -> bool:
    """Whether *text* is written as the address of an entry, whatever there is."""
    return "/" in text or bool(_id_in(text))


def no_item(slug: str, known: Collection[str]) -> str:
    close = get_close_matches(slug[:SHOWN_CHARS], known, n=1)
    meant = f" Did you mean {close[0]}?" if close else ""
    return f"There is no item {slug[:SHOWN_CHARS]!r}.{meant}"


def no_entry(address: EntryAddress) -> str:
    return f"{address.item} has no {address.id}."


def _only(items: Collection[str], id: str) -> str:
    if not items:
        raise UserError("There are no items yet.")
    if len(items) > 1:
        raise UserError(f"{id} could be in {len(items)} items. Write ITEM/{id}.")
    return next(iter(items))


def _id_in(text: str) -> str:
    """Empty unless all of *text* is one id."""
    written = text.strip().upper()[:SHOWN_CHARS]
    found = ids_in(written)
    return found[0] if len(found) == 1 and _is_whole(written) else ""


def _is_whole(written: str) -> bool:
    return not set(written) - set("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-–‑")
