"""
People's answers to the open step, read from the end of a transcript. A resume needs them when the store was lost in the
middle of a step.
"""

import re
from collections.abc import Collection, Iterable
from itertools import islice

from bot.domain.roundtable import words
from bot.domain.roundtable.outcomes import ThreadMessage
from bot.domain.transcript import lines as transcript
from bot.domain.transcript.lines import TO, Line, LinePhase, Source
from bot.domain.transcript.state import CHANGE
from bot.domain.values.places import Person

MOST_ROWS = 10_000
STEP = re.compile(rb'"step_id"\s*:\s*"([^"\\]*)"')
"""Inside of a text, the quotes would be escaped."""
TELLING = (b'"user"', b'"retracts"', b'"change"')


def answers(rows: Iterable[bytes], *, done: Collection[str]) -> tuple[ThreadMessage, ...]:
    """
    *rows* come last first. The answers to the step in which they end, after edits, oldest first; none if that step is
    *done*. A line that names no step belongs to none.
    """
    step_id, said = "", _Said()
    for row in islice(rows, MOST_ROWS):
        here = _step_of(row)
        step_id = step_id or here
        if step_id in done or here not in {"", step_id}:
            break
        if here and any(word in row for word in TELLING) and (line := transcript.line_in(row)):
            if _begins_anew(line, step_id):
                break
            said.note(line)
    return said.about(step_id)


class _Said:
    """Lines come newest first, so the first edit of a message counts."""

    def __init__(self) -> None:
        self._lines: list[Line] = []
        self._changed: dict[object, str | None] = {}

    def note(self, line: Line) -> None:
        if "amends" in line.meta:
            self._changed.setdefault(str(line.meta["amends"]), line.content)
        elif "retracts" in line.meta:
            self._changed.setdefault(str(line.meta["retracts"]), None)
        elif (
            line.source is Source.USER
            and line.phase is LinePhase.CLARIFYING
            and line.heard
            and TO not in line.meta
            and not _is_late(line)
        ):
            self._lines.append(line)

    def about(self, step_id: str) -> tuple[ThreadMessage, ...]:
        lines = sorted(self._lines, key=lambda line: line.heard)
        texts = [(line, self._changed.get(line.message_id, line.content)) for line in lines]
        return tuple(
            ThreadMessage(person=_person(line), text=text, ts=line.heard, about=step_id)
            for line, text in texts
            if text and words.answers(text)
        )


def _step_of(row: bytes) -> str:
    """The last one in the row; a line of another tool may contain another one before it."""
    found = STEP.findall(row)
    return found[-1].decode("utf-8", "replace") if found else ""


def _begins_anew(line: Line, step_id: str) -> bool:
    """With this line the step was finished, or the analysis was restarted."""
    change = line.meta.get(CHANGE)
    if not isinstance(change, dict):
        return False
    steps = change.get("steps")
    return change.get("restart") is True or (isinstance(steps, list) and step_id in steps)


def _is_late(line: Line) -> bool:
    """Delivered after the question of this step, and written before it."""
    return "written_at" in line.meta


def _person(line: Line) -> Person:
    return Person(id=line.person, name=line.person_name)
