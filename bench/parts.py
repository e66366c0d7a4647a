"""The parts of the bot that a turn goes through, wired as in `bot.app`, in this process and without Bolt."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from slack_sdk.web.async_client import AsyncWebClient

from bench.canned import BOT, BOT_USER, SCOPES, TEAM
from bot import shipped
from bot.content.playbook import load
from bot.domain.messages.message import Message
from bot.domain.reviews.notice import AskReview
from bot.engine.commands import Commands
from bot.engine.performers import Performers
from bot.engine.personal import Personal
from bot.engine.ports import Store, now
from bot.engine.roundtables import Roundtables
from bot.engine.viewing import Viewers
from bot.record.kept import KeptRecords
from bot.slack.chat import SlackChat
from bot.slack.client import Identity
from bot.storage.git.workspace import GitWorkspace
from bot.storage.ownership import Ownership
from bot.storage.redis import RedisStore
from bot.voices.offline import OfflineVoices
from tests.sealing import SEAL


class Parts(NamedTuple):
    desk: Commands
    store: RedisStore
    files: GitWorkspace
    payments: "Payments"


class Payments:
    """Tells waiting callers that the outbox of a roundtable is empty."""

    def __init__(self, engine: Roundtables, store: Store) -> None:
        self._engine = engine
        self._store = store
        self._ended: dict[str, asyncio.Event] = {}

    async def pay(self, slug: str) -> None:
        await self._engine.pay(slug)
        self.of(slug).set()

    def of(self, slug: str) -> asyncio.Event:
        return self._ended.setdefault(slug, asyncio.Event())


async def _no_review(slug: str, wish: AskReview) -> None:
    raise AssertionError(f"a turn asks for no review: {slug} {wish}")


async def _nothing_to_read(slug: str, title: str, number: int) -> Message:
    raise AssertionError(f"a turn reads no review: {slug} {title} {number}")


@asynccontextmanager
async def parts(client: AsyncWebClient, redis_url: str, root: Path) -> AsyncIterator[Parts]:
    playbook = load(shipped.personas_dir(), shipped.steps_dir())
    us = Identity(team=TEAM, user=BOT_USER, bot=BOT, token="", scopes=tuple(SCOPES.split(",")))
    async with (
        Ownership(redis_url, team=TEAM) as wake,
        RedisStore(redis_url, team=TEAM, owner=wake) as store,
        GitWorkspace(root, seal=SEAL) as files,
    ):
        records = KeptRecords(files.transcript)
        chat = SlackChat(client, playbook.roster, us)
        viewers = Viewers(store, files, chat, lambda _: playbook.policy)
        performers = Performers(chat, OfflineVoices(), files, playbook, now, records, viewers)
        engine = Roundtables(store=store, wake=wake, performers=performers, playbook=playbook, clock=now)
        desk = Commands(
            roundtables=engine,
            ask_review=_no_review,
            read_review=_nothing_to_read,
            store=store,
            workspace=files,
            records=records,
            chat=chat,
            playbook=playbook,
            personal=Personal(store=store, chat=chat, playbook=playbook, clock=now),
            viewers=viewers,
            secret=b"bench",
        )
        payments = Payments(engine, store)
        paying = asyncio.create_task(wake.run(payments.pay))
        try:
            yield Parts(desk, store, files, payments)
        finally:
            paying.cancel()
            with suppress(asyncio.CancelledError):
                await paying
