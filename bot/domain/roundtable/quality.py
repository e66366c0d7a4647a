"""
How well a discussion went, in numbers that can be checked: from the recorded positions and the ids of turns, never from
what a text sounds like. Where no position is on record, only what can be counted is said.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from bot.domain.catalog.personas import Roster
from bot.domain.discussion import positions
from bot.domain.discussion.board import DiscussionBoard
from bot.domain.discussion.elaboration import Elaboration
from bot.domain.discussion.synthesis import Synthesis
from bot.domain.discussion.words import name
from bot.domain.messages.step_wording import listed
from bot.domain.values.text import counted
from bot.domain.values.value import Value

AT_LEAST_TWO = 2


class QualityCard(Value):
    """
    `speakers` are turns by name, `balance` the fewest turns of a persona over the most. `facts` are turns that
    a position rests on, or that brought something new; `facts_kept` says how many of these the block names.
    `objections` are those that are open. `collapsed` are the issues that were agreed on too easily.
    """

    turns: int
    speakers: Mapping[str, int]
    silent: tuple[str, ...] = ()
    balance: float = 0.0
    insights: int = 0
    sourced: int = 0
    recorded: bool = False
    facts: int = 0
    facts_kept: int = 0
    objections: int = 0
    flips: int = 0
    unbacked: int = 0
    collapsed: tuple[str, ...] = ()

    @property
    def meta(self) -> dict[str, Any]:
        """For the line; what cannot be known without stance records is absent, not 0."""
        counted = {"turns", "speakers", "silent", "balance", "insights", "sourced"}
        return self.model_dump(mode="json", include=None if self.recorded else counted, exclude={"recorded"})


def card(
    board: DiscussionBoard, synthesis: Synthesis, roster: Roster, *, cited: Collection[str]
) -> QualityCard:
    """Of the discussion, and of the *synthesis* of a voice; the block names the turns *cited*."""
    debate = board.debate
    spoken = Counter(turn.by for turn in debate.turns)
    names = {turn.by: turn.name for turn in debate.turns}
    personas = [spoken[one.key] for one in roster]
    facts, flips = _facts(debate), positions.flips(debate, board.settled)
    against = (*positions.minorities(debate, board.settled), *board.open_objections)
    return QualityCard(
        turns=debate.turn_count,
        speakers=_by_name(spoken, names),
        silent=tuple(one.first_name for one in roster if not spoken[one.key]),
        balance=round(min(personas, default=0) / max(1, *personas), 2),
        insights=len(synthesis.insights),
        sourced=sum(bool(one.turns) for one in synthesis.insights),
        recorded=any(turn.stances for turn in debate.turns),
        facts=len(facts),
        facts_kept=len(facts.intersection(cited)),
        objections=len(against),
        flips=len(flips),
        unbacked=sum(not one.backed for one in flips),
        collapsed=tuple(collapsed(board)),
    )


def collapsed(board: DiscussionBoard) -> Iterator[str]:
    """
    The issues on which all agree by now, because one side gave in without naming anything new, or because the
    case against it was never made.
    """
    debate = board.debate
    easily = _agreed_at_once(debate) and not debate.challenged
    for issue, held in positions.sides(debate).items():
        if len(held) > 1 or len(held[0].holders) < AT_LEAST_TWO:
            continue
        gave_in = any(
            name(one.issue) == issue and not one.backed and name(one.position) == name(held[0].position)
            for one in positions.flips(debate, board.settled)
        )
        if gave_in or easily:
            yield positions.title(debate, issue)


def _agreed_at_once(debate: Elaboration) -> bool:
    return positions.is_unanimous(debate.but(turns=debate.turns[: debate.first_round or None]))


def _facts(debate: Elaboration) -> frozenset[str]:
    news = {turn.id for turn in debate.turns if any(one.new_evidence for one in turn.stances)}
    grounds = {ground for turn in debate.turns for one in turn.stances for ground in one.because}
    return frozenset(news | grounds)


def _by_name(spoken: Counter[str], names: Mapping[str, str]) -> dict[str, int]:
    """Two people of one name are told apart by their ids."""
    shared = {name for name, count in Counter(names.values()).items() if count > 1}
    return {f"{names[by]} ({by})" if names[by] in shared else names[by]: n for by, n in spoken.items()}


# The quality card as people read it: one line of small print below a synthesis.


def line(card: QualityCard) -> str:
    return " · ".join(
        part for part in (*_measured(card), *(_recorded(card) if card.recorded else ())) if part
    )


def _measured(card: QualityCard) -> tuple[str, ...]:
    turns = ", ".join(f"{name} {count}" for name, count in card.speakers.items())
    silent = f"{listed(card.silent)} silent" if card.silent else ""
    return (
        f"{counted(card.turns, 'turn')} ({turns})",
        silent,
        f"{card.sourced} of {counted(card.insights, 'insight')} with a source" if card.insights else "",
    )


def _recorded(card: QualityCard) -> tuple[str, ...]:
    moved = counted(card.flips, "change of position", "changes of position")
    return (
        f"{card.facts_kept} of {card.facts} facts kept" if card.facts else "",
        f"{moved}, {card.unbacked or 'none'} without anything new" if card.flips else "",
        f"agreed too easily on {listed(card.collapsed)}" if card.collapsed else "",
    )
