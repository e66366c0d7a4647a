"""What a plan is made of, as people named it: requirements, risks, and the places that change."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Self

from bot.domain.planning.plan import Intent
from bot.domain.values.json_files import parse
from bot.domain.values.markdown import outline
from bot.domain.values.text import clean, one_line
from bot.voices.offline.numbering import TITLE_CHARS, UNSET
from bot.voices.offline.pages import is_placeholder, section_of, unescaped
from bot.voices.offline.phrases import is_small_talk, key, words
from bot.voices.offline.points import Point, points
from bot.voices.offline.question_templates import Asks
from bot.voices.offline.reading import rows
from bot.voices.offline.requirements import criterion, fr_id, is_out_of_scope

GRADES = ("low", "medium", "high")
UNKNOWN = "unknown"

_OUT = re.compile(r"\W*+(?:out[\s-]of[\s-]scope|not\s+in\s+scope|non-goals?)\W*+", re.IGNORECASE)
_STAYS_OUT = re.compile(r"\bout\b|\bnot\b|\bno\b|\bdrop\b|\bwon['’]?t\b|\braus\b|\bnein\b", re.IGNORECASE)
_LABELLED = re.compile(r"[*_`]*FR[-\s]?\d{1,4}[*_`]*\s*[:.–—-]\s*", re.IGNORECASE)
_GRADED = re.compile(
    rf"(?<![,;(\s])[,;(\s]*+\b(?P<what>likelihood|probability|impact|severity)\b\s*(?:is|[:=])?\s*(?P<grade>{'|'.join(GRADES)})\b\)?",
    re.IGNORECASE,
)
_ANSWER = re.compile(
    r"\s*(?:[;,.]?\s*\bmitigat(?:ion|ed\s+by|e|es)\b\s*[:=]?|\s->|→|:\s|\s[–—]\s)\s*", re.IGNORECASE
)
_NONE = re.compile(
    r"\W*+(?:nothing|none|no(?:\s+risks?)?|no\s+mitigation|n/?a|to be (?:set|agreed)|tbd|nichts|keine)?\W*+",
    re.IGNORECASE,
)
_IS_RISKY = re.compile(r"\brisk|\bwrong\b|\bbreak|\bhurt|\bmistake\b|\bfail", re.IGNORECASE)
_IS_REMEDY = re.compile(r"get back|way back|undo", re.IGNORECASE)

_NAMES_MODULES = re.compile(r"^$|^what was said$|\bcalled\b|\bmodules are there\b", re.IGNORECASE)

_CODE = "py|pyi|ts|tsx|js|jsx|go|rs|java|kt|sql|ya?ml|toml|json|md|html|css|sh|tf|proto|c|h|cpp|hpp|cs|rb|php|swift"
_PATH = re.compile(
    rf"`(?P<ticked>[^`\s]+)`|(?<![\w/:.@-])(?P<bare>(?:[\w.@-]+/)+[\w-][\w.-]*\.[A-Za-z]\w{{0,7}}|[a-z_][\w-]*\.(?:{_CODE}))\b",
)
_PLAIN_PATH = re.compile(r"[\w.@-]+(?:/[\w.@-]+)*/?")
_INTENTS = (
    (Intent.DELETE, re.compile(r"\b(?:delete[sd]?|remove[sd]?|drop(?:s|ped)?|retire[sd]?)\b", re.IGNORECASE)),
    (Intent.CREATE, re.compile(r"\b(?:new|create[sd]?|add(?:s|ed)?|introduce[sd]?)\b", re.IGNORECASE)),
    (
        Intent.UPDATE,
        re.compile(
            r"\b(?:change[sd]?|modif\w+|update[sd]?|edit(?:s|ed)?|extend\w*|exist\w*)\b", re.IGNORECASE
        ),
    ),
)

Lines = tuple[str, ...]


class Wanted(NamedTuple):
    """A requirement; `stories` are what people told about it. `lines` are those of the workshop that speak of it."""

    number: int
    title: str
    text: str = ""
    criteria: tuple[str, ...] = ()
    priority: str = UNSET
    stories: tuple[str, ...] = ()
    lines: Lines = ()

    @property
    def id(self) -> str:
        return fr_id(self.number)

    def told(self, kind: Asks, answer: str, lines: Lines) -> Self:
        after = self._replace(lines=(*self.lines, *lines))
        if kind is Asks.WHICH_OF_TWO:
            return after._replace(priority="Won't") if _STAYS_OUT.search(answer) else after
        new = (_without_label(row.text) for row in rows(answer) if row.text)
        return after._replace(criteria=tuple(dict.fromkeys((*self.criteria, *new))))


class Danger(NamedTuple):
    text: str
    likelihood: str = UNKNOWN
    impact: str = UNKNOWN
    mitigations: tuple[str, ...] = ()
    lines: Lines = ()

    @property
    def negligible(self) -> bool:
        return self.likelihood == self.impact == "low"

    def answered(self, risk: str, answer: str, lines: Lines) -> Self:
        """With what is done about it, if *risk* is this one."""
        if key(risk.rstrip("…")) not in key(self.text):
            return self
        return self._replace(
            mitigations=(*self.mitigations, one_line(answer, 500)), lines=(*self.lines, *lines)
        )

    def with_more(self, other: Self) -> Self:
        return self._replace(
            likelihood=other.likelihood if self.likelihood == UNKNOWN else self.likelihood,
            impact=other.impact if self.impact == UNKNOWN else self.impact,
            mitigations=tuple(dict.fromkeys((*self.mitigations, *other.mitigations))),
            lines=(*self.lines, *other.lines),
        )


class Target(NamedTuple):
    """A file that changes; `says` is what people said about it."""

    path: str
    intent: Intent
    says: str = ""
    lines: Lines = ()


# --- requirements -----------------------------------------------------------------------------------------------------


def wanted(answer: str, *, after: Sequence[Wanted], lines: Lines) -> tuple[Wanted, ...]:
    """A requirement for each line of *answer*, numbered on from those there are; criteria belong to the one above."""
    known = {key(one.title) for one in after}
    number = max((one.number for one in after), default=0)
    found: list[Wanted] = []
    for row in rows(answer):
        text = _without(_LABELLED, row.text)
        if (accepted := criterion(row.text)) and found:
            found[-1] = found[-1]._replace(criteria=(*found[-1].criteria, accepted))
        elif text and not is_out_of_scope(text) and not is_small_talk(text) and key(text) not in known:
            number += 1
            known.add(key(text))
            title = one_line(text.rstrip(".。"), TITLE_CHARS)
            found.append(Wanted(number, title, "" if title == text else text, lines=lines))
    return tuple(found)


def ruled_out(answer: str) -> tuple[str, ...]:
    found = (_without(_OUT, row.text) for row in rows(answer) if is_out_of_scope(row.text))
    return tuple(one for one in found if one)


def told_in_stories(text: str, requirement: str) -> tuple[str, ...]:
    """The stories of `user-stories.json` that trace to *requirement*, in a sentence each."""
    try:
        found = parse(text) if text.strip() else []
    except ValueError:
        return ()
    records = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
    return tuple(_story(one) for one in records if _traces(one, requirement) and one.get("want"))


def _traces(record: Mapping[str, Any], requirement: str) -> bool:
    traces = record.get("traces")
    return isinstance(traces, list) and requirement in traces


def _story(record: Mapping[str, Any]) -> str:
    so_that = f", so that {record['so_that']}" if record.get("so_that") else ""
    return clean(f"{record.get('role') or 'Somebody'}: {record['want']}{so_that}")


def _without(beginning: re.Pattern[str], text: str) -> str:
    found = beginning.match(text)
    return text[found.end() :].strip() if found else text.strip()


def _without_label(text: str) -> str:
    return criterion(text) or text


# --- risks ------------------------------------------------------------------------------------------------------------


def dangers(found: Iterable[Point], table: Iterable[Mapping[str, str]]) -> tuple[Danger, ...]:
    rows_of_risks = (_in_row(row) for row in table if not _NONE.fullmatch(row.get("risk", "")))
    told = (_danger(one.text, ()) for one in found if _names_a_danger(one))
    return (*rows_of_risks, *(one for one in told if one.text))


def dangers_in(answer: str, *, lines: Lines) -> tuple[Danger, ...]:
    """One for each line; "none" is an answer, and no risk."""
    return tuple(_danger(row.text, lines) for row in rows(answer) if not _NONE.fullmatch(row.text))


def _names_a_danger(point: Point) -> bool:
    if _NONE.fullmatch(point.text) or _IS_REMEDY.search(point.under):
        return False
    if point.is_in("risk zone"):
        return True
    return point.is_in("risk") and bool(_IS_RISKY.search(point.under) or _IS_RISKY.search(point.text))


def _in_row(row: Mapping[str, str]) -> Danger:
    mitigation = row.get("mitigation", "")
    return Danger(
        row["risk"],
        _grade(row.get("likelihood", "")),
        _grade(row.get("impact", "")),
        () if _NONE.fullmatch(mitigation) else (mitigation,),
    )


def _danger(text: str, lines: Lines) -> Danger:
    grades = {found["what"].lower()[:6]: found["grade"].lower() for found in _GRADED.finditer(text)}
    bare = " ".join(_GRADED.sub("", text).split()).strip(" .,;")
    risk, *answers = _ANSWER.split(bare, maxsplit=1)
    return Danger(
        risk.strip() or text,
        grades.get("likeli") or grades.get("probab") or UNKNOWN,
        grades.get("impact") or grades.get("severi") or UNKNOWN,
        tuple(one.strip() for one in answers if not _NONE.fullmatch(one)),
        lines,
    )


def _grade(text: str) -> str:
    return next((grade for grade in GRADES if grade in words(text)), UNKNOWN)


# --- places -----------------------------------------------------------------------------------------------------------


def targets(texts: Iterable[str], *, lines: Lines = ()) -> tuple[Target, ...]:
    """The paths in *texts*, each once, with what its line says is to become of it."""
    return together((), tuple(one for text in texts for one in _targets(text, lines)))


def together(some: Sequence[Target], others: Sequence[Target]) -> tuple[Target, ...]:
    """Each path once, a mere name only where no path ends with it. What was said last counts, if it says anything."""
    merged: dict[str, Target] = {}
    for one in (*some, *others):
        known = merged.get(one.path)
        vague = known and one.intent is Intent.CREATE_OR_UPDATE
        merged[one.path] = one._replace(intent=known.intent) if known and vague else one
    whole = {path.rpartition("/")[2] for path in merged if "/" in path}
    return tuple(one for path, one in merged.items() if path not in whole)


def modules(text: str) -> tuple[str, ...]:
    """What the module design calls its parts."""
    heading = next((one.text for one in outline(text).headings if "modules" in one.text.casefold()), "")
    section = section_of(text, heading)
    named = [] if is_placeholder(section) else [unescaped(one.text) for one in outline(section).headings]
    said = (one.text for one in points(text) if one.is_in("modules") and _NAMES_MODULES.search(one.under))
    return tuple(dict.fromkeys(one for one in (*named, *said) if one))


def _targets(text: str, lines: Lines) -> Iterator[Target]:
    intent = next((intent for intent, says in _INTENTS if says.search(text)), Intent.CREATE_OR_UPDATE)
    for found in _PATH.finditer(text):
        path = found["bare"] or found["ticked"]
        if found["ticked"] and not _looks_like_a_path(path):
            continue
        yield Target(path.removeprefix("./").rstrip("/"), intent, one_line(text, 200), lines)


def _looks_like_a_path(ticked: str) -> bool:
    return bool(_PLAIN_PATH.fullmatch(ticked)) and ("/" in ticked.strip("/") or "." in ticked.strip("."))
