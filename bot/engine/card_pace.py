"""When a card may be edited: Slack takes 50 edits a minute, of which some are kept for what people press."""

import time
from collections import deque
from collections.abc import Callable

from bot.engine.lru import LruCache

MINUTE = 60.0
LEAST_SECONDS = 4.0
ROOT_SECONDS = 30.0
"""Between two edits of one card, and of the first message of a thread."""
SECONDS_PER_CARD = 1.5
EDITS_A_MINUTE = 40
PRESSED_A_MINUTE = 10
CARDS_REMEMBERED = 1_000


class CardPace:
    """
    Of this process. A card may be edited again after 4 s, or 1.5 s for each card that is busy if that is longer; the
    first message of a thread after 30 s.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._edited: LruCache[str, float] = LruCache(CARDS_REMEMBERED)
        self._edits: deque[float] = deque()
        self._pressed: deque[float] = deque()

    def wait_seconds(self, card: str, *, pressed: bool, is_root: bool = False) -> float:
        """Until *card* may be edited. What was *pressed* waits only once all edits of a minute are used up."""
        now = self._clock()
        for past in (self._edits, self._pressed):
            while past and past[0] <= now - MINUTE:
                past.popleft()
        if pressed and len(self._pressed) < PRESSED_A_MINUTE:
            return 0.0
        busy = sum(at > now - MINUTE for at in self._edited.values())
        between = max(ROOT_SECONDS if is_root else LEAST_SECONDS, SECONDS_PER_CARD * busy)
        own = self._edited[card] + between - now if card in self._edited and not pressed else 0.0
        full = self._edits[0] + MINUTE - now if len(self._edits) >= EDITS_A_MINUTE else 0.0
        return max(0.0, own, full)

    def edited(self, card: str, *, pressed: bool) -> None:
        now = self._clock()
        self._edited[card] = now
        jumped = pressed and len(self._pressed) < PRESSED_A_MINUTE
        (self._pressed if jumped else self._edits).append(now)
