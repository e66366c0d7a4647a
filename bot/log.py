"""
Log lines: JSON for machines, colours for a terminal, never a secret.

Modules log with the standard library, `logging.getLogger(__name__)`, like every library we use; all of it is formatted
here. `about(team=…, item=…, step=…, turn=…, effect=…)` puts those on every line of what runs inside it, other tasks
excepted.
"""

import json
import logging
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from types import MappingProxyType
from typing import Any, TextIO

HIDDEN = "[hidden]"
WARNING_SECONDS = 60.0
Redact = Callable[[str], str]
EventDict = MutableMapping[str, Any]
Processor = Callable[[Any, str, EventDict], Any]

# Secrets that are known by their shape: tokens of Slack, and what stands before the @ of an address.
TOKEN = re.compile(r"(?<![A-Za-z0-9])x(?:app|ox[a-z]{1,2})-[\w.-]+|(?<=://)[^\s/\\\"'<>]+(?=@)")

# What moves a terminal's cursor, turns text around, or cannot be written at all.
ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

# They say at INFO what we say ourselves, or what only their authors want to know.
TALKATIVE = (
    "aiohttp", "asyncio", "slack_bolt", "slack_sdk",
    "anthropic", "botocore", "google_genai", "httpcore2", "httpx", "httpx2", "markdown_it", "openai",
)  # fmt: skip

_ABOUT: ContextVar[Mapping[str, str]] = ContextVar("about", default=MappingProxyType({}))


def configure(
    level: str = "INFO",
    secrets: Iterable[str] = (),
    *,
    redact: Redact = str,
    stream: TextIO | None = None,
) -> None:
    """
    Everything logged from now on goes to *stream* (stderr), with no text of *secrets* in it. *redact* hides secrets
    that are in no setting: an exception may quote one.
    """
    stream = stream or sys.stderr
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        _FormatterWhenNeeded(for_people=stream.isatty(), secrets=tuple(secrets), redact=redact)
    )

    root = logging.getLogger()
    for former in root.handlers[:]:
        root.removeHandler(former)
    root.addHandler(handler)
    root.setLevel(level)
    for name in TALKATIVE:
        logging.getLogger(name).setLevel(max(root.level, logging.WARNING))
    logging.captureWarnings(capture=True)


@contextmanager
def about(
    *, team: str = "", item: str = "", step: str = "", turn: str = "", effect: str = ""
) -> Iterator[None]:
    """
    Say what the lines inside are about; what is empty stays as it was. One variable for all five, because most of what
    is about something writes no line.
    """
    named = {"team": team, "item": item, "step": step, "turn": turn, "effect": effect}
    token = _ABOUT.set({**_ABOUT.get(), **{name: value for name, value in named.items() if value}})
    try:
        yield
    finally:
        _ABOUT.reset(token)


def redacted(text: str) -> str:
    return TOKEN.sub(HIDDEN, text)


class ThrottledWarning:
    """Logged at most once a minute, so that requests cannot fill the log."""

    def __init__(self, log: logging.Logger) -> None:
        self._log = log
        self._logged_at = -WARNING_SECONDS

    def warn(self, sentence: str) -> None:
        if (now := time.monotonic()) - self._logged_at >= WARNING_SECONDS:
            self._logged_at = now
            self._log.warning("%s Others are not logged for a minute.", sentence)


def _say_what_about(_logger: Any, _method: str, line: EventDict) -> EventDict:
    return {**_ABOUT.get(), **line}


class _FormatterWhenNeeded(logging.Formatter):
    """Most commands log nothing: structlog, which takes a tenth of a second to load, waits for the first line."""

    def __init__(self, **given: Any) -> None:
        super().__init__()
        self._given = given

    def format(self, record: logging.LogRecord) -> str:
        return self._real.format(record)

    @cached_property
    def _real(self) -> logging.Formatter:
        return _formatter(**self._given)


def _formatter(*, for_people: bool, secrets: Iterable[str], redact: Redact) -> logging.Formatter:
    from structlog import dev, processors, stdlib  # noqa: PLC0415 -- see above

    shared: list[Any] = [
        _say_what_about,
        stdlib.add_log_level,
        stdlib.add_logger_name,
        stdlib.ExtraAdder(),
        processors.TimeStamper(fmt="iso", utc=True),
        processors.StackInfoRenderer(),
    ]
    # Not the pretty traceback: it prints local variables, which hold what people said.
    lines_for_people = dev.ConsoleRenderer(exception_formatter=dev.plain_traceback)
    return stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[
            stdlib.ProcessorFormatter.remove_processors_meta,
            processors.format_exc_info,
            _tamer(redact, line_end="\n    " if for_people else "\n"),
            lines_for_people if for_people else processors.JSONRenderer(ensure_ascii=False),
            _redactor(secrets),
        ],
    )


def _tamer(redact: Redact, *, line_end: str) -> Processor:
    """Text from outside (a remote's, a library's) can neither control a terminal nor begin a line of the log."""

    def tamed(text: str) -> str:
        shown = ACTING.sub(lambda found: found[0].encode("unicode_escape").decode(), redact(text))
        return shown.replace("\n", line_end)

    def tame(_logger: Any, _method: str, line: EventDict) -> EventDict:
        return {name: tamed(told) if isinstance(told, str) else told for name, told in line.items()}

    return tame


def _redactor(secrets: Iterable[str]) -> Callable[[Any, str, EventDict], str]:
    """Comes last and sees the finished line, so nothing gets around it: no exception, no nested value, no repr."""
    as_written = {form for secret in secrets if secret for form in _forms(secret)}
    exact = re.compile(
        "|".join(re.escape(form) for form in sorted(as_written, key=len, reverse=True)) or "(?!)"
    )

    def redact(_logger: Any, _method: str, line: EventDict) -> str:
        return redacted(exact.sub(HIDDEN, str(line)))

    return redact


def _forms(secret: str) -> set[str]:
    """A quotation mark or a backslash in *secret* looks different once it is quoted, by Python, by JSON or by both."""
    plain = {secret, repr(secret)[1:-1]}
    return plain | {json.dumps(form, ensure_ascii=False)[1:-1] for form in plain}
