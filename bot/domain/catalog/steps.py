"""A step: what one Markdown file of `analysis-steps/` says."""

import re
from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from functools import lru_cache
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints

from bot.domain.catalog.skip_if import BadCondition, Condition, Facts, parse
from bot.domain.values.file_names import composed, is_plain
from bot.domain.values.value import Value

SHARED = {"nfr-matrix.md": "docs/common/nfr-matrix.md"}
"""Outputs that all items share: their name in a step, and where they live in the workspace."""

ENGINES_OWN = re.compile(r"(?i)(?:meta\.json|specification\.json|draft\.md|(?:planning|reviews)(?:/.*)?)")

_PREFIX = re.compile(
    r"""(?:\*\*)?
    (?P<name>[^\n:：(*]{1,80}?)
    (?:\ \([^()\n]{1,80}\))?  # (Role)
    (?:(?::\*\*|\*\*:|:)\s+|：\s*)""",
    re.VERBOSE,
)

# --- which sections of an output a step owns, read from the prose of its Artifacts section ------------------------
#
#     - Create or update `quick-scan.md` in the artifact folder:
#       - Section: "1. Scope"
#       - Content: scope class with rationale
#
# Authors write this in many ways, so it is read kindly: §"1. Scope", Section 1. Scope, `## 1. Scope`.

_PART = re.compile(
    r"""
    # "1. Scope", `## 1. Scope`, **1. Scope**
    (?<!["“'‘`*])["“'‘`*]++ (?:\#++\s)?
        (?P<quoted>\d{1,3}(?:\.\d{1,3})*)\.\s (?P<quoted_title>[^"”`*]{1,200}?) ['’]? ["”'’`*] (?!\w)
    # §1. Scope, Section: 1. Scope, # 1. Scope
  | (?:§ | \bsections?\b:? | (?<!\#)\#++) \s? (?P<plain>\d{1,3}(?:\.\d{1,3})*)\.\s (?P<plain_title>[^,;:(`"]{1,200}?)
        (?=\s? (?: [,;:(`"] | -- | [–—] | \b(?:in|of|to)\s | \.?$))
    # Section: "Scope"
  | (?:§\s? | ^(?:[-*+]\s)?section:\s?) ["“`]? (?P<named>[^\d\s"”`*][^"”`]*?) ["”`]?$
    # quick-scan.md, docs/common/nfr-matrix.md
  | (?<![\w{}./-]) (?P<file>(?:[\w-][\w.-]*/)*[\w-][\w.-]*\.(?:md|json|csv|ya?ml|txt)) (?![\w/])
    """,
    re.IGNORECASE | re.VERBOSE,
)
_DETAIL = re.compile(r"[-*+] (?:content|format|include|column|note|trace)s?:", re.IGNORECASE)


def owned_sections(artifacts: str, output: str, *, outputs: Collection[str]) -> tuple[str, ...]:
    """
    The whole headings of the sections of *output*, `6. Functional Requirements`, in the order of the text.

    A section is one of the file named before it on its line, else of the first one of its line, else of the last one
    above.
    """
    file, found = _file_name(next(iter(outputs), output)), dict[str, str]()
    for spaced in (one for one in outputs if " " in one):
        artifacts = artifacts.replace(spaced, spaced.replace(" ", "-"))
    for raw in artifacts.splitlines():
        line = " ".join(raw.split())
        parts = [] if _DETAIL.match(line) else list(_PART.finditer(line))
        file = next((_file_name(part["file"]) for part in parts if part["file"]), file)
        for part in parts:
            if part["file"]:
                file = _file_name(part["file"])
            elif file == _file_name(output):
                heading = _heading(part)
                found.setdefault(heading.casefold(), heading)
    return tuple(found.values())


def _heading(part: re.Match[str]) -> str:
    if named := part["named"]:
        return named.strip()
    number, title = part["quoted"] or part["plain"], part["quoted_title"] or part["plain_title"]
    return f"{number}. {title.strip()}"


def _file_name(path: str) -> str:
    return path.removeprefix("docs/common/").casefold().replace(" ", "-")


# --- the step -----------------------------------------------------------------------------------------------------


class Depth(StrEnum):
    BRIEF = "brief"
    """A drafted conclusion, to be confirmed."""

    STANDARD = "standard"
    """Two or three open questions."""

    DEEP = "deep"
    """Four to six, down to edge cases and failures."""


class StepHeading(StrEnum):
    """The headings of a step file that mean something; others belong to the section they stand in."""

    BRIEF = "Brief Mode"
    STANDARD = "Standard Mode"
    DEEP = "Deep Mode"
    VALIDATION = "Validation"
    ARTIFACTS = "Artifacts"


SECTION_OF = {
    Depth.BRIEF: StepHeading.BRIEF,
    Depth.STANDARD: StepHeading.STANDARD,
    Depth.DEEP: StepHeading.DEEP,
}


def safe_output(path: str) -> str:
    """
    The path itself, below the item's folder; a shared file by its bare name.

    Raises ValueError for what would leave the folder or overwrite what the engine keeps there.
    """
    path = composed(path).removeprefix("./")
    for name, shared in SHARED.items():
        if path == shared:
            return name
    if not is_plain(path):
        raise ValueError("not a plain path inside the item's folder")
    if ENGINES_OWN.fullmatch(path):
        raise ValueError("the engine writes this file itself")
    return path


def one_line(text: object) -> object:
    return " ".join(text.split()) if isinstance(text, str) else text


StepId = Annotated[str, StringConstraints(pattern=r"^[0-9]{2}-[0-9]{2}$")]
Title = Annotated[str, BeforeValidator(one_line), StringConstraints(min_length=1, max_length=60)]
Output = Annotated[str, AfterValidator(safe_output)]
Outputs = Annotated[
    tuple[Output, ...], Field(min_length=1), AfterValidator(lambda outputs: tuple(dict.fromkeys(outputs)))
]


class Ask(Value):
    """What the answer to a question becomes: an entry of the *kind* (of a list, one per line), or a *field* of it."""

    kind: str
    field: str = ""
    is_list: bool = False


class Step(Value):
    step_id: StepId
    title: Title
    persona: Annotated[str, StringConstraints(min_length=1)]
    depth: Depth
    outputs: Outputs
    depends_on: tuple[str, ...] = ()
    skip_if: str = ""
    phase_key: str = ""
    filename: str = ""
    sections: Mapping[StepHeading, str] = {}
    asks: Mapping[StepHeading, Mapping[int, Ask]] = {}
    is_card: bool = False
    """Whether it is the card of a phase, which is asked in place of its steps."""
    covers: Mapping[str, tuple[Ask, ...]] = {}
    """Of a card: a step counts as done once there is an entry of one of these kinds, or one with the field."""
    body: str = ""
    speakers: tuple[str, ...] = ()
    """Full names that may stand before a text, as in "Maya Chen: "; who speaks is shown by the message."""

    def text_at(self, depth: Depth) -> tuple[str, bool]:
        """
        What the persona says at *depth*, without a speaker's name in front, and whether another text stands in.

        A missing section falls back to Standard Mode, then to the whole body (ERR-STEP-007).
        """
        if text := self.sections.get(SECTION_OF[depth]):
            return self._said(text), False
        return self._said(self.sections.get(StepHeading.STANDARD) or self.body.strip()), True

    def questions_at(self, depth: Depth) -> tuple[str, ...]:
        text, _ = self.text_at(depth)
        return items(text, NUMBERED)

    def asks_at(self, depth: Depth) -> Mapping[int, Ask]:
        """
        By the number of the question, for those whose answer becomes an entry. A mode without questions, as brief is,
        has those of Standard Mode.
        """
        heading = SECTION_OF[depth]
        has_questions = items(self.sections.get(heading, ""), NUMBERED)
        return self.asks.get(heading if has_questions else StepHeading.STANDARD, {})

    @property
    def validation(self) -> tuple[str, ...]:
        return items(self.sections.get(StepHeading.VALIDATION, ""), BULLET)

    @property
    def condition(self) -> Condition:
        """When this step is skipped. Raises BadCondition."""
        return parse(self.skip_if)

    @property
    def has_bad_condition(self) -> bool:
        try:
            _ = self.condition
        except BadCondition:
            return True
        return False

    def is_excused(self, facts: Facts) -> bool:
        """Whether its condition holds. One that means nothing does not, so that the step runs."""
        return not self.has_bad_condition and self.condition.holds(facts)

    def owned(self, output: str) -> tuple[str, ...]:
        """The headings of the sections of *output* that this step writes; the rest of the file belongs to others."""
        artifacts = self.sections.get(StepHeading.ARTIFACTS, "")
        return owned_sections(artifacts, output, outputs=self.outputs) or (self.title,)

    def _said(self, text: str) -> str:
        prefix = _PREFIX.match(text)
        named = prefix is not None and " ".join(prefix["name"].split()) in self.speakers
        return text[prefix.end() :] if prefix and named else text


NUMBERED = re.compile(r" {0,2}\d{1,3}[.)](?:\s++|$)(.*)")
BULLET = re.compile(r" {0,1}[-*+](?:\s++|$)(.*)")
SUB_ITEM = re.compile(r"\s*(?:[-*+]|(?:[0-9]{1,2}|[a-z])[.)])\s++(.*)")


def in_code(rows: Iterable[str]) -> frozenset[int]:
    """The numbers of the rows that are fenced code, fences included, however far they are indented."""
    from bot.domain.values.markdown import outline  # noqa: PLC0415 -- a schema needs steps, and no parser

    return outline("\n".join(row.strip() for row in rows)).hidden


@lru_cache(maxsize=1_000)  # the same few lists of step files are asked for with every input
def items(text: str, marker: re.Pattern[str]) -> tuple[str, ...]:
    """
    The top-level items of a list, each on one line.

    Lines below an item continue it, its sub-items follow after a semicolon; a blank line and then text
    at the margin ends the list. Fenced code is passed over.
    """
    found: list[list[str]] = []
    loose = ended = False
    rows = text.splitlines()
    code = in_code(rows)
    for number, line in enumerate(rows):
        if number in code:
            continue
        if item := marker.fullmatch(line):
            found.append([item[1].strip()])
            ended = False
        elif not line.strip():
            loose = True
            continue
        elif found and not ended:
            ended = loose and not line[0].isspace()
            if not ended:
                found[-1].append(_continued(found[-1][-1], line))
        loose = False
    return tuple(filter(None, map("".join, found)))


def _continued(before: str, line: str) -> str:
    """What *line* adds to an item that ends with *before*."""
    if sub := SUB_ITEM.fullmatch(line):
        return f"{' ' if before.endswith(':') else '; '}{sub[1].strip()}"
    return f" {line.strip()}"
