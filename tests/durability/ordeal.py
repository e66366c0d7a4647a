"""
One meeting, or several, with bots that are killed all the while; and what has to be true at the end of it.

What is killed when comes from one seed, so that the same ordeal can be had again. It is not the same to the
millisecond: two processes and a kernel take part. The story tells what was done.
"""

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random

import redis

from tests.all_steps import all_steps
from tests.durability import checks
from tests.durability.checks import Item
from tests.durability.places import Places
from tests.durability.plan import Killed, Plan, Verdict
from tests.durability.processes import Nursery, Process, wait_until
from tests.durability.story import told
from tests.durability.team import CHANNEL, Team, together
from tests.durability.trap import EFFECTS, LOOKS, POSTS, TOO_MANY, UNAVAILABLE, Order, Trap, When
from tests.durability.watch import Watch
from tests.oracle import unlike
from tests.patience import PATIENCE_SECONDS
from tests.ports import free_port

HOSTS = ("127.0.0.1", "localhost")
"""Two names of one address: so that the sandbox can tell two bots apart."""
CHANCE_SECONDS = 3.0
"""How long we wait for an occasion to kill, before we make one."""
NAMES = ("Alpha rollout", "Bravo rollout", "Charlie rollout")
REFUSALS = (TOO_MANY, TOO_MANY, UNAVAILABLE)
IN_THE_WAIT, IN_THE_LOOK = 0.2, 0.2
RETRY_SECONDS = 9.0
"""After a 503, the bot waits until nothing can land any more."""
LOOK_SECONDS = 0.2
STANDSTILLS = (1.0, 3.0, 9.0)
"""Not long enough to be missed, long enough, and so long that another has waited, looked and posted."""
GIT_LOCKS = ("index.lock", "HEAD.lock", "refs/heads/main.lock")


class Ordeal:
    def __init__(self, plan: Plan, folder: Path) -> None:
        self.plan = plan
        self.verdict = Verdict(plan)
        self._chance = Random(plan.seed)
        self._folder = folder
        assert plan.replicas == 1 or not plan.http, "there is one request URL"
        self._request_port = free_port()
        self._places = Places(folder, HOSTS[: plan.replicas], remote=plan.remote)
        self._trap = Trap()
        self._bots: dict[str, Process] = {}
        self._births = 0
        self._over = False
        self._teams = [
            Team(self._trap.slack, name, Random(f"{plan.seed} {name}"), self._dying)
            for name in NAMES[: plan.meetings]
        ]
        slugs = tuple(team.slug for team in self._teams)
        self._watches = [Watch(root, plan.redis_url, slugs) for root in self._places.roots]
        self._watch, *_ = self._watches

    async def run(self) -> Verdict:
        loop = asyncio.get_running_loop()
        began = loop.time()
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._trap.slack)
            self._nursery = await stack.enter_async_context(Nursery(self.plan.planted))
            with suppress(BaseExceptionGroup, TimeoutError):
                await self._held()
            self._note_problems()
            self.verdict.story = told(self.verdict, self._teams, self._places.record(), self._logs)
        self.verdict.seconds = loop.time() - began
        return self.verdict

    @property
    def _logs(self) -> list[Path]:
        return sorted(self._folder.glob("bot-*.log"))

    async def _held(self) -> None:
        try:
            for host in HOSTS[: self.plan.replicas]:
                await self._begin(host)
            async with asyncio.TaskGroup() as all_of_it:
                watching = [all_of_it.create_task(watch.run()) for watch in self._watches]
                killing = all_of_it.create_task(self._kill())
                await together(self._teams)
                await killing
                await self._settled()
                for one in watching:
                    one.cancel()
            await self._end()
        except BaseExceptionGroup as errors:
            self.verdict.wrong += [f"{type(one).__name__}: {one}" for one in _leaves(errors)]
            raise
        except TimeoutError as error:
            self.verdict.wrong.append(str(error))
            raise

    def _dying(self) -> float:
        """How far it has come; 1 only when the last of the dead has a successor."""
        return 1.0 if self._over else min(self.verdict.kills / self.plan.kills, 0.99)

    def _note_problems(self) -> None:
        verdict = self.verdict
        verdict.wrong += [sentence for watch in self._watches for sentence in watch.wrong]
        verdict.steps = sum(team.steps for team in self._teams)
        verdict.said = sum(len(team.said) for team in self._teams)
        verdict.wrong += checks.of_channel(self._trap.slack.messages(CHANNEL))
        for team in self._teams:
            item = Item(self._places.record(), team.slug)
            if (item.folder / "planning" / "meeting.jsonl").exists():
                verdict.wrong += checks.of_meeting(item, team.thread, team.said, lost_until=team.lost_until)
        verdict.wrong += unlike(self._places.record(), all_steps())
        verdict.wrong += self._places.wrong(store_lost=bool(self.plan.flushes))

    async def _settled(self) -> None:
        """Nothing is owed any more, and nothing is on its way."""
        await wait_until(lambda: not self._trap.on_their_way, seconds=PATIENCE_SECONDS, what="late posts")
        await wait_until(
            lambda: not self._watch.queueing(), seconds=PATIENCE_SECONDS, what="everything is paid"
        )
        await wait_until(
            lambda: not self._places.unpushed(),
            seconds=PATIENCE_SECONDS,
            what="everything is pushed",
            every=LOOK_SECONDS,
        )

    async def _end(self) -> None:
        for host, process in self._bots.items():
            await self._stop(host, process)

    # --- birth and death ------------------------------------------------------------------------------------------

    async def _begin(self, host: str) -> None:
        """A bot, up and listening."""
        self._births += 1
        slack = self._trap.slack
        env = {
            "SLACK_API_URL": slack.api_url.replace(HOSTS[0], host),
            "SLACK_BOT_TOKEN": slack.bot_token,
            **self._transport(),
            "ROUNDTABLE_HEALTH_PORT": str(free_port()),
            "ROUNDTABLE_STEPS": all_steps(),
            **self._places.env(host),
        }
        if self.plan.redis_url:
            env["REDIS_URL"] = self.plan.redis_url
        log = self._folder / f"bot-{self._births:03}.log"
        process = await self._nursery.bear(env, log=log, fresh=self.plan.fresh)
        self._bots[host] = process
        try:
            await wait_until(
                lambda: not process.alive or (log.exists() and "is listening" in log.read_text()),
                seconds=PATIENCE_SECONDS,
                what=f"a bot that listens ({log.name})",
            )
        except TimeoutError:
            await process.confess()
            raise
        if not process.alive:
            code = process.ended.result()
            raise TimeoutError(f"a bot ended with {code} instead of listening: {log.read_text()[-800:]}")
        if self.plan.http and self._births == 1:
            assert await slack.use_http(f"http://{host}:{self._request_port}/slack/events")

    def _transport(self) -> Mapping[str, str]:
        """How Slack reaches a bot: the request URL stays the same for each successor."""
        slack = self._trap.slack
        if self.plan.http:
            return {
                "SLACK_SIGNING_SECRET": slack.signing_secret,
                "ROUNDTABLE_PORT": str(self._request_port),
            }
        return {"SLACK_APP_TOKEN": slack.app_token, "ROUNDTABLE_PORT": str(free_port())}

    async def _kill(self) -> None:
        loop, flushes = asyncio.get_running_loop(), self.plan.flushes
        while self.verdict.kills < self.plan.kills:
            kind = self._chance.choice(self.plan.kinds)
            began = loop.time()
            host, how = await getattr(self, f"_{kind}")()
            code = await self._bots[host].ended
            self.verdict.killed.append(Killed(how, code, loop.time() - began))
            if code not in {0, -9}:
                self.verdict.wrong.append(f"a bot ended with {code}: {self._bots[host].log.name}")
            if self.plan.replicas > 1:
                await self._moment(self._chance.random())
            lost = flushes and self.verdict.kills >= self.plan.kills // 2
            if lost:
                flushes -= 1
                self._flush()
            await self._begin(host)
            if lost:
                await self._bring_back()
        self._over = True

    async def _api(self) -> tuple[str, str]:
        """At a call to Slack: every effect that people see is one."""
        struck: asyncio.Future[str] = asyncio.get_running_loop().create_future()

        def strike(host: str) -> None:
            self._bots[host].kill()
            struck.set_result(host)

        if self._chance.random() < self.plan.lost_answers:
            lost = Order(when=When.LOST, nth=0, strike=_nobody, methods=POSTS)
            self._trap.arm(lost)
            with suppress(TimeoutError):
                await wait_until(lambda: not self._trap.armed, seconds=CHANCE_SECONDS, what="a post")
        when, nth = self._chance.choice(self.plan.moments), self._chance.randrange(7)
        methods = POSTS if when is When.LATE else EFFECTS
        seconds = self._chance.choice((0, 0.001, 0.004, 0.01))
        self._trap.arm(Order(when=when, nth=nth, strike=strike, seconds_after=seconds, methods=methods))
        with suppress(TimeoutError):
            await wait_until(struck.done, seconds=CHANCE_SECONDS, what="a call")
        if not struck.done():
            self._trap.arm(None)
            return await self._clock()
        return struck.result(), f"api {when}"

    async def _retry(self) -> tuple[str, str]:
        """In what follows when Slack has refused a post: the wait, the look for it, or the attempt after that."""
        refused: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        status = self._chance.choice(REFUSALS)
        self._trap.arm(
            Order(when=When.REFUSED, nth=0, strike=refused.set_result, methods=POSTS, status=status)
        )
        with suppress(TimeoutError):
            await wait_until(refused.done, seconds=CHANCE_SECONDS, what="a post")
        if not refused.done():
            self._trap.arm(None)
            return await self._clock()
        host, key = refused.result(), self._trap.refused
        if self._chance.random() < IN_THE_WAIT:
            await self._moment(self._chance.random())
            self._bots[host].kill()
            return host, f"retry {status} wait"
        when = self._chance.choice(self.plan.moments)
        return await self._retried(Order(when=when, nth=0, strike=_nobody, methods=POSTS, host=host, key=key))

    async def _retried(self, order: Order) -> tuple[str, str]:
        """The very same post once more, by the same process; or it dies while it looks whether that stands there."""
        struck: asyncio.Future[str] = asyncio.get_running_loop().create_future()

        def strike(host: str) -> None:
            self._bots[host].kill()
            struck.set_result(host)

        if self._chance.random() < IN_THE_LOOK:
            order = replace(order, methods=LOOKS, key="")
        self._trap.arm(replace(order, strike=strike))
        with suppress(TimeoutError):
            await wait_until(struck.done, seconds=RETRY_SECONDS, what="another attempt")
        if not struck.done():
            self._trap.arm(None)
            return await self._clock()
        return struck.result(), f"retry {order.when}"

    async def _clock(self) -> tuple[str, str]:
        await self._moment(self._chance.random() * 0.8)
        return self._struck("clock")

    async def _write(self) -> tuple[str, str]:
        """While somebody's turn in the workspace lasts: files, index, commit, branch."""
        with suppress(TimeoutError):
            await wait_until(self._places.writing, seconds=CHANCE_SECONDS, what="a commit")
        writing = self._places.writing()
        await self._moment(self._chance.random() * 0.03)
        return self._struck("write", among=writing)

    async def _locks(self) -> tuple[str, str]:
        """As `_write`, and git's locks are left behind, as happens in one kill of ten."""
        host, _ = await self._write()
        await self._bots[host].ended
        if (self._places.of(host) / ".roundtable" / "turn").exists():
            for name in GIT_LOCKS:
                (self._places.of(host) / ".git" / name).touch()
        return host, "locks"

    async def _reset(self) -> tuple[str, str]:
        """As `_write`, and then the workspace goes back by some commits, as with `git reset --hard`."""
        host, _ = await self._write()
        await self._bots[host].ended
        root = self._places.of(host)
        there = len(checks.commits(root))
        checks.git(
            root, "reset", "--quiet", "--hard", f"HEAD~{min(self._chance.randint(1, 3), max(there - 1, 0))}"
        )
        self._watch.goes_back()
        return host, "reset"

    async def _push(self) -> tuple[str, str]:
        """When a clone has something that the remote has not, or when the remote has just got it."""
        before = self._places.moves()
        with suppress(TimeoutError):
            await wait_until(lambda: self._places.moves() != before, seconds=CHANCE_SECONDS, what="a commit")
        moved = [host for host, at in self._places.moves().items() if host and before.get(host) != at]
        await self._moment(self._chance.random() * 0.06)
        return self._struck("push", among=moved)

    async def _save(self) -> tuple[str, str]:
        """Just after a save: what it owes is not paid, who caused it has no acknowledgement."""
        await self._a_save()
        await self._moment(self._chance.choice((0, 0, 0.003)))
        return self._struck("save")

    async def _a_save(self) -> None:
        before = self._watch.saves()
        with suppress(TimeoutError):
            await wait_until(lambda: self._watch.saves() != before, seconds=CHANCE_SECONDS, what="a save")

    async def _freeze(self) -> tuple[str, str]:
        """It is thought dead, another takes over, and then it goes on for a while with what it was doing."""
        await self._a_save()
        host = self._chance.choice([*self._bots])
        self._bots[host].freeze()
        await self._moment(self._chance.choice(STANDSTILLS))
        self._bots[host].thaw()
        await self._moment(self._chance.random() * 2)
        self._bots[host].kill()
        return host, "freeze"

    async def _spoken(self) -> tuple[str, str]:
        """When the bot has just been told something."""
        before = len(self._trap.slack.deliveries)
        with suppress(TimeoutError):
            await wait_until(
                lambda: len(self._trap.slack.deliveries) > before, seconds=CHANCE_SECONDS, what="an event"
            )
        await self._moment(self._chance.random() * 0.015)
        return self._struck("spoken")

    async def _acked(self) -> tuple[str, str]:
        """At the very moment that the bot says it has heard somebody: from then on, nothing reminds it."""
        before = self._heard()
        with suppress(TimeoutError):
            await self._trap.slack.until(lambda: self._heard() > before, seconds=CHANCE_SECONDS)
        return self._struck("acked")

    def _heard(self) -> int:
        said = (one for one in self._trap.slack.events("message") if "bot_id" not in one.event)
        return sum(one.acked for one in said)

    async def _term(self) -> tuple[str, str]:
        await self._moment(self._chance.random() * 0.5)
        host = self._chance.choice([*self._bots])
        await self._stop(host, self._bots[host])
        return host, "term"

    def _struck(self, how: str, *, among: Iterable[str] = ()) -> tuple[str, str]:
        host = self._chance.choice([*among] or [*self._bots])
        self._bots[host].kill()
        return host, how

    async def _stop(self, host: str, process: Process) -> None:
        try:
            code = await process.stop()
        except TimeoutError as error:
            self.verdict.wrong.append(f"{host}: {error} ({process.log.name})")
            await process.ended
            return
        if code:
            self.verdict.wrong.append(f"SIGTERM ended with {code}: {process.log.name}")

    def _flush(self) -> None:
        """The store forgets everything."""
        with redis.Redis.from_url(self.plan.redis_url) as client:
            client.flushall()
        for team in self._teams:
            if team.thread:
                team.upset = team.lost_until = team.thread[-1].ts

    async def _bring_back(self) -> None:
        for team in self._teams:
            if team.lost_until:
                await team.bring_back(partial(self._watch.thread, team.slug))
                team.lost_until = team.thread[-1].ts

    async def _moment(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        await wait_until(lambda: loop.time() >= until, seconds=seconds + 1, what="a moment")


def _nobody(_host: str) -> None:
    """It lives on."""


def _leaves(errors: BaseExceptionGroup[BaseException]) -> list[BaseException]:
    return [
        leaf
        for one in errors.exceptions
        for leaf in (_leaves(one) if isinstance(one, BaseExceptionGroup) else [one])
    ]
