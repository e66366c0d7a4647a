"""Where a persona stands on an open issue, and what made it stand there."""

from bot.domain.value import Stored


class Stance(Stored):
    """`because` are ids of turns; `new_evidence` says that one of them told this persona something it did not know."""

    issue: str
    position: str
    because: tuple[str, ...] = ()
    confidence: float | None = None
    new_evidence: bool = False
