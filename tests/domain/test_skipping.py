"""Skipping the rest of a phase: drafts instead of questions, and nothing is claimed to be done that was not."""

from bot.domain.messages.menus import MenuKind
from bot.domain.messages.message import Action
from bot.domain.roundtable.stage import Stage
from tests.domain.books import few_steps, step
from tests.domain.table import Table, played_once

THREE = few_steps(step("00-01"), step("00-02"), step("00-03"), step("01-01"))
SAID = "Skipping remaining steps in this phase. I'll produce draft artifacts based on what we've discussed so far."


@played_once
def skipped() -> Table:
    return Table(THREE).start().do_step().press(Action.SKIP)


def test_a_screen_shows_which_steps_are_left_out() -> None:
    """The sentence of the seed stays where there are no blocks."""
    [message] = [one for one in skipped().world.shown if one.text == SAID]

    assert message.card
    assert message.card.title == "Left out: Topic 00-02, Topic 00-03"
    assert message.card.subtitle == "What was said about them is kept as notes."


def test_nothing_is_written_for_a_step_of_which_nobody_spoke() -> None:
    assert "## 3. Topic" not in skipped().world.files["quick-scan.md"]


def test_the_phase_is_complete_and_its_skipped_steps_are_not() -> None:
    """One commit, and then the menu of the phase; the persona says what skipping means."""
    table = skipped()

    assert table.meta.phases_completed == ("00-quick-scan",)
    assert table.subjects[-1] == "phase 00-quick-scan Quick Scan"
    assert table.menu.kind is MenuKind.PHASE
    assert table.order("commit", "rewrite")[-2:] == ["commit", "rewrite"]

    assert SAID in table.texts
    assert table.last.speaker == "business-analyst"

    assert skipped().meta.steps_completed == ("00-01",)

    commits = len(table.world.commits)
    table.press_continue()

    assert (table.rt.phase_key, table.rt.step_id) == ("01-requirements", "01-01")
    assert len(table.world.commits) == commits


def test_whatever_comes_after_skipping_returns_to_the_menu_of_the_phase() -> None:
    """The skipped steps do not come back by feedback, by looking again, or by talking about it."""
    table = skipped().say("The drafts look fine.")

    assert table.menu.kind is MenuKind.PHASE

    table = skipped().resume()

    assert table.menu.kind is MenuKind.PHASE
    assert table.offered()[0] == Action.CONTINUE

    table = skipped().press(Action.ELABORATE).say("done")

    assert table.menu.kind is MenuKind.PHASE


def test_stopping_after_skipping_resumes_with_the_next_phase() -> None:
    """The phase is closed, so that is where we go on."""
    table = skipped().press(Action.STOP).resume()

    assert table.rt.phase_key == "01-requirements"


def test_skipping_the_rest_of_the_last_phase_still_ends_the_analysis() -> None:
    """With its finishing words, in git and in the thread."""
    table = Table(few_steps(step("00-01"), step("02-01"), step("02-02"))).start()
    table.through("02-01").press(Action.SKIP).press_continue()

    assert table.rt.stage is Stage.ANALYSED
    ending = "Analysis complete. offline-sync has no requirement and no work with an owner."
    assert ending in table.last.text
    assert "2 of 3 steps have content; go deeper for the others." in table.last.text
    assert ending in [line.content for line in table.world.commits[-1].lines]


def test_words_said_while_the_phase_is_saved_are_written_too() -> None:
    """As feedback on the last step that was finished."""
    table = Table(THREE).start().do_step().stop_paying().press(Action.SKIP)
    table.say("And no drafts for trains!", who="grace").resume_paying()

    assert "- Grace: And no drafts for trains!" in table.world.files["quick-scan.md"]
    assert table.menu.kind is MenuKind.PHASE
