"""What a review says without a reviewer: how far the specification covers what its steps ask for."""

from collections import defaultdict
from collections.abc import Collection, Mapping

from bot.domain.catalog.agenda import Playbook
from bot.domain.messages import specification_wording
from bot.domain.specification.coverage import CoverageGap, coverage
from bot.domain.specification.entries import Specification
from bot.domain.specification.not_settled import not_settled
from bot.domain.values.text import counted

NOTHING = "Nothing is recorded in the specification yet."


def summary(playbook: Playbook, specification: Specification) -> str:
    """`4 of 5 requirements have a test, 2 risks, 6 points are not settled.`"""
    if not specification.entries:
        return NOTHING
    requirements = specification.active("requirement")
    tested = sum(bool(specification.parts(one.id, "criterion")) for one in requirements)
    of = counted(len(requirements), "requirement")
    risks = counted(len(specification.active("risk")), "risk")
    left = specification_wording.points_left(len(not_settled(playbook.schema, specification)))
    return f"{tested} of {of} {'has' if tested == 1 else 'have'} a test, {risks}, {left}."


def gaps_by_lead(
    playbook: Playbook, specification: Specification, steps: Collection[str]
) -> Mapping[str, tuple[str, ...]]:
    """A sentence for each gap, by the key of the persona who leads the step that it belongs to."""
    found: dict[str, list[str]] = defaultdict(list)
    for gap in coverage(playbook.schema, specification, steps):
        told = specification_wording.finding(gap, playbook.schema, specification)
        found[_lead(gap, playbook, specification)].append(told)
    return {key: tuple(dict.fromkeys(told)) for key, told in found.items()}


def unfinished(playbook: Playbook, steps: Collection[str]) -> str:
    left = sum(step.step_id not in steps for step in playbook.agenda.steps)
    return (
        f"{counted(left, 'unfinished step')} {'was' if left == 1 else 'were'} not reviewed." if left else ""
    )


def _lead(gap: CoverageGap, playbook: Playbook, specification: Specification) -> str:
    """By the step of the gap, else the first step whose sections show its entry, else the first persona."""
    entry, schema = specification.entries.get(gap.id), playbook.schema
    views = (view for view in schema.views if entry and entry.kind in schema.kinds_in(view))
    shown = (step for view in views for step in view.steps)
    step = playbook.agenda.get(gap.step or (entry.step if entry else "")) or playbook.agenda.get(
        next(shown, "")
    )
    first = next((persona.key for persona in playbook.roster), "")
    return step.persona if step and step.persona in playbook.roster else first
