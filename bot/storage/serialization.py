"""
What a store has of a roundtable or a notice, as JSON.

A roundtable is a small state and its parts: lines, answers, effects, entries and heard words, each written once and
named by a number. A save writes the state and the parts that are new, and deletes those that the state does not name
any more, so it costs the same after 1,000 answers as after one.

A newer version of this program may have written what this one cannot read, such as an unknown kind of effect. That is
not damage: it raises NewerVersion and is not overwritten, because saving it would lose what only the newer version
knows.
"""

import json
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from itertools import chain, islice
from operator import is_
from secrets import token_hex
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from bot.domain.messages.home_page import ReminderSettings
from bot.domain.reviews.notice import Notice
from bot.domain.roundtable.effects import Effect
from bot.domain.roundtable.state import TRIED_AGAIN, Answer, Roundtable
from bot.domain.specification.entries import Entry, HeardWords
from bot.domain.transcript.lines import Line
from bot.engine.lru import LruCache
from bot.errors import BotError, NewerVersion

SHAPE: int = Roundtable.model_fields["shape"].default
KINDS: Mapping[str, TypeAdapter[Any]] = {
    "line": TypeAdapter(Line),
    "answer": TypeAdapter(Answer),
    "effect": TypeAdapter(Effect),
    "entry": TypeAdapter(Entry),
    "heard": TypeAdapter(HeardWords),
}
FIELDS: Mapping[str, str] = {
    "lines": "line",
    "answers": "answer",
    "filed": "answer",
    "unread": "answer",
    "unsaved": "effect",
    "unsent": "effect",
    "outbox": "effect",
}
"""The kind of the parts that these fields of a roundtable have."""
RECORD: Mapping[str, str] = {"entries": "entry", "heard": "heard"}
"""The same of its specification, where these fields are mappings."""
PARTS, FOLLOWING = "parts", "following"
"""In a stored state: by field, the numbers of its parts, as ranges; and by kind, the number that is given next."""

READ_AT_ONCE = 5
REMEMBERED = 1_000
"""As many as the engine remembers roundtables, which are the same objects."""

S = TypeVar("S", Roundtable, Notice)
log = logging.getLogger(__name__)


class UnreadableState(BotError):
    """The stored state is damaged; callers set it aside and go on without it."""


Ranges = tuple[tuple[int, int], ...]


class Parts(NamedTuple):
    """The stored parts of one kind: the values of each field and their numbers, and by identity those of each value."""

    fields: Mapping[str, tuple[tuple[BaseModel, ...], Ranges]] = {}
    numbers: Mapping[int, tuple[BaseModel, int]] = {}
    following: int = 1

    @property
    def stored(self) -> frozenset[int]:
        return frozenset(chain.from_iterable(_numbers(ranges) for _, ranges in self.fields.values()))


class StoredState(NamedTuple):
    """
    A roundtable as it is stored; *link* names the save, since another one may have had the same version. Without
    *parts* it is not known which number each has.
    """

    value: Roundtable
    link: str
    parts: Mapping[str, Parts]

    @property
    def part_count(self) -> int:
        return sum(len(parts.stored) for parts in self.parts.values())


class Save(NamedTuple):
    """*added* and *gone* are parts, named by kind and number. *whole*: no other parts are stored."""

    after: StoredState
    state: str
    added: Mapping[str, str]
    gone: Sequence[str]
    whole: bool


def saving(roundtable: Roundtable, before: StoredState | None) -> Save:
    """What has to be written when *before* is stored, or anything (None). Values are compared by identity."""
    named: dict[str, Ranges] = {}
    added: dict[str, str] = {}
    gone: list[str] = []
    parts = {}
    for kind in KINDS:
        old = (before and before.parts.get(kind)) or Parts()
        parts[kind], new = _next_parts(old, dict(_fields(roundtable, kind)))
        named |= {field: ranges for field, (_, ranges) in parts[kind].fields.items()}
        added |= {part_name(kind, number): value.model_dump_json() for number, value in new.items()}
        if len(parts[kind].numbers) != len(old.numbers) + len(new):
            gone += [part_name(kind, number) for number in sorted(old.stored - parts[kind].stored)]
    after = StoredState(roundtable, token_hex(8), parts)
    following = {kind: its.following for kind, its in parts.items()}
    state = f'{_without_parts(roundtable)[:-1]},"{PARTS}":{_text(named)},"{FOLLOWING}":{_text(following)}}}'
    return Save(after, state, added, gone, whole=not (before and before.parts))


def _next_parts(
    old: Parts, fields: Mapping[str, tuple[BaseModel, ...]]
) -> tuple[Parts, Mapping[int, BaseModel]]:
    """With the values that are new, by number. What a field begins with as before is not looked at one by one."""
    numbers, following = dict(old.numbers), old.following
    stored: dict[str, tuple[tuple[BaseModel, ...], Ranges]] = {}
    new: dict[int, BaseModel] = {}
    has_grown = True
    for field, values in fields.items():
        before, ranges = old.fields.get(field, ((), ()))
        if len(before) > len(values) or not all(map(is_, before, values)):
            before, ranges, has_grown = (), (), False
        found = []
        for value in values[len(before) :]:
            if id(value) not in numbers:
                numbers[id(value)], new[following] = (value, following), value
                following += 1
            found.append(numbers[id(value)][1])
        stored[field] = values, _with_numbers(ranges, found)
    parts = Parts(stored, numbers, following)
    if not has_grown:
        kept = parts.stored
        parts = parts._replace(numbers={key: one for key, one in numbers.items() if one[1] in kept})
    return parts, new


def restored(slug: str, link: str, state: str, stored: Mapping[str, str]) -> StoredState:
    """Raises NewerVersion, and UnreadableState when *state* or a part that it names is damaged or missing."""
    try:
        roundtable = parsed(Roundtable, slug, state, what="roundtable")
        return _restored(roundtable, link, _object(state), stored)
    except ValidationError as error:
        where, reason = _flaw(error)
        if all(map(_object, stored.values())):
            raise NewerVersion(newer("roundtable", slug, where)) from None
        flaw = f"{where} {reason}"
    except KeyError as error:
        flaw = f"its part {error} is missing"
    except (UnreadableState, TypeError, ValueError, AttributeError) as error:
        flaw = str(error)
    raise UnreadableState(f"the stored roundtable {slug!r} cannot be read: {flaw}")


def portions(slugs: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """So many that their states are read within the time of one call."""
    rest = tuple(slugs)
    return (rest[at : at + READ_AT_ONCE] for at in range(0, len(rest), READ_AT_ONCE))


class StoreMemory:
    """What a store remembers. *newer* are slugs that a newer version of this program saved, with a sentence."""

    def __init__(self) -> None:
        self.saved: LruCache[str, StoredState] = LruCache(REMEMBERED)
        self.newer: dict[str, str] = {}

    def restore(self, slug: str, link: str, state: str, parts: Mapping[str, str]) -> StoredState:
        """As `restored`, and remembered."""
        try:
            self.saved[slug] = found = restored(slug, link, state, parts)
        except NewerVersion as error:
            self.note_newer(slug, str(error))
            raise
        except UnreadableState:
            self.newer.pop(slug, None)
            raise
        self.newer.pop(slug, None)
        return found

    def forget(self, slug: str) -> None:
        self.saved.pop(slug, None)
        self.newer.pop(slug, None)

    def note_newer(self, slug: str, sentence: str) -> None:
        if slug not in self.newer:
            log.error("%s", sentence)
        self.newer[slug] = sentence


def _restored(
    roundtable: Roundtable, link: str, state: Mapping[str, Any], stored: Mapping[str, str]
) -> StoredState:
    if PARTS not in state:
        return StoredState(roundtable, link, {})
    named, following = state[PARTS], state[FOLLOWING]
    changes: dict[str, Any] = {}
    parts = {}
    for kind, adapter in KINDS.items():
        read: dict[int, BaseModel] = {}
        fields: dict[str, tuple[tuple[BaseModel, ...], Ranges]] = {}
        for field, _ in _fields(roundtable, kind):
            if field not in named:
                continue
            numbers = tuple(islice(_numbers(named[field]), len(stored) + 1))
            for number in numbers:
                if number not in read:
                    read[number] = adapter.validate_json(stored[part_name(kind, number)])
            changes[field] = tuple(read[number] for number in numbers)
            fields[field] = changes[field], _with_numbers((), numbers)
        used = {id(value): (value, number) for number, value in read.items()}
        parts[kind] = Parts(fields, used, int(following.get(kind, 1)))
    record = roundtable.specification
    entries = changes.pop("entries", record.entries.values())
    heard = changes.pop("heard", [words.but(line=line) for line, words in record.heard.items()])
    changes["specification"] = record.but(
        entries={entry.id: entry for entry in entries}, heard={words.line: words for words in heard}
    )
    return StoredState(roundtable.but(**changes), link, parts)


def part_name(kind: str, number: int) -> str:
    return f"{kind} {number}"


def _fields(roundtable: Roundtable, kind: str) -> Iterator[tuple[str, tuple[BaseModel, ...]]]:
    for field, its in FIELDS.items():
        if its == kind:
            yield field, getattr(roundtable, field)
    for field, its in RECORD.items():
        if its == kind:
            yield field, tuple(getattr(roundtable.specification, field).values())


def _without_parts(roundtable: Roundtable) -> str:
    fields: dict[str, Any] = dict.fromkeys(FIELDS, ())
    specification = roundtable.specification.but(entries={}, heard={})
    return roundtable.but(**fields, specification=specification).model_dump_json()


def _with_numbers(ranges: Ranges, numbers: Iterable[int]) -> Ranges:
    longer = list(ranges)
    for number in numbers:
        if longer and longer[-1][1] == number - 1:
            longer[-1] = (longer[-1][0], number)
        else:
            longer.append((number, number))
    return tuple(longer)


def _text(given: Any) -> str:
    return json.dumps(given, separators=(",", ":"))


def _numbers(ranges: Iterable[Any]) -> Iterator[int]:
    for first, last in ranges:
        yield from range(first, last + 1)


def decoded_notice(slug: str, content: str) -> Notice | None:
    """None when it cannot be read: it is begun anew, since git has the reviews. Raises NewerVersion."""
    try:
        return parsed(Notice, slug, content, what="notice of the reviews of")
    except UnreadableState as error:
        log.warning("the stored notice of %s cannot be read, and is begun anew: %s", slug, error)
        return None


def parsed(kind: type[S], slug: str, content: str, *, what: str) -> S:
    """Raises NewerVersion, and UnreadableState with the first flaw. *what* names the kind in sentences."""
    shape = kind.model_fields["shape"].default
    try:
        found = kind.model_validate_json(content)
    except ValidationError as error:
        where, reason = _flaw(error)
        if _is_newer(slug, content, shape=shape):
            raise NewerVersion(newer(what, slug, where)) from None
        raise UnreadableState(f"{where} {reason}") from None
    if found.shape > shape:
        raise NewerVersion(newer(what, slug))
    if found.shape < shape:
        raise UnreadableState("an earlier version saved it, in another form")
    if found.slug != slug:
        raise UnreadableState(f"it says that it is {found.slug!r}")
    return found


def _flaw(error: ValidationError) -> tuple[str, str]:
    """Where the first flaw is, and what it is."""
    flaw = error.errors(include_url=False, include_input=False)[0]
    return ".".join(map(str, flaw["loc"])), flaw["msg"]


def newer(what: str, slug: str, where: str = "") -> str:
    unread = f" (`{where}`)" if where else ""
    return (
        f"the {what} {slug!r} was saved by a later version of this program, and this one cannot read it{unread}. "
        "Nothing of it was changed. Run the later version again."
    )


def _is_newer(slug: str, content: str, *, shape: int) -> bool:
    """Whether unreadable *content* is intact JSON about *slug* that says it has *shape* or a later one."""
    read = _object(content)
    return read.get("slug") == slug and isinstance(read.get("shape"), int) and read["shape"] >= shape


def _object(content: str) -> dict[str, Any]:
    with suppress(ValueError, RecursionError):
        read = json.loads(content)
        return read if isinstance(read, dict) else {}
    return {}


def reminder_settings(content: str) -> ReminderSettings:
    """The usual ones when they cannot be read."""
    try:
        return ReminderSettings.model_validate_json(content)
    except ValidationError:
        return ReminderSettings()


def is_due(pending: AbstractSet[str], touched: str, *, quiet_since: str) -> bool:
    """Whether an outbox with the kinds *pending* can be performed now. *quiet_since* is that of `Store.unfinished`."""
    waits = quiet_since and pending <= TRIED_AGAIN and touched > quiet_since
    return bool(pending) and not waits
