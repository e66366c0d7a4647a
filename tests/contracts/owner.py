"""Saves all the time while it owns the team, and says so: `python -m tests.contracts.owner URL`."""

import asyncio
import signal
import sys
from contextlib import suppress

from bot.errors import NotOwner
from bot.storage.ownership import Ownership
from bot.storage.redis import RedisStore
from tests.storage.samples import SLUG, a_roundtable


def say(words: str) -> None:
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()


async def work(url: str) -> None:
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


if __name__ == "__main__":
    asyncio.run(work(sys.argv[1]))
