"""
What the stance records of a discussion say: who stands where, and because of what.

Issues and positions are names: the same words are the same thing, and no two texts are ever held to be similar. Only
numbers may be written in words or in digits, and a position that names an option by its letter, or with other words
around it, means that option (`words`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from bot.domain.discussion import words
from bot.domain.discussion.elaboration import Elaboration, Stance, Turn
from bot.domain.discussion.words import name
from bot.domain.values.text import one_line

MOST_STANCES = 12
"""In one contribution; more would be a list of issues, not a position."""
ISSUE_CHARS, POSITION_CHARS = 120, 200


class Side(NamedTuple):
    """A position on an issue, and those who hold it by now."""

    position: str
    holders: tuple[str, ...]


def sound(stances: Iterable[Stance], turns: Iterable[Turn]) -> tuple[Stance, ...]:
    """Of what a voice put on record what can be kept: one stance an issue, resting on turns that were heard."""
    known = {turn.id for turn in turns}
    kept: dict[str, Stance] = {}
    for one in stances:
        issue, position = one_line(one.issue, ISSUE_CHARS), one_line(one.position, POSITION_CHARS)
        if issue and position and name(issue) not in kept and len(kept) < MOST_STANCES:
            because = tuple(dict.fromkeys(turn for turn in one.because if turn in known))
            kept[name(issue)] = one.but(issue=issue, position=position, because=because)
    return tuple(kept.values())


def normalized(stance: Stance, debate: Elaboration) -> Stance:
    """With the position that it means: an option of the board, or what was held on the issue before."""
    options = [one for one in debate.options if not one.issue or name(one.issue) == name(stance.issue)]
    before = [
        one.held for turn in debate.turns for one in turn.stances if name(one.issue) == name(stance.issue)
    ]
    if name(stance.position) in {*map(name, before), *(name(one.text) for one in options)}:
        return stance.but(option="")
    option = words.meant(options, stance.position)
    said = option.text if option else words.same_position(stance.position, before)
    return stance.but(option=said)


def sides(debate: Elaboration) -> Mapping[str, tuple[Side, ...]]:
    """The positions on each issue as they are by now, in the order in which they were first taken."""
    return {issue: tuple(_sides(turns)) for issue, turns in _by_issue(debate.turns).items()}


def title(debate: Elaboration, issue: str) -> str:
    """The name of an issue as it was first written."""
    return next(one.issue for turn in debate.turns for one in turn.stances if name(one.issue) == issue)


def grounds(debate: Elaboration, issue: str, position: str) -> tuple[str, ...]:
    """The turns on which a position rests, by those who took it."""
    taken = (one for turn, one in _by_issue(debate.turns).get(name(issue), []))
    held = (one for one in taken if name(one.held) == name(position))
    return tuple(dict.fromkeys(turn for one in held for turn in one.because))


def _by_issue(turns: Sequence[Turn]) -> Mapping[str, list[tuple[Turn, Stance]]]:
    found: dict[str, list[tuple[Turn, Stance]]] = {}
    for turn in turns:
        for one in turn.stances:
            found.setdefault(name(one.issue), []).append((turn, one))
    return found


def _sides(taken: Sequence[tuple[Turn, Stance]]) -> Iterator[Side]:
    newest = {turn.by: name(one.held) for turn, one in taken}
    for position in dict.fromkeys(name(one.held) for _, one in taken):
        holders = tuple(by for by, held in newest.items() if held == position)
        held = [one for turn, one in taken if turn.by in holders and name(one.held) == position]
        if held:
            yield Side(held[0].held, holders)
