"""The tracker that items come from."""

from typing import Protocol

from bot.domain.item.item import TrackerIssue
from bot.domain.messages import tracker_wording
from bot.errors import EffectError


class Tracker(Protocol):
    async def read_issue(self, reference: str) -> TrackerIssue:
        """The issue that `reference_in` found. Raises EffectError with a sentence for who asked."""
        ...


class NoTracker:
    async def read_issue(self, reference: str) -> TrackerIssue:
        raise EffectError(tracker_wording.not_set_up(reference), reason="not_set_up")
