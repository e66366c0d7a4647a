"""Reads personas/ and analysis-steps/ into a Playbook; the only package that knows YAML and these folders."""

from pathlib import Path

from bot.content.entries import read_schema
from bot.content.files import Findings
from bot.content.personas import read_roster, read_workshop
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
    workshop = read_workshop(personas, findings, workspace=workspace)
    agenda = read_agenda(steps, roster, findings, workspace=workspace)
    schema = read_schema(steps, agenda.steps, findings, workspace=workspace)
    return Playbook(roster, agenda, tuple(findings.troubles), tuple(findings.notes), workshop, schema=schema)
