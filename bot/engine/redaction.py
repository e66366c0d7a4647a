"""Redacts texts where they come in, and says in the log how much of which kind was hidden: never what it was."""

import logging
from collections import Counter

from bot.domain.privacy.redaction import Redactor

log = logging.getLogger(__name__)


class Discretion:
    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor

    def __call__(self, text: str) -> str:
        redacted = self._redactor(text)
        if redacted.kinds:
            counted = sorted(Counter(redacted.kinds).items())
            log.warning(
                "redacted: %d (%s)",
                len(redacted.kinds),
                ", ".join(f"{count} {kind}" for kind, count in counted),
            )
        return redacted.text
