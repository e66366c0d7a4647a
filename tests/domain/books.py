"""Small playbooks: phases, handovers and the end are a few steps away."""

from collections.abc import Iterable
from dataclasses import replace
from functools import cache

from bot.content.entries import read_schema
from bot.content.files import Findings
from bot.domain.catalog.agenda import Agenda, Playbook
from bot.domain.catalog.personas import Persona, Roster
from bot.domain.catalog.phases import ANALYSIS_PHASES, Phase
from bot.domain.catalog.policy import Policy
from bot.domain.catalog.schema import Schema
from bot.domain.catalog.steps import Step, StepHeading
from bot.domain.catalog.taxonomy import Trouble
from bot.shipped import steps_dir
from tests.domain.table import shipped

FEW = ("00-01", "01-01", "01-02", "02-01")


def few_steps(*steps: Step, without: str = "", troubles: Iterable[Trouble] = ()) -> Playbook:
    """Three phases of one, two and one step; from the second to the third the lead changes."""
    chosen = steps or tuple(step(step_id) for step_id in FEW)
    kept = tuple(one for one in chosen if one.step_id != without)
    return book(kept, phases=ANALYSIS_PHASES[:3], troubles=troubles)


def thinking(playbook: Playbook) -> Playbook:
    """Its personas have a model."""
    return replace(playbook, policy=playbook.policy.but(thinks=True, draft_seconds=0))


def searching_steps(*, thinks: bool = True) -> Playbook:
    """Two steps for which the code base is searched, where a model makes something of what is found."""
    steps = few_steps(step("00-02"), step("00-03"), step("01-01"))
    return replace(steps, schema=shipped().schema, policy=Policy(thinks=thinks, draft_seconds=0))


def book(
    steps: Iterable[Step],
    *,
    phases: Iterable[Phase] = ANALYSIS_PHASES,
    roster: Roster | None = None,
    troubles: Iterable[Trouble] = (),
) -> Playbook:
    agenda = Agenda(phases=phases, steps=steps)
    playbook = shipped()
    return Playbook(
        roster=roster or playbook.roster,
        agenda=agenda,
        troubles=tuple(troubles),
        schema=_shipped_schema().bound(agenda.steps).planned_in(agenda.plan.step_id),
    )


@cache
def _shipped_schema() -> Schema:
    """Bound to no step."""
    return read_schema(steps_dir(), Findings())


def step(step_id: str, title: str = "", **more: object) -> Step:
    phase = next(one for one in ANALYSIS_PHASES if one.number == step_id[:2])
    number = step_id[3:]
    given = {
        "step_id": step_id,
        "title": title or f"Topic {step_id}",
        "persona": shipped().roster.lead_of(phase.key)[0].key,
        "depth": "standard",
        "outputs": [f"{phase.key[3:]}.md"],
        "phase_key": phase.key,
        "filename": f"{number}-step.md",
        "sections": {
            StepHeading.BRIEF: "Shall we say it is small?",
            StepHeading.STANDARD: "1. What is it?\n2. Why is it?",
            StepHeading.DEEP: "1. What?\n2. Why?\n3. When?\n4. Who?",
            StepHeading.ARTIFACTS: f'- Section: "{int(number)}. {title or "Topic"}"',
        },
    }
    return Step.model_validate(given | more)


def seats(*keys: str) -> Roster:
    """Only these of the shipped personas; whoever else is named is new."""
    shipped_ones = {persona.key: persona for persona in shipped().roster}
    return Roster(shipped_ones.get(key) or newcomer(key) for key in keys)


def newcomer(key: str) -> Persona:
    name = key.replace("-", " ").title()
    return Persona(key=key, name=f"{name.split()[0]} Newman", role=f"{name} Expert")
