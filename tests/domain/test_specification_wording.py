"""What cards say about gaps: for each kind of gap, one sentence made of what coverage found."""

import pytest

from bot.domain.messages.specification_wording import finding, missing, stale, without
from bot.domain.specification.claims import StaleCause
from bot.domain.specification.coverage import CoverageGap, GapKind, coverage
from tests.specification.meeting import SCHEMA, Meeting


@pytest.fixture
def meeting() -> Meeting:
    return Meeting()


def told(meeting: Meeting, kind: GapKind, *steps: str) -> list[str]:
    spec = meeting.specification
    return [finding(gap, SCHEMA, spec) for gap in coverage(SCHEMA, spec, steps) if gap.kind is kind]


@pytest.mark.parametrize(
    ("kind", "said", "sentence"),
    [
        (
            GapKind.CONTESTED,
            [("Ada", "01-08", "Must: FR-001"), ("Grace", "01-08", "Should: FR-001")],
            "FR-001 has more than one priority: Ada says must and Grace says should. Which one is it?",
        ),
        (
            GapKind.ALL_ALIKE,
            [("Ada", "01-06", "requirement: Two"), ("Ada", "01-08", "Must: FR-001, FR-002")],
            "Everything is “must”. What would you cut if somebody forced you to?",
        ),
        (
            GapKind.UNKNOWN,
            [("Ada", "01-06", "requirement: Show it as FR-009 does")],
            "FR-009 is mentioned, but there is no FR-009.",
        ),
        (
            GapKind.OBJECTION,
            [("Linus", "01-06", "objection: this is too much")],
            "OBJ-001 is open: “this is too much”. Accepted, rejected, or kept as risk?",
        ),
    ],
)
def test_what_people_left_open(
    meeting: Meeting, kind: GapKind, said: list[tuple[str, str, str]], sentence: str
) -> None:
    """In their own words, with who said them, or with the question of the schema."""
    meeting.say("Ada", "01-06", "requirement: One")
    for who, step, text in said:
        meeting.say(who, step, text)

    assert told(meeting, kind, "01-08") == [sentence]


def test_stale(meeting: Meeting) -> None:
    """Which field it is."""
    said = meeting.say("Ada", "01-06", "requirement: One")
    meeting.delete("Ada", said)

    assert told(meeting, GapKind.STALE) == [
        "FR-001 has to be confirmed again: what its title rests on has changed."
    ]


def test_dangling(meeting: Meeting) -> None:
    """Withdrawn, replaced, or of another kind."""
    meeting.say(
        "Ada", "01-06", "requirement: One\nrequirement: Two\nrequirement: Three\nFR-001 depends: FR-002"
    )
    meeting.press("Ada", {"id": "FR-002", "state": "withdrawn"})
    assert told(meeting, GapKind.DANGLING) == ["FR-001 names FR-002, which was withdrawn."]

    meeting.press("Ada", {"id": "FR-002", "state": "superseded", "replaced_by": ["FR-003"]})
    assert told(meeting, GapKind.DANGLING) == ["FR-001 names FR-002, which was replaced by FR-003."]

    meeting.say("Ada", "01-06", "Out of scope: tablets")
    meeting.press("Ada", {"id": "FR-001", "set": {"depends": ["OUT-001"]}})
    assert told(meeting, GapKind.DANGLING) == ["FR-001 names OUT-001, which is no functional requirement."]

    meeting.press("Ada", {"id": "FR-001", "set": {"depends": ["FR-009"]}})
    assert told(meeting, GapKind.DANGLING) == ["FR-009 is mentioned, but there is no FR-009."]


def test_circle(meeting: Meeting) -> None:
    """All that are in it."""
    meeting.say(
        "Ada", "01-06", "requirement: One\nrequirement: Two\nFR-001 depends: FR-002\nFR-002 depends: FR-001"
    )
    assert told(meeting, GapKind.CIRCLE) == ["FR-001 and FR-002 depend on each other. Which one comes first?"]

    meeting.say("Ada", "01-06", "requirement: Alone\nFR-003 depends: FR-003")
    assert "FR-003 depends on itself." in told(meeting, GapKind.CIRCLE)


def test_missing(meeting: Meeting) -> None:
    """The question of the schema, where it has one."""
    meeting.say("Ada", "01-06", "requirement: One\nOut of scope: tablets")
    meeting.say("Ada", "04-01", "module: Sync")

    assert told(meeting, GapKind.MISSING, "01-06") == [
        "MOD-001 has no responsibility yet.",
        "How would somebody see that FR-001 works?",
    ]
    gap = CoverageGap(kind=GapKind.MISSING, id="NFR-001", field="threshold")
    assert finding(gap, SCHEMA, meeting.specification) == "NFR-001 has no number. What would you measure?"


def test_what_several_entries_lack_is_asked_once(meeting: Meeting) -> None:
    meeting.say("Ada", "01-06", "requirement: One\nrequirement: Two\nOut of scope: tablets")
    meeting.say("Ada", "04-01", "module: Sync\nmodule: Store")
    gaps = coverage(SCHEMA, meeting.specification, ["01-06"])

    assert missing(gaps, SCHEMA, meeting.specification) == (
        "MOD-001 and MOD-002 have no responsibility yet.",
        "How would somebody see that each works? (FR-001 and FR-002)",
    )
    assert without(gaps, SCHEMA) == (
        "MOD-001 and MOD-002 have no responsibility yet.",
        "FR-001 and FR-002 have no test yet.",
    )


def test_what_only_a_persona_said_is_suggested(meeting: Meeting) -> None:
    meeting.propose(
        {"id": "FR-001", "kind": "requirement", "new": True, "set": {"title": "Two"}}, step="01-06"
    )

    assert told(meeting, GapKind.PROPOSED) == ["FR-001 is suggested, not confirmed."]


@pytest.mark.parametrize(
    ("cause", "source", "sentence"),
    [
        (StaleCause.CHANGED, "", "Grace changed a message. 2 entries rest on it: FR-003 and NFR-002."),
        (StaleCause.DELETED, "", "Grace deleted a message. 2 entries rest on it: FR-003 and NFR-002."),
        (StaleCause.REVERSED, "DEC-003", "DEC-003 was reversed by Grace. 2 entries rest on it: FR-003 and NFR-002."),
        (StaleCause.GIT, "section 6", "Grace changed section 6 in git. 2 entries rest on it: FR-003 and NFR-002."),
        (StaleCause.LEFT_OUT, "", "Grace left a message out of the record. 2 entries rest on it: FR-003 and NFR-002."),
        (StaleCause.WITHDRAWN, "FR-001", "FR-001 was withdrawn by Grace. 2 entries rest on it: FR-003 and NFR-002."),
    ],
)  # fmt: skip
def test_why_entries_have_to_be_confirmed_again(cause: StaleCause, source: str, sentence: str) -> None:
    assert stale(cause, ["FR-003", "NFR-002"], by="Grace", source=source) == sentence


def test_many_entries_are_counted() -> None:
    """Six of them are named."""
    found = [f"FR-{number:03}" for number in range(1, 10)]

    assert stale(StaleCause.GIT, found) == (
        "A person changed a file in git. 9 entries rest on it: FR-001, FR-002, FR-003, FR-004, FR-005, FR-006 "
        "and 3 more."
    )
