"""Step files: what loads, and which code and sentence each bad one gets."""

import os
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from bot.content.playbook import load
from bot.domain.catalog.steps import Ask, Depth, StepHeading
from bot.errors import ContentError
from bot.shipped import personas_dir
from tests.content.folders import FRONT, REQUIREMENTS, Folders, text_of


def test_a_good_file_becomes_a_step(folders: Folders) -> None:
    """Front matter, sections, and where it came from."""
    body = "## Brief Mode\nShort.\n## Standard Mode\nLong.\n## Validation\n- ok\n"
    folders.write(text_of(body, depends_on='["00-01"]', skip_if="\"scope === 'small'\"", depth="deep"))

    playbook = folders.read()

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


SHOWN = "{0}markdown\n## Standard Mode\nShown.\n## Deep Mode\n{0}"
CODE = "~~~\n```\n## Deep Mode\n~~~\n````\n```\n## Deep Mode\n````"
SECTIONS: dict[str, tuple[str, dict[StepHeading, str]]] = {
    "headings in any case, unknown ones, and one that is there twice": (
        "##  standard mode ##\nA\n## Aside\nB\n##Deep Mode\n## DEEP MODE\nC\n## Deep mode\nD",
        {StepHeading.STANDARD: "A\n## Aside\nB\n##Deep Mode", StepHeading.DEEP: "C"},
    ),
    **{
        f"a heading in code between {fence}": (
            f"## Brief Mode\nBefore.\n{SHOWN.format(fence)}\n## Standard Mode\nSaid.",
            {StepHeading.BRIEF: f"Before.\n{SHOWN.format(fence)}", StepHeading.STANDARD: "Said."},
        )
        for fence in ("```", "~~~~", "  ```")
    },
    "fences inside of other fences": (
        f"## Standard Mode\n{CODE}\n## Deep Mode\nA", {StepHeading.STANDARD: CODE, StepHeading.DEEP: "A"},
    ),
    "a fence that is not closed": (
        "## Brief Mode\n```\nA\n## Standard Mode\nB", {StepHeading.BRIEF: "```\nA", StepHeading.STANDARD: "B"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", SECTIONS)
def test_a_heading_begins_a_section(folders: Folders, kind: str) -> None:
    """What is shown in code is a part of what is said, and one slip does not swallow every mode after it."""
    body, sections = SECTIONS[kind]
    folders.write(text_of(body))

    [step] = folders.read().agenda.steps
    assert step.sections == sections


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
def test_only_a_speakers_name_is_taken_off(folders: Folders, written: str, said: str) -> None:
    """
    Of those at the table, and of the three for whom the format was made: their files come with their names, whoever
    sits here. Of any other name nothing is known, so it stays.
    """
    folders.write_persona("key: business-analyst\nname: Zoë Lin\nrole: Owner\n")
    folders.write(text_of(f"## Standard Mode\n\n{written}\n"))
    folders.write(text_of(written, step_id="01-02"), "02-b.md")

    with_mode, without = folders.read().agenda.steps
    assert with_mode.text_at(Depth.STANDARD) == (said, False)
    assert without.text_at(Depth.STANDARD) == (said, True)
    assert with_mode.sections == {StepHeading.STANDARD: written}


# --- what an answer becomes -------------------------------------------------------------------------------------------


def test_a_comment_behind_a_question_says_what_its_answer_becomes(folders: Folders) -> None:
    """People never see it; a question without one keeps its answer as a note, as before."""
    asked = "1. Why? <!-- problem -->\n2. How big? <!--estimate.scope-->\n3) What?\n4. Risks?  <!-- list risk -->  "
    folders.write(text_of(f"## Standard Mode\n\nMaya Chen: Hello.\n\n{asked}\n\n## Deep Mode\n\n1. Who?\n"))

    playbook = folders.read()

    [step] = playbook.agenda.steps
    assert step.text_at(Depth.STANDARD) == ("Hello.\n\n1. Why?\n2. How big?\n3) What?\n4. Risks?", False)
    assert "<!--" not in step.body
    assert step.asks_at(Depth.STANDARD) == {
        1: Ask(kind="problem"),
        2: Ask(kind="estimate", field="scope"),
        4: Ask(kind="risk", is_list=True),
    }
    assert step.asks_at(Depth.BRIEF) == step.asks_at(Depth.STANDARD)
    assert step.asks_at(Depth.DEEP) == {}
    assert list(playbook.notes) == []


def test_comments_elsewhere_stay_as_they_are(folders: Folders) -> None:
    """In code, in the middle of a line, or not closed: files of the original format may have them."""
    body = "```\n1. Why? <!-- problem -->\n```\n1. Why <!-- really --> now?\n2. Who? <!-- problem"
    folders.write(text_of(f"## Standard Mode\n\n{body}\n"))

    [step] = folders.read().agenda.steps
    assert step.text_at(Depth.STANDARD) == (body, False)
    assert step.asks_at(Depth.STANDARD) == {}


def test_fields_of_later_formats_do_no_harm(folders: Folders) -> None:
    """They are passed over. A title may have 60 characters."""
    folders.write(text_of(title="x" * 60, research="true", brainstorm="false", anything="[1, {a: b}]"))

    assert len(folders.read().agenda.steps) == 1


# --- ERR-STEP-003: unreadable ---------------------------------------------------------------------------------------

UNREADABLE = ("ERR-STEP-003", "Warning: Step file 01-a.md could not be read. Skipping.")


UNREADABLE_FILES: dict[str, Callable[[Folders], object]] = {
    "not UTF-8": lambda folders: folders.write(text_of().encode("utf-16")),
    "more than 64 KB": lambda folders: folders.write(text_of("x" * 65_536)),
    "a folder": lambda folders: folders.path().mkdir(),
    "a link to itself": lambda folders: folders.path().symlink_to("01-a.md"),
    "a link to nothing": lambda folders: folders.path().symlink_to("gone.md"),
    "a pipe": lambda folders: os.mkfifo(folders.path()),
    "endless": lambda folders: folders.path().symlink_to("/dev/zero"),
}


@pytest.mark.parametrize("kind", UNREADABLE_FILES)
def test_a_file_that_cannot_be_read_is_skipped(folders: Folders, kind: str) -> None:
    """ERR-STEP-003; a pipe is not waited for."""
    UNREADABLE_FILES[kind](folders)

    assert folders.refused() == UNREADABLE


def test_a_file_that_may_not_be_read_is_skipped(folders: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    """ERR-STEP-003; the refusal is played, because root may read everything."""
    folders.write(text_of())
    opened = os.open

    def guarded(path: str | Path, *args: Any, **kwargs: Any) -> int:
        if Path(path).name == folders.path().name:
            raise PermissionError
        return opened(path, *args, **kwargs)

    monkeypatch.setattr(os, "open", guarded)

    assert folders.refused() == UNREADABLE


# --- front matter, missing fields, bad values -------------------------------------------------------------------------

NO_FRONT = "ERR-STEP-004", "Warning: Step file {} has invalid frontmatter. Skipping."
MISSING = "ERR-STEP-005", "Warning: Step file 01-a.md is missing required field '{}'. Skipping."
INVALID = "ERR-STEP-006", "Warning: Step file 01-a.md has invalid value for '{}': '{}'. Skipping."


def test_a_name_that_is_not_utf8_can_still_be_told(folders: Folders) -> None:
    """Unix allows any bytes in a name; a sentence does not."""
    folders.path(os.fsdecode(b"01-\xff.md")).write_bytes(b"")

    assert folders.refused() == (NO_FRONT[0], NO_FRONT[1].format("01-?.md"))


@pytest.mark.parametrize(
    "text",
    [
        "# No front matter",
        text_of(title='"unclosed'),
        text_of().replace("title:", 'step_id: "01-02"\ntitle:'),
    ],
)
def test_bad_front_matter_is_skipped(folders: Folders, text: str) -> None:
    """None, not YAML, or with doubled fields; test_frontmatter.py has all else."""
    folders.write(text)

    assert folders.refused() == (NO_FRONT[0], NO_FRONT[1].format("01-a.md"))


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        *((field, value, None) for field, value in product(FRONT, (None, "", "~"))),
        *((field, '" "', None) for field in ("step_id", "title", "persona", "depth")),
        ("step_id", "abc", "abc"),
        ("step_id", '"0-01"', "0-01"),
        ("step_id", "00_01", "00_01"),
        ("step_id", "000-001", "000-001"),
        ("step_id", "\u0660\u0661-\u0660\u0662", "\u0660\u0661-\u0660\u0662"),
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
def test_a_missing_field_or_a_bad_value_is_named(
    folders: Folders, field: str, value: str | None, told: str | None
) -> None:
    """With what stood there; empty is the same as left out."""
    folders.write(text_of(**{field: value}))

    code, sentence = MISSING if told is None else INVALID
    assert folders.refused() == (code, sentence.format(field, told))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x", "the lines with --- around the front matter are missing"),
        (text_of(depth="thorough"), "it has to be brief, standard or deep"),
        (text_of(outputs="[/etc/passwd]"), "not a plain path inside the item's folder"),
        (text_of(persona="BA"), "no persona has this key"),
    ],
)
def test_the_log_says_where_and_why(folders: Folders, text: str, reason: str) -> None:
    """The sentence for people is the taxonomy's; whoever mends the file learns more."""
    folders.write(text)

    [told] = folders.read().troubles_of(REQUIREMENTS)
    assert told.log.endswith(f"Skipping. ({reason})")
    assert "Step file 01-requirements/01-a.md " in told.log


def test_of_two_steps_with_one_id_the_first_stays(folders: Folders) -> None:
    """By path, across phases; the later one is skipped with ERR-STEP-006."""
    folders.write(text_of(title="First"), "02-z.md", phase="00-quick-scan")
    folders.write(text_of(title="Second"), "01-a.md")

    playbook = folders.read()

    assert [step.title for step in playbook.agenda.steps] == ["First"]
    [told] = playbook.troubles_of(REQUIREMENTS)
    assert told.sentence == "Warning: Step file 01-a.md has invalid value for 'step_id': '01-01'. Skipping."
    assert told.log.endswith("(00-quick-scan/02-z.md has it already)")
    assert playbook.notes == (
        "VR-STEP-008 Step 01-01 is in 00-quick-scan/02-z.md, and belongs into 01-…/01-….md.",
    )


# --- ERR-STEP-009 and notes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("condition", ['"scope =="', "\"risk == 'low'\"", '"small"', '"scope < 3"'])
def test_a_bad_condition_is_reported_and_the_step_stays(folders: Folders, condition: str) -> None:
    """ERR-STEP-009, already when the file is loaded, with the reason for those who check."""
    folders.write(text_of(skip_if=condition))

    playbook = folders.read()

    [step] = playbook.agenda.steps
    [told] = [trouble for trouble in playbook.troubles if trouble.code == "ERR-STEP-009"]
    assert told.sentence == (
        f"Warning: Step 01-01 has an invalid skip_if condition: '{step.skip_if}'. Executing step normally."
    )
    assert told.facts["reason"]
    assert told.facts["phase_key"] == REQUIREMENTS


@pytest.mark.parametrize("nothing", ["", "~", "[]", '""'])
def test_optional_fields_may_be_empty(folders: Folders, nothing: str) -> None:
    """That is the same as leaving them out."""
    fields = {"depends_on": nothing} if nothing != '""' else {"skip_if": nothing}
    folders.write(text_of(**fields))

    playbook = folders.read()

    assert len(playbook.agenda.steps) == 1
    assert playbook.notes == ()


def test_a_quoted_word_is_a_condition(folders: Folders) -> None:
    """`"true"` in quotes is an expression; `true` without them is a boolean."""
    folders.write(text_of(skip_if='"true"'))

    assert folders.read().agenda.step("01-01").skip_if == "true"


IGNORED = "Invalid {} in 01-requirements/01-a.md. Ignoring."
ODD_PLACE = "VR-STEP-008 Step {} is in 01-requirements/{}, and belongs into {}-…/01-….md."
UNKNOWN = (
    "Line 11 of 01-requirements/01-a.md says that an answer becomes '{}', which is no kind of entries and no field of"
    " one. The answer stays a note."
)
NOTED: list[tuple[str, str, tuple[str, ...]]] = [
    *(
        (text_of(depends_on=value), "01-a.md", (IGNORED.format("depends_on"),))
        for value in ("00-01", "{a: b}", "[[00-01]]", "[~]")
    ),
    *(
        (text_of(skip_if=value), "01-a.md", (IGNORED.format("skip_if"),))
        for value in ("42", "true", "[scope]")
    ),
    (text_of(), "02-a.md", (ODD_PLACE.format("01-01", "02-a.md", "01"),)),
    (text_of(), "a.md", (ODD_PLACE.format("01-01", "a.md", "01"),)),
    (text_of(step_id="02-01"), "01-a.md", (ODD_PLACE.format("02-01", "01-a.md", "02"),)),
    (
        text_of("Only this."),
        "01-a.md",
        ("VR-STEP-010 01-requirements/01-a.md has no Standard Mode section, so all of it is shown.",),
    ),
    (
        text_of(depends_on="[09-09, 01-02, 01-01]"),
        "01-a.md",
        (
            "Step 01-01 depends on 09-09, which does not exist.",
            "Step 01-01 depends on 01-02, which comes later.",
            "Step 01-01 depends on 01-01, which comes later.",
        ),
    ),
    *(
        (
            text_of(f"## Standard Mode\n\n1. What hurts? <!-- {wrong} -->\n2. Why? <!-- problem -->\n"),
            "01-a.md",
            (UNKNOWN.format(wrong),),
        )
        for wrong in ("worry", "estimate.colour", "list", "many risk", "", "risk, problem")
    ),
]


@pytest.mark.parametrize(("text", "name", "notes"), NOTED)
def test_what_is_unusual_is_noted_and_the_step_runs(
    folders: Folders, text: str, name: str, notes: tuple[str, ...]
) -> None:
    """As if a field of the wrong kind were not there; an answer that becomes nothing known stays a note."""
    folders.write(text, name)
    folders.write(text_of(step_id="01-02", depends_on="[]"), "02-b.md")

    playbook = folders.read()

    first, _ = sorted(playbook.agenda.steps, key=lambda step: step.filename != name)
    assert playbook.notes == notes
    assert (first.filename, first.skip_if) == (name, "")
    assert list(first.asks_at(Depth.STANDARD)) == ([2] if "What hurts? <!--" in text else [])
    assert [one for one in playbook.troubles if one.facts.get("phase_key") == REQUIREMENTS] == []


# --- folders --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_file", [False, True])
def test_a_missing_phase_is_told(folders: Folders, *, is_file: bool) -> None:
    """ERR-STEP-001: the phase completes without steps."""
    if is_file:
        (folders.steps / "04-design").write_text("x")
    [told] = folders.read().troubles_of("04-design")

    assert told.code == "ERR-STEP-001"
    assert told.sentence == (
        "No step files found for phase 04-design. Completing phase without interactive steps."
    )


def test_an_empty_phase_is_told(folders: Folders) -> None:
    """ERR-STEP-002, in the same words; other files and hidden ones do not count."""
    folders.write("x", "notes.txt")
    folders.write("x", ".01-a.md")

    code, sentence = folders.refused()

    assert code == "ERR-STEP-002"
    assert sentence.startswith("No step files found for phase 01-requirements.")


def test_steps_run_in_the_order_of_their_file_names(folders: Folders) -> None:
    """Whatever their ids say."""
    folders.write(text_of(step_id="01-09"), "01-a.md")
    folders.write(text_of(step_id="01-01"), "02-b.md")

    assert [step.step_id for step in folders.read().agenda.steps] == ["01-09", "01-01"]


def test_without_the_folder_of_steps_nothing_starts(folders: Folders, tmp_path: Path) -> None:
    """One clear sentence that names the folder."""
    with pytest.raises(ContentError, match=r"There is no folder of step files at .*nowhere\."):
        load(folders.personas, tmp_path / "nowhere")


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
