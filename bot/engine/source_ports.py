"""Issues of a tracker, and what items begin with: such an issue, or files of the workspace."""

from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import NamedTuple, Protocol

from bot.domain.item.item import TrackerIssue
from bot.domain.messages import tracker_wording
from bot.domain.roundtable.effects import PushIssue
from bot.domain.specification.exported import ExportEdit, SourceFiles
from bot.engine.evidence_ports import LookRefused
from bot.files import CommittedFiles

ReadFiles = Callable[[str], Awaitable[SourceFiles]]
"""The file or folder at a path of the newest commit. Raises LookRefused with a sentence for who asked."""
ReadIssueText = Callable[[TrackerIssue], tuple[ExportEdit, ...]]
"""What the text of an issue marks as entries."""


class PushedIssue(NamedTuple):
    """Its address. *left_alone*: people changed or removed what is ours in it, so nothing was written."""

    issue: str
    left_alone: bool = False


class IssueStates(NamedTuple):
    """`open` or `closed`, by addresses. *complete*: of the others nothing has changed."""

    states: Mapping[str, str]
    complete: bool = True


class Tracker(Protocol):
    """Every method raises EffectError with a sentence for who asked."""

    @property
    def host(self) -> str:
        """Where the issues are of which only the repository is named."""
        ...

    @property
    def lands_within(self) -> float:
        """Seconds after which an issue whose caller died is in the tracker, or never will be."""
        ...

    async def read_issue(
        self, reference: str, *, public_only: bool, in_a_hurry: bool = False
    ) -> TrackerIssue:
        """
        The issue that `reference_in` found. *public_only*: not of a private repository. *in_a_hurry*: Slack waits for
        the answer.
        """
        ...

    async def push(self, wanted: PushIssue, *, named: str) -> PushedIssue:
        """
        Creates the issue, or renews our part of it. *named* is the entry, with team and item: what an earlier attempt
        for it created is found again.
        """
        ...

    async def states(self, issues: Collection[str], *, since: str) -> IssueStates:
        """Of those of *issues* that were changed since that moment."""
        ...


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
    issue_edits: ReadIssueText = lambda _: ()


NO_READERS = SourceReaders()
