"""A meta.json that cannot be used where an item begins: history may have a good one, and people decide."""

import pytest

from bot.domain.messages import trouble_wording
from bot.domain.messages.menus import MenuKind
from bot.domain.messages.message import Action
from bot.domain.roundtable.stage import Stage
from tests.domain.books import few_steps, step
from tests.domain.table import Table, played_once

TWO = few_steps(step("00-01"), step("00-02"))


@played_once
def broken(*, thread_known: bool = True) -> Table:
    """One step is done; the store is lost, and meta.json is damaged."""
    return Table(TWO).start().do_step().break_meta().forget(thread_known=thread_known)


@pytest.mark.parametrize("thread_known", [True, False])
def test_nothing_is_written_over_before_people_have_chosen(*, thread_known: bool) -> None:
    """The damaged file is still there, and two buttons say what can be done."""
    table = broken(thread_known=thread_known)

    assert (table.rt.stage, table.menu.kind) == (Stage.STALLED, MenuKind.RESTORE)
    assert table.offered() == [Action.RESTORE, Action.START_OVER]
    assert (table.last.text, table.last.note) == (trouble_wording.RESTORABLE, "ERR-META-002")
    assert table.world.meta == b"{ oops"


@pytest.mark.parametrize("thread_known", [True, False])
def test_restored_it_goes_on_where_the_good_version_was(*, thread_known: bool) -> None:
    """The finished step is finished; who chose it is in the transcript."""
    table = broken(thread_known=thread_known).press(Action.RESTORE, who="grace")

    assert table.meta.steps_completed == ("00-01",)
    assert table.rt.step_id == "00-02"
    assert "Restore last good version -- chosen by Grace" in [line.content for line in table.lines]


def test_started_over_it_begins_with_an_empty_record() -> None:
    """The files of the steps stay, and so does the transcript."""
    table = broken().press(Action.START_OVER)

    assert table.meta.steps_completed == ()
    assert table.rt.step_id == "00-01"
    assert "quick-scan.md" in table.world.files
    assert "We need it for field work without a network." in [line.content for line in table.lines]


def test_whoever_mends_it_by_hand_resumes() -> None:
    """It is looked at again, and no button has to be pressed."""
    table = broken()
    table.world.meta = table.world.good_meta
    table.resume()

    assert table.rt.step_id == "00-02"
    assert table.meta.steps_completed == ("00-01",)


def test_what_cannot_be_brought_back_can_be_tried_again() -> None:
    """A disk that says no is no reason to forget what git has."""
    table = broken().fail("restore").press(Action.RESTORE)
    assert table.offered() == [Action.RETRY]
    table.press_retry()

    assert table.rt.step_id == "00-02"


def test_without_a_good_version_it_starts_from_the_beginning() -> None:
    """As the taxonomy has it."""
    table = Table(TWO).start().do_step().break_meta()
    table.world.good_meta = b""
    table.forget()

    assert table.rt.step_id == "00-01"
    assert any(text.startswith("⚠ Warning: meta.json is corrupt.") for text in table.texts)


def test_what_is_said_meanwhile_is_not_lost() -> None:
    """It is in the transcript as soon as somebody has chosen."""
    table = broken().say("Who broke it?").press(Action.RESTORE)

    assert [line.content for line in table.lines].count("Who broke it?") == 1
