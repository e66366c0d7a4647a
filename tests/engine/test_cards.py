"""Edits of cards: not more than Slack takes, the newest wins, and nothing else waits for them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.domain.messages.message import Card, Message
from bot.domain.roundtable.effects import Post, React, Rewrite
from bot.domain.roundtable.posts import EditedPost
from bot.domain.roundtable.state import Roundtable
from bot.domain.values.places import Place
from bot.engine.card_pace import EDITS_A_MINUTE, PRESSED_A_MINUTE, CardPace
from bot.engine.clock import now
from bot.engine.performers import Performers
from bot.engine.roundtables import Roundtables
from bot.storage.embedded import EmbeddedStore
from tests.domain.table import shipped
from tests.durability.sim_voices import SimPlanners, SimVoices
from tests.durability.world import SimChat, SimRecords, SimWorkspace, World
from tests.engine.replica import Woken, discussing
from tests.storage.samples import wait_until

CARD = "7000.1"


class Time:
    """Passes when a test says so."""

    def __init__(self) -> None:
        self.seconds = 1_000.0

    def __call__(self) -> float:
        return self.seconds


def test_a_card_is_edited_at_once_and_then_every_four_seconds() -> None:
    """People see the first change without a delay."""
    clock = Time()
    pace = CardPace(clock=clock)

    assert pace.wait_seconds("a", pressed=False) == 0
    pace.edited("a", pressed=False)
    clock.seconds += 1
    assert pace.wait_seconds("a", pressed=False) == 3
    assert pace.wait_seconds("b", pressed=False) == 0
    clock.seconds += 3
    assert pace.wait_seconds("a", pressed=False) == 0


def test_the_more_cards_are_busy_the_longer_each_waits() -> None:
    """Ten of them: 15 seconds each, which is 40 edits a minute. One is busy for a minute after an edit."""
    clock = Time()
    pace = CardPace(clock=clock)
    for number in range(10):
        pace.edited(f"card{number}", pressed=False)

    assert pace.wait_seconds("card0", pressed=False) == 15
    clock.seconds += 61
    assert pace.wait_seconds("card0", pressed=False) == 0


def test_never_more_than_forty_a_minute_and_ten_for_what_is_pressed() -> None:
    """Also when every edit is the first of its card."""
    clock = Time()
    pace = CardPace(clock=clock)
    for number in range(EDITS_A_MINUTE):
        assert pace.wait_seconds(f"card{number}", pressed=False) == 0
        pace.edited(f"card{number}", pressed=False)

    assert pace.wait_seconds("another", pressed=False) == 60
    for _ in range(PRESSED_A_MINUTE):
        assert pace.wait_seconds("card1", pressed=True) == 0
        pace.edited("card1", pressed=True)
    assert pace.wait_seconds("card1", pressed=True) > 0


def test_the_first_message_is_edited_every_thirty_seconds() -> None:
    """It is seen by everybody in the channel, and an edit of it is never urgent."""
    clock = Time()
    pace = CardPace(clock=clock)
    pace.edited("root", pressed=False)

    clock.seconds += 10
    assert pace.wait_seconds("root", pressed=False, is_root=True) == 20
    clock.seconds += 20
    assert pace.wait_seconds("root", pressed=False, is_root=True) == 0


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
    """Notes what is shown, in order."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.shown: list[str] = []

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

    async def rewrite(self, place: Place, ts: str, message: Message) -> None:
        self.shown.append(message.text)
        await super().rewrite(place, ts, message)


class Process:
    """One life of the bot."""

    def __init__(self, store: EmbeddedStore, pace: CardPace) -> None:
        world = World()
        self.chat, self.woken, self.store = Thread(world), Woken(), store
        performers = Performers(
            self.chat,
            SimVoices(world),
            SimWorkspace(world),
            shipped(),
            now,
            SimRecords(world),
            SimPlanners(world),
        )
        self.engine = Roundtables(
            store=store, wake=self.woken, performers=performers, playbook=shipped(), clock=now, card_pace=pace
        )

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
async def stored(rt: Roundtable, folder: Path) -> AsyncIterator[EmbeddedStore]:
    async with EmbeddedStore(folder) as store:
        await store.put(rt, expected=0)
        yield store


async def test_nothing_waits_for_an_edit_that_is_not_due(tmp_path: Path) -> None:
    """It stays in the outbox, behind what may be done, until its time has come."""
    rt, clock = empty(), Time()
    async with stored(rt, tmp_path) as store:
        process = Process(store, CardPace(clock=clock))
        await process.queue(rt, edit("first"))
        await process.engine.pay(rt.slug)
        await process.queue(rt, edit("second"), Post(message=Message(text="a post")))
        await process.engine.pay(rt.slug)
        assert process.chat.shown == ["first", "a post"]
        assert await process.left(rt) == ["rewrite"]

        await process.queue(rt, edit("third"))
        clock.seconds += 4
        await process.engine.pay(rt.slug)
        assert process.chat.shown == ["first", "a post", "third"]
        assert await process.left(rt) == []
        process.engine.leave()


async def test_the_first_message_is_edited_when_nothing_else_is_to_be_done(tmp_path: Path) -> None:
    """People wait for what is below it."""
    rt = empty().but(root=EditedPost(ts="7000.0"))
    async with stored(rt, tmp_path) as store:
        process = Process(store, CardPace(clock=Time()))
        root = edit("first message", ts="7000.0", pressed=True)
        await process.queue(rt, root, Post(message=Message(text="a post")), edit("card"))
        await process.engine.pay(rt.slug)

        *before, last = process.chat.shown
        assert before == ["a post", "card"]
        assert last.startswith("**Roundtable: Offline sync**")
        assert await process.left(rt) == []


async def test_what_comes_of_a_press_does_not_wait(tmp_path: Path) -> None:
    """People see at once that the bot has heard them."""
    rt = empty()
    async with stored(rt, tmp_path) as store:
        process = Process(store, CardPace(clock=Time()))
        for text in ("first", "second", "third"):
            await process.queue(rt, edit(text, pressed=text != "first"))
            await process.engine.pay(rt.slug)

        assert process.chat.shown == ["first", "second", "third"]


async def test_an_edit_that_waits_wakes_the_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without an input or a sweep."""
    monkeypatch.setattr("bot.engine.card_pace.LEAST_SECONDS", 0.05)
    rt = empty()
    async with stored(rt, tmp_path) as store:
        process = Process(store, CardPace())
        await process.queue(rt, edit("first"))
        await process.engine.pay(rt.slug)
        await process.queue(rt, edit("second"))
        await process.engine.pay(rt.slug)
        if await process.left(rt):
            await wait_until(lambda: process.woken.slugs)
            await process.engine.pay(rt.slug)

        assert process.chat.shown == ["first", "second"]


async def test_after_a_crash_the_next_process_shows_the_newest(tmp_path: Path) -> None:
    """What waited was saved."""
    rt, clock = empty(), Time()
    async with stored(rt, tmp_path) as store:
        process = Process(store, CardPace(clock=clock))
        await process.queue(rt, edit("first"))
        await process.engine.pay(rt.slug)
        await process.queue(rt, edit("second"), edit("third"))
        await process.engine.pay(rt.slug)
        process.engine.leave()

        following = Process(store, CardPace(clock=clock))
        await following.engine.sweep()
        assert following.woken.slugs == [rt.slug]
        await following.engine.pay(rt.slug)
        assert following.chat.shown == ["third"]
        assert await following.left(rt) == []
