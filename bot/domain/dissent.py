"""
What must not get lost between a discussion and its synthesis: who stands against it, and what people decided.

Both are known from the record, so that a synthesis can be held against them without reading it.
"""

from collections.abc import Iterable

from bot.domain import positions
from bot.domain.elaboration import Elaboration
from bot.domain.synthesis import Decision, Objection, Outcome, Synthesis

NOT_WEIGHED = "the synthesis left it out, and nobody weighed it"
BROUGHT_UP = "somebody brings it up again"


def open_objections(debate: Elaboration) -> tuple[Objection, ...]:
    """
    Every position that is not what people decided, or what most personas hold; where no side has more than another,
    all of them. Nobody has weighed these yet.
    """
    decided = {positions.name(one.issue): positions.name(one.position) for one in debate.decided}
    found: list[Objection] = []
    for issue, held in positions.sides(debate).items():
        prevails = decided.get(issue) or _plurality(held)
        if len(held) == 1 and issue not in decided:
            continue
        against = [side for side in held if positions.name(side.position) != prevails]
        found.extend(_objection(debate, issue, side) for side in against)
    return tuple(found)


def missing(synthesis: Synthesis, debate: Elaboration) -> tuple[Objection, ...]:
    """
    The open objections that the synthesis does not weigh. An objection of the synthesis stands for one of them: one
    that names a turn in which it was made.
    """
    weighed = sorted((one for one in synthesis.objections if one.is_weighed), key=_turns_named)
    lost: list[Objection] = []
    for one in sorted(open_objections(debate), key=_turns_named):
        answer = next((other for other in weighed if _is_about(other, one)), None)
        if answer is None:
            lost.append(one)
        else:
            weighed.remove(answer)
    return tuple(lost)


def restored(synthesis: Synthesis, debate: Elaboration) -> Synthesis:
    """With what the synthesis left out, in the words of the record; what it only half said gives way to that."""
    lost = missing(synthesis, debate)
    kept = [
        one
        for one in synthesis.objections
        if one.is_weighed or not any(_is_about(one, other) for other in lost)
    ]
    put_back = (one.but(risk=NOT_WEIGHED, reopen_if=BROUGHT_UP) for one in lost)
    return synthesis.but(
        objections=(*kept, *put_back), decisions=(*synthesis.decisions, *_undecided(synthesis, debate))
    )


def _undecided(synthesis: Synthesis, debate: Elaboration) -> Iterable[Decision]:
    """People's decisions that the synthesis does not have word by word."""
    known = {(one.text, one.by) for one in synthesis.decisions}
    for one in debate.decided:
        if (one.text, one.name) not in known:
            yield Decision(text=one.text, by=one.name)


def _plurality(held: Iterable[positions.Side]) -> str:
    most, *others = sorted(held, key=lambda side: -len(side.holders))
    tied = bool(others) and len(others[0].holders) == len(most.holders)
    return "" if tied else positions.name(most.position)


def _objection(debate: Elaboration, issue: str, side: positions.Side) -> Objection:
    names = {turn.by: turn.name for turn in debate.turns}
    return Objection(
        text=f"{positions.title(debate, issue)}: {side.position}",
        by=tuple(names[key] for key in side.holders),
        turns=side.turns,
        outcome=Outcome.DEFERRED,
    )


def _is_about(one: Objection, other: Objection) -> bool:
    return not set(one.turns).isdisjoint(other.turns)


def _turns_named(objection: Objection) -> int:
    return len(objection.turns)
