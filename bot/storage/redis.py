"""
The store that several processes share. `docs/redis.md` lists every key.

A roundtable is a hash with its whole value and a list of the changes since (ADR 37), saved by one script that compares
and sets. The indexes are written before it, in the same round trip. A reader ignores an index entry without its
roundtable; a roundtable without its entry would not be found.
"""

import logging
import math
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import suppress
from secrets import token_hex
from typing import Any, NamedTuple

from bot.domain.messages.home_page import ReminderSettings
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.domain.values.places import Place
from bot.domain.values.timestamps import seconds
from bot.engine.lru import LruCache
from bot.errors import Conflict, NewerVersion, Unavailable
from bot.storage import journal
from bot.storage.redis_client import Connected, bounded
from bot.storage.serialization import (
    SHAPE,
    UnreadableState,
    is_due,
    newer,
    reminder_settings,
)

# The scripts are sent with each call: they are shorter than a state, and a server that was restarted or replaced does
# not know them.

FIELDS = (
    "version", "incarnation", "stage", "phase", "step", "turn_count", "max_turns", "team", "channel", "thread", "owes",
    "updated", "due", "shape", "begun", "link",
)  # fmt: skip
"""
Copies for people, scripts and indexes, and what the last save and the whole value are called. The roundtable is in
`state`, and in the list of changes.
"""
EXPECTED, SEEN, KEPT, LISTED, NAMED, TIMED, CONTENT, FOLLOWS = (f"ARGV[{number}]" for number in range(1, 9))
GIVEN = {name: f"ARGV[{number}]" for number, name in enumerate(FIELDS, start=9)}
SAVED, UNLISTED, ANOTHER, INCOMPLETE = -1, -2, -3, -4
WHOLE = -1
UNKNOWN, NO_BASE = ("", "", "", ""), ("", 0)

SAVE = f"""
local found = redis.call('HMGET', KEYS[1], 'version', 'team', 'channel', 'thread', 'link')
local version = tonumber(found[1] or '0')
if version ~= tonumber({EXPECTED}) then return version end
if {SEEN} ~= '' and found[5] ~= {SEEN} then return {ANOTHER} end
local stays = found[2] == {GIVEN["team"]} and found[3] == {GIVEN["channel"]} and found[4] == {GIVEN["thread"]}
if {LISTED} == '' and not stays then return {UNLISTED} end
if tonumber({FOLLOWS}) ~= {WHOLE} and tonumber({FOLLOWS}) ~= redis.call('LLEN', KEYS[3]) then return {INCOMPLETE} end
if tonumber({FOLLOWS}) == {WHOLE} then
    redis.call('HSET', KEYS[1], 'state', {CONTENT})
    redis.call('DEL', KEYS[3])
else
    redis.call('RPUSH', KEYS[3], {CONTENT})
end
redis.call('HSET', KEYS[1], {", ".join(f"'{name}',{given}" for name, given in GIVEN.items())})
if {TIMED} == '' then redis.call('ZREM', KEYS[2], {NAMED}) else redis.call('ZADD', KEYS[2], {TIMED}, {NAMED}) end
if {KEPT} == '' then redis.call('PERSIST', KEYS[1]) else redis.call('EXPIRE', KEYS[1], {KEPT}) end
return {SAVED}
"""
"""
KEYS: the roundtable, the index of timers, and the changes. ARGV: the expected version, the name of that save or "",
after how many seconds it expires or "", whether the other indexes were written before it, its slug, when its next timer
is due (in seconds since 1970) or "", the whole value or a change, how many changes there are before it or WHOLE, and
`FIELDS`. What expires has no changes, since it was saved whole.

A save is named by its `link`. A change is always saved with that name: a replica that became master may lack a save,
and then get another one of the same version.

Returns SAVED; UNLISTED when it has moved to another thread, so that the indexes must be written; ANOTHER when another
value of the expected version is stored; INCOMPLETE when changes are gone; otherwise the version that was found.
"""

READ = """
local found = redis.call('HMGET', KEYS[1], 'version', 'incarnation', 'updated', 'link', 'begun')
local name = found[4] or ''
local same = found[1] == ARGV[1] and found[2] == ARGV[2] and found[3] == ARGV[3]
if same and (ARGV[4] == '' or ARGV[4] == name) then return {name} end
if found[5] and found[5] == ARGV[5] then return {name, found[1], redis.call('LRANGE', KEYS[2], ARGV[6], -1)} end
return {name, found[1], redis.call('LRANGE', KEYS[2], 0, -1), redis.call('HGET', KEYS[1], 'state')}
"""
"""
KEYS: the roundtable, and its changes. ARGV: version, incarnation, time and name of the save that the caller has, or "";
the link of a whole value that the caller has, or "", and how many changes since.

Returns the name of the save; if the caller has another one, also its version, and the changes that the caller does not
have, or all changes and the whole value.

The time is needed where the name is not known: a replica that became master may lack the last save and then get another
one of the same version.
"""

SETTLE = """
local listed = redis.call('ZSCORE', KEYS[1], ARGV[1])
if listed and tonumber(listed) <= tonumber(ARGV[2]) then redis.call('ZREM', KEYS[1], ARGV[1]) end
"""
"""KEYS: the index of filled outboxes. ARGV: a slug, and its version with an empty outbox; a later entry stays."""

SET_ASIDE = """
if redis.call('HGET', KEYS[1], 'state') ~= ARGV[1] then return end
redis.call('RENAME', KEYS[1], KEYS[2])
redis.call('DEL', KEYS[4])
if redis.call('EXISTS', KEYS[3]) == 1 then redis.call('RENAME', KEYS[3], KEYS[4]) end
"""
"""
KEYS: the roundtable and its new key, the changes and their new key. ARGV: the whole value; nothing is done if it has
been replaced.
"""

UNTIMED = "if redis.call('EXISTS', KEYS[2]) == 0 then redis.call('ZREM', KEYS[1], ARGV[1]) end"
"""KEYS: the index of timers, and a roundtable. ARGV: its slug; nothing is done while it is stored."""

KEYS_AT_ONCE = 1_000


class Save(NamedTuple):
    """
    *content* is the whole of a roundtable, or a change that follows so many *lines*; *after* is what is stored then.
    *seen* is the name of the save *expected*, or "".
    """

    content: bytes
    after: journal.Base
    expected: int
    seen: str
    lines: int


class RoundtableSummary(NamedTuple):
    slug: str
    stage: str
    thread: str
    shape: int


async def census(redis: Any, pattern: str) -> tuple[RoundtableSummary, ...]:
    """
    Scans all keys, for the few questions that no index answers. *pattern* matches keys with a slug in braces. What is
    saved during the scan may be missing.
    """
    found: dict[str, RoundtableSummary] = {}
    async for keys in _chunks(redis.scan_iter(match=pattern, count=KEYS_AT_ONCE), KEYS_AT_ONCE):
        reading = redis.pipeline(transaction=False)
        for key in keys:
            reading.hmget(key, "stage", "thread", "shape")
        for key, (stage, thread, shape) in zip(keys, await reading.execute(), strict=True):
            if stage:
                slug = _slug(key.decode(errors="replace"))
                number = int(shape) if shape and shape.isdigit() else 0
                found[slug] = RoundtableSummary(slug, _census_text(stage), _census_text(thread), number)
    return tuple(found.values())


def _census_text(value: bytes | None) -> str:
    return (value or b"").decode(errors="replace")


def _slug(key: str) -> str:
    return key[key.index("{") + 1 : key.rindex("}")]


async def _chunks(keys: AsyncIterator[bytes], size: int) -> AsyncIterator[list[bytes]]:
    chunk: list[bytes] = []
    async for key in keys:
        chunk.append(key)
        if len(chunk) == size:
            yield chunk
            chunk = []
    yield chunk


CONNECTIONS = 64
CENSUS_SECONDS = 1.5
SEEN_AT_MOST = 20_000
SEPARATOR = ", "
KEPT_SECONDS = 30 * 24 * 3600
"""A finished roundtable with an empty outbox. After that its item is still in the workspace."""

log = logging.getLogger(__name__)


class RedisStore(Connected):
    """The roundtables of one *team*: all keys have it in them."""

    def __init__(self, url: str, *, team: str) -> None:
        super().__init__(url, team=team, connections=CONNECTIONS)
        self._unfinished = f"{self._prefix}owing"
        self._timers = f"{self._prefix}timers"
        self._people = f"{self._prefix}people"
        self._listened = f"{self._prefix}listened"
        self._probe = f"{self._prefix}probe"
        self._settled: dict[str, int] = {}
        # Slugs saved by a newer version of this program, with the error sentence.
        self._newer: dict[str, str] = {}
        self._scanned = False
        # The version of the save that was seen last, and its name.
        self._seen: LruCache[str, tuple[int, str]] = LruCache(SEEN_AT_MOST)
        self._bases: LruCache[str, journal.Base] = LruCache(journal.BASES_REMEMBERED)

    async def get(self, slug: str, *, known: Roundtable | None = None) -> Roundtable | None:
        base = self._bases.get(slug)
        async with bounded():
            answer = await self._redis.eval(READ, 2, *self._reading(slug, known, base))
            if known and len(answer) == 1:
                self._note(known, *answer)
                return known
            found = await self._answered(slug, base, answer)
        return self._noted(*found) if found else None

    async def put(self, roundtable: Roundtable, *, expected: int) -> None:
        await self._put(roundtable, self._bases.get(roundtable.slug), expected)

    async def put_whole(self, roundtable: Roundtable, *, expected: int) -> None:
        """`put`, after which nothing of what was saved before is stored."""
        await self._put(roundtable, None, expected)

    async def has_changes(self, slug: str) -> bool:
        async with bounded():
            return bool(await self._redis.exists(self._changes_key(slug)))

    async def _put(self, roundtable: Roundtable, base: journal.Base | None, expected: int) -> None:
        assert roundtable.version == expected + 1, "every save is a version of its own"
        seen, listed = self._name(roundtable.slug, expected), expected == 0 or not roundtable.pending
        save = _saving(base if base and base.link == seen else None, roundtable, expected, seen)
        async with bounded():
            found = await self._save(save, listed=listed)
            if found == UNLISTED:
                found = await self._save(save, listed=True)
            if found == INCOMPLETE:
                save = _saving(None, roundtable, expected, seen)
                found = await self._save(save, listed=True)
        if found != SAVED:
            other = f"another value of version {expected}" if found == ANOTHER else f"version {found}"
            raise Conflict(f"{roundtable.slug} is at {other}, not at version {expected} as it was seen")
        self._seen[roundtable.slug] = roundtable.version, save.after.link
        self._bases[roundtable.slug] = save.after
        if not roundtable.pending:
            self._settled[roundtable.slug] = roundtable.version

    async def _read(
        self, slugs: tuple[str, ...], *, skip_newer: bool = False
    ) -> list[tuple[journal.OpenedJournal, bytes]]:
        """Each with the name of its save."""
        reading = self._redis.pipeline(transaction=False)
        bases = [self._bases.get(slug) for slug in slugs]
        for slug, base in zip(slugs, bases, strict=True):
            reading.eval(READ, 2, *self._reading(slug, base=base))
        answers = await reading.execute() if slugs else []
        found = []
        for slug, base, answer in zip(slugs, bases, answers, strict=True):
            try:
                if one := await self._answered(slug, base, answer):
                    found.append(one)
            except NewerVersion:
                if not skip_newer:
                    raise
        return found

    async def _answered(
        self, slug: str, base: journal.Base | None, answer: list[Any]
    ) -> tuple[journal.OpenedJournal, bytes] | None:
        """What *answer* says, which `READ` gave to a caller that has *base*; with the name of the save."""
        name, version, changes, *state = answer
        if base and not state:
            if found := _resumed(base, version, changes, _text(name)):
                return found, name
            name, version, changes, *state = await self._redis.eval(READ, 2, *self._reading(slug))
        opened = await self._opened(slug, version, changes, *state)
        return (opened, name) if opened else None

    async def _save(self, save: Save, *, listed: bool) -> int:
        roundtable, expected = save.after.value, save.expected
        saving = self._redis.pipeline(transaction=False)
        if listed:
            self._list(saving, roundtable)
        if roundtable.pending:
            saving.zadd(self._unfinished, {roundtable.slug: roundtable.version}, gt=True)
        slug = roundtable.slug
        kept = KEPT_SECONDS if journal.is_over(roundtable) else ""
        timed = seconds(roundtable.next_due) if roundtable.timers else ""
        arguments = (expected, save.seen, kept, "listed" if listed else "", slug, timed, save.content)
        fields = (save.lines, *_fields(roundtable), save.after.begun, save.after.link)
        saving.eval(SAVE, 3, self._key(slug), self._timers, self._changes_key(slug), *arguments, *fields)
        position = len(saving) - 1
        settled, self._settled = self._settled, {}
        for slug, version in settled.items():
            saving.eval(SETTLE, 1, self._unfinished, slug, version)
        answers = await saving.execute()
        return int(answers[position])

    def _name(self, slug: str, version: int) -> str:
        """Of the save of this *version*, if it was seen here: another value may have the same version."""
        seen, name = self._seen.get(slug, (0, ""))
        return name if seen == version else ""

    def _note(self, roundtable: Roundtable, name: bytes) -> None:
        self._seen[roundtable.slug] = roundtable.version, _text(name)

    def _noted(self, stored: journal.OpenedJournal, name: bytes) -> Roundtable:
        self._note(stored.value, name)
        if stored.base:
            self._bases[stored.value.slug] = stored.base
        return stored.value

    async def at(self, place: Place) -> Roundtable | None:
        async with bounded():
            slugs = map(_text, await self._redis.smembers(self._thread_key(place)))
            found = await self._read(tuple(slugs))
        held = next((one for one in found if one[0].value.place == place), None)
        return self._noted(*held) if held else None

    async def in_channel(self, team: str, channel: str) -> tuple[Roundtable, ...]:
        async with bounded():
            slugs = tuple(map(_text, await self._redis.smembers(self._channel_key(team, channel))))
            found = [one.value for one, _ in await self._read(slugs, skip_newer=True)]
            there = {one.slug for one in found} | self._newer.keys()
            await self._forget(team, channel, [slug for slug in slugs if slug not in there])
        here = [one for one in found if (one.place.team, one.place.channel) == (team, channel)]
        return tuple(sorted(here, key=lambda one: one.now, reverse=True))

    async def waiting(self) -> int:
        """How many roundtables are unfinished; writes nothing."""
        async with bounded():
            listed = await self._listed_as_unfinished()
        return sum(bool(_listed(kinds)) for _, kinds, _ in listed.values())

    async def unfinished(self, *, quiet_since: str = "", now: str = "") -> tuple[str, ...]:
        async with bounded():
            timed = await self._timed(now) if now else ()
            found = await self._listed_as_unfinished()
            settling = self._redis.pipeline(transaction=False)
            for slug, (version, kinds, _) in found.items():
                if version and version.isdigit() and not kinds:
                    settling.eval(SETTLE, 1, self._unfinished, slug, int(version))
            await settling.execute()
        pending = tuple(
            slug
            for slug, (_, kinds, updated) in found.items()
            if is_due(_listed(kinds), _text(updated), quiet_since=quiet_since)
        )
        return (*pending, *(slug for slug in timed if slug not in pending))

    async def _timed(self, now: str) -> tuple[str, ...]:
        """With a timer that is due; whatever is not stored any more leaves the index."""
        slugs = [_text(slug) for slug in await self._redis.zrangebyscore(self._timers, "-inf", seconds(now))]
        looking = self._redis.pipeline(transaction=False)
        for slug in slugs:
            looking.exists(self._key(slug))
            looking.eval(UNTIMED, 2, self._timers, self._key(slug), slug)
        answers = await looking.execute() if slugs else []
        return tuple(slug for slug, there in zip(slugs, answers[::2], strict=True) if there)

    async def _listed_as_unfinished(self) -> dict[str, Any]:
        """The version, the effects and the time of each."""
        slugs = [_text(slug) for slug in await self._redis.zrange(self._unfinished, 0, -1)]
        reading = self._redis.pipeline(transaction=False)
        for slug in slugs:
            reading.hmget(self._key(slug), "version", "owes", "updated")
        return dict(zip(slugs, await reading.execute(), strict=True))

    async def missing(self, slugs: Iterable[str]) -> tuple[str, ...]:
        wanted = tuple(slugs)
        async with bounded():
            looking = self._redis.pipeline(transaction=False)
            for slug in wanted:
                looking.exists(self._key(slug))
            found = await looking.execute() if wanted else []
        return tuple(slug for slug, there in zip(wanted, found, strict=True) if not there)

    async def stages(self) -> Mapping[str, int]:
        return Counter(one.stage for one in await self._census())

    async def held(self) -> tuple[str, ...]:
        found = await self._census()
        return tuple(one.slug for one in found if one.thread and one.stage != Stage.ANALYSED.value)

    async def listened(self) -> str:
        async with bounded():
            return _text(await self._redis.get(self._listened))

    async def listening(self, at: str) -> None:
        async with bounded():
            await self._redis.set(self._listened, at)

    async def first(self, key: str, *, seconds: float, renew: bool = False) -> bool:
        async with bounded():
            kept = await self._redis.set(
                f"{self._prefix}first:{key}", "", nx=not renew, px=math.ceil(seconds * 1000)
            )
        return bool(kept)

    async def people(self) -> dict[str, ReminderSettings]:
        async with bounded():
            found = await self._redis.hgetall(self._people)
        return {_text(person): reminder_settings(told) for person, told in found.items()}

    async def keep_person(self, person: str, settings: ReminderSettings) -> None:
        async with bounded():
            await self._redis.hset(self._people, person, settings.model_dump_json())

    async def ping(self) -> None:
        """Writes, reads and removes: a replica, and a Redis that is full, answer a PING."""
        async with bounded(), self._redis.pipeline(transaction=True) as probing:
            probing.set(self._probe, token := token_hex(8))
            probing.get(self._probe)
            probing.delete(self._probe)
            _, found, _ = await probing.execute()
        if _text(found) != token:
            raise Unavailable("Redis did not keep what was written")
        if not self._scanned:
            self._scanned = True
            with suppress(Unavailable):
                await self._census()
        for slug in tuple(self._newer):
            await self.get(slug)

    async def _census(self) -> tuple[RoundtableSummary, ...]:
        async with bounded(CENSUS_SECONDS):
            found = await census(self._redis, self._key("*"))
        for one in found:
            if one.shape > SHAPE:
                self._note_newer(one.slug, newer("roundtable", one.slug))
        return found

    def _note_newer(self, slug: str, sentence: str) -> None:
        if slug not in self._newer:
            log.error("%s", sentence)
        self._newer[slug] = sentence

    async def _forget(self, team: str, channel: str, gone: list[str]) -> None:
        """Removes expired roundtables from the index. One that is saved for the first time meanwhile is put back."""
        if not gone:
            return
        await self._redis.srem(self._channel_key(team, channel), *gone)
        for slug in gone:
            if await self._redis.exists(self._key(slug)):
                await self._redis.sadd(self._channel_key(team, channel), slug)

    async def _opened(
        self, slug: str, version: bytes | None, changes: list[bytes], state: bytes | None
    ) -> journal.OpenedJournal | None:
        """An unreadable roundtable is set aside: the item is then rebuilt from the workspace."""
        if state is None:
            self._newer.pop(slug, None)
            return None
        found = None
        try:
            found = _as_of(version, journal.opened(slug, state, changes))
        except NewerVersion as error:
            self._note_newer(slug, str(error))
            raise
        except UnreadableState as error:
            found = None
            log.warning("%s: it is set aside", error)
            aside = f"{self._key(slug)}:unreadable"
            keys = self._key(slug), aside, self._changes_key(slug), f"{aside}:changes"
            await self._redis.eval(SET_ASIDE, len(keys), *keys, state)
        self._newer.pop(slug, None)
        return found

    def _key(self, slug: str) -> str:
        """With braces, as Redis Cluster needed them; stored keys keep their names."""
        return f"{self._prefix}{{{slug}}}"

    def _changes_key(self, slug: str) -> str:
        return f"{self._key(slug)}:changes"

    def _thread_key(self, place: Place) -> str:
        return f"{self._prefix}thread:{{{place.key}}}"

    def _channel_key(self, team: str, channel: str) -> str:
        return f"{self._prefix}channel:{{{team}.{channel}}}"

    def _list(self, saving: Any, roundtable: Roundtable) -> None:
        """Writes the index entries of channel and thread."""
        slug, place = roundtable.slug, roundtable.place
        saving.sadd(self._channel_key(place.team, place.channel), slug)
        if not place.thread:
            return
        saving.sadd(self._thread_key(place), slug)
        if journal.is_over(roundtable):
            saving.expire(self._thread_key(place), KEPT_SECONDS)
        else:
            saving.persist(self._thread_key(place))

    def _reading(
        self, slug: str, known: Roundtable | None = None, base: journal.Base | None = None
    ) -> tuple[int | str, ...]:
        """The two keys and the arguments of `READ`."""
        link = base.link if base and base.value is known else ""
        seen = (known.version, known.incarnation, known.now, link) if known else UNKNOWN
        return (
            self._key(slug),
            self._changes_key(slug),
            *seen,
            *((base.begun, base.lines) if base else NO_BASE),
        )


def _saving(base: journal.Base | None, roundtable: Roundtable, expected: int, seen: str) -> Save:
    if base and (follows := journal.following(base, roundtable)):
        return Save(*follows, expected, seen, base.lines)
    return Save(*journal.whole(roundtable), expected, seen, WHOLE)


def _resumed(
    base: journal.Base, version: bytes, changes: list[bytes], name: str
) -> journal.OpenedJournal | None:
    """None when the changes do not lead from *base* to the save *name*: *base* may have been lost with a master."""
    with suppress(UnreadableState, NewerVersion):
        found = _as_of(version, journal.resumed(base, changes))
        if found.base and found.base.link == name:
            return found
    return None


def _as_of(version: bytes | None, stored: journal.OpenedJournal) -> journal.OpenedJournal:
    """The list of changes is a key of its own: Redis, or a person, may have deleted it alone."""
    if str(stored.value.version) != _text(version):
        raise UnreadableState(f"the stored roundtable {stored.value.slug!r} lacks its last changes")
    return stored


def _fields(roundtable: Roundtable) -> tuple[str | int | bytes, ...]:
    """In the order of `FIELDS`, without the links."""
    debate, place = roundtable.elaboration, roundtable.place
    return (
        roundtable.version,
        roundtable.incarnation,
        roundtable.stage.value,
        roundtable.phase_key,
        roundtable.step_id,
        debate.turn_count if debate else 0,
        debate.max_turns if debate else roundtable.max_turns,
        place.team,
        place.channel,
        place.thread,
        SEPARATOR.join(roundtable.pending),
        roundtable.now,
        roundtable.next_due,
        roundtable.shape,
    )


def _listed(kinds: object) -> frozenset[str]:
    return frozenset(filter(None, _text(kinds).split(SEPARATOR)))


def _text(value: object) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else ""
