"""
The Bolt app: every payload is known to be for us, authorised without a call, brought to a listener, and then
acknowledged.
"""

import logging
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.logger.messages import warning_client_prioritized_and_token_skipped
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient

from bot.engine.ports import Meter, Unmetered
from bot.slack.client import Identity
from bot.slack.listeners import register
from bot.slack.parse import MALFORMED, Payload, flaw, foreign
from bot.slack.reception import Reception

OK = 200
MOST_NOTED = 100
DOORS = {
    "app_rate_limited": "app_rate_limited",
    "block_actions": "action",
    "message_action": "shortcut",
    "shortcut": "shortcut",
}

log = logging.getLogger(__name__)


def slack_app(client: AsyncWebClient, reception: Reception, *, meter: Meter | None = None) -> AsyncApp:
    """
    Bolt would acknowledge events before their listener ran, and would drop them, acknowledged, while `auth.test`
    fails. So the response comes after the listener, and who we are is known beforehand.

    It believes whatever it is given: what comes by HTTP is verified by `endpoint`, before Bolt sees it.
    """
    with _without_advice():
        app = _App(
            meter or Unmetered(),
            reception.us,
            name="roundtable",
            client=_tokenless(client),
            authorize=_authorize(reception.us),
            request_verification_enabled=False,
            process_before_response=True,
            ignoring_self_events_enabled=False,  # `parse` does, along with those of other bots
            raise_error_for_unhandled_request=True,  # else it would be a 404, which Slack repeats
            attaching_conversation_kwargs_enabled=False,
        )
    register(app, reception)
    return app


class _App(AsyncApp):
    """
    Times what Slack waits for. A middleware could not: Bolt calls the listener when all of them are done.

    And looks at payloads before Bolt does, which stumbles over those it does not expect, and takes those of other
    workspaces for ours.
    """

    def __init__(self, meter: Meter, us: Identity, **options: Any) -> None:
        super().__init__(**options)
        self._meter = meter
        self._us = us
        self._foreign: set[str] = set()

    async def async_dispatch(self, req: AsyncBoltRequest) -> BoltResponse:
        began = time.monotonic()
        if why := flaw(req.body):
            req.body = {"type": MALFORMED, "why": why}
        if addressee := foreign(req.body, self._us):
            self._note(addressee)
            response = BoltResponse(status=OK)
        else:
            response = await super().async_dispatch(req)
        seconds = time.monotonic() - began
        self._meter.acknowledged(_door(req.body), taken=response.status == OK, seconds=seconds)
        return response

    def _note(self, addressee: str) -> None:
        """Once for each: Slack goes on sending them."""
        if addressee not in self._foreign and len(self._foreign) < MOST_NOTED:
            self._foreign.add(addressee)
            log.warning("ignored, since it is not for this bot: Slack sent it for %s", addressee)


@contextmanager
def _without_advice() -> Iterator[None]:
    """With SLACK_BOT_TOKEN in the environment Bolt warns that the token goes unused. By it; not by us."""
    advice = warning_client_prioritized_and_token_skipped()

    def other(record: logging.LogRecord) -> bool:
        return record.getMessage() != advice

    logger = logging.getLogger("slack_bolt.AsyncApp")
    logger.addFilter(other)
    try:
        yield
    finally:
        logger.removeFilter(other)


def _door(body: Payload) -> str:
    if "command" in body:
        return "command"
    return "event" if "event" in body else DOORS.get(str(body.get("type")), "other")


def _tokenless(client: AsyncWebClient) -> AsyncWebClient:
    """Listeners answer through `Chat`. Bolt makes copies of this client, and must not change ours with them."""
    return AsyncWebClient(base_url=client.base_url, session=client.session, retry_handlers=[])


def _authorize(us: Identity) -> Callable[..., Awaitable[AuthorizeResult]]:
    async def authorize(enterprise_id: str | None) -> AuthorizeResult:
        return AuthorizeResult(
            enterprise_id=enterprise_id,
            team_id=us.team,
            bot_id=us.bot,
            bot_user_id=us.user,
            bot_token=us.token,
        )

    return authorize
