"""
A discussion in a bounded length: the newest turns word for word, earlier ones in a line each, the oldest only counted.

People's words are kept longest, because a model can produce a persona's words again, but not those of a person.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from bot.domain.discussion import positions
from bot.domain.discussion.elaboration import Stance, Turn
from bot.domain.roundtable.state import Answer
from bot.voices.prompts.seen import named, quoted, row, sanitized

DIGEST_CHARS = 1_500
GIST_CHARS = 110
ISSUES_CHARS = 1_200
ISSUE_CHARS = 340
"""Longer than an issue and a position can be, so that none is cut: a model has to repeat them exactly."""


class QuoteLimits(NamedTuple):
    """Of turns word for word: *most* of them, *chars* in all, *each* for one, and *newest* for the last one."""

    most: int
    chars: int
    each: int
    newest: int


TALKING = QuoteLimits(most=8, chars=5_000, each=1_500, newest=4_000)
"""For a persona that is about to speak, and answers what was said last."""

WRITING = QuoteLimits(most=200, chars=40_000, each=8_000, newest=8_000)
"""For a synthesis, which is made once and should lose as little as possible."""


class QuotedTurn(NamedTuple):
    """*label* names the speaker; *human* is whether that is a person."""

    label: str
    text: str
    human: bool


def told_in_turns(turns: Iterable[Turn]) -> tuple[QuotedTurn, ...]:
    return tuple(
        QuotedTurn(
            f"[{turn.id}] {named(turn.name)}{', a person' if turn.human else ''}", turn.text, turn.human
        )
        for turn in turns
    )


def told_in_answers(answers: Iterable[Answer], names: dict[str, str]) -> tuple[QuotedTurn, ...]:
    return tuple(
        QuotedTurn(
            f"[{'feedback' if one.feedback else 'answer'}] {named(names[one.person])}", one.text, human=True
        )
        for one in answers
    )


def recent(told: Sequence[QuotedTurn], room: QuoteLimits = TALKING) -> tuple[QuotedTurn, ...]:
    """As many of the newest as fit, and always the newest one."""
    kept: list[QuotedTurn] = []
    left = room.chars
    for one in reversed(told[-room.most :]):
        shown = one._replace(text=sanitized(one.text, room.each if kept else room.newest))
        left -= len(shown.text)
        if kept and left < 0:
            break
        kept.append(shown)
    return tuple(reversed(kept))


def words_of(told: Sequence[QuotedTurn]) -> str:
    """Word for word, each line quoted."""
    return "\n\n".join(f"{one.label}:\n{quoted(one.text)}" for one in told)


def digest(told: Sequence[QuotedTurn]) -> str:
    """A line each, in order. Where they do not fit, the oldest are dropped, those of personas first."""
    rows = [(f"{one.label}: {row(one.text, GIST_CHARS)}", one.human) for one in told]
    length = sum(len(line) for line, _ in rows)
    kept = dict(enumerate(rows))
    for place in sorted(kept, key=lambda place: (rows[place][1], place)):
        if length <= DIGEST_CHARS:
            break
        length -= len(kept.pop(place)[0])
    lines = [line for line, _ in kept.values()]
    gone = len(rows) - len(lines)
    return "\n".join([*([f"({gone} more are not shown)"] if gone else []), *lines])


def standing(turns: Sequence[Turn]) -> str:
    """The present position of each persona on each issue; where not all fit, the newest."""
    newest: dict[tuple[str, str], tuple[Turn, Stance]] = {}
    for turn in turns:
        for stance in turn.stances:
            key = (positions.name(stance.issue), turn.by)
            newest.pop(key, None)
            newest[key] = (turn, stance)
    lines: list[str] = []
    room = ISSUES_CHARS
    for turn, stance in reversed(newest.values()):
        line = row(f"- {stance.issue}: {turn.name} ({turn.id}) {stance.position}", ISSUE_CHARS)
        room -= len(line)
        if room < 0:
            break
        lines.append(line)
    return "\n".join(reversed(lines))
