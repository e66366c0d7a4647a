"""Reads personas/ and analysis-steps/ into a Playbook."""

from pathlib import Path

from bot.content.entries import read_schema
from bot.content.files import Findings
from bot.content.personas import read_roster
from bot.content.short_path import read_short_path
from bot.content.steps import read_agenda
from bot.domain.catalog.agenda import Playbook


def load(personas: Path, steps: Path, *, workspace: Path | None = None) -> Playbook:
    """
    Everything usable in the two folders, and what is wrong with the rest.

    Other people push to *workspace*, so no link is followed there. Raises ContentError when a folder is missing or no
    persona is usable.
    """
    findings = Findings()
    roster = read_roster(personas, findings, workspace=workspace)
    schema = read_schema(steps, findings, workspace=workspace)
    agenda = read_agenda(steps, roster, schema, findings, workspace=workspace)
    path = read_short_path(steps, agenda, roster, schema, findings, workspace=workspace)
    schema = schema.bound(agenda.steps).planned_in(agenda.plan.step_id)
    if path:
        phases = (agenda.steps_of(card.phase) for card in path.cards)
        schema = schema.with_cards([step.step_id for step in steps] for steps in phases if steps)
    return Playbook(
        roster, agenda, tuple(findings.troubles), tuple(findings.notes), schema=schema, short_path=path
    )
