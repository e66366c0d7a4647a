"""The end of an analysis: said in the thread, kept in git, and never in the way of a new beginning."""

import pytest

from bot.domain.messages.message import Action
from bot.domain.roundtable.stage import Stage
from bot.errors import NotNow
from tests.domain.books import few_steps
from tests.domain.table import Table, played_once

FINISHED = "Analysis complete. offline-sync has no requirement and no work with an owner."


@played_once
def analysed() -> Table:
    return Table(few_steps()).start().through("02-01").press_continue()


def test_the_finishing_words_come_after_the_commit_that_holds_them() -> None:
    """As the only line of the part that is called `review_ready`."""
    table = Table(few_steps()).start().through("02-01")
    table.completing.clear()
    table.press_continue()

    assert table.rt.stage is Stage.ANALYSED
    assert table.order("commit", "post") == ["commit", "post"]
    assert FINISHED in table.last.text
    assert table.last.note == "Phase 02 (Impact Analysis) complete."

    table = analysed()

    line = table.world.commits[-1].lines[-1]
    assert (line.content, line.phase) == (FINISHED, "review_ready")
    assert table.rt.lines == ()


def test_all_five_phases_make_an_item_analysed() -> None:
    """`analysis_status` is derived from them."""
    table = Table().start().through("04-05").press_continue()

    assert table.meta.analysis_status == "analyzed"
    assert len(table.meta.steps_completed) == 24
    assert FINISHED in table.last.text


def test_what_is_said_afterwards_or_in_the_last_moment_is_committed() -> None:
    """Nothing else will come that could save it."""
    table = analysed().say("Thank you all!", who="grace")

    assert table.subjects[-1] == "said afterwards"
    assert "Thank you all!" in [line.content for line in table.world.commits[-1].lines]
    assert table.rt.stage is Stage.ANALYSED

    table = Table(few_steps()).start().through("02-01").stop_paying().press_continue().say("Wait!")
    table.resume_paying()

    assert "Wait!" in [line.content for line in table.world.commits[-1].lines]
    assert table.rt.lines == ()


def test_a_current_analysis_stays_as_it_is() -> None:
    """Whether somebody resumes it, takes it up from git, or wants to stop it."""
    table = analysed().resume()

    assert table.last.text == "Analysis is already complete and current. Nothing to do."
    assert table.rt.stage is Stage.ANALYSED

    table = analysed().forget()

    assert table.rt.stage is Stage.ANALYSED
    assert table.last.text == "Analysis is already complete and current. Nothing to do."

    table = analysed()

    with pytest.raises(NotNow):
        table.stop()


def test_a_code_base_that_moved_on_makes_an_analysis_stale() -> None:
    """It can stay as it is."""
    table = analysed()
    table.world.commits_behind = 3
    table.resume()

    assert table.last.text == "Codebase has changed since analysis (3 commits). Re-run analysis?"
    assert table.offered() == [Action.REANALYSE, Action.CANCEL]

    table = analysed()
    table.world.commits_behind = 1
    table.resume().press(Action.CANCEL, who="grace")

    assert table.world.thread[-1].message.note == "Cancel -- chosen by Grace"
    assert table.rt.stage is Stage.ANALYSED
    assert len(table.meta.steps_completed) == 4


def test_a_stale_analysis_can_be_made_again() -> None:
    """A new beginning that cannot be saved is one all the same."""
    table = (
        Table(few_steps()).start().elaborate().say("Tunnels.").say("done").through("02-01").press_continue()
    )
    table.world.commits_behind = 1
    table.resume().press(Action.REANALYSE)

    assert (table.rt.stage, table.rt.step_id) == (Stage.DISCUSSING, "00-01")
    assert table.meta.steps_completed == table.meta.phases_completed == ()
    assert len(table.meta.elaborations) == 1
    assert "quick-scan.md" in table.world.files

    table = analysed()
    table.world.commits_behind = 1
    table.resume().fail("commit").press(Action.REANALYSE)
    asked = table.rt.step_id
    table.do_step()

    assert asked == "00-01"
    assert table.meta.steps_completed == ("00-01",)


def test_a_phase_that_people_take_out_by_hand_is_done_again() -> None:
    """A folder that cannot be read leaves the end as it is."""
    table = analysed().meta_says(phases_completed=["00-quick-scan"], steps_completed=["00-01"]).resume()

    assert (table.rt.stage, table.rt.step_id) == (Stage.DISCUSSING, "01-01")

    table = analysed().fail("read_item").resume()

    assert "already complete and current" not in table.last.text
    assert table.rt.stage is Stage.ANALYSED
