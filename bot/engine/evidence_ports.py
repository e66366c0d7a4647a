"""What personas may look at, read-only: the code that git tracks, and the items that may be known in a thread."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from bot.domain.item.item import KnownItem
from bot.domain.specification.entries import Specification
from bot.domain.values.places import Place
from bot.errors import BotError


class LookRefused(BotError):
    """Why nothing is shown, in a sentence for a model."""


class Passage(NamedTuple):
    """A text, and the *id* that it is cited by: `src/sync.py:40-58@1a2b3c`."""

    id: str
    text: str


class Evidence(Protocol):
    """
    Only what is committed is read, at the newest commit. Paths of items and of the bot's own files are no code. Every
    method raises LookRefused, and ends when it is cancelled.
    """

    async def search_code(self, pattern: str, *, within: Sequence[str] = ()) -> tuple[Passage, ...]:
        """Lines that match the extended regular expression *pattern*, in paths that match one of *within*."""
        ...

    async def read_file(self, path: str, first: int, last: int) -> Passage:
        """The lines *first* to *last*, counted from 1, as far as they exist and fit."""
        ...

    async def list_files(self, glob: str) -> tuple[str, ...]: ...

    async def git_log(self, path: str) -> tuple[Passage, ...]:
        """The newest commits that changed *path*."""
        ...

    async def related_files(self, path: str) -> tuple[Passage, ...]:
        """Files that import *path*, or often changed together with it."""
        ...

    async def items(self, place: Place) -> tuple[KnownItem, ...]:
        """The items that may be known at *place*: those of private channels only in their own channel."""
        ...

    async def specification(self, slug: str) -> Specification:
        """What is recorded on an item, as it was committed."""
        ...
