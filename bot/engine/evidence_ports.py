"""What personas may look at, read-only: the code that git tracks, and the items that may be known in a thread."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import NamedTuple, Protocol

from bot.domain.item.item import KnownItem
from bot.domain.specification.entries import Specification
from bot.domain.values.places import NOBODY, Place, Viewer
from bot.errors import BotError


class LookRefused(BotError):
    """Why nothing is shown, in a sentence for a model."""


class Passage(NamedTuple):
    """A text, and the *id* that it is cited by: `src/sync.py:40-58@1a2b3c`. A remark about a result has none."""

    id: str
    text: str


class Evidence(Protocol):
    """
    Only what is committed is read, at the newest commit. Paths of items and of the bot's own files are no code. Every
    method raises LookRefused, and ends when it is cancelled.
    """

    async def search_code(self, words: Sequence[str], *, within: Sequence[str] = ()) -> tuple[Passage, ...]:
        """The best lines with one of *words* in paths of *within*, behind a remark about what is not shown."""
        ...

    async def read_file(self, path: str, first: int, last: int) -> Passage:
        """The lines *first* to *last*, counted from 1, as far as they exist and fit."""
        ...

    async def git_log(self, path: str, *, sees: Callable[[str], Awaitable[bool]]) -> tuple[Passage, ...]:
        """The newest commits that changed *path*, without those that changed an item that the reader does not see."""
        ...

    async def related_files(self, path: str) -> tuple[Passage, ...]:
        """Files that import *path*, or often changed together with it; none for a folder."""
        ...

    async def specification(self, slug: str) -> Specification:
        """What is recorded on an item, as it was committed."""
        ...


class Sight(Protocol):
    """What may be shown to the *viewer*, who will read what comes of it."""

    @property
    def viewer(self) -> Viewer: ...

    async def sees(self, slug: str) -> bool:
        """Whether the viewer may know that item."""
        ...

    def items(self) -> AsyncIterator[KnownItem]:
        """The items that the viewer may know."""
        ...


class Sights(Protocol):
    async def at(self, *places: Place) -> Sight:
        """Of everybody who reads along at *places*."""
        ...


class NoSight:
    """For those that are shown nothing but their own item."""

    viewer = NOBODY

    async def sees(self, slug: str) -> bool:  # noqa: ARG002 -- as the port has it
        return False

    async def items(self) -> AsyncIterator[KnownItem]:
        return
        yield

    async def at(self, *_: Place) -> "NoSight":
        return self


NO_SIGHT = NoSight()
