"""Inputs that wait for one roundtable are saved at once; the sign that words were heard waits for nothing."""

import asyncio

import pytest

from bot.domain.messages.message import Action, Message
from bot.domain.roundtable.effects import React
from bot.domain.roundtable.state import Roundtable
from bot.errors import Unavailable, UserError
from tests.engine.replica import Replica, Watched, discussing, holding, pressed, said, words
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


async def test_a_reaction_does_not_wait_for_its_turn(redis_url: str) -> None:
    """Slack is slow with a post before it; when its turn comes, it is not made a second time."""
    may_post, reactions = asyncio.Event(), []

    async def slow_to_post(kind: str, ts: str) -> None:
        if kind == "react":
            reactions.append(ts)
        else:
            await may_post.wait()

    before = discussing().rt
    rt = before.telling(Message(text="One moment."), part=before.part).but(version=1)
    async with holding(redis_url, rt, chat=Watched(slow_to_post)) as one:
        paying = asyncio.create_task(one.engine.pay(rt.slug))
        await one.engine.hear(rt.place, said(rt, "Edits get lost.", "1.1"))

        await wait_until(lambda: reactions == ["1.1"])
        assert any(isinstance(effect, React) for effect in (await one.stored(rt)).outbox)
        may_post.set()
        await paying
        assert not any(isinstance(effect, React) for effect in (await one.stored(rt)).outbox)
        assert reactions == ["1.1"]
