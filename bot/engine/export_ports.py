"""Exported files in the workspace: what a commit writes for other tools, and what others changed there."""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, Protocol

from bot.domain.roundtable.outcomes import ExportEdit, ExportNote
from bot.files import CommittedFiles


class FoundFile(NamedTuple):
    """*written* is what we wrote there last, None if we never did. *is_ours*: nobody changed it since."""

    text: str
    written: str | None
    is_ours: bool


class FoundFolder(NamedTuple):
    """The plain files by their paths in the repository. *is_gone*: there were some in a commit of ours."""

    files: Mapping[str, FoundFile]
    is_gone: bool


class DueExports(NamedTuple):
    """*files* are the texts to write, by their paths."""

    files: Mapping[str, str]
    notes: tuple[ExportNote, ...]


class FoundEdit(NamedTuple):
    """An edit whose author is not known yet, and whether another text of the file has it, too."""

    edit: ExportEdit
    stands_in: Callable[[str], bool]


class Exports(Protocol):
    """Raises UserError and WorkspaceError for an item that cannot be read."""

    @property
    def above(self) -> tuple[str, ...]:
        """The folders that only exports are in."""
        ...

    def due(self, slug: str, record: CommittedFiles, look: Callable[[str], FoundFolder]) -> DueExports:
        """What a commit with this *record* writes. *look* finds the folder at a path."""
        ...

    def edits(
        self, slug: str, record: CommittedFiles, look: Callable[[str], FoundFolder]
    ) -> Iterator[FoundEdit]:
        """What the record has not heard of."""
        ...
