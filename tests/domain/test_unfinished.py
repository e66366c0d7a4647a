"""A step that people left in the middle, whose answers are in git: it may be gone on with from there alone."""

import pytest

from bot.domain.messages.message import Action
from tests.domain.table import Table, played_once


@played_once
def answered() -> Table:
    return Table().start().say("For field work.", who="ada").say("On trains.", who="grace")


def texts(table: Table) -> list[str]:
    return [answer.text for answer in table.rt.answers]


@pytest.mark.parametrize("thread_known", [True, False])
def test_what_was_said_before_a_stop_is_written_with_the_step_when_the_store_is_lost(
    *, thread_known: bool
) -> None:
    """
    The stop was committed with the words and their authors, so that nobody would read them from the thread again, which
    may be gone as well.
    """
    table = answered().stop().forget(thread_known=thread_known)

    said = [(table.rt.name_of(answer.person), answer.text) for answer in table.rt.answers]
    assert said == [("Ada", "For field work."), ("Grace", "On trains.")]

    table.through(table.rt.step_id)

    assert "On trains." in table.world.files["quick-scan.md"]


def test_what_was_said_before_a_wish_still_answers_the_step() -> None:
    """A depth or a stop is committed, and what was said before goes with it; the wish itself answers nothing."""
    table = answered().press(Action.DEPTH_DEEP).say("And in cellars.").forget()

    assert texts(table) == ["For field work.", "On trains.", "And in cellars."]

    table = answered().say("deep").say("stop").forget()

    assert texts(table) == ["For field work.", "On trains."]


def test_what_was_changed_afterwards_counts_as_it_reads_now() -> None:
    """The newest words of a message, and none of one that was deleted."""
    table = Table().start()
    table.say("For field work.", ts="1700000001.000100").say("On trains.", ts="1700000002.000100")
    table.edit("1700000001.000100", "For work in the field.").edit("1700000001.000100", "For work outside.")
    table.delete("1700000002.000100").stop().forget()

    assert texts(table) == ["For work outside."]


def test_a_step_that_is_done_has_no_answers_left() -> None:
    """They were written down with it, and are not those of the next."""
    table = Table().start().do_step("For field work.").press(Action.CONTINUE).stop().forget()

    assert texts(table) == []


def test_a_step_that_somebody_opens_again_by_hand_is_answered_anew() -> None:
    """It was written down once, and then taken out of meta.json."""
    table = answered().do_step().stop()
    before = table.rt.step_id
    table.world.meta = table.world.meta and table.world.meta.replace(before.encode(), b"99-99")
    table.forget()

    assert table.rt.step_id == before
    assert texts(table) == []


@pytest.mark.parametrize("lost", [False, True])
def test_what_is_said_after_a_stop_answers_the_step_that_was_left(*, lost: bool) -> None:
    """People go on thinking; whether the store was lost meanwhile makes no difference."""
    table = answered().stop().say("And in cellars.").say("deep").say("finish")
    table = table.forget() if lost else table.resume()

    assert texts(table) == ["For field work.", "On trains.", "And in cellars."]
