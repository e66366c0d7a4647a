"""The `Chat` of the engine, on Slack's Web API."""

import logging
from collections.abc import Mapping
from typing import Any

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.catalog.personas import Persona, Roster
from bot.domain.messages.message import Message
from bot.domain.privacy.discretion import discreet
from bot.domain.roundtable.effects import Sign
from bot.domain.values.places import Belonging, Place, Room
from bot.engine.ports import Chat, Opened, Pace, Root, Sheet, Thread
from bot.errors import SlackError
from bot.slack.calls import QUIET, UNLINKED, Calls, Unpaced
from bot.slack.client import CUSTOMISE, Identity
from bot.slack.ephemeral import Whispers
from bot.slack.health import Standing
from bot.slack.lookup import Channels, Names
from bot.slack.post_lookup import Earlier, Posting, ThreadReader, metadata
from bot.slack.refusals import answer_of
from bot.slack.render import UPDATE_TEXT_CHARS, Part, parts, shortened
from bot.slack.typing_indicator import Signs
from bot.slack.uploads import Uploads
from bot.slack.wording import POSTED_AGAIN

log = logging.getLogger(__name__)

NO_LONGER_THERE = frozenset({
    "message_not_found",
    "cant_update_message",
    "edit_window_closed",
    "thread_not_found",
})  # fmt: skip
NO_REACTION_NEEDED = frozenset({
    "already_reacted",
    "message_not_found",
    "no_reaction",
    "not_reactable",
    "too_many_emoji",
    "too_many_reactions",
    "thread_locked",
})  # fmt: skip


class SlackChat(Chat):
    """Personas post under their own names while Slack lets us; once it says no, for good, they sign in the text."""

    def __init__(
        self,
        client: AsyncWebClient,
        roster: Roster,
        identity: Identity,
        *,
        pace: Pace | None = None,
        standing: Standing | None = None,
    ) -> None:
        """Without a *pace*, as fast as the engine pays. What every call says about *standing* is noted there."""
        self._client = client
        self._roster = roster
        self._identity = identity
        self._own_names = identity.can_customise
        self._call = Calls(client, pace or Unpaced(), team=identity.team, standing=standing)
        self._names = Names(self._call, identity)
        self._channels = Channels(self._call)
        self._threads = ThreadReader(self._call, identity, self._names)
        self._earlier = Earlier(self._call, identity.bot)
        self._uploads = Uploads(self._call, self._earlier)
        self._whispers = Whispers(self._call)
        self._posting = Posting(self._call)
        self._signs = Signs(self._call)

    @property
    def lands_within(self) -> float:
        return float(self._client.timeout)

    async def open(self, place: Place, message: Message, *, key: str, again: bool) -> Opened:
        stamps = await self._post(place, message, key=key, again=again)
        root = place.thread or stamps[0]
        permalink = await self._permalink(place.channel, root)
        return Opened(root, permalink, await self._channels.private(place.channel))

    async def post(self, place: Place, message: Message, *, key: str, again: bool) -> str:
        stamps = await self._post(place, message, key=key, again=again)
        return stamps[-1] if message.choices else stamps[0]

    async def share(
        self, place: Place, sheets: tuple[Sheet, ...], comment: Message, *, key: str, again: bool
    ) -> None:
        there = await self._uploads.stands(place, sheets, key=key) if again else False
        if there is None:
            comment = comment.but(note=POSTED_AGAIN)
        if not there:
            await self._uploads.share(place, sheets, parts(self._told(comment))[-1].text, key=key)

    async def rewrite(self, place: Place, ts: str, message: Message) -> None:
        """What stands there is the part that carried the choices: the last."""
        part = self._parts(message)[-1]
        text = shortened(part.text, UPDATE_TEXT_CHARS)
        try:
            await self._call(
                self._client.chat_update,
                channel=place.channel,
                ts=ts,
                text=text,
                blocks=part.blocks,
                **UNLINKED,
            )
        except SlackError as error:
            _unless(error, NO_LONGER_THERE)

    async def react(self, place: Place, ts: str, emoji: str) -> None:
        try:
            await self._call(
                self._client.reactions_add, channel=place.channel, timestamp=ts, name=emoji.strip(":")
            )
        except SlackError as error:
            _unless(error, NO_REACTION_NEEDED)

    async def unreact(self, place: Place, ts: str, emoji: str) -> None:
        try:
            await self._call(
                self._client.reactions_remove, channel=place.channel, timestamp=ts, name=emoji.strip(":")
            )
        except SlackError as error:
            _unless(error, NO_REACTION_NEEDED)

    async def show(self, place: Place, sign: Sign, words: str) -> None:
        await self._signs.show(place, sign, words)

    async def clear(self, place: Place, sign: Sign) -> None:
        await self._signs.clear(place, sign)

    async def tell(self, place: Place, person: str, message: Message, *, reply_url: str) -> None:
        if self._earlier.is_bare(place):
            place = place.but(thread="")
        for part in parts(self._told(message), label=self._label(message), signed=True):
            await self._whispers.tell(place, person, part, reply_url=reply_url)

    async def replace(self, reply_url: str, message: Message) -> bool:
        """In place of the message whose button was pressed; False when the reply URL is used up."""
        return await self._whispers.replace(reply_url, parts(self._told(message))[-1])

    async def read(self, place: Place, *, after: str) -> Thread:
        return await self._threads.read(place, after=after)

    async def root(self, place: Place) -> Root | None:
        return await self._earlier.root(place)

    async def find_root(self, place: Place, slug: str) -> str:
        return await self._earlier.find_root(place, slug)

    async def name(self, person: str) -> str:
        return await self._names.of(person)

    async def who(self, person: str) -> Belonging:
        return await self._names.who(person)

    async def room(self, channel: str, *, said: Room) -> Room:
        return await self._channels.room(channel, said=said)

    def belonging(self, person: str) -> Belonging:
        return self._names.belonging(person)

    # --- posting --------------------------------------------------------------------------------------------------

    async def _post(self, place: Place, message: Message, *, key: str, again: bool) -> list[str]:
        """The stamps of all parts, of which those that stand there already are not posted again."""
        posted: dict[int, str] = {}
        if again:
            found = await self._earlier.parts(place, key)
            posted.update(found or {})
            if found is None:
                message = message.but(note="\n".join(filter(None, (message.note, POSTED_AGAIN))))
        try:
            await self._post_missing(place, message, key, posted=posted)
        except _NoOwnName:
            log.warning("no scope %s: personas sign their posts instead", CUSTOMISE)
            self._own_names = False
            await self._post_missing(place, message, key, posted=posted)

        stamps = [posted[number] for number in sorted(posted)]
        self._earlier.stands(place.but(thread=place.thread or stamps[0]), key, stamps[-1])
        return stamps

    async def _post_missing(
        self, place: Place, message: Message, key: str, *, posted: dict[int, str]
    ) -> None:
        """A message to the channel that is too long for one post goes on in the thread below the first."""
        told = self._parts(message)
        for number, part in enumerate(told, start=1):
            if number not in posted:
                posted[number] = await self._post_part(
                    channel=place.channel,
                    thread_ts=place.thread or posted.get(1),
                    text=part.text,
                    blocks=part.blocks,
                    metadata=metadata(key, number, len(told), step=message.about, witness=message.witness),
                    **QUIET,
                    **self._byline(message),
                )

    async def _post_part(self, **arguments: Any) -> str:
        try:
            return await self._posting(**arguments)
        except SlackError as error:
            if "username" in arguments and _lacks(error, CUSTOMISE):
                raise _NoOwnName from error
            raise

    def _parts(self, message: Message) -> list[Part]:
        return parts(self._told(message), label=self._label(message), signed=not self._own_names)

    def _told(self, message: Message) -> Message:
        """Titles and records also come from files, which nobody redacted."""
        return discreet(message, self._identity.redact)

    def _persona(self, message: Message) -> Persona | None:
        return self._roster.get(message.speaker) if message.speaker else None

    def _label(self, message: Message) -> str:
        persona = self._persona(message)
        return persona.label if persona else ""

    def _byline(self, message: Message) -> Mapping[str, str]:
        persona = self._persona(message)
        if persona is None or not self._own_names:
            return {}
        icon = "icon_emoji" if persona.icon.startswith(":") else "icon_url"
        return {"username": persona.label, icon: persona.icon}

    async def _permalink(self, channel: str, ts: str) -> str:
        try:
            answer = await self._call(self._client.chat_getPermalink, channel=channel, message_ts=ts)
        except SlackError as error:
            log.info("no permalink of %s in %s: %s", ts, channel, error.reason)
            return ""
        return str(answer["permalink"])


class _NoOwnName(Exception):
    """Slack lets us post, but not under a persona's name."""


def _lacks(error: SlackError, scope: str) -> bool:
    cause = error.__cause__
    needed = answer_of(cause).get("needed") if isinstance(cause, SlackApiError) else ""
    return error.reason == "missing_scope" and scope in str(needed)


def _unless(error: SlackError, expected: frozenset[str]) -> None:
    if error.reason not in expected:
        raise error
