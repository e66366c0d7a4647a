"""Every code of the two catalogues, and what people are told about it."""

import string
from collections import Counter

import pytest
from pydantic import ValidationError

from bot.domain.catalog.taxonomy import TAXONOMY, ErrorCode, Severity, Trouble, trouble

SENTENCES = {
    "ERR-RT-002": "Warning: Roundtable agent file has invalid format. "
    "Falling back to standard analysis agents.",
    "ERR-STEP-001": "No step files found for phase <phase_key>. Completing phase without interactive steps.",
    "ERR-STEP-002": "No step files found for phase <phase_key>. Completing phase without interactive steps.",
    "ERR-STEP-003": "Warning: Step file <filename> could not be read. Skipping.",
    "ERR-STEP-004": "Warning: Step file <filename> has invalid frontmatter. Skipping.",
    "ERR-STEP-005": "Warning: Step file <filename> is missing required field '<field_name>'. Skipping.",
    "ERR-STEP-006": "Warning: Step file <filename> has invalid value for '<field_name>': '<value>'. Skipping.",
    "ERR-STEP-008": "Warning: Step <step_id> depends on <dep_id> which is not complete. Skipping for now.",
    "ERR-STEP-009": "Warning: Step <step_id> has an invalid skip_if condition: '<expression>'. "
    "Executing step normally.",
    "ERR-META-002": "Warning: meta.json is corrupt. Starting analysis from the beginning.",
    "ERR-META-003": "Warning: Failed to save progress to meta.json. Your artifacts were updated, "
    "but the session may not resume correctly from this point.",
    "ERR-ART-002": "Warning: Failed to write <artifact_name>. The analysis will continue, "
    "but this artifact may be incomplete.",
    "ERR-ART-003": "Warning: Could not read existing <artifact_name>. Creating a fresh version.",
    "ERR-PERSONA-001": "Note: Unknown phase key '<phase_key>'. "
    "I'll lead this phase as Maya Chen (Business Analyst).",
    "ERR-INT-001": "Analysis could not proceed: the roundtable agent encountered an error. "
    "Falling back to standard analysis.",
    "ERR-ELAB-001": "I could not load the step context for elaboration. "
    "Let me continue with the normal menu.",
    "ERR-ELAB-009": "Elaboration completed successfully but I could not save the elaboration record "
    "to meta.json. The discussion insights are in the artifacts.",
    "ERR-ELAB-013": "Could not update <filename> (file not found). "
    "Elaboration insights are in the synthesis summary above.",
}


def with_facts(entry: ErrorCode) -> Trouble:
    """The trouble with every fact its sentences ask for, named after itself: `<filename>`."""
    asked = string.Formatter().parse(entry.sentence + entry.log)
    return trouble(entry.code, **{name: f"<{name}>" for _, name, _, _ in asked if name and name != "lead"})


def test_there_are_25_codes_of_analysis_and_12_of_elaboration() -> None:
    """Each under its own name, and as severe as the log has it: one is fatal, all else lets the session go on."""
    assert all(code == entry.code for code, entry in TAXONOMY.items())
    assert Counter(("ELAB" in code, entry.severity) for code, entry in TAXONOMY.items()) == {
        (False, Severity.FATAL): 1,
        (False, Severity.ERROR): 4,
        (False, Severity.WARNING): 10,
        (False, Severity.INFO): 10,
        (True, Severity.ERROR): 2,
        (True, Severity.WARNING): 4,
        (True, Severity.INFO): 6,
    }


@pytest.mark.parametrize("code", TAXONOMY)
def test_people_read_the_catalogues_sentence_and_nothing_else(code: str) -> None:
    """Silent codes stay silent whatever their severity; the others say their sentence to the letter."""
    one = with_facts(TAXONOMY[code])

    assert one.sentence == SENTENCES.get(code, "")
    assert bool(one.entry.sentence) is (code in SENTENCES)


@pytest.mark.parametrize("code", TAXONOMY)
def test_the_log_always_says_something(code: str) -> None:
    """Each line names its code, silent ones say how it goes on."""
    line = with_facts(TAXONOMY[code]).log

    assert line.startswith(f"{code} ")
    assert len(line) > len(code) + 10


def test_the_log_may_word_it_differently_and_says_where_and_why() -> None:
    """Whoever mends a file needs its folder and the reason; people in the thread need neither."""
    one = trouble("ERR-PERSONA-001", phase_key="07-x")

    assert one.log.endswith("Unknown phase key '07-x'. Falling back to Maya Chen (Business Analyst).")
    assert one.severity is Severity.WARNING

    one = trouble("ERR-STEP-004", phase_key="01-requirements", filename="01-x.md", reason="line 3: a\nb")

    assert one.sentence == "Warning: Step file 01-x.md has invalid frontmatter. Skipping."
    assert one.log == (
        "ERR-STEP-004 Warning: Step file 01-requirements/01-x.md has invalid frontmatter. Skipping."
        " (line 3: a b)"
    )


@pytest.mark.parametrize("code", ["ERR-STEP-999", "ERR-STEP-005"], ids=["unknown", "without its fact"])
def test_a_mistake_in_the_program_fails_where_it_is_written(code: str) -> None:
    """A sentence with a hole in it never reaches the thread."""
    with pytest.raises(KeyError):
        trouble(code, filename="01-x.md")


def test_values_cannot_break_out_of_their_sentence() -> None:
    """File contents are strangers' text: no line breaks, no control characters, no templates, no essays."""
    one = trouble("ERR-STEP-003", filename="a\r\n\x1b[31m{phase_key}\u202e" + "x" * 500)

    assert "could not be read" in one.sentence
    assert one.sentence.isprintable()
    assert "a [31m{phase_key}x" in one.sentence
    assert len(one.sentence) < 170


def test_a_trouble_survives_being_stored_and_does_not_change() -> None:
    """What happened, happened."""
    one = trouble("ERR-STEP-003", filename="01-x.md", phase_key="01-requirements")

    assert Trouble.model_validate_json(one.model_dump_json()) == one

    with pytest.raises(ValidationError):
        trouble("ERR-INT-001").code = "ERR-INT-002"  # type: ignore[misc]
