"""What only one person is to see, by the first way that is open."""

import logging

from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot.domain.place import Place
from bot.errors import SlackError
from bot.slack.blocks import Part
from bot.slack.client import CALL_SECONDS, call
from bot.slack.quiet import QUIET, UNLINKED

log = logging.getLogger(__name__)

OK = 200
OK_BODIES = frozenset({"ok", '{"ok":true}', ""})


async def whisper(client: AsyncWebClient, place: Place, person: str, *, part: Part, reply_url: str) -> None:
    """A reply URL needs no membership, but ends after 30 minutes or five uses; a direct message always arrives."""
    if reply_url and await _replied(client, place, part, reply_url=reply_url):
        return
    if not await _shown(client, place, person, part=part):
        await _written(client, person, part)


async def _replied(client: AsyncWebClient, place: Place, part: Part, *, reply_url: str) -> bool:
    webhook = AsyncWebhookClient(reply_url, session=client.session, timeout=CALL_SECONDS, retry_handlers=[])
    webhook.proxy = None
    answer = {
        "response_type": "ephemeral",
        "replace_original": False,
        "text": part.text,
        "blocks": part.blocks,
    }
    if place.thread:
        answer["thread_ts"] = place.thread
    try:
        response = await call(webhook.send_dict, body=answer)
    except SlackError as error:
        log.info("no answer by the reply URL: %s", error.reason)
        return False
    return response.status_code == OK and "".join(response.body.split()) in OK_BODIES


async def _shown(client: AsyncWebClient, place: Place, person: str, *, part: Part) -> bool:
    try:
        await call(
            client.chat_postEphemeral,
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


async def _written(client: AsyncWebClient, person: str, part: Part) -> None:
    opened = await call(client.conversations_open, users=person)
    channel = opened["channel"]["id"]
    await call(client.chat_postMessage, channel=channel, text=part.text, blocks=part.blocks, **QUIET)
