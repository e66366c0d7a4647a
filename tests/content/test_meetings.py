"""Meetings are files: what they say is read, and a bad one is one sentence that names it."""

from pathlib import Path

import pytest

from bot import shipped
from bot.content import load
from bot.errors import ContentError
from roundtable_eval.files import read_meeting, read_meetings

ROSTER = load(shipped.personas_dir(), shipped.steps_dir()).roster
SCRIPT = "script: {panel: {}, alone: {}, pasted: {}}"
GOOD = f"title: Sync\nabout: One meeting.\nthread:\n  - Maya: Why?\n  - Ada: Because.\n{SCRIPT}\n"


def test_twelve_meetings_are_shipped() -> None:
    """Each with something planted in it."""
    found = read_meetings(shipped.meetings_dir(), ROSTER)

    assert len(found) == 12
    for one in found:
        assert any((one.planted.facts, one.planted.dissent, one.planted.lies, one.planted.collapsed)), one.key


def test_a_meeting_is_read(tmp_path: Path) -> None:
    """Its key is the name of the file."""
    (tmp_path / "mine.yaml").write_text(GOOD)
    meeting = read_meeting(tmp_path / "mine.yaml", ROSTER)

    assert (meeting.key, meeting.title) == ("mine", "Sync")
    assert [(turn.name, turn.says) for turn in meeting.thread] == [("Maya", "Why?"), ("Ada", "Because.")]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "cannot be read: "),
        ("- a list", "cannot be read: "),
        ("title: [", "cannot be read: "),
        (f"title: Sync\nabout: x\n{SCRIPT}", "is not a meeting: thread: field required."),
        (
            GOOD.replace("- Maya: Why?", "- Why?"),
            "each turn is one name with what is said, such as `- Ada: Yes.`.",
        ),
        (GOOD.replace("  - Maya: Why?\n", ""), "a persona has to open the thread."),
        (GOOD.replace("thread:", "evidence: {Zoe: x}\nthread:"), "there is no persona Zoe for the evidence."),
        (
            GOOD.replace("Maya: Why?", "Maya: {decides: Redis, issue: x}"),
            "Maya is a persona and cannot decide.",
        ),
        (GOOD + "planted: {facts: 7}", "is not a meeting: planted.facts: "),
        (GOOD.replace(SCRIPT, ""), "script: field required."),
    ],
)
def test_a_bad_meeting_is_one_sentence(text: str, reason: str, tmp_path: Path) -> None:
    """It names the file and what is wrong with it."""
    (tmp_path / "bad.yaml").write_text(text)

    with pytest.raises(ContentError) as error:
        read_meeting(tmp_path / "bad.yaml", ROSTER)

    said = str(error.value)
    assert said.startswith("bad.yaml ")
    assert reason in said
    assert said.endswith(".")
    assert "\n" not in said


def test_a_file_or_a_folder_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    """As short as for any other bad file."""
    with pytest.raises(ContentError, match=r"^none\.yaml cannot be read: [^\n]*\.$"):
        read_meeting(tmp_path / "none.yaml", ROSTER)
    with pytest.raises(ContentError, match="There is no meeting in "):
        read_meetings(tmp_path, ROSTER)
