"""The `Board` of reviews: messages of the host that are posted once and edited from then on."""

from collections.abc import Mapping

from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.messages.message import Message
from bot.domain.privacy.discretion import redacted_message
from bot.domain.values.places import Place
from bot.engine.review_ports import Board, NoticePosition
from bot.slack.client import QUIET, Calls, Identity, SlackHealth
from bot.slack.history import PostLookup
from bot.slack.lookup import Channels, PersonNames
from bot.slack.pace import Pace, Unlimited
from bot.slack.posting import Ephemeral, Posts, metadata
from bot.slack.render import RenderedMessage, parts

PAGE = 200
PAGES_READ = 25
"""A notice that the store has forgotten is looked for in the newest 5,000 messages."""


class SlackBoard(Board):
    """Remembers its posts apart from `SlackChat`, whose memory relies on the order of one outbox."""

    def __init__(
        self,
        client: AsyncWebClient,
        us: Identity,
        *,
        pace: Pace | None = None,
        health: SlackHealth | None = None,
    ) -> None:
        self._client = client
        self._us = us
        calls = Calls(client, pace or Pace(Unlimited()), team=us.team, health=health)
        self._lookup = PostLookup(calls, us.bot)
        self._ephemeral = Ephemeral(calls)
        self._posts = Posts(calls)
        self._names = PersonNames(calls, us)
        self._channels = Channels(calls, us.people)

    @property
    def team(self) -> str:
        return self._us.team

    @property
    def lands_within(self) -> float:
        return float(self._client.timeout)

    async def put(
        self, place: Place, message: Message, *, key: str, again: bool = False, thorough: bool = False
    ) -> NoticePosition:
        place = place.but(team=self._us.team, channel=await self.channel(place.channel))
        found = await self._found(place, key, thorough=thorough) if again or thorough else {}
        rendered = parts(redacted_message(message, self._us.redact))
        posted = dict(found)
        for number, part in enumerate(rendered, start=1):
            if number not in posted:
                posted[number] = await self._post(place, part, key, number=number, count=len(rendered))
        return NoticePosition(place.channel, posted[1], found=1 in found)

    async def edit(self, spot: NoticePosition, message: Message) -> bool:
        refusal = await self._posts.edit(
            spot.channel, spot.ts, parts(redacted_message(message, self._us.redact))[0]
        )
        return refusal is None

    async def link(self, spot: NoticePosition) -> str:
        return await self._posts.permalink(spot.channel, spot.ts)

    async def tell(self, place: Place, person: str, message: Message, *, reply_url: str) -> None:
        for part in parts(redacted_message(message, self._us.redact)):
            await self._ephemeral.tell(place, await self._us.people.find(person), part, reply_url=reply_url)

    async def name(self, person: str) -> str:
        return (await self._names.of(person)).name

    async def channel(self, named: str) -> str:
        return await self._channels.id_of(named)

    async def _post(self, place: Place, part: RenderedMessage, key: str, *, number: int, count: int) -> str:
        return await self._posts.post(
            part,
            channel=place.channel,
            thread_ts=place.thread or None,
            metadata=metadata(key, number, count, step=""),
            **QUIET,
        )

    async def _found(self, place: Place, key: str, *, thorough: bool) -> Mapping[int, str]:
        if thorough and not place.thread:
            ts = await self._lookup.far_back(place.channel, key, pages=PAGES_READ, page=PAGE)
            return {1: ts} if ts else {}
        return await self._lookup.parts(place, key) or {}
