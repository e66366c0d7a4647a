"""Steps that were left out: they are listed with the reason, and people can open each of them."""

import pytest

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.taxonomy import trouble
from bot.domain.messages.menus import MenuKind
from bot.domain.messages.message import ITEM, Action
from bot.domain.roundtable.stage import Stage
from bot.errors import NotNow
from tests.domain.books import few_steps, step
from tests.domain.table import Table, played_once

BROKEN = trouble("ERR-STEP-004", phase_key="00-quick-scan", filename="02-words.md", reason="a bracket")
ALL = (step("00-01"), step("00-02"), step("01-01"), step("02-01"))
WITHOUT_SECOND = few_steps(*(one for one in ALL if one.step_id != "00-02"), troubles=[BROKEN])
MENDED = few_steps(*ALL)


def buttons(table: Table) -> list[tuple[str, str]]:
    choices = table.menu.message.choices
    return [(one.label, one.value) for one in choices if one.action == Action.REOPEN]


def mended(playbook: Playbook = MENDED) -> Table:
    """The file of step 00-02 could not be read until its phase was over."""
    table = Table(WITHOUT_SECOND).start().do_step().press_continue()
    table.playbook = playbook
    return table


def test_a_file_that_cannot_be_read_is_listed() -> None:
    """There is nothing to open yet."""
    table = Table(WITHOUT_SECOND).start().do_step()

    assert f"Not done in this phase:\n- 02-words.md: {BROKEN.sentence}" in table.last.text
    assert buttons(table) == []


def test_a_mended_step_is_offered_in_its_phase() -> None:
    """Nobody has to ask for it."""
    table = Table(WITHOUT_SECOND).start().do_step()
    table.playbook = MENDED
    table.resume()

    assert table.menu.kind is MenuKind.STEP
    assert table.press_continue().rt.step_id == "00-02"


def test_a_mended_step_of_an_earlier_phase_is_offered_with_a_button() -> None:
    """With its reason, at the menu of each later phase."""
    table = mended().do_step()

    assert "Not done:\n- 00-02 Topic 00-02: It was not discussed." in table.last.text
    assert buttons(table) == [("Open 00-02 Topic 00-02", "00-02")]


def test_a_step_that_is_opened_is_led_next() -> None:
    """By the persona of its phase; then the analysis goes on where it was."""
    table = mended().do_step().press(Action.REOPEN, value="00-02")

    assert (table.rt.stage, table.rt.phase_key, table.rt.step_id) == (
        Stage.DISCUSSING,
        "00-quick-scan",
        "00-02",
    )
    table.do_step()
    assert table.meta.steps_completed == ("00-01", "01-01", "00-02")
    assert buttons(table) == []
    assert table.press_continue().rt.phase_key == "01-requirements"
    assert table.press_continue().rt.step_id == "02-01"


def test_a_step_that_is_opened_is_still_open_after_a_pause() -> None:
    """Its phase is complete, and it is not."""
    table = mended().do_step().press(Action.REOPEN, value="00-02").stop().resume()

    assert (table.rt.stage, table.rt.step_id) == (Stage.DISCUSSING, "00-02")


def test_a_finished_step_that_is_open_again_is_not_called_finished() -> None:
    """In a pause its card does not say that it is saved; the greeting names it as the step that is open."""
    table = Table(MENDED).start().do_step().press_continue().do_step().say("reopen 00-01").stop()
    assert table.rt.card
    paused = table.card
    table.resume()

    assert paused.card
    assert (paused.card.title, paused.note) == ("Topic 00-01", "Stopped by Ada")
    assert not [one for one in paused.card.foot if "Finished" in one]
    assert table.last.text.startswith(
        "Welcome back. Last time we completed Topic 00-02. Let's pick up from Topic 00-01.\n\n"
    )


def test_a_step_that_is_finished_again_is_saved() -> None:
    """Also in a pause at its menu."""
    table = Table(MENDED).start().do_step().press_continue().do_step().say("reopen 00-01").do_step().stop()

    assert table.card.card
    assert table.card.card.title == "Topic 00-01 – saved"


def test_a_step_is_opened_once() -> None:
    """Another person was faster, or its file is gone."""
    table = mended().do_step()
    menu = table.menu

    with pytest.raises(NotNow, match="Its file may be gone"):
        table.press(Action.REOPEN, value="00-09", menu=menu)
    table.press_outside(Action.REOPEN, value="00-02")
    with pytest.raises(NotNow, match="open already"):
        table.press_outside(Action.REOPEN, value="00-02")


def test_all_that_was_left_out_is_listed() -> None:
    """A condition, a dependency, and the rest of the phase; each with a button."""
    steps = (
        step("00-01"),
        step("00-02", skip_if="scope == 'unknown'"),
        step("00-03", depends_on=["00-09"]),
        step("00-04"),
        step("00-05"),
    )
    table = Table(few_steps(*steps)).start().do_step().press_continue().do_step().press(Action.SKIP)

    waits = trouble("ERR-STEP-008", step_id="00-03", dep_id="00-09").sentence
    assert (
        "Not done in this phase:\n"
        "- 00-02 Topic 00-02: Step 00-02 skipped: condition 'scope == 'unknown'' is true.\n"
        f"- 00-03 Topic 00-03: {waits}\n"
        "- 00-05 Topic 00-05: It was skipped with the rest of the phase."
    ) in table.last.text
    assert [value for _, value in buttons(table)] == ["00-02", "00-03", "00-05"]
    assert table.press(Action.REOPEN, value="00-02").rt.step_id == "00-02"


def test_few_of_many_steps_have_a_button_and_all_can_be_opened_by_number() -> None:
    """A card with twenty buttons would hide those that people need. One of the others is named."""
    steps = [step(f"00-0{number}") for number in range(1, 10)]
    table = Table(few_steps(*steps)).start().do_step().press(Action.SKIP)

    assert [value for _, value in buttons(table)] == ["00-02", "00-03", "00-04", "00-05", "00-06"]
    assert "To open a step without a button, type its number: `reopen 00-07`." in table.last.text
    assert table.say("reopen 00-09").rt.step_id == "00-09"


def test_a_complete_analysis_offers_what_was_left_out() -> None:
    """A file may be mended after the end; finishing the step completes the analysis again."""
    table = mended(WITHOUT_SECOND).through("02-01").press_continue()
    table.playbook = MENDED
    table.resume()

    assert table.last.text.endswith("Nothing to do.\n\nNot done:\n- 00-02 Topic 00-02: It was not discussed.")
    table.press(Action.REOPEN, value="00-02").do_step().press_continue()
    assert table.rt.stage is Stage.ANALYSED
    assert "00-02" in table.meta.steps_completed
    assert table.resume().last.text == "Analysis is already complete and current. Nothing to do."


def test_nothing_waits_for_a_step_that_its_condition_skipped() -> None:
    """Beyond ERR-STEP-008: what was left out on purpose cannot be waited for."""
    steps = (
        step("00-01"),
        step("00-02", skip_if="scope == 'unknown'"),
        step("00-03", depends_on=["00-02"]),
        step("01-01", depends_on=["00-02"]),
    )
    table = Table(few_steps(*steps)).start().do_step().press_continue()

    assert table.rt.step_id == "00-03"
    assert table.do_step().press_continue().rt.step_id == "01-01"


def test_what_was_skipped_for_a_depth_stays_skipped_in_later_phases() -> None:
    """No step of a later phase waits for it."""
    steps = (step("00-01"), step("00-02", skip_if="depth == 'brief'"), step("01-01", depends_on=["00-02"]))
    table = Table(few_steps(*steps)).start().say("brief").do_step().press_continue()

    assert table.rt.depth == "brief"
    assert table.rt.step_id == "01-01"


# --- steps that are finished ----------------------------------------------------------------------------------------


@played_once
def finished() -> Table:
    """Step 01-01 is finished, and 00-01 before it."""
    return Table(few_steps(*ALL)).start().through("01-01")


def test_a_finished_step_is_opened_on_its_own_card() -> None:
    """With what is recorded for it; finishing it again saves what was added."""
    table = finished()
    posts = len(table.world.thread)
    table.press(Action.REOPEN, value="01-01")
    assert table.offered()[0] == Action.FINISH_STEP
    assert len(table.world.thread) == posts

    table.restart().say("decision: it is blue").press(Action.FINISH_STEP)

    assert table.rt.stage is Stage.AT_BOUNDARY
    assert table.subjects[-1] == "feedback 01-01 Topic 01-01"
    assert table.rt.steps_completed == ("00-01", "00-02", "01-01")


def test_a_step_is_opened_again_from_its_collapsed_card() -> None:
    """Long afterwards, and then the analysis goes on where it was."""
    table = finished()
    card = next(said for said in table.world.thread if "Topic 00-01 is finished" in said.message.text)
    assert card.message.token == ITEM
    offered = [(one.action, one.value) for one in card.message.offered]
    assert (Action.REOPEN, "00-01") in offered

    table.press_outside(Action.REOPEN, value="00-01")
    assert (table.rt.step_id, table.rt.phase_key) == ("00-01", "00-quick-scan")
    table.press(Action.FINISH_STEP)
    while table.rt.stage is Stage.AT_BOUNDARY:
        table.press_continue()
    assert table.rt.step_id == "02-01"


@pytest.mark.parametrize(("words", "opened"), [("reopen", "01-01"), ("Reopen 00-01.", "00-01")])
def test_it_can_be_typed(words: str, opened: str) -> None:
    """At a menu the step is the one that was just finished."""
    table = finished().say(words, who="grace")

    assert (table.rt.stage, table.rt.step_id) == (Stage.DISCUSSING, opened)
    assert f"Grace chose: Open {opened} Topic {opened}" in [line.content for line in table.lines]


def test_the_word_in_an_answer_opens_nothing() -> None:
    """In an open step it may be an answer, and no step has that name."""
    table = Table(few_steps(*ALL)).start().say("reopen").say("reopen 09-09").say("reopen the shop")

    assert table.rt.step_id == "00-01"
    assert len(table.rt.answers) == 3


def test_what_was_said_about_the_step_that_is_left_open_is_kept() -> None:
    """It stands on its card when it is led again."""
    table = finished().press_continue().say("decision: an outbox")
    assert table.rt.step_id == "02-01"

    table.say("reopen 00-01").press(Action.FINISH_STEP)
    while table.rt.stage is Stage.AT_BOUNDARY:
        table.press_continue()

    assert table.rt.step_id == "02-01"
    assert "Heard from: Ada" in table.card.text
    assert "an outbox" in [str(one["text"]) for one in table.rt.specification.active("decision")]


def test_not_while_something_is_being_written() -> None:
    """Whoever pressed is told."""
    table = Table(few_steps(*ALL)).start().do_step().stop()

    with pytest.raises(NotNow):
        table.press_outside(Action.REOPEN, value="00-01")


def test_an_open_step_that_was_skipped_can_be_opened() -> None:
    """Its card says who skipped it."""
    table = Table(few_steps(*ALL)).start().do_step().press_continue().press(Action.SKIP, who="grace")
    card = next(said for said in table.world.thread if "was skipped by Grace" in said.message.text)
    assert [one.action for one in card.message.choices] == [Action.REOPEN]

    table.press_outside(Action.REOPEN, value="00-02")

    assert table.rt.step_id == "00-02"
