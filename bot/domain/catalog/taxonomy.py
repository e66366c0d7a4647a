"""
Everything that may go wrong in an analysis: its code, what people are told, how we go on.

The codes, severities and sentences are those of the error taxonomy (seed 002) and of its elaboration
catalogue, to the letter. Severity is how loudly it is logged; whether people see it is a matter of the
sentence alone, so a silent WARNING and an INFO with a sentence both exist.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple, Self

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


class ErrorCode(NamedTuple):
    """
    One row of the taxonomy.

    *sentence* is what people read, and *log* what the log says where that differs: of a silent one, how we go on.
    *unsaved* is said in place of *sentence* when nothing was written at all, and why is known: a commit is made whole
    or not at all.
    """

    code: str
    severity: Severity
    sentence: str = ""
    log: str = ""
    unsaved: str = ""


INFO, WARNING, ERROR, FATAL = Severity

NO_STEPS = "No step files found for phase {phase_key}. Completing phase without interactive steps."

ASSUMED = {"lead": "Maya Chen (Business Analyst)"}
"""The fallback lead of the seed, for facts without a lead."""

_CODES = (
    ErrorCode("ERR-RT-001", INFO, log="The bot does not start before there are personas."),
    ErrorCode(
        "ERR-RT-002",
        ERROR,
        "Warning: Roundtable agent file has invalid format. Falling back to standard analysis agents.",
    ),
    ErrorCode("ERR-STEP-001", INFO, NO_STEPS),
    ErrorCode("ERR-STEP-002", INFO, NO_STEPS),
    ErrorCode("ERR-STEP-003", WARNING, "Warning: Step file {filename} could not be read. Skipping."),
    ErrorCode("ERR-STEP-004", WARNING, "Warning: Step file {filename} has invalid frontmatter. Skipping."),
    ErrorCode(
        "ERR-STEP-005",
        WARNING,
        "Warning: Step file {filename} is missing required field '{field_name}'. Skipping.",
    ),
    ErrorCode(
        "ERR-STEP-006",
        WARNING,
        "Warning: Step file {filename} has invalid value for '{field_name}': '{value}'. Skipping.",
    ),
    ErrorCode("ERR-STEP-007", INFO, log="The Standard Mode section is used; without one, the whole body."),
    ErrorCode(
        "ERR-STEP-008",
        WARNING,
        "Warning: Step {step_id} depends on {dep_id} which is not complete. Skipping for now.",
    ),
    ErrorCode(
        "ERR-STEP-009",
        WARNING,
        "Warning: Step {step_id} has an invalid skip_if condition: '{expression}'. Executing step normally.",
    ),
    ErrorCode("ERR-META-001", INFO, log="A default meta.json is created."),
    ErrorCode("ERR-META-002", ERROR, "Warning: meta.json is corrupt. Starting analysis from the beginning."),
    ErrorCode(
        "ERR-META-003",
        ERROR,
        "Warning: Failed to save progress to meta.json. Your artifacts were updated, but the session"
        " may not resume correctly from this point.",
        unsaved="Not saved yet: {unsaved} Nothing that was said is lost. I keep trying, and tell you"
        " when it is saved.",
    ),
    ErrorCode("ERR-META-004", INFO, log="steps_completed is taken as empty."),
    ErrorCode("ERR-META-005", INFO, log="depth_overrides is taken as empty; depth follows the quick scan."),
    ErrorCode("ERR-ART-001", WARNING, log="The folder is created before the artifact is written."),
    ErrorCode(
        "ERR-ART-002",
        ERROR,
        "Warning: Failed to write {artifact_name}. The analysis will continue, but this artifact may"
        " be incomplete.",
    ),
    ErrorCode(
        "ERR-ART-003", WARNING, "Warning: Could not read existing {artifact_name}. Creating a fresh version."
    ),
    ErrorCode(
        "ERR-PERSONA-001",
        WARNING,
        "Note: Unknown phase key '{phase_key}'. I'll lead this phase as {lead}.",
        log="Unknown phase key '{phase_key}'. Falling back to {lead}.",
    ),
    ErrorCode("ERR-PERSONA-002", INFO, log="The step's own persona leads it, for this step only."),
    ErrorCode("ERR-DEPTH-001", INFO, log="Depth is standard."),
    ErrorCode("ERR-DEPTH-002", INFO, log="The override is ignored; depth follows the quick scan."),
    ErrorCode(
        "ERR-INT-001",
        FATAL,
        "Analysis could not proceed: the roundtable agent encountered an error. Falling back to"
        " standard analysis.",
    ),
    ErrorCode("ERR-INT-002", WARNING, log="Nothing: steps of other phases do no harm."),
    ErrorCode(
        "ERR-ELAB-001",
        ERROR,
        "I could not load the step context for elaboration. Let me continue with the normal menu.",
    ),
    ErrorCode(
        "ERR-ELAB-002",
        WARNING,
        log="Unknown phase key '{phase_key}'. Defaulting to Maya Chen as lead persona for elaboration.",
    ),
    ErrorCode("ERR-ELAB-003", INFO, log="The limit is 10 turns."),
    ErrorCode("ERR-ELAB-004", INFO, log="None while it happens; voices are a review metric."),
    ErrorCode("ERR-ELAB-005", INFO, log="People redirect the discussion or end it."),
    ErrorCode("ERR-ELAB-006", WARNING, log="The discussion ends at once."),
    ErrorCode("ERR-ELAB-008", ERROR, log="The marker shows what was added, and git can revert it."),
    ErrorCode(
        "ERR-ELAB-009",
        WARNING,
        "Elaboration completed successfully but I could not save the elaboration record to"
        " meta.json. The discussion insights are in the artifacts.",
        unsaved="The discussion is over, and its insights are not saved yet: {unsaved} I keep"
        " trying, and tell you when they are.",
    ),
    ErrorCode("ERR-ELAB-010", INFO, log="None: the greeting is only shorter."),
    ErrorCode("ERR-ELAB-012", INFO, log="People address the persona they meant."),
    ErrorCode(
        "ERR-ELAB-013",
        INFO,
        "Could not update {filename} (file not found). Elaboration insights are in the synthesis"
        " summary above.",
    ),
    ErrorCode("ERR-ELAB-014", WARNING, log="The discussion ends at once."),
)

TAXONOMY: Mapping[str, ErrorCode] = {entry.code: entry for entry in _CODES}


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
        said = self._said(self.entry.log or self._template, facts)
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
