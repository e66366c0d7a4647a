"""The `Board` of reviews: messages of the host that are posted once and edited from then on."""

from collections.abc import Mapping

from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.catalog.personas import Roster
from bot.domain.messages.message import Message
from bot.domain.values.places import Place
from bot.engine.review_ports import Board, NoticePosition
from bot.slack.chat import SlackChat
from bot.slack.client import Identity, SlackHealth
from bot.slack.pace import Pace


class SlackBoard(SlackChat, Board):
    """Remembers its posts apart from the chat of roundtables, whose memory relies on the order of one outbox."""

    def __init__(
        self,
        client: AsyncWebClient,
        us: Identity,
        *,
        pace: Pace | None = None,
        health: SlackHealth | None = None,
    ) -> None:
        super().__init__(client, Roster(), us, pace=pace, health=health)

    @property
    def team(self) -> str:
        return self._identity.team

    async def put(
        self, place: Place, message: Message, *, key: str, again: bool = False, thorough: bool = False
    ) -> NoticePosition:
        place = place.but(team=self.team, channel=await self.channel(place.channel))
        found = await self._found(place, key, thorough=thorough) if again or thorough else {}
        posted = dict(found)
        await self._post_missing(place, message, key, posted=posted)
        return NoticePosition(place.channel, posted[1], found=1 in found)

    async def edit(self, spot: NoticePosition, message: Message) -> bool:
        return await self._posts.edit(spot.channel, spot.ts, self._parts(message)[0]) is None

    async def link(self, spot: NoticePosition) -> str:
        return await self._posts.permalink(spot.channel, spot.ts)

    async def name(self, person: str) -> str:
        return (await self.profile(person)).name

    async def channel(self, named: str) -> str:
        return await self._channels.id_of(named)

    async def _found(self, place: Place, key: str, *, thorough: bool) -> Mapping[int, str]:
        if thorough and not place.thread:
            ts = await self._lookup.far_back(place.channel, key)
            return {1: ts} if ts else {}
        return await self._lookup.parts(place, key) or {}
