"""Redacts texts, and tells operators how much."""

import logging
from collections import Counter

from bot.domain.privacy.redaction import Redactor
from bot.engine.lru import LruCache

TEXTS_REMEMBERED = 1_000
LONGEST_REMEMBERED = 2_000

log = logging.getLogger(__name__)


class Redaction:
    """Redacts texts where they come in. The log has the number and kind of what was hidden, never the text."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._harmless: LruCache[str, bool] = LruCache(TEXTS_REMEMBERED)
        """A card is edited again and again, with the same texts. One with a secret in it is not remembered."""

    def __call__(self, text: str) -> str:
        if text in self._harmless:
            return text
        redacted = self._redactor(text)
        if redacted.text == text and len(text) <= LONGEST_REMEMBERED:
            self._harmless[text] = True
        if redacted.kinds:
            counted = sorted(Counter(redacted.kinds).items())
            log.warning(
                "redacted: %d (%s)",
                len(redacted.kinds),
                ", ".join(f"{count} {kind}" for kind, count in counted),
            )
        return redacted.text
