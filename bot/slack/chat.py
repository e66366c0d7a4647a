"""The `Chat` of the engine, on Slack's Web API."""

import json
import logging
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, assert_never

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.catalog.personas import Persona, Roster
from bot.domain.messages.form import InputForm
from bot.domain.messages.home_page import DailyMessage, HomePage
from bot.domain.messages.message import Message
from bot.domain.privacy.discretion import redacted_message
from bot.domain.roundtable.effects import WorkIndicator
from bot.domain.roundtable.outcomes import OpenedThread
from bot.domain.values.places import Belonging, ChannelKind, Person, Place
from bot.engine.access import retried
from bot.engine.lru import LruCache
from bot.engine.ports import (
    Chat,
    ExportFile,
    Profile,
    RootMessage,
    ThreadMessages,
    Urgency,
)
from bot.errors import EffectError, Postponed, SlackError
from bot.slack.client import (
    CUSTOMISE,
    QUIET,
    Calls,
    Identity,
    SlackHealth,
    errors_translated,
    needed_scopes,
)
from bot.slack.history import PostLookup, ThreadReader
from bot.slack.home import daily, home_view
from bot.slack.lookup import Channels, PersonNames
from bot.slack.modals import view, with_users
from bot.slack.pace import Pace
from bot.slack.posting import GONE, Ephemeral, Posts, metadata
from bot.slack.render import RenderedMessage, parts

log = logging.getLogger(__name__)

CARDS_REMEMBERED = 1_000
POSTED_AGAIN = "(posted again after a restart)"
AT_WORK, AT_REST, OVER = "processing", "suspended", "closed"
"""Slack's names for a session that works, for one that waits for people, and for one that is over."""
NO_AGENT = frozenset({"feature_disabled", "missing_scope", "not_agent_app"})
"""Slack's reasons that hold for the app."""
NO_THREAD = frozenset({GONE, "message_not_found", "invalid_thread_ts"})
NO_SESSION = "session_not_found"
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
    """Personas post under their own names, until Slack refuses that; from then on they sign in the text."""

    def __init__(
        self,
        client: AsyncWebClient,
        roster: Roster,
        identity: Identity,
        *,
        pace: Pace | None = None,
        health: SlackHealth | None = None,
    ) -> None:
        self._client = client
        self._roster = roster
        self._identity = identity
        self._own_names = identity.can_customise
        self._call = Calls(client, pace, team=identity.team, health=health)
        self._names = PersonNames(self._call, identity)
        self._channels = Channels(self._call, identity.people)
        self._threads = ThreadReader(self._call, identity, self._names)
        self._lookup = PostLookup(self._call, identity.bot)
        self._files = _Files(self._call, self._lookup)
        self._ephemeral = Ephemeral(self._call)
        self._posts = Posts(self._call)
        # How a message looks, and whether by an edit: a reply URL does not say what is shown.
        self._shown: LruCache[str, tuple[int, bool]] = LruCache(CARDS_REMEMBERED)
        self._pressed = PressedMessages()
        self._directs: LruCache[str, str] = LruCache(CARDS_REMEMBERED)

    @property
    def lands_within(self) -> float:
        return float(self._client.timeout)

    def read_again(self, roster: Roster) -> None:
        """The personas have changed."""
        self._roster = roster

    async def open(self, place: Place, message: Message, *, key: str, again: bool) -> OpenedThread:
        stamps = await self._post(place, message, key=key, again=again)
        root = place.thread or stamps[0]
        permalink = await self._permalink(place.channel, root)
        posted = stamps[0] if place.thread else ""
        private = await self._channels.private(place.channel)
        return OpenedThread(ts=root, permalink=permalink, private=private, posted=posted)

    async def post(
        self, place: Place, message: Message, *, key: str, again: bool, broadcast: bool = False
    ) -> str:
        stamps = await self._post(place, message, key=key, again=again, broadcast=broadcast)
        return stamps[-1] if message.choices else stamps[0]

    async def share(
        self, place: Place, sheets: tuple[ExportFile, ...], comment: Message, *, key: str, again: bool
    ) -> None:
        there = await self._files.are_there(place, sheets, key=key) if again else False
        if there is None:
            comment = comment.but(note=POSTED_AGAIN)
        if not there:
            await self._files.share(place, sheets, parts(self._redacted(comment))[-1].text, key=key)

    def pressed(self, place: Place, ts: str, reply_url: str) -> None:
        """
        The message *ts* was pressed: where Slack's limit leaves no room for an edit, *reply_url* shows it at once. But
        for the first message, which is found again by its metadata: Slack does not say that such an edit keeps them.
        """
        if ts != place.thread:
            self._pressed.note(f"{place.channel}.{ts}", reply_url)

    async def rewrite(
        self, place: Place, ts: str, message: Message, *, urgency: Urgency = Urgency.ANSWER
    ) -> None:
        """
        *ts* is the part that carried the choices: the last. A card that looks as it does there is not sent. What can no
        longer be edited matters only where it would offer something.
        """
        part = self._parts(message)[-1]
        key, looks = f"{place.channel}.{ts}", _looks(part)
        if message.card and self._shown.get(key) == (looks, True):
            return
        if urgency is Urgency.SIGN and await self._show_by_reply_url(key, part, looks):
            return
        waits = urgency.is_waited_for and not self._pressed.has(key)
        try:
            refusal = await self._posts.edit(place.channel, ts, part, urgency=urgency, waits=waits)
        except Postponed:
            if urgency in OF_A_PRESS:
                await self._show_by_reply_url(key, part, looks)
            raise
        if message.card and not refusal:
            self._shown[key] = looks, True
        else:
            self._shown.pop(key, None)
        if refusal and message.choices:
            raise refusal

    async def _show_by_reply_url(self, key: str, part: RenderedMessage, looks: int) -> bool:
        """What comes of a press is seen at once. An edit follows."""
        if self._shown.get(key) != (looks, False):
            url = self._pressed.take(key)
            if not url or not await self._ephemeral.replace(url, part):
                self._pressed.forget(key)
                return False
            self._shown[key] = looks, False
        return True

    async def react(self, place: Place, ts: str, emoji: str) -> None:
        try:
            await self._call(
                self._client.reactions_add, channel=place.channel, timestamp=ts, name=emoji.strip(":")
            )
        except SlackError as error:
            _raise_unless(error, NO_REACTION_NEEDED)

    async def unreact(self, place: Place, ts: str, emoji: str) -> None:
        try:
            await self._call.at_once(
                self._client.reactions_remove, channel=place.channel, timestamp=ts, name=emoji.strip(":")
            )
        except SlackError as error:
            _raise_unless(error, NO_REACTION_NEEDED)

    async def suggest(self, channel: str, title: str, prompts: Sequence[tuple[str, str]]) -> None:
        await self._call(
            self._client.assistant_threads_setSuggestedPrompts,
            channel_id=channel,
            title=title,
            prompts=[{"title": label, "message": said} for label, said in prompts],
        )

    async def tell(self, place: Place, person: str, message: Message, *, reply_url: str) -> None:
        if self._lookup.is_bare(place):
            place = place.but(thread="")
        await self._find(place, person)
        for part in parts(self._redacted(message), label=self._label(message), signed=True):
            await self._ephemeral.tell(place, self._identity.people.user(person), part, reply_url=reply_url)

    async def show_form(self, trigger: str, form: InputForm) -> None:
        opened = view(with_users(redacted_message(form, self._identity.redact), self._identity))
        await self._call(self._client.views_open, trigger_id=trigger, view=opened)

    async def replace(self, reply_url: str, message: Message) -> bool:
        return await self._ephemeral.replace(reply_url, parts(self._redacted(message))[-1])

    async def read(self, place: Place, *, after: str) -> ThreadMessages:
        return await self._threads.read(place, after=after)

    async def root(self, place: Place) -> RootMessage | None:
        return await self._lookup.root(place)

    async def find_root(self, place: Place, slug: str) -> str:
        return await self._lookup.find_root(place, slug)

    async def profile(self, person: str) -> Profile:
        return await self._names.of(person)

    async def name_or_id(self, person: str) -> str:
        return await self._names.or_id(person)

    async def members(self, channel: str) -> frozenset[str]:
        return await self._channels.members(channel)

    async def is_shared(self, channel: str) -> bool | None:
        return await self._channels.is_shared(channel)

    def members_changed(self, channel: str) -> None:
        self._channels.forget(channel)

    def person_changed(self, user: Mapping[str, Any]) -> Person | None:
        return self._names.changed(user)

    async def publish_home(self, person: str, page: HomePage, *, urgency: Urgency) -> None:
        view = home_view(page, self._identity.redact)
        call = self._call if urgency.is_waited_for else self._call.at_once
        user = await self._identity.people.find(person)
        await call(self._client.views_publish, urgency, user_id=user, view=view)

    async def send_daily(self, person: str, message: DailyMessage, *, key: str) -> None:
        channel = self._directs.get(person)
        if channel is None:
            user = await self._identity.people.find(person)
            answer = await self._call(self._client.conversations_open, users=user)
            channel = self._directs[person] = str(answer["channel"]["id"])
        part = daily(message, self._identity.redact)
        await self._posts.post(part, channel=channel, metadata=metadata(key), **QUIET)

    async def room(self, channel: str, *, said: ChannelKind) -> ChannelKind:
        return await self._channels.room(channel, said=said)

    def belonging(self, person: str) -> Belonging:
        """From memory, without a call."""
        return self._names.belonging(person)

    # --- posting --------------------------------------------------------------------------------------------------

    async def _post(
        self, place: Place, message: Message, *, key: str, again: bool, broadcast: bool = False
    ) -> list[str]:
        """The timestamps of all parts; those that were posted before are not posted again."""
        posted: dict[int, str] = {}
        await self._find(place, *message.pings)
        if again:
            found = await self._lookup.parts(place, key)
            posted.update(found or {})
            if found is None:
                message = message.but(note="\n".join(filter(None, (message.note, POSTED_AGAIN))))
        try:
            await self._post_missing(place, message, key, posted=posted, broadcast=broadcast)
        except SlackError as error:
            if not self._byline(message) or CUSTOMISE not in needed_scopes(error):
                raise
            log.warning("no scope %s: personas sign their posts instead", CUSTOMISE)
            self._own_names = False
            await self._post_missing(place, message, key, posted=posted, broadcast=broadcast)

        stamps = [posted[number] for number in sorted(posted)]
        if message.card:
            await self._call.posted(place.channel, stamps[-1])
        self._lookup.remember(place.but(thread=place.thread or stamps[0]), stamps[-1])
        return stamps

    async def _post_missing(
        self, place: Place, message: Message, key: str, *, posted: dict[int, str], broadcast: bool = False
    ) -> None:
        """A long message to the channel continues in the thread of its first part."""
        rendered = self._parts(message)
        for number, part in enumerate(rendered, start=1):
            if number not in posted:
                posted[number] = await self._posts.post(
                    part,
                    channel=place.channel,
                    thread_ts=place.thread or posted.get(1),
                    metadata=metadata(key, number, len(rendered), message),
                    **QUIET,
                    **self._byline(message),
                    **({"reply_broadcast": True} if broadcast and place.thread else {}),
                )

    def _parts(self, message: Message) -> list[RenderedMessage]:
        return parts(self._redacted(message), label=self._label(message), signed=not self._own_names)

    def _redacted(self, message: Message) -> Message:
        """Again: titles and records also come from files, which are not redacted."""
        message = redacted_message(message, self._identity.redact)
        return message.but(pings=tuple(map(self._identity.people.user, message.pings)))

    async def _find(self, place: Place, *people: str) -> None:
        """Who they are in Slack: after the store was lost, the members of the channel say it."""
        if not all([await self._identity.people.find(person) for person in people]):
            with suppress(SlackError):
                await self._channels.members(place.channel)

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
        """Asked again where Slack has trouble: every link into the thread is made of it."""
        with suppress(EffectError):
            return await retried(lambda: self._posts.permalink(channel, ts))
        return ""

    # --- that we are at work (ADR 20) -----------------------------------------------------------------------------
    #
    # In any thread an app may show a status text. An app that is declared an agent has a session in the thread, with a
    # stop button.

    async def show(self, place: Place, sign: WorkIndicator, words: str) -> None:
        """A refusal raises. Slack's trouble does not: the work goes on without an indicator."""
        try:
            await self._set_indicator(place, sign, words=words, session=AT_WORK)
        except SlackError as error:
            if not error.again:
                raise
            log.info("the work indicator is not shown: %s", error)

    async def clear(self, place: Place, sign: WorkIndicator) -> None:
        try:
            await self._set_indicator(place, sign, words="", session=AT_REST)
        except SlackError as error:
            _raise_unless(error, NO_THREAD)

    async def name_session(self, place: Place, title: str, *, closed: bool) -> None:
        """
        Slack takes a title with the first state of a session, and after that only by another name. A title that it does
        not take just now is no loss: the next step has another one.
        """
        title = self._identity.redact(title)
        rename = self._client.agents_sessions_rename
        try:
            await self._call.at_once(rename, channel_id=place.channel, thread_ts=place.thread, title=title)
        except SlackError as error:
            if error.reason in NO_AGENT:
                raise
            if error.reason == NO_SESSION:
                await self._set_session(place, OVER if closed else AT_REST, title=title)
                return
            log.info("a session keeps its title: %s (%s)", error, error.reason)
        if closed:
            await self._set_session(place, OVER)

    async def _set_session(self, place: Place, status: str, **title: str) -> None:
        set_status = self._client.agents_sessions_setStatus
        where = {"channel_id": place.channel, "thread_ts": place.thread}
        try:
            await self._call(set_status, **where, status=status, **title)
        except SlackError as error:
            if error.again or error.reason in NO_AGENT:
                raise
            log.info("a session keeps its state: %s (%s)", error, error.reason)

    async def _set_indicator(self, place: Place, sign: WorkIndicator, *, words: str, session: str) -> None:
        where = {"channel_id": place.channel, "thread_ts": place.thread}
        match sign:
            case WorkIndicator.SESSION:
                await self._call(self._client.agents_sessions_setStatus, **where, status=session)
            case WorkIndicator.STATUS:
                await self._call(self._client.assistant_threads_setStatus, **where, status=words)
            case WorkIndicator.REACTION:
                raise AssertionError("a reaction is set on a message, by `react`")
            case _:
                assert_never(sign)


REPLY_URL_SECONDS = 25 * 60
REPLY_URL_USES = 4
"""Slack takes five within half an hour; one is left for what only the person is told."""
OF_A_PRESS = frozenset({Urgency.ANSWER, Urgency.TIDY})


class PressedMessages:
    """The reply URLs of the newest presses, by message, with the uses that are left. Of this process only."""

    def __init__(self) -> None:
        self._urls: LruCache[str, tuple[str, float, int]] = LruCache(CARDS_REMEMBERED)

    def note(self, message: str, url: str) -> None:
        if url:
            self._urls[message] = (url, time.monotonic() + REPLY_URL_SECONDS, REPLY_URL_USES)

    def has(self, message: str) -> bool:
        """Whether there is one that can still be used."""
        _, until, uses = self._urls.get(message) or ("", 0.0, 0)
        return uses > 0 and time.monotonic() <= until

    def take(self, message: str) -> str:
        if not self.has(message):
            return ""
        url, until, uses = self._urls[message]
        self._urls[message] = (url, until, uses - 1)
        return url

    def forget(self, message: str) -> None:
        self._urls.pop(message, None)


def _looks(part: RenderedMessage) -> int:
    """The ids of blocks change with every revision of a card, and are not seen."""
    seen = [{name: value for name, value in block.items() if name != "block_id"} for block in part.blocks]
    return hash(json.dumps([part.text, seen]))


def _raise_unless(error: SlackError, expected: frozenset[str]) -> None:
    if error.reason not in expected:
        raise error


# --- files ----------------------------------------------------------------------------------------------------------

UPLOAD_SECONDS = 60
SERVER_ERROR = 500
OK = 200


class _Files:
    """
    Files into a thread in three steps: ask for an address, send the bytes there, share all files at once.

    Only the last step is visible. The comment above the files names them, so one look tells whether it was done.
    """

    def __init__(self, calls: Calls, lookup: PostLookup) -> None:
        self._calls = calls
        self._client = calls.client
        self._lookup = lookup

    async def share(self, place: Place, sheets: Sequence[ExportFile], comment: str, *, key: str) -> None:
        files = [{"id": await self._upload(one), "title": one.title} for one in sheets]
        await self._calls(
            self._client.files_completeUploadExternal,
            files=files,
            channel_id=place.channel,
            thread_ts=place.thread,
            initial_comment=comment,
        )
        log.info("%s: %s are in %s", key, ", ".join(one.name for one in sheets), place.key)

    async def are_there(self, place: Place, sheets: Sequence[ExportFile], *, key: str) -> bool | None:
        """None when Slack does not let us see."""
        texts = await self._lookup.texts(place, key)
        return None if texts is None else any(all(one.name in text for one in sheets) for text in texts)

    async def _upload(self, sheet: ExportFile) -> str:
        """The id of the file."""
        answer = await self._calls(
            self._client.files_getUploadURLExternal, filename=sheet.name, length=len(sheet.content)
        )
        assert self._client.session
        with errors_translated():
            async with self._client.session.post(
                answer["upload_url"],
                data=sheet.content,
                headers={"Content-Type": "application/octet-stream"},
                timeout=aiohttp.ClientTimeout(total=UPLOAD_SECONDS),
            ) as response:
                status = response.status
        if status != OK:
            again = status >= SERVER_ERROR
            raise SlackError("Slack did not take the file.", reason=f"upload_{status}", again=again)
        return str(answer["file_id"])
