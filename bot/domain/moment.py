"""Moments, in the one form that a transcript knows: UTC with milliseconds."""

from datetime import UTC, datetime, timedelta


def seconds_since(at: str, now: str) -> float:
    """Of two moments; 0 when there is no *at*. Raises ValueError for what is none."""
    return seconds(now) - seconds(at) if at else 0.0


def seconds(at: str) -> float:
    """Since 1970, as Slack counts."""
    return datetime.fromisoformat(at).timestamp()


def before(now: str, seconds_ago: float) -> str:
    """The moment so many seconds before *now*. Moments of this form sort as text."""
    then = datetime.fromisoformat(now).astimezone(UTC) - timedelta(seconds=seconds_ago)
    return then.isoformat(timespec="milliseconds").replace("+00:00", "Z")
