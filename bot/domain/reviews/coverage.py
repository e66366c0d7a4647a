"""What a review says without a reviewer: how far the specification covers what its steps ask for."""

from collections import defaultdict
from collections.abc import Collection, Mapping

from bot.domain.catalog.agenda import Playbook
from bot.domain.messages import specification_wording
from bot.domain.specification.coverage import CoverageGap, GapKind, coverage
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
        found[_lead(gap, playbook, specification)].append(sentence(gap))
    return {key: tuple(dict.fromkeys(told)) for key, told in found.items()}


def unfinished(playbook: Playbook, steps: Collection[str]) -> str:
    left = sum(step.step_id not in steps for step in playbook.agenda.steps)
    return (
        f"{counted(left, 'unfinished step')} {'was' if left == 1 else 'were'} not reviewed." if left else ""
    )


def sentence(gap: CoverageGap) -> str:
    about = f"{gap.id} {gap.field}".strip()
    facts = "; ".join(gap.facts)
    match gap.kind:
        case GapKind.CONTESTED:
            return f"{about} is open: {facts}."
        case GapKind.STALE:
            return f"{about} has to be confirmed again: what it rests on has changed."
        case GapKind.DANGLING:
            return f"{about} names {gap.facts[0]}, which is not there."
        case GapKind.CIRCLE:
            return f"These wait for each other: {', '.join(gap.facts)}."
        case GapKind.UNKNOWN:
            return f"{gap.id} mentions {facts}, which is not there."
        case GapKind.OBJECTION:
            return f"{gap.id} is an open objection: {facts}"
        case GapKind.PROPOSED:
            return f"{gap.id} is proposed, and not confirmed."
        case GapKind.MISSING | GapKind.ALL_ALIKE:
            return gap.ask or f"{about} is missing."


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
