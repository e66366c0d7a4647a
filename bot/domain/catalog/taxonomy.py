"""
Everything that may go wrong in an analysis: its code, what people are told, how we go on.

The codes, severities and sentences are those of the error taxonomy (seed 002) and of its elaboration
catalogue, to the letter. Severity is how loudly it is logged; whether people see it is a matter of the
sentence alone, so a silent WARNING and an INFO with a sentence both exist.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from pydantic import BaseModel, model_validator

VALUE_CHARS = 120
REASON_CHARS = 240


class Severity(StrEnum):
    INFO = "INFO"
    """Worth a line in the log, and nothing else changes."""

    WARNING = "WARNING"
    """Something is missing or skipped; the session carries on and recovers by itself."""

    ERROR = "ERROR"
    """One operation failed; the session carries on without its result."""

    FATAL = "FATAL"
    """The analysis cannot go on until a person presses retry."""


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """
    One row of the taxonomy.

    *log* is what the log says where that differs from what people read. *unsaved* is said in place of *sentence* when
    nothing was written at all, and why is known: a commit is made whole or not at all.
    """

    code: str
    severity: Severity
    sentence: str
    recovery: str
    log: str = ""
    unsaved: str = ""


INFO, WARNING, ERROR, FATAL = Severity

NO_STEPS = "No step files found for phase {phase_key}. Completing phase without interactive steps."

ASSUMED = {"lead": "Maya Chen (Business Analyst)"}
"""The fallback lead of the seed, for facts without a lead."""

ANALYSIS = (
    ErrorCode("ERR-RT-001", INFO, "", "The bot does not start before there are personas."),
    ErrorCode(
        "ERR-RT-002",
        ERROR,
        "Warning: Roundtable agent file has invalid format. Falling back to standard analysis agents.",
        "The persona is left out; the others take part.",
    ),
    ErrorCode("ERR-STEP-001", INFO, NO_STEPS, "The phase is complete without steps."),
    ErrorCode("ERR-STEP-002", INFO, NO_STEPS, "The phase is complete without steps."),
    ErrorCode(
        "ERR-STEP-003",
        WARNING,
        "Warning: Step file {filename} could not be read. Skipping.",
        "The step is skipped, not recorded, and tried again next time.",
    ),
    ErrorCode(
        "ERR-STEP-004",
        WARNING,
        "Warning: Step file {filename} has invalid frontmatter. Skipping.",
        "The step is skipped, not recorded, and tried again once the file is fixed.",
    ),
    ErrorCode(
        "ERR-STEP-005",
        WARNING,
        "Warning: Step file {filename} is missing required field '{field_name}'. Skipping.",
        "The step is skipped, not recorded, and tried again once the file is fixed.",
    ),
    ErrorCode(
        "ERR-STEP-006",
        WARNING,
        "Warning: Step file {filename} has invalid value for '{field_name}': '{value}'. Skipping.",
        "The step is skipped, not recorded, and tried again once the file is fixed.",
    ),
    ErrorCode(
        "ERR-STEP-007",
        INFO,
        "",
        "The Standard Mode section is used; without one, the whole body.",
    ),
    ErrorCode(
        "ERR-STEP-008",
        WARNING,
        "Warning: Step {step_id} depends on {dep_id} which is not complete. Skipping for now.",
        "The step is skipped, not recorded, and runs once its dependency is complete.",
    ),
    ErrorCode(
        "ERR-STEP-009",
        WARNING,
        "Warning: Step {step_id} has an invalid skip_if condition: '{expression}'. Executing step normally.",
        "The step runs; the condition is judged again next time.",
    ),
    ErrorCode("ERR-META-001", INFO, "", "A default meta.json is created."),
    ErrorCode(
        "ERR-META-002",
        ERROR,
        "Warning: meta.json is corrupt. Starting analysis from the beginning.",
        "A default meta.json replaces it; the artifacts stay where they are.",
    ),
    ErrorCode(
        "ERR-META-003",
        ERROR,
        "Warning: Failed to save progress to meta.json. Your artifacts were updated, but the session may "
        "not resume correctly from this point.",
        "The session goes on; the step may run again on resume, which changes nothing twice.",
        unsaved="Not saved yet: {unsaved} Nothing that was said is lost. I keep trying, and tell you when it is saved.",
    ),
    ErrorCode("ERR-META-004", INFO, "", "steps_completed is taken as empty."),
    ErrorCode("ERR-META-005", INFO, "", "depth_overrides is taken as empty; depth follows the quick scan."),
    ErrorCode("ERR-ART-001", WARNING, "", "The folder is created before the artifact is written."),
    ErrorCode(
        "ERR-ART-002",
        ERROR,
        "Warning: Failed to write {artifact_name}. The analysis will continue, but this artifact may be "
        "incomplete.",
        "The step goes on; the artifact is written when the step runs again.",
    ),
    ErrorCode(
        "ERR-ART-003",
        WARNING,
        "Warning: Could not read existing {artifact_name}. Creating a fresh version.",
        "The artifact is written from scratch; git keeps what was there.",
    ),
    ErrorCode(
        "ERR-PERSONA-001",
        WARNING,
        "Note: Unknown phase key '{phase_key}'. I'll lead this phase as {lead}.",
        "The business analyst leads the phase.",
        log="Unknown phase key '{phase_key}'. Falling back to {lead}.",
    ),
    ErrorCode("ERR-PERSONA-002", INFO, "", "The step's own persona leads it, for this step only."),
    ErrorCode("ERR-DEPTH-001", INFO, "", "Depth is standard."),
    ErrorCode("ERR-DEPTH-002", INFO, "", "The override is ignored; depth follows the quick scan."),
    ErrorCode(
        "ERR-INT-001",
        FATAL,
        "Analysis could not proceed: the roundtable agent encountered an error. "
        "Falling back to standard analysis.",
        "The roundtable pauses where it is; retry goes on from there.",
    ),
    ErrorCode("ERR-INT-002", WARNING, "", "Nothing: steps of other phases do no harm."),
)


def _elab(
    number: int, severity: Severity, recovery: str, *, sentence: str = "", log: str = "", unsaved: str = ""
) -> ErrorCode:
    return ErrorCode(f"ERR-ELAB-{number:03}", severity, sentence, recovery, log, unsaved)


ELABORATION = (
    _elab(
        1,
        ERROR,
        "The normal menu comes back.",
        sentence="I could not load the step context for elaboration. Let me continue with the normal menu.",
    ),
    _elab(
        2,
        WARNING,
        "Maya Chen leads the elaboration.",
        log="Unknown phase key '{phase_key}'. Defaulting to Maya Chen as lead persona for elaboration.",
    ),
    _elab(3, INFO, "The limit is 10 turns."),
    _elab(4, INFO, "None while it happens; voices are a review metric."),
    _elab(5, INFO, "People redirect the discussion or end it."),
    _elab(6, WARNING, "The discussion ends at once."),
    _elab(8, ERROR, "The marker shows what was added, and git can revert it."),
    _elab(
        9,
        WARNING,
        "The normal menu comes back; the insights are in the artifacts.",
        sentence="Elaboration completed successfully but I could not save the elaboration record to meta.json. "
        "The discussion insights are in the artifacts.",
        unsaved="The discussion is over, and its insights are not saved yet: {unsaved} I keep trying, and tell you "
        "when they are.",
    ),
    _elab(10, INFO, "None: the greeting is only shorter."),
    _elab(12, INFO, "People address the persona they meant."),
    _elab(
        13,
        INFO,
        "The file is skipped; the others are updated.",
        sentence="Could not update {filename} (file not found). "
        "Elaboration insights are in the synthesis summary above.",
    ),
    _elab(14, WARNING, "The discussion ends at once."),
)

TAXONOMY: Mapping[str, ErrorCode] = {entry.code: entry for entry in (*ANALYSIS, *ELABORATION)}


class Trouble(BaseModel, frozen=True):
    """
    Something of the taxonomy that happened, with the facts its sentence needs.

    An unknown code or a missing fact is a KeyError here, where the mistake is, and never in the thread.
    """

    code: str
    facts: Mapping[str, str] = {}

    @model_validator(mode="after")
    def _can_be_said(self) -> Self:
        _ = self.log
        return self

    @property
    def entry(self) -> ErrorCode:
        return TAXONOMY[self.code]

    @property
    def severity(self) -> Severity:
        return self.entry.severity

    @property
    def sentence(self) -> str:
        """What people read; empty when this one is silent."""
        return self._said(self._template, self.facts)

    @property
    def log(self) -> str:
        """What the log says: never empty, with the folder of a file, and the reason where one is known."""
        facts = dict(self.facts)
        if {"phase_key", "filename"} <= facts.keys():
            facts["filename"] = f"{facts['phase_key']}/{facts['filename']}"
        said = self._said(self.entry.log or self._template, facts) or self.entry.recovery
        why = _tame(facts.get("reason", ""))
        return f"{self.code} {said} ({why})" if why else f"{self.code} {said}"

    @property
    def _template(self) -> str:
        return self.entry.unsaved if "unsaved" in self.facts else self.entry.sentence

    def _said(self, template: str, facts: Mapping[str, str]) -> str:
        return template.format_map(
            ASSUMED
            | {
                name: _tame(value, REASON_CHARS if name == "unsaved" else VALUE_CHARS)
                for name, value in facts.items()
            }
        )


def trouble(code: str, **facts: str) -> Trouble:
    return Trouble(code=code, facts=facts)


def _tame(value: str, limit: int = VALUE_CHARS) -> str:
    """File names and field values are other people's text: one short, printable line."""
    line = "".join(c for c in re.sub(r"\s+", " ", value) if c.isprintable()).strip()
    return line if len(line) <= limit else line[: limit - 1] + "…"
