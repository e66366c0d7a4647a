"""What is not settled: one list in one order, at the end of every file; and what is ready only without it."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.item.artifacts import InsightEdit, SectionEdit
from bot.domain.messages.specification_wording import not_ready, unsettled_row
from bot.domain.specification import files
from bot.domain.specification.claims import EntryState
from bot.domain.specification.not_settled import RowKind, lacking, not_settled
from tests.specification.meeting import PLAYBOOK, SCHEMA, Meeting, make_entry

ITEM = files.ItemFacts("Offline sync", "offline-sync")


def told(meeting: Meeting) -> list[str]:
    return [unsettled_row(one, SCHEMA) for one in not_settled(SCHEMA, meeting.specification)]


def kinds(meeting: Meeting) -> list[RowKind]:
    return [one.kind for one in not_settled(SCHEMA, meeting.specification)]


def settled(meeting: Meeting) -> None:
    """One requirement with a test, and one piece of work with an owner."""
    meeting.say("Ada", "01-06", "requirement: Filter by date\nAC: two dates give the days between")
    meeting.say("Ada", "02-05", "task: A switch")
    meeting.say("Ada", "02-05", "WRK-001 owner: Grace")


CASES: dict[RowKind, tuple[Callable[[Meeting], object], str]] = {
    RowKind.CONTESTED: (
        lambda at: (at.say("Ada", "01-08", "Must: FR-001"), at.say("Grace", "01-08", "Should: FR-001")),
        "FR-001 priority: Ada says must, Grace says should. Which one counts?",
    ),
    RowKind.STALE: (
        lambda at: at.delete("Ada", at.say("Ada", "01-01", "problem: Edits are lost")),
        "PRB-001 Edits are lost: Ada deleted a message that it rests on; confirm again (text)",
    ),
    RowKind.OBJECTION: (
        lambda at: at.say("Grace", "03-01", "objection: two dates are not enough"),
        "OBJ-001 two dates are not enough – Grace",
    ),
    RowKind.PROPOSED: (
        lambda at: at.propose(make_entry("RSK-001", {"text": "Lost edits"}), step="02-03"),
        "RSK-001 Lost edits: proposed by BusinessAnalyst (persona), not accepted",
    ),
    RowKind.UNCHECKED: (
        lambda at: at.propose(
            {
                "id": "FR-001",
                "set": {"title": "Filter by month"},
                "unverified": {"title": "no source says month"},
            }
        ),
        (
            "FR-001 title: Filter by month: proposed by BusinessAnalyst (persona), not accepted,"
            " unchecked: no source says month"
        ),
    ),
    RowKind.QUESTION: (
        lambda at: at.say("Ada", "01-02", "open question: Who pays? -> Linus"),
        "Q-001 Who pays? (Linus)",
    ),
    RowKind.NO_CRITERION: (
        lambda at: at.say("Ada", "01-06", "requirement: Sort by name"),
        "FR-002 Sort by name: no acceptance criterion",
    ),
    RowKind.NO_ANSWER: (
        lambda at: at.say("Ada", "02-03", "risk: Lost edits"),
        "RSK-001 Lost edits: no answer to this risk",
    ),
    RowKind.NO_OWNER: (
        lambda at: at.say("Ada", "04-05", "action: dashboards"),
        "ACT-001 dashboards: no owner",
    ),
    RowKind.NO_ORDER: (
        lambda at: at.press("Ada", {"id": "WRK-001", "state": "withdrawn"}),
        "Nobody has said what is done first.",
    ),
}


@pytest.mark.parametrize("kind", CASES)
def test_each_row_says_what_is_open_about_which_entry(meeting: Meeting, kind: RowKind) -> None:
    settled(meeting)
    assert told(meeting) == []

    happens, sentence = CASES[kind]
    happens(meeting)

    assert told(meeting) == [sentence]
    assert kinds(meeting) == [kind]


def test_the_order_is_that_of_the_kinds_whatever_was_said_first(meeting: Meeting) -> None:
    settled(meeting)
    for kind in (RowKind.QUESTION, RowKind.NO_ANSWER, RowKind.CONTESTED, RowKind.OBJECTION):
        CASES[kind][0](meeting)

    assert kinds(meeting) == [RowKind.CONTESTED, RowKind.OBJECTION, RowKind.QUESTION, RowKind.NO_ANSWER]
    damaged = not_settled(SCHEMA, meeting.specification.but(damage=("line 4 cannot be read",)))
    assert unsettled_row(damaged[0], SCHEMA) == "line 4 cannot be read"


def test_a_requirement_that_is_left_out_needs_no_criterion(meeting: Meeting) -> None:
    settled(meeting)
    meeting.say("Ada", "01-06", "requirement: Sort by name")
    meeting.say("Ada", "01-08", "won't: FR-002")

    assert told(meeting) == []


def test_an_item_is_ready_only_when_nothing_is_lacking(meeting: Meeting) -> None:
    """Fixed words with counts; open questions alone are no reason."""
    assert not_ready(lacking(SCHEMA, meeting.specification)) == (
        "Not ready: no requirement, no work with an owner."
    )
    settled(meeting)
    meeting.say("Ada", "01-02", "open question: Who pays?")
    assert lacking(SCHEMA, meeting.specification) == ()

    meeting.say("Ada", "01-06", "requirement: Sort by name")
    meeting.say("Ada", "01-08", "Must: FR-002")
    assert lacking(SCHEMA, meeting.specification) == ("1 must or should without a criterion",)
    meeting.say("Grace", "01-08", "Should: FR-002")
    meeting.say("Grace", "03-01", "objection: two dates are not enough")
    assert lacking(SCHEMA, meeting.specification)[:2] == ("1 contested", "1 objection open")


# --- in files -----------------------------------------------------------------------------------------------------


def page_of(meeting: Meeting, path: str, existing: str | None = None) -> str:
    for _, edit in files.sections(PLAYBOOK, meeting.specification, ITEM, dict.fromkeys(KEYS, "")):
        if edit.path == path:
            existing = edit.apply(existing)
    return existing or ""


KEYS = [view.key for view in SCHEMA.views if view.is_page] + ["requirements-spec.md#Not settled"]
SPEC = "requirements-spec.md"


def test_it_is_the_last_section_of_every_file_with_the_same_lines(meeting: Meeting) -> None:
    """With the next number where sections have one, and how many there are."""
    settled(meeting)
    CASES[RowKind.NO_CRITERION][0](meeting)
    meeting.say("Ada", "02-04", "task: Another switch\naction: dashboards")

    text = page_of(meeting, SPEC)
    rows = (
        "Not settled (3)\n\n- FR-002 Sort by name: no acceptance criterion\n"
        "- ACT-001 dashboards: no owner\n- WRK-002 Another switch: no owner\n"
    )
    assert text.endswith(f"\n## 9. {rows}")
    assert page_of(meeting, "impact-analysis.md").endswith(rows)
    assert page_of(meeting, "actions.md").endswith(f"\n## {rows}")
    assert text == page_of(meeting, SPEC, text)


def test_it_says_so_when_everything_is_settled_and_what_comes_later_stands_before_it(
    meeting: Meeting,
) -> None:
    """Also in a file of an earlier version, whose heading has no number."""
    settled(meeting)
    clean = page_of(meeting, SPEC)
    CASES[RowKind.NO_CRITERION][0](meeting)
    text = page_of(meeting, SPEC, clean)
    more = SectionEdit(path=SPEC, heading="Appendix", title="", body="Words.").apply(text)
    insight = InsightEdit(
        path=SPEC, keywords=("settled",), marker="<!-- Elaboration: step 01-06, now -->", body="Insight."
    ).apply(text)

    assert clean.endswith("\n## 9. Not settled (0)\n\n- Nothing.\n")
    assert page_of(meeting, SPEC, clean.replace("9. Not settled (0)", "Not settled")) == text
    assert "\n## Appendix\n\nWords.\n\n## 9. Not settled (1)\n" in more
    assert "\nInsight.\n\n## 9. Not settled (1)\n" in insight
    meeting.say("Ada", "01-06", "AC-002-01: names go up")
    meeting.press("Ada", {"id": "FR-002", "state": "withdrawn"})
    assert page_of(meeting, SPEC, text) == page_of(meeting, SPEC)


# --- what replaces what -----------------------------------------------------------------------------------------------

DECISIONS = [f"DEC-00{number}" for number in range(1, 5)]
REPLACING = st.lists(
    st.tuples(
        st.sampled_from(["replaces", "withdrawn", "accepted"]),
        st.sampled_from(DECISIONS),
        st.lists(st.sampled_from(DECISIONS), max_size=2),
    ),
    max_size=8,
)


@given(REPLACING)
def test_what_is_replaced_is_replaced_by_something_that_stands(
    acts: list[tuple[str, str, list[str]]],
) -> None:
    """And of two that replace the same, the second is contested, by whichever door they came."""
    meeting = Meeting()
    meeting.say("Ada", "03-01", "\n".join(f"decision: use {id}" for id in DECISIONS))
    for what, id, others in acts:
        done = {"set": {"replaces": others}} if what == "replaces" else {"state": what}
        meeting.press("Grace", {"id": id, **done})

    known = meeting.specification
    for entry in known.entries.values():
        if entry.state is EntryState.SUPERSEDED:
            seen, todo = set[str](), [*entry.replaced_by]
            while todo:
                seen.add(now := todo.pop())
                todo += [one for one in known.entries[now].replaced_by if one not in seen]
            assert any(known.lives(one) for one in seen)
    contested = {row.id for row in not_settled(SCHEMA, known) if row.kind is RowKind.CONTESTED}
    standing = [[one for one in each.replaced_by if known.lives(one)] for each in known.entries.values()]
    named = {id: known.entries[id]["replaces"] or [] for id in DECISIONS}
    for each, by in zip(known.entries.values(), standing, strict=True):
        assert {id for id in by[1:] if each.id in named[id]} <= contested
    assert contested <= {id for by in standing for id in by[1:]}


def test_a_second_decision_in_place_of_one_is_a_row() -> None:
    meeting = Meeting()
    meeting.say("Ada", "03-01", "decision: Use A")
    for who, id, text in (("Grace", "DEC-002", "Use B"), ("Linus", "DEC-003", "Use C")):
        meeting.press(who, make_entry(id, {"text": text, "replaces": ["DEC-001"]}))
    (row,) = [one for one in not_settled(SCHEMA, meeting.specification) if one.kind is RowKind.CONTESTED]

    said = "DEC-003 text: Grace says Use B (DEC-002), Linus says Use C (DEC-003). Which one counts?"
    assert unsettled_row(row, SCHEMA) == said
    meeting.say("Ada", "03-01", "DEC-002: withdrawn")
    assert not_settled(SCHEMA, meeting.specification) == ()
