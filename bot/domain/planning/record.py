"""
`planning/meeting.md`: what was asked, answered, judged and decided, for people who were not there.

The transcript has every word; this has what came of them.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

from bot.domain.planning.numbered import without_number
from bot.domain.planning.plan import PlanDocument
from bot.domain.planning.plan_reader import read_plan
from bot.domain.planning.plan_review import review_json
from bot.domain.planning.projections import harmless, projected
from bot.domain.planning.verdict import RoleVerdict
from bot.domain.planning.workshop import (
    BRIEF,
    FIRST_READING,
    FOLDER,
    MINUTES,
    PLAN,
    REQUIRED,
    REVIEW,
    UNNAMED_PERSON,
    VERSIONED,
    Workshop,
    WorkshopQuestion,
    WorkshopRemark,
    answer_in,
    version_folder,
)
from bot.domain.transcript.lines import Line, LinePhase, Source
from bot.domain.values.text import clean, counted
from bot.domain.values.value import Stored

SAYS = {True: "yes", False: "no", None: "cannot say yet"}


def minutes(ws: Workshop, names: Mapping[str, str]) -> str:
    """*names* are what people are called, by id."""
    parts = [
        f"# Planning: {harmless(ws.title)}",
        f"> {harmless(ws.brief)}",
        f"Version {ws.version}, {counted(ws.round, 'round')}, {counted(ws.sessions, 'session')} of questions.",
        _section("Lessons from the version before", (f"- {harmless(one)}" for one in ws.lessons)),
        _section("Questions", (_question(one, names) for one in ws.questions)),
        _section("Also said", (f"- {_name(one.person, names)}: {harmless(one.text)}" for one in ws.remarks)),
        *(_round(ws, number) for number in range(FIRST_READING, ws.round + 1)),
        _section("Proposal", _proposal(ws)),
        _section("Decision", _decision(ws, names)),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _section(title: str, rows: Iterator[str]) -> str:
    body = "\n".join(rows)
    return f"## {title}\n\n{body}" if body else ""


def _question(one: WorkshopQuestion, names: Mapping[str, str]) -> str:
    asked = f"- **{one.id}** {harmless(one.text)} ({', '.join(map(harmless, one.by))})"
    if one.answered:
        return f"{asked}\n  - {_name(one.person, names)}: {harmless(one.answer)}"
    return f"{asked}\n  - {'_passed_' if one.passed else '_not put to anybody_'}"


def _round(ws: Workshop, number: int) -> str:
    title = "First reading" if number == FIRST_READING else f"Round {number}"
    rows = (row for role, verdict in ws.verdicts_of(number).items() for row in _verdict(role, verdict))
    return _section(title, rows)


def _verdict(role: str, verdict: RoleVerdict) -> Iterator[str]:
    sure = "" if verdict.confidence is None else f", confidence {verdict.confidence:.2f}"
    yield f"- **{harmless(role)}** {SAYS[verdict.ok]}{sure}"
    yield from (f"  - {harmless(reason)}" for reason in verdict.reasons)
    yield from (f"  - Suggests: {harmless(one)}" for one in verdict.suggestions)
    yield from (f"  - Asks: {harmless(one)}" for one in verdict.blocking_questions)


def _proposal(ws: Workshop) -> Iterator[str]:
    if ws.proposal:
        yield f"- **{ws.proposal.decision}**, with {ws.proposal.coverage:.0%} of the roles in agreement"
        yield from (f"  - {harmless(reason)}" for reason in ws.proposal.reasons)


def _decision(ws: Workshop, names: Mapping[str, str]) -> Iterator[str]:
    if ws.chosen:
        against = f", against the proposal to {ws.chosen.proposed}" if ws.chosen.against else ""
        yield f"- **{ws.chosen.decision}** by {_name(ws.chosen.person, names)}{against}"
        yield from ([f"  - {harmless(ws.chosen.reason)}"] if ws.chosen.reason else [])


def _name(person: str, names: Mapping[str, str]) -> str:
    return harmless(names.get(person) or person) or UNNAMED_PERSON


# What the transcript alone says of workshops, for when the store was lost: what people answered, so that no
# question is asked twice, and whether a workshop was going on.
#
# An answer's line names the question in its `meta.answers`; a remark's says `remark`. What became of either
# later, an edit or a deletion, is a line of its own.


VERSION = "plan_version"
ANSWERS, REMARK = "answers", "remark"
MOST_REMARKS = 200


class RecalledAnswers(NamedTuple):
    answered: tuple[WorkshopQuestion, ...] = ()
    remarks: tuple[WorkshopRemark, ...] = ()


def answers(ws: Workshop | None, *, number: int = 0) -> Mapping[str, Any]:
    """The `meta` of the line that the next message of a person gets. *number* is what the message begins with."""
    question = ws.asked if ws else None
    if question is None:
        return {REMARK: True}
    numbered = {"number": number} if number else {}
    return {ANSWERS: {"question": question.text, "by": list(question.by), **numbered}}


def recalled(lines: Iterable[Line]) -> RecalledAnswers:
    """As people last left them; of two answers to one question, the later."""
    asked: dict[str, WorkshopQuestion] = {}
    remarks: dict[str, WorkshopRemark] = {}
    for line in lines:
        amends, retracts = (str(line.meta.get(name) or "") for name in ("amends", "retracts"))
        if amends or retracts:
            _change(asked, amends or retracts, line.content if amends else "")
            text = clean(line.content).strip() if amends else ""
            if remark := remarks.get(amends or retracts):
                remarks[remark.line] = remark.but(text=text)
        elif line.source is Source.USER and line.message_id:
            _hear(asked, remarks, line)
    found = (one for one in asked.values() if one.answered)
    told = tuple(one for one in remarks.values() if one.text)[-MOST_REMARKS:]
    return RecalledAnswers(tuple(one.but(id=f"Q{number}") for number, one in enumerate(found, start=1)), told)


def under_way(last: Line | None) -> bool:
    """Whether a transcript that ends with *last* ends in the middle of a workshop."""
    return last is not None and VERSION in last.meta and last.phase is not LinePhase.REVIEW_READY


def _hear(asked: dict[str, WorkshopQuestion], remarks: dict[str, WorkshopRemark], line: Line) -> None:
    person = str(line.meta.get("user_id") or "")
    told = line.meta.get(ANSWERS)
    if isinstance(told, Mapping) and isinstance(text := told.get("question"), str) and text.strip():
        by = told.get("by")
        roles = tuple(str(one) for one in by) if isinstance(by, list) else ()
        number = told.get("number")
        number = number if isinstance(number, int) and number > 0 else 0
        answer = answer_in(without_number(line.content, number))
        asked.pop(text, None)
        asked[text] = WorkshopQuestion(
            id=f"Q{number}", text=text, by=roles, answer=answer, person=person, line=line.message_id
        )
    elif line.meta.get(REMARK) is True and VERSION in line.meta:
        said = clean(line.content).strip()
        remarks[line.message_id] = WorkshopRemark(text=said, person=person, line=line.message_id)


def _change(asked: dict[str, WorkshopQuestion], line: str, words: str) -> None:
    for text, one in asked.items():
        if one.line == line:
            asked[text] = one.but(answer=answer_in(without_number(words, one.number)))


# The files of a workshop as edits: what is written when a plan is ready, and what a redo puts aside.


class PlanEdit(Stored):
    """Replaces a whole file of the workshop. `None` removes the file, once a redo has moved its text elsewhere."""

    kind: Literal["plan"] = "plan"
    path: str
    text: str | None

    @property
    def takes_away(self) -> bool:
        return self.text is None

    def apply(self, _: str | None) -> str:
        """Nothing, of a file that is taken away."""
        return self.text or ""


def outputs(ws: Workshop, plan: PlanDocument, *, names: Mapping[str, str], now: str) -> tuple[PlanEdit, ...]:
    """Everything that is written when a plan is valid. `planning/meeting.jsonl` is the engine's own."""
    texts = {
        **projected(plan),
        MINUTES: minutes(ws, names),
        REVIEW: review_json(ws, plan, now=now),
        BRIEF: f"{ws.brief.strip()}\n",
    }
    return tuple(PlanEdit(path=path, text=text) for path, text in texts.items())


def put_aside(ws: Workshop, files: Mapping[str, str], *, names: Mapping[str, str]) -> tuple[PlanEdit, ...]:
    """
    What becomes of *files*, those of version `ws.version` by path, before the next one begins.

    Also a version that came to no plan leaves its minutes. The transcript stays where it is, and goes on.
    """
    folder = free_folder(ws.version, files)
    present = {path: text for path, text in files.items() if path in VERSIONED}
    kept = {MINUTES: minutes(ws, names), BRIEF: f"{ws.brief.strip()}\n", **present}
    moved = [PlanEdit(path=f"{folder}{path.removeprefix(FOLDER)}", text=text) for path, text in kept.items()]
    return (*moved, *(PlanEdit(path=path, text=None) for path in present))


def taken_up(drafted: Workshop, files: Mapping[str, str]) -> Workshop:
    """
    Where git alone says a workshop stands, after the store was lost: *drafted* as it would begin, with the brief and
    the version of *files*, and ready for review if the plan and its projections are all there.
    """
    brief = files.get(BRIEF, "").strip() or drafted.brief
    ready = files.keys() >= REQUIRED and read_plan(files[PLAN]).plan is not None
    found = drafted.but(version=_first_free(1, files), brief=brief)
    return found.but(stage=LinePhase.REVIEW_READY, outputs=tuple(sorted(REQUIRED))) if ready else found


def free_folder(version: int, taken: Collection[str]) -> str:
    """A folder of an earlier version is never written to again, even if the count of versions was lost."""
    return version_folder(_first_free(version, taken))


def _first_free(version: int, taken: Collection[str]) -> int:
    while any(path.startswith(f"{version_folder(version)}/") for path in taken):
        version += 1
    return version
