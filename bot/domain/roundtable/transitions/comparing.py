"""
A second model says which positions are the same in other words: where it is judged whether all agree, once a round at
most. Rules check what it says, and decide alone where it does not answer.
"""

from collections.abc import Mapping
from typing import Any

from bot.domain.catalog.agenda import Playbook
from bot.domain.discussion import grouping
from bot.domain.discussion.elaboration import Elaboration, StanceGroups
from bot.domain.messages import discussion_wording
from bot.domain.roundtable.effects import CompareStances
from bot.domain.roundtable.outcomes import StancesCompared, spent
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import asking, speaking
from bot.domain.transcript.lines import LinePhase

SAME = "same_positions"
"""In the `meta` of the line: what counts as the same from there on, and which groups were ignored, and why."""


def is_due(rt: Roundtable, playbook: Playbook) -> bool:
    """When something was put on record since the last time, and a model may see more in it than rules do."""
    if rt.has_pending(CompareStances) or speaking.is_silenced(rt, playbook):
        return False
    if not asking.thinks(CompareStances(), rt, playbook):
        return False
    debate = rt.debate
    is_new = any(one.stances for one in debate.turns[debate.compared :])
    return is_new and debate.compared <= _round_began(debate) and grouping.is_worth_asking(debate)


def over(rt: Roundtable) -> Roundtable:
    """Answered or not, it is not asked again before something new is put on record."""
    return rt.but(elaboration=rt.debate.but(compared=rt.debate.turn_count))


def taken(rt: Roundtable, event: StancesCompared) -> Roundtable:
    """Nothing is posted: what follows from it is. The words of the positions stay as they were."""
    found = grouping.checked(event.groups, rt.debate)
    rt = over(rt.but(elaboration=rt.debate.but(groups=found.groups)))
    if not event.facts:
        return rt
    told = {"issues": _issues(found.groups), "positions": _positions(found.groups)}
    same = {**told, **({"ignored": [dict(one) for one in found.ignored]} if found.ignored else {})}
    failed = "failed" in event.facts.get("verifier", {})
    sentence = discussion_wording.compared(len(found.groups.positions), failed=failed)
    facts = {**spent(event.facts), SAME: same}
    return rt.recording(sentence, part=LinePhase.WORKSHOP, **facts)


def _round_began(debate: Elaboration) -> int:
    """The turn count when the first round was over, or when a person last spoke."""
    spoke = max((at for at, turn in enumerate(debate.turns, start=1) if turn.human), default=0)
    return max(debate.first_round, spoke)


def _issues(groups: StanceGroups) -> list[list[str]]:
    return [list(one) for one in groups.issues]


def _positions(groups: StanceGroups) -> list[list[Mapping[str, Any]]]:
    return [[one.model_dump(mode="json") for one in group] for group in groups.positions]
