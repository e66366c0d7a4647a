"""Step files: what loads, and which code and sentence each bad one gets."""

import os
from pathlib import Path
from typing import Any

import pytest

from bot.content import load
from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.steps import Depth, StepHeading
from bot.errors import ContentError
from bot.shipped import personas_dir

REQUIREMENTS = "01-requirements"
FRONT = {
    "step_id": '"01-01"',
    "title": '"Business Context"',
    "persona": '"business-analyst"',
    "depth": '"standard"',
    "outputs": '["requirements-spec.md"]',
}
BODY = "## Standard Mode\n\nMaya Chen: Hello.\n\n1. What hurts?\n"


def text_of(body: str = BODY, /, **changes: str | None) -> str:
    """A good step file with some front matter changed, as YAML; None leaves a field out."""
    fields = {name: value for name, value in (FRONT | changes).items() if value is not None}
    return "---\n" + "".join(f"{name}: {value}\n" for name, value in fields.items()) + f"---\n\n{body}"


@pytest.fixture
def personas(tmp_path: Path) -> Path:
    folder = tmp_path / "personas"
    folder.mkdir()
    (folder / "maya.md").write_text(
        "---\nkey: business-analyst\nname: Maya Chen\nrole: Business Analyst\n---\n"
    )
    return folder


@pytest.fixture
def steps(tmp_path: Path) -> Path:
    folder = tmp_path / "analysis-steps" / REQUIREMENTS
    folder.mkdir(parents=True)
    return folder.parent


class Reader:
    """Writes step files and reads them back; knows only about the requirements phase."""

    def __init__(self, personas: Path, steps: Path) -> None:
        self._personas = personas
        self.steps = steps

    def path(self, name: str = "01-a.md", *, phase: str = REQUIREMENTS) -> Path:
        (self.steps / phase).mkdir(exist_ok=True)
        return self.steps / phase / name

    def write(self, text: str | bytes, name: str = "01-a.md", *, phase: str = REQUIREMENTS) -> None:
        self.path(name, phase=phase).write_bytes(text.encode() if isinstance(text, str) else text)

    def read(self) -> Playbook:
        return load(self._personas, self.steps)

    def refused(self) -> tuple[str, str]:
        """Code and sentence of the one trouble in this phase, and no step there."""
        playbook = self.read()
        assert playbook.agenda.steps_of(REQUIREMENTS) == ()
        [trouble] = playbook.troubles_of(REQUIREMENTS)
        return trouble.code, trouble.sentence


@pytest.fixture
def reader(personas: Path, steps: Path) -> Reader:
    return Reader(personas, steps)


def test_a_good_file_becomes_a_step(reader: Reader) -> None:
    """Front matter, sections, and where it came from."""
    body = "## Brief Mode\nShort.\n## Standard Mode\nLong.\n## Validation\n- ok\n"
    reader.write(text_of(body, depends_on='["00-01"]', skip_if="\"scope === 'small'\"", depth="deep"))

    playbook = reader.read()

    [step] = playbook.agenda.steps
    assert (step.step_id, step.title, step.persona) == ("01-01", "Business Context", "business-analyst")
    assert step.depth is Depth.DEEP
    assert step.outputs == ("requirements-spec.md",)
    assert step.depends_on == ("00-01",)
    assert step.skip_if == "scope === 'small'"
    assert (step.phase_key, step.filename) == (REQUIREMENTS, "01-a.md")
    assert step.sections == {
        StepHeading.BRIEF: "Short.",
        StepHeading.STANDARD: "Long.",
        StepHeading.VALIDATION: "- ok",
    }
    assert step.body == body.strip("\n")
    assert playbook.troubles_of(REQUIREMENTS) == ()


def test_quotes_are_a_matter_of_taste(reader: Reader) -> None:
    """`01-02` is an id and not a date, `no` is a title and not a boolean, lists have two notations."""
    reader.write(
        text_of(step_id="01-02", title="no", persona="business-analyst", depth="brief", outputs="\n  - 12.md")
    )

    [step] = reader.read().agenda.steps
    assert (step.step_id, step.title, step.depth, step.outputs) == ("01-02", "no", Depth.BRIEF, ("12.md",))


def test_windows_wrote_it(reader: Reader) -> None:
    """A byte order mark and carriage returns are not content."""
    reader.write(b"\xef\xbb\xbf" + text_of().replace("\n", "\r\n").encode())

    [step] = reader.read().agenda.steps
    assert step.questions_at(Depth.STANDARD) == ("What hurts?",)


def test_headings_are_known_in_any_case(reader: Reader) -> None:
    """Unknown ones belong to the section they stand in, and of two the first counts."""
    reader.write(
        text_of("##  standard mode ##\nA\n## Aside\nB\n##Deep Mode\n## DEEP MODE\nC\n## Deep mode\nD")
    )

    [step] = reader.read().agenda.steps
    assert step.sections == {StepHeading.STANDARD: "A\n## Aside\nB\n##Deep Mode", StepHeading.DEEP: "C"}


@pytest.mark.parametrize("fence", ["```", "~~~~", "  ```"])
def test_a_heading_in_code_is_no_heading(reader: Reader, fence: str) -> None:
    """An author may show what a step file looks like; what is shown is a part of what is said."""
    example = f"{fence}markdown\n## Standard Mode\nShown.\n## Deep Mode\n{fence}"
    reader.write(text_of(f"## Brief Mode\nBefore.\n{example}\n## Standard Mode\nSaid."))

    [step] = reader.read().agenda.steps
    assert step.sections == {StepHeading.BRIEF: f"Before.\n{example}", StepHeading.STANDARD: "Said."}


def test_fences_close_what_they_opened(reader: Reader) -> None:
    """Three backticks inside tildes, or inside four backticks, are code too."""
    code = "~~~\n```\n## Deep Mode\n~~~\n````\n```\n## Deep Mode\n````"
    reader.write(text_of(f"## Standard Mode\n{code}\n## Deep Mode\nA"))

    [step] = reader.read().agenda.steps
    assert step.sections == {StepHeading.STANDARD: code, StepHeading.DEEP: "A"}


def test_a_fence_that_nobody_closed_hides_nothing(reader: Reader) -> None:
    """One slip must not swallow every mode after it."""
    reader.write(text_of("## Brief Mode\n```\nA\n## Standard Mode\nB"))

    [step] = reader.read().agenda.steps
    assert step.sections == {StepHeading.BRIEF: "```\nA", StepHeading.STANDARD: "B"}


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("Zoë Lin: Hi.", "Hi."),
        ("Zoë Lin (Owner): Hi.", "Hi."),
        ("Maya Chen: Hi.", "Hi."),
        ("Alex Rivera: Hi.", "Hi."),
        ("Priya Shah: Hi.", "Priya Shah: Hi."),
        ("Use Cases: think of three.", "Use Cases: think of three."),
    ],
)
def test_only_a_speakers_name_is_taken_off(reader: Reader, personas: Path, written: str, said: str) -> None:
    """
    Of those at the table, and of the three for whom the format was made: their files come with their names, whoever
    sits here. Of any other name nothing is known, so it stays.
    """
    (personas / "maya.md").write_text(
        "---\nkey: business-analyst\nname: Zoë Lin\nrole: Owner\n---\n", encoding="utf-8"
    )
    reader.write(text_of(f"## Standard Mode\n\n{written}\n"))
    reader.write(text_of(written, step_id="01-02"), "02-b.md")

    with_mode, without = reader.read().agenda.steps
    assert with_mode.text_at(Depth.STANDARD) == (said, False)
    assert without.text_at(Depth.STANDARD) == (said, True)
    assert with_mode.sections == {StepHeading.STANDARD: written}


def test_fields_of_later_formats_do_no_harm(reader: Reader) -> None:
    """They are passed over."""
    reader.write(text_of(research="true", brainstorm="false", anything="[1, {a: b}]"))

    assert len(reader.read().agenda.steps) == 1


# --- ERR-STEP-003: unreadable ---------------------------------------------------------------------------------------

UNREADABLE = ("ERR-STEP-003", "Warning: Step file 01-a.md could not be read. Skipping.")


def test_a_file_that_is_not_utf8_is_skipped(reader: Reader) -> None:
    """ERR-STEP-003."""
    reader.write(text_of().encode("utf-16"))

    assert reader.refused() == UNREADABLE


def test_a_file_that_is_too_large_is_skipped(reader: Reader) -> None:
    """ERR-STEP-003, from 64 KB on."""
    reader.write(text_of("x" * 65_536))

    assert reader.refused() == UNREADABLE


def test_a_folder_that_is_called_like_a_file_is_skipped(reader: Reader) -> None:
    """ERR-STEP-003."""
    reader.path().mkdir()

    assert reader.refused() == UNREADABLE


def test_a_link_that_leads_to_itself_is_skipped(reader: Reader) -> None:
    """ERR-STEP-003."""
    reader.path().symlink_to("01-a.md")

    assert reader.refused() == UNREADABLE


def test_a_link_that_leads_nowhere_is_skipped(reader: Reader) -> None:
    """ERR-STEP-003."""
    reader.path().symlink_to("gone.md")

    assert reader.refused() == UNREADABLE


def test_a_pipe_is_skipped_and_not_waited_for(reader: Reader) -> None:
    """ERR-STEP-003: nobody will ever write into it."""
    os.mkfifo(reader.path())

    assert reader.refused() == UNREADABLE


def test_an_endless_file_is_skipped(reader: Reader) -> None:
    """ERR-STEP-003."""
    reader.path().symlink_to("/dev/zero")

    assert reader.refused() == UNREADABLE


def test_a_file_that_may_not_be_read_is_skipped(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    """ERR-STEP-003; the refusal is played, because root may read everything."""
    reader.write(text_of())
    opened = os.open

    def guarded(path: str | Path, *args: Any, **kwargs: Any) -> int:
        if Path(path).name == reader.path().name:
            raise PermissionError
        return opened(path, *args, **kwargs)

    monkeypatch.setattr(os, "open", guarded)

    assert reader.refused() == UNREADABLE


def test_a_name_that_is_not_utf8_can_still_be_told(reader: Reader) -> None:
    """Unix allows any bytes in a name; a sentence does not."""
    reader.path(os.fsdecode(b"01-\xff.md")).write_bytes(b"")

    assert reader.refused() == (
        "ERR-STEP-004",
        "Warning: Step file 01-?.md has invalid frontmatter. Skipping.",
    )


# --- ERR-STEP-004: front matter -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# No front matter",
        "\n" + text_of(),
        "---\nstep_id: 01-01\n",
        text_of(title='"unclosed'),
        text_of(outputs="[unclosed"),
        text_of(title="a: b"),
        text_of(title="&a x"),
        text_of(title="!!str x"),
        "---\n- a list\n---\n",
        text_of().replace("title:", 'step_id: "01-02"\ntitle:'),
        "---\n" + "[" * 60_000 + "\n---\n",
    ],
)
def test_bad_front_matter_is_skipped(reader: Reader, text: str) -> None:
    """ERR-STEP-004: none, not closed, not YAML, not plain, or with doubled fields."""
    reader.write(text)

    assert reader.refused() == (
        "ERR-STEP-004",
        "Warning: Step file 01-a.md has invalid frontmatter. Skipping.",
    )


# --- ERR-STEP-005: missing fields -----------------------------------------------------------------------------------


@pytest.mark.parametrize("field", ["step_id", "title", "persona", "depth", "outputs"])
@pytest.mark.parametrize("value", [None, "", "~"])
def test_a_missing_field_is_named(reader: Reader, field: str, value: str | None) -> None:
    """ERR-STEP-005, left out or left empty."""
    reader.write(text_of(**{field: value}))

    assert reader.refused() == (
        "ERR-STEP-005",
        f"Warning: Step file 01-a.md is missing required field '{field}'. Skipping.",
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x", "the lines with --- around the front matter are missing"),
        (text_of(depth="thorough"), "it has to be brief, standard or deep"),
        (text_of(outputs="[/etc/passwd]"), "not a plain path inside the item's folder"),
        (text_of(persona="BA"), "no persona has this key"),
    ],
)
def test_the_log_says_where_and_why(reader: Reader, text: str, reason: str) -> None:
    """The sentence for people is the taxonomy's; whoever mends the file learns more."""
    reader.write(text)

    [told] = reader.read().troubles_of(REQUIREMENTS)
    assert told.log.endswith(f"Skipping. ({reason})")
    assert "Step file 01-requirements/01-a.md " in told.log


@pytest.mark.parametrize("field", ["step_id", "title", "persona", "depth"])
def test_an_empty_text_is_missing_too(reader: Reader, field: str) -> None:
    """ERR-STEP-005."""
    reader.write(text_of(**{field: '" "'}))

    assert reader.refused()[0] == "ERR-STEP-005"


# --- ERR-STEP-006: bad values ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("step_id", "abc", "abc"),
        ("step_id", '"0-01"', "0-01"),
        ("step_id", "00_01", "00_01"),
        ("step_id", "000-001", "000-001"),
        ("title", "x" * 61, "x" * 61),
        ("title", "[a, b]", "['a', 'b']"),
        ("persona", "BA", "BA"),
        ("persona", "product-manager", "product-manager"),
        ("depth", "thorough", "thorough"),
        ("depth", "shallow", "shallow"),
        ("outputs", "quick-scan.md", "quick-scan.md"),
        ("outputs", '""', ""),
        ("outputs", "7", "7"),
        ("outputs", "[]", "[]"),
        ("outputs", "{a: b}", "{'a': 'b'}"),
        ("outputs", "[a.md, '']", ""),
        ("outputs", "[a.md, ~]", "None"),
        ("outputs", "[../../etc/passwd]", "../../etc/passwd"),
        ("outputs", "[/etc/passwd]", "/etc/passwd"),
        ("outputs", "[meta.json]", "meta.json"),
        ("outputs", "[planning/meeting.jsonl]", "planning/meeting.jsonl"),
    ],
)
def test_a_bad_value_is_named(reader: Reader, field: str, value: str, told: str) -> None:
    """ERR-STEP-006, with the field and what stood there."""
    reader.write(text_of(**{field: value}))

    assert reader.refused() == (
        "ERR-STEP-006",
        f"Warning: Step file 01-a.md has invalid value for '{field}': '{told}'. Skipping.",
    )


def test_a_title_may_have_60_characters(reader: Reader) -> None:
    """61 are too many."""
    reader.write(text_of(title="x" * 60))

    assert len(reader.read().agenda.steps) == 1


def test_of_two_steps_with_one_id_the_first_stays(reader: Reader) -> None:
    """By path, across phases; the later one is skipped with ERR-STEP-006."""
    reader.write(text_of(title="First"), "02-z.md", phase="00-quick-scan")
    reader.write(text_of(title="Second"), "01-a.md")

    playbook = reader.read()

    assert [step.title for step in playbook.agenda.steps] == ["First"]
    [told] = playbook.troubles_of(REQUIREMENTS)
    assert told.sentence == "Warning: Step file 01-a.md has invalid value for 'step_id': '01-01'. Skipping."
    assert told.log.endswith("(00-quick-scan/02-z.md has it already)")
    assert playbook.notes == (
        "VR-STEP-008 Step 01-01 is in 00-quick-scan/02-z.md, and belongs into 01-…/01-….md.",
    )


def test_a_persona_of_ones_own_may_lead_a_step(reader: Reader, personas: Path) -> None:
    """Whoever sits at the table."""
    (personas / "zoe.md").write_text("---\nkey: release-captain\nname: Zoë\nrole: Captain\n---\n", "utf-8")
    reader.write(text_of(persona="release-captain"))

    assert reader.read().agenda.step("01-01").persona == "release-captain"


# --- ERR-STEP-009 and notes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("condition", ['"scope =="', "\"risk == 'low'\"", '"small"', '"scope < 3"'])
def test_a_bad_condition_is_reported_and_the_step_stays(reader: Reader, condition: str) -> None:
    """ERR-STEP-009, already when the file is loaded, with the reason for those who check."""
    reader.write(text_of(skip_if=condition))

    playbook = reader.read()

    [step] = playbook.agenda.steps
    [told] = [trouble for trouble in playbook.troubles if trouble.code == "ERR-STEP-009"]
    assert told.sentence == (
        f"Warning: Step 01-01 has an invalid skip_if condition: '{step.skip_if}'. Executing step normally."
    )
    assert told.facts["reason"]
    assert told.facts["phase_key"] == REQUIREMENTS


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("depends_on", "00-01"),
        ("depends_on", "{a: b}"),
        ("depends_on", "[[00-01]]"),
        ("depends_on", "[~]"),
        ("skip_if", "42"),
        ("skip_if", "true"),
        ("skip_if", "[scope]"),
    ],
)
def test_an_optional_field_of_the_wrong_kind_is_ignored(reader: Reader, field: str, value: str) -> None:
    """The log says so, the step runs as if it were not there."""
    reader.write(text_of(**{field: value}))

    playbook = reader.read()

    [step] = playbook.agenda.steps
    assert (step.depends_on, step.skip_if) == ((), "")
    assert playbook.notes == (f"Invalid {field} in 01-requirements/01-a.md. Ignoring.",)


@pytest.mark.parametrize("nothing", ["", "~", "[]", '""'])
def test_optional_fields_may_be_empty(reader: Reader, nothing: str) -> None:
    """That is the same as leaving them out."""
    fields = {"depends_on": nothing} if nothing != '""' else {"skip_if": nothing}
    reader.write(text_of(**fields))

    playbook = reader.read()

    assert len(playbook.agenda.steps) == 1
    assert playbook.notes == ()


def test_a_quoted_word_is_a_condition(reader: Reader) -> None:
    """`"true"` in quotes is an expression; `true` without them is a boolean."""
    reader.write(text_of(skip_if='"true"'))

    assert reader.read().agenda.step("01-01").skip_if == "true"


@pytest.mark.parametrize(
    ("step_id", "name", "belongs"),
    [
        ("01-01", "02-a.md", "01-…/01-….md"),
        ("02-01", "01-a.md", "02-…/01-….md"),
        ("01-01", "a.md", "01-…/01-….md"),
    ],
)
def test_a_step_in_an_odd_place_is_noted_and_runs(
    reader: Reader, step_id: str, name: str, belongs: str
) -> None:
    """VR-STEP-008: its id should match its folder and its file."""
    reader.write(text_of(step_id=step_id), name)

    playbook = reader.read()

    assert [step.step_id for step in playbook.agenda.steps_of(REQUIREMENTS)] == [step_id]
    assert playbook.notes == (
        f"VR-STEP-008 Step {step_id} is in {REQUIREMENTS}/{name}, and belongs into {belongs}.",
    )


def test_a_step_without_standard_mode_is_noted_and_runs(reader: Reader) -> None:
    """VR-STEP-010: its whole body is what will be said."""
    reader.write(text_of("Only this."))

    playbook = reader.read()

    assert playbook.agenda.step("01-01").text_at(Depth.STANDARD) == ("Only this.", True)
    assert playbook.notes == (
        "VR-STEP-010 01-requirements/01-a.md has no Standard Mode section, so all of it is shown.",
    )


def test_a_dependency_that_cannot_be_met_is_noted(reader: Reader) -> None:
    """Nobody's id, a later step's, or the step's own: circles always hold one of these."""
    reader.write(text_of(depends_on="[09-09, 01-02, 01-01]"))
    reader.write(text_of(step_id="01-02", depends_on="[01-01]"), "02-b.md")

    assert reader.read().notes == (
        "Step 01-01 depends on 09-09, which does not exist.",
        "Step 01-01 depends on 01-02, which comes later.",
        "Step 01-01 depends on 01-01, which comes later.",
    )


# --- folders --------------------------------------------------------------------------------------------------------


def test_a_missing_phase_is_told(reader: Reader) -> None:
    """ERR-STEP-001: the phase completes without steps."""
    [told] = reader.read().troubles_of("04-design")

    assert told.code == "ERR-STEP-001"
    assert told.sentence == (
        "No step files found for phase 04-design. Completing phase without interactive steps."
    )


def test_an_empty_phase_is_told(reader: Reader) -> None:
    """ERR-STEP-002, in the same words; other files and hidden ones do not count."""
    reader.write("x", "notes.txt")
    reader.write("x", ".01-a.md")

    code, sentence = reader.refused()

    assert code == "ERR-STEP-002"
    assert sentence.startswith("No step files found for phase 01-requirements.")


def test_a_phase_that_is_a_file_is_missing(reader: Reader) -> None:
    """ERR-STEP-001."""
    (reader.steps / "04-design").write_text("x")

    assert [told.code for told in reader.read().troubles_of("04-design")] == ["ERR-STEP-001"]


def test_a_folder_makes_a_phase(reader: Reader) -> None:
    """Whatever is called `NN-name` and is a folder; its steps come in their place."""
    reader.write(text_of(step_id="05-01"), phase="05-rollout")
    reader.write(text_of(step_id="00-07"), "07-a.md", phase="00-quick-scan")
    (reader.steps / "06-not-a-folder").write_text("x")
    (reader.steps / "drafts").mkdir()

    agenda = reader.read().agenda

    assert [phase.key for phase in agenda.phases][-2:] == ["04-design", "05-rollout"]
    assert [step.step_id for step in agenda.steps] == ["00-07", "05-01"]


def test_steps_run_in_the_order_of_their_file_names(reader: Reader) -> None:
    """Whatever their ids say."""
    reader.write(text_of(step_id="01-09"), "01-a.md")
    reader.write(text_of(step_id="01-01"), "02-b.md")

    assert [step.step_id for step in reader.read().agenda.steps] == ["01-09", "01-01"]


def test_an_edited_file_is_picked_up(reader: Reader) -> None:
    """Nothing is remembered between two readings (NFR-004)."""
    reader.write(text_of(title="Before"))
    before = reader.read()
    reader.write(text_of(title="After"))

    assert before.agenda.step("01-01").title == "Before"
    assert reader.read().agenda.step("01-01").title == "After"


def test_without_the_folder_of_steps_nothing_starts(personas: Path, tmp_path: Path) -> None:
    """One clear sentence that names the folder."""
    with pytest.raises(ContentError, match=r"There is no folder of step files at .*nowhere\."):
        load(personas, tmp_path / "nowhere")


# --- links ------------------------------------------------------------------------------------------------------------


def test_a_folder_of_links_is_read_as_kubernetes_mounts_it(tmp_path: Path) -> None:
    """Every file of a ConfigMap is a link to `..data/`, which is one to the newest version."""
    newest = tmp_path / "..2026_11_21"
    (newest / REQUIREMENTS).mkdir(parents=True)
    (newest / "maya.md").write_text((personas_dir() / "business-analyst.md").read_text())
    (newest / REQUIREMENTS / "01-a.md").write_text(text_of())
    (tmp_path / "..data").symlink_to(newest.name)
    for name in ("maya.md", REQUIREMENTS):
        (tmp_path / name).symlink_to(f"..data/{name}")

    playbook = load(tmp_path, tmp_path)

    assert [one.key for one in playbook.roster] == ["business-analyst"]
    assert [one.filename for one in playbook.agenda.steps_of(REQUIREMENTS)] == ["01-a.md"]


def test_in_the_workspace_no_link_is_followed(tmp_path: Path) -> None:
    """Others push there: neither a file nor a folder leads anywhere else."""
    outside, workspace = tmp_path / "outside", tmp_path / "workspace"
    for folder in (outside, workspace / "personas"):
        folder.mkdir(parents=True)
        (folder / "maya.md").write_text((personas_dir() / "business-analyst.md").read_text())
    (outside / "01-a.md").write_text(text_of())
    (workspace / "steps" / REQUIREMENTS).mkdir(parents=True)
    (workspace / "steps" / REQUIREMENTS / "01-a.md").symlink_to(outside / "01-a.md")
    (workspace / "steps/05-outside").symlink_to(outside)

    playbook = load(workspace / "personas", workspace / "steps", workspace=workspace)
    assert playbook.agenda.steps == ()
    assert [one.code for one in playbook.troubles_of(REQUIREMENTS)] == ["ERR-STEP-003"]
    assert "05-outside" not in [phase.key for phase in playbook.agenda.phases]

    (workspace / "linked").symlink_to(outside)
    with pytest.raises(ContentError):
        load(workspace / "linked", workspace / "steps", workspace=workspace)
