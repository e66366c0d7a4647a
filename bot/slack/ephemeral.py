"""What only one person is to see, by the first way that is open."""

import logging
from typing import Any
from urllib.parse import urlsplit

from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot.domain.values.places import Place
from bot.errors import SlackError
from bot.slack.calls import QUIET, UNLINKED, Calls
from bot.slack.client import call
from bot.slack.render import Part

log = logging.getLogger(__name__)

OK = 200
HOSTS = frozenset({"hooks.slack.com", "hooks.slack-gov.com"})
PORTS = {"http": 80, "https": 443}
OK_BODIES = frozenset({"ok", '{"ok":true}', ""})


def is_slacks(url: str, *, api_url: str) -> bool:
    """What a payload says is no reason to call anybody but Slack, or the server that `SLACK_API_URL` names."""
    api = urlsplit(api_url)
    try:
        asked = urlsplit(url)
        origin = (asked.scheme, asked.hostname, asked.port or PORTS.get(asked.scheme))
    except ValueError:
        return False
    if "@" in asked.netloc or "\\" in url:
        return False
    known = {("https", host, PORTS["https"]) for host in HOSTS}
    return origin in known | {(api.scheme, api.hostname, api.port or PORTS.get(api.scheme))}


class Whispers:
    """A reply URL needs no membership, but ends after 30 minutes or five uses; a direct message always arrives."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._client = calls.client

    async def tell(self, place: Place, person: str, part: Part, *, reply_url: str) -> None:
        if reply_url and await self._replied(place, part, reply_url=reply_url):
            return
        if not await self._shown(place, person, part):
            await self._written(person, part)

    async def replace(self, reply_url: str, part: Part) -> bool:
        return await self._sent(
            reply_url, {"replace_original": True, "text": part.text, "blocks": part.blocks}
        )

    async def _replied(self, place: Place, part: Part, *, reply_url: str) -> bool:
        answer = {
            "response_type": "ephemeral",
            "replace_original": False,
            "text": part.text,
            "blocks": part.blocks,
        }
        if place.thread:
            answer["thread_ts"] = place.thread
        return await self._sent(reply_url, answer)

    async def _sent(self, reply_url: str, answer: dict[str, Any]) -> bool:
        if not is_slacks(reply_url, api_url=self._client.base_url):
            log.warning("a reply URL that is not Slack's is not used")
            return False
        webhook = AsyncWebhookClient(
            reply_url, session=self._client.session, timeout=self._client.timeout, retry_handlers=[]
        )
        webhook.proxy = None
        try:
            response = await call(webhook.send_dict, body=answer)
        except SlackError as error:
            log.info("no answer by the reply URL: %s", error.reason)
            return False
        return response.status_code == OK and "".join(response.body.split()) in OK_BODIES

    async def _shown(self, place: Place, person: str, part: Part) -> bool:
        try:
            await self._calls(
                self._client.chat_postEphemeral,
                channel=place.channel,
                user=person,
                thread_ts=place.thread or None,
                text=part.text,
                blocks=part.blocks,
                **UNLINKED,
            )
        except SlackError as error:
            if error.again:
                raise
            log.info("nothing can be shown to one person in %s: %s", place.channel, error.reason)
            return False
        return True

    async def _written(self, person: str, part: Part) -> None:
        opened = await self._calls(self._client.conversations_open, users=person)
        channel = opened["channel"]["id"]
        await self._calls(
            self._client.chat_postMessage, channel=channel, text=part.text, blocks=part.blocks, **QUIET
        )
