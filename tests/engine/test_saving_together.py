"""Inputs that wait for one roundtable are saved at once; the sign that words were heard waits for nothing."""

import asyncio
from dataclasses import dataclass, field

import pytest

from bot.domain.messages.message import Action, Message
from bot.domain.roundtable.effects import React
from bot.domain.roundtable.state import Roundtable
from bot.domain.values.places import Place
from bot.errors import Unavailable, UserError
from tests.durability.world import SimChat, World
from tests.engine.replica import Replica, discussing, holding, pressed, replica, said, words
from tests.patience import wait_until


async def test_words_that_come_at_once_are_two_saves(one: Replica, rt: Roundtable) -> None:
    """The first is saved alone, and those that came meanwhile after it, in their order."""
    before = await one.engine.hear(rt.place, said(rt, "word", "1.0"))
    assert before
    texts = [f"word {number}" for number in range(1, 17)]
    events = [said(rt, text, f"1.{number:02}") for number, text in enumerate(texts, start=1)]
    await asyncio.gather(*(one.engine.hear(rt.place, event) for event in events))

    stored = await one.stored(rt)
    assert words(stored) == ["word", *texts]
    assert stored.version == before.version + 2


async def test_two_processes_lose_none_of_what_comes_at_once(
    one: Replica, other: Replica, rt: Roundtable
) -> None:
    events = [said(rt, f"word {number}", f"1.{number:02}") for number in range(1, 31)]
    takers = [(one, other)[number % 2] for number in range(30)]
    await asyncio.gather(
        *(taker.engine.hear(rt.place, event) for taker, event in zip(takers, events, strict=True))
    )

    assert sorted(words(await one.stored(rt))) == sorted(event.text for event in events)


async def test_nothing_is_saved_before_what_it_names(redis_url: str) -> None:
    """Another process may perform what comes of it, and has to know the person by then."""

    async def away() -> None:
        raise Unavailable("People could not be stored.")

    rt = discussing().rt.but(version=1)
    async with holding(redis_url, rt, before_save=away) as one:
        with pytest.raises(Unavailable, match="People"):
            await one.engine.hear(rt.place, said(rt, "word", "1.0"))
        assert words(await one.stored(rt)) == []


async def test_a_press_that_makes_no_sense_keeps_nothing_else_from_being_saved(
    one: Replica, rt: Roundtable
) -> None:
    unknown = pressed(rt, Action.FINISH_STEP).but(token="of-no-menu")
    _, refused, _ = await asyncio.gather(
        one.engine.hear(rt.place, said(rt, "first", "1.1")),
        one.engine.hear(rt.place, unknown),
        one.engine.hear(rt.place, said(rt, "second", "1.2")),
        return_exceptions=True,
    )

    assert isinstance(refused, UserError)
    assert words(await one.stored(rt)) == ["first", "second"]


async def test_a_caller_that_gives_up_leaves_the_others_their_turn(one: Replica, rt: Roundtable) -> None:
    """Slack's connection broke, say: it will deliver those words again."""
    first = asyncio.create_task(one.engine.hear(rt.place, said(rt, "first", "1.1")))
    second = asyncio.create_task(one.engine.hear(rt.place, said(rt, "second", "1.2")))
    third = asyncio.create_task(one.engine.hear(rt.place, said(rt, "third", "1.3")))
    await asyncio.sleep(0)
    second.cancel()
    await asyncio.gather(first, third)
    with pytest.raises(asyncio.CancelledError):
        await second

    assert [text for text in words(await one.stored(rt)) if text != "second"] == ["first", "third"]


@dataclass
class SlowToPost(SimChat):
    """A post waits until the test lets it pass; reactions are counted."""

    may_post: asyncio.Event = field(default_factory=asyncio.Event)
    reactions: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(World())

    async def post(
        self, place: Place, message: Message, *, key: str, again: bool, broadcast: bool = False
    ) -> str:
        await self.may_post.wait()
        return await super().post(place, message, key=key, again=again, broadcast=broadcast)

    async def react(self, place: Place, ts: str, emoji: str) -> None:
        self.reactions.append(ts)
        await super().react(place, ts, emoji)


async def test_a_reaction_does_not_wait_for_its_turn(redis_url: str) -> None:
    """Slack is slow with a post before it; when its turn comes, it is not made a second time."""
    table = discussing()
    chat = SlowToPost()
    async with replica(redis_url, chat=chat) as one:
        waiting = table.rt.telling(Message(text="One moment."), part=table.rt.part)
        rt = waiting.but(version=1)
        await one.store.put(rt, expected=0)
        paying = asyncio.create_task(one.engine.pay(rt.slug))
        await one.engine.hear(rt.place, said(rt, "Edits get lost.", "1.1"))

        await wait_until(lambda: chat.reactions == ["1.1"])
        assert any(isinstance(effect, React) for effect in (await one.stored(rt)).outbox)
        chat.may_post.set()
        await paying
        assert not any(isinstance(effect, React) for effect in (await one.stored(rt)).outbox)
        assert chat.reactions == ["1.1"]
