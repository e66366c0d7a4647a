"""What items come from: a tracker, or files of the workspace."""

from collections.abc import Awaitable, Callable, Mapping
from typing import NamedTuple, Protocol

from bot.domain.item.item import TrackerIssue
from bot.domain.messages import tracker_wording
from bot.domain.specification.exported import SourceFiles
from bot.engine.evidence_ports import LookRefused
from bot.engine.export_ports import CommittedFiles
from bot.errors import EffectError

ReadFiles = Callable[[str], Awaitable[SourceFiles]]
"""The file or folder at a path of the newest commit. Raises LookRefused with a sentence for who asked."""


class CommittedTexts(NamedTuple):
    """*texts* by their paths, at *commit*, which is short, with all *files* of it."""

    files: CommittedFiles
    commit: str
    texts: Mapping[str, str]


class Tracker(Protocol):
    async def read_issue(self, reference: str) -> TrackerIssue:
        """The issue that `reference_in` found. Raises EffectError with a sentence for who asked."""
        ...


class NoTracker:
    async def read_issue(self, reference: str) -> TrackerIssue:
        raise EffectError(tracker_wording.not_set_up(reference), reason="not_set_up")


async def _no_files(path: str) -> SourceFiles:
    raise LookRefused(tracker_wording.not_committed(path))


class SourceReaders(NamedTuple):
    tracker: Tracker = NoTracker()
    read_files: ReadFiles = _no_files


NO_READERS = SourceReaders()
