"""What items come from: a tracker, or files of the workspace."""

from collections.abc import Awaitable, Callable, Mapping
from typing import NamedTuple

from bot.domain.messages import tracker_wording
from bot.domain.specification.exported import SourceFiles
from bot.engine.evidence_ports import LookRefused
from bot.engine.ports import Tracker
from bot.files import CommittedFiles

ReadFiles = Callable[[str], Awaitable[SourceFiles]]
"""The file or folder at a path of the newest commit. Raises LookRefused with a sentence for who asked."""


class CommittedTexts(NamedTuple):
    """*texts* by their paths, at *commit*, which is short, with all *files* of it."""

    files: CommittedFiles
    commit: str
    texts: Mapping[str, str]


async def _no_files(path: str) -> SourceFiles:
    raise LookRefused(tracker_wording.not_committed(path))


class SourceReaders(NamedTuple):
    """Without a *tracker* none is set up."""

    tracker: Tracker | None = None
    read_files: ReadFiles = _no_files


NO_READERS = SourceReaders()
