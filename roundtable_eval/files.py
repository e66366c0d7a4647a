"""Reads `meetings/*.yaml`. A file that cannot be read is one sentence that names it, the line, and what is wrong."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from bot.content.files import ContentFolder, UnreadableFile
from bot.content.frontmatter import LOADER, BadFrontMatter, parse
from bot.domain.catalog.personas import Roster
from bot.errors import ContentError
from roundtable_eval.meeting import Meeting, numbers_in

SUFFIXES = (".yaml", ".yml")
OF_A_DEMO = "turns"
"""The part of a file that `roundtable try --demo` plays; it is no meeting to be scored."""
OF_EARLIER_FORM = "thread"
"""The part of a meeting in the form of earlier versions, in which what everybody says is fixed."""

KEY = "key"
NO_NAMES = frozenset({"", ".", "..", ".git"})
"""Of a file or folder in a repository."""

At = Sequence[str | int]
"""The keys and places that lead to a value."""


def read_yaml(path: Path) -> tuple[Mapping[str, Any], str]:
    """What the file says, and its text. Raises ContentError."""
    try:
        text = ContentFolder(path.parent, None).read(Path(path.name))
        return parse(text), text
    except UnreadableFile as error:
        raise ContentError(f"{error}.") from error
    except (OSError, BadFrontMatter) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise ContentError(f"{path.name} cannot be read: {reason}.") from error


def line_at(text: str, at: At) -> int:
    """Where the value begins in a text that was parsed, or the last one on the way to it that there is."""
    node: Any = yaml.compose(text, Loader=LOADER)
    for step in at:
        if isinstance(node, yaml.MappingNode):
            inside = {key.value: value for key, value in node.value}
        else:
            inside = dict(enumerate(node.value)) if isinstance(node, yaml.SequenceNode) else {}
        if step not in inside:
            break
        node = inside[step]
    return int(node.start_mark.line) + 1


def where(path: Path, text: str, error: ValidationError) -> str:
    """The first mistake, with its file and line."""
    first = error.errors(include_url=False, include_input=False)[0]
    named = ".".join(map(str, first["loc"]))
    return f"{path.name}, line {line_at(text, first['loc'])}: {named}: {first['msg'].lower()}"


def meetings_in(paths: Iterable[Path], roster: Roster) -> tuple[Meeting, ...]:
    """Of files and folders. Raises ContentError."""
    found: list[Meeting] = []
    for path in paths:
        found += [read_meeting(path, roster)] if path.suffix in SUFFIXES else _in_folder(path, roster)
    return tuple(found)


def _in_folder(folder: Path, roster: Roster) -> list[Meeting]:
    """By name, without demos."""
    names = [one for one in ContentFolder(folder, None).names() if one.endswith(SUFFIXES)]
    paths = [folder / name for name in sorted(names) if OF_A_DEMO not in read_yaml(folder / name)[0]]
    if not paths:
        raise ContentError(f"There is no meeting in {folder}: a meeting is a file that ends with .yaml.")
    return [read_meeting(path, roster) for path in paths]


def read_meeting(path: Path, roster: Roster) -> Meeting:
    """Raises ContentError."""
    given, text = read_yaml(path)
    if OF_EARLIER_FORM in given:
        return _of_earlier_form(path, given, text, {one.first_name for one in roster})
    if KEY in given:
        line = line_at(text, (KEY,))
        raise ContentError(f"{path.name}, line {line}: {KEY}: the name of the file is the key.")
    try:
        meeting = Meeting.model_validate({**given, KEY: path.stem})
    except ValidationError as error:
        raise ContentError(f"{where(path, text, error)}.") from error
    for at, why in _flaws(meeting):
        raise ContentError(f"{path.name}, line {line_at(text, at)}: {why}")
    return meeting


def _flaws(meeting: Meeting) -> Iterator[tuple[At, str]]:
    """Each a sentence, with where it stands."""
    for path in meeting.evidence:
        if not NO_NAMES.isdisjoint(path.split("/")):
            yield ("evidence", path), f"{path} is no path in a repository."
    seen: set[str] = set()
    for at, id in _ids(meeting):
        if id in seen:
            yield at, f"the id {id} is there twice."
        seen.add(id)
    for name, person in meeting.people.items():
        for place, one in enumerate(person.sheet):
            at = ("people", name, "sheet", place)
            if not one.asked:
                yield (*at, "asked"), f"{one.id} has no words that ask for it."
            for path, content in meeting.evidence.items():
                if one.says in content:
                    yield (*at, "says"), f"what {name} knows as {one.id} stands in {path} already."
    for place, fact in enumerate(meeting.code):
        count = len(meeting.evidence.get(fact.path, "").splitlines())
        numbers = numbers_in(fact.lines)
        if fact.path not in meeting.evidence:
            yield ("code", place, "path"), f"there is no {fact.path} in the evidence."
        elif not numbers or not 0 < numbers[0] <= numbers[-1] <= count:
            yield ("code", place, "lines"), f"{fact.path} has {count} lines, and no lines {fact.lines}."
    if not meeting.facts:
        yield ("people",), "the meeting has no fact to record."


def _ids(meeting: Meeting) -> Iterator[tuple[At, str]]:
    for name, person in meeting.people.items():
        yield from (
            (("people", name, "sheet", place, "id"), one.id) for place, one in enumerate(person.sheet)
        )
    yield from ((("code", place, "id"), one.id) for place, one in enumerate(meeting.code))
    yield from ((("wrong", place, "id"), one.id) for place, one in enumerate(meeting.wrong))


# --- the earlier form: planted words become sentences that no question asks for ---------------------------------


def _of_earlier_form(path: Path, given: Mapping[str, Any], text: str, personas: set[str]) -> Meeting:
    try:
        return Meeting.model_validate({KEY: path.stem, **_converted(given, personas)})
    except ValidationError as error:
        raise ContentError(f"{where(path, text, error)}.") from error
    except (TypeError, AttributeError, LookupError, ValueError) as error:
        raise ContentError(f"{path.name}, line 1: it is no meeting of the earlier form: {error}.") from error


def _converted(given: Mapping[str, Any], personas: set[str]) -> Mapping[str, Any]:
    """Only what people say is kept: the words of personas are those of the contenders now."""
    told = [_turn(one) for part in ("answers", OF_EARLIER_FORM) for one in given.get(part) or ()]
    said = [(name, words) for name, words in told if name not in personas and words]
    people: dict[str, Any] = {name: {"sheet": []} for name, _ in said}
    planted, taken = given.get("planted") or {}, set[str]()
    dissent = [((one["says"],), {"dissent": True}) for one in planted.get("dissent") or ()]
    facts: list[tuple[Sequence[str], Any]] = [(words, {}) for words in planted.get("facts") or ()]
    for number, (must, more) in enumerate((*dissent, *facts)):
        for name, words in said:
            if all(one.casefold() in words.casefold() for one in must):
                told_as = {"id": f"f{number}", "says": words, "must": must, "asked": (), **more}
                people[name]["sheet"].append(told_as)
                taken.add(words)
                break
    for name, person in people.items():
        person["opens"] = "\n".join(words for who, words in said if who == name and words not in taken)
    wrong = [
        {"id": f"w{number}", "all": [[word] for word in words]}
        for number, words in enumerate(planted.get("lies") or ())
    ]
    evidence = {
        f"notes/{name.replace('/', '-')}.md": words for name, words in (given.get("evidence") or {}).items()
    }
    return {"title": given.get("title"), "evidence": evidence, "people": people, "wrong": wrong}


def _turn(given: Any) -> tuple[str, str]:
    """The name, and the words: `- Ada: Yes.`, `- Ada: {says: Yes.}` or `- Ada: {decides: Yes}`."""
    if not isinstance(given, Mapping) or len(given) != 1:
        raise ValueError("each turn is one name with what is said, such as `- Ada: Yes.`")
    ((name, said),) = given.items()
    words = (said.get("says") or said.get("decides") or "") if isinstance(said, Mapping) else said
    return str(name), str(words)
