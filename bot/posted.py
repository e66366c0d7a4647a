"""
Reviews that other programs post: who may, what is too much, and what they are answered.

Requests are signed as Slack signs its own: HMAC-SHA256 over `v0:TIMESTAMP:BODY`, by a secret of its own. The same
review again is the same review, so whoever got no answer just posts it again.
"""

import asyncio
import hashlib
import hmac
import logging
import re
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from bot.domain.notice import Arrived, Entry
from bot.domain.redaction import Redact, unchanged
from bot.domain.review_triage import NOT_OURS, triage_of_text
from bot.domain.text import encoding_of, one_line, text_of
from bot.engine.clock import Clock
from bot.engine.newest import Newest
from bot.engine.review_ports import Archive, Homes, KeptReview
from bot.engine.triage import Triage
from bot.errors import Conflict, Unavailable, WorkspaceError

PATH = "/reviews/{slug}"
LARGEST_BYTES = 1024 * 1024
WINDOW_SECONDS = 300
REQUESTS_REMEMBERED = 10_000
REVIEWER_CHARS = 80
MOST_REVIEWERS = 5
TIMESTAMP, SIGNATURE, REVIEWER = (
    "X-Roundtable-Timestamp",
    "X-Roundtable-Signature",
    "X-Roundtable-Reviewer",
)

log = logging.getLogger(__name__)


class Answer(NamedTuple):
    status: int
    said: Mapping[str, Any]


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """What a request with *body* at *timestamp*, in seconds since 1970, has to carry."""
    signed = b"v0:" + timestamp.encode("utf-8", "replace") + b":" + body
    return "v0=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


class Postbox:
    """Takes what is signed, keeps it, and says so. What people see of it follows."""

    def __init__(
        self,
        *,
        secret: str,
        archive: Archive,
        homes: Homes,
        triage: Triage,
        clock: Clock,
        seconds: Callable[[], float] = time.time,
        redact: Redact = unchanged,
    ) -> None:
        """*redact* is done to what is kept: whoever wrote it may have quoted a file, or a log."""
        self._secret = secret
        self._archive = archive
        self._homes = homes
        self._triage = triage
        self._clock = clock
        self._seconds = seconds
        self._redact = redact
        self._signed: Newest[str, str] = Newest(REQUESTS_REMEMBERED)

    async def take(self, slug: str, headers: Mapping[str, str], body: bytes) -> Answer:
        if len(body) > LARGEST_BYTES:
            return _refused(413, f"A review may have {LARGEST_BYTES} bytes.")
        if why := self._doubt(slug, headers, body):
            log.warning("a review of %s was not let in: %s", one_line(slug, 80), why)
            return _refused(401, why)
        if not body.strip():
            return _refused(400, "The body is the review, and it is empty.")
        try:
            return await self._kept(slug, headers, body)
        except WorkspaceError as error:
            unknown = error.reason == "no_item"
            return _refused(404 if unknown else 503 if error.again else 507, str(error))
        except (Unavailable, Conflict) as error:
            log.warning("not saved: %s", error)
            return _refused(503, "It could not be saved just now. Post it again in a moment.")

    async def _kept(self, slug: str, headers: Mapping[str, str], body: bytes) -> Answer:
        home = await self._homes.home(slug)
        if home is None:
            return _refused(404, f"There is no item {one_line(slug, 80)!r}.")
        content = await asyncio.to_thread(discreet, body, self._redact)
        kept = await self._archive.keep(slug, content, now=self._clock())
        entry = entry_of(kept, home.title, reviewers=_reviewers(self._redact(headers.get(REVIEWER, ""))))
        await self._triage.arrived(slug, Arrived(at=self._clock(), title=home.title, entry=entry))
        said = {"item": slug, "number": kept.number, "path": kept.path, "line": entry.line}
        return Answer(201 if kept.is_new else 200, said)

    def _doubt(self, slug: str, headers: Mapping[str, str], body: bytes) -> str:
        """Why it is not believed; empty when it is. A signature is good for one item, however often it is sent."""
        timestamp, given = headers.get(TIMESTAMP, ""), headers.get(SIGNATURE, "")
        if not timestamp or not given:
            return f"{TIMESTAMP} and {SIGNATURE} are needed."
        if not re.fullmatch("[0-9]{1,12}", timestamp):
            return f"{TIMESTAMP} is no number of seconds since 1970."
        expected = signature(self._secret, timestamp, body)
        if not hmac.compare_digest(expected.encode(), given.encode("utf-8", "replace")):
            return "The signature is not that of this body and timestamp."
        if abs(self._seconds() - int(timestamp)) > WINDOW_SECONDS:
            return f"The timestamp is more than {WINDOW_SECONDS} s away from now."
        if self._signed.setdefault(expected, slug) != slug:
            return "This request was sent for another item before."
        return ""


def discreet(content: bytes, redact: Redact) -> bytes:
    """Also of what is no text, the secrets are hidden, and nothing else is changed."""
    if encoding_of(content) != "utf-8":
        text = text_of(content)
        hidden = redact(text)
        return content if hidden == text else hidden.encode(encoding_of(content), "replace")
    return redact(content.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def entry_of(kept: KeptReview, title: str, *, reviewers: tuple[str, ...] = ()) -> Entry:
    """What people are shown of a review that somebody else wrote: its line, and that there is more."""
    text = text_of(kept.content)
    shown = triage_of_text(text, title=title, number=kept.number, reviewers=reviewers)
    return Entry(
        number=kept.number, path=kept.path, line=shown.line, reviewers=shown.reviewers, hidden=(NOT_OURS,)
    )


def _reviewers(header: str) -> tuple[str, ...]:
    named = (one_line(name, REVIEWER_CHARS) for name in header.split(","))
    return tuple(filter(None, named))[:MOST_REVIEWERS]


def _refused(status: int, why: str) -> Answer:
    return Answer(status, {"error": why})
