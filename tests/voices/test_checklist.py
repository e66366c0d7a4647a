"""The review without a model: what it finds in an item's files, in whose name, and what it leaves to people."""

import asyncio
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.content.load import load
from bot.domain.catalog.agenda import Agenda
from bot.domain.catalog.personas import Persona, Roster
from bot.domain.reviews.review import MARKER, ReviewVerdict, parse
from bot.domain.reviews.text import Finding, FindingSeverity
from bot.engine.ports import VoiceContext
from bot.voices.offline.checklist import MOST_FINDINGS, Dossier, opinion, review, together
from bot.voices.offline.dossier import LONGEST_CHARS
from bot.voices.offline.offline import OfflineVoices
from tests.voices.people import (
    ADA,
    CONTEXT,
    FEATURES,
    MAYA,
    OPTIONS,
    PRIORITIES,
    QUALITY,
    ROSTER,
    STEPS,
    STORIES,
    roundtable,
)

ROOT = Path(__file__).parents[2]
SHIPPED = load(ROOT / "personas", ROOT / "analysis-steps")
CRITICAL, MAJOR, MINOR = FindingSeverity

SPEC = """\
# Requirements Spec: Exports lose rows

## 1. Business Context

- Every export loses its last row — Ada

## 5. Quality Attributes & Risks

- An export takes at most 20 s — Ada

## 6. Functional Requirements

### FR-001: Export all rows

- AC-001-01: a list of 500 rows becomes a file of 500 rows — Ada
- Priority: Must
- Traces: step 01-06 (Ada)

## 7. Out of Scope

- Pictures — Ada

## 8. MoSCoW Prioritization

| FR | Title | Priority | Reason |
| --- | --- | --- | --- |
| FR-001 | Export all rows | Must | — Ada |
"""
STORY = """\
[
  {
    "id": "US-001",
    "role": "clerk",
    "want": "export all rows",
    "acceptance_criteria": [],
    "traces": [
      "FR-001"
    ]
  }
]
"""
MATRIX = "FR_ID,Title,AC_Count,Priority,User_Stories\r\nFR-001,Export all rows,1,Must,US-001\r\n"
QUALITIES = """\
# NFR Matrix

## Bright nights (bright-night)

| NFR ID | Category | Description | Threshold | Priority |
| --- | --- | --- | --- | --- |
| NFR-001 | Quality | Bright | to be set | to be set |

## Exports lose rows (lost-rows)

| NFR ID | Category | Description | Threshold | Priority |
| --- | --- | --- | --- | --- |
| NFR-002 | Performance | An export takes at most 20 s — Ada | at most 20 s | to be set |
"""
SOUND = {
    "requirements-spec.md": SPEC,
    "user-stories.json": STORY,
    "traceability-matrix.csv": MATRIX,
    "docs/common/nfr-matrix.md": QUALITIES,
}
REQUIREMENTS = Agenda(steps=(CONTEXT, QUALITY, FEATURES, STORIES, PRIORITIES))
DONE = tuple(step.step_id for step in REQUIREMENTS.steps)


def item(
    files: Mapping[str, str] = SOUND, *, done: tuple[str, ...] = DONE, agenda: Agenda = REQUIREMENTS
) -> Dossier:
    return Dossier("lost-rows", "Exports lose rows", files, agenda, done)


def spec(old: str, new: str, **more: str) -> Dossier:
    """The sound item with another requirements-spec.md."""
    assert old in SPEC
    return item({**SOUND, "requirements-spec.md": SPEC.replace(old, new), **more})


def findings(dossier: Dossier) -> tuple[Finding, ...]:
    return review(dossier, ROSTER).findings


def told(dossier: Dossier) -> list[tuple[FindingSeverity, str, str]]:
    """Severity, place and sentence of each finding, the worst first."""
    return [(one.severity, one.place, one.text) for one in findings(dossier)]


# --- the verdict --------------------------------------------------------------------------------------------------


def test_a_sound_item_passes() -> None:
    """Nothing is found for the sake of finding something; what does not exist yet is a missing input."""
    reviewed = review(item(), ROSTER)

    assert reviewed.findings == ()
    assert reviewed.meta.line == "REVIEW: PASS | issues=0 (critical=0) | missing_inputs=2"


def test_the_review_says_how_it_was_made() -> None:
    """Nobody takes a checklist for a judgement."""
    assert "without a model" in review(item(), ROSTER).markdown


def test_an_item_with_nothing_in_it_fails() -> None:
    """There is nothing that could be built, and the draft is only what was asked."""
    reviewed = review(item({"draft.md": "# Exports lose rows\n"}, done=()), ROSTER)

    assert reviewed.meta.line == "REVIEW: FAIL | issues=1 (critical=1) | missing_inputs=4"
    assert reviewed.findings[0].text == "There is nothing to review yet: finish a first step."


@pytest.mark.parametrize(
    ("files", "missing"),
    [
        ({}, ["code", "standards", "plan", "schema"]),
        ({"quick-scan.md": "# Quick scan\n\nScope: small\n"}, ["standards", "plan", "schema"]),
        ({"impact-analysis.md": "# Impact\n\nOne file.\n"}, ["standards", "plan", "schema"]),
        ({"impact-analysis.md": "# Impact\n\n## 1. Blast Radius\n"}, ["code", "standards", "plan", "schema"]),
        ({"planning/plan.md": "# Plan\n\nFirst this.\n"}, ["code", "standards", "schema"]),
        (SOUND | {"interface-spec.md": "Calls may fail.\n", "quick-scan.md": "small\n"}, []),
    ],
)
def test_missing_inputs_are_counted_by_category(files: Mapping[str, str], missing: list[str]) -> None:
    """Code, standards, plan and schema, each once: a file with nothing but headings tells nothing."""
    reviewed = review(item(files, done=()), ROSTER)

    assert [one.partition(":")[0] for one in reviewed.missing] == missing
    assert reviewed.meta.missing_inputs == len(missing)


def test_what_is_not_finished_is_not_held_against_anybody() -> None:
    """It is said that nobody looked at it."""
    reviewed = review(item({"requirements-spec.md": SPEC[: SPEC.index("## 5.")]}, done=("01-01",)), ROSTER)

    assert reviewed.findings == ()
    assert reviewed.unseen == (
        "4 of 5 steps are not finished, so what they write was not asked for (01-05 to 01-08).",
    )


# --- files and sections -------------------------------------------------------------------------------------------


def test_a_section_that_a_finished_step_owns_has_to_be_there() -> None:
    """The step says that it was answered, and the answer is gone."""
    assert told(spec("## 7. Out of Scope\n\n- Pictures — Ada\n\n", "")) == [
        (
            CRITICAL,
            "requirements-spec.md",
            'Section "7. Out of Scope" is missing, although step 01-06 is finished: do it again.',
        )
    ]


@pytest.mark.parametrize("body", ["", "_Nothing was said on this step._\n"])
def test_a_section_without_an_answer_is_found(body: str) -> None:
    """Empty, or with a sentence that says so."""
    text = '"7. Out of Scope" says nothing: do step 01-06 again, or write why it does not apply.'

    assert told(spec("- Pictures — Ada\n", body)) == [(MAJOR, "requirements-spec.md:19", text)]


def test_the_shared_matrix_has_to_have_a_section_of_the_item() -> None:
    """What stands there is other items'."""
    files = SOUND | {"docs/common/nfr-matrix.md": QUALITIES[: QUALITIES.index("## Exports")]}

    assert told(item(files)) == [
        (MAJOR, "docs/common/nfr-matrix.md", "No section of it is this item's: do step 01-05 again.")
    ]


def test_a_skipped_step_is_found_although_it_is_not_finished() -> None:
    """Its draft looks like an answer to those who were not there."""
    skipped = "_Draft: this step was skipped, nothing below was discussed._\n"
    files = SOUND | {
        "requirements-spec.md": SPEC.replace("- Every export loses its last row — Ada\n", skipped)
    }

    assert told(item(files, done=DONE[1:])) == [
        (
            MAJOR,
            "requirements-spec.md:3",
            '"1. Business Context" was skipped, so nothing in it was discussed: do step 01-01.',
        )
    ]


def test_a_file_of_a_finished_step_that_is_gone_is_critical() -> None:
    """Once, however many steps write it."""
    files = {path: text for path, text in SOUND.items() if path != "requirements-spec.md"}
    gone = [one for one in findings(item(files)) if one.severity is CRITICAL]

    assert [one.place for one in gone] == ["requirements-spec.md"]
    assert gone[0].text.startswith("The file is not there, though step 01-01 is finished")


@pytest.mark.parametrize(
    ("path", "text", "severity"),
    [
        ("requirements-spec.md", "", CRITICAL),
        ("requirements-spec.md", "# Requirements Spec\n\n## 1. Business Context\n", CRITICAL),
        ("user-stories.json", "", MAJOR),
        ("user-stories.json", "[]\n", MAJOR),
        ("user-stories.json", "[{", CRITICAL),
        ("traceability-matrix.csv", "", MAJOR),
        ("traceability-matrix.csv", "FR_ID,Title\r\n", MAJOR),
        ("traceability-matrix.csv", "FR_ID\r\n\0\r\n" + "x" * 200_000, CRITICAL),
    ],
)
def test_a_file_that_says_nothing_is_found(path: str, text: str, severity: FindingSeverity) -> None:
    """Empty, with headings only, or damaged."""
    about_it = [one for one in findings(item(SOUND | {path: text})) if one.place == path]

    assert [one.severity for one in about_it] == [severity]


# --- requirements -------------------------------------------------------------------------------------------------

CRITERION = "- AC-001-01: a list of 500 rows becomes a file of 500 rows — Ada\n"


def test_a_must_without_criteria_is_critical() -> None:
    """Whether it says so itself or only the table of priorities does."""
    text = "FR-001 has no acceptance criterion: write what somebody would see if it worked."

    assert told(spec(CRITERION, "- Acceptance criteria: to be agreed\n")) == [
        (CRITICAL, "requirements-spec.md:13", text)
    ]
    assert told(spec(f"{CRITERION}- Priority: Must\n", "- Priority: to be set\n")) == [
        (CRITICAL, "requirements-spec.md:13", text)
    ]


def test_any_other_requirement_without_criteria_is_major() -> None:
    """Somebody will have to guess when it is done."""
    without = SPEC.replace(CRITERION, "").replace("Must", "Should")

    assert [one.severity for one in findings(item(SOUND | {"requirements-spec.md": without}))] == [MAJOR]


@pytest.mark.parametrize(
    "vague",
    [
        "the export is fast",
        "the file comes soon",
        "the page is user-friendly",
        "the page is user friendly",
        "it is easy to find",
        "it works quickly and reliably",
        "as soon as possible",
        "it has a Modern look",
        "names, dates, etc. are kept",
        "Export ist schnell",
    ],
)
def test_a_criterion_that_nobody_can_measure_is_found(vague: str) -> None:
    """Everybody agrees to it, and each means something else."""
    found = told(spec("a list of 500 rows becomes a file of 500 rows", vague))

    assert [(severity, place) for severity, place, _ in found] == [(MAJOR, "requirements-spec.md:15")]
    assert found[0][2].endswith("in AC-001-01 cannot be measured: say how much, how many or by when.")


@pytest.mark.parametrize(
    "measured",
    [
        "the export is fast: at most 20 s",
        "it is easy: 9 of 10 clerks find it at once",
        "fasting is noted in the list",
        "a row of the steadfast clerk is kept",
        "the last row is there",
        "the soonest date is the first row",
    ],
)
def test_a_criterion_that_can_be_checked_is_left_alone(measured: str) -> None:
    """A number makes a soft word hard, and half a word is none."""
    assert told(spec("a list of 500 rows becomes a file of 500 rows", measured)) == []


def test_the_name_of_an_author_is_no_promise() -> None:
    """Nor is anything else behind the dash."""
    assert told(spec("500 rows — Ada", "500 rows — Nice Quick")) == []


def test_a_soft_title_is_fine_when_its_criteria_are_not() -> None:
    """A title may be short; without a number anywhere it is a small thing."""
    files = SOUND | {
        "requirements-spec.md": SPEC.replace("FR-001: Export all rows", "FR-001: Export rows fast").replace(
            CRITERION, "- AC-001-01: the last row is there — Ada\n"
        )
    }
    hard = SPEC.replace("FR-001: Export all rows", "FR-001: Export rows fast").replace(
        CRITERION, "- AC-001-01: the file is there within 20 s — Ada\n"
    )

    assert [(one.severity, one.place) for one in findings(item(files))] == [
        (MINOR, "requirements-spec.md:13")
    ]
    assert findings(item(SOUND | {"requirements-spec.md": hard})) == ()


def test_a_quality_needs_a_threshold() -> None:
    """Only the item's own rows of the matrix that all items share are looked at."""
    soft = QUALITIES.replace("| at most 20 s |", "| soon |")
    unset = QUALITIES.replace("| at most 20 s |", "| to be set |")

    assert told(item(SOUND | {"docs/common/nfr-matrix.md": soft})) == [
        (
            MAJOR,
            "docs/common/nfr-matrix.md:13",
            '"soon" in NFR-002 cannot be measured: say how much, how many or by when.',
        )
    ]
    assert told(item(SOUND | {"docs/common/nfr-matrix.md": unset})) == [
        (
            MAJOR,
            "docs/common/nfr-matrix.md:13",
            "NFR-002 has no threshold: write the number that is still good enough.",
        )
    ]


def test_a_story_traces_to_a_requirement() -> None:
    """Notes do not have to: they are no stories yet."""
    untraced = STORY.replace('"FR-001"', "").replace("[\n      \n    ]", "[]")
    notes = untraced.replace("US-001", "NOTE-001")
    files = {**SOUND, "traceability-matrix.csv": MATRIX.replace("US-001", "US-001")}

    found = told(item(files | {"user-stories.json": untraced}))
    assert (
        MINOR,
        "user-stories.json:3",
        "US-001 traces to no requirement: name the FR it belongs to, or drop it.",
    ) in found
    assert not [one for one in told(item(files | {"user-stories.json": notes})) if "traces to no" in one[2]]


# --- ids ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "way_out"),
    [
        ("FR-009", "a heading of its own in requirements-spec.md"),
        ("AC-001-07", "below its requirement"),
        ("NFR-009", "a row with a threshold"),
        ("US-009", "write the story into user-stories.json"),
    ],
)
def test_an_id_that_is_defined_nowhere_is_found(name: str, way_out: str) -> None:
    """Where it is named first, with the way out."""
    [(severity, place, text)] = told(spec("- Pictures — Ada", f"- Pictures, see {name} — Ada"))

    assert (severity, place) == (MAJOR, "requirements-spec.md:21")
    assert text.startswith(f"{name} is referred to, and defined nowhere: ")
    assert way_out in text


def test_an_id_is_looked_for_in_every_kind_of_file() -> None:
    """Once each, with the number of places."""
    files = SOUND | {
        "user-stories.json": STORY.replace('"FR-001"', '"FR-001",\n      "FR-008"'),
        "traceability-matrix.csv": MATRIX.replace("US-001", "US-001;US-008"),
        "module-design.md": "# Design\n\nFR-8 twice: FR-008.\n",
    }
    assert [
        (one.place, one.text.partition(":")[0]) for one in findings(item(files)) if one.severity is MAJOR
    ] == [
        ("module-design.md:3", "FR-008 is referred to in 3 places, and defined nowhere"),
        ("traceability-matrix.csv:2", "US-008 is referred to, and defined nowhere"),
    ]


@pytest.mark.parametrize(
    "harmless",
    ["FR-1 and FR-0001", "GFR-7 and FR-7x and FR_7", "```\nFR-777\n```", "AC-1-1", "NFR-1 of another item"],
)
def test_other_spellings_code_and_other_words_are_no_undefined_ids(harmless: str) -> None:
    """However many zeros somebody writes; and the ids of other items are defined in the shared file."""
    assert not [one for one in told(spec("- Pictures — Ada", harmless)) if "nowhere" in one[2]]


def test_an_id_that_is_given_twice_is_found() -> None:
    """Whoever refers to it means one of them."""
    twice = "### FR-001: Export pictures\n\n- AC-001-02: 3 pictures are there — Ada\n\n## 7. Out of Scope"

    assert told(spec("## 7. Out of Scope", twice)) == [
        (
            MAJOR,
            "requirements-spec.md:19",
            "FR-001 is defined here and in requirements-spec.md:13: give one of them another number.",
        )
    ]


def test_what_nothing_refers_to_may_not_be_needed() -> None:
    """As soon as there is something that should: stories, the matrix that lists them, a design."""
    lonely = SPEC.replace(
        "## 7. Out of Scope", "### FR-002: Count rows\n\n- AC-002-01: it says 500 — Ada\n\n## 7. Out of Scope"
    )
    files = SOUND | {
        "requirements-spec.md": lonely,
        "traceability-matrix.csv": MATRIX.replace("US-001", ""),
        "module-design.md": "# Design\n\nOne module.\n",
    }

    assert told(item(files)) == [
        (
            MINOR,
            "docs/common/nfr-matrix.md:13",
            "No page of the analysis or design names NFR-002: trace something to it, or ask whether it is needed.",
        ),
        (
            MINOR,
            "requirements-spec.md:19",
            "No story and no later page names FR-002: trace something to it, or ask whether it is needed.",
        ),
        (
            MINOR,
            "user-stories.json:3",
            "No row of the matrix names US-001: trace something to it, or ask whether it is needed.",
        ),
    ]


# --- questions, risks, contracts ----------------------------------------------------------------------------------


def test_open_questions_are_counted_by_section() -> None:
    """In an answer, and in what a discussion added; the first is quoted."""
    asked = """- Pictures — Ada

**Open questions**

- Who pays? — Ada
- Who *knows*? — Ben

**Action items**

- Ask Graz

<!-- Elaboration: 01-06 -->

#### Open Questions
- Why now?: nobody knew
"""
    assert told(spec("- Pictures — Ada\n", asked)) == [
        (
            MINOR,
            "requirements-spec.md:25",
            '3 questions are open in "7. Out of Scope", the first is "Who pays?" — answer, or say who does by when.',
        )
    ]


def test_what_a_placeholder_asks_is_not_asked_again() -> None:
    """It says itself that nothing was said; what a discussion added below it still counts."""
    nothing = "_Nothing was said on this step._\n\n**Open questions**\n\n- Who?\n- Why?\n"
    added = "\n<!-- Elaboration: 01-06 -->\n\n#### Open Questions\n- When?\n"

    assert [text for _, _, text in told(spec("- Pictures — Ada\n", nothing + added))] == [
        '"7. Out of Scope" says nothing: do step 01-06 again, or write why it does not apply.',
        'A question is open in "7. Out of Scope": "When?" — answer, or say who does by when.',
    ]


@pytest.mark.parametrize("nothing", ["- None recorded.", "- None", "- n/a", "Nobody asked anything."])
def test_no_open_questions_are_none(nothing: str) -> None:
    """However that is written."""
    assert told(spec("- Pictures — Ada\n", f"- Pictures — Ada\n\n**Open questions**\n\n{nothing}\n")) == []


def test_a_question_that_somebody_answers_by_a_date_is_taken_care_of() -> None:
    """In the table of the design review; the others are left."""
    table = """# Summary

## 2. Open Questions

| Question | Owner | By when |
| --- | --- | --- |
| Which font? | Ada | Friday |
| Which size? | to be set | |
"""
    [(severity, place, text)] = told(item({"design-summary.md": table}, done=()))

    assert (severity, place) == (MINOR, "design-summary.md:8")
    assert '"Which size?"' in text


TABLES = {
    "| Risk | Likelihood | Impact | Mitigation |": ("| Rows are lost | high | bad |  |", "no mitigation"),
    "| Risk | Area | Likelihood | Impact | Mitigation |": (
        "| Rows are lost | x | TBD | bad | a test |",
        "no likelihood",
    ),
    "| Technology | Version | Rationale | Alternatives Considered |": (
        "| Redis | 7 | – | files |",
        "no rationale",
    ),
    "| Source | Target | Interface | Data Format | Error Handling |": (
        "| a | b | GET /rows | JSON | - |",
        "no error handling",
    ),
    "| Error Code | Description | Trigger | Severity | Recovery |": (
        "| ERR-1 | lost | a row is lost | high | |",
        "no recovery",
    ),
    "| Field | Type | Required | Limits |": ("| name | ? | yes | 40 |", "no type"),
}


@pytest.mark.parametrize("columns", TABLES)
def test_what_a_table_leaves_open_is_found(columns: str) -> None:
    """A risk needs a mitigation, a choice a reason, a call an error; a cell with a dash says nothing."""
    row, missing = TABLES[columns]
    ruler = columns.translate({ord(letter): "-" for letter in set(columns) - set("| ")})
    page = f"# Page\n\n## 1. Section\n\n{columns}\n{ruler}\n{row}\n"
    [(_, place, text)] = told(item({"page.md": page}, done=()))

    assert place == "page.md:7"
    assert missing in text


def test_calls_that_never_fail_are_found() -> None:
    """A contract without its errors is half of one."""
    calls = "# Interfaces\n\n## 1. Interfaces\n\n- GET /rows returns the rows — Ada\n"

    assert [
        (place, severity) for severity, place, _ in told(item({"interface-spec.md": calls}, done=()))
    ] == [("interface-spec.md:3", MAJOR)]
    assert (
        told(item({"interface-spec.md": f"{calls}- 404 when there is no such list — Ada\n"}, done=())) == []
    )


def test_an_error_code_that_is_not_in_the_taxonomy_is_found() -> None:
    """Once there is a taxonomy."""
    calls = {"interface-spec.md": "## 1. Interfaces\n\nFails with ERR-ROWS-001 or ERR-ROWS-002.\n"}
    codes = "## 1. Error Codes\n\n| Error Code | Trigger |\n| --- | --- |\n| ERR-ROWS-001 | a row is lost |\n"

    assert told(item(calls, done=())) == []
    assert [
        text.partition(":")[0] for _, _, text in told(item(calls | {"error-taxonomy.md": codes}, done=()))
    ] == ["ERR-ROWS-002 is referred to, and defined nowhere"]


RISKS = """\
## 2. Selected Architecture

| Risk | Mitigation |
|------|------------|
| Rows are lost | |
"""


# --- whose it is --------------------------------------------------------------------------------------------------


def test_everybody_looks_through_their_own_lens() -> None:
    """The lens decides, and without one that fits, whoever leads the step that writes the file."""
    broken = {
        "requirements-spec.md": SPEC.replace(CRITERION, ""),
        "architecture-overview.md": "## 1. Architecture Options\n\n" + RISKS,
        "interface-spec.md": "## 1. Interfaces\n\nGET /rows, for FR-001\n",
    }
    agenda = Agenda(steps=(CONTEXT, FEATURES, OPTIONS))
    reviewed = review(item(broken, done=("03-01",), agenda=agenda), ROSTER)

    assert {one.by: [found.place for found in one.findings] for one in reviewed.opinions} == {
        "Maya Chen (Business Analyst)": ["requirements-spec.md:13"],
        "Alex Rivera (Solutions Architect)": ["architecture-overview.md:1", "architecture-overview.md:7"],
        "Jordan Park (System Designer)": ["interface-spec.md:1"],
    }


def test_a_persona_of_somebody_else_takes_what_fits_its_lens() -> None:
    """One Markdown file is enough, and nothing is said twice."""
    tester = Persona(key="tester", name="Sam Okafor", role="Tester", lens="testing, acceptance and quality")
    reviewed = review(spec(CRITERION, ""), Roster((*ROSTER, tester)))

    assert {one.by: len(one.findings) for one in reviewed.opinions} == {
        "Maya Chen (Business Analyst)": 0,
        "Alex Rivera (Solutions Architect)": 0,
        "Jordan Park (System Designer)": 0,
        "Sam Okafor (Tester)": 1,
    }


def test_asking_some_says_what_the_others_would_have_looked_at() -> None:
    """A short review is not taken for a sound item."""
    reviewed = review(spec(CRITERION, ""), ROSTER, asked=["system-designer"])

    assert [one.by for one in reviewed.opinions] == ["Jordan Park (System Designer)"]
    assert reviewed.findings == ()
    assert reviewed.unseen == (
        "Nobody looked through the lens of Maya Chen (Business Analyst): user needs.",
        "Nobody looked through the lens of Alex Rivera (Solutions Architect): feasibility and risk.",
    )


def test_opinions_can_be_asked_for_one_by_one() -> None:
    """And put together, with a word about who did not answer."""
    dossier = spec(CRITERION, "")
    opinions = [opinion(dossier, persona, ROSTER) for persona in ROSTER]
    late = together(dossier, ROSTER, opinions[:2], unseen=("Jordan did not answer within 30 s.",))

    assert together(dossier, ROSTER, opinions) == review(dossier, ROSTER)
    assert late.unseen[0] == "Jordan did not answer within 30 s."
    assert late.meta.verdict == ReviewVerdict.FAIL


def test_asking_all_of_them_at_the_same_time_is_the_same() -> None:
    """As it is done when each of them has a time of their own."""
    lonely = SPEC.replace("## 7.", "### FR-002: Count rows\n\nAs in FR-009.\n\n## 7.")
    files = SOUND | {"requirements-spec.md": lonely}
    expected = [opinion(item(files), persona, ROSTER) for persona in ROSTER]
    with ThreadPoolExecutor(len(ROSTER)) as pool:
        for _ in range(20):
            asked = partial(opinion, item(files), roster=ROSTER)
            assert list(pool.map(asked, ROSTER)) == expected


def test_a_roster_that_looks_at_nothing_known_still_reviews() -> None:
    """What fits no lens is the first one's."""
    cook = Persona(key="cook", name="Kim Lee", role="Cook", lens="taste")
    reviewed = review(spec(CRITERION, ""), Roster((cook,)))

    assert [len(one.findings) for one in reviewed.opinions] == [1]


# --- everything -----------------------------------------------------------------------------------------------------


def test_many_findings_of_a_kind_are_cut_short_and_counted() -> None:
    """The worst stay, so the verdict does; the rest is told by its number."""
    many = "".join(f"### FR-{n:03}: Row {n}\n\n- Priority: Should\n\n" for n in range(2, 102))
    must = "### FR-500: The last one\n\n- Priority: Must\n\n## 7. Out of Scope"
    reviewed = review(spec("## 7. Out of Scope", many + must), ROSTER)

    assert reviewed.findings[0].text.startswith("FR-500 has no acceptance criterion")
    assert sum("no acceptance criterion" in one.text for one in reviewed.findings) == MOST_FINDINGS
    assert "51 more findings about acceptance criteria: 50 are listed at most." in reviewed.unseen


def test_a_file_that_is_far_too_long_is_not_looked_at() -> None:
    """And that is said."""
    reviewed = review(item(SOUND | {"novel.md": "x" * (LONGEST_CHARS + 1)}), ROSTER)

    assert reviewed.findings == ()
    assert reviewed.unseen == ("novel.md is longer than 1000000 characters, so nothing in it.",)


def test_the_items_that_our_own_voice_writes_can_be_reviewed() -> None:
    """All 24 steps, answered: every section is where it is looked for."""
    files: dict[str, str] = {}
    for step in SHIPPED.agenda.steps:
        cue = VoiceContext(
            roundtable(step, (ADA, "- Keep every row\nAC: 500 of 500 rows are kept")), SHIPPED, step.persona
        )
        edits, _ = asyncio.run(OfflineVoices().draft(cue, steps=(step.step_id,), files=files, skipped=False))
        for edit in edits:
            files[edit.path] = edit.apply(files.get(edit.path))
    done = tuple(step.step_id for step in SHIPPED.agenda.steps)
    reviewed = review(item(files, done=done, agenda=SHIPPED.agenda), SHIPPED.roster)

    assert [one for one in reviewed.findings if one.severity is CRITICAL] == []
    assert reviewed.missing == ()
    assert reviewed.unseen == ()
    assert len(reviewed.opinions) == 3


PIECES = st.sampled_from([
    *("## 6. Functional Requirements", "## 7. Out of Scope", "### FR-001: ", "### FR-1: x", "- AC-001-01: ", "fast"),
    *("| Risk | Mitigation |", "|---|---|", "|", "| x | |", "```", "~~~", "FR-9", "AC-1-1", "**Open questions**", "- "),
    *("_Nothing was said on this step._", "<!-- Elaboration: x -->", MARKER, "@@@", "\n", "\n\n", "\r\n", "\0"),
    *('{"id": "US-1"}', "[", "]", ",", '"', "# ", "\u2028", "\ud800", "— Ada", "- Priority: Must", "(lost-rows)"),
])  # fmt: skip
TEXTS = st.one_of(st.text(st.characters(exclude_categories=())), st.lists(PIECES, max_size=30).map("".join),
    st.lists(PIECES, max_size=30).map("\n".join))  # fmt: skip
PATHS = st.sampled_from(
    [*SOUND, "interface-spec.md", "error-taxonomy.md", "quick-scan.md", "a.txt", "b.yaml", "draft.md"]
)


@given(st.dictionaries(PATHS, TEXTS, max_size=4), st.sets(st.sampled_from([step.step_id for step in STEPS])))
def test_any_files_can_be_reviewed(files: Mapping[str, str], done: set[str]) -> None:
    """Nothing breaks, nothing is forged, and the same files get the same review."""
    dossier = item(files, done=tuple(done), agenda=Agenda(steps=STEPS))
    reviewed = review(dossier, ROSTER)

    assert parse(reviewed.markdown) == reviewed.meta
    assert review(dossier, ROSTER) == reviewed
    assert (reviewed.meta.verdict == ReviewVerdict.PASS) == all(
        one.severity is not CRITICAL for one in reviewed.findings
    )


HOSTILE = {
    "headings": "## x\n",
    "requirements": "### FR-001: fast\n\n",
    "criteria": "- AC-1-1: fast\n",
    "ids": "FR-1 ",
    "ids by the line": "FR-1\n",
    "records": '{"id": "US-1"}, ',
    "tables": "| Risk | Mitigation |\n|-|-|\n| x | |\n",
    "bars": "|",
    "dashes": "-",
    "stars": "*",
    "spaces": " ",
    "hashes": "#",
    "quotes": '"id"',
    "questions": "**Open questions**\n- x\n",
    "error codes": "ERR-A",
    "soft words": "fast ",
    "discussions": "<!-- Elaboration: x -->\n",
}


@pytest.mark.parametrize("unit", HOSTILE.values(), ids=HOSTILE.keys())
def test_ten_times_the_text_takes_ten_times_as_long_to_review(unit: str) -> None:
    """At most, and with room for a busy machine: nothing is compared with everything else."""
    small, large = (
        {
            path: f"## 6. Functional Requirements\n{unit * (size // len(unit))}"
            for path in ("requirements-spec.md", "user-stories.json")
        }
        for size in (20_000, 200_000)
    )

    assert _seconds(large) < 40 * (_seconds(small) + 0.01)


def _seconds(files: Mapping[str, str]) -> float:
    """The quicker of two: what others do to the processor's caches meanwhile is not ours."""

    def once() -> float:
        begun = time.process_time()
        opinion(item(files), ROSTER[MAYA], ROSTER)
        return time.process_time() - begun

    return min(once(), once())
