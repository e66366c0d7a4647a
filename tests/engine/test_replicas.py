"""Two processes and one Redis: each remembers what it saw last, and nothing comes of a memory alone."""

from collections.abc import Mapping

import pytest
import redis

from bot.domain.messages.message import Action
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.errors import UserError
from tests.engine.replica import Replica, discussing, pressed, replica, said, words


def calls(redis_url: str) -> Mapping[str, int]:
    """How often each command was called so far."""
    with redis.Redis.from_url(redis_url) as client:
        counted = client.info("commandstats")
    return {name.removeprefix("cmdstat_"): int(one["calls"]) for name, one in counted.items()}


async def test_a_thread_that_is_known_takes_one_save(one: Replica, rt: Roundtable, redis_url: str) -> None:
    """Nothing is read: whoever saves learns at the same time whether it was up to date."""
    await one.engine.hear(rt.place, said(rt, "first", "1.1"))

    before = calls(redis_url)
    await one.engine.hear(rt.place, said(rt, "second", "1.2"))
    after = calls(redis_url)

    assert {
        name for name in after if name in {"hgetall", "smembers"} and after[name] > before.get(name, 0)
    } == set()
    assert after["eval"] - before["eval"] == 1
    assert words(await one.stored(rt)) == ["first", "second"]


@pytest.mark.usefixtures("one")
async def test_a_thread_that_is_not_known_here_is_looked_up_and_read_once(
    other: Replica, rt: Roundtable, redis_url: str
) -> None:
    """Who is held there comes with it, and what follows from that is one save, as if it had been known."""
    before = calls(redis_url)
    assert await other.engine.hear(rt.place, said(rt, "first", "1.1"))
    after = calls(redis_url)

    counted = {name: after.get(name, 0) - before.get(name, 0) for name in ("smembers", "hgetall", "eval")}
    assert counted == {"smembers": 1, "hgetall": 1, "eval": 2}


async def test_what_another_process_saved_is_never_saved_over(
    one: Replica, other: Replica, rt: Roundtable
) -> None:
    """Words go to either, in any order; all of them are there, once, in the order in which they were saved."""
    for number, taker in enumerate([one, other, other, one, one, other, one]):
        assert await taker.engine.hear(rt.place, said(rt, f"word {number}", f"1.{number}"))

    assert words(await one.stored(rt)) == [f"word {number}" for number in range(7)]


async def test_a_wish_is_refused_only_by_what_is_stored(redis_url: str) -> None:
    """A button of a menu that another process has posted meanwhile is pressed here, where it is not known yet."""
    table = discussing()
    rt = table.rt.but(version=1)
    async with replica(redis_url) as one, replica(redis_url) as other:
        await one.store.put(rt, expected=0)
        before = await one.engine.hear(rt.place, said(rt, "It gets lost.", "1.1"))
        assert before
        later = table.do_step().rt.but(version=before.version + 1)
        await other.store.put(later, expected=before.version)

        after = await one.engine.hear(rt.place, pressed(later, Action.CONTINUE))

        assert after
        assert after.stage is not Stage.AT_BOUNDARY


async def test_a_wish_that_is_refused_hears_the_newest_reason(redis_url: str) -> None:
    """Who was quicker, in another process, is named."""
    rt = discussing().do_step().rt.but(version=1)
    async with replica(redis_url) as one, replica(redis_url) as other:
        await one.store.put(rt, expected=0)
        await one.engine.hear(rt.place, said(rt, "Hm.", "1.1"))
        fresh = await one.stored(rt)
        while fresh.outbox:
            await one.engine.pay(rt.slug)
            fresh = await one.stored(rt)
        await other.engine.hear(rt.place, pressed(fresh, Action.CONTINUE))

        press = pressed(fresh, Action.CONTINUE).but(key="press.another")
        with pytest.raises(UserError, match="chosen by"):
            await one.engine.hear(rt.place, press)


def lose_everything(redis_url: str) -> None:
    """What a Redis without a disk does when it ends."""
    with redis.Redis.from_url(redis_url) as client:
        client.flushall()


async def test_a_store_that_lost_everything_is_not_filled_from_memory(
    one: Replica, rt: Roundtable, redis_url: str
) -> None:
    """What we remember is not known to be true: the item is rebuilt from git, by whoever has git."""
    await one.engine.hear(rt.place, said(rt, "first", "1.1"))
    lose_everything(redis_url)

    assert await one.engine.hear(rt.place, said(rt, "second", "1.2")) is None
    with pytest.raises(UserError, match="I don't know a roundtable"):
        await one.engine.handle(rt.slug, said(rt, "second", "1.2"))
    assert await one.store.get(rt.slug) is None


async def test_what_was_begun_anew_is_not_saved_over(
    one: Replica, other: Replica, rt: Roundtable, redis_url: str
) -> None:
    """Even when it has come to the very version that somebody remembers of the one before."""
    await one.engine.hear(rt.place, said(rt, "lost", "1.1"))
    lose_everything(redis_url)
    anew = rt.but(incarnation="anew", version=1)
    await other.store.put(anew, expected=0)
    await other.engine.hear(rt.place, said(rt, "kept", "1.2"))

    after = await one.engine.hear(rt.place, said(rt, "and heard", "1.3"))

    assert after
    assert after.incarnation == "anew"
    assert words(await other.stored(rt)) == ["kept", "and heard"]


async def test_what_was_heard_before_the_store_was_lost_is_heard_again(
    one: Replica, rt: Roundtable, redis_url: str
) -> None:
    """Slack delivers once more what was not acknowledged; that we remember it does not mean that it is saved."""
    await one.engine.hear(rt.place, said(rt, "first", "1.1"))
    lose_everything(redis_url)
    await one.store.put(rt.but(incarnation="anew"), expected=0)

    after = await one.engine.hear(rt.place, said(rt, "first", "1.1"))

    assert after
    assert words(await one.stored(rt)) == ["first"]


async def test_a_thread_is_left_when_its_roundtable_moves(
    one: Replica, other: Replica, rt: Roundtable
) -> None:
    """What is said there is nobody's, also for a process that remembers who it was."""
    elsewhere = rt.place.but(thread="9.9")
    known = await one.engine.hear(rt.place, said(rt, "first", "1.1"))
    assert known
    moved = known.but(place=elsewhere, version=known.version + 1)
    await other.store.put(moved, expected=known.version)

    assert await one.engine.hear(rt.place, said(rt, "to nobody", "1.2")) is None
    assert await one.engine.hear(elsewhere, said(rt, "second", "9.2"))
    assert words(await one.stored(rt)) == ["first", "second"]
