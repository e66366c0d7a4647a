"""
The reviews of an item: `reviews/review-001.md` and on, each written once.

A review is written as a whole or not at all, and never changed. Two processes that write at the same time get two
numbers; writing under a number that is taken is refused.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from bot.engine.lru import LruCache
from bot.engine.review_ports import KeptReview
from bot.errors import WorkspaceError
from bot.files import FileRefused
from bot.storage.git.checkout import Checkout
from bot.storage.git.history import ITEM
from bot.storage.git.items import FilePlace, Items
from bot.storage.git.repository import CommitDraft

_NAME = re.compile(r"review-([0-9]{3,9})\.md")


class StoredReview(NamedTuple):
    """A review in the workspace; *path* is relative to its top."""

    number: int
    path: str
    content: bytes

    @property
    def files(self) -> Mapping[str, bytes]:
        """The files for a commit of it."""
        return {self.path: self.content}


class Reviews:
    """Raises OSError and WorkspaceError."""

    def __init__(self, root: Path, items_dir: str) -> None:
        self._items = Items(root, items_dir)

    def numbers(self, slug: str) -> tuple[int, ...]:
        """Of the reviews that are there, in order; a link or a folder is not a review."""
        try:
            with self._items.folder_of(self._place(slug, 1)) as found:
                names = found.files()
        except FileNotFoundError:
            return ()
        return tuple(sorted(number for name in names if (number := _number(name))))

    def read(self, slug: str, number: int) -> StoredReview | None:
        place = self._place(slug, number)
        content = self._items.content(place)
        return None if content is None else StoredReview(number, place.path, content)

    def add(self, slug: str, content: bytes) -> StoredReview:
        """Write *content* under the next free number."""
        number = max(self.numbers(slug), default=0) + 1
        while not self._written(slug, number, content):
            number += 1
        return StoredReview(number, self._place(slug, number).path, content)

    def write(self, slug: str, number: int, content: bytes) -> StoredReview:
        """Raises WorkspaceError when the number is taken, even by the same content."""
        place = self._place(slug, number)
        if number < 1 or not self._written(slug, number, content):
            raise WorkspaceError(
                f"{place.name} is written already, and a review is never changed.", reason="review_exists"
            )
        return StoredReview(number, place.path, content)

    def _written(self, slug: str, number: int, content: bytes) -> bool:
        """Whether the name was free."""
        self._must_be_there(slug)
        place = self._place(slug, number)
        with self._items.folder_of(place, make=True) as found:
            return found.create(place.name, content)

    def _must_be_there(self, slug: str) -> None:
        if not self._items.exists(slug):
            raise WorkspaceError(f"There is no item {slug!r}.", reason="no_item")

    def _place(self, slug: str, number: int) -> FilePlace:
        return self._items.reviews_file(slug, f"review-{number:03}.md")


def _number(name: str) -> int:
    """0 when *name* is not a review's. `review-0001.md` is not: ours have no extra zeros."""
    found = _NAME.fullmatch(name)
    number = int(found[1]) if found else 0
    return number if name == f"review-{number:03}.md" else 0


ITEMS_KNOWN = 1_000
"""The digests of their reviews are cached, to recognize a review that comes again."""


class ReviewToStore(NamedTuple):
    slug: str
    content: bytes
    now: str


class ReviewWriter:
    """
    Commits reviews. Each is written once; the same text again is the same review.

    A kill between the file and the commit leaves a file that is not committed: the next review of the item commits it.
    For the thread that writes. Raises WorkspaceError, OSError and pygit2.GitError.
    """

    def __init__(self, checkout: Checkout, root: Path, items_dir: str) -> None:
        self._checkout = checkout
        self._reviews = Reviews(root, items_dir)
        self._known: LruCache[str, dict[int, str]] = LruCache(ITEMS_KNOWN)

    def keep(self, sent: Sequence[ReviewToStore]) -> list[KeptReview]:
        """All of them at once, each in a commit of its own."""
        with self._checkout.alone(*dict.fromkeys(one.slug for one in sent)):
            for one in sent:
                self._checkout.must_hold_no_submodule(one.slug)
            kept = [self._written(one) for one in sent]
            drafts = [
                CommitDraft(self._uncommitted(one.slug, found), _message(one.slug, found), one.now)
                for one, found in zip(sent, kept, strict=True)
            ]
            self._checkout.commit_files([draft for draft in drafts if draft.files])
            return kept

    def newest(self, slug: str, most: int) -> tuple[KeptReview, ...]:
        numbers = self._reviews.numbers(slug)[-most:] if most else ()
        found = (self._read(slug, number) for number in numbers)
        return tuple(_kept(one, is_new=False) for one in found if one)

    def _written(self, sent: ReviewToStore) -> KeptReview:
        digest = _digest(sent.content)
        known = self._digests(sent.slug)
        number = next((number for number, one in known.items() if one == digest), 0)
        there = self._read(sent.slug, number) if number else None
        if there and there.content == sent.content:
            return _kept(there, is_new=False)
        added = self._reviews.add(sent.slug, sent.content)
        known[added.number] = digest
        return _kept(added, is_new=True)

    def _read(self, slug: str, number: int) -> StoredReview | None:
        """None for what others put there that cannot be read as a review, such as a huge file."""
        with suppress(FileRefused):
            return self._reviews.read(slug, number)
        return None

    def _digests(self, slug: str) -> dict[int, str]:
        """By number. A review never changes, so only new ones are read."""
        known = self._known.get(slug, {})
        numbers = self._reviews.numbers(slug)
        fresh = {number: known[number] for number in numbers if number in known}
        for number in numbers:
            if number not in fresh and (found := self._read(slug, number)):
                fresh[number] = _digest(found.content)
        self._known[slug] = fresh
        return fresh

    def _uncommitted(self, slug: str, kept: KeptReview) -> dict[str, bytes]:
        """*kept* and earlier reviews that are not committed yet; nothing when HEAD has them all."""
        folder = kept.path.rpartition("/")[0]
        committed = self._checkout.names_at_head(folder)
        files: dict[str, bytes] = {}
        for number in self._reviews.numbers(slug):
            if f"review-{number:03}.md" not in committed and number <= kept.number:
                found = self._read(slug, number)
                files |= found.files if found else {}
        return files


def _kept(found: StoredReview, *, is_new: bool) -> KeptReview:
    return KeptReview(found.number, found.path, found.content, is_new)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _message(slug: str, kept: KeptReview) -> str:
    return f"roundtable({slug}): review {kept.number:03}\n\n{ITEM}: {slug}\n"
