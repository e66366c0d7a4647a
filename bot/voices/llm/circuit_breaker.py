"""Whom it is no use to ask just now: after some failures in a row nobody waits for them again, for a while."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from bot.errors import VoiceError

FAILURES = 3
REST_SECONDS = 15.0
LONGEST_REST_SECONDS = 240.0
DOWN = frozenset({"timeout", "unavailable"})
"""Failures of the provider itself. All others are answers, and so is being asked to wait for a time."""

Clock = Callable[[], float]


class Circuit:
    """After a rest one call finds out for all; as long as it fails, the next rest is twice as long."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._failures = 0
        self._rest = REST_SECONDS
        self._rests_until = 0.0
        self._is_trying = False

    @property
    def rests_for(self) -> float:
        """Seconds; 0 when the next call may be made."""
        if self._failures < FAILURES:
            return 0.0
        left = max(0.0, self._rests_until - self._clock())
        return left or (REST_SECONDS if self._is_trying else 0.0)

    @contextmanager
    def asked(self) -> Iterator[None]:
        """Around a call. One that is cancelled has said nothing about anybody."""
        is_trial = self._failures >= FAILURES
        self._is_trying = self._is_trying or is_trial
        try:
            yield
        except VoiceError as error:
            if error.reason in DOWN and error.again and not error.after_seconds:
                self._failed()
            else:
                self._answered()
            raise
        else:
            self._answered()
        finally:
            if is_trial:
                self._is_trying = False

    def _failed(self) -> None:
        self._failures += 1
        if self._failures < FAILURES:
            return
        if self._failures > FAILURES and self._clock() >= self._rests_until:
            self._rest = min(LONGEST_REST_SECONDS, self._rest * 2)
        self._rests_until = self._clock() + self._rest

    def _answered(self) -> None:
        self._failures, self._rest = 0, REST_SECONDS
