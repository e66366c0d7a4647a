"""
Reading what stands in Slack.

`PostLookup` finds our own posts, after an attempt that may have succeeded without an answer. `ThreadReader` reads what
people said while the bot did not hear it. `thread_evidence` reads a whole thread, for a command.
"""

import logging
import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.roundtable.outcomes import ThreadMessage
from bot.domain.transcript.last_line import LastLine
from bot.domain.values.places import Belonging, Person, Place
from bot.engine.access import retried
from bot.engine.lru import LruCache
from bot.engine.ports import RootMessage, ThreadMessages, Urgency
from bot.errors import SlackError
from bot.slack.client import Calls, Identity, Method, RefusalsNoted, following
from bot.slack.lookup import PersonNames
from bot.slack.markdown import called, calling_by_name, readable
from bot.slack.parse import heard
from bot.slack.posting import carried_by, is_line, item_of, last_line_of, part_key, step_of

log = logging.getLogger(__name__)

MESSAGES_READ = 999
"""A page of a thread, where the oldest come first: as many as Slack gives at once."""
POSTS_READ = 100
"""A page of a channel, where the newest come first."""
A_PAGE = 200
PAGES = 10
FAR_BACK_PAGES = 25
THREADS_REMEMBERED = 10_000
CANNOT_LOOK = "can't look for %s in %s"
_NUMBER = re.compile("[0-9]{1,9}")


class _Found(NamedTuple):
    """*whole* when there is nothing more to read."""

    messages: list[Mapping[str, Any]]
    whole: bool


class PostLookup:
    """Finds our own posts. Slack may give fewer messages than a page has, so all pages are read, up to a limit."""

    def __init__(self, calls: Calls, bot: str) -> None:
        self._calls = calls
        self._bot = bot
        self._newest: LruCache[str, str] = LruCache(THREADS_REMEMBERED)

    def remember(self, place: Place, ts: str) -> None:
        """Our newest post in the thread."""
        self._newest[place.key] = ts

    def is_bare(self, place: Place) -> bool:
        """Whether the thread has, as far as we know, only its root: Slack shows no ephemeral messages there."""
        return self._newest.get(place.key) == place.thread

    async def parts(self, place: Place, key: str) -> Mapping[int, str] | None:
        """The timestamps of the parts that were posted, by number. None when Slack does not let us see."""
        found = await self._parts_in(place, key)
        if found is None or place.thread or 1 not in found:
            return found
        return {**found, **(await self._parts_in(place.but(thread=found[1]), key) or {})}

    async def root(self, place: Place) -> RootMessage | None:
        answer = await self._calls(
            self._calls.client.conversations_replies,
            channel=place.channel,
            ts=place.thread,
            limit=1,
            include_all_metadata=True,
        )
        messages: list[Mapping[str, Any]] = answer.get("messages") or []
        first = next((one for one in messages if one.get("ts") == place.thread), {})
        slug = item_of(first) if first.get("bot_id") == self._bot else ""
        return RootMessage(slug, readable(str(first.get("text")))) if slug else None

    async def find_root(self, place: Place, slug: str) -> str:
        found = await self._read(place.but(thread=""))
        return next((str(one["ts"]) for one in self._ours(found.messages) if item_of(one) == slug), "")

    async def texts(self, place: Place, key: str) -> Sequence[str] | None:
        """The texts of our newest posts in the thread; None when Slack does not let us see all of them."""
        found = await self._read_if_allowed(place, key)
        if found is None or not found.whole:
            return None
        return [str(one.get("text")) for one in self._ours(found.messages)]

    async def far_back(self, channel: str, key: str) -> str:
        """The timestamp of *key* in the channel; empty when it is not found, or on a refusal."""
        with RefusalsNoted(log, CANNOT_LOOK, key, channel, level=logging.WARNING):
            async for answer in self._posts_in(channel, most=FAR_BACK_PAGES, limit=A_PAGE):
                for message in self._ours(answer["messages"]):
                    if is_line(message) and carried_by(message, "key") == key:
                        return str(message["ts"])
            if following(answer):
                log.warning(
                    "%s is not among the newest %s messages of %s", key, FAR_BACK_PAGES * A_PAGE, channel
                )
        return ""

    def _ours(self, messages: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        return [message for message in messages if message.get("bot_id") == self._bot]

    async def _read_if_allowed(self, place: Place, key: str) -> _Found | None:
        with RefusalsNoted(log, CANNOT_LOOK, key, place.key, level=logging.WARNING):
            return await self._read(place)
        return None

    async def _parts_in(self, place: Place, key: str) -> Mapping[int, str] | None:
        read = await self._read_if_allowed(place, key)
        if read is None:
            return None
        ours = self._ours(read.messages)
        if _hides_metadata(ours):
            log.warning("%s shows no metadata, so %s can't be looked for", place.key, key)
            return None
        found = dict(_carrying(ours, key))
        if place.thread and not found and not read.whole:
            log.warning("can't see all of %s to look for %s", place.key, key)
            return None
        return found

    async def _read(self, place: Place) -> _Found:
        """The thread, up to a limit of pages, or the newest posts of the channel."""
        if place.thread:
            replies, is_whole = await _thread_messages(self._calls, place, limit=MESSAGES_READ)
            return _Found([*replies.values()], is_whole)
        posts: list[Mapping[str, Any]] = []
        async for answer in self._posts_in(place.channel, most=PAGES, limit=POSTS_READ):
            posts += answer.get("messages") or ()
            if len(posts) >= POSTS_READ:
                break
        return _Found(posts, whole=False)

    def _posts_in(self, channel: str, *, most: int, limit: int) -> AsyncIterator[Any]:
        method = self._calls.client.conversations_history
        return self._calls.pages(method, most=most, channel=channel, limit=limit, include_all_metadata=True)


def _hides_metadata(ours: Sequence[Mapping[str, Any]]) -> bool:
    """All our posts have metadata, except those with files."""
    said = [message for message in ours if not message.get("files")]
    return bool(said) and not any(message.get("metadata") for message in said)


def _carrying(messages: Iterable[Mapping[str, Any]], key: str) -> Iterator[tuple[int, str]]:
    for message in messages:
        number = carried_by(message, "part")
        if not is_line(message) or not _NUMBER.fullmatch(number):
            continue
        if carried_by(message, "key") == part_key(key, int(number)):
            yield int(number), message["ts"]


# --- what people said -----------------------------------------------------------------------------------------------


class ThreadReader:
    """The oldest messages come first, so the newest of a very long thread stay unread."""

    def __init__(self, calls: Calls, identity: Identity, names: PersonNames) -> None:
        self._calls = calls
        self._identity = identity
        self._names = names

    async def read(self, place: Place, *, after: str) -> ThreadMessages:
        said: list[ThreadMessage] = []
        about, last_line = "", LastLine()
        messages, is_whole = await _thread_messages(self._calls, place, oldest=after)
        for message in messages.values():
            if message.get("bot_id") == self._identity.bot:
                about = step_of(message)
                last_line = last_line_of(message) or last_line
            elif (one := heard(message, self._identity)) and one.ts > after:
                said.append(one.but(about=about))
        ids = {name for one in said for name in (one.person.id, *called(one.text))}
        names = await self._names.or_ids(ids)
        known = (
            one.but(
                person=self._known(one.person, names[one.person.id]), text=calling_by_name(one.text, names)
            )
            for one in said
        )
        return ThreadMessages(tuple(known), is_whole, last_line)

    def _known(self, person: Person, name: str) -> Person:
        """Someone whom Slack says nothing about may do no more than a guest."""
        belongs = person.belongs or self._names.belonging(person.id) or Belonging.UNVERIFIED
        return person.but(name=name, belongs=belongs)


async def _thread_messages(
    calls: Calls, place: Place, *, limit: int = 0, oldest: str = "", most: int = PAGES
) -> tuple[Mapping[str, Mapping[str, Any]], bool]:
    """By their timestamps, since Slack repeats the root on every page; and whether that is all of the thread."""
    found: dict[str, Mapping[str, Any]] = {}
    cursor = ""
    async for answer in calls.pages(
        calls.client.conversations_replies,
        most=most,
        channel=place.channel,
        ts=place.thread,
        oldest=oldest or None,
        limit=limit or A_PAGE,
        include_all_metadata=True,
    ):
        found |= {str(message.get("ts")): message for message in answer.get("messages") or ()}
        cursor = following(answer)
    return found, not cursor


# --- a whole thread, for a command ----------------------------------------------------------------------------------

WHOLE_PAGES = 200


class PatientCalls(Calls):
    """Nobody else asks again for a command. What it reads or deletes twice does no harm."""

    async def __call__(self, method: Method, urgency: Urgency | None = None, /, **arguments: Any) -> Any:
        return await retried(partial(super().__call__, method, urgency, **arguments))


class ThreadEvidence(NamedTuple):
    """
    *said* by people, the oldest first, *stamps* of every message in the thread, *posts* of ours that say what was
    committed, by their timestamps. *until* is the last timestamp that was read; empty when all of it was.
    """

    said: tuple[ThreadMessage, ...]
    stamps: frozenset[str]
    posts: tuple[tuple[str, LastLine], ...]
    until: str = ""


async def thread_evidence(client: AsyncWebClient, us: Identity, place: Place) -> ThreadEvidence:
    """Raises SlackError, also after several rate limits in a row."""
    calls = PatientCalls(client, team=us.team)
    messages, is_whole = await _thread_messages(calls, place, most=WHOLE_PAGES)
    heard_people = [one for message in messages.values() if (one := heard(message, us))]
    lookup = PersonNames(calls, us)
    names = await lookup.or_ids({id for one in heard_people for id in called(one.text)})
    said = (one.but(text=calling_by_name(one.text, names)) for one in heard_people)
    ours = ((ts, last_line_of(one)) for ts, one in messages.items() if one.get("bot_id") == us.bot)
    return ThreadEvidence(
        said=tuple(sorted(said, key=lambda one: one.ts)),
        stamps=frozenset(messages),
        posts=tuple(sorted(((ts, one) for ts, one in ours if one), key=lambda one: one[0])),
        until="" if is_whole else max(messages, default=""),
    )


async def delete_own_posts(client: AsyncWebClient, us: Identity, place: Place) -> None:
    """Of the thread, the first message last. Raises SlackError."""
    calls = PatientCalls(client, team=us.team)
    found = await _own_posts(calls, us, place)
    for ts in sorted(found, reverse=True):
        await calls(client.chat_delete, channel=place.channel, ts=ts)


async def _own_posts(calls: PatientCalls, us: Identity, place: Place) -> Mapping[str, Mapping[str, Any]]:
    messages, _ = await _thread_messages(calls, place, most=WHOLE_PAGES)
    return {ts: one for ts, one in messages.items() if one.get("bot_id") == us.bot}


class EditedPosts(NamedTuple):
    """*refused*: Slack did not let them be edited."""

    edited: int = 0
    refused: int = 0

    def and_(self, other: "EditedPosts") -> "EditedPosts":
        return EditedPosts(self.edited + other.edited, self.refused + other.refused)


async def edit_own_posts(
    client: AsyncWebClient, us: Identity, place: Place, change: Callable[[str], str]
) -> EditedPosts:
    """Those of the thread in which *change* changes a text. Raises SlackError where Slack cannot be asked now."""
    calls = PatientCalls(client, team=us.team)
    done = EditedPosts()
    for ts, message in sorted((await _own_posts(calls, us, place)).items()):
        before = {"text": message.get("text", ""), "blocks": message.get("blocks") or []}
        if (after := _changed(before, change)) == before:
            continue
        try:
            await calls(client.chat_update, channel=place.channel, ts=ts, **after)
        except SlackError as error:
            if error.again:
                raise
            done = done.and_(EditedPosts(refused=1))
        else:
            done = done.and_(EditedPosts(edited=1))
    return done


def _changed(found: Any, change: Callable[[str], str]) -> Any:
    """Everything that is shown of a message; ids and values of buttons stay."""
    if isinstance(found, Mapping):
        return {name: one if name in _KEPT else _changed(one, change) for name, one in found.items()}
    if isinstance(found, list):
        return [_changed(one, change) for one in found]
    return change(found) if isinstance(found, str) else found


_KEPT = frozenset({"type", "block_id", "action_id", "value", "url", "image_url"})
