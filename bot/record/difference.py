"""What verifying finds, and what it asks of whoever knows the history of an item."""

from collections.abc import Mapping
from typing import NamedTuple, Protocol


class Difference(NamedTuple):
    """
    Something in a file of the item that is not as the record has it; lines count from 1. What *stands* was changed by
    somebody in a commit of their own: it is named, and the record holds all the same.
    """

    file: str
    line: int
    sentence: str
    stands: bool = False

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.sentence}"


class Kept(Protocol):
    """A file at one commit; the same id is the same content."""

    @property
    def id(self) -> str: ...

    @property
    def read(self) -> "Reading": ...


class Reading(Protocol):
    def __call__(self) -> bytes: ...


class Version(Protocol):
    """An item at one commit: its files by their path in its folder, and the one that all items share by its own."""

    @property
    def sha(self) -> str: ...

    @property
    def author(self) -> str:
        """Who made the commit; empty when it was us."""
        ...

    @property
    def witness(self) -> str:
        """What the commit says of the transcript, if anything."""
        ...

    @property
    def files(self) -> Mapping[str, Kept]: ...
