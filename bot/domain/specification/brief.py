"""
The brief of an item: what a person has to know who was not there. It is one function of the entries, and the file
`brief.md`, the first message of the thread, the final message and every summary are parts of it.

Only what people accepted is in its lists. All else that lives is counted, or stands under *Not settled*.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from bot.domain.catalog.schema import PLAN_PAGE, Schema
from bot.domain.item.item import repository_of
from bot.domain.messages import brief_wording as wording
from bot.domain.messages import specification_wording
from bot.domain.messages.attribution_wording import attribution_of
from bot.domain.messages.tracker_wording import issue_name
from bot.domain.specification.agent_questions import QuestionState, is_asked_by_agent, question_state
from bot.domain.specification.claims import Entry, EntryState
from bot.domain.specification.entries import OF_DISCUSSIONS, OPTION, Specification
from bot.domain.specification.not_settled import CRITERION, OPEN, REQUIREMENT, WORK, not_settled
from bot.domain.values.markdown import LAST_SECTION, inert_line
from bot.domain.values.text import values
from bot.domain.values.value import Value

PAGE = "brief.md"
"""In the item's folder. No section of it is written, or read back, by itself."""
WONT = "won't"


class BriefRow(Value):
    """`label` stands in front of the words. `entry` is the id of the entry that the row is about."""

    text: str
    entry: str = ""
    label: str = ""
    below: tuple["BriefRow", ...] = ()


class BriefSection(Value):
    """`file` has the rows for which there is no room."""

    title: str
    rows: tuple[BriefRow, ...]
    file: str = ""


class BriefSize(NamedTuple):
    requirements: int
    criteria: int
    rows: int


ON_A_PAGE = BriefSize(requirements=12, criteria=3, rows=8)
IN_A_MESSAGE = BriefSize(requirements=5, criteria=3, rows=3)


class Brief(Value):
    """
    Sections without a row are left out. `elsewhere` counts the entries that only other files show, and `open_points` is
    what is not settled.
    """

    counts: str = ""
    sections: tuple[BriefSection, ...] = ()
    elsewhere: tuple[BriefRow, ...] = ()
    open_points: tuple[BriefRow, ...] = ()

    @property
    def not_settled(self) -> tuple[str, ...]:
        return tuple(one.text for one in self.open_points)

    @property
    def is_empty(self) -> bool:
        return not (self.sections or self.elsewhere or self.not_settled)

    def cut(self, size: BriefSize) -> tuple[BriefSection, ...]:
        """Its sections, each with a row that counts what is left out."""
        return tuple(_cut(one, size) for one in self.sections)

    def whole(self) -> tuple[BriefSection, ...]:
        """All that is on the page; *Not settled* comes last, and says so when it is empty."""
        rows = self.not_settled or (specification_wording.ALL_SETTLED,)
        last = BriefSection(
            title=f"{LAST_SECTION} ({len(self.not_settled)})", rows=tuple(BriefRow(text=row) for row in rows)
        )
        elsewhere = BriefSection(title=wording.OTHER_FILES, rows=self.elsewhere)
        found = (*self.cut(ON_A_PAGE), elsewhere, *(() if self.is_empty else (last,)))
        return tuple(one for one in found if one.rows)


def brief(schema: Schema, specification: Specification) -> Brief:
    return BriefRows(schema, specification).brief()


def page(found: Brief, title: str) -> str:
    """The text of `brief.md`; empty where there is nothing to say."""
    if found.is_empty:
        return ""
    parts = [f"# {inert_line(wording.file_title(title))}", found.counts]
    for section in found.whole():
        parts += [f"## {section.title}", "\n".join(row for one in section.rows for row in row_lines(one))]
    return "\n\n".join(parts) + "\n"


def listed(rows: Sequence[str]) -> str:
    """The lines of *Not settled*, in every file."""
    return "\n".join(f"- {inert_line(row)}" for row in rows or (specification_wording.ALL_SETTLED,))


def in_order(entries: Sequence[Entry]) -> list[Entry]:
    """What others wait for comes first; else as it was said. A circle is broken where it was closed."""
    known, done, found = {one.id: one for one in entries}, set[str](), list[Entry]()
    stack = [(one.id, False) for one in reversed(entries)]
    seen: set[str] = set()
    while stack:
        id, is_ready = stack.pop()
        if is_ready:
            if id not in done:
                done.add(id)
                found.append(known[id])
        elif id not in seen:
            seen.add(id)
            stack.append((id, True))
            waits = [one for one in values(known[id]["waits"]) if one in known and one not in seen]
            stack += [(one, False) for one in reversed(waits)]
    return found


def text(entry: Entry, field: str) -> str:
    """A value as words on one line."""
    return "; ".join(values(entry[field]))


ISSUE = "issue"
"""Of a piece of work: the address of its issue in a tracker."""


def issue_of(entry: Entry) -> str:
    """Empty without one. What is not exactly the address of an issue counts as none."""
    found = str(entry[ISSUE] or "")
    host, repository, number = repository_of(found)
    return found if found.partition("://")[2] == f"{host}/{repository}/issues/{number}" else ""


class BriefRows:
    """The rows of each section, for all views that have them."""

    def __init__(self, schema: Schema, specification: Specification) -> None:
        self._schema = schema
        self._spec = specification
        self._told: set[str] = set()

    def brief(self) -> Brief:
        files = {
            kind: view.file for view in reversed(self._schema.views) for kind in self._schema.kinds_in(view)
        }
        sections = tuple(
            BriefSection(title=title, rows=rows, file=file)
            for title, file, gather in self._sections()
            if (rows := tuple(gather()))
        )
        found = not_settled(self._schema, self._spec)
        unsettled = tuple(
            BriefRow(text=specification_wording.unsettled_row(one, self._schema), entry=one.id)
            for one in found
        )
        self._told |= {one.id for one in found}
        requirements, decisions = (len(self.accepted(kind)) for kind in (REQUIREMENT, "decision"))
        return Brief(
            counts=wording.counts(requirements, decisions, len(unsettled)),
            sections=sections,
            elsewhere=tuple(self._elsewhere(files)),
            open_points=unsettled,
        )

    def _sections(self) -> tuple[tuple[str, str, Callable[[], Iterator[BriefRow]]], ...]:
        requirements, architecture = "requirements-spec.md", "architecture-overview.md"
        return (
            (wording.PROBLEM, requirements, self._problem),
            (wording.WHO, requirements, partial(self._rows, "user_type", self.words, "")),
            (wording.DECISIONS, architecture, self.decisions),
            (wording.REQUIREMENTS, requirements, self.requirements),
            (wording.LIMITS, requirements, self._limits),
            (wording.RISKS, requirements, self.risks),
            (wording.NEXT, PLAN_PAGE, self.next_steps),
        )

    def _rows(self, kind: str, words: Callable[[Entry], str], label: str | None = None) -> Iterator[BriefRow]:
        """Of what was accepted; without a *label* the id stands in front."""
        for one in self.accepted(kind):
            yield self.row(one, words(one), one.id if label is None else label)

    def _problem(self) -> Iterator[BriefRow]:
        def metric(one: Entry) -> str:
            words = wording.metric(self.words(one), text(one, "before"), text(one, "target"))
            return wording.with_aside(words, self.by(one))

        yield from self._rows("problem", self.said, "")
        yield from self._rows("metric", metric, wording.BETTER_WHEN)
        yield from self._rows("driver", self.said, wording.WHY_NOW)

    def decisions(self) -> Iterator[BriefRow]:
        for one in self.accepted("decision"):
            words = wording.decision(
                self.words(one),
                self.by(one),
                options=tuple(self._name_options(one)),
                reason=text(one, "reason"),
                changes=values(one["changes"]),
            )
            yield self.row(one, words, one.id)
        for one in self._answered():
            if answer := text(one, "answer"):
                yield self.row(one, wording.answered(self.words(one), answer), one.id)
        for one in self.accepted("objection"):
            if one["outcome"] not in OPEN and not _is_risk(one):
                yield self.row(one, self._objection(one), one.id)

    def _name_options(self, decision: Entry) -> Iterator[str]:
        """The words of the options that it has only by letter: `A, with a reason`."""
        for one in map(self._spec.entries.get, values(decision["about"])):
            if one and one.kind == OPTION and self.words(one) not in self.words(decision):
                yield self.words(one)

    def _answered(self) -> Iterator[Entry]:
        """Of what an agent asked, people accept the answer, and not the question's words."""
        for one in self._spec.active("question") if "question" in self._schema.kinds else ():
            is_agents = is_asked_by_agent(one) and question_state(one) is QuestionState.ANSWERED
            if _is_accepted(one) or is_agents:
                yield one

    def requirements(self) -> Iterator[BriefRow]:
        for one in self.ranked():
            below = [self.row(part, self.words(part), part.id) for part in self.criteria(one)]
            if not below and one["priority"] != WONT:
                below = [BriefRow(text=wording.NO_CRITERION)]
            title = wording.with_aside(self.words(one), text(one, "priority"))
            yield self.row(one, title, one.id).but(below=tuple(below))

    def _limits(self) -> Iterator[BriefRow]:
        def with_field(name: str) -> Callable[[Entry], str]:
            return lambda one: wording.with_aside(self.words(one), text(one, name))

        yield from self._rows("constraint", self.words)
        yield from self._rows("quality", lambda one: wording.quality(self.words(one), text(one, "threshold")))
        yield from self._rows("exclusion", with_field("reason"), wording.OUT)
        yield from self._rows("assumption", with_field("status"), wording.ASSUMED)

    def risks(self) -> Iterator[BriefRow]:
        yield from self._rows(
            "risk", lambda one: wording.risk(self.words(one), text(one, "mitigation"), text(one, "owner"))
        )
        for one in self.accepted("objection"):
            if _is_risk(one):
                yield self.row(one, self._objection(one), one.id)

    def next_steps(self) -> Iterator[BriefRow]:
        for one in (*self.accepted("action"), *in_order(self.accepted(WORK))):
            words = wording.task(
                self.words(one),
                text(one, "owner"),
                by_when=text(one, "by_when"),
                after=values(one["waits"]),
                issue=issue_name(issue_of(one)),
            )
            yield self.row(one, words, one.id)

    def _elsewhere(self, files: dict[str, str]) -> Iterator[BriefRow]:
        for key, kind in self._schema.kinds.items():
            left = len([one for one in self._spec.active(key) if one.id not in self._told])
            if left and key not in OF_DISCUSSIONS:
                yield BriefRow(text=wording.other_entries(left, kind, files.get(key, "")))

    # --- words ----------------------------------------------------------------------------------------------------

    def row(self, entry: Entry, words: str, label: str = "") -> BriefRow:
        self._told.add(entry.id)
        return BriefRow(text=wording.with_aside(words, wording.doubt(entry)), entry=entry.id, label=label)

    def accepted(self, kind: str) -> list[Entry]:
        return list(self._spec.accepted(kind)) if kind in self._schema.kinds else []

    def words(self, entry: Entry) -> str:
        return text(entry, self._schema.kinds[entry.kind].text)

    def by(self, entry: Entry) -> str:
        return attribution_of(entry, self._schema.kinds[entry.kind].text)

    def said(self, entry: Entry) -> str:
        return wording.with_aside(self.words(entry), self.by(entry))

    def _objection(self, entry: Entry) -> str:
        return wording.objection(entry, self.words(entry), text(entry, "outcome_text") or text(entry, "risk"))

    def criteria(self, requirement: Entry) -> list[Entry]:
        return [part for part in self._spec.parts(requirement.id, CRITERION) if _is_accepted(part)]

    def ranked(self) -> list[Entry]:
        """The requirements, what must be first."""
        kind = self._schema.kinds.get(REQUIREMENT)
        field = kind.fields.get("priority") if kind else None
        places = {value: at for at, value in enumerate(field.of if field else ())}
        return sorted(
            self.accepted(REQUIREMENT), key=lambda one: places.get(str(one["priority"]), len(places))
        )


def _cut(section: BriefSection, size: BriefSize) -> BriefSection:
    most = size.requirements if section.title == wording.REQUIREMENTS else size.rows
    rows = (one.but(below=_first(one.below, size.criteria)) for one in section.rows)
    return section.but(rows=_first(tuple(rows), most, section.file))


def _first(rows: tuple[BriefRow, ...], most: int, file: str = "") -> tuple[BriefRow, ...]:
    left = len(rows) - most
    return (*rows[:most], BriefRow(text=wording.more(left, file))) if left > 0 else rows


def row_lines(row: BriefRow, indent: str = "") -> Iterator[str]:
    """Of Markdown."""
    is_id = row.label == row.entry and not indent
    label = f"**{row.label}** " if row.label and is_id else f"{row.label}: " if row.label else ""
    yield f"{indent}- {label}{inert_line(row.text)}"
    for one in row.below:
        yield from row_lines(one, f"{indent}  ")


def _is_accepted(entry: Entry) -> bool:
    return entry.state is EntryState.ACCEPTED


def _is_risk(objection: Entry) -> bool:
    return str(objection["outcome"]) == "kept as risk"
