import time


class Clock:
    """
    The sandbox's time: the machine's, plus what a test skipped.

    Message stamps never repeat in a workspace and always grow, even when two messages share a microsecond.
    """

    def __init__(self) -> None:
        self._skipped = 0.0
        self._last_stamp = 0

    def now(self) -> float:
        return time.time() + self._skipped

    def skip(self, seconds: float) -> None:
        self._skipped += seconds

    def stamp(self) -> str:
        self._last_stamp = max(self._last_stamp + 1, int(self.now() * 1_000_000))
        return f"{self._last_stamp // 1_000_000}.{self._last_stamp % 1_000_000:06d}"
