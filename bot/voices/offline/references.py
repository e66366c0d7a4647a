"""The ids of an item (FR-001, AC-001-02, NFR-003, US-004, ERR-…): named without being defined, or never named."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from bot.domain.reviews.text import Finding, FindingSeverity
from bot.voices.offline import numbering, qualities, story_file
from bot.voices.offline.dossier import Dossier, noted

ERRORS = "error-taxonomy.md"
INTERFACES = "interface-spec.md"
MATRIX = "traceability-matrix.csv"
EARLY = frozenset({numbering.FILE, qualities.FILE, "quick-scan.md"})
"""Pages that come before, or hold, the requirements: only what is written after them can refer to one."""

_ID = re.compile(
    r"(?<![\w-])(?:(?P<kind>FR|NFR|US|AC)-(?P<number>[0-9]{1,6})(?:-(?P<part>[0-9]{1,3}))?|ERR(?:-[A-Z0-9]{1,20}){1,4})"
    r"(?![\w-])"
)
_BEFORE = {
    "FR": re.compile(r"#{1,6}\s+"),
    "AC": re.compile(r"[-*+]\s+\**"),
    "NFR": re.compile(r"\|\s*"),
    "US": re.compile(r".*\"id\"\s*:\s*\""),
    "ERR": re.compile(r"\|\s*`?"),
}
"""What stands before an id where it is given, in the last few characters."""

LOOK_BACK = 40
HOMES = {
    "FR": numbering.FILE,
    "AC": numbering.FILE,
    "NFR": qualities.FILE,
    "US": story_file.FILE,
    "ERR": ERRORS,
}
"""Where ids are given; where there is no such file, any other may do it."""

WHERE = {
    "FR": f"give it a heading of its own in {numbering.FILE}, or name the one that is meant",
    "AC": "write it below its requirement, or name the one that is meant",
    "NFR": f"give it a row with a threshold in {qualities.FILE}, or name the one that is meant",
    "US": f"write the story into {story_file.FILE}, or name the one that is meant",
    "ERR": f"give it a row in {ERRORS}, or name the one that is meant",
}


class Spot(NamedTuple):
    file: str
    line: int


class Named(NamedTuple):
    """Where each id is defined, and where it is mentioned besides."""

    defined: Mapping[str, Sequence[Spot]]
    mentioned: Mapping[str, Sequence[Spot]]


def undefined(item: Dossier) -> Iterator[Finding]:
    named = _named(item)
    for name, spots in sorted(named.mentioned.items()):
        kind = name.partition("-")[0]
        if name in named.defined or (kind == "ERR" and ERRORS not in item.texts):
            continue
        often = f" in {len(spots)} places" if len(spots) > 1 else ""
        text = f"{name} is referred to{often}, and defined nowhere: {WHERE[kind]}."
        yield noted(FindingSeverity.MAJOR, spots[0].file, spots[0].line, text=text)


def defined_twice(item: Dossier) -> Iterator[Finding]:
    for name, spots in sorted(_named(item).defined.items()):
        if len(spots) > 1 and all(_is_own(item, spot) for spot in spots):
            first, second = spots[:2]
            text = (
                f"{name} is defined here and in {first.file}:{first.line}: give one of them another number."
            )
            yield noted(FindingSeverity.MAJOR, second.file, second.line, text=text)


def unused(item: Dossier) -> Iterator[Finding]:
    """Where there is something already that should refer to it. Criteria need nobody: they stand where they belong."""
    named = _named(item)
    later = any(path not in EARLY for path in item.pages)
    awaited = {
        "FR": later or story_file.FILE in item.texts,
        "NFR": later,
        "US": MATRIX in item.texts,
        "ERR": INTERFACES in item.texts,
    }
    for name, spots in sorted(named.defined.items()):
        kind = name.partition("-")[0]
        if (
            awaited.get(kind)
            and _is_own(item, spots[0])
            and not _is_used(kind, spots[0], named.mentioned.get(name, ()))
        ):
            text = f"No {_users(kind)} names {name}: trace something to it, or ask whether it is needed."
            yield noted(FindingSeverity.MINOR, spots[0].file, spots[0].line, text=text)


def _is_used(kind: str, home: Spot, mentions: Sequence[Spot]) -> bool:
    """By another file: a page names its own ids in its lists, and the matrix lists every requirement there is."""
    return any(one.file != home.file and not (kind == "FR" and one.file == MATRIX) for one in mentions)


def _users(kind: str) -> str:
    return {
        "FR": "story and no later page",
        "NFR": "page of the analysis or design",
        "US": "row of the matrix",
    }.get(kind, "interface")


def _is_own(item: Dossier, spot: Spot) -> bool:
    return spot.file not in item.pages or spot.line - 1 in item.own[spot.file]


@lru_cache(maxsize=1)  # three checks of one review ask for it
def _named(item: Dossier) -> Named:
    defined, mentioned = defaultdict(list), defaultdict(list)
    for path in item.texts:
        own = item.own[path] if path in item.pages else None
        for number, line in _all_lines(item, path):
            for found in _ID.finditer(line):
                name = _name(found)
                if _is_home(item, name, path) and _defines(name, line, found.start()):
                    defined[name].append(Spot(path, number))
                elif own is None or number - 1 in own:
                    mentioned[name].append(Spot(path, number))
    return Named(dict(defined), dict(mentioned))


def _all_lines(item: Dossier, path: str) -> Iterator[tuple[int, str]]:
    """Of the shared file too what other items wrote: their ids are defined as well."""
    if path in item.pages:
        return item.lines(path, range(len(item.pages[path].lines)))
    return enumerate(item.texts[path].splitlines(), start=1)


def _name(found: re.Match[str]) -> str:
    """However many zeros people write."""
    if not found["kind"]:
        return found[0]
    part = f"-{int(found['part']):02}" if found["part"] else ""
    return f"{found['kind']}-{int(found['number']):03}{part}"


def _is_home(item: Dossier, name: str, path: str) -> bool:
    home = HOMES[name.partition("-")[0]]
    return path == home or home not in item.texts


def _defines(name: str, line: str, start: int) -> bool:
    kind = name.partition("-")[0]
    if start > LOOK_BACK and kind != "US":
        return False
    return _BEFORE[kind].fullmatch(line[max(start - LOOK_BACK, 0) : start]) is not None
