"""
What the transcript alone says of workshops, for when the store was lost: what people answered, so that nobody is asked
twice, and whether one was going on.

An answer's line names the question in its `meta.answers`; a remark's says `remark`. What became of either later, an
edit or a deletion, is a line of its own.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from bot.domain.planning.moves import answer_in
from bot.domain.planning.workshop import Question, Remark, Workshop
from bot.domain.text import clean
from bot.domain.transcript import Line, Part, Source

VERSION = "plan_version"
ANSWERS, REMARK = "answers", "remark"
MOST_REMARKS = 200


class Recalled(NamedTuple):
    answered: tuple[Question, ...] = ()
    remarks: tuple[Remark, ...] = ()


def answers(ws: Workshop | None) -> Mapping[str, Any]:
    """What the line of the next thing that somebody says has to tell of it."""
    question = next((one for one in ws.questions if one.id in ws.asking[:1]), None) if ws else None
    if question is None:
        return {REMARK: True}
    return {ANSWERS: {"question": question.text, "by": list(question.by)}}


def recalled(lines: Iterable[Line]) -> Recalled:
    """As people last left them; of two answers to one question, the later."""
    asked: dict[str, Question] = {}
    remarks: dict[str, Remark] = {}
    for line in lines:
        amends, retracts = (str(line.meta.get(name) or "") for name in ("amends", "retracts"))
        if amends or retracts:
            _change(asked, amends or retracts, answer_in(line.content) if amends else "")
            text = clean(line.content).strip() if amends else ""
            if remark := remarks.get(amends or retracts):
                remarks[remark.line] = remark.but(text=text)
        elif line.source is Source.USER and line.message_id:
            _hear(asked, remarks, line)
    found = (one for one in asked.values() if one.answered)
    told = tuple(one for one in remarks.values() if one.text)[-MOST_REMARKS:]
    return Recalled(tuple(one.but(id=f"Q{number}") for number, one in enumerate(found, start=1)), told)


def under_way(last: Line | None) -> bool:
    """Whether a transcript that ends with *last* ends in the middle of a workshop."""
    return last is not None and VERSION in last.meta and last.phase is not Part.REVIEW_READY


def _hear(asked: dict[str, Question], remarks: dict[str, Remark], line: Line) -> None:
    person = str(line.meta.get("user_id") or "")
    told = line.meta.get(ANSWERS)
    if isinstance(told, Mapping) and isinstance(text := told.get("question"), str) and text.strip():
        by = told.get("by")
        roles = tuple(str(one) for one in by) if isinstance(by, list) else ()
        answer = answer_in(line.content)
        asked.pop(text, None)
        asked[text] = Question(
            id="Q0", text=text, by=roles, answer=answer, person=person, line=line.message_id
        )
    elif line.meta.get(REMARK) is True and VERSION in line.meta:
        said = clean(line.content).strip()
        remarks[line.message_id] = Remark(text=said, person=person, line=line.message_id)


def _change(asked: dict[str, Question], line: str, answer: str) -> None:
    for text, one in asked.items():
        if one.line == line:
            asked[text] = one.but(answer=answer)
