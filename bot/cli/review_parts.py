"""Builds the parts that reviews need: for the bot, and for the command that posts one."""

from typing import NamedTuple

from bot.domain.catalog.agenda import Playbook
from bot.domain.privacy.redaction import Redact, unchanged
from bot.engine.clock import now
from bot.engine.evidence_ports import NO_SIGHT, Sights
from bot.engine.item_locator import ItemLocator
from bot.engine.ports import Wake
from bot.engine.review_ports import Board, NoReviewMeter, Reviewers, ReviewMeter
from bot.engine.reviews import ReviewContext, ReviewTriage
from bot.server.review_webhook import ReviewWebhook
from bot.settings import Settings
from bot.storage.git.workspace import GitWorkspace
from bot.storage.redis import RedisStore
from bot.storage.sqlite import SqliteStore
from bot.voices.reviewing import ChecklistReviewers


class ReviewParts(NamedTuple):
    """The parts that roundtables use, too."""

    team: str
    store: SqliteStore | RedisStore
    workspace: GitWorkspace
    playbook: Playbook
    wake: Wake
    board: Board
    sights: Sights = NO_SIGHT
    reviewers: Reviewers = ChecklistReviewers()
    redact: Redact = unchanged
    tally: ReviewMeter = NoReviewMeter()


def review_triage(settings: Settings, parts: ReviewParts, *, channel: str = "") -> ReviewTriage:
    """*channel* is for notices that are not shown yet; by default the settings say it."""
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
    return ReviewTriage(
        notices=parts.store.notices,
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
