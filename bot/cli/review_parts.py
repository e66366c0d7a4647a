"""Builds the parts that reviews need: for the bot, and for the command that posts one."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import NamedTuple

from bot.domain.catalog.agenda import Playbook
from bot.domain.privacy.redaction import Redact, unchanged
from bot.engine.clock import now
from bot.engine.evidence_ports import NO_SIGHT, Sights
from bot.engine.item_locator import ItemLocator
from bot.engine.ports import Store, Wake
from bot.engine.review_ports import Board, NoReviewMeter, Notices, Reviewers, ReviewMeter
from bot.engine.reviews import ReviewContext, ReviewTriage
from bot.server.review_webhook import ReviewWebhook
from bot.settings import Settings
from bot.storage.git.repository import STATE
from bot.storage.git.workspace import GitWorkspace
from bot.storage.notices import EmbeddedNotices, RedisNotices
from bot.voices.reviewing import ChecklistReviewers


class ReviewParts(NamedTuple):
    """The parts that roundtables use, too."""

    team: str
    store: Store
    workspace: GitWorkspace
    playbook: Playbook
    wake: Wake
    board: Board
    sights: Sights = NO_SIGHT
    reviewers: Reviewers = ChecklistReviewers()
    redact: Redact = unchanged
    tally: ReviewMeter = NoReviewMeter()


@asynccontextmanager
async def notices(settings: Settings, team: str) -> AsyncIterator[Notices]:
    """In the store of the roundtables. Without Redis, `app.store` has to be open: it locks the folder."""
    async with AsyncExitStack() as stack:
        if settings.redis_url:
            url = settings.redis_url.get_secret_value()
            yield await stack.enter_async_context(RedisNotices(url, team=team))
        else:
            yield await stack.enter_async_context(EmbeddedNotices(settings.workspace / STATE))


@asynccontextmanager
async def triage(settings: Settings, parts: ReviewParts, *, channel: str = "") -> AsyncIterator[ReviewTriage]:
    """*channel* is for notices that are not shown yet; by default the settings say it."""
    async with notices(settings, parts.team) as kept:
        reviewing = ReviewContext(
            reviewers=parts.reviewers,
            workspace=parts.workspace,
            archive=parts.workspace,
            board=parts.board,
            homes=ItemLocator(parts.store, parts.workspace),
            playbook=parts.playbook,
            clock=now,
            sights=parts.sights,
            channel=channel or settings.triage_channel or "",
            file_url=settings.file_url or "",
            redact=parts.redact,
        )
        yield ReviewTriage(
            notices=kept,
            archive=parts.workspace,
            wake=parts.wake,
            reviewing=reviewing,
            clock=now,
            team=parts.team,
            tally=parts.tally,
        )


def postbox(settings: Settings, parts: ReviewParts, triage: ReviewTriage) -> ReviewWebhook:
    secret = settings.review_secret
    return ReviewWebhook(
        secret=secret.get_secret_value() if secret else "",
        archive=parts.workspace,
        homes=ItemLocator(parts.store, parts.workspace),
        memory=parts.store,
        triage=triage,
        clock=now,
        redact=parts.redact,
    )
