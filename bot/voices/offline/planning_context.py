"""
What an item's files and people's answers in the workshop say, in the pieces a plan is made of.

Nothing is concluded here. Answers count as if they stood in the files; `lines` are the `message_id`s they came with.
"""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from bot.domain.planning.workshop import Workshop, WorkshopQuestion
from bot.domain.values.text import clean
from bot.voices.offline import named, priorities, question_templates
from bot.voices.offline.named import Danger, Target, Wanted
from bot.voices.offline.numbering import FILE as SPEC
from bot.voices.offline.numbering import known_requirements
from bot.voices.offline.pages import unescaped
from bot.voices.offline.phrases import key, sentences
from bot.voices.offline.points import Point, points, section_like, tables
from bot.voices.offline.qualities import FILE as QUALITIES
from bot.voices.offline.question_templates import Asks
from bot.voices.offline.story_file import FILE as STORIES

IMPACT, ARCHITECTURE, MODULES = "impact-analysis.md", "architecture-overview.md", "module-design.md"
PLACES = (IMPACT, ARCHITECTURE, MODULES)
READ = (
    "draft.md",
    "quick-scan.md",
    SPEC,
    STORIES,
    "traceability-matrix.csv",
    *PLACES,
    "interface-spec.md",
    "data-flow.md",
    "error-taxonomy.md",
    "design-summary.md",
    f"docs/common/{QUALITIES}",
)
"""What the roles want to see of an item, as far as it is there."""

_DECISIONS = re.compile(r"\bdecisions?\b", re.IGNORECASE)
_UNTOUCHED = re.compile(r"\bwithout being edited\b|\bdepends on\b", re.IGNORECASE)
_OPEN = re.compile(r"\bopen questions?\b", re.IGNORECASE)
_ASSUMES = re.compile(
    r"\b(?:assum(?:e|es|ed|ing|ption|ptions)|take it for granted|presumably)\b", re.IGNORECASE
)


class Quality(NamedTuple):
    id: str
    text: str
    threshold: str


class CaseFile(NamedTuple):
    """`settled` are the kinds of question that people answered, whatever the answer was."""

    requirements: tuple[Wanted, ...] = ()
    out_of_scope: tuple[str, ...] = ()
    why: tuple[Point, ...] = ()
    qualities: tuple[Quality, ...] = ()
    dangers: tuple[Danger, ...] = ()
    targets: tuple[Target, ...] = ()
    modules: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    options_open: bool = False
    open_questions: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    settled: frozenset[Asks] = frozenset()

    @property
    def planned(self) -> tuple[Wanted, ...]:
        """The requirements that are to be built this time."""
        return tuple(one for one in self.requirements if one.priority != "Won't")


def case_file(ws: Workshop, files: Mapping[str, str]) -> CaseFile:
    files = {name: clean(text) for name, text in files.items()}
    spec = files.get(SPEC, "")
    own = [name for name in files if name.endswith(".md") and name.rpartition("/")[2] != QUALITIES]
    pages = {name: points(files[name]) for name in own}
    everything = tuple(point for found in pages.values() for point in found)
    architecture = files.get(ARCHITECTURE, "")
    found = CaseFile(
        requirements=_requirements(spec, files.get(STORIES, "")),
        out_of_scope=tuple(one.text for one in pages.get(SPEC, ()) if one.is_in("out of scope")),
        why=tuple(one for one in pages.get(SPEC, ()) if one.is_in("business context")),
        qualities=tuple(_qualities(files, ws.slug)),
        dangers=_once_by_text(named.dangers(everything, tables("\n".join(files[name] for name in pages)))),
        targets=named.targets(point.text for name in PLACES for point in _places(files, name)),
        modules=named.modules(files.get(MODULES, "")),
        order=tuple(one.text for one in pages.get(IMPACT, ()) if one.is_in("order")),
        options_open=bool(section_like(architecture, r"\boptions\b")) and not _chosen(architecture),
        open_questions=_once(one.text for one in everything if _asks(one)),
        decisions=_once(one.text for one in everything if _DECISIONS.match(one.under)),
        assumptions=_assumed(point.text for point in everything),
    )
    for question in ws.answered:
        found = _with_answer(found, question)
    return found._replace(assumptions=_once((*found.assumptions, *_assumed(_said(ws)))))


# --- the files --------------------------------------------------------------------------------------------------------


def _requirements(spec: str, stories: str) -> tuple[Wanted, ...]:
    ranks = priorities.read_moscow(section_like(spec, r"\bmoscow\b|\bprioriti"))
    told = {one.id: priorities.priority_of(one, ranks) for one in known_requirements(spec)}
    return tuple(
        Wanted(
            number=one.number,
            title=unescaped(one.title),
            text=unescaped(" ".join(one.prose)).strip(),
            criteria=tuple(unescaped(_unsigned(text)) for _, text in sorted(one.criteria.items())),
            priority=told[one.id],
            stories=named.told_in_stories(stories, one.id),
        )
        for one in known_requirements(spec)
    )


def _qualities(files: Mapping[str, str], slug: str) -> Iterator[Quality]:
    """Of the matrix that all items share, only the rows of this one."""
    page = next((text for name, text in files.items() if name.rpartition("/")[2] == QUALITIES), "")
    for row in tables(section_like(page, re.escape(f"({slug})"))):
        if row.get("description"):
            yield Quality(row.get("nfr id", ""), _unsigned(row["description"]), row.get("threshold", ""))


def _places(files: Mapping[str, str], name: str) -> Iterator[Point]:
    """What changes; what only depends on it is not touched."""
    text = files.get(name, "")
    yield from (one for one in points(text) if not _UNTOUCHED.search(one.under))
    for row in tables(text):
        if place := row.get("file") or row.get("path"):
            yield Point(" ".join((place, row.get("change type", ""))))


def _chosen(architecture: str) -> str:
    return section_like(architecture, r"\bselected\b|\bchosen\b|\bdecision\b")


def _asks(point: Point) -> bool:
    return bool(_OPEN.search(point.under) or _OPEN.search(point.section))


def _assumed(texts: Iterator[str]) -> tuple[str, ...]:
    return _once(one for text in texts for one in sentences(text) if _ASSUMES.search(one))


def _said(ws: Workshop) -> Iterator[str]:
    yield from (one.answer for one in ws.answered)
    yield from (one.text for one in ws.remarks)


def _unsigned(text: str) -> str:
    return text.rpartition(" — ")[0] or text


# --- the answers ------------------------------------------------------------------------------------------------------


def _with_answer(found: CaseFile, question: WorkshopQuestion) -> CaseFile:
    kind = question_templates.kind_of(question.text)
    if kind is None:
        return found
    found = found._replace(settled=found.settled | {kind})
    lines = tuple(filter(None, (question.line,)))
    match kind:
        case Asks.WHAT:
            new = named.wanted(question.answer, after=found.requirements, lines=lines)
            out = named.ruled_out(question.answer)
            return found._replace(
                requirements=(*found.requirements, *new), out_of_scope=_once((*found.out_of_scope, *out))
            )
        case Asks.WHY:
            return found._replace(why=(*found.why, *(Point(one) for one in sentences(question.answer))))
        case Asks.WHERE:
            targets = named.targets(question.answer.splitlines(), lines=lines)
            modules = () if targets else tuple(sentences(question.answer))
            return found._replace(
                targets=named.together(found.targets, targets), modules=(*found.modules, *modules)
            )
        case Asks.ORDER:
            return found._replace(order=(*found.order, *question.answer.splitlines()))
        case Asks.OPTION:
            return found._replace(options_open=False, decisions=(*found.decisions, question.answer))
        case _:
            return _with_detail(found, question, kind)


def _with_detail(found: CaseFile, question: WorkshopQuestion, kind: Asks) -> CaseFile:
    """An answer about one requirement, or about one risk."""
    lines = tuple(filter(None, (question.line,)))
    if kind is Asks.RISKS:
        told = named.dangers_in(question.answer, lines=lines)
        return found._replace(dangers=_once_by_text((*found.dangers, *told)))
    if kind is Asks.MITIGATION:
        risk = question_templates.quoted_in(question.text)
        dangers = (one.answered(risk, question.answer, lines) for one in found.dangers)
        return found._replace(dangers=tuple(dangers))
    number = question_templates.about(question.text)
    changed = tuple(
        one.told(kind, question.answer, lines) if one.number == number else one for one in found.requirements
    )
    kept = {key(one.title) for one in changed if one.number == number} if kind is Asks.WHICH_OF_TWO else ()
    out = tuple(one for one in found.out_of_scope if key(one) not in kept)
    return found._replace(requirements=changed, out_of_scope=out)


def _once(texts: Iterator[str] | tuple[str, ...]) -> tuple[str, ...]:
    return tuple({key(text): text for text in reversed(tuple(texts)) if key(text)}.values())[::-1]


def _once_by_text(dangers: tuple[Danger, ...]) -> tuple[Danger, ...]:
    """A risk that stands in two files has what both say about it."""
    merged: dict[str, Danger] = {}
    for one in dangers:
        known = merged.get(key(one.text))
        merged[key(one.text)] = known.with_more(one) if known else one
    return tuple(merged.values())
