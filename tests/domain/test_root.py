"""The first message of a thread follows what happens, and the final brief is posted once."""

import pytest

from bot.domain.messages.message import ITEM, Action, Message
from bot.domain.roundtable.effects import Post
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import BRIEF
from bot.errors import NotNow
from tests.domain.books import few_steps, step
from tests.domain.card_scene import behind_dots, labels
from tests.domain.table import Table, played_once


@played_once
def table() -> Table:
    return Table(few_steps()).start()


@played_once
def analysed() -> Table:
    return table().through("02-01").press_continue()


def root(at: Table) -> Message:
    return at.world.root_edits[-1].message


def briefs(at: Table) -> list[Post]:
    return [one for one in at.completing if isinstance(one, Post) and one.broadcast]


# --- the first message ----------------------------------------------------------------------------------------------


def test_it_says_where_the_analysis_stands() -> None:
    """From the first question on, and after each step."""
    at = table()
    assert "Step 1 of 4, **Topic 00-01** · Ada" in root(at).text
    assert "saved" not in root(at).text

    at.do_step()
    assert "Step 1 of 4, **Topic 00-01** (finished). Next: **Requirements** ·" in root(at).text
    assert labels(root(at)) == ["Catch me up", "What we have so far"]
    assert behind_dots(root(at)) == ["Settings…", "Export the record", "Pause for today"]


def test_it_says_what_goes_on_with_a_step_until_people_go_on() -> None:
    """Found by hand: it named the next step while the one before was open, or discussed."""
    at = Table(few_steps(step("00-01"), step("00-02"))).start().say("Edits get lost.")
    assert "**Topic 00-01** ·" in root(at).text

    at.press(Action.FINISH_STEP)
    assert "**Topic 00-01** (finished). Next: **Topic 00-02** ·" in root(at).text
    at.press(Action.ELABORATE)
    assert "**Topic 00-01** (in discussion) ·" in root(at).text
    assert "00-02" not in root(at).text

    at.stop()
    assert "**Topic 00-01** (in discussion) ·" in root(at).text
    at.restart().resume().press(Action.END_ELABORATION)
    assert "**Topic 00-01** (finished)." in root(at).text

    at.press_continue()
    assert "**Topic 00-02** ·" in root(at).text
    at.do_step()
    assert "**Topic 00-02** (finished). Next: **Requirements** ·" in root(at).text
    at.press_outside(Action.STOP)
    assert "**Topic 00-02** (finished). Next: **Requirements** ·" in root(at).text


def test_it_says_that_a_plan_is_made() -> None:
    """Also before all phases are complete."""
    at = table().do_step().plan()

    assert "\n**Plan** · Ada" in root(at).text


def test_it_is_edited_only_when_it_says_something_new() -> None:
    """An answer changes the card, and the first message only in who is waited for; a restart neither."""
    at = table()
    assert "**Waiting for:** Ada" in root(at).text
    at.say("One answer.")
    assert "Waiting for" not in root(at).text
    before = len(at.world.root_edits)

    at.say("Another answer.")

    assert len(at.world.root_edits) == before

    at = table().do_step()
    before = len(at.world.root_edits)

    at.restart().say("Some more words about it.")

    assert len(at.world.root_edits) == before


def test_it_says_who_is_waited_for_and_when_answers_are_due() -> None:
    """By the clock of who set it; in a discussion anybody may speak."""
    at = table().say("due 2026-12-24 17:00", who="grace")
    assert "**Waiting for:** Ada, Grace · due Thursday 24 December, 17:00 (UTC)" in root(at).text

    at.say("Edits get lost.", who="grace").do_step("In tunnels.")
    assert "Waiting for" not in root(at).text
    assert "**Due:** Thursday 24 December" in root(at).text


def test_its_buttons_change_at_once() -> None:
    """Progress waits for its turn. Whoever pauses or resumes sees it, also when it was edited just before."""
    at = table().do_step()
    progress = at.world.root_edits[-1]
    pausing = at.press_outside(Action.STOP).world.root_edits[-1]
    resuming = at.press_outside(Action.RESUME).world.root_edits[-1]

    assert [one.pressed for one in (progress, pausing, resuming)] == [False, True, True]


def test_it_recovers_when_the_store_is_lost() -> None:
    """It is rendered anew from what git has."""
    at = table().through("00-01")
    before = len(at.world.root_edits)

    at.forget()

    assert len(at.world.root_edits) > before
    assert "Next: **Requirements** ·" in root(at).text


def test_pausing_and_resuming_from_it() -> None:
    """It says who paused, and the same buttons work at any time."""
    at = table().press_outside(Action.STOP, who="grace")
    assert "**Paused by Grace.**" in root(at).text
    assert [one.action for one in root(at).choices] == [Action.RESUME, Action.READ]

    at.restart().press_outside(Action.RESUME)
    assert at.rt.stage is Stage.DISCUSSING
    assert "Paused" not in root(at).text


def test_its_button_answers_when_it_makes_no_sense() -> None:
    """A client may still show an older state of it."""
    at = analysed()

    with pytest.raises(NotNow):
        at.press_outside(Action.STOP)


# --- the final brief ------------------------------------------------------------------------------------------------


def test_the_brief_is_posted_once_and_shown_in_the_channel() -> None:
    """After the commit that completes the analysis; its words in the record are those of the ending."""
    at = analysed()

    assert len(briefs(at)) == 1
    assert (
        "Analysis complete. offline-sync has no requirement and no work with an owner."
        in briefs(at)[0].message.text
    )
    assert briefs(at)[0].message.token == ITEM


def test_it_tells_who_decided_and_follows_a_reversal() -> None:
    """It is edited where it stands."""
    at = table()
    at.say("decision: keep edits on the phone", who="grace").through("02-01").press_continue()
    posted_at = at.rt.stands_at(BRIEF)
    assert "keep edits on the phone. Decided by Grace." in at.standing(posted_at).text

    at.restart().say("DEC-001: keep edits on the server", who="grace")

    assert "keep edits on the server. Decided by Grace." in at.standing(posted_at).text
    assert len(briefs(at)) == 1


def test_a_step_that_was_opened_again_does_not_post_a_second_one() -> None:
    """The brief says the new state."""
    at = table().through("01-01").press(Action.SKIP).press_continue().through("02-01").press_continue()
    assert len(briefs(at)) == 1
    left = [one for one in ("01-02", "01-03") if one not in at.rt.steps_completed]

    at.press_outside(Action.REOPEN, value=left[0]).do_step()
    while at.rt.stage is Stage.AT_BOUNDARY:
        at.press_continue()

    assert at.rt.stage is Stage.ANALYSED
    assert len(briefs(at)) == 1


def test_a_lost_store_does_not_post_it_again() -> None:
    at = analysed()

    at.forget()

    assert len(briefs(at)) == 1
    assert at.rt.stage is Stage.ANALYSED
