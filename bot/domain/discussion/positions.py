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
from bot.domain.discussion.synthesis import Objection
from bot.domain.discussion.words import name
from bot.domain.values.text import one_line

MOST_STANCES = 12
"""In one contribution; more would be a list of issues, not a position."""
ISSUE_CHARS, POSITION_CHARS = 120, 200

Decided = Mapping[str, str]
"""By the name of an issue: the name of the position that people decided on."""


class Side(NamedTuple):
    """A position on an issue, and those who hold it by now, with the turns in which they took it."""

    position: str
    holders: tuple[str, ...]
    turns: tuple[str, ...]


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


def normalized(stances: Iterable[Stance], debate: Elaboration) -> tuple[Stance, ...]:
    """*stances* with the position that each means: an option of the board, or what was held on the issue before."""
    return tuple(_normalized(one, debate) for one in stances)


def _normalized(stance: Stance, debate: Elaboration) -> Stance:
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


def minorities(debate: Elaboration, decided: Decided) -> Iterator[Objection]:
    """
    Every position that is neither what people decided nor what most personas hold; all of them, if no side has more
    holders than the others.
    """
    names = {turn.by: turn.name for turn in debate.turns}
    for issue, held in sides(debate).items():
        prevails = decided.get(issue) or _plurality(held)
        for side in held if len(held) > 1 or issue in decided else ():
            if name(side.position) != prevails:
                by = tuple(names[key] for key in side.holders)
                yield Objection(text=f"{title(debate, issue)}: {side.position}", by=by, turns=side.turns)


def _plurality(held: Iterable[Side]) -> str:
    most, *others = sorted(held, key=lambda side: -len(side.holders))
    tied = bool(others) and len(others[0].holders) == len(most.holders)
    return "" if tied else name(most.position)


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
        held = [(turn, one) for turn, one in taken if turn.by in holders and name(one.held) == position]
        if held:
            yield Side(held[0][1].held, holders, tuple(turn.id for turn, _ in held))
