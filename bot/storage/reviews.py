"""
The reviews of an item: `reviews/review-001.md` and on, each written once.

A review is there as a whole or not at all, and never again touched: two processes that write at the same time get two
numbers, and whoever wants a number that is taken is refused.
"""

import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import NamedTuple

from bot.errors import WorkspaceError
from bot.storage.items import Items, Place

REVIEWS = "reviews"
STALE_SECONDS = 3600
"""So old is only what was left behind by a kill."""

_NAME = re.compile(r"review-([0-9]{3,9})\.md")
_UNFINISHED = re.compile(r"\.review-[0-9a-f]{16}\.tmp")
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


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
        self._root = root
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
        """Whether there was nothing of that name. A link is made or refused in one step, and never replaces."""
        self._must_be_there(slug)
        place = self._place(slug, number)
        with self._items.folder_of(place, make=True) as found:
            for name in filter(_UNFINISHED.fullmatch, found.files()):
                if (stamp := found.stamp(name)) and stamp[0] < (time.time() - STALE_SECONDS) * 1e9:
                    found.remove(name)
            with self._opened(place) as folder, _unfinished(folder, content) as temporary:
                try:
                    os.link(
                        temporary, place.name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False
                    )
                except FileExistsError:
                    return False
                os.fsync(folder)
        return True

    def _must_be_there(self, slug: str) -> None:
        if not self._items.exists(slug):
            raise WorkspaceError(f"There is no item {slug!r}.", reason="no_item")

    def _place(self, slug: str, number: int) -> Place:
        return Place((*self._items.meta_file(slug).folders, REVIEWS), f"review-{number:03}.md")

    @contextmanager
    def _opened(self, place: Place) -> Iterator[int]:
        """The folder of *place*, no name on the way being a link."""
        with ExitStack() as stack:
            folder = os.open(self._root, _DIRECTORY & ~os.O_NOFOLLOW)
            stack.callback(os.close, folder)
            for name in place.folders:
                folder = os.open(name, _DIRECTORY, dir_fd=folder)
                stack.callback(os.close, folder)
            yield folder


@contextmanager
def _unfinished(folder: int, content: bytes) -> Iterator[str]:
    """The name of a file that holds *content*, on the disk, for as long as it is needed."""
    name = f".review-{token_hex(8)}.tmp"
    try:
        with os.fdopen(os.open(name, _NEW, 0o666, dir_fd=folder), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        yield name
    finally:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)


def _number(name: str) -> int:
    """0 for what is no review; `review-0001.md` is none of ours."""
    found = _NAME.fullmatch(name)
    number = int(found[1]) if found else 0
    return number if name == f"review-{number:03}.md" else 0
