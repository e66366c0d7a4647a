"""
Kills the owner of a team before each line of taking it, of its first request and of releasing it:
`python -m tests.contracts.killed_owner URL` prints how many there are.

The owner of the team `Tn` is killed before the n-th line that it comes to. The last one was not killed.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from itertools import count
from types import FrameType
from typing import Any

import redis

from bot.storage import ownership
from bot.storage.ownership import Ownership
from bot.storage.redis import RedisStore
from tests.patience import wait_until
from tests.storage.killed import killed
from tests.storage.samples import SLUG, a_roundtable

TICKET = "ticket"
LINES_OF = {
    "run", "_take", "_looked", "_taken", "_tell_content", "_extended", "_ended", "_release", "_keep",
    "_read_requests", "_taken_on",
}  # fmt: skip


def main(url: str) -> None:
    with redis.Redis.from_url(url) as client:
        for number in count(1):
            client.xadd(f"roundtable:{{T{number}}}:requests", {"ticket": TICKET, "request": "a request"})
            if not killed(own(url, f"T{number}", kill_before(number))):
                sys.stdout.write(f"{number}\n")
                return


async def own(url: str, team: str, trace: Callable[[FrameType, str, Any], Any] | None = None) -> None:
    """Until the work of the team is done, and what was handed over is answered."""
    async with Ownership(url, team=team) as owner, RedisStore(url, team=team, owner=owner) as store:
        done = asyncio.Event()

        async def pay(slug: str) -> None:
            rt = await store.get(slug) or a_roundtable(slug, version=0)
            await store.put(rt.but(version=rt.version + 1), expected=rt.version)
            done.set()

        async def sweep() -> None:
            await owner.wake(SLUG)

        async def answer(request: str) -> str:
            return request

        async def is_answered() -> bool:
            return not await owner._requests._redis.xlen(owner._requests._stream)

        async with owner.answering(answer):
            if trace:
                sys.settrace(trace)
            running = asyncio.create_task(owner.run(pay, sweep))
            await done.wait()
            await wait_until(is_answered)
            running.cancel()
            await asyncio.wait({running})


def kill_before(last: int) -> Callable[[FrameType, str, Any], Any]:
    seen = set[int]()

    def look(frame: FrameType, event: str, _about: Any) -> Any:
        if frame.f_code.co_filename != ownership.__file__ or frame.f_code.co_name not in LINES_OF:
            return None
        if event == "line":
            seen.add(frame.f_lineno)
        if len(seen) == last:
            os.kill(os.getpid(), signal.SIGKILL)
        return look

    return look


if __name__ == "__main__":
    main(sys.argv[1])
