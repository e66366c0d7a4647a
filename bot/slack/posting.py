"""
Writing to Slack: a post stands in the thread that it is for, or nowhere, and carries its key in its metadata.

`history` finds a post again by that key. What one person is to see goes through `Ephemeral`.
"""

import logging
from collections.abc import Coroutine, Mapping
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot.domain.messages.message import Message
from bot.domain.roundtable.state import slug_of
from bot.domain.transcript.last_line import LastLine, read_brief
from bot.domain.values.places import Place
from bot.engine.ports import Urgency
from bot.errors import SlackError
from bot.slack.client import QUIET, SENTENCES, UNLINKED, Calls, RefusalsNoted, call
from bot.slack.limits import UPDATE_TEXT_CHARS, abridged, shortened
from bot.slack.parse import part, word
from bot.slack.render import RenderedMessage

log = logging.getLogger(__name__)

EVENT_TYPE = "roundtable_line"
GONE = "thread_not_found"
BLOCKS_REFUSED = frozenset({"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long"})
NO_LONGER_THERE = frozenset({"message_not_found", "cant_update_message", "edit_window_closed", GONE})

# --- what a post says about itself ----------------------------------------------------------------------------------


def metadata(key: str, number: int = 1, count: int = 1, message: Message | None = None) -> Mapping[str, Any]:
    """Only ids, because everyone in the workspace can read it."""
    about: dict[str, Any] = {}
    if message:
        about = {"step": message.about} if message.about else {}
        about |= {"last_line": message.last_line} if message.last_line else {}
        about |= {} if message.recorded else {"recorded": False}
    payload = {"key": part_key(key, number), "part": number, "parts": count, **about}
    return {"event_type": EVENT_TYPE, "event_payload": payload}


def part_key(key: str, number: int) -> str:
    return key if number == 1 else f"{key}#{number}"


def is_line(message: Mapping[str, Any]) -> bool:
    """Others can post such metadata, too; with our bot id only we can."""
    return word(message, "metadata", "event_type") == EVENT_TYPE


def carried_by(message: Mapping[str, Any], name: str) -> str:
    """A field of the metadata; empty when there is none."""
    return str(part(message, "metadata", "event_payload").get(name) or "")


def step_of(message: Mapping[str, Any]) -> str:
    """The step that a post of ours is about; empty when it does not say."""
    return carried_by(message, "step")


def last_line_of(message: Mapping[str, Any]) -> LastLine:
    """What was committed when this post of ours was made."""
    return read_brief(carried_by(message, "last_line"))


def item_of(message: Mapping[str, Any]) -> str:
    """The item that this post of ours is the root message of; empty when it is something else."""
    is_root = message.get("thread_ts") in (None, "", message.get("ts"))
    is_first = is_line(message) and is_root and carried_by(message, "part") == "1"
    return slug_of(carried_by(message, "key")) if is_first else ""


# --- for everyone ---------------------------------------------------------------------------------------------------


class Posts:
    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._client = calls.client

    async def post(self, part: RenderedMessage, **arguments: Any) -> str:
        """
        The timestamp of the post. A reply to a deleted root appears in the channel, for everyone, and only the answer
        tells: such a post is deleted, and raises SlackError.
        """
        call = partial(self._calls, self._client.chat_postMessage, Urgency.POST)
        answer = await self._shown(call, part, text=part.text, **arguments)
        ts, channel, thread = str(answer["ts"]), arguments["channel"], arguments.get("thread_ts")
        if thread and _is_outside_thread(answer) and await self._is_gone(channel, thread):
            await self._delete(channel, ts)
            raise SlackError(SENTENCES[GONE], reason=GONE)
        return ts

    async def edit(
        self,
        channel: str,
        ts: str,
        part: RenderedMessage,
        *,
        urgency: Urgency = Urgency.POST,
        waits: bool = True,
    ) -> SlackError | None:
        """
        Why not, when the message is gone, or can no longer be edited. Raises for any other refusal, and Postponed where
        there is no room for it now, unless it *waits*.
        """
        try:
            # What can be typed below a card stands at the end.
            text = (abridged if part.plainer else shortened)(part.text, UPDATE_TEXT_CHARS)
            arguments = {"channel": channel, "ts": ts, "text": text, **UNLINKED}
            call = partial(self._calls if waits else self._calls.at_once, self._client.chat_update, urgency)
            await self._shown(call, part, **arguments)
        except SlackError as error:
            if error.reason not in NO_LONGER_THERE:
                raise
            return error
        return None

    async def _shown(
        self, call: "partial[Coroutine[Any, Any, Any]]", part: RenderedMessage, **arguments: Any
    ) -> Any:
        """Where Slack refuses the blocks, plainer ones are tried; then only the text is left. They are not put off."""
        again = partial(self._calls, call.args[0], Urgency.POST)
        blocks = part.blocks
        for plainer in part.plainer:
            try:
                return await call(blocks=blocks, **arguments)
            except SlackError as error:
                if error.reason not in BLOCKS_REFUSED:
                    raise
                refused, blocks = blocks, plainer()
                call = again
                log.warning("Slack refuses %s blocks, %s are tried: %s", len(refused), len(blocks), error)
        return await call(blocks=blocks, **arguments)

    async def permalink(self, channel: str, ts: str) -> str:
        """Empty when Slack refuses; raises SlackError when a later call may succeed."""
        with RefusalsNoted(log, "no permalink of %s in %s", ts, channel):
            answer = await self._calls(self._client.chat_getPermalink, channel=channel, message_ts=ts)
            return str(answer["permalink"])
        return ""

    async def _is_gone(self, channel: str, thread: str) -> bool:
        """Asks Slack, because an answer may omit the thread for another reason."""
        try:
            await self._calls(self._client.conversations_replies, channel=channel, ts=thread, limit=1)
        except SlackError as error:
            return error.reason == GONE
        return False

    async def _delete(self, channel: str, ts: str) -> None:
        try:
            await self._calls(self._client.chat_delete, channel=channel, ts=ts)
        except SlackError as error:
            log.warning("%s stands in %s, outside its deleted thread: %s", ts, channel, error)


def _is_outside_thread(answer: Any) -> bool:
    message = answer.get("message")
    return isinstance(message, dict) and not message.get("thread_ts")


# --- for one person -------------------------------------------------------------------------------------------------

OK = 200
HOSTS = frozenset({"hooks.slack.com", "hooks.slack-gov.com"})
PORTS = {"http": 80, "https": 443}
OK_BODIES = frozenset({"ok", '{"ok":true}', ""})


def is_slacks(url: str, *, api_url: str) -> bool:
    """Whether a reply URL, which a payload names, leads to Slack, or to the server that `SLACK_API_URL` names."""
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


class Ephemeral:
    """
    Tells one person something, in the first way that works: the reply URL (no membership needed, but it ends after 30
    minutes or five uses), an ephemeral message, a direct message.
    """

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._client = calls.client

    async def tell(self, place: Place, person: str, part: RenderedMessage, *, reply_url: str) -> None:
        answer = {"response_type": "ephemeral", "replace_original": False, **_payload_of(part)}
        answer |= {"thread_ts": place.thread} if place.thread else {}
        if reply_url and await self._send(reply_url, answer):
            return
        if not await self._by_ephemeral(place, person, part):
            opened = await self._calls(self._client.conversations_open, users=person)
            channel = opened["channel"]["id"]
            await self._calls(self._client.chat_postMessage, channel=channel, **_payload_of(part), **QUIET)

    async def replace(self, reply_url: str, part: RenderedMessage) -> bool:
        """In place of the message that was pressed; False when the reply URL is used up."""
        return await self._send(reply_url, {"replace_original": True, **_payload_of(part)})

    async def _send(self, reply_url: str, answer: dict[str, Any]) -> bool:
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

    async def _by_ephemeral(self, place: Place, person: str, part: RenderedMessage) -> bool:
        with RefusalsNoted(log, "no ephemeral message in %s", place.channel):
            await self._calls(
                self._client.chat_postEphemeral,
                channel=place.channel,
                user=person,
                thread_ts=place.thread or None,
                **_payload_of(part),
                **UNLINKED,
            )
            return True
        return False


def _payload_of(part: RenderedMessage) -> dict[str, Any]:
    return {"text": part.text, "blocks": part.blocks}
