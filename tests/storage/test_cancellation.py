"""A cancellation is not lost, in whatever moment of a call it comes."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from bot.storage.redis import RedisStore

MOMENTS = 60
"""Turns of the event loop; more than one call takes."""


@pytest.mark.usefixtures("patient")
async def test_a_call_of_the_store_can_be_cancelled(redis_url: str) -> None:
    """Otherwise a task that runs until it is cancelled would never end."""
    async with RedisStore(redis_url, team="T1") as store:
        await cancelled_everywhere(store.ping)


async def cancelled_everywhere(call: Callable[[], Awaitable[None]]) -> None:
    """Once connected, a call takes the same number of turns of the loop each time until it sends."""
    await call()
    for moment in range(MOMENTS):
        calling = asyncio.ensure_future(call())
        for _ in range(moment):
            await asyncio.sleep(0)
        if calling.cancel():
            await asyncio.wait({calling})
            assert calling.cancelled(), f"it went on, cancelled in moment {moment}"
