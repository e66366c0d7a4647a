"""
Functional requirements with their numbers, as they stand in `requirements-spec.md`.

What the file has keeps its number, and its criteria theirs; what nobody says any more stays as it is there.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count

from bot.domain.values.markdown import Heading, Outline, outline
from bot.domain.values.text import one_line
from bot.voices.offline.pages import author, is_placeholder, joined, plain, section_of
from bot.voices.offline.phrases import key
from bot.voices.offline.requirements import Capability, Remark, Wishes, fr_id

FILE = "requirements-spec.md"
HEADING = "functional requirements"
OTHERS = "What else was said"
TITLE_CHARS = 90
UNSET = "to be set"
NO_CRITERIA = "- Acceptance criteria: to be agreed"
LEVEL = 3

_TITLED = re.compile(r"FR-0*(?P<number>\d{1,4})\s*[:–—-]\s*(?P<title>\S.*)", re.IGNORECASE)
_CRITERION = re.compile(
    r"[-*]\s+\**AC-0*(?P<owner>\d{1,4})-0*(?P<number>\d{1,3})\**\s*:\**\s*(?P<text>.*)", re.IGNORECASE
)
_PRIORITY = re.compile(r"[-*]\s+\**Priority\**\s*:\**\s*(?P<text>.*)", re.IGNORECASE)
_TRACES = re.compile(r"- Traces: step (?P<step>\S+) \((?P<names>.*)\)")
_EARLIER = re.compile(r"- Earlier: (?P<text>.*)")
_ATTRIBUTION = re.compile(r" — [^—]*$")


@dataclass
class Requirement:
    """Everything in it is Markdown as it stands in the file; `prose` and `bullets` are what has no field."""

    number: int
    title: str
    prose: list[str] = field(default_factory=list)
    criteria: dict[int, str] = field(default_factory=dict)
    bullets: list[str] = field(default_factory=list)
    priority: str = UNSET
    traces: str = ""

    @property
    def id(self) -> str:
        return fr_id(self.number)

    def is_called(self, title: str) -> bool:
        """By its title, or by one it had earlier."""
        earlier = (found["text"] for line in self.bullets if (found := _EARLIER.fullmatch(line)))
        return key(title) in {key(self.title), *map(key, earlier)}

    def accept(self, remark: Remark) -> None:
        known = {key(_ATTRIBUTION.sub("", text)) for text in self.criteria.values()}
        if key(plain(remark.text)) not in known:
            self.criteria[max(self.criteria, default=0) + 1] = f"{plain(remark.text)} — {author(remark.by)}"

    def note(self, remark: Remark) -> None:
        self._add(f"- Note: {plain(remark.text)} — {author(remark.by)}")

    def rename(self, title: str) -> None:
        self._add(f"- Earlier: {self.title}")
        self.title = title

    def trace(self, step_id: str, by: Iterable[str]) -> None:
        """To the people who asked for it. What somebody wrote there by hand stays."""
        before = _TRACES.fullmatch(self.traces)
        if self.traces and not before:
            return
        names = before["names"].split(", ") if before else []
        self.traces = f"- Traces: step {step_id} ({', '.join(dict.fromkeys((*names, *map(author, by))))})"

    def read(self, line: str) -> None:
        if line == NO_CRITERIA:
            return
        if criterion := self._own(line):
            self.criteria[int(criterion["number"])] = criterion["text"]
        elif self.priority == UNSET and (priority := _PRIORITY.fullmatch(line)):
            self.priority = priority["text"].strip() or UNSET
        elif not self.traces and line.startswith("- Traces:"):
            self.traces = line
        elif line.startswith(("- ", "* ")) or self.bullets or self.criteria:
            self.bullets.extend([line] if line.strip() else [])
        else:
            self.prose.append(line)

    def markdown(self) -> str:
        criteria = [
            f"- AC-{self.number:03}-{number:02}: {text}" for number, text in sorted(self.criteria.items())
        ]
        fields = [*(criteria or [NO_CRITERIA]), *self.bullets, f"- Priority: {self.priority}", self.traces]
        return joined(
            f"### {self.id}: {self.title}", "\n".join(self.prose).strip("\n"), "\n".join(filter(None, fields))
        )

    def _own(self, line: str) -> re.Match[str] | None:
        """A criterion of this requirement, under a number that none of it has: any other stays where and as it is."""
        found = _CRITERION.fullmatch(line)
        if found is None or int(found["owner"]) != self.number or int(found["number"]) in self.criteria:
            return None
        return found

    def _add(self, line: str) -> None:
        if line not in self.bullets:
            self.bullets.append(line)


@dataclass
class Spec:
    """A section of requirements: what stands before them, they, and blocks that somebody else put there."""

    intro: str = ""
    requirements: list[Requirement] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)

    def markdown(self, rest: str) -> str:
        last = joined(f"### {OTHERS}", rest) if rest else ""
        return joined(self.intro, *(one.markdown() for one in self.requirements), *self.strangers, last)


def read_spec(text: str, heading: str) -> Spec:
    page = outline(section_of(text, heading))
    blocks = [one for one in page.headings if one.level <= LEVEL]
    intro = "".join(page.lines[: blocks[0].line if blocks else None]).strip()
    spec = Spec("" if is_placeholder(intro) else intro)
    for block in blocks:
        _read_block(spec, page, block)
    return spec


def known_requirements(text: str) -> list[Requirement]:
    """Those in the page *text*, under whatever number its section has."""
    return [
        requirement
        for one in outline(text).headings
        if HEADING in one.text.casefold()
        for requirement in read_spec(text, one.text).requirements
    ]


def merge(spec: Spec, wishes: Wishes, *, step_id: str) -> tuple[Remark, ...]:
    """What people wish now goes into *spec*, in the order of the numbers; returns what is about none of them."""
    numbered = {one.number: one for one in spec.requirements}
    free = _free_numbers(max(numbered, default=0), {one.number for one in wishes.capabilities})
    for wanted in wishes.capabilities:
        title = plain(one_line(wanted.text, TITLE_CHARS))
        found = _find(numbered.values(), wanted, title)
        if found is None:
            found = _new(wanted, title, wanted.number if wanted.number is not None else next(free))
            numbered[found.number] = found
        elif not found.is_called(title):
            found.rename(title)
        _fill(found, wanted, step_id)
    for number, remark in wishes.criteria:
        if number in numbered:
            numbered[number].accept(remark)
    for number, remark in wishes.notes:
        if number in numbered:
            numbered[number].note(remark)
    spec.requirements = [numbered[number] for number in sorted(numbered)]
    return tuple(remark for number, remark in (*wishes.criteria, *wishes.notes) if number not in numbered)


def _read_block(spec: Spec, page: Outline, block: Heading) -> None:
    end = page.end(block, level=LEVEL)
    titled = _TITLED.fullmatch(block.text)
    if titled and int(titled["number"]) not in {one.number for one in spec.requirements}:
        requirement = Requirement(int(titled["number"]), titled["title"])
        for line in page.lines[block.body : end]:
            requirement.read(line.rstrip())
        spec.requirements.append(requirement)
    elif block.text != OTHERS:
        spec.strangers.append("".join(page.lines[block.line : end]).strip())


def _free_numbers(last: int, reserved: Collection[int | None]) -> Iterator[int]:
    """After the *last* one of the file, without those that people gave themselves."""
    return (number for number in count(last + 1) if number not in reserved)


def _find(known: Iterable[Requirement], wanted: Capability, title: str) -> Requirement | None:
    if wanted.number is not None:
        return next((one for one in known if one.number == wanted.number), None)
    return next((one for one in known if one.is_called(title)), None)


def _new(wanted: Capability, title: str, number: int) -> Requirement:
    whole = plain(wanted.text)
    return Requirement(number, title, prose=[] if whole == title else [whole])


def _fill(found: Requirement, wanted: Capability, step_id: str) -> None:
    for remark in wanted.criteria:
        found.accept(remark)
    for remark in wanted.notes:
        found.note(remark)
    found.trace(step_id, wanted.by)
