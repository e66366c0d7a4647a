"""
The agreed entries of an item as the files of spec-kit, OpenSpec and Kiro.

Each block that stands for an entry ends with a mark: `<!-- ITEM/ID DIGEST: who said it, link -->`. The digest is that
of the block as it was written, so that `exported_edits.py` finds what people and agents changed without any memory.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import cache
from importlib.metadata import entry_points
from itertools import groupby
from typing import Any, NamedTuple

from bot.domain.catalog.schema import FieldType
from bot.domain.item.export_places import FOLDERS, SLUG, read_places
from bot.domain.messages.attribution_wording import credit_inside
from bot.domain.messages.tracker_wording import issue_name
from bot.domain.specification.claims import EntryState
from bot.domain.specification.exported import WRITTEN_BY_US
from bot.domain.specification.shown import ShownEntry
from bot.domain.values.text import clean, one_line, value_text, values
from bot.errors import ConfigError
from bot.integrations.agreed import AgreedItem

HOLDS, ENSURES = "It SHALL hold that: ", "THE SYSTEM SHALL ensure that "
OPEN_POINT = "[NEEDS CLARIFICATION: "
NO_CRITERIA = f"{OPEN_POINT}no acceptance criteria]"
NO_REQUIREMENTS = f"{OPEN_POINT}no requirement is agreed]"
EXERCISED = " is exercised"
MODAL = re.compile(r"\b(?:must|shall)\b", re.IGNORECASE)
PRIORITY = {"must": "P1", "should": "P2", "could": "P3"}
WONT = "won't"
EXPORTED = (
    "requirement", "criterion", "story", "decision", "constraint", "quality", "metric", "exclusion", "risk", "problem",
    "driver", "assumption",
)  # fmt: skip
"""Kinds with sections of their own, whose entries stand as open points while nobody accepted them."""
OF_THE_MEETING = frozenset({"discussion", "position"})
"""They say what people did, and whose it was. What came of it are other entries."""
WHO_CHARS, TITLE_CHARS, SENTENCE_CHARS = 120, 80, 400
_LEAD = r"\\*(?:[#>+*=|~-]|`{3})"
_NUMBERED = r"([0-9]{1,9})"
_WHEN, _THEN = (re.compile(rf",? {word} ", re.IGNORECASE) for word in ("when", "then"))
_GIVEN = "given "


def plain(value: Any) -> str:
    """Words of people on one line. No block of Markdown, no comment and no open point of ours begins in them."""
    text = " ".join(clean(value_text(value)).split())
    text = re.sub(r"&(?=lt;|amp;)", "&amp;", text).replace("<", "&lt;")
    text = re.sub(r"(?<!\\)(\\*+\[NEEDS)", r"\\\1", text)
    if found := re.match(rf"{_NUMBERED}(?=\\*[.)])|(?={_LEAD})", text):
        return f"{text[: found.end()]}\\{text[found.end() :]}"
    return text


def unplain(text: str) -> str:
    """What `plain` was given, on one line."""
    text = " ".join(text.split())
    if found := re.match(rf"{_NUMBERED}\\(?=\\*[.)])|\\(?={_LEAD})", text):
        text = (found[1] or "") + text[found.end() :]
    text = re.sub(r"(?<!\\)\\(\\*+\[NEEDS)", r"\1", text)
    return re.sub(r"&(lt|amp);", lambda found: "<" if found[1] == "lt" else "&", text)


def digest(rows: Iterable[str]) -> str:
    """The same however lines are wrapped."""
    return hashlib.sha256(" ".join(" ".join(rows).split()).encode()).hexdigest()[:8]


def shall(text: str) -> str:
    """As a requirement is written: a must or shall of its own counts."""
    said = plain(text)
    return MODAL.sub(lambda found: found[0].upper(), said, count=1) if MODAL.search(said) else HOLDS + said


class Clauses(NamedTuple):
    """Of a criterion: what is given, and when, are empty where nobody said so."""

    given: str
    when: str
    then: str

    @classmethod
    def of(cls, text: str) -> "Clauses":
        said = plain(text)
        then = _THEN.search(said)
        when = _WHEN.search(f" {said[: then.start()]} ") if then else None
        if then is None or when is None:
            return cls("", "", said)
        given, event = said[: max(when.start() - 1, 0)], said[when.end() - 1 : then.start()]
        if not event or (given and not given.lower().startswith(_GIVEN)):
            return cls("", "", said)
        return cls(given[len(_GIVEN) :], event, said[then.end() :])


def marked(one: ShownEntry, *rows: str) -> str:
    """The rows of a block, with the mark at the end of the last one."""
    said = one_line(re.sub(r"[<>]|-{2,}", " ", credit_inside(one.attribution)), WHO_CHARS)
    link = one.link if not re.search(r"[<>\s]|--", one.link) else ""
    about = " ".join(filter(None, (said, link)))
    return "\n".join(rows) + f" <!-- {one.address} {digest(rows)}{f': {about}' if about else ''} -->"


class Agreed:
    """
    What the formats write: every entry that people accepted and that nobody contests or doubts. One that is contested,
    and all else of the kinds that have sections, is an open point.
    """

    def __init__(self, item: AgreedItem) -> None:
        self.slug = item.slug
        self.title = plain(item.title)
        self._kinds = item.shown.schema.kinds
        living = [one for one in item.shown.entries() if not one.is_gone and one.kind not in OF_THE_MEETING]
        self._agreed = [one for one in living if not _unsettled(one)]
        unsettled = (one for one in living if _unsettled(one))
        self._open = [one for one in unsettled if one.kind in EXPORTED or one.state is EntryState.ACCEPTED]

    def of(self, *kinds: str, part_of: str | None = None) -> list[ShownEntry]:
        found = (one for one in self._agreed if one.kind in kinds)
        return [one for one in found if part_of is None or one.part_of == part_of]

    def requirements(self) -> list[ShownEntry]:
        return [one for one in self.of("requirement") if one.accepted("priority") != WONT]

    def criteria(self, requirement: ShownEntry) -> list[ShownEntry]:
        return self.of("criterion", part_of=requirement.id)

    def stories(self, requirement: ShownEntry) -> list[ShownEntry]:
        return [one for one in self.of("story") if requirement.id in values(one.accepted("traces"))]

    def issues(self, requirement: ShownEntry) -> Iterator[str]:
        """Of the work on it, on a row; nothing where there is none."""
        work = (one for one in self.of("work") if requirement.id in values(one.accepted("traces")))
        named = dict.fromkeys(filter(None, (issue_name(str(one.accepted("issue") or "")) for one in work)))
        if named:
            yield f"Issues: {', '.join(named)}"

    def bullets(self, *kinds: str) -> Iterator[str]:
        yield from map(_bullet, self.of(*kinds))

    def excluded(self) -> Iterator[str]:
        yield from self.bullets("exclusion")
        for one in self.of("requirement"):
            if one.accepted("priority") == WONT:
                yield _bullet(one)
                yield from (f"  {_bullet(part)}" for part in self.criteria(one))

    def others(self) -> Iterator[str]:
        """What has no section, below the names of its kinds."""
        for key, found in groupby(filter(self._is_other, self._agreed), lambda one: one.kind):
            kind = self._kinds.get(key)
            yield from ("", f"### {plain((kind.plural or kind.name) if kind else key)}", "")
            yield from (marked(one, f"- **{one.id}** {plain(one.text)}", *self._fields(one)) for one in found)

    def _is_other(self, one: ShownEntry) -> bool:
        """A question is open, or has an answer; and the requirement of a criterion may not be agreed."""
        match one.kind:
            case "criterion":
                return one.part_of not in {whole.id for whole in self.of("requirement")}
            case "question":
                return bool(one.accepted("answer"))
            case _:
                return one.kind not in EXPORTED

    def _fields(self, one: ShownEntry) -> Iterator[str]:
        """Without those that name people."""
        kind = self._kinds.get(one.kind)
        if kind is None:
            return
        for name, field in kind.fields.items():
            is_told = name != kind.text and not field.by_people and field.type is not FieldType.PERSON
            if is_told and (value := one.accepted(name)):
                yield f"  {plain(kind.label(name))}: {plain(value)}"

    def open_points(self) -> Iterator[str]:
        """An open question with its owner; another entry with what keeps it from being agreed."""
        for one in self.of("question"):
            if not one.accepted("answer"):
                owner = one.accepted("owner")
                asked = f" (owner: {plain(owner)})" if owner else ""
                yield marked(one, f"- {OPEN_POINT}**{one.id}** {plain(one.text)}{asked}]")
        for one in self._open:
            yield marked(one, f"- {OPEN_POINT}**{one.id}** {plain(one.text)}: {_unsettled(one)}]")


def _unsettled(one: ShownEntry) -> str:
    """Why an entry is not agreed; empty if it is."""
    if one.contested:
        return "people disagree"
    claims = (claim for told in one.claims.values() for claim in told)
    if any(claim.counts and claim.accepted_by and claim.doubtful for claim in claims):
        return "to be confirmed again"
    return "" if one.state is EntryState.ACCEPTED else "proposed, not accepted"


DETAILS = {
    "reason": "because", "before": "today", "target": "target", "threshold": "threshold", "mitigation": "answer",
    "status": "status",
}  # fmt: skip
"""Fields that stand below the words of an entry, and their labels."""


def _bullet(one: ShownEntry) -> str:
    told = ((label, one.accepted(field)) for field, label in DETAILS.items())
    details = (f"  {label}: {plain(value)}" for label, value in told if value)
    return marked(one, f"- **{one.id}** {_story(one)}", *details)


Rows = Callable[[Agreed], Iterable[str]]


def _story(one: ShownEntry) -> str:
    """One without a role stands as it was said."""
    role, want, so_that = (plain(one.accepted(name) or "") for name in ("role", "want", "so_that"))
    if not role:
        return plain(one.text)
    article = "an" if role[:1].lower() in "aeiou" else "a"
    return f"As {article} {role}, I want {want}" + (f", so that {so_that}" if so_that else "")


# --- what stands in which section ----------------------------------------------------------------------------------


def _bullets(*kinds: str) -> Rows:
    return lambda agreed: agreed.bullets(*kinds)


def _paragraphs(*kinds: str) -> Rows:
    return lambda agreed: (row for one in agreed.of(*kinds) for row in (marked(one, plain(one.text)), ""))


def _nothing(_: Agreed) -> Iterable[str]:
    return ()


def _sentence(one: ShownEntry) -> str:
    """With its id, on one line, for what has no mark."""
    return f"{one.id} {one_line(plain(one.text), SENTENCE_CHARS)}"


def _speckit_stories(agreed: Agreed) -> Iterator[str]:
    for number, story in enumerate(agreed.of("story"), 1):
        wanted = [one for one in agreed.requirements() if one.id in values(story.accepted("traces"))]
        priority = min((PRIORITY.get(str(one.accepted("priority")), "P2") for one in wanted), default="P2")
        title = one_line(plain(story.text), TITLE_CHARS)
        yield from (f"### User Story {number} - {title} (Priority: {priority})", "")
        yield from (marked(story, _story(story)), "", "**Acceptance Scenarios**:", "")
        criteria = [part for one in wanted for part in agreed.criteria(one)]
        for at, part in enumerate(criteria, 1):
            given, when, then = Clauses.of(part.text)
            words = (given and f"**Given** {given}", when and f"**When** {when}")
            steps = ", ".join(filter(None, (*words, f"**Then** {then}" if when else then)))
            yield marked(part, f"{at}. **{part.id}**: {steps}")
        yield from ("",) if criteria else (NO_CRITERIA, "")


def _speckit_requirements(agreed: Agreed) -> Iterator[str]:
    told = {id for story in agreed.of("story") for id in values(story.accepted("traces"))}
    for one in agreed.requirements():
        yield marked(one, f"- **{one.id}**: {shall(one.text).replace('SHALL', 'MUST', 1)}")
        yield from (f"  {row}" for row in agreed.issues(one))
        parts = agreed.criteria(one) if one.id not in told else []
        yield from (marked(part, f"  - **{part.id}**: {plain(part.text)}") for part in parts)


def _openspec_requirements(agreed: Agreed) -> Iterator[str]:
    """
    A requirement without criteria says so in its scenario: OpenSpec asks for one. It refuses a change without any
    requirement, and archives none that only takes away what is not there.
    """
    requirements = agreed.requirements()
    yield from ("", "## ADDED Requirements" if requirements else "## REMOVED Requirements", "")
    if not requirements:
        yield from ("### Requirement: none is agreed", NO_REQUIREMENTS)
    for one in requirements:
        words = plain(one.text)
        if len(words) > SENTENCE_CHARS:
            head, sentence = f"### Requirement: {one.id}", f"It SHALL hold what {one.id} says."
            yield from (head, sentence, "", marked(one, words), "")
        else:
            yield from (marked(one, f"### Requirement: {one.id} {words}", shall(one.text)), "")
        yield from (*agreed.issues(one), "")
        criteria = agreed.criteria(one)
        for part in criteria:
            given, when, then = Clauses.of(part.text)
            rows = [f"#### Scenario: {part.id}", *([f"- **GIVEN** {given}"] if given else [])]
            rows += [f"- **WHEN** {when or one.id + EXERCISED}", f"- **THEN** {then}"]
            yield from (marked(part, *rows), "")
        if not criteria:
            yield from ("#### Scenario: not agreed yet", f"- **WHEN** {one.id}{EXERCISED}")
            yield from (f"- **THEN** it does what the requirement says {NO_CRITERIA}", "")


def _openspec_tasks(agreed: Agreed) -> Iterator[str]:
    for at, one in enumerate(agreed.requirements(), 1):
        yield f"- [ ] 1.{at} {_sentence(one)}, with a test for each scenario"


def _kiro_introduction(agreed: Agreed) -> Iterable[str]:
    """With the stories that lead to no requirement."""
    told = {story.id for one in agreed.requirements() for story in agreed.stories(one)}
    loose = [_bullet(one) for one in agreed.of("story") if one.id not in told]
    return [*_paragraphs("problem", "driver")(agreed), *loose] or [agreed.title]


def _kiro_requirements(agreed: Agreed) -> Iterator[str]:
    for at, one in enumerate(agreed.requirements(), 1):
        yield from (f"### Requirement {at}: {one.id}", "")
        for story in agreed.stories(one):
            yield from (marked(story, f"**User Story:** {_story(story)}"), "")
        yield from (marked(one, shall(one.text)), "", *agreed.issues(one), "", "#### Acceptance Criteria", "")
        criteria = agreed.criteria(one)
        yield from (marked(part, f"{nth}. {_ears(part)}") for nth, part in enumerate(criteria, 1))
        yield from ("",) if criteria else (f"1. THE SYSTEM SHALL satisfy {one.id} {NO_CRITERIA}", "")


def _kiro_tasks(agreed: Agreed) -> Iterator[str]:
    for at, one in enumerate(agreed.requirements(), 1):
        refs = ", ".join(f"{at}.{nth}" for nth, _ in enumerate(agreed.criteria(one), 1)) or str(at)
        yield from (f"- [ ] {at}. {_sentence(one)}", f"  - _Requirements: {refs}_")


def _ears(part: ShownEntry) -> str:
    given, when, then = Clauses.of(part.text)
    event = f"WHEN {when} " + (f"AND {given} " if given else "") + "THEN " if when else ""
    return f"{event}{ENSURES}{then} ({part.id})"


# --- the formats ----------------------------------------------------------------------------------------------------

TASKS = "tasks.md"
"""Written once: then it belongs to who builds."""
ALSO_AGREED = "## Also Agreed"


class ExportFormat(NamedTuple):
    """
    `folder` ends with the slug of the item. `files` are, by their paths in it, what stands below which heading.
    `sections` name the kind of a new bullet below a heading, in small letters, which is read back. `reserved` are slugs
    that mean something else to its tool.
    """

    folder: str
    files: Mapping[str, Mapping[str, Rows]]
    sections: Mapping[str, str] = {}
    reserved: frozenset[str] = frozenset()


FORMATS: Mapping[str, ExportFormat] = {
    "speckit": ExportFormat(FOLDERS["speckit"], {
        "spec.md": {
            "# Feature Specification: {title}\n\n**Feature Branch**: `{slug}`\n\n**Status**: Agreed": _nothing,
            "## Why": _paragraphs("problem", "driver"),
            "## User Scenarios & Testing *(mandatory)*": _speckit_stories,
            "## Requirements *(mandatory)*\n\n### Functional Requirements": _speckit_requirements,
            "## Success Criteria *(mandatory)*\n\n### Measurable Outcomes": _bullets("metric", "quality"),
            "## Assumptions": _bullets("assumption"),
            "## Constraints": _bullets("constraint"),
            "## Out of Scope": Agreed.excluded,
            "## Decisions": _bullets("decision"),
            "## Risks": _bullets("risk"),
            "## Clarifications": Agreed.open_points,
            ALSO_AGREED: Agreed.others,
        },
    }),
    "openspec": ExportFormat(FOLDERS["openspec"], {
        "proposal.md": {
            "# Proposal\n\n## Why\n\nThe team agreed on {title}; each requirement says who wants it, with a link.":
                _paragraphs("problem", "driver"),
            "### User Stories": _bullets("story"),
            "## What Changes": lambda agreed: (
                [f"- {_sentence(one)}" for one in agreed.requirements()] or [f"- {NO_REQUIREMENTS}"]
            ),
            "## Capabilities\n\n### New Capabilities\n\n- `{slug}`: {title}": _nothing,
            "### Modified Capabilities": _nothing,
            "## Impact": Agreed.excluded,
        },
        f"specs/{SLUG}/spec.md": {
            "# Spec Delta\n\n## Purpose\n\n"
            "{title}: what the team agreed on, with who said it beside each requirement.": _openspec_requirements,
        },
        "design.md": {
            "# Design\n\n## Context": _bullets("constraint", "assumption"),
            "## Goals / Non-Goals\n\n**Goals:**": _bullets("metric", "quality"),
            "**Non-Goals:**": Agreed.excluded,
            "## Decisions": _bullets("decision"),
            "## Risks / Trade-offs": _bullets("risk"),
            "## Open Questions": Agreed.open_points,
            ALSO_AGREED: Agreed.others,
        },
        TASKS: {"# Tasks\n\n## 1. Implementation": _openspec_tasks},
    }, reserved=frozenset({"archive"})),
    "kiro": ExportFormat(FOLDERS["kiro"], {
        "requirements.md": {
            "# Requirements Document\n\n## Introduction": _kiro_introduction,
            "## Requirements": _kiro_requirements,
        },
        "design.md": {
            "# Design Document\n\n## Overview\n\n{title}\n\n## Goals": _bullets("metric"),
            "## Decisions": _bullets("decision"),
            "## Constraints": _bullets("constraint", "quality"),
            "## Assumptions": _bullets("assumption"),
            "## Out of Scope": Agreed.excluded,
            "## Risks": _bullets("risk"),
            "## Open Questions": Agreed.open_points,
            ALSO_AGREED: Agreed.others,
        },
        TASKS: {"# Implementation Plan": _kiro_tasks},
    }),
}  # fmt: skip
PLUG_INS = "roundtable.exports"
"""The entry points of formats of others: one of this name loads to a `ExportFormat`."""
REASON_CHARS = 200


def format_names() -> tuple[str, ...]:
    """No plug-in is loaded for them."""
    return (*FORMATS, *sorted({one.name for one in entry_points(group=PLUG_INS)} - FORMATS.keys()))


def format_of(name: str) -> ExportFormat:
    """Raises ConfigError with a sentence for a plug-in that is missing or broken."""
    return FORMATS.get(name) or _plugged_in(name)


@cache
def _plugged_in(name: str) -> ExportFormat:
    with _code_of_others(name):
        named = [*entry_points(group=PLUG_INS, name=name)]
        if not named:
            raise LookupError("it is not installed")
        found = named[0].load()
        if not isinstance(found, ExportFormat):
            raise TypeError(f"{named[0].value} is no ExportFormat")
        read_places(f"{name}:{found.folder}")  # raises ValueError
        return found


@contextmanager
def _code_of_others(name: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        why = one_line(str(error) or type(error).__name__, REASON_CHARS)
        raise ConfigError(f"The export format {name} cannot be used: {why}.") from error


def exported(item: AgreedItem, target: str, folder: str = "") -> dict[str, str]:
    """
    The texts of the files by their paths in a repository. Raises ConfigError for a plug-in that is broken, and for a
    reserved slug.
    """
    found, agreed = format_of(target), Agreed(item)
    if item.slug.casefold() in found.reserved:
        raise ConfigError(f"{item.slug} cannot be exported: {target} keeps this name for itself.")
    with nullcontext() if target in FORMATS else _code_of_others(target):
        pages = {name: _page(agreed, rows, is_marked=name != TASKS) for name, rows in found.files.items()}
    return {f"{folder or found.folder}/{name}".replace(SLUG, item.slug): text for name, text in pages.items()}


def _page(agreed: Agreed, sections: Mapping[str, Rows], *, is_marked: bool) -> str:
    """A page without an entry has a mark, too, so that it is known as ours. The tasks are not."""
    rows = list[str]()
    for heading, rows_of in sections.items():
        rows += (heading.format(title=agreed.title, slug=agreed.slug), "", *rows_of(agreed), "")
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(rows)).rstrip("\n") + "\n"
    has_mark = f"<!-- {agreed.slug}/" in text
    return text if has_mark or not is_marked else f"{text}\n<!-- {agreed.slug} {WRITTEN_BY_US} -->\n"
