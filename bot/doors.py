"""
How others get in: Slack, over sockets or HTTP, and whoever wants to know how we are.

The second door opens first and closes last: a bot that waits for Slack, or is about to end, can still be asked.
"""

import asyncio
import logging
import math
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TypeVar

from pydantic import SecretStr
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.engine.clock import now
from bot.engine.ports import Store, Workspace
from bot.engine.queue import Queue
from bot.errors import ConfigError, SlackError
from bot.metrics import Facts, Metrics
from bot.settings import Settings
from bot.slack.app import slack_app
from bot.slack.endpoint import PATH, http_handler
from bot.slack.reception import Reception
from bot.slack.sockets import Sockets
from bot.web import Entrance, Probe, Unfit, serving

T = TypeVar("T")
log = logging.getLogger(__name__)

OVERDUE_SECONDS = 300.0
"""Slack's worst minutes and every retry but a post's are over by then: somebody has to look."""
ANSWER_SECONDS = 1.0
"""What Slack delivered before we stop is saved and answered in; what is not, Slack delivers again."""
PATIENCE_SECONDS = 300.0
FIRST_WAIT_SECONDS = 1.0
LONGEST_WAIT_SECONDS = 30.0

Shut = Callable[[], Awaitable[None]]


class Doors:
    def __init__(self, settings: Settings, *, store: Store, workspace: Workspace) -> None:
        self.metrics = Metrics()
        self._settings = settings
        self._census = store.stages
        self._entrance = Entrance()
        self._probes: dict[str, Probe] = {
            "store": store.ping,
            "workspace": workspace.ping,
            "queue": _paid_in_time(Queue(store, now)),
            "slack": _shut("not connected to Slack yet"),
        }

    def serving(self) -> AbstractAsyncContextManager[None]:
        """For those who ask how we are; over HTTP also for Slack, which is refused until `opened`."""
        slack = {} if self._settings.slack_app_token else {PATH: self._entrance.enter}
        return serving(
            self._settings.host,
            self._settings.port,
            probes=self._probes,
            slack=slack,
            metrics=self.metrics,
            census=self._census,
        )

    @asynccontextmanager
    async def opened(self, client: AsyncWebClient, reception: Reception) -> AsyncIterator[None]:
        """Slack comes in. On leaving nothing more does, and what is inside is answered."""
        secret, token = self._settings.slack_signing_secret, self._settings.slack_app_token
        words = secret.get_secret_value() if secret else ""
        app = slack_app(client, reception, signing_secret=words, meter=self.metrics)
        shut = await self._over_sockets(app, client, token) if token else self._over_http(app)
        try:
            yield
        finally:
            self._probes["slack"] = _shut("the bot is stopping")
            await shut()

    async def _over_sockets(self, app: AsyncApp, client: AsyncWebClient, token: SecretStr) -> Shut:
        sockets = Sockets(app, client, app_token=token.get_secret_value())
        await answered(sockets.connect, refusal="Slack refused SLACK_APP_TOKEN")
        self._probes["slack"] = _heard(sockets)
        return lambda: sockets.close(seconds=ANSWER_SECONDS)

    def _over_http(self, app: AsyncApp) -> Shut:
        """Whether Slack can reach us only Slack knows; that it cannot shows as silence in the metrics."""
        self._entrance.open(http_handler(app))
        self._probes["slack"] = _let_in
        return lambda: self._entrance.close(seconds=ANSWER_SECONDS)


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


def _heard(sockets: Sockets) -> Probe:
    async def probe() -> Facts:
        age = sockets.hello_age()
        facts = {"hello_age_seconds": age} if math.isfinite(age) else {}
        if not await sockets.is_connected():
            raise Unfit("no connection to Slack", facts)
        return facts

    return probe


def _paid_in_time(queue: Queue) -> Probe:
    async def probe() -> Facts:
        waiting = await queue.waiting()
        facts = waiting._asdict()
        if waiting.oldest_seconds > OVERDUE_SECONDS:
            raise Unfit(f"an effect has been owed for {waiting.oldest_seconds:.0f} s", facts)
        return facts

    return probe


async def _let_in() -> None:
    return


def _shut(sentence: str) -> Probe:
    async def probe() -> None:
        raise Unfit(sentence, {})

    return probe
