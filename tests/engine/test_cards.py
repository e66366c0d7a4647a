"""Edits of messages: the newest wins, and what people wait for never waits for one that tidies up."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.domain.messages.message import Card, Message
from bot.domain.roundtable.effects import Post, React, Rewrite
from bot.domain.roundtable.posts import LiveMessage
from bot.domain.roundtable.state import ROOT, Roundtable
from bot.domain.values.places import Place
from bot.engine.ports import Urgency
from bot.errors import Postponed
from bot.storage.sqlite import SqliteStore
from tests.durability.world import SimChat, World
from tests.engine.replica import Woken, discussing, engine_in
from tests.patience import wait_until

CARD = "7000.1"


def edit(text: str, *, ts: str = CARD, **fields: bool) -> Rewrite:
    return Rewrite(ts=ts, message=Message(text=text, card=Card(title=text)), **fields)


def empty() -> Roundtable:
    return discussing().rt.but(outbox=(), version=1)


def edits(rt: Roundtable) -> list[str]:
    return [one.message.text for one in rt.outbox if isinstance(one, Rewrite)]


def test_of_the_edits_of_one_card_the_newest_stays() -> None:
    """Also of those that Slack refused before; an edit of another post stays as it is."""
    rt = empty().queueing(edit("one"), edit("other", ts="7000.2"), edit("two"))
    assert edits(rt) == ["other", "two"]

    held = rt.holding_back()
    assert edits(held.queueing(edit("three")).catching_up()) == ["three", "other"]


def test_an_edit_after_a_press_stays_urgent_when_a_newer_one_replaces_it() -> None:
    """Whoever pressed waits for what comes of it."""
    rt = empty().queueing(edit("one", pressed=True), edit("two"))

    (left,) = rt.outbox
    assert isinstance(left, Rewrite)
    assert (left.message.text, left.pressed) == ("two", True)


class Thread(SimChat):
    """Notes what is shown, in order. While Slack's limit is *reached*, other edits than urgent ones are put off."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.shown: list[str] = []
        self.reached = False
        self.again_seconds = 0.01

    async def post(
        self,
        place: Place,
        message: Message,
        *,
        key: str,
        again: bool,
        broadcast: bool = False,  # noqa: ARG002
    ) -> str:
        self.shown.append(message.text)
        return await super().post(place, message, key=key, again=again)

    async def rewrite(
        self, place: Place, ts: str, message: Message, *, urgency: Urgency = Urgency.ANSWER
    ) -> None:
        if self.reached and not urgency.is_waited_for:
            raise Postponed("Not now.", again=True, after_seconds=self.again_seconds)
        self.shown.append(message.text)
        await super().rewrite(place, ts, message, urgency=urgency)


class Process:
    """One life of the bot."""

    def __init__(self, store: SqliteStore) -> None:
        world = World()
        self.chat, self.woken, self.store = Thread(world), Woken(), store
        self.engine = engine_in(world, store, self.woken, chat=self.chat)

    async def queue(self, rt: Roundtable, *effects: Post | React | Rewrite) -> None:
        found = await self.store.get(rt.slug)
        before = found or rt
        after = before.queueing(*effects)
        await self.store.put(after.but(version=before.version + 1), expected=before.version if found else 0)

    async def left(self, rt: Roundtable) -> list[str]:
        found = await self.store.get(rt.slug)
        assert found
        return [one.kind for one in found.outbox]


@asynccontextmanager
async def stored(rt: Roundtable, folder: Path) -> AsyncIterator[SqliteStore]:
    async with SqliteStore(folder) as store:
        await store.put(rt, expected=0)
        yield store


@pytest.fixture
async def process(tmp_path: Path) -> AsyncIterator[Process]:
    """Its store has a roundtable that owes nothing."""
    async with stored(empty(), tmp_path) as store:
        yield Process(store)


async def test_nothing_waits_for_an_edit_that_slack_does_not_take_yet(process: Process) -> None:
    """It stays in the outbox, behind what may be done, and only the newest one is sent."""
    rt = empty()
    process.chat.reached = True
    await process.queue(rt, edit("first"), Post(message=Message(text="a post")))
    await process.engine.pay(rt.slug)
    assert process.chat.shown == ["a post"]
    assert await process.left(rt) == ["rewrite"]

    await process.queue(rt, edit("second"))
    process.chat.reached = False
    await process.engine.pay(rt.slug)
    assert process.chat.shown == ["a post", "second"]
    assert await process.left(rt) == []
    process.engine.leave()


async def test_post_first_tidy_later(tmp_path: Path) -> None:
    """What a press leads to and posts come first; then the card in use, the first message, and what is over."""
    rt = empty()
    card = rt.card
    assert card
    rt = rt.but(live={**rt.live, ROOT: LiveMessage(ts="7000.0")})
    async with stored(rt, tmp_path) as store:
        process = Process(store)
        await process.queue(
            rt,
            edit("a step that is over"),
            edit("first message", ts="7000.0"),
            edit("the card in use", ts=rt.stands_at(card.token)),
            Post(message=Message(text="a post")),
            edit("what was pressed", ts="7000.3", pressed=True),
        )
        await process.engine.pay(rt.slug)

        *before, root, last = process.chat.shown
        assert before == ["a post", "what was pressed", "the card in use"]
        assert root.startswith("**Roundtable: Offline sync**")
        assert last == "a step that is over"
        assert await process.left(rt) == []


async def test_what_comes_of_a_press_is_never_put_off(process: Process) -> None:
    """People see at once that the bot has heard them."""
    rt = empty()
    process.chat.reached = True
    for text in ("first", "second", "third"):
        await process.queue(rt, edit(text, pressed=text != "first"))
        await process.engine.pay(rt.slug)

    assert process.chat.shown == ["second", "third"]


async def test_an_edit_that_was_put_off_wakes_the_engine(process: Process) -> None:
    """Without an input or a sweep."""
    rt = empty()
    process.chat.reached = True
    await process.queue(rt, edit("first"))
    await process.engine.pay(rt.slug)
    process.chat.reached = False
    await wait_until(lambda: process.woken.slugs)
    await process.engine.pay(rt.slug)

    assert process.chat.shown == ["first"]


async def test_after_a_crash_the_next_process_shows_the_newest(process: Process) -> None:
    """What waited was saved."""
    rt = empty()
    process.chat.reached, process.chat.again_seconds = True, 3_600
    await process.queue(rt, edit("second"), edit("third"))
    await process.engine.pay(rt.slug)
    process.engine.leave()

    following = Process(process.store)
    await following.engine.sweep()
    assert following.woken.slugs == [rt.slug]
    await following.engine.pay(rt.slug)
    assert following.chat.shown == ["third"]
    assert await following.left(rt) == []
