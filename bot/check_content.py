"""The preflight of personas and steps: every file that is left out, and why."""

from collections import Counter
from collections.abc import Iterable, Iterator

from bot import shipped
from bot.check_table import Finding, Problem, unusable
from bot.content.findings import Findings
from bot.content.personas import read_roster, read_workshop
from bot.content.steps import NOBODY, read_agenda
from bot.domain.agenda import ANALYSIS_PHASES
from bot.domain.persona import Roster
from bot.domain.taxonomy import Trouble
from bot.domain.text import counted
from bot.engine.troubles import log_trouble
from bot.errors import BotError
from bot.settings import Settings


def personas(settings: Settings) -> tuple[Finding, Roster | None]:
    findings = Findings()
    try:
        folder = settings.personas or shipped.personas_dir()
        roster = read_roster(folder, findings, workspace=settings.workspace)
    except BotError as error:
        return unusable("personas", error), None
    workshop = read_workshop(folder, findings, workspace=settings.workspace)
    found = ", ".join(persona.label for persona in roster)
    if workshop:
        found += f"; for the workshop {', '.join(persona.label for persona in workshop)}"
    return Finding("personas", found, (*_problems(findings), *_unled(roster))), roster


def _unled(roster: Roster) -> Iterator[Problem]:
    for phase in ANALYSIS_PHASES:
        lead, trouble = roster.lead_of(phase.key)
        if trouble:
            yield Problem(f"Nobody's `phases` name {phase.key}: {lead.label} will lead it.", trouble.code)


def steps(settings: Settings, roster: Roster | None) -> Finding:
    if roster is None:
        return unusable("steps", "not read: there is nobody to lead them")
    findings = Findings()
    folder = settings.steps or shipped.steps_dir()
    try:
        agenda = read_agenda(folder, roster, findings, workspace=settings.workspace)
    except BotError as error:
        return unusable("steps", error)
    strangers = [one for one in findings.troubles if one.facts.get("reason") == NOBODY]
    problems = [*_strangers(strangers, settings), *_problems(findings, but=strangers)]
    if not agenda.steps:
        problems.insert(0, Problem(f"There is no step to run: {folder}/NN-phase/NN-step.md.", stops=True))
    phases = len({step.phase_key for step in agenda.steps})
    found = f"{counted(len(agenda.steps), 'step')} in {counted(phases, 'phase')}"
    return Finding("steps", found, tuple(problems))


def _strangers(troubles: Iterable[Trouble], settings: Settings) -> Iterator[Problem]:
    """Steps that name a persona who is not there: one cause, however many steps it costs."""
    folder = str(settings.personas or "personas").rstrip("/")
    for (code, key), steps in Counter((one.code, one.facts["value"]) for one in troubles).items():
        names = "names" if steps == 1 else "name"
        yield Problem(f"{counted(steps, 'step')} {names} persona {key!r}, which is not in {folder}/.", code)
    for trouble in troubles:
        log_trouble(trouble)


def _problems(findings: Findings, *, but: Iterable[Trouble] = ()) -> Iterator[Problem]:
    """Each on a line of its own here, and in the log like when `run` reads them."""
    apart = list(but)
    for trouble in findings.troubles:
        if trouble not in apart:
            log_trouble(trouble)
            yield Problem(
                trouble.log.removeprefix(f"{trouble.code} ").removeprefix("Warning: "), trouble.code
            )
    for note in findings.notes:
        code, _, text = note.partition(" ")
        yield Problem(text, code) if code.startswith("VR-") else Problem(note)
