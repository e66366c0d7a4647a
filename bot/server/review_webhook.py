"""
Reviews that other programs post: authentication, limits, answers.

The signature covers method, path, timestamp, reviewer and body. Each request is accepted once, by any of the processes.
A program that got no answer signs the review again; the same review is kept once.
"""

import asyncio
import hashlib
import hmac
import logging
import re
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from aiohttp import web

from bot.domain.privacy.redaction import Redact, unchanged
from bot.domain.reviews.notice import Arrived, ReviewEntry
from bot.domain.reviews.triage import entry_of_text
from bot.domain.values.text import encoding_of, one_line, text_of
from bot.engine.clock import Clock
from bot.engine.review_ports import Archive, ItemLocations, KeptReview, OnceMarks
from bot.engine.reviews import ReviewTriage
from bot.errors import Conflict, Unavailable, WorkspaceError
from bot.server.http import TOO_LARGE, Route

PATH = "/reviews/{slug}"
LARGEST_BYTES = 1024 * 1024
TOO_LONG = f"A review may have {LARGEST_BYTES} bytes."
WINDOW_SECONDS = 300
REMEMBERED_SECONDS = 2 * WINDOW_SECONDS + 60
"""Longer than a timestamp is accepted, which may also be in the future."""
REVIEWER_CHARS = 80
MOST_REVIEWERS = 5
TIMESTAMP, SIGNATURE, REVIEWER = (
    "X-Roundtable-Timestamp",
    "X-Roundtable-Signature",
    "X-Roundtable-Reviewer",
)

log = logging.getLogger(__name__)

HOW_TO_SIGN = (
    f"Sign with {SIGNATURE}: v1=HEX, the HMAC-SHA256 of the lines v1, the timestamp, POST, /reviews/SLUG and the value"
    f" of {REVIEWER} (or an empty line), each with its line feed, and then the body. docs/reviews.md has an example."
)


class WebhookReply(NamedTuple):
    status: int
    said: Mapping[str, Any]


def signature(secret: str, timestamp: str, body: bytes, *, slug: str, reviewer: str = "") -> str:
    """The signature of a request that posts *body* to *slug* at *timestamp*, in seconds since 1970."""
    lines = "\n".join(("v1", timestamp, "POST", PATH.format(slug=slug), reviewer, ""))
    signed = hmac.new(secret.encode(), lines.encode("utf-8", "surrogateescape"), hashlib.sha256)
    signed.update(body)
    return "v1=" + signed.hexdigest()


class ReviewWebhook(Route):
    """Accepts each signed request once, and stores the review; the notice in Slack follows later."""

    most_bytes = LARGEST_BYTES

    def __init__(
        self,
        *,
        secret: str,
        archive: Archive,
        homes: ItemLocations,
        memory: OnceMarks,
        triage: ReviewTriage,
        clock: Clock,
        seconds: Callable[[], float] = time.time,
        redact: Redact = unchanged,
    ) -> None:
        """*redact* is applied to what is stored: a review may quote a file or a log."""
        self._secret = secret
        self._archive = archive
        self._homes = homes
        self._memory = memory
        self._triage = triage
        self._clock = clock
        self._seconds = seconds
        self._redact = redact

    def refusal(self, request: web.Request) -> web.Response | None:
        doubt = self._doubt(request.headers)
        return web.json_response(doubt.said, status=doubt.status) if doubt else None

    def unread(self, status: int, why: str) -> web.Response:
        return web.json_response({"error": TOO_LONG if status == TOO_LARGE else why}, status=status)

    async def take(self, request: web.Request, body: bytes) -> web.Response:
        status, said = await self.post(request.match_info["slug"], request.headers, body)
        return web.json_response(said, status=status)

    async def post(self, slug: str, headers: Mapping[str, str], body: bytes) -> WebhookReply:
        if doubt := self._doubt(headers):
            return doubt
        signed, reviewer = _only(headers, SIGNATURE), _only(headers, REVIEWER)
        expected = signature(self._secret, _only(headers, TIMESTAMP), body, slug=slug, reviewer=reviewer)
        if not hmac.compare_digest(expected, signed):
            return _unauthorised(slug, f"The signature is not that of this request. {HOW_TO_SIGN}")
        if not body.strip():
            return _refused(400, "The body is the review, and it is empty.")
        try:
            if not await self._memory.first(f"review.{signed}", seconds=REMEMBERED_SECONDS):
                return _unauthorised(
                    slug,
                    "This request was sent before. To post a review again, sign it with another timestamp.",
                )
            return await self._kept(slug, reviewer, body)
        except WorkspaceError as error:
            unknown = error.reason == "no_item"
            return _refused(404 if unknown else 503 if error.again else 507, str(error))
        except (Unavailable, Conflict) as error:
            log.warning("not saved: %s", error)
            return _refused(503, "It could not be saved just now. Post it again in a moment.")

    def _doubt(self, headers: Mapping[str, str]) -> WebhookReply | None:
        """Why a request is refused by its headers alone."""
        timestamp, given = _only(headers, TIMESTAMP), _only(headers, SIGNATURE)
        if not timestamp or not given:
            return _refused(401, f"{TIMESTAMP} and {SIGNATURE} are needed, once each. {HOW_TO_SIGN}")
        if not re.fullmatch("[0-9]{1,12}", timestamp):
            return _refused(401, f"{TIMESTAMP} is no number of seconds since 1970.")
        if not re.fullmatch("v1=[0-9a-f]{64}", given):
            old_form = given.startswith("v0=")
            why = "Signatures of the form v0= are no longer taken." if old_form else "That is no signature."
            return _refused(401, f"{why} {HOW_TO_SIGN}")
        if abs(self._seconds() - int(timestamp)) > WINDOW_SECONDS:
            return _refused(401, f"The timestamp is more than {WINDOW_SECONDS} s away from now.")
        return None

    async def _kept(self, slug: str, reviewer: str, body: bytes) -> WebhookReply:
        home = await self._homes.home(slug)
        if home is None:
            return _refused(404, f"There is no item {one_line(slug, 80)!r}.")
        content = await asyncio.to_thread(redacted_entry, body, self._redact)
        kept = await self._archive.keep(slug, content, now=self._clock())
        entry = entry_of(kept, reviewers=_reviewers(self._redact(reviewer)))
        await self._triage.arrived(slug, Arrived(at=self._clock(), title=home.title, entry=entry))
        said = {"item": slug, "number": kept.number, "path": kept.path, "line": entry.line}
        return WebhookReply(201 if kept.is_new else 200, said)


def redacted_entry(content: bytes, redact: Redact) -> bytes:
    """Hides secrets, also in what is not UTF-8, and changes nothing else."""
    if encoding_of(content) != "utf-8":
        text = text_of(content)
        hidden = redact(text)
        return content if hidden == text else hidden.encode(encoding_of(content), "replace")
    return redact(content.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def entry_of(kept: KeptReview, *, reviewers: tuple[str, ...] = ()) -> ReviewEntry:
    """What people are shown of a review that we did not make."""
    return entry_of_text(text_of(kept.content), number=kept.number, path=kept.path, reviewers=reviewers)


def _reviewers(header: str) -> tuple[str, ...]:
    named = (one_line(name, REVIEWER_CHARS) for name in header.split(","))
    return tuple(filter(None, named))[:MOST_REVIEWERS]


def _only(headers: Mapping[str, str], name: str) -> str:
    """The header; empty when there is none, or more than one."""
    values = [value for given, value in headers.items() if given.lower() == name.lower()]
    return values[0] if len(values) == 1 else ""


def _unauthorised(slug: str, why: str) -> WebhookReply:
    log.warning("a review of %s was refused: %s", one_line(slug, 80), why)
    return _refused(401, why)


def _refused(status: int, why: str) -> WebhookReply:
    return WebhookReply(status, {"error": why})
