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
from itertools import islice
from secrets import token_hex
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from bot.domain.messages.home_page import ReminderSettings
from bot.domain.reviews.notice import Notice
from bot.domain.roundtable.effects import Effect
from bot.domain.roundtable.state import TRIED_AGAIN, Answer, Roundtable
from bot.domain.specification.claims import Entry
from bot.domain.specification.fold import HeardWords
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
    "entries": "entry",
    "heard": "heard",
}
"""The kind of the parts that these fields of a roundtable have."""
OF_RECORD = ("entries", "heard")
"""These are mappings of its specification."""
PARTS, FOLLOWING = "parts", "following"
"""In a stored state: by field, the numbers of its parts, as ranges; and by kind, the number that is given next."""

READ_AT_ONCE = 5
REMEMBERED = 1_000
"""As many as the engine remembers roundtables, which are the same objects."""

S = TypeVar("S", Roundtable, Notice)
log = logging.getLogger(__name__)


class UnreadableState(BotError):
    """The stored state is damaged; callers set it aside and go on without it."""


class StoredPart(NamedTuple):
    value: BaseModel
    kind: str
    number: int


class StoredState(NamedTuple):
    """
    A roundtable as it is stored; *link* names the save, since another one may have had the same version. *parts* are
    those that are known to be stored, by the identity of their values, and *following* the next number of each kind.
    """

    value: Roundtable
    link: str
    parts: Mapping[int, StoredPart]
    following: Mapping[str, int]


class Save(NamedTuple):
    """*added* and *gone* are parts, named by kind and number. *whole*: no other parts are stored."""

    after: StoredState
    state: str
    added: Mapping[str, str]
    gone: Sequence[str]
    whole: bool


def saving(roundtable: Roundtable, before: StoredState | None) -> Save:
    """What has to be written when *before* is stored, or anything (None). Values are compared by identity."""
    old = before.parts if before else {}
    following = dict(before.following) if before else dict.fromkeys(KINDS, 1)
    parts: dict[int, StoredPart] = {}
    named: dict[str, list[list[int]]] = {}
    added: dict[str, str] = {}
    for field, kind in FIELDS.items():
        numbers = []
        for value in _values(roundtable, field):
            part = parts.get(id(value)) or old.get(id(value))
            if part is None:
                part = StoredPart(value, kind, following[kind])
                following[kind] += 1
                added[part_name(kind, part.number)] = value.model_dump_json()
            parts[id(value)] = part
            numbers.append(part.number)
        named[field] = _ranges(numbers)
    gone = [part_name(part.kind, part.number) for key, part in old.items() if key not in parts]
    after = StoredState(roundtable, token_hex(8), parts, following)
    state = f'{_without_parts(roundtable)[:-1]},"{PARTS}":{_text(named)},"{FOLLOWING}":{_text(following)}}}'
    return Save(after, state, added, gone, whole=not old)


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
    following = dict.fromkeys(KINDS, 1)
    if PARTS not in state:
        return StoredState(roundtable, link, {}, following)
    named = state[PARTS]
    following |= {kind: int(number) for kind, number in state[FOLLOWING].items()}
    read: dict[str, StoredPart] = {}
    changes: dict[str, Any] = {}
    for field, kind in FIELDS.items():
        if field not in named:
            continue
        values = []
        for number in islice(_numbers(named[field]), len(stored) + 1):
            name = part_name(kind, number)
            if name not in read:
                read[name] = StoredPart(KINDS[kind].validate_json(stored[name]), kind, number)
            values.append(read[name].value)
        changes[field] = tuple(values)
    record = roundtable.specification
    entries = changes.pop("entries", record.entries.values())
    heard = changes.pop("heard", [words.but(line=line) for line, words in record.heard.items()])
    changes["specification"] = record.but(
        entries={entry.id: entry for entry in entries}, heard={words.line: words for words in heard}
    )
    parts = {id(part.value): part for part in read.values()}
    return StoredState(roundtable.but(**changes), link, parts, following)


def part_name(kind: str, number: int) -> str:
    return f"{kind} {number}"


def _values(roundtable: Roundtable, field: str) -> Iterable[BaseModel]:
    found = getattr(roundtable.specification if field in OF_RECORD else roundtable, field)
    return found.values() if field in OF_RECORD else found  # type: ignore[no-any-return]


def _without_parts(roundtable: Roundtable) -> str:
    fields: dict[str, Any] = {field: () for field in FIELDS if field not in OF_RECORD}
    specification = roundtable.specification.but(entries={}, heard={})
    return roundtable.but(**fields, specification=specification).model_dump_json()


def _ranges(numbers: Iterable[int]) -> list[list[int]]:
    """Of the first and the last of numbers that follow each other."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ranges


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
