"""
A discussion in a bounded length: the newest turns word for word, earlier ones in a line each, the oldest only counted.

People's words are kept longest, because a model can produce a persona's words again, but not those of a person.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from bot.domain.discussion.elaboration import Stance, Turn
from bot.domain.discussion.words import name
from bot.domain.roundtable.state import Answer, Roundtable
from bot.voices.prompts.seen import named, quoted, row, sanitized

DIGEST_CHARS = 1_500
GIST_CHARS = 110
ISSUES_CHARS = 1_200
NOTHING = "Nothing was said."
ISSUE_CHARS = 340
"""Longer than an issue and a position can be, so that none is cut: a model has to repeat them exactly."""


class QuoteLimits(NamedTuple):
    """Of turns word for word: *most* of them, *chars* in all. Whole ones: what does not fit is left out."""

    most: int
    chars: int


TALKING = QuoteLimits(most=8, chars=5_000)
"""For a persona that is about to speak, and answers what was said last."""

PEOPLE = QuoteLimits(most=200, chars=24_000)
"""What people said on a step, for every persona."""

PEOPLE_BEFORE = QuoteLimits(most=200, chars=4_000)
"""What people said in a discussion before its newest turns."""

WRITING = QuoteLimits(most=200, chars=40_000)
"""Of a discussion that ended, which is read once and should lose as little as possible."""

TURN_CHARS = 4_000
"""Of a persona: longer than any that is posted. What a person said is never cut."""


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


def told_in_answers(rt: Roundtable, answers: Iterable[Answer]) -> tuple[QuotedTurn, ...]:
    """Each is named with the id of its line, so that it can be a source."""
    return tuple(
        QuotedTurn(
            f"[{rt.line_of(one.ts)}] {named(rt.name_of(one.person))}{', feedback' if one.feedback else ''}",
            one.text,
            human=True,
        )
        for one in answers
    )


def recent(told: Sequence[QuotedTurn], room: QuoteLimits = TALKING) -> tuple[QuotedTurn, ...]:
    """As many of the newest as fit, and always the newest one."""
    kept: list[QuotedTurn] = []
    left = room.chars
    for one in reversed(told[-room.most :]):
        shown = one._replace(text=sanitized(one.text, None if one.human else TURN_CHARS))
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
            key = (name(stance.issue), turn.by)
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


def told(turns: Sequence[QuotedTurn], room: QuoteLimits) -> str:
    """The newest word for word, above them a line each for the others."""
    newest = recent(turns, room)
    earlier = digest(turns[: len(turns) - len(newest)])
    return "\n\n".join(filter(None, (earlier, words_of(newest) or NOTHING)))
