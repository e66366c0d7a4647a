"""
The reviews of an item: `reviews/review-001.md` and on, each committed once and never changed.

The number of a review is the next free one at the tip, so two processes that write at the same time get two numbers.
"""

import re
from contextlib import suppress
from typing import NamedTuple

import pygit2
from pygit2 import Commit

from bot.engine.review_ports import KeptReview
from bot.errors import WorkspaceError
from bot.files import REVIEW_BYTES, FileRefused
from bot.storage.git.branch import Branch, CommitDraft
from bot.storage.git.tree import ITEM, REVIEWS, Files, message_of

_NAME = re.compile(r"review-([0-9]{3,9})\.md")


class ReviewToStore(NamedTuple):
    slug: str
    content: bytes
    now: str


class ReviewWriter:
    """For one thread. Raises WorkspaceError, OSError and GitError."""

    def __init__(self, branch: Branch) -> None:
        self._branch = branch
        self._places = branch.places

    def newest(self, slug: str, most: int) -> tuple[KeptReview, ...]:
        files = self._branch.files()
        numbers = numbers_in(files, self._folder(slug))[-most:] if most else ()
        found = (self._read(files, slug, number) for number in numbers)
        return tuple(review for review in found if review)

    def draft(self, sent: ReviewToStore, parent: Commit | None) -> tuple[KeptReview, CommitDraft | None]:
        """The review on top of *parent*; no draft where the same text is there already."""
        files = Files(self._branch.repository, parent)
        files.refuse_submodule(self._folder(sent.slug))
        if not sent.slug or files.folder(self._places.item(sent.slug)) is None:
            raise WorkspaceError(f"There is no item {sent.slug!r}.", reason="no_item")
        wanted = pygit2.hash(sent.content)
        numbers = numbers_in(files, self._folder(sent.slug))
        for number in numbers:
            path = self._path(sent.slug, number)
            entry = files.entry(path)
            if entry and entry.id == wanted:
                return KeptReview(number, path, sent.content), None
        number = max(numbers, default=0) + 1
        while files.entry(self._path(sent.slug, number)) is not None:  # a link or a folder
            number += 1
        kept = KeptReview(number, self._path(sent.slug, number), sent.content, is_new=True)
        return kept, CommitDraft({kept.path: sent.content}, message_for(sent.slug, number), sent.now)

    def _read(self, files: Files, slug: str, number: int) -> KeptReview | None:
        """None for what others put there that cannot be read as a review, such as a huge file."""
        path = self._path(slug, number)
        with suppress(FileRefused):
            content = files.read(path, REVIEW_BYTES)
            return None if content is None else KeptReview(number, path, content)
        return None

    def _folder(self, slug: str) -> str:
        return f"{self._places.item(slug)}/{REVIEWS}"

    def _path(self, slug: str, number: int) -> str:
        return f"{self._folder(slug)}/{name_of(number)}"


def numbers_in(files: Files, folder: str) -> tuple[int, ...]:
    """Of the reviews that are there, in order; a link or a folder is not a review."""
    return tuple(sorted(number for name in files.names(folder) if (number := number_of(name))))


def number_of(name: str) -> int:
    """0 when *name* is not a review's. `review-0001.md` is not: ours have no extra zeros."""
    found = _NAME.fullmatch(name)
    number = int(found[1]) if found else 0
    return number if name == name_of(number) else 0


def name_of(number: int) -> str:
    return f"review-{number:03}.md"


def message_for(slug: str, number: int) -> str:
    return message_of(f"roundtable({slug}): review {number:03}", (f"{ITEM}: {slug}",))
