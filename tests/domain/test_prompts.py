"""One question of ours at the bottom of the thread: what a decision changes, and what is to be settled then."""

from collections.abc import Callable
from typing import Any

import pytest

from bot.domain.messages.form import Submission
from bot.domain.messages.message import Action, Message
from bot.domain.roundtable.posts import PromptKind
from bot.domain.roundtable.state import PROMPT
from bot.domain.roundtable.transitions import amending
from bot.domain.specification.claims import EntryState
from bot.errors import NotNow
from bot.slack.render import parts
from tests.domain.books import few_steps
from tests.domain.table import Table, person, played_once

SPECIFIED = "requirement: Changes merge per field\nAC: the engineer is asked\nrequirement: Never billed twice"
DECISION = "decision: Conflicts go to the back office"


@played_once
def table() -> Table:
    return Table().start().say(SPECIFIED)


def asked(at: Table) -> Message:
    """The open question at the bottom."""
    assert at.rt.prompt
    return at.standing(at.rt.live[PROMPT].ts)


def prompt(at: Table) -> PromptKind | None:
    return at.rt.prompt.kind if at.rt.prompt else None


def texts(at: Table) -> list[str]:
    """What stands in the thread now."""
    return [said.message.text for said in at.world.thread]


def listed(at: Table) -> list[str]:
    return [one.value.partition("/")[2] for one in asked(at).choices if one.action == Action.CHANGES]


def choose(at: Table, *ids: str, by: str = "DEC-001", who: str = "grace") -> Table:
    return at.press_outside(Action.CHANGES, who=who, value=",".join(f"{by}/{id}" for id in ids))


def stale(at: Table) -> set[str]:
    return {one.id for one in at.rt.specification.entries.values() if one.stale}


def test_a_decision_asks_once_what_it_changes() -> None:
    """Also after a restart before the post; where nothing is written nothing is asked."""
    at = table().say(DECISION)

    assert asked(at).text.startswith("DEC-001 is recorded: Conflicts go to the back office (decided by Ada)")
    assert listed(at) == ["FR-001", "FR-002", "AC-001-01"]
    assert sum("is recorded" in text for text in texts(at)) == 1

    at = table().stop_paying().say(DECISION)
    at.paying = True
    at.restart()

    assert sum("is recorded" in text for text in texts(at)) == 1
    assert listed(at) == ["FR-001", "FR-002", "AC-001-01"]

    assert Table().start().say(DECISION).rt.prompt is None


def test_what_a_decision_may_change_is_one_list_in_groups() -> None:
    choice, none = pressable(asked(table().say(DECISION)))

    assert choice["type"] == "multi_static_select"
    (group,) = choice["option_groups"]
    assert group["label"]["text"] == "Requirements"
    assert [(one["text"]["text"], one["value"]) for one in group["options"]] == [
        ("FR-001 Changes merge per field", "item/DEC-001/FR-001"),
        ("FR-002 Never billed twice", "item/DEC-001/FR-002"),
        ("AC-001-01 the engineer is asked", "item/DEC-001/AC-001-01"),
    ]
    assert none["action_id"] == f"roundtable.{Action.CHANGES_NONE}"


def pressable(message: Message) -> list[dict[str, Any]]:
    """What Slack shows below it."""
    (shown,) = parts(message)
    return [one for block in shown.blocks if block["type"] == "actions" for one in block["elements"]]


def test_what_was_named_comes_first() -> None:
    at = table().elaborate().say("AC-001-01 will not work in a basement").say("objection: too slow")
    at.say("decision: We log it").say(DECISION)

    headings = list(dict.fromkeys(one.group for one in asked(at).choices if one.group))
    assert headings == ["Named while you talked", "Requirements", "Open objections", "Other decisions"]
    assert listed(at) == ["AC-001-01", "FR-001", "FR-002", "OBJ-001", "DEC-001"]


def test_what_is_chosen_is_contradicted_until_people_settle_it() -> None:
    """The same post asks on, one by one."""
    at = choose(table().say(DECISION), "AC-001-01", "FR-002")

    line = at.lines[-1]
    assert (line.person, line.content) == ("grace", "Grace chose: DEC-001 changes AC-001-01 and FR-002.")
    assert at.rt.specification.entries["DEC-001"]["changes"] == ["AC-001-01", "FR-002"]
    assert stale(at) == {"AC-001-01", "FR-002"}
    assert "**AC-001-01** says “the engineer is asked”. **DEC-001** changes that." in asked(at).text
    labels = [one["text"]["text"] for one in pressable(asked(at))]
    assert labels == ["Write it anew…", "It still holds", "Withdraw it"]

    at.say("AC-001-01: the back office is asked")
    assert stale(at) == {"FR-002"}
    assert "**FR-002** says “Never billed twice”" in asked(at).text

    at.press_outside(Action.HOLDS, value="FR-002")
    assert stale(at) == set()
    assert prompt(at) is None
    assert [text for text in texts(at) if text.startswith("DEC-001 is recorded")] == [
        "DEC-001 is recorded: Conflicts go to the back office (decided by Ada)"
    ]


def test_what_is_chosen_and_withdrawn_asks_no_more() -> None:
    """Going on closes the list."""
    at = choose(table().say(DECISION), "FR-002").press_outside(Action.WITHDRAW, value="FR-002")

    assert at.rt.specification.entries["FR-002"].state is EntryState.WITHDRAWN
    assert prompt(at) is None

    at = table().say(DECISION).press(Action.FINISH_STEP)

    assert prompt(at) is None
    assert "DEC-001 is recorded: Conflicts go to the back office (decided by Ada)" in texts(at)


def test_a_chosen_decision_is_replaced_and_a_chosen_objection_answered() -> None:
    at = table().elaborate().say("decision: We log it").say("objection: too slow").say(DECISION)
    choose(at, "OBJ-001", "DEC-001", by="DEC-002")
    known = at.rt.specification.entries

    assert known["DEC-001"].replaced_by == ("DEC-002",)
    assert (known["OBJ-001"]["outcome"], known["OBJ-001"]["outcome_text"]) == (
        "accepted",
        "settled by DEC-002",
    )
    assert prompt(at) is None, "nothing is left to settle"


def test_none_of_them_is_an_answer() -> None:
    """By a press or in words."""
    pressed = table().say(DECISION).press_outside(Action.CHANGES_NONE, value="DEC-001")
    typed = table().say(DECISION).say("None of them")

    for at in (pressed, typed):
        assert at.lines[-1].content == "Ada says: DEC-001 changes nothing that is written."
        assert prompt(at) is None
        assert stale(at) == set()


def test_what_is_typed_with_the_decision_needs_no_list() -> None:
    at = table().say(f"{DECISION}; changes: AC-001-01")

    assert prompt(at) is PromptKind.CONTRADICTED
    assert asked(at).text.startswith("**AC-001-01** says")


def test_a_decision_that_counts_no_more_names_the_one_that_does() -> None:
    """To a press, and in its form."""
    at = table().say(DECISION).say("DEC-001: Conflicts go to dispatch")

    with pytest.raises(NotNow, match=r"DEC-001 was replaced by DEC-002\."):
        choose(at, "FR-001")

    with pytest.raises(AssertionError, match=r"DEC-001 was replaced by DEC-002\."):
        reverse(at, "withdraw")


def test_everybody_for_one_option_is_asked_to_record_it() -> None:
    """Not yet silences that until positions change."""
    at = table().say("I am here", who="grace").elaborate().say("option: Back office").say("for A")
    assert prompt(at) is None
    at.say("for A", who="grace")

    assert prompt(at) is PromptKind.AGREED
    assert asked(at).text.startswith("**Ada and Grace are all for A**: Back office")
    record = asked(at).choices[0]
    at.press(record.action, who="grace", value=record.value)

    known = at.rt.specification.entries["DEC-001"]
    assert known["deciders"] == ["Ada", "Grace"]
    assert asked(at).text.startswith("DEC-001 is recorded: Back office")
    assert sum("Back office" in one for one in texts(at)) <= 3

    at = table().say("I am here", who="grace").elaborate().say("option: Back office").say("option: Dispatch")
    at.say("for A").say("for A", who="grace").say("not yet")
    assert prompt(at) is None

    at.wait(120).say("for B").say("for B", who="grace")
    assert prompt(at) is PromptKind.AGREED


# --- reversal by a form ---------------------------------------------------------------------------------------------


def reverse(at: Table, how: str, *, new: str = "", because: str = "") -> Table:
    """Opens the form, submits it, and hears what comes of it."""
    form = amending.opened(at.rt, Action.REVERSE, "", person("grace"), at.playbook)
    values = {"which": "DEC-001", "how": how, "new": new, "because": because}
    submission = Submission(
        key=at.key(), at=at.now(), person=person("grace"), name=form.name, slug=form.slug, values=values
    )
    reading = amending.read(at.rt, submission, at.playbook)
    assert not reading.errors, reading.errors
    for one in amending.inputs(at.rt, submission, reading):
        at.hear(one)
    return at


DOORS: dict[str, Callable[[Table], Table]] = {
    "a step": lambda at: at,
    "a menu": lambda at: at.do_step(),
    "a discussion": lambda at: at.elaborate(),
    "a stop": lambda at: at.stop(),
    "the end": lambda at: at.through("02-01").press_continue(),
}


@pytest.mark.parametrize("door", DOORS)
def test_a_form_reverses_a_decision_everywhere(door: str) -> None:
    at = DOORS[door](Table(few_steps()).start().say(SPECIFIED).say(DECISION))
    reverse(at, "replace", new="Conflicts go to dispatch", because="they see both")
    known = at.rt.specification.entries

    assert known["DEC-001"].replaced_by == ("DEC-002",)
    assert (known["DEC-002"]["text"], known["DEC-002"]["reason"]) == (
        "Conflicts go to dispatch",
        "they see both",
    )
    assert listed(at) == ["FR-001", "FR-002", "AC-001-01"]


@pytest.mark.parametrize("door", DOORS)
def test_a_form_withdraws_a_decision_everywhere(door: str) -> None:
    at = reverse(DOORS[door](Table(few_steps()).start().say(SPECIFIED).say(DECISION)), "withdraw")

    assert at.rt.specification.entries["DEC-001"].state is EntryState.WITHDRAWN


def test_the_form_says_what_it_lacks() -> None:
    with pytest.raises(NotNow, match="Nothing is decided here yet"):
        amending.opened(table().rt, Action.REVERSE, "", person("grace"), table().playbook)
    with pytest.raises(AssertionError, match=r"Write the new decision\."):
        reverse(table().say(DECISION), "replace")


def test_files_say_what_is_contradicted_and_adrs_what_they_change() -> None:
    """The old decision's ADR names the new one, which has an ADR of its own wherever it was said."""
    at = Table().start().through("03-01").say(SPECIFIED).say(DECISION)
    choose(at, "AC-001-01").press_continue()
    (first,) = (text for path, text in at.world.files.items() if path.startswith("adr/0001"))
    assert "AC-001-01" in first
    assert "contradicted by DEC-001" in at.world.files["requirements-spec.md"]

    at.press_outside(Action.HOLDS, value="AC-001-01").say("DEC-001: Conflicts go to dispatch").finish()
    adrs = {path.partition("-")[0]: text for path, text in at.world.files.items() if path.startswith("adr/")}
    assert "superseded by [DEC-002](0002-conflicts-go-to-dispatch.md)" in adrs["adr/0001"]
    assert "- Replaces [DEC-001]" in adrs["adr/0002"]
    assert "contradicted by" not in at.world.files["requirements-spec.md"]


def test_an_objection_that_is_settled_by_a_change_asks_what_is_changed() -> None:
    at = table().elaborate().say("objection: too slow").press(Action.OBJECTION, value="OBJ-001/accepted")

    assert asked(at).text.startswith("OBJ-001 is settled by a change: too slow")
    choose(at, "FR-001", by="OBJ-001")
    assert stale(at) == {"FR-001"}
    assert "**FR-001** says “Changes merge per field”. **OBJ-001** changes that." in asked(at).text
