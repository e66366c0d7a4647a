"""Write access to Redis is no way to run code in the bot, and foreign messages do not stop it."""

import asyncio
import base64
import json
import logging
import os
import pickle
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import redis.asyncio as redis
from docket import Docket, Execution

from bot.engine.engine import run
from bot.storage.tasks import DocketWake, key_for, name_for
from tests.contracts.conftest import on_docket
from tests.contracts.test_wake import working
from tests.engine.replica import discussing, replica
from tests.patience import PATIENCE_SECONDS, wait_until
from tests.storage.samples import OWED

NAME = name_for("T1")
GROUP = "docket-workers"
STREAM = f"{NAME}:stream"
QUEUE = f"{NAME}:queue"
SLUG = "bright-night"
REDELIVERY_SECONDS = 1.0
ODD: list[dict[str, str | bytes]] = [
    {},
    {"key": b"\xff\xfe"},
    {"function": "no_such_task"},
    {"function": "sleep"},
    {"attempt": "soon"},
    {"attempt": "9" * 500},
    {"generation": "-1"},
    {"key": "a#b"},
    {"key": "\n" + key_for(SLUG)},
    {"key": "__safeguard__:" + key_for(SLUG)},
]


class Harm:
    """Unpickled, it makes a folder."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self._path),)


@pytest.fixture
def harmed(tmp_path: Path) -> Path:
    """It exists once something was unpickled."""
    return tmp_path / "harmed"


@pytest.fixture
def harm(harmed: Path) -> bytes:
    return pickle.dumps(Harm(harmed))


def ran(harmed: Path) -> bool:
    return harmed.exists()


def message(key: str, harm: bytes, **fields: str | bytes) -> dict[Any, Any]:
    """As docket writes one, but for its arguments."""
    when = datetime.now(UTC).isoformat()
    return {
        "key": key,
        "when": when,
        "function": "pay",
        "args": harm,
        "kwargs": harm,
        "attempt": "1",
        "generation": "1",
        **fields,
    }


async def plant(client: Any, harm: bytes) -> None:
    """In every place that docket, or a part of it that we do not use, unpickles from."""
    await client.xgroup_create(STREAM, GROUP, mkstream=True, id="0")
    await client.xadd(STREAM, message("an-older-version", harm))
    await client.xadd(STREAM, message(key_for("planted"), harm))
    await client.xadd(
        STREAM, message("__safeguard__:" + key_for("planted"), harm, function="_safeguard_wake")
    )
    for odd in ODD:
        await client.xadd(STREAM, message("odd", harm) | odd if odd else {"nothing": "of it"})
    await client.xreadgroup(GROUP, "a worker that died", {STREAM: ">"}, count=2)

    later = message("scheduled-by-an-older-version", harm)
    await client.hset(f"{NAME}:{later['key']}", mapping=later)
    await client.zadd(QUEUE, {later["key"]: 1})

    parked = message("parked-by-an-older-version", harm)
    await client.xadd(f"{NAME}:concurrency:slug:{SLUG}:waiters", parked)
    await client.hset(f"{NAME}:runs:{parked['key']}", mapping={"state": "scheduled", "generation": 1})
    await client.xadd(
        f"{NAME}:strikes", {"direction": "strike", "function": "pay", "value": harm, "operator": "=="}
    )
    for key in (parked["key"], "planted"):
        said = json.dumps({"value": {"data": base64.b64encode(harm).decode()}})
        await client.set(f"{NAME}:results:{key}", said)
        await client.hset(
            f"{NAME}:runs:{key}", mapping={"args": harm, "kwargs": harm, "result_key": key, "error": harm}
        )


async def test_nothing_in_redis_is_unpickled(
    redis_url: str, harm: bytes, harmed: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """New entries, entries that another worker left, scheduled and parked ones, strikes and results."""
    performed: list[str] = []

    async def pay(slug: str) -> None:
        performed.append(slug)

    async with redis.Redis.from_url(redis_url) as client:
        await plant(client, harm)
        async with working(on_docket(redis_url, redelivery_seconds=REDELIVERY_SECONDS), pay) as wake:
            await wake.wake(SLUG)
            await wait_until(lambda: SLUG in performed)
            async with asyncio.timeout(PATIENCE_SECONDS):
                while await client.xlen(STREAM) or await client.zcard(QUEUE):
                    await wake.wake(SLUG)
                    await wait_until(lambda: performed[-1] == SLUG)

    assert not ran(harmed)
    assert set(performed) <= {SLUG, "planted"}
    assert "this version did not write" in caplog.text
    assert "Traceback" not in caplog.text


async def test_the_planted_messages_are_harmful(redis_url: str, harm: bytes, harmed: Path) -> None:
    """Docket by itself runs what they hold; otherwise the test above would prove nothing."""
    async with Docket(NAME, redis_url) as docket:
        docket.register(_never, ["pay"])
        found = {name.encode(): _bytes(one) for name, one in message("any", harm).items()}
        with suppress(FileExistsError):
            await Execution.from_message(docket, found, sync=False)
    assert ran(harmed)


async def test_entries_of_an_older_version_are_removed_with_one_line(
    redis_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Their keys hold no slug. Their work is still in the outbox, and the sweep wakes it."""
    performed: list[str] = []

    async def pay(slug: str) -> None:
        performed.append(slug)

    async with Docket(NAME, redis_url) as docket:
        docket.register(_never, ["pay"])
        for number in range(5):
            await docket.add("pay")(f"item-{number}")
            await docket.add("pay", when=datetime.now(UTC) + timedelta(milliseconds=1))(f"later-{number}")
    async with redis.Redis.from_url(redis_url) as client, working(on_docket(redis_url), pay) as wake:
        await wake.wake(SLUG)
        await wait_until(lambda: performed == [SLUG])
        async with asyncio.timeout(PATIENCE_SECONDS):
            while await client.xlen(STREAM) or await client.zcard(QUEUE):
                await wake.wake(SLUG)

    assert set(performed) == {SLUG}
    lines = [one for one in caplog.records if one.levelno >= logging.WARNING]
    assert {one.name for one in lines} == {"bot.storage.tasks"}


async def test_what_an_older_version_left_unfinished_is_finished(redis_url: str) -> None:
    """Its task is removed; the sweep finds the filled outbox in the store."""
    async with Docket(NAME, redis_url) as older:
        older.register(_never, ["pay"])
        await older.add("pay")(SLUG)
    async with DocketWake(redis_url, team="T1") as wake, replica(redis_url, wake=wake) as one:
        left = discussing().rt.but(slug=SLUG, version=1, outbox=OWED)
        await one.store.put(left, expected=0)
        running = asyncio.create_task(run(wake, one.engine))
        async with asyncio.timeout(PATIENCE_SECONDS):
            while (await one.stored(left)).outbox:
                await one.store.ping()
        running.cancel()
        await asyncio.wait({running})


def test_a_message_is_made_anew_from_its_key(redis_url: str) -> None:
    """Nothing else in it is passed on."""
    docket = DocketWake(redis_url, team="T1")._docket
    key = key_for("review:any slug")
    made = docket.message_of({name.encode(): _bytes(one) for name, one in message(key, b"evil").items()})

    assert made is not None
    assert pickle.loads(made[b"args"]) == ("review:any slug",)  # noqa: S301 -- our own
    assert pickle.loads(made[b"kwargs"]) == {}  # noqa: S301 -- our own
    assert made[b"key"].decode() == key


def _bytes(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else value


async def _never(slug: str) -> None:
    raise AssertionError(slug)
