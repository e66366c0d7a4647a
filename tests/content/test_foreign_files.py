"""Files that others wrote for the same format: what is only set in another way is read, the rest is explained."""

import pytest

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.steps import StepHeading
from tests.content.folders import MAYA, REQUIREMENTS, Folders, text_of

PLAIN = {"persona": "business-analyst", "depth": "standard", "outputs": "[context.md]"}
STEP = text_of("## Standard Mode\n\nWhat hurts?\n", title='"Context"', **PLAIN)


def read(folders: Folders, step: str | bytes = STEP, name: str = "01-a.md") -> Playbook:
    folders.write(step, name)
    return folders.read()


def reason(playbook: Playbook) -> str:
    """What those who mend the one file that is wrong are told."""
    assert playbook.agenda.steps == ()
    [told] = playbook.troubles_of(REQUIREMENTS)
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
    assert reason(read(folders, STEP.replace(before, after, 1))).startswith(told)


def test_another_encoding_is_told_with_its_line(folders: Folders) -> None:
    """Old editors still save in Latin-1."""
    step = STEP.replace("hurts", "schmerzt Größe").encode("latin-1")

    assert reason(read(folders, step)) == "line 11 of 01-a.md is not UTF-8: save it in that encoding"


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
    playbook = read(folders, STEP.replace("## Standard Mode", heading))

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
    [step] = read(folders, STEP.replace("[context.md]", written)).agenda.steps

    assert step.outputs == outputs


def test_the_sections_of_an_output_with_a_space_in_its_name_are_found(folders: Folders) -> None:
    """Each belongs to the file that is named before it."""
    artifacts = (
        '\n## Artifacts\n\n- `My Spec.md`: StepHeading "2. Goals"\n- `Ändern.md`: StepHeading "3. Risks"\n'
    )
    step = STEP.replace("[context.md]", "[My Spec.md, Ändern.md]") + artifacts

    [found] = read(folders, step).agenda.steps

    assert [one for name in found.outputs for one in found.owned(name)] == ["2. Goals", "3. Risks"]


@pytest.mark.parametrize("name", ["1-requirements", "001-requirements", "01_requirements", "01-Requirements"])
def test_a_folder_that_only_looks_like_a_phase_is_named(folders: Folders, name: str) -> None:
    """Whoever numbers phases in another way would wait for their steps for ever."""
    folders.write(STEP.replace("01-01", "01-09"), phase=name)

    [note] = read(folders).notes

    assert note.startswith(f"The folder {name} is no phase, and nothing in it is read: ")


def test_capitals_in_the_ending_do_no_harm(folders: Folders) -> None:
    """Windows does not tell them apart."""
    assert len(read(folders, name="01-A.MD").agenda.steps) == 1


def test_an_emoji_is_no_icon_and_no_reason_to_leave_a_persona_out(folders: Folders) -> None:
    """Slack wants its name; whoever wrote the file is told."""
    folders.write_persona(f"{MAYA}icon: 📊\n")

    playbook = read(folders)

    assert [persona.icon for persona in playbook.roster] == [":bust_in_silhouette:"]
    assert playbook.notes == ("maya.md has the icon 📊: Slack needs its name, such as :wave:.",)


def test_a_variable_that_is_none_is_told_from_a_text_without_quotes(folders: Folders) -> None:
    """ERR-STEP-009: the step runs, and its author learns why."""
    playbook = read(folders, STEP.replace("depth:", 'skip_if: "scope === small"\ndepth:'))

    [told] = [one for one in playbook.troubles if one.code == "ERR-STEP-009"]
    assert told.facts["reason"] == (
        "'small' is no variable: there are scope, complexity, file_count and depth; texts stand in quotes"
    )
