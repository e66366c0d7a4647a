"""Two teams that share a Redis do not meet, whatever their items, channels and threads are called."""

import asyncio

from bot.domain.messages.home_page import ReminderSettings
from bot.domain.reviews.notice import Notice, TellThread
from bot.storage.ownership import Ownership
from bot.storage.redis import RedisStore
from tests.patience import wait_until
from tests.storage.samples import NOW, OWED, PLACE, SLUG, a_roundtable

THEIR_PLACE = PLACE.but(team="T2")


async def test_roundtables_of_two_teams(shared_url: str) -> None:
    """Each has its own of the same name."""
    ours, theirs = a_roundtable(outbox=OWED), a_roundtable(title="Another night", place=THEIR_PLACE)
    async with RedisStore(shared_url, team="T1") as one, RedisStore(shared_url, team="T2") as other:
        await one.put(ours, expected=0)
        assert await other.get(SLUG) is None
        assert await other.missing([SLUG]) == (SLUG,)
        assert await other.unfinished() == ()
        await other.put(theirs, expected=0)
        await other.put(theirs.but(version=2), expected=1)

        assert await one.get(SLUG) == ours
        assert await one.at(PLACE) == ours
        assert await one.at(THEIR_PLACE) is None
        assert await other.at(PLACE) is None
        assert await one.in_channel("T1", "C1") == (ours,)
        assert await one.in_channel("T2", "C1") == ()
        assert await one.unfinished() == (SLUG,)
        assert sum((await one.stages()).values()) == sum((await other.stages()).values()) == 1
        assert await one.held() == await other.held() == (SLUG,)


async def test_what_is_remembered_of_two_teams(shared_url: str) -> None:
    """An event of one is not taken for a repeated one of the other, and a person may be in both."""
    async with RedisStore(shared_url, team="T1") as one, RedisStore(shared_url, team="T2") as other:
        assert await one.first("C1.1.1", seconds=60)
        assert await other.first("C1.1.1", seconds=60)
        await one.note("listened", "1.1")
        await one.keep_person("U1", ReminderSettings(off=True))

        assert await other.noted("listened") == ""
        assert await other.people() == {}


async def test_notices_of_two_teams(shared_url: str) -> None:
    """Reviews of one are not shown in the other."""
    ours = Notice(slug=SLUG, version=1, now=NOW, outbox=(TellThread(id="1", entries=()),))
    async with (
        RedisStore(shared_url, team="T1") as our_store,
        RedisStore(shared_url, team="T2") as their_store,
    ):
        one, other = our_store.notices, their_store.notices
        await one.put(ours, expected=0)

        assert await other.get(SLUG) is None
        assert await other.unfinished() == ()
        await other.put(Notice(slug=SLUG, version=1, now=NOW), expected=0)
        assert await one.get(SLUG) == ours
        assert await one.unfinished() == (SLUG,)


async def test_work_of_two_teams(shared_url: str) -> None:
    """A worker takes only what its team was woken for, also while the other works on an item of the same name."""
    done: list[str] = []
    hold = asyncio.Event()

    async def ours(slug: str) -> None:
        done.append(f"T1 {slug}")
        await hold.wait()

    async def theirs(slug: str) -> None:
        done.append(f"T2 {slug}")

    async with Ownership(shared_url, team="T1") as one, Ownership(shared_url, team="T2") as other:
        working = [asyncio.create_task(one.run(ours)), asyncio.create_task(other.run(theirs))]
        try:
            await one.wake(SLUG)
            await wait_until(lambda: done == [f"T1 {SLUG}"])
            await other.wake(SLUG)
            await wait_until(lambda: done == [f"T1 {SLUG}", f"T2 {SLUG}"])
        finally:
            hold.set()
            for task in working:
                task.cancel()
            await asyncio.wait(working)
