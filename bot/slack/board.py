"""
The `Board` of reviews, on Slack's Web API: messages of the host that are posted once and edited ever after.

It has its own memory of what it posted, apart from `SlackChat`'s: that one relies on the order of one outbox.
"""

import logging
from collections.abc import Mapping
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.messages.message import Message
from bot.domain.privacy.discretion import discreet
from bot.domain.values.places import Place
from bot.engine.ports import Pace
from bot.engine.review_ports import Board, Spot
from bot.errors import SlackError
from bot.slack.calls import QUIET, UNLINKED, Calls, Unpaced, following
from bot.slack.chat import NO_LONGER_THERE
from bot.slack.client import Identity
from bot.slack.ephemeral import Whispers
from bot.slack.health import Standing
from bot.slack.lookup import Names
from bot.slack.parse import word
from bot.slack.post_lookup import EVENT_TYPE, Earlier, Posting, metadata
from bot.slack.render import UPDATE_TEXT_CHARS, Part, parts, shortened

log = logging.getLogger(__name__)

PAGE = 200
CHANNELS_A_PAGE = 999
"""As many as Slack gives at once: it wants less than 1,000 to be asked for."""
PAGES_READ = 25
"""So far back, 5,000 messages, a notice is looked for that the store has forgotten."""
CHANNEL_PAGES_READ = 50
NO_NAME = (
    "I can't look up the channel %s by its name (%s). Set ROUNDTABLE_TRIAGE_CHANNEL to its id,"
    " which Slack shows at the end of the channel's details."
)
NO_CHANNEL = (
    "There is no channel %s that I can see. Invite me there, or set ROUNDTABLE_TRIAGE_CHANNEL to its id."
)


class SlackBoard(Board):
    def __init__(
        self,
        client: AsyncWebClient,
        us: Identity,
        *,
        pace: Pace | None = None,
        standing: Standing | None = None,
    ) -> None:
        self._client = client
        self._us = us
        self._call = Calls(client, pace or Unpaced(), team=us.team, standing=standing)
        self._earlier = Earlier(self._call, us.bot)
        self._whispers = Whispers(self._call)
        self._posting = Posting(self._call)
        self._names = Names(self._call, us)
        self._ids: dict[str, str] = {}

    @property
    def lands_within(self) -> float:
        return float(self._client.timeout)

    async def put(
        self, place: Place, message: Message, *, key: str, again: bool = False, thorough: bool = False
    ) -> Spot:
        place = place.but(team=self._us.team, channel=await self.channel(place.channel))
        found = await self._found(place, key, thorough=thorough) if again or thorough else {}
        told = parts(discreet(message, self._us.redact))
        posted = dict(found)
        for number, part in enumerate(told, start=1):
            if number not in posted:
                posted[number] = await self._post(place, part, key, number=number, count=len(told))
        return Spot(place.channel, posted[1], found=1 in found)

    async def edit(self, spot: Spot, message: Message) -> bool:
        part = parts(discreet(message, self._us.redact))[0]
        try:
            await self._call(
                self._client.chat_update,
                channel=spot.channel,
                ts=spot.ts,
                text=shortened(part.text, UPDATE_TEXT_CHARS),
                blocks=part.blocks,
                **UNLINKED,
            )
        except SlackError as error:
            if error.reason not in NO_LONGER_THERE:
                raise
            return False
        return True

    async def link(self, spot: Spot) -> str:
        try:
            answer = await self._call(
                self._client.chat_getPermalink, channel=spot.channel, message_ts=spot.ts
            )
        except SlackError as error:
            if error.again:
                raise
            log.info("no permalink of %s in %s: %s", spot.ts, spot.channel, error.reason)
            return ""
        return str(answer["permalink"])

    async def tell(self, place: Place, person: str, message: Message, *, reply_url: str) -> None:
        for part in parts(discreet(message, self._us.redact)):
            await self._whispers.tell(place, person, part, reply_url=reply_url)

    async def name(self, person: str) -> str:
        return await self._names.of(person)

    async def channel(self, named: str) -> str:
        """The id of a channel that is given by its id, or by its name with a # before it or without."""
        if named not in self._ids:
            self._ids[named] = named if _is_id(named) else await self._id_of(named.removeprefix("#"))
        return self._ids[named]

    async def _id_of(self, name: str) -> str:
        cursor = ""
        for _ in range(CHANNEL_PAGES_READ):
            try:
                answer = await self._call(
                    self._client.conversations_list,
                    types="public_channel,private_channel",
                    exclude_archived=True,
                    limit=CHANNELS_A_PAGE,
                    cursor=cursor or None,
                )
            except SlackError as error:
                if error.again:
                    raise
                raise SlackError(NO_NAME % (f"#{name}", error.reason), reason=error.reason) from error
            for channel in answer["channels"]:
                if channel.get("name") == name:
                    return str(channel["id"])
            if not (cursor := following(answer)):
                break
        raise SlackError(NO_CHANNEL % f"#{name}", reason="channel_not_found")

    async def _post(self, place: Place, part: Part, key: str, *, number: int, count: int) -> str:
        return await self._posting(
            channel=place.channel,
            thread_ts=place.thread or None,
            text=part.text,
            blocks=part.blocks,
            metadata=metadata(key, number, count, step=""),
            **QUIET,
        )

    async def _found(self, place: Place, key: str, *, thorough: bool) -> Mapping[int, str]:
        if thorough and not place.thread:
            ts = await self._far_back(place.channel, key)
            return {1: ts} if ts else {}
        return await self._earlier.parts(place, key) or {}

    async def _far_back(self, channel: str, key: str) -> str:
        """Newest first, a bounded number of pages; empty when it is not there, or we may not look."""
        cursor = ""
        for _ in range(PAGES_READ):
            try:
                answer = await self._call(
                    self._client.conversations_history,
                    channel=channel,
                    limit=PAGE,
                    cursor=cursor or None,
                    include_all_metadata=True,
                )
            except SlackError as error:
                if error.again:
                    raise
                log.warning("can't look for %s in %s: %s", key, channel, error.reason)
                return ""
            for message in answer["messages"]:
                if message.get("bot_id") == self._us.bot and _key_of(message) == key:
                    return str(message["ts"])
            if not (cursor := following(answer)):
                return ""
        log.warning("%s is not among the newest %s messages of %s", key, PAGE * PAGES_READ, channel)
        return ""


def _is_id(named: str) -> bool:
    """Names of channels have no capitals."""
    return named[:1] in {"C", "G", "D"} and named.isalnum() and named.isupper()


def _key_of(message: Mapping[str, Any]) -> str:
    is_ours = word(message, "metadata", "event_type") == EVENT_TYPE
    return word(message, "metadata", "event_payload", "key") if is_ours else ""
