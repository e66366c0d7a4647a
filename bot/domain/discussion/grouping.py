"""
What means the same in other words: a second model groups names of issues and positions, and rules check its groups.

A group can only unite. It never changes a word, drops none, and is ignored where the rules know that its positions are
opposed: by a denial or a condition, another number, date or name, another option that people named. So a model can
never declare people agreed whom the rules see opposed. Without groups, the same words are the same thing, and nothing
else is.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from bot.domain.discussion import normalizing, positions
from bot.domain.discussion.elaboration import Elaboration, HeldPosition, Stance, StanceGroups
from bot.domain.specification.entailment import Part, is_left_open, lacks

MOST_COMPARED = 60
"""Positions of one discussion; the newest."""
UNKNOWN = "it names something that was not said"
OPPOSED = "the rules see opposed positions in it"
APART = "one of the personas tells these issues apart"
BARE = "yes and no mean something only of their own issue"
_OTHER_THINGS = (Part.NUMBER, Part.DATE, Part.NAME)
_BARE = {"yes": True, "ja": True, "oui": True, "sí": True, "no": False, "nein": False, "non": False}

Key = tuple[str, str]
"""Of a position: the names of its issue and of itself."""


class ComparedPosition(NamedTuple):
    """What the second model is shown: a position in its speakers' words, and who they are."""

    held: HeldPosition
    by: tuple[str, ...]


class CheckedGroups(NamedTuple):
    """*ignored* are groups that the rules do not accept, each with the reason."""

    groups: StanceGroups
    ignored: tuple[Mapping[str, Any], ...] = ()


def compared(debate: Elaboration) -> tuple[ComparedPosition, ...]:
    """What was put on record on every issue, and what people are for, oldest first."""
    found: dict[Key, tuple[HeldPosition, dict[str, None]]] = {}
    said = [(one.issue, one.held, turn.name) for turn in debate.turns for one in turn.stances]
    letters = {one.letter: one for one in debate.options}
    said += [
        (option.issue or debate.topic, option.text, one.name)
        for one in debate.stands
        if (option := letters.get(one.option))
    ]
    for issue, position, name in said:
        held = HeldPosition(issue=issue, position=position)
        _, by = found.setdefault(_key(held), (held, {}))
        by[name] = None
    return tuple(ComparedPosition(held, tuple(by)) for held, by in found.values())[-MOST_COMPARED:]


def is_worth_asking(debate: Elaboration) -> bool:
    """
    Whether a second model could see an agreement, or a disagreement, that rules do not: not where all use the same
    words, and not where positions on one issue are opposed by the rules.
    """
    normal = normalized(debate)
    held = positions.sides(normal)
    holders = [{by for side in found for by in side.holders} for found in held.values()]
    if len(set().union(*holders)) < 2:  # a single participant
        return False
    sides = [one for found in held.values() for one in combinations([side.position for side in found], 2)]
    if any(is_opposed(one, other, debate) for one, other in sides):
        return False
    return bool(sides) or any(one != holders[0] for one in holders)


def checked(given: StanceGroups, debate: Elaboration) -> CheckedGroups:
    """Of what a model grouped all that rules can accept, in the words as they were first written."""
    known = {_key(one.held): one.held for one in compared(debate)}
    titles = {issue: held.issue for (issue, _), held in reversed(known.items())}
    ignored: list[Mapping[str, Any]] = []
    issues: list[tuple[str, ...]] = []
    same_positions: list[tuple[HeldPosition, ...]] = []
    for names in given.issues:
        said = tuple(dict.fromkeys(map(positions.name, names)))
        why = "" if titles.keys() >= set(said) else UNKNOWN
        why = why or (OPPOSED if _any_opposed(names, debate) else "")
        why = why or (BARE if any(issue in said and one in _BARE for issue, one in known) else "")
        why = why or (APART if _are_told_apart(said, debate, given) else "")
        if why:
            ignored.append({"group": list(names), "why": why})
        elif len(said) > 1:
            issues.append(tuple(titles[one] for one in said))
    for group in given.positions:
        keys = tuple(dict.fromkeys(map(_key, group)))
        words = [one.position for one in group]
        why = "" if known.keys() >= set(keys) else UNKNOWN
        why = why or (OPPOSED if _any_opposed(words, debate) or _are_of_people(words, debate) else "")
        if why:
            ignored.append({"group": words, "why": why})
        elif len(keys) > 1:
            same_positions.append(tuple(known[one] for one in keys))
    return CheckedGroups(
        StanceGroups(issues=_disjoint(issues), positions=_apart(same_positions)), tuple(ignored)
    )


def normalized(debate: Elaboration) -> Elaboration:
    """
    *debate* to be judged: where names mean the same, the first that was written stands for all. What is shown and kept
    is *debate* itself.
    """
    if not debate.groups.issues and not debate.groups.positions:
        return debate
    issues = {positions.name(one): group[0] for group in debate.groups.issues for one in group}
    same = {_key(one): group[0].position for group in debate.groups.positions for one in group}

    def meant(stance: Stance) -> Stance:
        key = positions.name(stance.issue), positions.name(stance.held)
        return stance.but(issue=issues.get(key[0], stance.issue), option=same.get(key, stance.held))

    return debate.but(
        turns=tuple(one.but(stances=tuple(map(meant, one.stances))) for one in debate.turns),
        decided=tuple(
            one.but(
                issue=issues.get(positions.name(one.issue), one.issue),
                position=same.get((positions.name(one.issue), positions.name(one.position)), one.position),
            )
            for one in debate.decided
        ),
    )


def are_one(debate: Elaboration, issue: str, held: Iterable[str]) -> bool:
    """Whether the positions *held* on *issue* are the same option."""
    said = {positions.name(one) for one in held}
    groups = (
        {positions.name(one.position) for one in group if positions.name(one.issue) == positions.name(issue)}
        for group in debate.groups.positions
    )
    return len(said) < 2 or any(said <= group for group in groups)


def is_opposed(one: str, other: str, debate: Elaboration) -> bool:
    """Whether rules know that two positions are not the same option."""
    bare = [_BARE.get(positions.name(text).split()[0].strip(".,:;!")) for text in (one, other)]
    if None not in bare and bare[0] is not bare[1]:
        return True
    ours, theirs = lacks(one, [other]), lacks(other, [one])
    if any(lack.part is Part.NEGATION for lack in (*ours, *theirs)):
        return True
    if is_left_open(one) is not is_left_open(other):  # a condition, or a denial of something else
        return True
    missing = [{lack.part for lack in found} for found in (ours, theirs)]
    if any(part in missing[0] and part in missing[1] for part in _OTHER_THINGS):
        return True
    if all(text.strip()[:1].isupper() and len(text.split()) == 1 for text in (one, other)):
        return positions.name(one) != positions.name(other)  # two names
    options = [one for one in debate.options if not one.issue]
    named = [normalizing.meant(options, text) for text in (one, other)]
    return None not in named and named[0] != named[1]


def _key(held: HeldPosition) -> Key:
    return positions.name(held.issue), positions.name(held.position)


def _any_opposed(words: Sequence[str], debate: Elaboration) -> bool:
    return any(is_opposed(one, other, debate) for one, other in combinations(words, 2))


def _are_of_people(words: Iterable[str], debate: Elaboration) -> bool:
    """Whether people are for two of them: what they choose between is not one option."""
    said = set(map(positions.name, words))
    chosen = {one.option for one in debate.stands}
    options = [one for one in debate.options if one.letter in chosen and positions.name(one.text) in said]
    return len(options) > 1


def _are_told_apart(issues: Iterable[str], debate: Elaboration, given: StanceGroups) -> bool:
    """Whether one turn has two positions on them that are not the same."""
    names = set(issues)
    same = {_key(one): number for number, group in enumerate(given.positions) for one in group}
    for turn in debate.turns:
        keys = {(positions.name(one.issue), positions.name(one.held)) for one in turn.stances}
        mine = [key for key in keys if key[0] in names]
        if len({same.get(key, key) for key in mine}) > 1:
            return True
    return False


def _disjoint(groups: Iterable[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    """What is in two groups is in the first of them."""
    seen: set[str] = set()
    return tuple(kept for one in groups if len(kept := tuple(_new(one, seen, positions.name))) > 1)


def _apart(groups: Iterable[tuple[HeldPosition, ...]]) -> tuple[tuple[HeldPosition, ...], ...]:
    seen: set[Key] = set()
    return tuple(kept for one in groups if len(kept := tuple(_new(one, seen, _key))) > 1)


def _new(group: Iterable[Any], seen: set[Any], key: Any) -> Iterator[Any]:
    for one in group:
        if key(one) not in seen:
            seen.add(key(one))
            yield one
