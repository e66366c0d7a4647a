"""Moments, in the one form that a transcript knows: UTC with milliseconds. And Slack's, which are its own clock's."""

import re
from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_SECOND = 253_402_300_799
"""Of the year 9999."""
_SLACK_TS = re.compile(r"([0-9]{1,12})\.([0-9]{1,6})", re.ASCII)


def moment(at: datetime) -> str:
    """Of a time in UTC."""
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def slack_time(ts: str) -> tuple[int, int] | None:
    """Seconds and microseconds of a Slack timestamp, exact, to be compared. None for other text."""
    found = _SLACK_TS.fullmatch(ts)
    return (int(found[1]), int(found[2].ljust(6, "0"))) if found else None


def written_at(ts: str) -> str:
    """The moment of a Slack timestamp; empty for other text."""
    time = slack_time(ts)
    if time is None or time[0] > _LAST_SECOND:
        return ""
    return moment(_EPOCH + timedelta(seconds=time[0], microseconds=time[1]))


def slack_stamp(at: str) -> str:
    """A moment of our clock in the form of a Slack timestamp, to be compared with others."""
    return f"{seconds(at):.6f}" if at else ""


def seconds_since(at: str, now: str) -> float:
    """Of two moments; 0 when there is no *at*. Raises ValueError for what is none."""
    return seconds(now) - seconds(at) if at else 0.0


def seconds(at: str) -> float:
    """Since 1970, as Slack counts."""
    return datetime.fromisoformat(at).timestamp()


def after(now: str, in_seconds: float) -> str:
    """The moment so many seconds after *now*."""
    return before(now, -in_seconds)


def before(now: str, seconds_ago: float) -> str:
    """The moment so many seconds before *now*. Moments of this form sort as text."""
    return moment(datetime.fromisoformat(now).astimezone(UTC) - timedelta(seconds=seconds_ago))
