"""
What the bot serves: Slack (Socket Mode or HTTP), reviews of other programs, coding agents, GitHub's webhook, and health
at an address of its own.

Health is served first and last, so it answers while the bot waits for Slack, or stops.
"""

import asyncio
import logging
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, nullcontext
from functools import cache
from typing import Any, Protocol, TypeVar

from aiohttp import web as http
from pydantic import SecretStr
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.engine.engine import Queue
from bot.engine.ports import Store, Wake, Workspace, now
from bot.errors import ConfigError, SlackError, Unavailable
from bot.log import ThrottledWarning
from bot.server import github_webhook, review_webhook
from bot.server.github_webhook import SignedByGitHub
from bot.server.health import (
    Census,
    Found,
    LoopLag,
    Probe,
    Team,
    Unfit,
    WatchedWorker,
    every_team,
    health,
    measured,
    run_probe,
    sometimes,
)
from bot.server.http import NOTHING, Gate, Handler, Route, SlackRoute, read_body, received, serving
from bot.server.known_agents import KnownAgents
from bot.server.metrics import Facts, Metrics
from bot.server.review_webhook import ReviewWebhook, SignedReviews
from bot.settings import Settings, revealed
from bot.slack.app import slack_app
from bot.slack.client import SlackHealth
from bot.slack.handing_over import Owner, answering
from bot.slack.reception import Reception
from bot.slack.transport import PATH, SlackRequests, Sockets

T = TypeVar("T")
log = logging.getLogger(__name__)

ANSWER_SECONDS = 1.0
"""At the end, for saving and answering running deliveries; Slack repeats the events that are not answered."""
GIVE_UP_SECONDS = 300.0
FIRST_WAIT_SECONDS = 1.0
LONGEST_WAIT_SECONDS = 30.0

AGENTS_PATH = "/mcp"
NOT_OPEN = "not open yet: Slack has to say first for which workspace"
STOPPING = "the bot is stopping"

NO_TEAM = "This Slack workspace is not served here.\n"


class Teams(Protocol):
    """Several, each with endpoints of its own."""

    async def serves(self, team: str) -> bool: ...

    def endpoints(self, team: str) -> "AbstractAsyncContextManager[Endpoints | None]":
        """Of a team that is served. It stays open meanwhile; None when it could not be opened in time."""
        ...


class Endpoints:
    """The store and the queue are a team's, so they are only there once Slack has said which team it is."""

    def __init__(self, settings: Settings, *, metrics: Metrics, workspace: Workspace | None = None) -> None:
        self.metrics = metrics
        self.slack_health = SlackHealth()
        self._is_open = False
        self._sockets: Sockets | None = None
        self._loop_lag = LoopLag()
        self._teams: Callable[[], Sequence[Team]] = tuple
        self._settings = settings
        self._census: Census = _nothing_counted
        self._entrance = SlackRoute()
        self.postbox = SlackRoute()
        self.agents = SlackRoute()
        self.tracker = SlackRoute()
        self._probes: dict[str, Probe] = {
            "store": _unfit(NOT_OPEN),
            "workspace": sometimes(workspace.ping) if workspace else _unfit(NOT_OPEN),
            "queue": _unfit(NOT_OPEN),
            "slack": _unfit("not connected to Slack yet"),
        }

    @contextmanager
    def of_team(self, team: str, *, store: Store, wake: Wake) -> Iterator[WatchedWorker]:
        """Inside, the state of *team* is shown. Yields what performs its effects."""
        worker = WatchedWorker(wake, alone=self._settings.redis_url is None)
        self.metrics.team = team
        self._census = store.stages
        self._probes |= {"store": sometimes(store.ping), "queue": _queue(Queue(store, now), worker)}
        try:
            yield worker
        finally:
            self._census = _nothing_counted
            self._probes |= {"store": _unfit(STOPPING), "queue": _unfit(STOPPING)}

    def showing(self, part: str, probe: Probe) -> None:
        """A part that is no reason to be unready."""
        self._probes[part] = probe

    async def _counted(self) -> Mapping[str, int]:
        return await self._census()

    def of_several(
        self,
        teams: Callable[[], Sequence[Team]],
        *,
        store: Callable[[], Awaitable[None]],
        workspaces: Callable[[], Awaitable[None]],
    ) -> None:
        """Each of *teams* has a store, a workspace and a queue of its own, which its metrics show."""
        self._probes |= {
            "store": sometimes(store),
            "workspace": every_team("workspace", teams, sometimes(workspaces)),
            "queue": every_team("queue", teams, _nothing_waits),
        }
        self._teams = teams

    async def look_at_part(self, part: str) -> Found:
        return await run_probe(part, self._probes[part])

    def _served(self) -> Sequence[Team]:
        return self._teams()

    async def looked(self) -> Metrics:
        """At every part: what the metrics say is as of now."""
        return await measured(self._probes, self.metrics, self._counted)

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """Health and metrics, at an address of their own, because they do not belong on the internet."""
        self._probes["loop"] = self._lag
        asked = serving(
            self._settings.health_host,
            self._settings.health_port,
            get=health(self._probes, metrics=self.metrics, census=self._counted, teams=self._served),
            setting="ROUNDTABLE_HEALTH_PORT",
        )
        async with asked, beside(self._loop_lag.run()):
            yield

    @asynccontextmanager
    async def serving(
        self, get: Mapping[str, Handler] = NOTHING, *, web: bool = True, teams: Teams | None = None
    ) -> AsyncIterator[None]:
        """
        HTTP for Slack (without Socket Mode), reviews, agents and GitHub; refused until `opened`, `taking_reviews` and
        `taking`. *get* is for browsers. Without *web*, only where something has to be served. What other programs send
        to several *teams* has the team in the path.
        """
        settings = self._settings
        is_needed = web or not settings.slack_app_token or settings.agent_keys or settings.github_secret
        if not is_needed or not settings.takes_requests:
            yield
            return
        post: dict[str, Handler] = {}
        if not self._settings.slack_app_token:
            post[PATH] = self._entrance.enter
        if self._settings.review_secret:
            post |= self._entered(review_webhook.PATH, lambda one: one.postbox, _signed_reviews, teams)
        if self._settings.agent_keys:
            post |= self._entered(AGENTS_PATH, lambda one: one.agents, _known_agents, teams)
        if self._settings.github_secret:
            post |= self._entered(github_webhook.PATH, lambda one: one.tracker, _signed_by_github, teams)
        async with serving(self._settings.host, self._settings.port, get=get, post=post):
            yield

    def _entered(
        self,
        path: str,
        route: "Callable[[Endpoints], SlackRoute]",
        gate_of: Callable[[Settings], Gate | None],
        teams: Teams | None,
    ) -> Mapping[str, Handler]:
        """Of several teams, one is opened for what came through its gate, and for nothing else."""
        if teams is None:
            return {path: route(self).enter}

        @cache
        def gate_at(team: str) -> Gate | None:
            return gate_of(self._settings.of_team(team))

        async def enter(request: http.Request) -> http.StreamResponse:
            team = request.match_info["team"]
            try:
                gate = gate_at(team) if await teams.serves(team) else None
                if gate is None:
                    return http.Response(status=404, text=NO_TEAM)
            except Unavailable as error:
                log.warning("a request for %s was refused: %s", team, error)
                return await SlackRoute().enter(request)
            body = await read_body(request, gate)
            if refused := gate.forged(request, body) if isinstance(body, bytes) else body:
                return refused
            async with teams.endpoints(team) as found:
                return await (route(found) if found else SlackRoute()).enter(request)

        return {path + "/{team}": enter}

    @asynccontextmanager
    async def taking_reviews(self, postbox: ReviewWebhook, queue: Queue) -> AsyncIterator[None]:
        """Of other programs."""
        async with self.taking(postbox, self.postbox):
            self._probes["reviews"] = _queue(queue)
            try:
                yield
            finally:
                del self._probes["reviews"]

    def taking(self, route: Route, entrance: SlackRoute) -> AbstractAsyncContextManager[None]:
        """At the end, no more are accepted, and running ones are answered."""
        return entrance.opened(received(route), seconds=ANSWER_SECONDS)

    @asynccontextmanager
    async def opened(
        self, client: AsyncWebClient, reception: Reception, owner: Owner | None
    ) -> AsyncIterator[None]:
        """Accepts Slack's deliveries. At the end, no more are accepted, and running ones are answered."""
        app = slack_app(client, reception, meter=self.metrics, owner=owner)
        handed_over = answering(app, owner) if owner else nullcontext()
        async with handed_over, self.accepting(app, client), self.calling(client):
            yield

    @asynccontextmanager
    async def accepting(self, app: AsyncApp, client: AsyncWebClient) -> AsyncIterator[None]:
        """`opened`, for an app that may have no token: whether Slack accepts our calls is not looked at."""
        token = self._settings.slack_app_token
        async with self._over_sockets(app, client, token) if token else self._over_http(app):
            self._is_open = True
            try:
                async with self._showing_slack():
                    yield
            finally:
                self._is_open = False

    @asynccontextmanager
    async def calling(self, client: AsyncWebClient) -> AsyncIterator[None]:
        """Shows whether Slack accepts the calls of a team."""
        async with beside(self.slack_health.watch(client.auth_test)), self._showing_slack():
            yield

    @asynccontextmanager
    async def _showing_slack(self) -> AsyncIterator[None]:
        self._probes["slack"] = self._slack
        try:
            yield
        finally:
            self._probes["slack"] = _unfit(STOPPING)

    @asynccontextmanager
    async def _over_sockets(
        self, app: AsyncApp, client: AsyncWebClient, token: SecretStr
    ) -> AsyncIterator[None]:
        self._sockets = sockets = Sockets(app, client, app_token=token.get_secret_value())
        await answered(sockets.connect, refusal="Slack refused SLACK_APP_TOKEN")
        try:
            yield
        finally:
            await sockets.close(seconds=ANSWER_SECONDS)

    def _over_http(self, app: AsyncApp) -> AbstractAsyncContextManager[None]:
        """We cannot see whether Slack reaches us; that it does not shows only in the metrics."""
        slack = SlackRequests(app, signing_secret=revealed(self._settings.slack_signing_secret))
        return self._entrance.opened(received(slack), seconds=ANSWER_SECONDS)

    async def hears(self) -> bool:
        """Whether Slack's deliveries reach us now, as far as we can see."""
        return self._is_open and (self._sockets is None or await self._sockets.is_connected())

    async def _slack(self) -> Facts:
        """Unfit without a connection, and while Slack refuses our calls."""
        ahead, problem = self.slack_health.clock_ahead, self.slack_health.refusal
        facts: dict[str, float] = {"shut_out": bool(problem)}
        facts |= {} if ahead is None else {"clock_ahead_seconds": ahead}
        if self._sockets:
            age = self._sockets.hello_age()
            facts |= {"hello_age_seconds": age} if math.isfinite(age) else {}
            if not await self._sockets.is_connected():
                problem = problem or "no connection to Slack"
        if problem:
            raise Unfit(problem, facts)
        return facts

    async def _lag(self) -> Facts:
        return {"lag_seconds": self._loop_lag.seconds}


@asynccontextmanager
async def beside(watching: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    task = asyncio.create_task(watching)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})


async def answered(ask: Callable[[], Awaitable[T]], *, refusal: str) -> T:
    """
    Slack's answer, retried for some minutes. A refusal is final, and so is a longer silence: the orchestrator may then
    start the bot elsewhere.
    """
    loop = asyncio.get_running_loop()
    until, wait = loop.time() + GIVE_UP_SECONDS, FIRST_WAIT_SECONDS
    while True:
        try:
            return await ask()
        except SlackError as error:
            if not error.again:
                raise ConfigError(f"{refusal}: {error}") from error
            pause = error.after_seconds or wait
            if loop.time() + pause > until:
                raise ConfigError(f"Slack cannot be reached: {error}") from error
            log.warning("Slack does not answer; the next attempt is in %.0f s: %s", pause, error)
        await asyncio.sleep(pause)
        wait = min(LONGEST_WAIT_SECONDS, wait * 2)


async def _nothing_counted() -> Mapping[str, int]:
    raise Unavailable(NOT_OPEN)


def _signed_reviews(settings: Settings) -> Gate:
    return SignedReviews(secret.get_secret_value() for secret in settings.review_secret)


def _known_agents(settings: Settings) -> Gate:
    assert settings.agent_keys, "it is served where it is set"
    return KnownAgents(settings.agent_keys, warnings=ThrottledWarning(log))


def _signed_by_github(settings: Settings) -> Gate | None:
    """None for a team that GitHub is not for."""
    secret = revealed(settings.github_secret)
    return SignedByGitHub(secret) if secret else None


def _queue(queue: Queue, worker: WatchedWorker | None = None) -> Probe:
    """The queue is shared: one roundtable that waits must not make every process unready."""

    async def probe() -> Facts:
        waiting = await queue.waiting()
        facts = {
            "owing": waiting.unfinished,
            "oldest_seconds": waiting.oldest_seconds,
        }  # as dashboards know them
        if worker and (reason := worker.problem(oldest_seconds=waiting.oldest_seconds)):
            raise Unfit(reason, facts)
        return facts

    return probe


async def _nothing_waits() -> None: ...


def _unfit(sentence: str) -> Probe:
    async def probe() -> None:
        raise Unfit(sentence, {})

    return probe
