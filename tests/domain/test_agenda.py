"""Phases and steps: what comes next, how deep it goes, and what a step's own text says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from bot.domain.catalog.agenda import (
    Agenda,
    Playbook,
    QuickScan,
    depth_for,
    depth_of_step,
    next_step,
    read_quick_scan,
)
from bot.domain.catalog.personas import Roster
from bot.domain.catalog.phases import ANALYSIS_PHASES, PHASE_KEYS, Phase
from bot.domain.catalog.skip_if import Facts
from bot.domain.catalog.steps import Depth, Step, StepHeading
from bot.domain.catalog.taxonomy import trouble
from tests.growth import grows_no_faster

REQUIREMENTS = "01-requirements"
SPEAKERS = ("Maya Chen", "Éva Ó Briain", "王小明")


def step(step_id: str, /, *depends_on: str, **more: object) -> Step:
    given = {
        "step_id": step_id,
        "title": f"Step {step_id}",
        "persona": "business-analyst",
        "depth": "standard",
        "outputs": ["requirements-spec.md"],
        "depends_on": depends_on,
        "phase_key": next((key for key in PHASE_KEYS if key.startswith(step_id[:2])), ""),
        "filename": f"{step_id[3:]}-step.md",
    }
    return Step.model_validate(given | more)


def artifacts(text: str, *outputs: str) -> Step:
    return step("01-01", title="Business Context", outputs=outputs, sections={StepHeading.ARTIFACTS: text})


def says(section: StepHeading, text: str) -> Step:
    return step("01-01", sections={section: text}, body="The whole body", speakers=SPEAKERS)


# --- phases ---------------------------------------------------------------------------------------------------------


def test_a_phase_of_ones_own_is_named_by_its_folder_and_sorted_in() -> None:
    """A folder is all it takes; its number says where it belongs."""
    phase = Phase.of_folder("05-rollout-plan")

    assert (phase.number, phase.name) == ("05", "Rollout Plan")
    assert (phase.doing, phase.done) == ("lead the rollout plan", "the rollout plan")
    assert phase.guiding == "Rollout Plan"

    agenda = Agenda([*ANALYSIS_PHASES, Phase.of_folder("05-rollout"), Phase.of_folder("01-a")])

    assert [phase.key for phase in agenda.phases][1:3] == ["01-a", "01-requirements"]
    assert agenda.phases[-1].key == "05-rollout"


# --- the next step --------------------------------------------------------------------------------------------------


@given(st.permutations(["01-01", "01-02", "01-03", "01-04"]), st.data())
def test_every_step_is_offered_at_most_once_and_in_file_order(order: list[str], data: st.DataObject) -> None:
    """Whatever depends on whatever, circles included, a phase comes to its end."""
    dependencies = {one: data.draw(st.sets(st.sampled_from(order), max_size=2)) for one in order}
    agenda = Agenda(steps=[step(one, *sorted(dependencies[one])) for one in order])
    completed: list[str] = []
    passed: set[str] = set()

    for _ in range(len(order) + 1):
        picked = next_step(agenda, REQUIREMENTS, completed=completed, passed=passed, facts=Facts())
        passed |= {skip.step_id for skip in picked.skipped}
        if picked.step is None:
            break
        assert dependencies[picked.step.step_id] <= set(completed)
        completed.append(picked.step.step_id)

    assert completed == sorted(completed)
    assert passed.isdisjoint(completed)
    assert passed | set(completed) == set(order)


# --- depth ----------------------------------------------------------------------------------------------------------

SMALL = QuickScan(scope="small", complexity="low", file_count=3)
LARGE = QuickScan(scope="large", complexity="high", file_count=30)


@pytest.mark.parametrize(
    ("scope", "complexity", "files", "depth"),
    [
        ("small", "low", 5, Depth.BRIEF),
        ("small", "high", 4, Depth.BRIEF),
        ("small", "medium", 5, Depth.STANDARD),
        ("medium", "low", 1, Depth.STANDARD),
        ("medium", "high", 99, Depth.STANDARD),
        ("large", "high", 1, Depth.DEEP),
        ("large", "low", 16, Depth.DEEP),
        ("large", "medium", 15, Depth.STANDARD),
        ("unknown", "low", 1, Depth.STANDARD),
    ],
)
def test_depth_follows_the_quick_scan(scope: str, complexity: str, files: int, depth: Depth) -> None:
    """Brief and deep need a second sign besides the scope."""
    assert QuickScan(scope=scope, complexity=complexity, file_count=files).depth is depth


def test_a_steps_own_depth_counts_where_no_phase_was_opened() -> None:
    """Before it come the depth that is active, and the override of the phase."""
    deep = step("01-06", depth="deep")

    assert depth_of_step(deep, {}, None) is Depth.DEEP
    assert depth_of_step(deep, {}, Depth.BRIEF) is Depth.BRIEF
    assert depth_of_step(deep, {REQUIREMENTS: "standard"}, Depth.BRIEF) is Depth.STANDARD


@pytest.mark.parametrize("value", ["thorough", "", None, 3, ["deep"], {"depth": "deep"}])
def test_an_override_that_is_no_depth_is_ignored(value: object) -> None:
    """ERR-DEPTH-002, whatever somebody wrote into meta.json."""
    assert depth_for(REQUIREMENTS, {REQUIREMENTS: value}, LARGE) == (
        Depth.DEEP,
        "quick-scan",
        trouble("ERR-DEPTH-002"),
    )


# --- the quick scan -------------------------------------------------------------------------------------------------


@given(
    st.builds(
        QuickScan,
        scope=st.sampled_from(["small", "medium", "large", "unknown"]),
        file_count=st.integers(0, 999_999),
        complexity=st.sampled_from(["low", "medium", "high", "unknown"]),
    ),
    st.text(alphabet="# abc\n|*-", max_size=60),
)
def test_what_is_written_is_what_is_read(scan: QuickScan, around: str) -> None:
    """Wherever the lines stand in the file."""
    lines = f"**Scope**: {scan.scope}\n**File Count**: {scan.file_count}\n**Complexity**: {scan.complexity}"

    assert read_quick_scan(f"{around}\n{lines}\n{around}") == scan


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Scope: small", QuickScan(scope="small")),
        ("**Estimated Scope**: Medium", QuickScan(scope="medium")),
        ("**Estimated Scope:** LARGE (many files)", QuickScan(scope="large")),
        ("- **Final Scope**: **large**", QuickScan(scope="large")),
        ("scope classification: small", QuickScan(scope="small")),
        ("> Scope: small", QuickScan(scope="small")),
        ("**File Count Estimate**: ~18-25 files", QuickScan(file_count=25)),
        ("File Count: 7", QuickScan(file_count=7)),
        ("Estimated Files: about 6 to 9", QuickScan(file_count=9)),
        ("Files: 12–14", QuickScan(file_count=14)),
        ("Total files: between 3 and 5", QuickScan(file_count=5)),
        ("**Complexity**: High", QuickScan(complexity="high")),
        ("Estimated Complexity: `low`", QuickScan(complexity="low")),
        ("Scope: small\n\n## 4. Final Scope\n\nScope: large", QuickScan(scope="large")),
        ("Scope: small\nScope: unknown", QuickScan(scope="small")),
        ("Scope：small", QuickScan(scope="small")),
        ("`Scope`: _small_", QuickScan(scope="small")),
        ("Estimated Files: 1,200", QuickScan(file_count=1200)),
        ("Files: 1.200 - 1.400", QuickScan(file_count=1400)),
        ("The scope: small", QuickScan()),
        ("Scope: smallish", QuickScan()),
        ("Scope: huge\nFile Count: many\nComplexity: ?", QuickScan()),
        ("File Count: 99999999999999999999", QuickScan()),
        ("", QuickScan()),
    ],
)
def test_people_may_write_the_lines_in_their_own_way(text: str, expected: QuickScan) -> None:
    """Bold, capitals, ranges (the higher bound counts), corrections (the last one counts)."""
    assert read_quick_scan(text) == expected


@given(st.text(max_size=500))
def test_any_text_can_be_read(text: str) -> None:
    """What is not there is unknown."""
    assert isinstance(read_quick_scan(text), QuickScan)


def test_conditions_know_the_scan_and_the_depth() -> None:
    """These are the four variables of skip_if."""
    assert SMALL.facts(Depth.BRIEF) == Facts(scope="small", complexity="low", file_count=3, depth="brief")


# --- a step's fields ------------------------------------------------------------------------------------------------


def test_a_title_is_one_line_of_60_characters() -> None:
    """60 are fine, and line breaks are spaces."""
    assert step("01-01", title="a\n b " + "x" * 56).title == "a b " + "x" * 56


@pytest.mark.parametrize(
    "outputs",
    [
        ["META.JSON"],
        ["draft.md"],
        ["specification.json"],
        ["reviews"],
        ["reviews/review-001.md"],
        ["ok.md", "../x"],
    ],
)
def test_outputs_stay_in_the_items_folder(outputs: list[str]) -> None:
    """No path leads out of it, and none to what the engine keeps there."""
    with pytest.raises(ValidationError):
        step("01-01", outputs=outputs)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("quick-scan.md", "quick-scan.md"),
        ("adr/adr-0001_x.md", "adr/adr-0001_x.md"),
        ("nfr-matrix.md", "nfr-matrix.md"),
        ("docs/common/nfr-matrix.md", "nfr-matrix.md"),
        ("planning.md", "planning.md"),
    ],
)
def test_outputs_are_named_as_in_the_step(given: str, kept: str) -> None:
    """Only the shared file has two names."""
    assert step("01-01", outputs=[given]).outputs == (kept,)


# --- a step's text --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("Maya Chen: What hurts?", "What hurts?"),
        ("Maya Chen (Business Analyst): What hurts?", "What hurts?"),
        ("**Maya Chen**: What hurts?", "What hurts?"),
        ("**Maya Chen:** What hurts?", "What hurts?"),
        ("Maya  Chen:\nWhat hurts?", "What hurts?"),
        ("Éva Ó Briain: What hurts?", "What hurts?"),
        ("王小明：What hurts?", "What hurts?"),
        ("What hurts?", "What hurts?"),
        ("Note: what hurts?", "Note: what hurts?"),
        ("Use Cases: what hurts?", "Use Cases: what hurts?"),
        ("Alex Rivera: what hurts?", "Alex Rivera: what hurts?"),
        ("Maya: what hurts?", "Maya: what hurts?"),
        ("Maya Chen:what hurts?", "Maya Chen:what hurts?"),
        ("Let's see, Maya Chen: what hurts?", "Let's see, Maya Chen: what hurts?"),
    ],
)
def test_a_text_is_said_without_the_speakers_name(written: str, said: str) -> None:
    """The message shows who speaks, and that may be another persona than its author thought of."""
    assert says(StepHeading.STANDARD, written).text_at(Depth.STANDARD) == (said, False)
    assert step("01-01", body=written, speakers=SPEAKERS).text_at(Depth.STANDARD) == (said, True)


def test_neither_questions_in_code_nor_unnumbered_ones_are_asked() -> None:
    """They are examples, and an item goes on after them."""
    text = "1. Is this it?\n   ```\n   2. Not this\n   ```\n   Or that?\n~~~\n3. Nor this\n~~~\n2. And now?"

    assert says(StepHeading.STANDARD, text).questions_at(Depth.STANDARD) == (
        "Is this it? Or that?",
        "And now?",
    )

    assert says(StepHeading.BRIEF, "All fine?").questions_at(Depth.BRIEF) == ()


def test_a_missing_depth_falls_back_to_standard_and_then_to_the_whole_body() -> None:
    """ERR-STEP-007, and the caller learns of it; even when another depth is there."""
    assert says(StepHeading.STANDARD, "Maya Chen: Hi").text_at(Depth.DEEP) == ("Hi", True)

    assert says(StepHeading.BRIEF, "Short").text_at(Depth.DEEP) == ("The whole body", True)
    assert says(StepHeading.BRIEF, "Short").text_at(Depth.STANDARD) == ("The whole body", True)
    assert says(StepHeading.BRIEF, "Short").text_at(Depth.BRIEF) == ("Short", False)


def test_questions_are_the_numbered_items() -> None:
    """Each on one line, with what belongs to it; the sentences around them are none."""
    text = """Maya Chen: Let's see.

1. What hurts,
   and whom?
2) Which of these:
   - speed
   - safety?
   a. or both,
   etc. and so on?
   1. none

3. Why now? Because:

   it is late

I'll write it down.
4 times is not a question.
"""

    assert says(StepHeading.STANDARD, text).questions_at(Depth.DEEP) == (
        "What hurts, and whom?",
        "Which of these: speed; safety?; or both, etc. and so on?; none",
        "Why now? Because: it is late",
    )


def test_validation_is_its_bullets() -> None:
    """In their order; without the section there are none."""
    found = says(StepHeading.VALIDATION, "Check:\n\n- One\n- Two\n  goes on\n-\n* Three\n\nDone.\nReally.")

    assert found.validation == ("One", "Two goes on", "Three")
    assert step("01-01").validation == ()


# --- what a step owns -----------------------------------------------------------------------------------------------


def test_a_step_owns_the_sections_its_artifacts_name() -> None:
    """The original format: a bullet per file, below it sections and what goes into them."""
    text = """
- Create or update `requirements-spec.md` in the artifact folder:
  - Section: "6. Functional Requirements"
  - Content: FR-{NNN} with criteria, as in "1. Scope"
  - Format: table; see `impact-analysis.md`
  - Section: "7. Out of Scope"
  - Content: excluded capabilities
- Update `docs/common/nfr-matrix.md`:
  - Content: thresholds
"""
    found = artifacts(text, "requirements-spec.md", "nfr-matrix.md")

    assert found.owned("requirements-spec.md") == ("6. Functional Requirements", "7. Out of Scope")
    assert found.owned("nfr-matrix.md") == ("Business Context",)


@pytest.mark.parametrize(
    ("line", "heading"),
    [
        ('quick-scan.md §"1. Scope"', "1. Scope"),
        ("quick-scan.md: §1. Scope", "1. Scope"),
        ("- Section: 1. Scope", "1. Scope"),
        ("- Section 1. Scope of quick-scan.md", "1. Scope"),
        ("- section: “1. Scope” in quick-scan.md", "1. Scope"),
        ("- Write `## 1. Scope` in `quick-scan.md`", "1. Scope"),
        ('- "1. Scope" in quick-scan.md, with a rationale', "1. Scope"),
        ("- **1. Scope**", "1. Scope"),
        ("## 1. Scope", "1. Scope"),
        ('- Section: "Open Questions"', "Open Questions"),
        ("- Section: Open Questions", "Open Questions"),
        ("§ Open Questions", "Open Questions"),
    ],
)
def test_a_section_can_be_named_in_many_ways(line: str, heading: str) -> None:
    """Authors write prose, not a schema; a section needs no number."""
    assert artifacts(line, "quick-scan.md").owned("quick-scan.md") == (heading,)


def test_sections_are_owned_in_the_outputs_of_the_step() -> None:
    """Several fit on a line; of a file without one, a step owns the section with its title."""
    one = artifacts('x.md §"1. A B", §"2. C" and §"2. C"; y.md §"3.1. D"', "x.md", "y.md")

    assert one.owned("x.md") == ("1. A B", "2. C")
    assert one.owned("y.md") == ("3.1. D",)

    text = '- Update `adr-0001.md`:\n  - Section: "1. Context"\n- Update `x.md`'

    assert artifacts(text, "x.md").owned("x.md") == ("Business Context",)

    text = "- Create files:\n  - One per module: `module-design-{name}.md`\n  - Content: the interface"

    assert artifacts(text, "module-design.md").owned("module-design.md") == ("Business Context",)
    assert artifacts("", "x.md").owned("x.md") == ("Business Context",)


@given(st.text(alphabet='§"`#*1. Section:x.md\n-', max_size=300))
def test_whatever_the_artifacts_say_something_is_owned(text: str) -> None:
    """And always under a heading."""
    assert all(artifacts(text, "x.md").owned("x.md"))
    assert artifacts(text, "x.md").owned("x.md")


@pytest.mark.parametrize(
    ("first", "piece"), [("§1. ", " "), ("", "a"), ("", "a/"), ("", "`1. a"), ("", "1. "), ("", '"')]
)
def test_no_artifacts_take_long(first: str, piece: str) -> None:
    """Up to the largest file allowed; a slow pattern would take minutes there."""

    def text(size: int) -> str:
        return first + piece * (size // len(piece))

    assert artifacts(text(60_000), "x.md").owned("x.md")
    grows_no_faster(lambda text: artifacts(text, "x.md").owned("x.md"), text, 15_000)


# --- the playbook ---------------------------------------------------------------------------------------------------


def test_troubles_are_told_when_their_phase_opens() -> None:
    """Except a bad condition, which is told when its step comes up."""
    here = trouble("ERR-STEP-003", filename="x.md", phase_key=REQUIREMENTS)
    later = trouble("ERR-STEP-009", step_id="01-01", expression="x", phase_key=REQUIREMENTS)
    other = trouble("ERR-STEP-001", phase_key="04-design")
    anywhere = trouble("ERR-RT-002")
    playbook = Playbook(Roster(), Agenda(), (here, later, other, anywhere))

    assert playbook.troubles_of(REQUIREMENTS) == (here,)
