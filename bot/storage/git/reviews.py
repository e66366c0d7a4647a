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


def newest_reviews(branch: Branch, slug: str, most: int) -> tuple[KeptReview, ...]:
    """Without what others put there that cannot be read as a review, such as a huge file."""
    files, found = branch.files(), []
    for number in numbers_in(files, _folder(branch, slug))[-most:] if most else ():
        path = _path(branch, slug, number)
        with suppress(FileRefused):
            if (content := files.read(path, REVIEW_BYTES)) is not None:
                found.append(KeptReview(number, path, content))
    return tuple(found)


def draft_review(
    branch: Branch, sent: ReviewToStore, parent: Commit | None
) -> tuple[KeptReview, CommitDraft | None]:
    """
    The review on top of *parent*; no draft where the same text is there already. Raises WorkspaceError, OSError and
    GitError.
    """
    files, folder = branch.at(parent), _folder(branch, sent.slug)
    files.refuse_submodule(folder)
    if not sent.slug or files.folder(branch.places.item(sent.slug)) is None:
        raise WorkspaceError(f"There is no item {sent.slug!r}.", reason="no_item")
    wanted = pygit2.hash(sent.content)
    numbers = numbers_in(files, folder)
    for number in numbers:
        path = _path(branch, sent.slug, number)
        entry = files.entry(path)
        if entry and entry.id == wanted:
            return KeptReview(number, path, sent.content), None
    number = max(numbers, default=0) + 1
    while files.entry(_path(branch, sent.slug, number)) is not None:  # a link or a folder
        number += 1
    kept = KeptReview(number, _path(branch, sent.slug, number), sent.content, is_new=True)
    message = message_of(f"roundtable({sent.slug}): review {number:03}", (f"{ITEM}: {sent.slug}",))
    return kept, CommitDraft({kept.path: sent.content}, message, sent.now)


def _folder(branch: Branch, slug: str) -> str:
    return f"{branch.places.item(slug)}/{REVIEWS}"


def _path(branch: Branch, slug: str, number: int) -> str:
    return f"{_folder(branch, slug)}/{name_of(number)}"


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
