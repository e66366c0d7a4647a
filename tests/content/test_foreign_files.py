"""Files that others wrote for the same format: what is only set in another way is read, the rest is explained."""

from pathlib import Path

import pytest

from bot.content.playbook import load
from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.steps import StepHeading

STEP = """---
step_id: "01-01"
title: "Context"
persona: ana
depth: standard
outputs: [context.md]
---

## Standard Mode

What hurts?
"""
PERSONA = "---\nkey: ana\nname: Ana Díaz\nrole: Analista\n---\n\n## Style\n\nKind.\n"


class Folders:
    def __init__(self, root: Path) -> None:
        self._root = root
        for name in ("personas", "steps/01-requirements"):
            (root / name).mkdir(parents=True)
        self.write("personas/ana.md", PERSONA)

    def write(self, path: str, content: str | bytes) -> None:
        file = self._root / path
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)

    def read(self, step: str | bytes = STEP, name: str = "01-a.md") -> Playbook:
        self.write(f"steps/01-requirements/{name}", step)
        return load(self._root / "personas", self._root / "steps")


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    return Folders(tmp_path)


def reason(playbook: Playbook) -> str:
    """What those who mend the one file that is wrong are told."""
    assert playbook.agenda.steps == ()
    [told] = playbook.troubles_of("01-requirements")
    return told.facts["reason"]


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("[context.md]", "\n\t- context.md", "line 7: tabs do not indent"),
        ('"Context"', '"Context', "line 3: a quotation mark is not closed"),
        ('"Context"', "Context: more", "line 3: a text with a colon and a space in it needs quotes"),
        (
            '"Context"',
            "@context",
            "line 3: tabs do not indent, and a text that begins with a sign needs quotes",
        ),
        ("[context.md]", "[context.md", "line 6: a bracket is not closed"),
        ('"Context"', "Con\x07text", "line 3: control characters are not allowed"),
        ('"Context"', "!!str x", "line 3: tags are not allowed"),
        ("depth:", "title: x\ndepth:", "line 5: 'title' is there twice"),
        ('"01-01"', "1-1", 'it has to be two digits, a hyphen and two digits in quotes, such as "01-09"'),
        ("[context.md]", "context.md", "it has to be a list of file names that is not empty"),
        ('"Context"', "x" * 61, "it has to be a text of 1 to 60 characters"),
    ],
)
def test_a_mistake_is_told_with_its_line_and_the_way_out(
    folders: Folders, before: str, after: str, told: str
) -> None:
    """In words for whoever wrote the file, and in nobody's who wrote a parser."""
    assert before in STEP
    assert reason(folders.read(STEP.replace(before, after, 1))).startswith(told)


def test_another_encoding_is_told_with_its_line(folders: Folders) -> None:
    """Old editors still save in Latin-1."""
    step = STEP.replace("hurts", "schmerzt Größe").encode("latin-1")

    assert reason(folders.read(step)) == "line 11 of 01-a.md is not UTF-8: save it in that encoding"


@pytest.mark.parametrize(
    "heading",
    [
        "## Standard   Mode",
        "## Standard\u00a0Mode",
        "## **Standard Mode**",
        "## Standard Mode:",
        "## __standard mode__ ##",
    ],
)
def test_how_a_heading_is_set_does_not_matter(folders: Folders, heading: str) -> None:
    """Spaces that nobody sees, emphasis, a colon."""
    playbook = folders.read(STEP.replace("## Standard Mode", heading))

    [step] = playbook.agenda.steps
    assert step.sections == {StepHeading.STANDARD: "What hurts?"}
    assert playbook.notes == ()


@pytest.mark.parametrize(
    ("written", "outputs"),
    [
        ("[Anforderungen-Übersicht.md]", ("Anforderungen-Übersicht.md",)),
        ("[需求.md, Requirements Spec.md]", ("需求.md", "Requirements Spec.md")),
        ("[U\u0308bersicht.md]", ("Übersicht.md",)),
        ("[./a.md, a.md]", ("a.md",)),
    ],
)
def test_outputs_are_called_as_people_call_files(
    folders: Folders, written: str, outputs: tuple[str, ...]
) -> None:
    """In their language and with spaces; one that is named twice is one."""
    [step] = folders.read(STEP.replace("[context.md]", written)).agenda.steps

    assert step.outputs == outputs


def test_the_sections_of_an_output_with_a_space_in_its_name_are_found(folders: Folders) -> None:
    """Each belongs to the file that is named before it."""
    artifacts = (
        '\n## Artifacts\n\n- `My Spec.md`: StepHeading "2. Goals"\n- `Ändern.md`: StepHeading "3. Risks"\n'
    )
    step = STEP.replace("[context.md]", "[My Spec.md, Ändern.md]") + artifacts

    [read] = folders.read(step).agenda.steps

    assert [one for name in read.outputs for one in read.owned(name)] == ["2. Goals", "3. Risks"]


@pytest.mark.parametrize("name", ["1-requirements", "001-requirements", "01_requirements", "01-Requirements"])
def test_a_folder_that_only_looks_like_a_phase_is_named(folders: Folders, name: str) -> None:
    """Whoever numbers phases in another way would wait for their steps for ever."""
    folders.write(f"steps/{name}/01-a.md", STEP.replace("01-01", "01-09"))

    [note] = folders.read().notes

    assert note.startswith(f"The folder {name} is no phase, and nothing in it is read: ")


def test_capitals_in_the_ending_do_no_harm(folders: Folders) -> None:
    """Windows does not tell them apart."""
    assert len(folders.read(name="01-A.MD").agenda.steps) == 1


def test_an_emoji_is_no_icon_and_no_reason_to_leave_a_persona_out(folders: Folders) -> None:
    """Slack wants its name; whoever wrote the file is told."""
    folders.write("personas/ana.md", PERSONA.replace("role:", "icon: 📊\nrole:"))

    playbook = folders.read()

    assert [persona.icon for persona in playbook.roster] == [":bust_in_silhouette:"]
    assert playbook.notes == ("ana.md has the icon 📊: Slack needs its name, such as :wave:.",)


def test_a_variable_that_is_none_is_told_from_a_text_without_quotes(folders: Folders) -> None:
    """ERR-STEP-009: the step runs, and its author learns why."""
    playbook = folders.read(STEP.replace("depth:", 'skip_if: "scope === small"\ndepth:'))

    [told] = [one for one in playbook.troubles if one.code == "ERR-STEP-009"]
    assert told.facts["reason"] == (
        "'small' is no variable: there are scope, complexity, file_count and depth; texts stand in quotes"
    )
