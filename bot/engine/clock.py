"""The time, as `bot.domain.values.timestamps` reads it."""

from collections.abc import Callable
from datetime import UTC, datetime

from bot.domain.values.timestamps import moment

Clock = Callable[[], str]


def now() -> str:
    return moment(datetime.now(UTC))
