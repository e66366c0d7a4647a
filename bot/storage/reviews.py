"""
The reviews of an item: `reviews/review-001.md` and on, each written once.

A review is there as a whole or not at all, and never again touched: two processes that write at the same time get two
numbers, and whoever wants a number that is taken is refused.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from bot.errors import WorkspaceError
from bot.storage.items import Items, Place

_NAME = re.compile(r"review-([0-9]{3,9})\.md")


class Kept(NamedTuple):
    """A review as it stands in the workspace, *path* being below its top."""

    number: int
    path: str
    content: bytes

    @property
    def files(self) -> Mapping[str, bytes]:
        """What a commit has to hold for it."""
        return {self.path: self.content}


class Reviews:
    """OSErrors are the caller's, besides WorkspaceError."""

    def __init__(self, root: Path, items_dir: str) -> None:
        self._items = Items(root, items_dir)

    def numbers(self, slug: str) -> tuple[int, ...]:
        """Of what is there, in order; a link or a folder of that name is no review."""
        try:
            with self._items.folder_of(self._place(slug, 1)) as found:
                names = found.files()
        except FileNotFoundError:
            return ()
        return tuple(sorted(number for name in names if (number := _number(name))))

    def read(self, slug: str, number: int) -> Kept | None:
        place = self._place(slug, number)
        content = self._items.content(place)
        return None if content is None else Kept(number, place.path, content)

    def add(self, slug: str, content: bytes) -> Kept:
        """*content* under the next number that is free."""
        number = max(self.numbers(slug), default=0) + 1
        while not self._written(slug, number, content):
            number += 1
        return Kept(number, self._place(slug, number).path, content)

    def write(self, slug: str, number: int, content: bytes) -> Kept:
        """Raises WorkspaceError when there is something of that number, even the very same."""
        place = self._place(slug, number)
        if number < 1 or not self._written(slug, number, content):
            raise WorkspaceError(
                f"{place.name} is written already, and a review is never changed.", reason="review_exists"
            )
        return Kept(number, place.path, content)

    def _written(self, slug: str, number: int, content: bytes) -> bool:
        """Whether there was nothing of that name."""
        self._must_be_there(slug)
        place = self._place(slug, number)
        with self._items.folder_of(place, make=True) as found:
            return found.create(place.name, content)

    def _must_be_there(self, slug: str) -> None:
        if not self._items.exists(slug):
            raise WorkspaceError(f"There is no item {slug!r}.", reason="no_item")

    def _place(self, slug: str, number: int) -> Place:
        return self._items.reviews_file(slug, f"review-{number:03}.md")


def _number(name: str) -> int:
    """0 for what is no review; `review-0001.md` is none of ours."""
    found = _NAME.fullmatch(name)
    number = int(found[1]) if found else 0
    return number if name == f"review-{number:03}.md" else 0
