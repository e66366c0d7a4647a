"""
What of a message stands in Slack already: asked only when an attempt may have succeeded without our hearing of it.

Every post carries its key in its metadata, so a bounded read tells. Slack may give fewer messages at once than it is
asked for, so what it gives is read to its end.
"""

import logging
import re
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from bot.domain.roundtable.outcomes import Heard
from bot.domain.roundtable.state import slug_of
from bot.domain.transcript.witness import Witness, read_brief
from bot.domain.values.places import Belonging, Person, Place
from bot.engine.lru import Newest
from bot.engine.ports import Root, Thread
from bot.errors import SlackError
from bot.slack.calls import Calls, following
from bot.slack.client import Identity
from bot.slack.lookup import Names
from bot.slack.markdown import readable
from bot.slack.parse import heard, part, word
from bot.slack.refusals import SENTENCES

log = logging.getLogger(__name__)

EVENT_TYPE = "roundtable_line"
MESSAGES_READ = 999
"""In a thread, where the oldest come first: as many as Slack gives at once."""
POSTS_READ = 100
"""In a channel, where the newest come first."""
PAGES = 10
THREADS_REMEMBERED = 10_000
_NUMBER = re.compile("[0-9]{1,9}")


def metadata(key: str, number: int, count: int, *, step: str, witness: str = "") -> Mapping[str, Any]:
    """Ids only: everybody in the workspace can read this."""
    about = {name: said for name, said in (("step", step), ("witness", witness)) if said}
    payload = {"key": _part_key(key, number), "part": number, "parts": count, **about}
    return {"event_type": EVENT_TYPE, "event_payload": payload}


def step_of(message: Mapping[str, Any]) -> str:
    """The step that *message*, a post of ours, was about; empty when it does not say."""
    return _said(message, "step")


def witness_of(message: Mapping[str, Any]) -> Witness:
    """What was committed when *message*, a post of ours, was posted."""
    return read_brief(_said(message, "witness"))


def key_of(message: Mapping[str, Any]) -> str:
    """The id of the line that *message*, a post of ours, or a part of it, is in the transcript."""
    return _said(message, "key").partition("#")[0]


def _said(message: Mapping[str, Any], name: str) -> str:
    return str(part(message, "metadata", "event_payload").get(name) or "")


def item_of(message: Mapping[str, Any]) -> str:
    """The item that *message*, a root post of ours, was the first of; empty when it is something else."""
    is_root = message.get("thread_ts") in (None, "", message.get("ts"))
    is_line = word(message, "metadata", "event_type") == EVENT_TYPE
    return slug_of(_said(message, "key")) if is_line and is_root and _said(message, "part") == "1" else ""


class _Post(NamedTuple):
    """The newest that we know of in a thread, and where the one *before* it stands."""

    key: str
    ts: str
    before: str


class _Seen(NamedTuple):
    """What was read; *whole* when there is no more."""

    messages: list[Mapping[str, Any]]
    whole: bool


class Earlier:
    def __init__(self, calls: Calls, bot: str) -> None:
        self._calls = calls
        self._bot = bot
        self._newest: Newest[str, _Post] = Newest(THREADS_REMEMBERED)

    def stands(self, place: Place, key: str, ts: str) -> None:
        """*key* is in the thread, up to *ts*; what comes after it in the outbox is newer than that."""
        newest = self._newest.get(place.key)
        self._newest[place.key] = _Post(key, ts, before=_not_newer(newest, key))

    def is_bare(self, place: Place) -> bool:
        """Whether, as far as we know, nothing stands in the thread but its root: there people are shown no whispers."""
        newest = self._newest.get(place.key)
        return newest is not None and newest.ts == place.thread

    async def parts(self, place: Place, key: str) -> Mapping[int, str] | None:
        """The stamps of the parts that are there, by number. None when Slack does not let us see."""
        found = await self._looked_up(place, key)
        if found is None or place.thread or 1 not in found:
            return found
        return {**found, **(await self._looked_up(place.but(thread=found[1]), key) or {})}

    async def root(self, place: Place) -> Root | None:
        """As `Chat` has it. Others can post metadata, too; under our bot id only we can."""
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
        return Root(slug, readable(str(first.get("text")))) if slug else None

    async def find_root(self, place: Place, slug: str) -> str:
        """As `Chat` has it; Slack gives the newest messages first."""
        seen = await self._read(place.but(thread=""), "")
        ours = (one for one in seen.messages if one.get("bot_id") == self._bot)
        return next((str(one["ts"]) for one in ours if item_of(one) == slug), "")

    async def texts(self, place: Place, key: str) -> Sequence[str] | None:
        """What our newest messages in the thread say; None when Slack does not let us see all of them."""
        seen = await self._seen(place, key)
        if seen is None or not seen.whole:
            return None
        return [str(one.get("text")) for one in seen.messages if one.get("bot_id") == self._bot]

    async def _seen(self, place: Place, key: str) -> _Seen | None:
        """None when Slack does not let us look."""
        try:
            return await self._read(place, key)
        except SlackError as error:
            if error.again:
                raise
            log.warning("can't look for %s in %s: %s", key, place.key, error.reason)
            return None

    async def _looked_up(self, place: Place, key: str) -> Mapping[int, str] | None:
        seen = await self._seen(place, key)
        if seen is None:
            return None
        ours = [message for message in seen.messages if message.get("bot_id") == self._bot]
        if _is_kept_from_us(ours):
            log.warning("%s shows no metadata, so nobody can look for %s", place.key, key)
            return None
        found = dict(_carrying(ours, key))
        if place.thread and not found and not seen.whole:
            log.warning("can't see all of %s to look for %s", place.key, key)
            return None
        return found

    async def _read(self, place: Place, key: str) -> _Seen:
        """All of the thread, as far as a bounded number of pages goes; of a channel, the newest posts."""
        messages: list[Mapping[str, Any]] = []
        cursor = ""
        for _ in range(PAGES):
            answer = await self._page(place, key, cursor)
            messages += answer.get("messages") or ()
            cursor = following(answer)
            if not cursor or (not place.thread and len(messages) >= POSTS_READ):
                return _Seen(messages, whole=not cursor and not answer.get("has_more"))
        return _Seen(messages, whole=False)

    async def _page(self, place: Place, key: str, cursor: str) -> Any:
        if not place.thread:
            return await self._calls(
                self._calls.client.conversations_history,
                channel=place.channel,
                cursor=cursor or None,
                limit=POSTS_READ,
                include_all_metadata=True,
            )
        return await self._calls(
            self._calls.client.conversations_replies,
            channel=place.channel,
            ts=place.thread,
            oldest=_not_newer(self._newest.get(place.key), key) or None,
            cursor=cursor or None,
            limit=MESSAGES_READ,
            include_all_metadata=True,
        )


def _not_newer(newest: _Post | None, key: str) -> str:
    """A stamp that any post of *key* comes after, so that nobody reads the thread from its beginning."""
    if newest is None:
        return ""
    return newest.before if newest.key == key else newest.ts


def _is_kept_from_us(ours: Sequence[Mapping[str, Any]]) -> bool:
    """Whatever we say has metadata, except what comes with files."""
    said = [message for message in ours if not message.get("files")]
    return bool(said) and not any(message.get("metadata") for message in said)


def _carrying(messages: Iterable[Mapping[str, Any]], key: str) -> Iterator[tuple[int, str]]:
    for message in messages:
        number = _said(message, "part")
        if word(message, "metadata", "event_type") != EVENT_TYPE or not _NUMBER.fullmatch(number):
            continue
        if _said(message, "key") == _part_key(key, int(number)):
            yield int(number), message["ts"]


def _part_key(key: str, number: int) -> str:
    return key if number == 1 else f"{key}#{number}"


# What people said in a thread, and below which of our messages: read when it was not heard, or was
# forgotten.


A_PAGE = 200
"""The oldest come first, so the newest of a longer thread stay unread."""


class Page(NamedTuple):
    messages: list[Mapping[str, Any]]
    is_last: bool


class ThreadReader:
    def __init__(self, calls: Calls, identity: Identity, names: Names) -> None:
        self._calls = calls
        self._identity = identity
        self._names = names

    async def read(self, place: Place, *, after: str) -> Thread:
        said: list[Heard] = []
        about, complete, witness = "", False, Witness()
        seen: set[str] = set()
        async for page in self._pages(place, after):
            complete = page.is_last
            for message in _unseen(page.messages, seen):
                if message.get("bot_id") == self._identity.bot:
                    about = step_of(message)
                    witness = witness_of(message) or witness
                elif (one := heard(message, self._identity)) and one.ts > after:
                    said.append(one.but(about=about))
        names = {one.person.id: await self._names.or_id(one.person.id) for one in said}
        known = (one.but(person=self._known(one.person, names[one.person.id])) for one in said)
        return Thread(tuple(known), complete, witness)

    def _known(self, person: Person, name: str) -> Person:
        """Words that act count as those of a guest where Slack does not say who wrote them."""
        belongs = person.belongs or self._names.belonging(person.id) or Belonging.UNVERIFIED
        return person.but(name=name, belongs=belongs)

    async def _pages(self, place: Place, after: str) -> AsyncIterator[Page]:
        cursor = ""
        for _ in range(PAGES):
            answer = await self._calls(
                self._calls.client.conversations_replies,
                channel=place.channel,
                ts=place.thread,
                oldest=after or None,
                cursor=cursor or None,
                limit=A_PAGE,
                include_all_metadata=True,
            )
            cursor = following(answer)
            yield Page(answer["messages"], is_last=not cursor)
            if not cursor:
                return


def _unseen(messages: Iterable[Mapping[str, Any]], seen: set[str]) -> Iterator[Mapping[str, Any]]:
    """Slack begins every page of a thread with its root."""
    for message in messages:
        if (ts := str(message.get("ts"))) not in seen:
            seen.add(ts)
            yield message


# One post: in the thread that it is for, or not at all.
#
# Into a thread whose root is gone Slack posts all the same, and what it posts stands in the channel, before
# everybody. That the answer names no thread is the only sign of it.


GONE = "thread_not_found"


class Posting:
    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._client = calls.client

    async def __call__(self, **arguments: Any) -> str:
        """The stamp. What Slack posted beside its thread is taken back, and that is a SlackError, too."""
        answer = await self._calls(self._client.chat_postMessage, **arguments)
        ts, channel, thread = str(answer["ts"]), arguments["channel"], arguments.get("thread_ts")
        if thread and _is_astray(answer) and await self._is_gone(channel, thread):
            await self._take_back(channel, ts)
            raise SlackError(SENTENCES[GONE], reason=GONE)
        return ts

    async def _is_gone(self, channel: str, thread: str) -> bool:
        """An answer may leave out what it need not say, so that nothing is taken back on its word alone."""
        try:
            await self._calls(self._client.conversations_replies, channel=channel, ts=thread, limit=1)
        except SlackError as error:
            return error.reason == GONE
        return False

    async def _take_back(self, channel: str, ts: str) -> None:
        try:
            await self._calls(self._client.chat_delete, channel=channel, ts=ts)
        except SlackError as error:
            log.warning("%s stands in %s, and its thread is gone: %s", ts, channel, error)


def _is_astray(answer: Any) -> bool:
    message = answer.get("message")
    return isinstance(message, dict) and not message.get("thread_ts")
