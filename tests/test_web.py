"""What can be asked over HTTP about a bot that runs, and who is let in."""

import asyncio
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from bot.errors import ConfigError, Unavailable
from bot.server.health import PROBE_SECONDS, LoopLag, Probe, Unfit, health, sometimes
from bot.server.http import SlackRoute, serving
from bot.server.metrics import Metrics
from tests.patience import wait_until


async def fine() -> None:
    return


async def talkative() -> Mapping[str, float]:
    return {"hello_age_seconds": 1.23456}


async def away() -> None:
    raise Unavailable("Redis did not answer: no answer in time")


async def silent() -> None:
    await asyncio.Event().wait()


async def uncounted() -> Mapping[str, int]:
    return {}


@asynccontextmanager
async def site(port: int, probes: Mapping[str, Probe], **more: Any) -> AsyncIterator[aiohttp.ClientSession]:
    async with (
        serving(
            "127.0.0.1",
            port,
            post=more.pop("post", {}),
            get=health(probes, **{"metrics": Metrics("T1"), "census": uncounted, **more}),
        ),
        aiohttp.ClientSession(f"http://127.0.0.1:{port}") as client,
    ):
        yield client


async def test_readiness_names_every_part_and_what_it_knows_of_itself(port: int) -> None:
    """Ready is when all of them are."""
    async with site(port, {"store": fine, "slack": talkative}) as client, client.get("/readyz") as response:
        assert response.status == 200
        assert await response.json() == {
            "ready": True,
            "parts": {"store": {"ok": True}, "slack": {"ok": True, "hello_age_seconds": 1.235}},
        }


async def test_a_part_that_is_away_makes_the_bot_unready_and_not_dead(port: int) -> None:
    """A restart would bring no Redis back. Parts that come later, such as the connection to Slack, are asked too."""
    probes: dict[str, Probe] = {"store": away, "workspace": fine}
    async with site(port, probes) as client:
        async with client.get("/readyz") as response:
            assert response.status == 503
            parts = (await response.json())["parts"]
        async with client.get("/healthz") as response:
            assert response.status == 200
        probes |= {"store": fine, "slack": fine}
        async with client.get("/readyz") as response:
            assert (response.status, len((await response.json())["parts"])) == (200, 3)

    assert parts["store"] == {"ok": False, "reason": "Redis did not answer: no answer in time"}
    assert parts["workspace"] == {"ok": True}


async def test_the_log_has_the_cause_that_the_answer_leaves_out(
    port: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Without it nothing says why a part could not be used."""

    async def unreadable() -> None:
        raise Unavailable("It could not be read.") from OSError(5, "Input/output error")

    probes = {"workspace": unreadable, "store": away}
    async with site(port, probes) as client, client.get("/readyz") as response:
        parts = (await response.json())["parts"]

    assert parts["workspace"] == {"ok": False, "reason": "It could not be read."}
    told = [(one.levelname, one.getMessage()) for one in caplog.records if one.name == "bot.server.health"]
    why = "workspace cannot be used: It could not be read. (OSError(5, 'Input/output error'))"
    assert told == [("WARNING", why)]


async def test_a_part_that_says_nothing_is_not_waited_for(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who asks gets an answer within the time that orchestrators allow."""
    monkeypatch.setattr("bot.server.health.READY_SECONDS", 0.05)
    async with site(port, {"store": silent}) as client, client.get("/readyz") as response:
        assert response.status == 503
        assert (await response.json())["parts"]["store"]["reason"] == "no answer in time"


async def test_a_part_tells_its_numbers_also_when_they_are_bad(port: int) -> None:
    """Both for people and for Prometheus."""

    async def overdue() -> None:
        raise Unfit("an effect has been owed for 400 s", {"oldest_seconds": 400.0, "owing": 2})

    async with site(port, {"queue": overdue}) as client:
        async with client.get("/readyz") as response:
            part = (await response.json())["parts"]["queue"]
        async with client.get("/metrics") as response:
            text = await response.text()

    assert part == {
        "ok": False,
        "reason": "an effect has been owed for 400 s",
        "oldest_seconds": 400.0,
        "owing": 2,
    }
    assert 'roundtable_queue_oldest_seconds{team="T1"} 400.0' in text
    assert 'roundtable_usable{part="queue"} 0.0' in text


async def test_metrics_are_counted_and_looked_for_when_they_are_asked(port: int) -> None:
    """Open roundtables are counted in the store, for all processes; if that is away, nobody knows."""
    metrics, known = Metrics("T1"), True

    async def census() -> Mapping[str, int]:
        if not known:
            raise Unavailable("away")
        return {"discussing": 3, "analysed": 7}

    metrics.conflicted()
    async with site(port, {}, metrics=metrics, census=census) as client:
        async with client.get("/metrics") as response:
            assert response.content_type == "text/plain"
            text = await response.text()
        known = False
        async with client.get("/metrics") as response:
            later = await response.text()

    assert 'roundtable_conflicts_total{team="T1"} 1.0' in text
    assert 'roundtable_open_roundtables{stage="discussing",team="T1"} 3.0' in text
    assert 'roundtable_open_roundtables{stage="elaborating",team="T1"} 0.0' in text
    assert "analysed" not in text
    assert 'roundtable_open_roundtables{stage="discussing",team="T1"} NaN' in later


async def test_a_port_that_is_taken_is_said_in_a_sentence(port: int) -> None:
    """With the setting that chooses another one."""
    async with site(port, {}):
        with pytest.raises(ConfigError, match="Set ROUNDTABLE_PORT to a free port"):
            async with site(port, {}):
                pass


async def test_slack_is_let_in_only_while_there_is_somebody_to_listen(port: int) -> None:
    """Before and after, it is told to come again; a delivery that is inside already is still answered."""
    inside, may_leave = asyncio.Event(), asyncio.Event()

    async def handler(_request: web.Request) -> web.Response:
        inside.set()
        await may_leave.wait()
        return web.Response(text="saved")

    entrance = SlackRoute()
    async with site(port, {}, post={"/slack/events": entrance.enter}) as client:
        async with client.post("/slack/events") as early:
            assert early.status == 503

        opened = entrance.opened(handler, seconds=5)
        await opened.__aenter__()
        delivery = asyncio.create_task(client.post("/slack/events"))
        await inside.wait()
        closing = asyncio.create_task(opened.__aexit__(None, None, None))
        await asyncio.sleep(0)
        async with client.post("/slack/events") as late:
            assert late.status == 503

        may_leave.set()
        await closing
        response = await delivery
        assert (response.status, await response.text()) == (200, "saved")


async def test_a_delivery_that_takes_too_long_holds_up_no_stop(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slack has given up on it long before."""
    monkeypatch.setattr("bot.server.http.SHUTDOWN_SECONDS", 0.01)
    entrance = SlackRoute()
    inside = asyncio.Event()

    async def stuck(_request: web.Request) -> web.Response:
        inside.set()
        await asyncio.Event().wait()
        raise AssertionError

    async with site(port, {}, post={"/slack/events": entrance.enter}) as client:
        async with entrance.opened(stuck, seconds=0.01):
            delivery = asyncio.create_task(client.post("/slack/events"))
            await inside.wait()
        delivery.cancel()
        await asyncio.wait({delivery})


async def test_what_worked_a_moment_ago_is_not_asked_again() -> None:
    """A probe writes to a disk. After a failure each request asks, so that it is ready as soon as it can be."""
    asked: list[str] = []
    fails, now = [True, True, False, False], [100.0]

    async def probe() -> None:
        asked.append("again")
        if fails.pop(0):
            raise Unavailable("The disk is full.")

    probed = sometimes(probe, clock=lambda: now[0])
    for _ in range(2):
        with pytest.raises(Unavailable):
            await probed()
    await probed()
    await probed()
    assert len(asked) == 3
    now[0] += PROBE_SECONDS
    await probed()
    assert len(asked) == 4


async def test_a_loop_that_was_kept_waiting_is_seen_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    """The worst of the last minute, so that a look every half a minute misses nothing; at first none."""
    monkeypatch.setattr("bot.server.health.BEAT_SECONDS", 0.01)
    lag, blocked_seconds = LoopLag(), 0.3
    assert lag.seconds == 0
    beating = asyncio.create_task(lag.run())
    await asyncio.sleep(0)

    threading.Event().wait(blocked_seconds)  # nothing else can run
    await wait_until(lambda: lag.seconds > blocked_seconds / 2)

    beating.cancel()
    await asyncio.wait({beating})
    assert lag.seconds > blocked_seconds / 2
