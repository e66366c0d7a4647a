"""
What of a message stands in Slack already: asked only when an attempt may have succeeded without our hearing of it.

Every post carries its key in its metadata, so one bounded read tells.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from bot.domain.place import Place
from bot.engine.newest import Newest
from bot.errors import SlackError
from bot.slack.calls import Calls

log = logging.getLogger(__name__)

EVENT_TYPE = "roundtable_line"
MESSAGES_READ = 999
"""In a thread, where the oldest come first: as many as Slack gives at once."""
POSTS_READ = 100
"""In a channel, where the newest come first."""
THREADS_REMEMBERED = 10_000


def metadata(key: str, number: int, count: int, *, step: str) -> Mapping[str, Any]:
    """Ids only: everybody in the workspace can read this."""
    about = {"step": step} if step else {}
    payload = {"key": _part_key(key, number), "part": number, "parts": count, **about}
    return {"event_type": EVENT_TYPE, "event_payload": payload}


def step_of(message: Mapping[str, Any]) -> str:
    """The step that *message*, a post of ours, was about; empty when it does not say."""
    note = message.get("metadata") or {}
    return str((note.get("event_payload") or {}).get("step") or "")


class _Post(NamedTuple):
    """The newest that we know of in a thread, and where the one *before* it stands."""

    key: str
    ts: str
    before: str


class Earlier:
    def __init__(self, calls: Calls, bot: str) -> None:
        self._calls = calls
        self._bot = bot
        self._newest: Newest[str, _Post] = Newest(THREADS_REMEMBERED)

    def stands(self, place: Place, key: str, ts: str) -> None:
        """*key* is in the thread, up to *ts*; what comes after it in the outbox is newer than that."""
        newest = self._newest.get(place.key)
        self._newest[place.key] = _Post(key, ts, before=_not_newer(newest, key))

    async def parts(self, place: Place, key: str) -> Mapping[int, str] | None:
        """The stamps of the parts that are there, by number. None when Slack does not let us see."""
        found = await self._looked_up(place, key)
        if found is None or place.thread or 1 not in found:
            return found
        return {**found, **(await self._looked_up(place.but(thread=found[1]), key) or {})}

    async def texts(self, place: Place, key: str) -> Sequence[str] | None:
        """What our newest messages in the thread say; None when Slack does not let us see all of them."""
        answer = await self._seen(place, key)
        if answer is None or answer.get("has_more"):
            return None
        return [str(one.get("text")) for one in answer["messages"] if one.get("bot_id") == self._bot]

    async def _seen(self, place: Place, key: str) -> Any:
        """None when Slack does not let us look."""
        try:
            return await self._read(place, key)
        except SlackError as error:
            if error.again:
                raise
            log.warning("can't look for %s in %s: %s", key, place.key, error.reason)
            return None

    async def _looked_up(self, place: Place, key: str) -> Mapping[int, str] | None:
        answer = await self._seen(place, key)
        if answer is None:
            return None
        ours = (message for message in answer["messages"] if message.get("bot_id") == self._bot)
        found = dict(_carrying(ours, key))
        if place.thread and not found and answer.get("has_more"):
            log.warning("can't see all of %s to look for %s", place.key, key)
            return None
        return found

    async def _read(self, place: Place, key: str) -> Any:
        if not place.thread:
            return await self._calls(
                self._calls.client.conversations_history,
                channel=place.channel,
                limit=POSTS_READ,
                include_all_metadata=True,
            )
        return await self._calls(
            self._calls.client.conversations_replies,
            channel=place.channel,
            ts=place.thread,
            oldest=_not_newer(self._newest.get(place.key), key) or None,
            limit=MESSAGES_READ,
            include_all_metadata=True,
        )


def _not_newer(newest: _Post | None, key: str) -> str:
    """A stamp that any post of *key* comes after, so that nobody reads the thread from its beginning."""
    if newest is None:
        return ""
    return newest.before if newest.key == key else newest.ts


def _carrying(messages: Iterable[Mapping[str, Any]], key: str) -> Iterator[tuple[int, str]]:
    for message in messages:
        note = message.get("metadata") or {}
        payload = note.get("event_payload") or {}
        number = payload.get("part")
        if note.get("event_type") != EVENT_TYPE or not isinstance(number, int):
            continue
        if payload.get("key") == _part_key(key, number):
            yield number, message["ts"]


def _part_key(key: str, number: int) -> str:
    return key if number == 1 else f"{key}#{number}"
