"""
People in a transcript (ADR 53): a line says `meta.person`, an id that only we can compute. What they are called stands
in one file, `people.json` beside the items, and is put back into a line when it is read.

The file is untrusted, and people may edit it: what cannot be read of it is left alone. Of a person who was forgotten it
keeps the date, and a number in place of the name.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from bot.domain.transcript.lines import ENTRIES, PERSON, USER_NAME, Line, Source
from bot.domain.values.json_files import parse_kept, pretty
from bot.domain.values.text import one_line

PEOPLE_FILE = "people.json"
"""In the folder of the items."""
UNREADABLE = "people.json cannot be read, so people are shown by their ids: "
NAME_CHARS = 80
MOST_PEOPLE = 100_000
_ID = re.compile("p-[a-z2-7]{10}")
FORMER_MEMBER = "Former member {number}"
_FORMER = re.compile("Former member ([0-9]{1,6})")
FORGOTTEN = "forgotten"
_MENTION = re.compile(rf"@({_ID.pattern})(?![\w-])")

Names = Mapping[str, str]
"""What people are called, by their ids."""
NO_NAMES: Names = {}


def is_person_id(text: str) -> bool:
    return _ID.fullmatch(text) is not None


def is_former(name: str) -> bool:
    """Whether it is what somebody is called who was forgotten."""
    return _FORMER.fullmatch(name) is not None


class PeopleFile(NamedTuple):
    """`raw` is the whole file: what others wrote in it stays. *flaw*: why it cannot be read, in a sentence."""

    names: Names = NO_NAMES
    raw: Mapping[str, Any] = {}
    flaw: str = ""

    @property
    def forgotten(self) -> frozenset[str]:
        people = self.raw.get("people")
        told = people.items() if isinstance(people, dict) else ()
        return frozenset(id for id, one in told if isinstance(one, dict) and one.get(FORGOTTEN))


def read_people(content: bytes | None) -> PeopleFile:
    if content is None:
        return PeopleFile()
    try:
        raw = parse_kept(content.decode())
    except UnicodeDecodeError:
        return PeopleFile(flaw=f"{UNREADABLE}it is not UTF-8")
    except ValueError as error:
        return PeopleFile(flaw=f"{UNREADABLE}{error}")
    people = raw.get("people", {}) if isinstance(raw, dict) else None
    if not isinstance(people, dict) or len(people) > MOST_PEOPLE:
        return PeopleFile(flaw=f"{UNREADABLE}it has no object of people")
    told = ((id, one.get("name")) for id, one in people.items() if isinstance(one, dict))
    names = {id: one_line(name, NAME_CHARS) for id, name in told if isinstance(name, str)}
    return PeopleFile({id: name for id, name in names.items() if name}, raw)


def with_new(file: PeopleFile, names: Names) -> PeopleFile:
    """With those of *names* that it lacks; the same file if it has them all. A name that is there stays."""
    people = file.raw.get("people", {})
    told = ((id, one_line(name, NAME_CHARS)) for id, name in names.items() if id not in people)
    new = {id: {"name": name} for id, name in told if name not in {"", id}}
    return _with_people(file, new) if new else file


def without_person(file: PeopleFile, id: str, *, on: str) -> PeopleFile:
    """The person *id* is forgotten *on* a day; the same file if that was so before. A number is never used again."""
    if id in file.forgotten:
        return file
    taken = (found for name in file.names.values() if (found := _FORMER.fullmatch(name)))
    number = max((int(found[1]) for found in taken), default=0) + 1
    name = FORMER_MEMBER.format(number=number)
    return _with_people(file, {id: {FORGOTTEN: on, "name": name}})


def _with_people(file: PeopleFile, new: Mapping[str, Mapping[str, str]]) -> PeopleFile:
    people = {**file.raw.get("people", {}), **new}
    names = {**file.names, **{id: one["name"] for id, one in new.items()}}
    return PeopleFile(names, {"version": 1, **file.raw, "people": dict(sorted(people.items()))})


def text_of(file: PeopleFile) -> bytes:
    return pretty(file.raw or {"version": 1, "people": {}}).encode("utf-8", "replace")


def without_names(line: Line, names: Names) -> Line:
    """*line* as it is written: an id stands in place of a name in our sentences, and where a value is nothing else."""
    meta = {name: fact for name, fact in line.meta.items() if name != USER_NAME or PERSON not in line.meta}
    known = (*sorted(names, reverse=True), line.person)
    ids = {names[id]: f"@{id}" for id in known if id in names and is_person_id(id)}
    if not ids:
        return line.but(meta=meta)
    called = pattern_of(ids)
    return _with(
        line.but(meta=meta),
        lambda text: ids.get(text, text),
        lambda text: called.sub(lambda found: ids[found[0]], text),
    )


def pattern_of(names: Iterable[str]) -> re.Pattern[str]:
    """One of *names* where our own code wrote it; the longest counts."""
    longest = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    return re.compile(rf"(?<![\w@-])(?:{longest})(?![\w-])")


def with_names(line: Line, names: Names) -> Line:
    """*line* as it was before it was written, with what people are called now."""
    if not names:
        return line
    if name := names.get(line.person, "") if PERSON in line.meta else "":
        line = line.but(meta={**line.meta, USER_NAME: name})

    def value(text: str) -> str:
        return names.get(text[1:], text) if text.startswith("@p-") else text

    return _with(line, value, lambda text: _MENTION.sub(lambda found: names.get(found[1], found[0]), text))


def _with(line: Line, value: Callable[[str], str], sentence: Callable[[str], str]) -> Line:
    if line.source is Source.SYSTEM and (content := sentence(line.content)) != line.content:
        line = line.but(content=content)
    entries = line.meta.get(ENTRIES)
    if not isinstance(entries, list | tuple):
        return line
    return line.but(meta={**line.meta, ENTRIES: [_replaced(one, value) for one in entries]})


def _replaced(patch: Any, value: Callable[[str], str]) -> Any:
    given = patch.get("set") if isinstance(patch, Mapping) else None
    if not isinstance(given, Mapping):
        return patch

    def replaced(told: Any) -> Any:
        if isinstance(told, list | tuple):
            return [value(one) if isinstance(one, str) else one for one in told]
        return value(told) if isinstance(told, str) else told

    return {**patch, "set": {name: replaced(told) for name, told in given.items()}}
