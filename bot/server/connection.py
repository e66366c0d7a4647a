"""
How others get in: Slack, over sockets or HTTP, and whoever wants to know how we are.

The second door opens first and closes last: a bot that waits for Slack, or is about to end, can still be asked.
"""

import asyncio
import logging
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from pydantic import SecretStr
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.engine.clock import now
from bot.engine.engine import Queue
from bot.engine.ports import Store, Wake, Workspace
from bot.engine.roundtables import Hears
from bot.errors import ConfigError, SlackError
from bot.server import review_webhook
from bot.server.http import Entrance, Posted, Probe, Unfit, health, received, serving
from bot.server.loop_lag import Pulse
from bot.server.metrics import Facts, Metrics
from bot.server.payer import Payer
from bot.server.review_webhook import Postbox
from bot.settings import Settings
from bot.slack.app import slack_app
from bot.slack.endpoint import PATH, SlackRequests
from bot.slack.health import Standing
from bot.slack.reception import Reception
from bot.slack.sockets import Sockets

T = TypeVar("T")
log = logging.getLogger(__name__)

ANSWER_SECONDS = 1.0
"""What Slack delivered before we stop is saved and answered in; what is not, Slack delivers again."""
PATIENCE_SECONDS = 300.0
FIRST_WAIT_SECONDS = 1.0
LONGEST_WAIT_SECONDS = 30.0

Shut = Callable[[], Awaitable[None]]


class Doors:
    def __init__(self, settings: Settings, *, store: Store, workspace: Workspace, wake: Wake) -> None:
        """*wake* is what this process pays by: `payer` is the same, and looked at."""
        self.metrics = Metrics()
        self.standing = Standing()
        self.payer = Payer(wake, alone=settings.redis_url is None)
        self._hears: Hears = _nothing_yet
        self._pulse = Pulse()
        self._settings = settings
        self._census = store.stages
        self._entrance = Entrance()
        self._postbox = Entrance()
        self._probes: dict[str, Probe] = {
            "store": store.ping,
            "workspace": workspace.ping,
            "queue": _owed(Queue(store, now), self.payer),
            "loop": self._lag,
            "slack": _shut("not connected to Slack yet"),
        }

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """For those who ask how we are, at an address of its own: none of it belongs on the internet."""
        asked = serving(
            self._settings.health_host,
            self._settings.health_port,
            get=health(self._probes, metrics=self.metrics, census=self._census),
            setting="ROUNDTABLE_HEALTH_PORT",
        )
        async with asked, _beside(self._pulse.run()):
            yield

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """For Slack, without Socket Mode, and for reviews of other programs: refused until they are `opened`."""
        if not self._settings.takes_requests:
            yield
            return
        post = {} if self._settings.slack_app_token else {PATH: self._entrance.enter}
        if self._settings.review_secret:
            post[review_webhook.PATH] = self._postbox.enter
        async with serving(self._settings.host, self._settings.port, post=post):
            yield

    @asynccontextmanager
    async def taking_reviews(self, postbox: Postbox, owed: Queue) -> AsyncIterator[None]:
        """From other programs. On leaving, nothing more is taken, and what is inside is answered."""
        self._postbox.open(received(Posted(postbox)))
        self._probes["reviews"] = _waiting(owed)
        try:
            yield
        finally:
            del self._probes["reviews"]
            await self._postbox.close(seconds=ANSWER_SECONDS)

    @asynccontextmanager
    async def opened(self, client: AsyncWebClient, reception: Reception) -> AsyncIterator[None]:
        """Slack comes in. On leaving nothing more does, and what is inside is answered."""
        token = self._settings.slack_app_token
        app = slack_app(client, reception, meter=self.metrics)
        shut = await self._over_sockets(app, client, token) if token else self._over_http(app)
        try:
            async with _beside(self.standing.watch(client.auth_test)):
                yield
        finally:
            self._hears = _nothing_yet
            self._probes["slack"] = _shut("the bot is stopping")
            await shut()

    async def _over_sockets(self, app: AsyncApp, client: AsyncWebClient, token: SecretStr) -> Shut:
        sockets = Sockets(app, client, app_token=token.get_secret_value())
        await answered(sockets.connect, refusal="Slack refused SLACK_APP_TOKEN")
        self._probes["slack"] = self._on_terms(_heard(sockets))
        self._hears = sockets.is_connected
        return lambda: sockets.close(seconds=ANSWER_SECONDS)

    def _over_http(self, app: AsyncApp) -> Shut:
        """Whether Slack can reach us only Slack knows; that it cannot shows as silence in the metrics."""
        secret = self._settings.slack_signing_secret
        slack = SlackRequests(app, signing_secret=secret.get_secret_value() if secret else "")
        self._entrance.open(received(slack))
        self._hears = _always
        self._probes["slack"] = self._on_terms(_let_in)
        return lambda: self._entrance.close(seconds=ANSWER_SECONDS)

    async def hears(self) -> bool:
        """Whether what people do in Slack reaches us just now, as far as we can know."""
        return await self._hears()

    def _on_terms(self, connected: Probe) -> Probe:
        """That Slack can be heard is no use while it takes nothing of us."""

        async def probe() -> Facts:
            ahead, refusal = self.standing.clock_ahead, self.standing.refusal
            facts: dict[str, float] = {"shut_out": bool(refusal)}
            facts |= {} if ahead is None else {"clock_ahead_seconds": ahead}
            problem = refusal
            try:
                facts |= await connected() or {}
            except Unfit as unfit:
                problem, facts = problem or str(unfit), facts | dict(unfit.facts)
            if problem:
                raise Unfit(problem, facts)
            return facts

        return probe

    async def _lag(self) -> Facts:
        return {"lag_seconds": self._pulse.lag_seconds}


@asynccontextmanager
async def _beside(watching: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    task = asyncio.create_task(watching)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})


async def answered(ask: Callable[[], Awaitable[T]], *, refusal: str) -> T:
    """
    What Slack answers, once it does. A refusal is final; and after minutes of silence an orchestrator may know a
    better place for us than we do.
    """
    loop = asyncio.get_running_loop()
    until, wait = loop.time() + PATIENCE_SECONDS, FIRST_WAIT_SECONDS
    while True:
        try:
            return await ask()
        except SlackError as error:
            if not error.again:
                raise ConfigError(f"{refusal}: {error}") from error
            pause = error.after_seconds or wait
            if loop.time() + pause > until:
                raise ConfigError(f"Slack cannot be reached: {error}") from error
            log.warning("Slack does not answer; it is asked again in %.0f s: %s", pause, error)
        await asyncio.sleep(pause)
        wait = min(LONGEST_WAIT_SECONDS, wait * 2)


async def _nothing_yet() -> bool:
    return False


async def _always() -> bool:
    return True


def _heard(sockets: Sockets) -> Probe:
    async def probe() -> Facts:
        age = sockets.hello_age()
        facts = {"hello_age_seconds": age} if math.isfinite(age) else {}
        if not await sockets.is_connected():
            raise Unfit("no connection to Slack", facts)
        return facts

    return probe


def _owed(queue: Queue, payer: Payer) -> Probe:
    """What is owed is everybody's: one roundtable that stands still must not make every process unready."""

    async def probe() -> Facts:
        waiting = await queue.waiting()
        facts = waiting._asdict()
        if reason := payer.unable(oldest_seconds=waiting.oldest_seconds):
            raise Unfit(reason, facts)
        return facts

    return probe


def _waiting(queue: Queue) -> Probe:
    async def probe() -> Facts:
        return (await queue.waiting())._asdict()

    return probe


async def _let_in() -> None:
    return


def _shut(sentence: str) -> Probe:
    async def probe() -> None:
        raise Unfit(sentence, {})

    return probe
