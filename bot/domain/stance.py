"""Where a persona stands on an open issue, and what made it stand there."""

from bot.domain.value import Stored


class Stance(Stored):
    """`because` are ids of turns; `new_evidence`: the words of this turn bring a fact that no other had."""

    issue: str
    position: str
    because: tuple[str, ...] = ()
    confidence: float | None = None
    new_evidence: bool = False
