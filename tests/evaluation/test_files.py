"""Meetings are files; a mistake in one is a sentence with its line."""

from pathlib import Path

import pytest

from bot import shipped
from bot.errors import ContentError
from roundtable_eval.files import meetings_in, read_meeting
from roundtable_eval.meeting import Meeting, matches
from roundtable_eval.people import addressed
from tests.evaluation.meetings import PAYOUTS, PLAYBOOK, SHIPPED, meeting_of

EARLIER = Path(__file__).parents[1] / "meetings" / "known"


def test_twelve_meetings_are_shipped() -> None:
    """One is German and one French; some have a dissent, some a lie, and one an instruction in its code."""

    def having(what: str) -> int:
        return sum(any(getattr(one, what) for one in meeting.sentences) for meeting in SHIPPED)

    assert len(SHIPPED) == 12
    assert all(sum(not one.lies for one in meeting.sentences) >= 6 for meeting in SHIPPED)
    assert having("dissent") >= 3
    assert having("lies") == 2
    assert sum("assistant" in text for meeting in SHIPPED for text in meeting.evidence.values()) == 1
    assert {"Schichten", "consigne"} <= {word for one in SHIPPED for word in one.title.split()}


@pytest.mark.parametrize("meeting", SHIPPED, ids=lambda one: one.key)
def test_a_shipped_meeting_can_be_asked_for_everything_by_good_questions_only(meeting: Meeting) -> None:
    """And nothing that is true in it counts as wrong."""
    assert meeting.questions
    for name, person in meeting.people.items():
        for one in person.sheet:
            asking = [text for text in meeting.questions.good if matches(text, one.asked)]
            assert any(addressed(text, meeting.people) == (name,) for text in asking), one.id
            assert not any(matches(text, one.asked) for text in meeting.questions.vague), one.id
    for fact in meeting.facts:
        assert not any(matches(f"{fact.says} {' '.join(fact.must)}", one.all) for one in meeting.wrong), (
            fact.id
        )


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("lead: Alex", "leads: Alex", "leads: extra inputs are not permitted"),
        ("lead: Alex", "key: x", "key: the name of the file is the key."),
        ("id: g2", "id: a1", "the id a1 is there twice."),
        ("Our bank closes at 16:00.", "= 5000", "what Grace knows as g1 stands in src/payouts.py already."),
        ("lines: 1-2", "lines: 2-3", "src/payouts.py has 2 lines, and no lines 2-3."),
        ("lines: 1-2", "lines: 2-1", "src/payouts.py has 2 lines, and no lines 2-1."),
        ("lines: 1-2", "lines: 0", "src/payouts.py has 2 lines, and no lines 0."),
        ("lines: 1-2", "lines: all", "src/payouts.py has 2 lines, and no lines all."),
        ("  src/payouts.py: |", "  src/../payouts.py: |", "src/../payouts.py is no path in a repository."),
        ("path: src/payouts.py", "path: src/other.py", "there is no src/other.py in the evidence."),
        ("asked: [[twice]]", "asked: []", "g5 has no words that ask for it."),
        ("asked: [[twice]]", "asked: [[]]", "people.Grace.sheet.4.asked.0: tuple should have at least 1"),
        (
            "dissent: true",
            "dissent: perhaps",
            "people.Grace.sheet.3.dissent: input should be a valid boolean",
        ),
        ("title: A limit for payouts\nlead", "lead", "title: field required"),
    ],
)
def test_a_mistake_is_a_sentence_with_its_line(old: str, new: str, sentence: str, tmp_path: Path) -> None:
    """The file comes first, so that editors open it there."""
    assert old in PAYOUTS
    text = PAYOUTS.replace(old, new)
    line = text[: text.rindex(new)].count("\n") + 1
    with pytest.raises(ContentError) as raised:
        meeting_of(tmp_path, text)

    assert str(raised.value).startswith(f"payouts.yaml, line {line}: {sentence}")
    assert str(raised.value).endswith(".")
    assert "\n" not in str(raised.value)


def test_what_is_no_yaml_or_not_there_is_one_sentence_too(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("title: [", encoding="utf-8")
    with pytest.raises(ContentError, match=r"^bad\.yaml cannot be read: line 2: [^\n]*\.$"):
        read_meeting(tmp_path / "bad.yaml", PLAYBOOK.roster)
    with pytest.raises(ContentError, match=r"^none\.yaml cannot be read: [^\n]*\.$"):
        read_meeting(tmp_path / "none.yaml", PLAYBOOK.roster)
    (tmp_path / "bad.yaml").unlink()
    with pytest.raises(ContentError, match="There is no meeting in "):
        meetings_in([tmp_path], PLAYBOOK.roster)


def test_a_meeting_of_the_earlier_form_is_played_with_people_who_answer_nothing() -> None:
    """What people said is said at the beginning; facts, dissent and lies are still known."""
    meeting = read_meeting(EARLIER / "05-dissent-of-a-person.yaml", PLAYBOOK.roster)
    grace = meeting.people["Grace"]

    assert not meeting.has_sheets
    assert list(meeting.people) == ["Grace", "Ada"]
    assert [(one.says, one.must, one.dissent) for one in grace.sheet] == [
        ("I object: nobody has tried a restore.", ("nobody has tried a restore",), True)
    ]
    assert meeting.people["Ada"].opens == "I am not convinced yet."
    assert [one.all for one in meeting.wrong] == [(("ada",), ("friday",)), (("agreed",),)]


@pytest.mark.parametrize("text", ["thread: 7", "thread: [Ada]", "title: x\nthread: [{Ada: 1, Ben: 2}]"])
def test_a_bad_meeting_of_the_earlier_form_is_one_sentence(text: str, tmp_path: Path) -> None:
    with pytest.raises(ContentError, match=r"^payouts\.yaml, line 1: "):
        meeting_of(tmp_path, text)


def test_all_meetings_of_the_earlier_form_are_readable() -> None:
    assert len(meetings_in([EARLIER, EARLIER.parent / "unseen"], PLAYBOOK.roster)) == 24
    assert shipped.meetings_dir().joinpath("00-address-change.yaml").exists()
