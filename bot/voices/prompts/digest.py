"""
A discussion in a bounded length: the newest turns word for word, earlier ones in a line each, the oldest only counted.

People's words are kept longest, because a model can produce a persona's words again, but not those of a person.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from bot.domain.discussion.board import DiscussionBoard, Stand
from bot.domain.discussion.elaboration import Turn
from bot.domain.roundtable.state import Answer, Roundtable
from bot.voices.prompts.fencing import named, quoted, row, sanitized

DIGEST_CHARS = 1_500
GIST_CHARS = 110
ISSUES_CHARS = 1_200
NOTHING = "Nothing was said."
ISSUE_CHARS = 500
"""Longer than an issue and a position can be, so that neither is cut: a model has to repeat them exactly."""


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


def standing(board: DiscussionBoard, *, is_blind: bool = False) -> str:
    """
    A line for each option, and for each position beside them, with the people and personas who are for it; where not
    all fit, the positions of people, and then the newest. *is_blind*: nothing of personas.
    """
    held: dict[tuple[str, str], list[Stand]] = {(one.issue, one.text): [] for one in board.options}
    hidden = set[tuple[str, str]]()
    for stand in board.stands:
        option = board.option(stand.letter)
        key = (option.issue, option.text) if option else (stand.issue, stand.position)
        if is_blind and stand.is_persona:
            hidden.add(key)
        else:
            held.setdefault(key, []).append(stand)
    kept, room = set[tuple[str, str]](), ISSUES_CHARS
    rows = {key: _stand_row(key, stands) for key, stands in held.items() if stands or key not in hidden}
    newest = list(reversed(rows))
    for key in sorted(newest, key=lambda key: all(one.is_persona for one in held[key])):
        room -= len(rows[key])
        if room >= 0:
            kept.add(key)
    return "\n".join(text for key, text in rows.items() if key in kept)


def _stand_row(key: tuple[str, str], stands: Iterable[Stand]) -> str:
    about = ": ".join(filter(None, key))
    why = (
        f"{one.told}{', a persona' if one.is_persona else ''}{f', because {one.why}' if one.why else ''}"
        for one in stands
    )
    return row(f"- {about} – {'; '.join(why) or 'nobody so far'}", ISSUE_CHARS)


def told(turns: Sequence[QuotedTurn], room: QuoteLimits) -> str:
    """The newest word for word, above them a line each for the others."""
    newest = recent(turns, room)
    earlier = digest(turns[: len(turns) - len(newest)])
    return "\n\n".join(filter(None, (earlier, words_of(newest) or NOTHING)))
