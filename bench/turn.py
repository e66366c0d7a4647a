"""
CPU of one persona turn without a model: a person's words in, saved, the persona's post, all of it recorded.

Floor: a bare script that does one compare-and-set in Redis, posts once with Slack's client over one session, and
appends one line to a file. Both run in this process, in turn; Slack and Redis are in others, so only our CPU counts.
Goal: ≤ 6×.

As a rule the process took the last word in that thread, too; the second row is a thread that another process took care
of until now, or this one before it was started again: then it is found and read first.

Below them, the floor with more and more of what a turn of ours has to do, with the same libraries and none of our code:
no program that does the same can cost less.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from time import process_time

from aiohttp import ClientSession
from redis.asyncio import Redis
from slack_sdk.web.async_client import AsyncWebClient

from bench import seeds
from bench.bare_bolt import COMPARE_AND_SET
from bench.canned import HOST, TEAM
from bench.children import accepting, child
from bench.harness import NO_GOAL, Figures, Goal, Plan, Row, main
from bench.parts import Parts, parts
from bench.payloads import PERSON, stamp
from bench.workspaces import LINE
from bot.domain.roundtable.inputs import Retract, Say
from bot.domain.roundtable.state import Roundtable
from bot.domain.values.places import Person
from bot.engine.ports import now
from bot.errors import Unavailable
from bot.slack import client as slack_client
from bot.storage.ownership import Ownership
from tests.ports import free_port
from tests.redis_server import running_redis_server

FLOOR = "one compare-and-set, one post, one line"
AT_ONCE = 8
TURNS_SECONDS = 120.0


async def measure(plan: Plan) -> list[Row]:
    number = plan.size(200, 4)
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        redis = stack.enter_context(running_redis_server())
        api_url = await enter(slack_elsewhere(plan.folder))
        client = await enter(slack_client.opened("xoxb-bench", api_url=api_url))
        bare = await enter(script(api_url, redis.url, plan.folder / "meeting.jsonl"))
        bot = await enter(parts(client, redis.url, plan.folder / "workspace"))
        rows: list[Row] = []
        for what, ours in (
            ("one persona turn", Bot(bot, knows=True)),
            ("one persona turn, first in a thread", Bot(bot, knows=False)),
        ):
            rows += await plan.compare(
                what,
                floor_is=FLOOR,
                floor=lambda: cpu_of(bare, number),
                ours=partial(cpu_of, ours, number),
                goals={"cpu": Goal(at_most=6.0)},
            )
        return rows + await least(plan, bare, redis.url)


async def cpu_of(side: "Side", number: int) -> Figures:
    """Milliseconds for each, of this process with all its threads; what only waits costs nothing."""
    held = seeds.copies(seeds.elaborating(), number)
    await side.prepare(held)
    left = iter(held)

    async def some() -> None:
        for rt in left:
            await side.turn(rt)

    began = process_time()
    async with asyncio.timeout(TURNS_SECONDS):
        await asyncio.gather(*(some() for _ in range(AT_ONCE)))
    spent = process_time() - began
    await side.check(held)
    return {"cpu": spent * 1000 / number}


async def least(plan: Plan, bare: "Script", redis_url: str) -> list[Row]:
    number = plan.size(200, 4)
    rows: list[Row] = []
    async with woken(bare, redis_url) as durable:
        for what, side in (
            ("the least: three calls of Slack", Promised(bare, saves=1)),
            ("the least: three calls of Slack, three saves", Promised(bare, saves=3)),
            ("the least: three calls of Slack, three saves, a durable wake", durable),
        ):
            rows += await plan.compare(
                what,
                floor_is=FLOOR,
                floor=lambda: cpu_of(bare, number),
                ours=partial(cpu_of, side, number),
                goals={"cpu": NO_GOAL},
            )
    return rows


@asynccontextmanager
async def slack_elsewhere(folder: Path) -> AsyncIterator[str]:
    port, log = free_port(), folder / "slack.log"
    async with child("-m", "bench.canned", str(port), env={}, log=log) as running:
        await accepting(port, running, log)
        yield f"http://{HOST}:{port}/api/"


@asynccontextmanager
async def script(api_url: str, redis_url: str, transcript: Path) -> AsyncIterator["Script"]:
    async with Redis.from_url(redis_url) as redis, ClientSession() as session:
        client = AsyncWebClient("xoxb-bench", base_url=api_url, session=session, retry_handlers=[])
        yield Script(client, redis, transcript)


class Script:
    def __init__(self, client: AsyncWebClient, redis: Redis, transcript: Path) -> None:
        self._client = client
        self._save = redis.register_script(COMPARE_AND_SET)
        self._transcript = transcript

    async def prepare(self, held: list[Roundtable]) -> None:
        pass

    async def turn(self, rt: Roundtable) -> None:
        await self.save(rt.slug, json.dumps({"slug": rt.slug, "turn": stamp()}))
        await self.post(rt)
        self.note()

    async def save(self, key: str, state: str | bytes) -> None:
        assert await self._save(keys=[key], args=["", state])

    async def post(self, rt: Roundtable) -> None:
        place = rt.place
        await self._client.chat_postMessage(channel=place.channel, thread_ts=place.thread, text="I see.")

    async def mark(self, rt: Roundtable) -> None:
        """That a person was heard: an emoji on their message, and the menu before it loses its buttons."""
        channel = rt.place.channel
        await self._client.reactions_add(channel=channel, timestamp=rt.place.thread, name="speech_balloon")
        await self._client.chat_update(channel=channel, ts=rt.place.thread, text="I see.")

    def note(self) -> None:
        with self._transcript.open("a", encoding="utf-8") as file:
            file.write(LINE)

    async def check(self, held: list[Roundtable]) -> None:
        pass


class Promised:
    """
    The script, with the calls that people see, and the state saved after the input, before the post and after it: then
    nothing is lost or said twice. *saves* says how many of those are made.
    """

    def __init__(self, script: Script, *, saves: int) -> None:
        self._script = script
        self._saves = saves
        self._states: dict[str, bytes] = {}

    async def prepare(self, held: list[Roundtable]) -> None:
        self._states = {rt.slug: rt.model_dump_json().encode() for rt in held}
        self._held = {rt.slug: rt for rt in held}

    async def turn(self, rt: Roundtable) -> None:
        await self.heard(rt.slug)
        await self.answered(rt.slug)

    async def heard(self, slug: str) -> None:
        await self._script.save(f"{slug}.1", self._states[slug])

    async def answered(self, slug: str) -> None:
        rt = self._held[slug]
        await self._script.mark(rt)
        if self._saves > 1:
            await self._script.save(f"{slug}.2", self._states[slug])
        await self._script.post(rt)
        if self._saves > 2:
            await self._script.save(f"{slug}.3", self._states[slug])
        self._script.note()

    async def check(self, held: list[Roundtable]) -> None:
        pass


class Woken(Promised):
    """The work after the input is also a durable task, which another process takes over after a crash."""

    def __init__(self, script: Script, wake: Ownership) -> None:
        super().__init__(script, saves=3)
        self._wake = wake
        self._ended: dict[str, asyncio.Event] = {}

    async def prepare(self, held: list[Roundtable]) -> None:
        await super().prepare(held)
        self._ended = {rt.slug: asyncio.Event() for rt in held}

    async def turn(self, rt: Roundtable) -> None:
        await self.heard(rt.slug)
        await self._wake.wake(rt.slug)
        await self._ended[rt.slug].wait()

    async def pay(self, slug: str) -> None:
        await self.answered(slug)
        self._ended[slug].set()


@asynccontextmanager
async def woken(script: Script, redis_url: str) -> AsyncIterator[Woken]:
    elsewhere = redis_url.removesuffix("/0") + "/1"  # where the bot does not look for work
    async with Ownership(elsewhere, team=TEAM) as wake:
        durable = Woken(script, wake)
        working = asyncio.create_task(wake.run(durable.pay))
        try:
            yield durable
        finally:
            working.cancel()
            with suppress(asyncio.CancelledError):
                await working


class Bot:
    """*knows* says whether the threads are known to the process before the turn."""

    def __init__(self, parts: Parts, *, knows: bool) -> None:
        self._parts = parts
        self._knows = knows

    async def prepare(self, held: list[Roundtable]) -> None:
        await seeds.saved(self._parts.store, held)
        for rt in held if self._knows else ():
            gone = _taken_back(rt)
            while not await _taken(self._parts.desk.hear(rt.place, gone)):
                pass
            ended = self._parts.payments.of(rt.slug)
            await ended.wait()  # its one effect: to look up the name of that person
            ended.clear()

    async def turn(self, rt: Roundtable) -> None:
        said = _words(rt)
        while not await _taken(self._parts.desk.hear(rt.place, said)):
            pass
        await self._parts.payments.of(rt.slug).wait()

    async def check(self, held: list[Roundtable]) -> None:
        ended = await self._parts.store.get(held[-1].slug)
        assert ended, "it is still there"
        assert not ended.outbox, "every effect was performed"
        assert ended.elaboration, "the floor is open"
        assert ended.elaboration.turn_count == seeds.elaborating_turns() + 2, "a person and one persona spoke"


Side = Script | Promised | Bot


async def _taken(work: Awaitable[object]) -> bool:
    """False when Redis did not answer in time, as on a busy machine: Slack would deliver it again."""
    try:
        await work
    except Unavailable:
        return False
    return True


def _taken_back(rt: Roundtable) -> Retract:
    """A message that we never saw."""
    ts = stamp()
    key = f"deleted.{rt.place.channel}.{ts}"
    return Retract(key=key, at=now(), person=Person(id=PERSON, name="Ada"), ts=ts)


def _words(rt: Roundtable) -> Say:
    ts = stamp()
    person = Person(id=PERSON, name="Ada")
    return Say(key=f"{rt.place.channel}.{ts}", at=now(), person=person, text=seeds.TO_ONE_PERSONA, ts=ts)


if __name__ == "__main__":
    main("turn", measure)
