"""What redis-py forgets, and does not forget here: with several servers only, where it sends within a time limit."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from docket import Docket

from bot.storage.redis import RedisStore
from bot.storage.tasks import docket_at

MOMENTS = 60
"""More than a call has; the last ones come after its end."""


@pytest.fixture(params=["sentinel", "cluster"])
def url(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(f"{request.param}_url"))


async def test_a_call_of_docket_can_be_cancelled(url: str) -> None:
    """Otherwise a lease is renewed for ever after, and whoever waits for its end holds the worker, for good."""

    async def called(docket: Docket) -> None:
        async with docket.redis() as client:
            await client.set("called", "1")

    async with docket_at(url, "cancelled") as docket:
        await cancelled_everywhere(lambda: called(docket))


@pytest.mark.usefixtures("patient")
async def test_a_call_of_the_store_can_be_cancelled(url: str) -> None:
    """Otherwise whatever runs until it is cancelled never ends."""
    async with RedisStore(url) as store:
        await cancelled_everywhere(store.ping)


async def cancelled_everywhere(call: Callable[[], Awaitable[None]]) -> None:
    """Who is connected takes the same number of turns of the loop each time, up to the moment in which it sends."""
    await call()
    for moment in range(MOMENTS):
        calling = asyncio.ensure_future(call())
        for _ in range(moment):
            await asyncio.sleep(0)
        if calling.cancel():
            await asyncio.wait({calling})
            assert calling.cancelled(), f"it went on, cancelled in moment {moment}"
