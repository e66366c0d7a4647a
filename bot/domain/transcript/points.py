"""
What was decided, asked and objected, and the positions of the participants, as lines say it.

A synthesis says it in its bullets, which is what people read; other lines in their `meta` (docs/replay.md).
"""

import re
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from bot.domain.discussion.synthesis import REFS
from bot.domain.planning.record import ANSWERS, VERSION
from bot.domain.planning.workshop import answer_in
from bot.domain.transcript.lines import RULE, VOICE, Line, Source
from bot.domain.transcript.state import PositionChange, RecordedPoint
from bot.domain.values.text import one_line

SYNTHESIS = "### Elaboration Insights (Step "
"""How the content of a line with a synthesis begins."""
NONE = "None recorded."
POINT_CHARS = 400
KEPT = 10_000

DECISION, QUESTION, OBJECTION = "decision", "question", "objection"
HEADINGS = {"#### Decisions Made": DECISION, "#### Open Questions": QUESTION, "#### Objections": OBJECTION}

STANCES = "stances"
NAMED = frozenset({ANSWERS, DECISION, QUESTION, OBJECTION, "position", "verdict", STANCES})
"""The facts of a line's `meta` that say such things."""

Fields = Mapping[str, Any]
_BY = re.compile(r" \((?P<by>[^()]{1,80})\)\Z")
_NAMES = re.compile(r"\A\[(?P<by>[^\]]{1,200})\] ")
_OPINIONS = {True: "ok", False: "not ok", None: "unknown"}


class StatedPoint(NamedTuple):
    kind: str
    text: str
    by: str = ""


class Stand(NamedTuple):
    """
    A position on an issue. `told` is both as they were said, `position` the option that is meant, `because` what it
    rests on: turns or messages.
    """

    key: str
    told: str
    issue: str = ""
    position: str = ""
    because: tuple[str, ...] = ()


class Points:
    """The newest of each kind."""

    def __init__(self) -> None:
        self.decisions: deque[RecordedPoint] = deque(maxlen=KEPT)
        self.questions: deque[RecordedPoint] = deque(maxlen=KEPT)
        self.objections: deque[RecordedPoint] = deque(maxlen=KEPT)
        self.moves: deque[PositionChange] = deque(maxlen=KEPT)
        self._stands: dict[tuple[str, str], Stand] = {}
        self._lines: dict[str, int] = {}
        self._told: set[tuple[str, str]] = set()
        self._settled: set[str] = set()

    def begin(self) -> None:
        """A new discussion, without positions."""
        self._stands, self._told, self._lines = {}, set(), {}

    def heard(self, number: int, line: Line) -> None:
        """What is said in a discussion can be a reason later, by its turn or its message."""
        for name in ("turn_id", "message_id"):
            if isinstance(found := line.meta.get(name), str) and len(self._lines) < KEPT:
                self._lines[found] = number

    def of_synthesis(self, number: int, content: str, *, step_id: str) -> None:
        """What a line of its own said before, word by word, is not said twice."""
        for said in in_synthesis(content):
            if (said.text, said.by) not in self._told:
                self._of(said.kind).append(
                    RecordedPoint(line=number, step_id=step_id, text=said.text, by=said.by)
                )

    def of_line(self, number: int, line: Line, *, step_id: str) -> None:
        by, meta = who(line), line.meta
        self._answered(meta, line.content)
        for said in in_meta(meta, line.content):
            whose = _deciders(meta) or _decider(meta) or by if said.kind == DECISION else by
            if said.kind != QUESTION or VERSION not in meta or not self._is_known(said.text):
                self._of(said.kind).append(
                    RecordedPoint(line=number, step_id=step_id, text=said.text, by=whose)
                )
            self._told.add((said.text, whose))
        for now in _stands_on(meta):
            self._moved(number, (line.source is Source.SYSTEM and _decider(meta)) or by, now, step_id=step_id)

    def _moved(self, number: int, by: str, now: Stand, *, step_id: str) -> None:
        was = self._stands.get((by, now.key), Stand(now.key, ""))
        if now.told != was.told and now.position != was.position:
            because = tuple(self._lines[one] for one in now.because if one in self._lines)
            self.moves.append(
                PositionChange(
                    line=number, by=by, position=now.told, was=was.told, step_id=step_id,
                    issue=now.issue, stand=now.position, stood=was.position, because=because,
                )
            )  # fmt: skip
            self._stands[by, now.key] = now

    def _answered(self, meta: Fields, content: str) -> None:
        """In a workshop the line of an answer names its question; what is only passed stays open."""
        told = meta.get(ANSWERS)
        question = told.get("question") if isinstance(told, Mapping) else None
        if isinstance(question, str) and answer_in(content):
            text = one_line(question, POINT_CHARS)
            self._settled.add(text)
            self.questions = deque((one for one in self.questions if one.text != text), maxlen=KEPT)

    def _is_known(self, question: str) -> bool:
        """Roles of a workshop ask again, what is open and what was answered."""
        return question in self._settled or any(one.text == question for one in self.questions)

    def _of(self, kind: str) -> deque[RecordedPoint]:
        return {DECISION: self.decisions, QUESTION: self.questions, OBJECTION: self.objections}[kind]


def who(line: Line) -> str:
    """A person's name, or else the actor."""
    name = line.meta.get("user_name") or line.meta.get("user_id") if line.source is Source.USER else ""
    return one_line(name if isinstance(name, str) and name else line.actor)


def _decider(meta: Fields) -> str:
    """A press is told by the host, and decided by a person."""
    name = meta.get("user_name")
    return one_line(name) if isinstance(name, str) else ""


def _deciders(meta: Fields) -> str:
    """Those whom the person named who recorded it, and that person."""
    names = meta.get("deciders")
    found = (one_line(one) for one in names if isinstance(one, str)) if isinstance(names, list) else ()
    named = ", ".join(filter(None, found))
    return f"{named}, recorded by {_decider(meta)}" if named else ""


def message_id(number: int, meta: Fields) -> str:
    """Lines of other tools may have none."""
    found = meta.get("message_id")
    return found if isinstance(found, str) and found else f"line {number}"


def in_synthesis(content: str) -> Iterator[StatedPoint]:
    """The bullets under the headings of the template."""
    kind = ""
    for row in content.split("\n"):
        if row.startswith("#"):
            kind = HEADINGS.get(row.strip(), "")
        elif kind and row.startswith("- ") and row[2:] != NONE:
            yield _attributed(kind, row[2:])


def in_meta(meta: Fields, content: str) -> Iterator[StatedPoint]:
    """`true` stands for what the line says; a workshop's verdict says several things at once."""
    for kind in (DECISION, QUESTION, OBJECTION):
        for text in _texts(meta.get(kind), content):
            yield StatedPoint(kind, text)
    verdict = meta.get("verdict")
    if isinstance(verdict, Mapping):
        blocking = verdict.get("blocking_questions") or verdict.get("blocking_open_questions")
        yield from (StatedPoint(QUESTION, text) for text in _texts(blocking, ""))
        # A rule only says what is missing; it is against nothing.
        if verdict.get("ok") is False and meta.get(VOICE) != RULE:
            yield from (StatedPoint(OBJECTION, text) for text in _texts(verdict.get("reasons"), ""))


def position(meta: Fields) -> str:
    """Empty where the line takes none; positions on several issues are one text."""
    if stances := [one.told for one in _stances(meta.get(STANCES))]:
        return one_line("; ".join(stances), POINT_CHARS)
    stated = meta.get("position")
    if isinstance(stated, str):
        return one_line(stated)
    verdict = meta.get("verdict")
    opinion = verdict.get("ok") if isinstance(verdict, Mapping) and "ok" in verdict else ""
    return _OPINIONS[opinion] if opinion is None or isinstance(opinion, bool) else ""


def _stands_on(meta: Fields) -> Iterator[Stand]:
    """Each issue with the position on it; a position without one is on the matter at hand."""
    if stances := tuple(_stances(meta.get(STANCES))):
        yield from stances
    elif now := position(meta):
        yield Stand("", now, position=now)


def _stances(found: object) -> Iterator[Stand]:
    """By the name of the issue, which is the same however it is set in type, and as people read it."""
    for one in found if isinstance(found, list) else []:
        issue, where = (one.get("issue"), one.get("position")) if isinstance(one, Mapping) else ("", "")
        if isinstance(issue, str) and isinstance(where, str) and issue.strip() and where.strip():
            because = one.get("because")
            named = [name for name in because if isinstance(name, str)] if isinstance(because, list) else []
            key = " ".join(issue.split()).casefold()
            meant = one.get("option") if isinstance(one.get("option"), str) else ""
            held = one_line(meant or where)
            yield Stand(key, one_line(f"{issue}: {where}"), one_line(issue), held, tuple(named))


def _texts(found: object, content: str) -> Iterator[str]:
    if found is True:
        yield one_line(content, POINT_CHARS)
    for text in found if isinstance(found, list) else [found]:
        if isinstance(text, str) and text.strip():
            yield one_line(text, POINT_CHARS)


def _attributed(kind: str, text: str) -> StatedPoint:
    """
    Who it was stands behind a decision, and in brackets before an insight; the turns behind it are no part of what
    was said.
    """
    text = REFS.sub("", text)
    found = _NAMES.match(text) or (_BY.search(text) if kind == DECISION else None)
    if not found:
        return StatedPoint(kind, one_line(text, POINT_CHARS))
    rest = text[: found.start()] + text[found.end() :]
    return StatedPoint(kind, one_line(rest, POINT_CHARS), one_line(found["by"]))
