"""
How long Slack waits for an acknowledgement, when everything was saved in Redis before.

Floor: a Bolt app as in Bolt's documentation, whose listeners acknowledge and do nothing; it runs beside the bot, and
is asked the same things in turn. There is no goal: Slack waits for three seconds, and what people feel is in
`bench.first_sign`. For buttons and commands, Bolt looks only every 10 ms whether a listener has acknowledged.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

from redis.asyncio import Redis

from bench import seeds
from bench.canned import TEAM, CannedSlack
from bench.children import BARE_APP, BOT_APP, accepting, bare_settings, bot_settings, child, cpu_seconds
from bench.harness import NO_GOAL, Figures, Goal, Plan, Row, Run, main, timings
from bench.load import Send, closed_loop, over_http, over_sockets
from bench.payloads import Payload, command
from bench.workspaces import workspace
from bot.domain.messages.message import Action
from bot.domain.roundtable.state import Roundtable
from bot.slack.transport import CONNECTIONS
from bot.storage.redis import RedisStore
from bot.storage.team import prefix
from tests.redis_server import running_redis_server

CONCURRENT = (1, 16, 64)
MESSAGE_GOALS = {"p50": NO_GOAL, "p99": NO_GOAL, "cpu": NO_GOAL}
BUTTON_GOALS = {"p50": NO_GOAL, "cpu": NO_GOAL}
SAVING_APP = "saving"
FLOOR = "a Bolt app that only acknowledges"
ITEMS = 10
SETTLING_SECONDS = 0.1
SAVED_AT_LEAST = 0.9
"""A click that cannot be saved within Redis's half second is answered with a sentence: a starved machine has some."""

_titles = count(1)


@dataclass(frozen=True, slots=True)
class Beside:
    """The bot and a bare Bolt app, both connected, and where people for either come from."""

    slack: CannedSlack
    store: RedisStore
    redis_url: str
    bot_process: int
    bare_process: int
    saving_process: int
    bot_port: int
    bare_port: int
    saving_port: int

    async def asked(self, app: str, asked: "Asked", *, concurrent: int) -> Figures:
        """How long each waited, and the CPU that the app spent on it: that hardly depends on who else is busy."""
        payloads = asked.payloads
        process = {BOT_APP: self.bot_process, BARE_APP: self.bare_process}.get(app, self.saving_process)
        async with self.people(app, concurrent) as send:
            await closed_loop(send, asked.before)
            await asyncio.sleep(SETTLING_SECONDS)
            before = cpu_seconds(process)
            waited = timings(await closed_loop(send, payloads))
            return {**waited, "cpu": (cpu_seconds(process) - before) * 1000 / len(payloads)}

    async def queueing(self) -> int:
        """How many roundtables have a filled outbox; in this measurement nothing performs it."""
        async with Redis.from_url(self.redis_url) as redis:
            return int(await redis.scard(f"{prefix(TEAM)}owing"))

    @asynccontextmanager
    async def people(self, app: str, concurrent: int) -> AsyncIterator[list[Send]]:
        if not self.bare_port:
            yield over_sockets(self.slack, app, concurrent)
            return
        port = {BOT_APP: self.bot_port, BARE_APP: self.bare_port}.get(app, self.saving_port)
        async with over_http(port, concurrent) as send:
            yield send


@asynccontextmanager
async def beside(
    plan: Plan, slack: CannedSlack, redis_url: str, *, http: bool, module: str
) -> AsyncIterator[Beside]:
    """*module* is how the bot is run: `bot`, or `bench.taking`."""
    root = workspace(plan.folder / f"{'http' if http else 'sockets'}-{module}", ITEMS)
    bot, bare = bot_settings(slack, root, redis_url, http=http), bare_settings(slack, http=http)
    saving = {**bare_settings(slack, http=True), "REDIS_URL": redis_url}
    async with AsyncExitStack() as stack:

        async def run(*program: str, env: Mapping[str, str], port: str) -> tuple[int, int]:
            log = plan.folder / f"{root.name}-{len(list(plan.folder.iterdir()))}.log"
            running = await stack.enter_async_context(child("-m", *program, env=env, log=log))
            if port:
                await accepting(int(port), running, log)
            return running.pid, int(port or 0)

        store = await stack.enter_async_context(RedisStore(redis_url, team=TEAM))
        bot_process, bot_port = await run(
            module, "run", env=bot, port=bot["ROUNDTABLE_PORT" if http else "ROUNDTABLE_HEALTH_PORT"]
        )
        bare_process, bare_port = await run("bench.bare_bolt", env=bare, port=bare["PORT"])
        saving_process, saving_port = await run("bench.bare_bolt", env=saving, port=saving["PORT"])
        if not http:
            await slack.connected(BOT_APP, sockets=CONNECTIONS)
            await slack.connected(BARE_APP, sockets=1)
        yield Beside(
            slack=slack,
            store=store,
            redis_url=redis_url,
            bot_process=bot_process,
            bare_process=bare_process,
            saving_process=saving_process,
            bot_port=bot_port,
            bare_port=bare_port,
            saving_port=saving_port,
        )


class Asked(NamedTuple):
    """What is measured, and what the app has taken *before*: so it knows the thread, as the one that held it so far."""

    payloads: Sequence[Payload]
    before: Sequence[Payload] = ()


Ask = Callable[[RedisStore, int], Awaitable[Asked]]
"""So many payloads, for roundtables that are in the store by then."""


async def messages(store: RedisStore, number: int) -> Asked:
    """In threads whose last word this process took, too."""
    asked, held = await _words(store, number)
    return Asked(asked, [seeds.deletion_in(rt) for rt in held])


async def first_messages(store: RedisStore, number: int) -> Asked:
    """In threads that another process took care of until now, or this one before it was started again."""
    asked, _ = await _words(store, number)
    return Asked(asked)


async def _words(store: RedisStore, number: int) -> tuple[list[Payload], list[Roundtable]]:
    held = seeds.copies(seeds.discussing(), number)
    await seeds.saved(store, held)
    words = "It has to work without a network for a whole shift."
    return [seeds.words_for(rt, words) for rt in held], held


async def buttons(store: RedisStore, number: int) -> Asked:
    held = seeds.copies(seeds.elaborating(), number)
    await seeds.saved(store, held)
    return Asked([seeds.press_on(rt, Action.GO_ON) for rt in held], [seeds.deletion_in(rt) for rt in held])


async def commands(_store: RedisStore, number: int) -> Asked:
    return Asked(
        [command(f"C{each % seeds.CHANNELS:03}", f"start Item {next(_titles)}") for each in range(number)]
    )


class Kind(NamedTuple):
    name: str
    ask: Ask
    goals: Mapping[str, Goal]


KINDS = (
    Kind("message", messages, MESSAGE_GOALS),
    Kind("message, first in a thread", first_messages, MESSAGE_GOALS),
    Kind("button", buttons, BUTTON_GOALS),
    Kind("command", commands, BUTTON_GOALS),
)


async def measure(plan: Plan) -> list[Row]:
    rows: list[Row] = []
    with running_redis_server() as redis:
        for http in (True,) if plan.quick else (True, False):
            async with (
                CannedSlack() as slack,
                beside(plan, slack, redis.url, http=http, module="bench.taking") as both,
            ):
                rows += await acknowledged(plan, both, "HTTP" if http else "Socket Mode")
                rows += await least(plan, both) if http else []
    return rows


async def acknowledged(plan: Plan, both: Beside, how: str, *, kinds: Sequence[Kind] = KINDS) -> list[Row]:
    rows: list[Row] = []
    for name, ask, goals in kinds:
        for concurrent in CONCURRENT[: plan.size(3, 1)]:
            floor, ours = runs(both, ask, number=plan.size(150 + 16 * concurrent, 5), concurrent=concurrent)
            what = f"{name}, {how}, {concurrent} at once"
            rows += await plan.compare(what, floor_is=FLOOR, floor=floor, ours=ours, goals=goals)
    return rows


async def least(plan: Plan, both: Beside) -> list[Row]:
    """What one compare-and-set in Redis alone makes of the floor, with the same libraries: no goal is below that."""
    rows: list[Row] = []
    for concurrent in CONCURRENT[: plan.size(3, 1)]:
        number = plan.size(150 + 16 * concurrent, 5)
        bare, _ = runs(both, messages, number=number, concurrent=concurrent)

        async def saving(number: int = number, concurrent: int = concurrent) -> Figures:
            return await both.asked(SAVING_APP, await messages(both.store, number), concurrent=concurrent)

        what, goals = (
            f"one compare-and-set, HTTP, {concurrent} at once",
            dict.fromkeys(MESSAGE_GOALS, NO_GOAL),
        )
        rows += await plan.compare(what, floor_is=FLOOR, floor=bare, ours=saving, goals=goals)
    return rows


def runs(both: Beside, ask: Ask, *, number: int, concurrent: int) -> tuple[Run, Run]:
    """The bare app and the bot, asked the same."""

    async def bare() -> Figures:
        return await both.asked(BARE_APP, await ask(both.store, number), concurrent=concurrent)

    async def ours() -> Figures:
        asked = await ask(both.store, number)
        before = await both.queueing()
        figures = await both.asked(BOT_APP, asked, concurrent=concurrent)
        saved = await both.queueing() - before
        print(f"{saved} of {number} were saved; the others were told to try again", file=sys.stderr)
        assert saved >= SAVED_AT_LEAST * number, "what is measured is saving"
        return figures

    return bare, ours


if __name__ == "__main__":
    main("acknowledge", measure)
