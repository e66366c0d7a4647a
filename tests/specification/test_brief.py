"""The brief of an item: one function of its entries, for a person who was not there."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.domain.messages.brief_wording import other_entries
from bot.domain.specification.brief import IN_A_MESSAGE, ON_A_PAGE, Brief, BriefRow, brief, in_order, page
from bot.domain.specification.entries import OF_DISCUSSIONS
from bot.domain.specification.not_settled import not_settled
from tests.specification.meeting import SCHEMA, Meeting, make_entry

SLACK_ID = re.compile(r"\b[CDU]0[A-Z0-9]{5,}|\b\d{10}\.\d{6}\b")


def brief_of(meeting: Meeting) -> Brief:
    return brief(SCHEMA, meeting.specification)


@pytest.fixture
def meeting() -> Meeting:
    """Of the field engineers: a decision says that a criterion changes, and some points stay open."""
    meeting = Meeting()
    meeting.say("Grace", "01-01", "problem: engineers lose work orders when the signal drops")
    meeting.say(
        "Ada", "01-01", "metric: tickets a month from 412 to 10\nwhy now: the contract starts 1 April"
    )
    meeting.say("Linus", "01-02", "user: field engineer\nuser: dispatcher")
    meeting.say("Ada", "01-06", "requirement: Changes merge per field\nAC: the engineer is asked")
    meeting.say("Ada", "01-06", "requirement: A list of unsynced orders\nout of scope: iOS -> dead since May")
    meeting.say("Grace", "01-08", "Must: FR-002\nShould: FR-001")
    meeting.say("Grace", "01-05", "constraint: Android 10\nquality: local save -> 200 ms p95")
    meeting.say(
        "Linus", "02-03", "risk: two phones with one login -> device id in the outbox\nrisk: full disk"
    )
    meeting.say(
        "Linus", "02-02", "task: pilot in Munich -> WRK-002\ntask: outbox behind a flag; owner: Linus"
    )
    meeting.say("Grace", "03-01", "option: merge on the server\noption: lock the order")
    meeting.say(
        "Linus",
        "03-02",
        "decision: the back office picks; decided by: Ada; Grace; because: gloves; changes: AC-001-01",
    )
    meeting.say("Grace", "04-05", "action: find an owner for the dedupe job -> Grace; by when: Friday")
    meeting.say("Linus", "04-05", "open question: who decides in a conflict?")
    meeting.say("Grace", "01-02", "We talked about gloves for a while.")
    return meeting


def test_a_person_who_was_not_there_reads_one_page(meeting: Meeting) -> None:
    """All that was accepted, what contradicts it, and what is not settled; then where the rest stands."""
    assert (
        page(brief_of(meeting), "Offline sync")
        == """\
# Offline sync: brief

2 requirements, 1 decision, 5 points not settled.

## Problem

- engineers lose work orders when the signal drops (Grace)
- Better when: tickets a month, from 412 to 10 (Ada)
- Why now: the contract starts 1 April (Ada)

## Who

- field engineer
- dispatcher

## Decisions

- **DEC-001** the back office picks. Decided by Ada and Grace, recorded by Linus. Because: gloves. Changes AC-001-01.

## Requirements

- **FR-002** A list of unsynced orders (must)
  - no acceptance criterion yet
- **FR-001** Changes merge per field (should)
  - AC-001-01: the engineer is asked (contradicted by DEC-001)

## Limits and qualities

- **CON-001** Android 10
- **NFR-001** local save: 200 ms p95
- Out: iOS (dead since May)

## Risks

- **RSK-001** two phones with one login -> device id in the outbox (nobody yet)
- **RSK-002** full disk -> no answer yet (nobody yet)

## Next

- **ACT-001** find an owner for the dedupe job -> Grace, by Friday
- **WRK-002** outbox behind a flag -> Linus
- **WRK-001** pilot in Munich -> nobody yet, after WRK-002

## In the other files

- 1 note
- 2 options: architecture-overview.md

## Not settled (5)

- AC-001-01 the engineer is asked: contradicted by DEC-001
- Q-001 who decides in a conflict? (no owner)
- FR-002 A list of unsynced orders: no acceptance criterion
- RSK-002 full disk: no answer to this risk
- WRK-001 pilot in Munich: no owner
"""
    )


def test_a_proposal_is_only_under_not_settled(meeting: Meeting) -> None:
    """Until a person accepts it."""
    meeting.propose(make_entry("FR-003", {"title": "Undo"}), step="01-06")
    written = page(brief_of(meeting), "Offline sync")

    above, _, below = written.partition("## Not settled")
    assert "FR-003" not in above
    assert "FR-003 Undo: proposed by" in below


def test_without_entries_there_is_no_page() -> None:
    assert page(brief_of(Meeting()), "Offline sync") == ""


def test_work_is_in_the_order_of_doing() -> None:
    """What others wait for comes first; a circle ends."""
    meeting = Meeting()
    meeting.say("Linus", "02-02", "task: c -> WRK-002\ntask: b -> WRK-003\ntask: a\ntask: d")
    assert [one.id for one in in_order(meeting.specification.active("work"))] == [
        "WRK-003",
        "WRK-002",
        "WRK-001",
        "WRK-004",
    ]

    meeting.say("Linus", "02-02", "WRK-003 waits for: WRK-001")
    assert {one.id for one in in_order(meeting.specification.active("work"))} == {
        f"WRK-00{number}" for number in range(1, 5)
    }


# --- any specification ----------------------------------------------------------------------------------------------

SAID = (
    ("01-01", "problem: {}"),
    ("01-01", "metric: {}"),
    ("01-01", "why now: {}"),
    ("01-02", "user: {}"),
    ("01-06", "requirement: {}\nAC: {}\nAC: again {}"),
    ("01-06", "requirement: {}"),
    ("01-07", "out of scope: {}"),
    ("01-05", "quality: {} -> 200 ms"),
    ("01-04", "constraint: {}"),
    ("02-03", "risk: {} -> a plan; owner: Ada"),
    ("02-03", "risk: {}"),
    ("02-02", "task: {}; owner: Ada"),
    ("02-02", "task: {} -> WRK-001"),
    ("03-01", "option: {}"),
    ("03-02", "decision: {}; changes: AC-001-01"),
    ("03-02", "objection: {}"),
    ("03-02", "OBJ-001 outcome: kept as risk"),
    ("03-02", "DEC-001: withdrawn"),
    ("04-05", "open question: {}"),
    ("04-05", "action: {} -> Linus"),
    ("04-05", "assumption: {}"),
    ("04-05", "{}"),
)
WORDS = st.text(st.sampled_from("abc de.#*|`<>-_"), min_size=3, max_size=30).map(lambda said: f"a{said}")


@st.composite
def meetings(draw: st.DrawFn) -> Meeting:
    meeting = Meeting()
    for step, form in draw(st.lists(st.sampled_from(SAID), max_size=30)):
        meeting.say(
            draw(st.sampled_from(["Ada", "Grace", "Linus"])),
            step,
            form.format(*draw(st.tuples(*[WORDS] * 3))),
        )
    for number in range(draw(st.integers(0, 2))):
        proposed = make_entry(f"FR-9{number:02}", {"title": "Proposed"})
        meeting.propose(proposed, step="01-06")
    return meeting


def entries_in(rows: tuple[BriefRow, ...]) -> list[str]:
    return [id for row in rows for id in (row.entry, *entries_in(row.below)) if id]


@settings(max_examples=60, deadline=None)
@given(meetings())
def test_every_living_entry_is_in_the_brief_or_counted(meeting: Meeting) -> None:
    """In a section, under *Not settled*, or in the number of those that other files show."""
    found, spec = brief_of(meeting), meeting.specification
    living = {
        one.id for one in spec.entries.values() if spec.lives(one.id) and one.kind not in OF_DISCUSSIONS
    }
    told = {id for section in found.sections for id in entries_in(section.rows)}
    told |= {row.id for row in not_settled(SCHEMA, spec) if row.id}

    assert told <= living
    assert len(living - told) == sum(int(row.text.split()[0]) for row in found.elsewhere)


@settings(max_examples=60, deadline=None)
@given(meetings())
def test_what_is_cut_is_counted(meeting: Meeting) -> None:
    """In both sizes."""
    found = brief_of(meeting)
    for size in (ON_A_PAGE, IN_A_MESSAGE):
        for whole, cut in zip(found.sections, found.cut(size), strict=True):
            *shown, last = cut.rows
            more = re.match(r"and (\d+) more", last.text) if not last.entry else None
            assert len(whole.rows) == (len(shown) + int(more[1]) if more else len(cut.rows))


@settings(max_examples=60, deadline=None)
@given(meetings())
def test_it_is_the_same_twice_and_names_no_id_of_slack(meeting: Meeting) -> None:
    """It is a function of the entries, and *ready* is not in it."""
    written = page(brief_of(meeting), "Offline sync")

    assert written == page(brief_of(meeting), "Offline sync")
    assert not SLACK_ID.search(written)
    assert "ready" not in written


@pytest.mark.parametrize(
    ("kind", "counted"),
    [
        ("file", "2 files that change"),
        ("story", "2 user stories"),
        ("option", "2 options"),
        ("work", "2 pieces of work"),
    ],
)
def test_what_other_files_show_is_counted_in_english(kind: str, counted: str) -> None:
    assert other_entries(2, SCHEMA.kinds[kind], "") == counted
