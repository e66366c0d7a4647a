"""The time, in the one form that a transcript knows: UTC with milliseconds."""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], str]


def seconds_since(at: str, now: str) -> float:
    """Of two times in that form; 0 when there is no *at*."""
    return (datetime.fromisoformat(now) - datetime.fromisoformat(at)).total_seconds() if at else 0.0


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
