"""
Reviews that other programs post, signed as Standard Webhooks says: authentication, limits, answers.

Senders repeat a request until it succeeds, so no ids are remembered: the same review is kept once.
"""

import asyncio
import logging
from collections.abc import Iterable
from typing import Literal

from aiohttp import web
from pydantic import ValidationError
from standardwebhooks import Webhook, WebhookVerificationError

from bot.domain.reviews.notice import Arrived, ReviewEntry
from bot.domain.reviews.triage import entry_of_text
from bot.domain.values.text import one_line, text_of
from bot.domain.values.value import Stored
from bot.engine.review_ports import KeptReview
from bot.engine.reviews import ReviewTriage
from bot.errors import Conflict, Unavailable, WorkspaceError
from bot.log import ThrottledWarning
from bot.server.http import refuse

PATH = "/reviews"
LARGEST_BYTES = 1024 * 1024
REVIEWER_CHARS = 80
MOST_REVIEWERS = 5
HEADERS = ("webhook-id", "webhook-timestamp", "webhook-signature")
NOT_SIGNED = f"The request is not signed as Standard Webhooks says ({', '.join(HEADERS)})"

log = logging.getLogger(__name__)


class PostedReview(Stored):
    item: str
    text: str
    reviewer: str = ""


class ReviewCompleted(Stored):
    """The body of a request. The item is inside, so it is signed, too."""

    type: Literal["review.completed"]
    data: PostedReview


class SignedReviews:
    """Whether a request is signed with one of *secrets*."""

    most_bytes = LARGEST_BYTES

    def __init__(self, secrets: Iterable[str]) -> None:
        self._keys = [Webhook(secret) for secret in secrets]
        self._refusals = ThrottledWarning(log)

    def refusal(self, request: web.Request) -> web.Response | None:
        if len(_signature_headers(request)) == len(HEADERS):
            return None
        return self._unauthorised("each of the headers is needed once")

    def forged(self, request: web.Request, body: bytes) -> web.Response | None:
        given, problem = _signature_headers(request), "No secret is set"
        for key in self._keys:
            try:
                key.verify(body, given, json_parse=False)
            except WebhookVerificationError as error:
                problem = str(error)
            except ValueError:  # of headers in another form, and of bytes that are not UTF-8
                problem = "Invalid headers or body"
            else:
                return None
        return self._unauthorised(problem)

    def _unauthorised(self, problem: str) -> web.Response:
        self._refusals.warn(f"A request to {PATH} was refused: {problem}.")
        return refuse(401, f"{NOT_SIGNED}: {problem}. docs/reviews.md has an example.")


class ReviewWebhook(SignedReviews):
    """Stores the review of each signed request; the notice in Slack follows later."""

    def __init__(self, triage: ReviewTriage, secrets: Iterable[str]) -> None:
        """What is stored is redacted: a review may quote a file or a log."""
        super().__init__(secrets)
        self._triage = triage

    async def take(self, request: web.Request, body: bytes) -> web.Response:
        if refused := self.forged(request, body):
            return refused
        try:
            review = ReviewCompleted.model_validate_json(body).data
        except ValidationError as error:
            flaw = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(map(str, flaw["loc"])) or "body"
            return refuse(400, f"The body is not a review ({place}: {flaw['msg']}).")
        if not review.text.strip():
            return refuse(400, "data.text is the review, and it is empty.")
        try:
            return await self._kept(review)
        except WorkspaceError as error:
            unknown = error.reason == "no_item"
            return refuse(404 if unknown else 503 if error.again else 507, str(error))
        except (Unavailable, Conflict) as error:
            log.warning("not saved: %s", error)
            return refuse(503, "It could not be saved just now. Post it again in a moment.")

    async def _kept(self, review: PostedReview) -> web.Response:
        slug, reviewing = review.item, self._triage.reviewing
        home = await reviewing.homes.home(slug)
        if home is None:
            return refuse(404, f"There is no item {one_line(slug, 80)!r}.")
        content = (await asyncio.to_thread(reviewing.redact, review.text)).encode()
        kept = await reviewing.archive.keep(slug, content, now=reviewing.clock())
        entry = entry_of(kept, reviewers=_reviewers(reviewing.redact(review.reviewer)))
        await self._triage.arrived(slug, Arrived(at=reviewing.clock(), title=home.title, entry=entry))
        said = {"item": slug, "number": kept.number, "path": kept.path, "line": entry.line}
        return web.json_response(said, status=201 if kept.is_new else 200)


def entry_of(kept: KeptReview, *, reviewers: tuple[str, ...] = ()) -> ReviewEntry:
    """What people are shown of a review that we did not make."""
    return entry_of_text(text_of(kept.content), number=kept.number, path=kept.path, reviewers=reviewers)


def _reviewers(given: str) -> tuple[str, ...]:
    named = (one_line(name, REVIEWER_CHARS) for name in given.split(","))
    return tuple(filter(None, named))[:MOST_REVIEWERS]


def _signature_headers(request: web.Request) -> dict[str, str]:
    """Those of Standard Webhooks, without any that is there twice."""
    found = {name: request.headers.getall(name, []) for name in HEADERS}
    return {name: values[0] for name, values in found.items() if len(values) == 1}
