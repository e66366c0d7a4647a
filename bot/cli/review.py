"""
A review in a file, for `roundtable review`: its line, its place among the reviews of an item, and the way to Slack.

Display only: no verdict is an error, and nothing but the review's own file is ever written.
"""

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bot import app, parts
from bot.cli import items
from bot.domain.messages.message import Message
from bot.domain.privacy.redaction import Redact
from bot.domain.reviews.notice import Arrived
from bot.domain.reviews.review import triage_line
from bot.domain.values.places import Place
from bot.domain.values.text import encoding_of, text_of
from bot.engine.ports import now
from bot.engine.review_ports import KeptReview
from bot.errors import UserError
from bot.files import TooLarge, chosen
from bot.server.review_webhook import entry_of
from bot.settings import Settings
from bot.slack.board import SlackBoard
from bot.storage.git.workspace import GitWorkspace
from bot.storage.local_wake import LocalWake
from bot.storage.redis import RedisStore
from bot.storage.sqlite import SqliteStore
from bot.voices.reviewing import PersonaReviewers

MOST_BYTES = 64 * 1024 * 1024


def content_of(path: Path) -> bytes:
    """Raises UserError with a sentence when it cannot be read."""
    try:
        return chosen(path, MOST_BYTES)
    except TooLarge:
        raise UserError(f"{str(path)!r} has more than {MOST_BYTES} bytes, which no review needs.") from None
    except OSError as error:
        raise UserError(f"{str(path)!r} cannot be read: {error.strerror}.") from None


def line_of(content: bytes) -> str:
    """Any file: one that is no text has no metadata."""
    return triage_line(text_of(content))


def redacted_content(content: bytes, redact: Redact) -> bytes:
    """Hides secrets, also in what is not UTF-8, and changes nothing else."""
    if encoding_of(content) != "utf-8":
        text = text_of(content)
        hidden = redact(text)
        return content if hidden == text else hidden.encode(encoding_of(content), "replace")
    return redact(content.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


async def keep(settings: Settings, slug: str, content: bytes) -> KeptReview:
    """As the item's next review, byte for byte but for secrets, in a commit. UserError when there is no such item."""
    await _must_be_known(settings, slug)
    async with app.workspace(settings) as files:
        return await files.keep(slug, redacted_content(content, parts.secret_redaction(settings)), now=now())


async def post(settings: Settings, line: str, content: bytes, *, channel: str) -> str:
    """The line alone, as a message of its own; the same review once. Where it went."""
    where = channel or settings.triage_channel
    if not where:
        raise UserError("Where to? Name a channel with --channel, or set ROUNDTABLE_TRIAGE_CHANNEL.")
    async with _board(settings) as board:
        key = f"review.{hashlib.sha256(content).hexdigest()[:32]}"
        spot = await board.put(Place(team="", channel=where), Message(text=line), key=key, again=True)
    return spot.channel


async def show(settings: Settings, slug: str, kept: KeptReview, *, channel: str) -> bool:
    """
    In the item's one message, and in its thread. False when that could not be done now and is left to the bot.

    Raises ConfigError when the bot is running and shares no Redis with us.
    """
    async with (
        app.workspace(settings) as files,
        _board(settings) as board,
        _store(settings, board.team, files) as store,
    ):
        # The command performs effects itself; the bot's sweep finds what is left.
        triage = app.review_triage(
            settings, store, files, board, wake=LocalWake(), channel=channel, reviewers=PersonaReviewers(),
            playbook=app.playbook(settings), redact=parts.secret_redaction(settings),
        )  # fmt: skip
        home = await triage.reviewing.homes.home(slug)
        title = home.title if home else slug
        came = Arrived(at=now(), title=title, entry=entry_of(kept), channel=channel)
        await triage.arrived(slug, came)
        await triage.pay(slug)
        return not await triage.is_unfinished(slug)


@asynccontextmanager
async def _store(
    settings: Settings, team: str, files: GitWorkspace
) -> AsyncIterator[SqliteStore | RedisStore]:
    await app.claimed(settings, team, files)
    async with app.store(settings, team) as store:
        yield store


@asynccontextmanager
async def _board(settings: Settings) -> AsyncIterator[SlackBoard]:
    async with app.own_slack(settings) as (client, us):
        yield SlackBoard(client, us)


async def _must_be_known(settings: Settings, slug: str) -> None:
    known = [row["slug"] for row in await items.items(settings)]
    if slug not in known:
        raise UserError(items.no_item(slug, known))
