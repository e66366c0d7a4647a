"""
The store that several processes share. `docs/redis.md` lists every key.

A roundtable is two hashes, its state and its parts. One script compares, saves both and keeps the indexes, so all of it
is there or none. All keys of a team have one hash tag, as Redis Cluster needs it.
"""

import logging
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import chain
from typing import Any, NamedTuple

from bot.domain.catalog.policy import Retention
from bot.domain.messages.home_page import ReminderSettings
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.domain.values.places import NOWHERE, Place
from bot.domain.values.timestamps import seconds
from bot.engine.ports import Noted
from bot.errors import Conflict, NewerVersion, Unavailable
from bot.storage.notices import RedisNotices
from bot.storage.ownership import NOT_OWNER, REFUSE_FORMER_OWNER, Ownership, not_owner
from bot.storage.redis_client import Connected
from bot.storage.serialization import (
    SHAPE,
    Save,
    StoredState,
    StoreMemory,
    UnreadableState,
    is_due,
    newer,
    portions,
    reminder_settings,
    saving,
)
from bot.telemetry import redis_span

# The scripts are sent with each call: they are shorter than a state, and a server that was restarted or replaced does
# not know them.

FIELDS = (
    "version", "incarnation", "stage", "phase", "step", "turn_count", "max_turns", "team", "channel", "thread", "owes",
    "updated", "due", "shape", "link", "state",
)  # fmt: skip
"""The roundtable is in `state`. The others are copies for people, scripts and indexes, and the name of the save."""
EXPECTED, SEEN, PARTS, KEPT, SLUG, TIMED, FENCE = (f"ARGV[{number}]" for number in range(1, 8))
GIVEN = {name: f"ARGV[{number}]" for number, name in enumerate(FIELDS, start=8)}
GONE = 8 + len(FIELDS)
SAVED, ANOTHER, INCOMPLETE = -1, -2, -3
WHOLE = -1

SAVE = f"""
{REFUSE_FORMER_OWNER.format(fence="KEYS[6]", owner=FENCE)}
local found = redis.call('HMGET', KEYS[1], 'version', 'link')
local version = tonumber(found[1] or '0')
if version ~= tonumber({EXPECTED}) then return version or {ANOTHER} end
if {SEEN} ~= '' and found[2] ~= {SEEN} then return {ANOTHER} end
local is_whole = tonumber({PARTS}) == {WHOLE}
if not is_whole and tonumber({PARTS}) ~= redis.call('HLEN', KEYS[2]) then return {INCOMPLETE} end
redis.call('HSET', KEYS[1], {", ".join(f"'{name}',{given}" for name, given in GIVEN.items())})
if is_whole then redis.call('DEL', KEYS[2]) end
local gone = tonumber(ARGV[{GONE}])
for i = {GONE} + 1, {GONE} + gone do redis.call('HDEL', KEYS[2], ARGV[i]) end
for i = {GONE} + gone + 1, #ARGV, 2 do redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1]) end
if {TIMED} == '' then redis.call('ZREM', KEYS[3], {SLUG}) else redis.call('ZADD', KEYS[3], {TIMED}, {SLUG}) end
redis.call({GIVEN["owes"]} == '' and 'SREM' or 'SADD', KEYS[4], {SLUG})
redis.call('SADD', KEYS[5], {SLUG})
local keys = {{KEYS[1], KEYS[2]}}
if {GIVEN["thread"]} ~= '' then
    redis.call('SADD', KEYS[7], {SLUG})
    keys[3] = KEYS[7]
end
for _, key in ipairs(keys) do
    if {KEPT} == '' then redis.call('PERSIST', key) else redis.call('EXPIRE', key, {KEPT}) end
end
return {SAVED}
"""
"""
KEYS: the state, the parts, the indexes of timers, of filled outboxes, of its channel, the fence, and the index of its
thread. ARGV: the expected version, the link of that save or "", how many parts it has or WHOLE, after how many seconds
all expires or "", the slug, when its next timer is due (in seconds since 1970) or "", the owner that saves or "",
`FIELDS`, how many parts are gone, their names, and the name and content of each new part.

The first command that writes is one that a Redis without memory refuses: then nothing is written.

Returns SAVED; NOT_OWNER when another process has taken the team since; ANOTHER when another value of the expected
version is stored (a replica that became master may lack a save, and then get another one of the same version);
INCOMPLETE when parts are missing; otherwise the version that was found.
"""

READ = """
local found = redis.call('HMGET', KEYS[1], 'link', 'state')
local link, state = found[1] or '', found[2]
if not state then return {} end
if link == ARGV[1] then return {link} end
return {link, state, redis.call('HGETALL', KEYS[2])}
"""
"""
KEYS: the state and the parts. ARGV: the link of the save that the caller has, or "". Returns nothing when there is
none, and its link alone if the caller has it.
"""

SET_ASIDE = """
if redis.call('HGET', KEYS[1], 'link') ~= ARGV[1] then return end
redis.call('RENAME', KEYS[1], KEYS[3])
redis.call('DEL', KEYS[4])
if redis.call('EXISTS', KEYS[2]) == 1 then redis.call('RENAME', KEYS[2], KEYS[4]) end
"""
"""KEYS: the state, the parts, and their new keys. ARGV: the link; nothing is done if another save is stored."""

FORGET = f"""
local version = tonumber(redis.call('HGET', KEYS[1], 'version') or '0')
if ARGV[2] ~= '' and version ~= tonumber(ARGV[2]) then return version or {ANOTHER} end
local gone = tonumber(ARGV[3])
redis.call('DEL', unpack(KEYS, 1, gone))
redis.call('ZREM', KEYS[gone + 1], ARGV[1])
for i = gone + 2, #KEYS do redis.call('SREM', KEYS[i], ARGV[1]) end
return {SAVED}
"""
"""
KEYS: the state and what else is deleted, the index of timers, and the other indexes. ARGV: the slug, the expected
version or "", and how many keys are deleted. Returns SAVED, or the version that was found.
"""

UNLIST = "if redis.call('EXISTS', KEYS[2]) == 0 then redis.call('SREM', KEYS[1], ARGV[1]) end"
"""KEYS: the index of a channel, and a state. ARGV: its slug; nothing is done while it is stored."""

KEYS_AT_ONCE = 1_000
CONNECTIONS = 64
CENSUS_SECONDS = 1.5
SEPARATOR = ", "
A_DAY = 24 * 3600
MONTHS_SECONDS = 60 * A_DAY

log = logging.getLogger(__name__)


class RoundtableSummary(NamedTuple):
    slug: str
    stage: str
    thread: str
    shape: int


class RedisStore(Connected):
    """The roundtables of one *team*: all keys have it in them. Without an *owner* nothing but versions is compared."""

    def __init__(
        self, url: str, *, team: str, owner: Ownership | None = None, days: int | None = Retention().state
    ) -> None:
        """*days* is how long a finished roundtable with an empty outbox is kept. Then its item is in the workspace."""
        super().__init__(url, team=team, connections=CONNECTIONS)
        self._owner = owner
        self._kept_seconds = "" if days is None else days * A_DAY
        self._fence = f"{self._prefix}fence"
        self._unfinished = f"{self._prefix}owing"
        self._timers = f"{self._prefix}timers"
        self._people = f"{self._prefix}people"
        self._users = f"{self._prefix}users"
        self._probed = f"{self._prefix}probe"
        self._scanned = False
        self._memory = StoreMemory()

    @property
    def notices(self) -> RedisNotices:
        return RedisNotices(self._redis, self._prefix, self._bounded, self._owner)

    async def get(self, slug: str) -> Roundtable | None:
        saved = self._memory.saved.get(slug)
        async with self._bounded():
            answer = await self._redis.eval(READ, 2, *self._asking(slug, saved))
            return await self._answered(slug, saved, answer)

    def _asking(self, slug: str, saved: StoredState | None) -> tuple[str, ...]:
        """The keys and arguments of `READ`."""
        return (*self._keys(slug), saved.link if saved else "")

    async def _answered(self, slug: str, saved: StoredState | None, answer: list[Any]) -> Roundtable | None:
        """*saved* was remembered when it was asked. An unreadable one is set aside, and rebuilt from the workspace."""
        if not answer:
            self._memory.newer.pop(slug, None)
            return None
        if len(answer) == 1:
            return saved.value if saved else None
        link, state, flat = answer
        parts = dict(zip(flat[::2], flat[1::2], strict=True))
        try:
            return self._memory.restore(slug, link, state, parts).value
        except UnreadableState as error:
            log.warning("%s: it is set aside", error)
            aside = (f"{self._prefix}unreadable:{what}:{slug}" for what in ("state", "parts"))
            await self._redis.eval(SET_ASIDE, 4, *self._keys(slug), *aside, link)
            return None

    async def put(self, roundtable: Roundtable, *, expected: int) -> None:
        assert roundtable.version == expected + 1, "every save is a version of its own"
        slug, before = roundtable.slug, self._memory.saved.get(roundtable.slug)
        if before and before.value.version != expected:
            before = None
        save = saving(roundtable, before)
        async with self._bounded():
            found = await self._save(save, expected, before)
            if found == INCOMPLETE:
                save = saving(roundtable, None)
                found = await self._save(save, expected, before)
        if found == NOT_OWNER:
            raise not_owner(self._owner)
        if found != SAVED:
            other = f"another value of version {expected}" if found == ANOTHER else f"version {found}"
            raise Conflict(f"{slug} is at {other}, not at version {expected} as it was seen")
        self._memory.saved[slug] = save.after

    async def _save(self, save: Save, expected: int, before: StoredState | None) -> int:
        rt = save.after.value
        place, is_over = rt.place, rt.stage is Stage.ANALYSED and not rt.pending and not rt.timers
        keys = (
            *self._keys(rt.slug),
            self._timers,
            self._unfinished,
            self._channel_key(place.team, place.channel),
            self._fence,
            self._thread_key(place),
        )
        arguments = (
            expected,
            before.link if before else "",
            WHOLE if save.whole or not before else len(before.parts),
            self._kept_seconds if is_over else "",
            rt.slug,
            seconds(rt.next_due) if rt.timers else "",
            self._owner.fence if self._owner else "",
            *_fields(save),
            len(save.gone),
            *save.gone,
            *(text for part in save.added.items() for text in part),
        )
        with redis_span("EVAL"):
            return int(await self._redis.eval(SAVE, len(keys), *keys, *arguments))

    async def at(self, place: Place) -> Roundtable | None:
        async with self._bounded():
            slugs = await self._redis.smembers(self._thread_key(place))
        for slug in slugs:  # all but one were there before, if any
            if (found := await self.get(slug)) and found.place == place:
                return found
        return None

    async def in_channel(self, team: str, channel: str) -> tuple[Roundtable, ...]:
        key, here = self._channel_key(team, channel), []
        async with self._bounded():
            for slug, saved, answer in await self._asked(await self._redis.smembers(key)):
                with suppress(NewerVersion):
                    found = await self._answered(slug, saved, answer)
                    if found is None:
                        await self._redis.eval(UNLIST, 2, key, self._keys(slug)[0], slug)
                    elif (found.place.team, found.place.channel) == (team, channel):
                        here.append(found)
        return tuple(sorted(here, key=lambda one: one.now, reverse=True))

    async def several(self, slugs: Iterable[str]) -> Mapping[str, Roundtable]:
        found: dict[str, Roundtable] = {}
        for some in portions(slugs):
            async with self._bounded():
                for slug, saved, answer in await self._asked(some):
                    if rt := await self._answered(slug, saved, answer):
                        found[slug] = rt
        return found

    async def _asked(self, slugs: Iterable[str]) -> list[tuple[str, StoredState | None, list[Any]]]:
        """For `_answered`."""
        remembered = [(slug, self._memory.saved.get(slug)) for slug in slugs]
        reading = self._redis.pipeline(transaction=False)
        for slug, saved in remembered:
            reading.eval(READ, 2, *self._asking(slug, saved))
        answers = await reading.execute() if remembered else []
        return [(slug, saved, answer) for (slug, saved), answer in zip(remembered, answers, strict=True)]

    async def unfinished(self, *, quiet_since: str = "", now: str = "") -> tuple[str, ...]:
        async with self._bounded():
            timed = await self._redis.zrangebyscore(self._timers, "-inf", seconds(now)) if now else ()
            slugs = dict.fromkeys((*await self._redis.smembers(self._unfinished), *timed))
            reading = self._redis.pipeline(transaction=False)
            for slug in slugs:
                reading.hmget(self._keys(slug)[0], "owes", "updated", "due")
            stored = await reading.execute() if slugs else []
        return tuple(
            slug
            for slug, (owes, updated, due) in zip(slugs, stored, strict=True)
            if is_due(_kinds(owes), updated or "", quiet_since=quiet_since) or "" < (due or "") <= now
        )

    async def missing(self, slugs: Iterable[str]) -> tuple[str, ...]:
        wanted = tuple(slugs)
        async with self._bounded():
            looking = self._redis.pipeline(transaction=False)
            for slug in wanted:
                looking.exists(self._keys(slug)[0])
            found = await looking.execute() if wanted else []
        return tuple(slug for slug, there in zip(wanted, found, strict=True) if not there)

    async def stages(self) -> Mapping[str, int]:
        return Counter(one.stage for one in await self._census())

    async def held(self) -> tuple[str, ...]:
        found = await self._census()
        return tuple(one.slug for one in found if one.thread and one.stage != Stage.ANALYSED.value)

    async def slugs(self) -> tuple[str, ...]:
        """Of every roundtable."""
        return tuple(one.slug for one in await self._census())

    async def noted(self, what: Noted) -> str:
        async with self._bounded():
            return await self._redis.get(f"{self._prefix}{what}") or ""

    async def note(self, what: Noted, at: str) -> None:
        async with self._bounded():
            await self._redis.set(f"{self._prefix}{what}", at)

    async def first(self, key: str, *, seconds: float, renew: bool = False) -> bool:
        async with self._bounded():
            kept = await self._redis.set(
                f"{self._prefix}first:{key}", "", nx=not renew, px=math.ceil(seconds * 1000)
            )
        return bool(kept)

    async def month(self, name: str, *, tokens: int = 0, micros: int = 0) -> tuple[int, int]:
        key = f"{self._prefix}month:{name}"
        async with self._bounded(), self._redis.pipeline(transaction=True) as adding:
            adding.hincrby(key, "tokens", tokens)
            adding.hincrby(key, "micros", micros)
            adding.expire(key, MONTHS_SECONDS)
            found = await adding.execute()
        return int(found[0]), int(found[1])

    async def people(self) -> dict[str, ReminderSettings]:
        async with self._bounded():
            found = await self._redis.hgetall(self._people)
        return {person: reminder_settings(told) for person, told in found.items()}

    async def keep_person(self, person: str, settings: ReminderSettings) -> None:
        async with self._bounded():
            await self._redis.hset(self._people, person, settings.model_dump_json())

    async def users(self) -> dict[str, str]:
        async with self._bounded():
            return dict(await self._redis.hgetall(self._users))

    async def keep_users(self, users: Mapping[str, str]) -> None:
        if users:
            async with self._bounded():
                await self._redis.hset(self._users, items=[*chain.from_iterable(users.items())])

    async def forget_person(self, person: str) -> None:
        """Whom Slack calls so, how they want to be reminded, and copies of what could not be read."""
        async with self._bounded(CENSUS_SECONDS):
            keys = await self._scan("unreadable:*") + await self._scan(f"first:*{person}*")
            async with self._redis.pipeline(transaction=True) as forgetting:
                forgetting.hdel(self._users, person)
                forgetting.hdel(self._people, person)
                forgetting.delete(self._probed, *keys)
                await forgetting.execute()

    async def forget_item(self, slug: str, place: Place = NOWHERE, *, expected: int | None = None) -> None:
        """
        Of an item that expired, only *place* tells which indexes have it. Raises Conflict where another version than
        *expected* is stored, if that is given.
        """
        state, parts = self._keys(slug)
        aside = (f"{self._prefix}unreadable:{what}:{slug}" for what in ("state", "parts"))
        async with self._bounded(CENSUS_SECONDS):
            firsts = await self._scan(f"first:*.{slug}")
            gone = (state, parts, f"{self._prefix}notice:{slug}", *aside, *firsts)
            stored = (name or "" for name in await self._redis.hmget(state, "team", "channel", "thread"))
            places = (place, Place(**dict(zip(("team", "channel", "thread"), stored, strict=True))))
            sets = [self._unfinished, f"{self._prefix}notices:owing", *map(self._thread_key, places)]
            sets += [self._channel_key(one.team, one.channel) for one in places]
            keys = (*gone, self._timers, *sets)
            told = (slug, "" if expected is None else expected, len(gone))
            found = int(await self._redis.eval(FORGET, len(keys), *keys, *told))
        if found != SAVED:
            raise Conflict(f"{slug} is at version {found}, not at version {expected} as it was seen")
        self._memory.forget(slug)

    async def forget_finished(self, before: str) -> None:
        """Redis does it by itself."""

    async def ping(self) -> None:
        """Also notes what only a newer version can read."""
        await self._probe(self._probed)
        if not self._scanned:
            self._scanned = True
            with suppress(Unavailable):
                await self._census()
        for slug in tuple(self._memory.newer):
            await self.get(slug)

    async def _census(self) -> tuple[RoundtableSummary, ...]:
        """Scans all keys, for the few questions that no index answers. What is saved meanwhile may be missing."""
        found: dict[str, RoundtableSummary] = {}
        begin = self._keys("")[0]
        async with self._bounded(CENSUS_SECONDS):
            scanned = await self._scan("state:*")
            for first in range(0, len(scanned), KEYS_AT_ONCE):
                keys = scanned[first : first + KEYS_AT_ONCE]
                reading = self._redis.pipeline(transaction=False)
                for key in keys:
                    reading.hmget(key, "stage", "thread", "shape")
                for key, (stage, thread, shape) in zip(keys, await reading.execute(), strict=True):
                    if stage:
                        slug = key.removeprefix(begin)
                        number = int(shape) if shape and shape.isdigit() else 0
                        found[slug] = RoundtableSummary(slug, stage, thread or "", number)
        for one in found.values():
            if one.shape > SHAPE:
                self._memory.note_newer(one.slug, newer("roundtable", one.slug))
        return tuple(found.values())

    async def _scan(self, pattern: str) -> list[str]:
        return [key async for key in self._redis.scan_iter(f"{self._prefix}{pattern}", KEYS_AT_ONCE)]

    def _keys(self, slug: str) -> tuple[str, str]:
        """Of the state and the parts."""
        return f"{self._prefix}state:{slug}", f"{self._prefix}parts:{slug}"

    def _thread_key(self, place: Place) -> str:
        return f"{self._prefix}thread:{place.key}"

    def _channel_key(self, team: str, channel: str) -> str:
        return f"{self._prefix}channel:{team}.{channel}"


def _fields(save: Save) -> tuple[str | int, ...]:
    """In the order of `FIELDS`."""
    roundtable = save.after.value
    debate, place = roundtable.elaboration, roundtable.place
    return (
        roundtable.version, roundtable.incarnation, roundtable.stage.value, roundtable.phase_key, roundtable.step_id,
        debate.turns_used if debate else 0, debate.max_turns if debate else roundtable.max_turns,
        place.team, place.channel, place.thread, SEPARATOR.join(roundtable.pending), roundtable.now,
        roundtable.next_due, roundtable.shape, save.after.link, save.state,
    )  # fmt: skip


def _kinds(owes: str | None) -> frozenset[str]:
    return frozenset(filter(None, (owes or "").split(SEPARATOR)))
