"""plan.md: what a person needs who begins tomorrow and was not there."""

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.domain.planning.plan_review import plan_page
from bot.domain.values.markdown import outline
from bot.domain.values.text import clean
from tests.specification.meeting import PLAYBOOK, SCHEMA, Meeting

HEADINGS = [
    "Order", "Before it can start", "Requirements and how they are tested", "Files", "Risks", "Decisions", "Roles"
]  # fmt: skip
MARKDOWN = [
    "# a heading", "| a | cell |", "<!-- a comment -->", "- a bullet", "1. one", "```", "~~~", "two\n\n## x",
    "---",
]  # fmt: skip
WORDS = st.text(min_size=1, max_size=60).map(lambda text: clean(text).strip()).filter(bool) | st.sampled_from(
    MARKDOWN
)


def page_of(meeting: Meeting) -> str:
    return plan_page("Offline sync", PLAYBOOK.agenda.plan.step_id, SCHEMA, meeting.specification)


def held() -> Meeting:
    meeting = Meeting()
    meeting.say("Ada", "01-06", "requirement: Merge each field\nAC: both edits survive\nrequirement: A list")
    meeting.say("Ada", "01-06", "requirement: A fax")
    meeting.say("Grace", "01-08", "Must: FR-001\nShould: FR-002\nWon't: FR-003")
    meeting.say("Linus", "02-02", "task: pilot in Munich -> WRK-002")
    meeting.say(
        "Linus", "02-02", "task: outbox | flag; owner: Linus; by when: 12 March; traces: FR-001, FR-002"
    )
    meeting.say("Linus", "02-01", "file: sync/merge.go (FR-001); change: modify; reason: keeps both values")
    meeting.say("Linus", "02-03", "risk: two phones with one login -> device id in the outbox")
    meeting.say("Grace", "04-05", "action: find an owner for the job -> Grace; by when: Friday")
    meeting.say("Linus", "03-02", "decision: the back office picks; because: gloves; changes: AC-001-01")
    meeting.say("Grace", "05-01", "Test Planner: go with a condition; condition: a load test first")
    return meeting


def test_it_says_what_is_done_first_and_what_is_in_the_way() -> None:
    """In the order of doing, with owner, date and test; what nobody accepted or agreed to is below."""
    assert (
        page_of(held())
        == """\
# Plan: Offline sync

Not ready: 1 to be confirmed again, 1 must or should without a criterion. 3 points are not settled (last section).

## Order

| # | What | Who | By | After | Tests |
| --- | --- | --- | --- | --- | --- |
| 1 | WRK-002 outbox \\| flag, for FR-001 and FR-002 (Linus) | Linus | 12 March |  | AC-001-01 |
| 2 | WRK-001 pilot in Munich (Linus) | nobody yet |  | WRK-002 | none named |

## Before it can start

- **ACT-001** find an owner for the job -> Grace, by Friday (Grace)

## Requirements and how they are tested

- **FR-001** Merge each field (must) (Ada)
  - test AC-001-01: both edits survive (Ada) (contradicted by DEC-001)
- **FR-002** A list (should) (Ada)
  - no test yet

## Files

- **FILE-001** sync/merge.go (modify): keeps both values, for FR-001 (Linus)

## Risks

- **RSK-001** two phones with one login -> device id in the outbox (nobody yet)

## Decisions

- **DEC-001** the back office picks. Decided by Linus. Because: gloves. Changes AC-001-01.

## Roles

- Product Planner: no verdict yet
  - Who had this problem last, and what happened to them?
- **APP-001** Test Planner: go with a condition; a load test first (Grace)
  - How would somebody see that FR-002 works?

## Not settled (3)

- AC-001-01 both edits survive: contradicted by DEC-001
- FR-002 A list: no acceptance criterion
- WRK-001 pilot in Munich: no owner
"""
    )


def test_it_is_ready_when_nothing_is_in_the_way() -> None:
    """A question of a role is none of it: people give the verdicts."""
    meeting = Meeting()
    meeting.say("Ada", "01-06", "requirement: Export all rows\nAC: 31 rows give a file of 31 rows")
    meeting.say("Ada", "02-02", "task: the export; owner: Ada")

    assert "\n\nReady: nothing is in the way.\n\n## Order\n" in page_of(meeting)
    assert page_of(meeting).endswith("## Not settled (0)\n\n- Nothing.\n")

    meeting.say("Ada", "02-02", "open question: who tells them? -> Grace")
    assert "Ready: nothing is in the way. 1 point is not settled (last section)." in page_of(meeting)


def test_without_work_nothing_is_ready() -> None:
    """Nobody has said what is done first."""
    meeting = Meeting()
    meeting.say("Ada", "01-06", "requirement: Export all rows\nAC: 31 rows give a file of 31 rows")

    assert "## Order" not in page_of(meeting)
    assert "Not ready: no work with an owner. 1 point is not settled (last section)." in page_of(meeting)
    assert "- Nobody has said what is done first.\n" in page_of(meeting)


@given(st.sampled_from(["requirement", "AC", "risk", "task", "file", "action", "decision"]), WORDS, WORDS)
@settings(deadline=None)
def test_words_never_change_the_shape_of_the_page(label: str, words: str, more: str) -> None:
    """Whatever people write is text: only our headings stand in it, in this order, and nothing is hidden."""
    meeting = Meeting()
    meeting.say("Ada", "01-06", f"requirement: {more}\n{label}: {words}\nrisk: {more} -> {words}")
    shape = outline(page_of(meeting))

    _, *found, last = shape.headings
    assert [one.text for one in found] == [one for one in HEADINGS if one in {each.text for each in found}]
    assert {one.level for one in found} == {2}
    assert last.text.startswith("Not settled (")
    assert not shape.hidden
