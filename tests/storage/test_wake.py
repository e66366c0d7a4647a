"""Durable work survives the death of a process and an outage of Redis."""

import asyncio
import sys
from asyncio.subprocess import PIPE

import pytest

from bot.storage import tasks as wake_module
from bot.storage.tasks import DocketWake
from tests.contracts.conftest import on_docket
from tests.contracts.test_wake import working
from tests.patience import wait_until
from tests.redis_server import RedisServer

SLUG = "bright-night"
REDELIVERY_SECONDS = 1.0


async def test_another_process_goes_on_when_the_payer_is_killed(redis_url: str) -> None:
    """The unfinished task begins again, and a wake that came meanwhile is served, too."""
    payer = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.storage.payer", redis_url, str(REDELIVERY_SECONDS), stdout=PIPE
    )
    assert payer.stdout
    performed = []

    async def pay(slug: str) -> None:
        performed.append(slug)

    async with DocketWake(redis_url, redelivery_seconds=REDELIVERY_SECONDS, team="T1") as wake:
        await wake.wake(SLUG)
        assert await payer.stdout.readline() == f"{SLUG}\n".encode()
        await wake.wake(SLUG)
        payer.kill()
        await payer.wait()

        successor = asyncio.create_task(wake.run(pay))
        await wait_until(lambda: performed == [SLUG, SLUG])
        successor.cancel()
        await asyncio.wait({successor})


async def test_work_goes_on_when_redis_comes_back(redis_server: RedisServer, redis_url: str) -> None:
    """A wake during the outage is sent afterwards. One that was lost on the way to a worker is delivered again."""
    performed = []

    async def pay(slug: str) -> None:
        performed.append(slug)

    async with working(on_docket(redis_url, redelivery_seconds=REDELIVERY_SECONDS), pay) as wake:
        await wake.wake("before")
        await wait_until(lambda: performed == ["before"])

        redis_server.stop()
        await wake.wake("meanwhile")
        redis_server.start()
        await wake.wake("after")

        await wait_until(lambda: {"meanwhile", "after"} <= set(performed))


async def test_a_wake_is_bounded_while_redis_hangs(
    silent_redis_url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The caller is not delayed, and the log says that the wake is sent later."""
    monkeypatch.setattr(wake_module, "WAKE_SECONDS", 0.05)
    async with DocketWake(silent_redis_url, team="T1") as wake:
        await wake.wake(SLUG)

    assert "woken later: bright-night" in caplog.text
