"""
Saves all the time while it owns the team, and says so: `python -m tests.contracts.owner URL`. With names of TEAMS after
the URL it waits for a line, and then says which of them it owns.
"""

import asyncio
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress

from bot.errors import NotOwner
from bot.storage import ownership
from bot.storage.ownership import Ownership, Share
from bot.storage.redis import RedisStore
from tests.storage.samples import SLUG, a_roundtable


def say(words: str) -> None:
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()


async def work(url: str) -> None:
    """Its lease is short, because tests wait for the end of it."""
    ownership.LEASE_SECONDS, ownership.EXTEND_SECONDS = 2.0, 0.5
    async with Ownership(url, team="T1") as owner, RedisStore(url, team="T1", owner=owner) as store:

        async def pay(slug: str) -> None:
            rt = await store.get(slug) or a_roundtable(slug, version=0)
            say("owns")
            try:
                while True:
                    rt = rt.but(version=rt.version + 1)
                    await store.put(rt, expected=rt.version - 1)
            except NotOwner:
                pass
            finally:
                say("ends")

        async def sweep() -> None:
            await owner.wake(SLUG)

        running = asyncio.create_task(owner.run(pay, sweep))
        loop = asyncio.get_running_loop()
        # What is at hand never ends by itself: cut it off.
        loop.add_signal_handler(
            signal.SIGTERM, lambda: [loop.call_later(one, running.cancel) for one in (0, 0.1)]
        )
        with suppress(asyncio.CancelledError):
            await running


async def share(url: str, teams: Sequence[str]) -> None:
    """Ten times slower than usual, so that a process that gets no CPU for a moment has its share, too."""
    ownership.EACH_SECONDS *= 10
    ownership.LONGEST_SECONDS *= 10
    ours = Share()

    async def own(team: str) -> None:
        async def sweep() -> None:
            say(team)

        async with Ownership(url, team=team, share=ours) as owner:
            await owner.run(no_work, sweep)

    async def no_work(slug: str) -> None:
        raise AssertionError(slug)

    say("ready")
    await asyncio.to_thread(sys.stdin.readline)
    await asyncio.gather(*map(own, teams))


if __name__ == "__main__":
    _, url, *teams = sys.argv
    asyncio.run(share(url, teams) if teams else work(url))
