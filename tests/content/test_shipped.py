"""The personas and steps that come with the bot: what is there, and the rules their authors keep."""

import re
from pathlib import Path

import pytest

from bot.content.playbook import load
from bot.domain.catalog.personas import Persona
from bot.domain.catalog.steps import Ask, Depth, Step

ROOT = Path(__file__).parents[2]
PERSONAS = ROOT / "personas"
STEPS = ROOT / "analysis-steps"
PLAYBOOK = load(PERSONAS, STEPS)
BY_ID = {step.step_id: step for step in PLAYBOOK.agenda.steps}

MAYA, ALEX, JORDAN = "business-analyst", "solutions-architect", "system-designer"
NAMES = {MAYA: "Maya Chen", ALEX: "Alex Rivera", JORDAN: "Jordan Park"}
PHASES = ("00-quick-scan", "01-requirements", "02-impact-analysis", "03-architecture", "04-design")
MODES = {Depth.BRIEF: "Brief Mode", Depth.STANDARD: "Standard Mode", Depth.DEEP: "Deep Mode"}
SECTIONS = [*MODES.values(), "Validation", "Artifacts"]

SCAN, SPEC, IMPACT, OVERVIEW = (
    "quick-scan.md",
    "requirements-spec.md",
    "impact-analysis.md",
    "architecture-overview.md",
)
MODULES, INTERFACES, FLOW = "module-design.md", "interface-spec.md", "data-flow.md"
ERRORS, SUMMARY = "error-taxonomy.md", "design-summary.md"
NFR, STORIES, TRACES = "nfr-matrix.md", "user-stories.json", "traceability-matrix.csv"

INVENTORY = [
    ("00-01", "01-scope-estimation", "Scope Estimation", MAYA, "standard", [SCAN], []),
    ("00-02", "02-keyword-search", "Keyword Search", MAYA, "brief", [SCAN], ["00-01"]),
    ("00-03", "03-file-count", "File Count Estimation", MAYA, "brief", [SCAN], ["00-02"]),
    ("01-01", "01-business-context", "Business Context Discovery", MAYA, "standard", [SPEC], []),
    ("01-02", "02-user-needs", "User Needs Discovery", MAYA, "standard", [SPEC], ["01-01"]),
    ("01-03", "03-ux-journey", "User Experience & Journeys", MAYA, "standard", [SPEC], ["01-02"]),
    ("01-04", "04-technical-context", "Technical Context", MAYA, "standard", [SPEC], ["01-01"]),
    ("01-05", "05-quality-risk", "Quality & Risk Assessment", MAYA, "standard", [SPEC, NFR], ["01-04"]),
    ("01-06", "06-feature-definition", "Core Feature Definition", MAYA, "deep", [SPEC], ["01-03"]),
    ("01-07", "07-user-stories", "User Story Writing", MAYA, "standard", [STORIES], ["01-06"]),
    ("01-08", "08-prioritization", "MoSCoW Prioritization", MAYA, "brief", [SPEC, TRACES], ["01-06"]),
    ("02-01", "01-blast-radius", "Blast Radius Assessment", ALEX, "standard", [IMPACT], []),
    ("02-02", "02-entry-points", "Entry Point Identification", ALEX, "standard", [IMPACT], ["02-01"]),
    ("02-03", "03-risk-zones", "Risk Zone Analysis", ALEX, "deep", [IMPACT], ["02-01"]),
    ("02-04", "04-impact-summary", "Impact Summary & User Review", ALEX, "brief", [IMPACT], ["02-03"]),
    ("03-01", "01-architecture-options", "Architecture Options & Tradeoffs", ALEX, "deep", [OVERVIEW], []),
    ("03-02", "02-technology-decisions", "Technology Decisions", ALEX, "standard", [OVERVIEW], ["03-01"]),
    ("03-03", "03-integration-design", "Integration Architecture", ALEX, "standard", [OVERVIEW], ["03-01"]),
    (
        "03-04",
        "04-architecture-review",
        "Architecture Review & Approval",
        ALEX,
        "brief",
        [OVERVIEW],
        ["03-03"],
    ),
    ("04-01", "01-module-design", "Module Design & Boundaries", JORDAN, "deep", [MODULES], []),
    ("04-02", "02-interface-contracts", "Interface Contracts", JORDAN, "deep", [INTERFACES], ["04-01"]),
    ("04-03", "03-data-flow", "Data Flow & State Management", JORDAN, "standard", [FLOW], ["04-01"]),
    ("04-04", "04-error-handling", "Error Handling & Validation", JORDAN, "standard", [ERRORS], ["04-02"]),
    ("04-05", "05-design-review", "Design Review & Approval", JORDAN, "brief", [SUMMARY], ["04-04"]),
]
STEP_IDS = [row[0] for row in INVENTORY]

OWNED = {
    ("00-01", SCAN): ["1. Scope"],
    ("00-02", SCAN): ["2. Keywords"],
    ("00-03", SCAN): ["3. File Count", "4. Final Scope"],
    ("01-01", SPEC): ["1. Business Context"],
    ("01-02", SPEC): ["2. Stakeholders and Personas"],
    ("01-03", SPEC): ["3. User Journeys"],
    ("01-04", SPEC): ["4. Technical Context"],
    ("01-05", SPEC): ["5. Quality Attributes & Risks"],
    ("01-06", SPEC): ["6. Functional Requirements", "7. Out of Scope"],
    ("01-08", SPEC): ["8. MoSCoW Prioritization"],
    ("02-01", IMPACT): ["1. Blast Radius"],
    ("02-02", IMPACT): ["2. Entry Points", "3. Implementation Order"],
    ("02-03", IMPACT): ["4. Risk Zones"],
    ("02-04", IMPACT): ["5. Summary", "6. Implementation Recommendations"],
    ("03-01", OVERVIEW): ["1. Architecture Options", "2. Selected Architecture"],
    ("03-02", OVERVIEW): ["3. Technology Decisions"],
    ("03-03", OVERVIEW): ["4. Integration Architecture"],
    ("03-04", OVERVIEW): ["5. Architecture Summary"],
    ("04-01", MODULES): ["1. Modules", "2. Boundaries"],
    ("04-02", INTERFACES): ["1. Interfaces", "2. Data Structures"],
    ("04-03", FLOW): ["1. Data Flow", "2. State"],
    ("04-04", ERRORS): ["1. Error Codes", "2. Validation Rules"],
    ("04-05", SUMMARY): ["1. Design Summary", "2. Open Questions"],
}

PLACEHOLDERS = {"item"}
"""What the bot knows without a model at every step. Anything else would be a blank."""

PROMISE = re.compile(r"\b(?:I'll|I will|we'll|I'd(?! like))\b", re.IGNORECASE)
BECOMES = re.compile(r" <!-- .+ -->$", re.MULTILINE)

DEPTH_WORDS = re.compile(
    r"\b(deep(er)?|more detail|dig in|thorough|full analysis|brief|skip ahead|keep it short|quick|fast|summarize)\b",
    re.IGNORECASE,
)
OPEN = re.compile(r"(What|How|Who|Where|Why|Which|Tell me about)\b")


@pytest.fixture(params=STEP_IDS)
def step(request: pytest.FixtureRequest) -> Step:
    return BY_ID[request.param]


@pytest.fixture(params=NAMES)
def persona(request: pytest.FixtureRequest) -> Persona:
    return PLAYBOOK.roster[request.param]


def body_of(step: Step) -> dict[str, str]:
    """The sections as people are shown them, independent of the loader."""
    text = BECOMES.sub("", (STEPS / step.phase_key / step.filename).read_text(encoding="utf-8"))
    _, *pieces = re.split(r"^## (.+)\n", text, flags=re.MULTILINE)
    return dict(zip(pieces[::2], (piece.strip() for piece in pieces[1::2]), strict=True))


def bullets(section: str) -> list[str]:
    return [line.removeprefix("- ") for line in section.splitlines() if line.startswith("- ")]


def numbered(mode: str) -> list[str]:
    return re.findall(r"^\d+\. (.+)$", mode, flags=re.MULTILINE)


# --- the set as a whole ----------------------------------------------------------------------------------------------


def test_everything_loads_without_a_word_of_complaint() -> None:
    """No id, lead or dependency out of its place, and no file beside those that count."""
    assert (PLAYBOOK.troubles, PLAYBOOK.notes) == ((), ())
    assert [persona.key for persona in PLAYBOOK.roster] == [MAYA, ALEX, JORDAN]
    assert {path.name for path in PERSONAS.glob("*.md")} == {f"{key}.md" for key in NAMES}
    assert len(list(STEPS.rglob("*.md"))) == len(INVENTORY)


def test_the_steps_are_those_of_the_inventory() -> None:
    """In its order: file, title, lead, default depth, outputs and dependencies."""
    found = [
        (one.step_id, one.filename.removesuffix(".md"), one.title, one.persona, one.depth, [*one.outputs],
         [*one.depends_on])
        for one in PLAYBOOK.agenda.steps
    ]  # fmt: skip
    assert found == INVENTORY


# --- each step -------------------------------------------------------------------------------------------------------


def test_every_mode_is_spoken_by_the_steps_own_lead(step: Step) -> None:
    """In five sections, so that nothing falls back to another mode; the loader hands a mode out as written."""
    sections = body_of(step)
    assert list(sections) == SECTIONS
    for depth, heading in MODES.items():
        mode = sections[heading]
        assert mode.startswith(f"{NAMES[step.persona]}: ")
        assert step.text_at(depth) == (mode.partition(": ")[2], False)
        assert list(step.questions_at(depth)) == numbered(mode)


def test_brief_is_one_question_and_what_else_matters(step: Step) -> None:
    """At most two sentences, one paragraph, no list: people can answer it between two meetings."""
    brief = body_of(step)["Brief Mode"]
    assert brief.endswith("? What else matters here?")
    assert "\n" not in brief
    assert len(brief) <= 280
    assert 1 <= len(re.findall(r"[.?!](?=\s|$)", brief)) <= 2
    assert not numbered(brief)


@pytest.mark.parametrize(("heading", "usual", "most"), [("Standard Mode", 3, 700), ("Deep Mode", 6, 1500)])
def test_standard_asks_three_open_questions_and_deep_six(
    step: Step, heading: str, usual: int, most: int
) -> None:
    """Keyword Search is lighter: two and four. Behind them stands at most an example of an answer."""
    mode = body_of(step)[heading]
    count = {3: 2, 6: 4}[usual] if step.step_id == "00-02" else usual
    assert re.findall(r"^(\d+)\. ", mode, flags=re.MULTILINE) == [str(n + 1) for n in range(count)]
    assert len(mode) <= most
    for question in numbered(mode):
        assert OPEN.match(question), question
        assert "?" in question or question.startswith("Tell me about"), question
    _, _, closing = mode.rpartition(f"{count}. ")[2].partition("\n\n")
    assert closing == "" or closing.startswith("For example:")
    assert "\n\n" not in closing


@pytest.mark.parametrize("heading", MODES.values())
def test_a_step_asks_and_promises_nothing(step: Step, heading: str) -> None:
    """No blank that the bot cannot fill, and no word that changes the depth where people echo it."""
    mode = body_of(step)[heading]
    assert PROMISE.findall(mode) == []
    assert set(re.findall(r"\{(.*?)\}", mode)) <= PLACEHOLDERS
    assert not DEPTH_WORDS.search(mode)


@pytest.mark.parametrize(
    ("step_id", "asks"),
    [
        (
            "00-01",
            {
                1: Ask(kind="estimate", field="change"),
                2: Ask(kind="estimate", field="scope"),
                3: Ask(kind="estimate", field="complexity"),
            },
        ),
        ("01-01", {1: Ask(kind="problem"), 2: Ask(kind="metric"), 3: Ask(kind="driver")}),
        ("01-02", {1: Ask(kind="user_type", is_list=True), 3: Ask(kind="user_type", is_list=True)}),
        ("01-03", {}),
        (
            "01-06",
            {
                1: Ask(kind="requirement", is_list=True),
                2: Ask(kind="criterion", is_list=True),
                3: Ask(kind="exclusion", is_list=True),
            },
        ),
        ("04-05", {2: Ask(kind="question", is_list=True)}),
    ],
)
def test_a_question_says_what_its_answer_becomes(step_id: str, asks: dict[int, Ask]) -> None:
    """In brief, which asks no question by number, the numbers are those of standard, which stand on the card."""
    assert BY_ID[step_id].asks_at(Depth.STANDARD) == BY_ID[step_id].asks_at(Depth.BRIEF) == asks


@pytest.mark.parametrize(
    ("step_id", "forms"),
    [
        ("00-01", ["Scope: medium", "Complexity: low"]),
        ("00-03", ["Files: 8"]),
        ("01-06", ["AC: ", "Out of scope: "]),
        ("01-07", ["As a ", " I want ", " so that ", "FR-001"]),
        ("01-08", ["Must: FR-001, FR-002"]),
    ],
)
@pytest.mark.parametrize("heading", ["Standard Mode", "Deep Mode"])
def test_people_learn_the_form_in_which_an_answer_becomes_data(
    step_id: str, forms: list[str], heading: str
) -> None:
    """Where answers are read by code, the question shows how to write them."""
    mode = body_of(BY_ID[step_id])[heading]
    assert [form for form in forms if form not in mode] == []


# --- validation ------------------------------------------------------------------------------------------------------


def test_every_rule_brings_its_follow_up_question(step: Step) -> None:
    """Three to five rules. The last one is of an edge case, with one phrase in quotes that gives it away."""
    rules = bullets(body_of(step)["Validation"])
    assert 3 <= len(rules) <= 5
    assert list(step.validation) == rules
    assert rules[-1].startswith("Edge case: ")
    for rule in rules:
        criterion, _, question = rule.partition(" -- ")
        assert criterion
        assert question.endswith("?")
        assert OPEN.match(question), question
        phrases = re.findall(r'"(.+?)"', rule)
        assert len(phrases) == rule.startswith("Edge case: ")
        assert all(re.fullmatch(r"[a-z][a-z -]{2,24}", phrase) for phrase in phrases)


def test_three_steps_insist_on_a_number() -> None:
    """The size, the success metric and the thresholds of quality; elsewhere words are enough."""
    insisting = re.compile("measurable|at least one number")
    found = [id for id, step in BY_ID.items() if insisting.search(str(step.validation))]
    assert found == ["00-03", "01-01", "01-05"]


# --- artifacts -------------------------------------------------------------------------------------------------------


def test_artifacts_speak_of_every_output_and_of_no_other_file(step: Step) -> None:
    """What a step promises to write is what it says how to write."""
    named = re.findall(r"^- Update `(.+?)` in .+:$", body_of(step)["Artifacts"], flags=re.MULTILINE)
    assert named == list(step.outputs)


def test_every_output_has_its_owners() -> None:
    """Numbered sections, without a gap from top to bottom; data and shared files as a whole."""
    owned = {(step.step_id, output): step.owned(output) for step in BY_ID.values() for output in step.outputs}
    by_section = {key: [*found] for key, found in owned.items() if found[0][0].isdigit()}
    assert by_section == OWNED
    assert owned.keys() - by_section.keys() == {("01-05", NFR), ("01-07", STORIES), ("01-08", TRACES)}


def test_shared_qualities_go_to_the_common_folder() -> None:
    """Only the quality table is shared between items."""
    assert "`nfr-matrix.md` in `docs/common/`" in body_of(BY_ID["01-05"])["Artifacts"]
    assert [step.step_id for step in BY_ID.values() if "docs/common" in body_of(step)["Artifacts"]] == [
        "01-05"
    ]


def test_data_files_state_their_shape() -> None:
    """Stories are JSON records, traceability is a table with five columns."""
    assert (
        "`{id, role, want, so_that, acceptance_criteria[], traces[]}`" in body_of(BY_ID["01-07"])["Artifacts"]
    )
    assert "`FR_ID,Title,AC_Count,Priority,User_Stories`" in body_of(BY_ID["01-08"])["Artifacts"]


# --- personas --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "name", "role", "short", "actor", "phases"),
    [
        (MAYA, "Maya Chen", "Business Analyst", "BA", "BusinessAnalyst", PHASES[:2]),
        (ALEX, "Alex Rivera", "Solutions Architect", "Architect", "SolutionsArchitect", PHASES[2:4]),
        (JORDAN, "Jordan Park", "System Designer", "Designer", "InterfaceDesigner", PHASES[4:]),
    ],
)
def test_who_the_personas_are(
    key: str, name: str, role: str, short: str, actor: str, phases: tuple[str, ...]
) -> None:
    """Names, roles, transcript actors, and the phases that they lead: each has one lead."""
    persona = PLAYBOOK.roster[key]
    assert (persona.name, persona.role, persona.short, persona.actor) == (name, role, short, actor)
    assert persona.phases == phases


def test_a_persona_is_complete(persona: Persona) -> None:
    """Nothing is left to defaults: style, lens, face, four titled principles, dos and don'ts."""
    assert persona.style
    assert persona.lens
    assert re.fullmatch(r":[a-z_]+:", persona.icon)
    assert len(persona.principles) == 4
    assert all(principle.title and principle.text for principle in persona.principles)
    assert len(persona.looks_for) == 3
    assert len(persona.changes_my_mind) == 2
    assert len(persona.does_not) == 3


def test_no_two_personas_can_be_taken_for_each_other() -> None:
    """Faces, lenses and principles are nobody else's."""
    everyone = list(PLAYBOOK.roster)
    assert len({persona.icon for persona in everyone}) == len({persona.lens for persona in everyone}) == 3
    titles = [principle.title for persona in everyone for principle in persona.principles]
    assert len(set(titles)) == len(titles)
