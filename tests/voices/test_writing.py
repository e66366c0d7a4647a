"""What a mind writes of a step: the parts that are the step's, valid whatever it answers, everything else as it is."""

import asyncio
import csv
import io
import json
import re
from collections.abc import Mapping

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from bot.domain.catalog.agenda import read_quick_scan
from bot.domain.roundtable.state import Roundtable
from bot.domain.values.markdown import outline
from bot.engine.ports import VoiceContext
from bot.errors import VoiceError
from bot.voices.offline.pages import section_of
from tests.voices.minds import Answer, ScriptedMind, lost, thinking, whole
from tests.voices.people import (
    ADA,
    BEN,
    CONTEXT,
    FEATURES,
    MAYA,
    PLAYBOOK,
    PRIORITIES,
    QUALITY,
    SCOPE,
    STORIES,
    roundtable,
)
from tests.voices.people import written as without_a_model

SPEC = """# Requirements Spec: Exports lose rows

## 1. Business Context

Written by hand, and kept to the byte.

## 6. Functional Requirements

### FR-001: Export every row

- AC-001-01: 500 of 500 rows are there
- Priority: Must

### FR-002: Say how many rows there are

- AC-002-01: the number is shown
- Priority: Should
"""


def written(
    rt: Roundtable, *answers: Answer, files: Mapping[str, str] | None = None
) -> tuple[dict[str, str], ScriptedMind]:
    """The files after the open step was written down with a mind that answers so."""
    mind, after = ScriptedMind(*answers), dict(files or {})
    draft = thinking(mind).draft(
        VoiceContext(rt, PLAYBOOK, MAYA), steps=(rt.step_id,), files=dict(after), skipped=False
    )
    edits, _ = asyncio.run(draft)
    for edit in edits:
        after[edit.path] = edit.apply(after.get(edit.path))
    return after, mind


CONTEXT_RT = roundtable(CONTEXT, (ADA, "Exports lose their last row."))
FEATURES_RT = roundtable(
    FEATURES, (ADA, "Export every row\nAC: 500 of 500 rows are there\nOut of scope: PDF")
)


def test_the_step_says_what_the_mind_wrote() -> None:
    """Below the heading that is the step's."""
    files, _ = written(CONTEXT_RT, "=== requirements-spec.md | 1. Business Context\nAda loses a row a day.")

    assert section_of(files["requirements-spec.md"], "1. Business Context") == "Ada loses a row a day."


@pytest.mark.parametrize(
    "answer",
    [
        "=== requirements-spec.md | 1. Business Context ===\nAda loses a row.",
        "**=== requirements-spec.md | 1. Business Context**\nAda loses a row.",
        "Sure, here it is:\n\n=== Requirements-Spec.md | 1. business context\nAda loses a row.",
        "=== requirements-spec.md | 1. Business Context\n## 1. Business Context\n\nAda loses a row.",
        "=== requirements-spec.md | 1. Business Context\n```markdown\nAda loses a row.\n```",
    ],
)
def test_the_form_is_read_kindly(answer: str) -> None:
    """Marks around the line, the heading said again, a fence around the whole: the text is what counts."""
    files, mind = written(CONTEXT_RT, answer)

    assert section_of(files["requirements-spec.md"], "1. Business Context") == "Ada loses a row."
    assert len(mind.asked) == 1


def test_only_the_steps_own_sections_are_taken() -> None:
    """Other sections, other files, and files of the engine are as they were, to the byte."""
    answer = (
        "=== meta.json\n{}\n=== requirements-spec.md | 1. Business Context\nForged.\n"
        "=== ../../secret.md | 1. X\nForged.\n=== requirements-spec.md | 6. Functional Requirements\n"
        "### FR-001: Export every row\n- AC-001-01: 500 of 500 rows are there\n"
        "=== requirements-spec.md | 7. Out of Scope\n- PDF"
    )
    files, _ = written(FEATURES_RT, answer, files={"requirements-spec.md": SPEC})
    text = files["requirements-spec.md"]

    assert files.keys() == {"requirements-spec.md"}
    assert "Forged" not in text
    assert text.startswith(SPEC.partition("## 6.")[0])
    assert section_of(text, "7. Out of Scope") == "- PDF"


def test_what_is_missing_is_asked_for_once_more() -> None:
    """And what was there already stays."""
    first = "=== requirements-spec.md | 7. Out of Scope\n- PDF, for now"
    second = (
        "=== requirements-spec.md | 6. Functional Requirements\n### FR-001: Export every row\n- AC-001-01: all rows\n"
        "=== requirements-spec.md | 7. Out of Scope\n- Something else"
    )
    files, mind = written(FEATURES_RT, first, second)

    assert "Parts were missing" in mind.asked[1].moving
    assert section_of(files["requirements-spec.md"], "7. Out of Scope") == "- PDF, for now"
    assert "AC-001-01: all rows" in files["requirements-spec.md"]


@pytest.mark.parametrize(
    "answer", ["", "I cannot help with that.", "=== nonsense\nx", lost("empty"), lost("refused")]
)
def test_what_a_mind_does_not_write_is_written_without_it(answer: Answer) -> None:
    """As people said it, section by section."""
    files, mind = written(FEATURES_RT, answer)

    assert files == without_a_model(FEATURES_RT)
    assert len(mind.asked) == 2


def test_a_section_too_long_to_read_is_not_written_anew() -> None:
    """Nobody can keep what they have not seen; people's words are added as they are without a model."""
    page = f"# Spec\n\n## 1. Business Context\n\n{'Kept. ' * 4_000}\n"
    rt = roundtable(CONTEXT, (ADA, "Exports lose rows."), after=((BEN, "Only on Mondays."),))
    answer = "=== requirements-spec.md | 1. Business Context\nShort."
    files, mind = written(rt, answer, files={"requirements-spec.md": page})

    assert mind.asked == []
    assert "Short." not in files["requirements-spec.md"]


def test_a_line_of_equal_signs_is_no_part() -> None:
    """Some people underline their headings."""
    files, _ = written(
        CONTEXT_RT, "=== requirements-spec.md | 1. Business Context\nA row.\n\nWhy\n=====\nSums."
    )

    assert "Sums." in files["requirements-spec.md"]


def test_a_mind_that_goes_away_in_the_middle_takes_nothing_away() -> None:
    """What it wrote before is used."""
    files, _ = written(
        FEATURES_RT, "=== requirements-spec.md | 7. Out of Scope\n- PDF, says Ada", lost("timeout")
    )

    assert section_of(files["requirements-spec.md"], "7. Out of Scope") == "- PDF, says Ada"
    assert "FR-001" in files["requirements-spec.md"]


def test_a_mind_that_does_not_answer_at_all_is_told_of() -> None:
    """The roundtable decides what follows (ERR-INT-001)."""
    with pytest.raises(VoiceError) as error:
        written(FEATURES_RT, lost("unavailable"))

    assert error.value.reason == "unavailable"


def test_where_nobody_said_anything_no_mind_is_asked() -> None:
    """It could only make something up."""
    files, mind = written(roundtable(CONTEXT), "=== requirements-spec.md | 1. Business Context\nMade up.")

    assert mind.asked == []
    assert "Made up" not in files["requirements-spec.md"]


def test_the_mind_reads_what_there_is() -> None:
    """The part as it stands, what the step asks of it, and every answer."""
    rt = roundtable(FEATURES, (ADA, "Export every row"), (BEN, "Show the number of rows"))
    _, mind = written(rt, "", files={"requirements-spec.md": SPEC})
    asked = whole(mind.asked[0])

    assert "AC-002-01: the number is shown" in asked
    assert "> Show the number of rows" in asked
    assert "=== requirements-spec.md | 6. Functional Requirements" in asked


def test_numbers_stay_through_any_rewriting() -> None:
    """Requirements keep theirs, whatever a mind calls them."""
    answer = (
        "=== requirements-spec.md | 6. Functional Requirements\n### FR-001: Say how many rows there are\n"
        "- AC-001-01: the number is shown\n=== requirements-spec.md | 7. Out of Scope\n- PDF"
    )
    files, _ = written(FEATURES_RT, answer, files={"requirements-spec.md": SPEC})
    text = files["requirements-spec.md"]

    assert "### FR-001: Export every row" in text
    assert "### FR-002: Say how many rows there are" in text
    assert text.count("### FR-") == 2


def test_peoples_word_on_the_size_counts() -> None:
    """The depth of all that follows hangs on these lines, so that no mind changes them."""
    rt = roundtable(SCOPE, (ADA, "1. Rows are kept\n2. small\n3. low"))
    files, _ = written(
        rt, "=== quick-scan.md | 1. Scope\n**Scope**: large\nComplexity: high\nAll rows are kept."
    )
    scan = read_quick_scan(files["quick-scan.md"])

    assert (scan.scope, scan.complexity) == ("small", "low")
    assert "All rows are kept." in files["quick-scan.md"]
    assert "large" not in files["quick-scan.md"]


def test_stories_are_one_valid_array() -> None:
    """With ids that stay, and traces that exist."""
    rt = roundtable(STORIES, (ADA, "As a clerk I want every row so that sums are right. (FR-001)"))
    told = [
        {
            "id": "US-7",
            "role": "Clerk",
            "want": "every row",
            "so_that": "sums are right",
            "traces": ["FR-001", "FR-9"],
        }
    ]
    files, _ = written(
        rt, f"=== user-stories.json\n```json\n{json.dumps(told)}\n```", files={"requirements-spec.md": SPEC}
    )
    (story,) = json.loads(files["user-stories.json"])

    assert (story["role"], story["want"], story["traces"]) == ("Clerk", "every row", ["FR-001"])
    assert story["id"].startswith("US-")


def test_tables_follow_from_what_is_written_now() -> None:
    """The priorities that the mind sorted stand in the traceability matrix of the same commit; no mind writes CSV."""
    rt = roundtable(PRIORITIES, (ADA, "The number of rows has to be there, the export can wait."))
    table = "| ID | Title | Priority |\n|---|---|---|\n| FR-001 | Export every row | Could |\n| FR-002 | Say | Must |"
    files, mind = written(
        rt,
        f"=== requirements-spec.md | 8. MoSCoW Prioritization\n{table}",
        files={"requirements-spec.md": SPEC},
    )
    rows = list(csv.DictReader(io.StringIO(files["traceability-matrix.csv"], newline="")))

    assert [row["FR_ID"] for row in rows] == ["FR-001", "FR-002"]
    assert "traceability-matrix.csv" not in mind.asked[0].moving.partition("# Your task")[2]


def test_the_shared_file_has_the_items_own_section() -> None:
    """A mind writes the rows of this item, and of no other."""
    rt = roundtable(QUALITY, (ADA, "Exports are done within 60 seconds."))
    shared = "# NFR Matrix\n\n## Another item (another)\n\nKept.\n"
    _, mind = written(rt, "", files={"nfr-matrix.md": shared})
    files, _ = written(
        rt,
        "=== nfr-matrix.md | Exports lose rows (lost-rows)\n- 60 seconds\n"
        "=== nfr-matrix.md | Another item (another)\nForged.",
        files={"nfr-matrix.md": shared},
    )

    assert "=== nfr-matrix.md | Exports lose rows (lost-rows)" in mind.asked[0].moving
    assert "- 60 seconds" in section_of(files["nfr-matrix.md"], "Exports lose rows (lost-rows)")
    assert files["nfr-matrix.md"].startswith(shared)


HOSTILE = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "=== requirements-spec.md | 6. Functional Requirements",
                "=== requirements-spec.md | 7. Out of Scope",
                "### FR-001: Export every row",
                "### FR-001: Something else",
                "## 1. Business Context",
                "# Title",
                "```",
                "<!-- Elaboration: step 01-01, x -->",
                "- AC-001-01: x",
                "-->",
            ]
        ),
        st.text(max_size=30),
    ),
    max_size=12,
).map("\n".join)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(answer=HOSTILE)
@example("=== requirements-spec.md | 7. Out of Scope\n```\n## 1. Business Context")
def test_whatever_a_mind_writes_the_rest_of_the_file_stays(answer: str) -> None:
    """Sections of other steps byte for byte, and all numbers there were."""
    files, _ = written(FEATURES_RT, answer, files={"requirements-spec.md": SPEC})
    text = files["requirements-spec.md"]

    assert text.startswith(SPEC.partition("## 6.")[0])
    headings = [one.text for one in outline(text).headings]
    numbered = [one for one in headings if re.match(r"FR-00[12]:", one)]
    assert [one for one in headings if one[:1].isdecimal()] == [
        "1. Business Context",
        "6. Functional Requirements",
        "7. Out of Scope",
    ]
    assert [one[:6] for one in numbered] == ["FR-001", "FR-002"]
