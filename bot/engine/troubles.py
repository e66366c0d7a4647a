"""Troubles in the log, at the level that their severity asks for."""

import logging

from bot.domain.taxonomy import Severity, Trouble

log = logging.getLogger(__name__)

LEVELS = {
    Severity.INFO: logging.INFO,
    Severity.WARNING: logging.WARNING,
    Severity.ERROR: logging.ERROR,
    Severity.FATAL: logging.CRITICAL,
}


def log_trouble(trouble: Trouble) -> None:
    log.log(LEVELS[trouble.severity], "%s", trouble.log)
