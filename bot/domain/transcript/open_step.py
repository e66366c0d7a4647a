"""
People's answers to the open step, read from the end of a transcript. A resume needs them when the store was lost in the
middle of a step.
"""

import re
from collections.abc import Collection, Iterable
from itertools import islice

from bot.domain.roundtable import words
from bot.domain.roundtable.outcomes import ThreadMessage
from bot.domain.transcript.lines import TO, Line, LinePhase, Source, line_in
from bot.domain.transcript.state import CHANGE
from bot.domain.values.places import Person

MOST_ROWS = 10_000
_ID = re.compile(r"[^.]+\.([0-9]+\.[0-9]{6})", re.ASCII)
_NO_ANSWER = frozenset({TO, "retracts", "written_at"})
"""In a line's `meta`. With the last, it was written before the question of this step, and delivered after it."""


def answers(rows: Iterable[bytes], *, done: Collection[str]) -> tuple[ThreadMessage, ...]:
    """
    *rows* come last first. The answers to the step in which they end, after edits, oldest first; none if that step is
    *done*. A line that names no step belongs to none.
    """
    step_id, said = "", list[Line]()
    changed: dict[str, str] = {}
    for row in islice(rows, MOST_ROWS):
        line = line_in(row)
        here = line.text("step_id") if line else ""
        step_id = step_id or here
        if step_id in done or here not in {"", step_id}:
            break
        if line and here:
            if _begins_anew(line, step_id):
                break
            for name, text in (("amends", line.content), ("retracts", "")):
                if name in line.meta:  # the newest edit of a message comes first, and counts
                    changed.setdefault(str(line.meta[name]), text)
            if _is_answer(line):
                said.append(line)
    texts = ((line, changed.get(line.message_id, line.content)) for line in said)
    return tuple(
        ThreadMessage(
            person=Person(id=line.person, name=line.person_name), text=text, ts=_stamp(line), about=step_id
        )
        for line, text in sorted(texts, key=lambda one: _stamp(one[0]))
        if words.answers(text)
    )


def _is_answer(line: Line) -> bool:
    is_said = line.source is Source.USER and line.phase is LinePhase.CLARIFYING and bool(_stamp(line))
    return is_said and _NO_ANSWER.isdisjoint(line.meta)


def _stamp(line: Line) -> str:
    """An answer in a direct message is none in the thread: its line is named after the moment of it."""
    named = _ID.fullmatch(line.message_id) if "amends" not in line.meta else None
    return line.heard or (named[1] if named else "")


def _begins_anew(line: Line, step_id: str) -> bool:
    """With this line the step was finished, or the analysis was restarted."""
    change = line.meta.get(CHANGE)
    if not isinstance(change, dict):
        return False
    steps = change.get("steps")
    return change.get("restart") is True or (isinstance(steps, list) and step_id in steps)
