"""The time, as `bot.domain.values.timestamps` reads it."""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], str]


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
