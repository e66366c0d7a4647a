"""Older records count as proposed until a person takes them over."""

import pytest

from bot.domain.messages import trouble_wording
from bot.domain.messages.message import Action
from bot.domain.transcript.seal import TAKES_OVER, OldLines
from bot.errors import NotNow
from tests.domain.books import few_steps, step
from tests.domain.table import Table


def older(*, thread_known: bool = True) -> Table:
    """One step is done by an earlier version, and the store is lost."""
    table = Table(few_steps(step("00-01"), step("00-02"))).start().do_step()
    table.world.old_lines = OldLines(lines=12, digest="d")
    return table.forget(thread_known=thread_known)


@pytest.mark.parametrize("thread_known", [True, False])
def test_taking_over_is_offered_where_the_record_is_taken_up(*, thread_known: bool) -> None:
    """Beside the question of the step, which waits for nothing."""
    table = older(thread_known=thread_known)
    (offer,) = [
        one.message for one in table.world.thread if one.message.text == trouble_wording.take_over(12)
    ]

    assert [choice.action for choice in offer.choices] == [Action.TAKE_OVER]
    assert table.rt.step_id == "00-02"


def test_who_took_it_over_is_in_the_record() -> None:
    """In a line of its own, in a commit that claims nothing about entries yet; the next one does."""
    table = older().press_outside(Action.TAKE_OVER, who="grace")
    taking, after = table.world.commits[-2:]

    (line,) = [one for one in taking.lines if TAKES_OVER in one.meta]
    assert (line.content, line.meta["person"]) == (trouble_wording.taken_over("Grace", 12), "grace")
    assert taking.snapshot == ""
    assert after.subject.endswith("specification read again")


def test_it_is_taken_over_once() -> None:
    """A second press changes nothing."""
    table = older().press_outside(Action.TAKE_OVER)

    with pytest.raises(NotNow, match="nothing to take over"):
        table.press_outside(Action.TAKE_OVER, who="grace")


def test_what_came_since_is_offered_again() -> None:
    """Nothing is taken over that the person did not see, and the record says so."""
    table = older()
    table.world.old_lines = OldLines(lines=13, digest="e")
    table.press_outside(Action.TAKE_OVER)

    assert table.world.thread[-1].message.text == trouble_wording.take_over(13)
    said = [line.content for work in table.world.commits for line in work.lines]
    assert trouble_wording.NOT_TAKEN_OVER in said
    table.press_outside(Action.TAKE_OVER)
    with pytest.raises(NotNow, match="nothing to take over"):
        table.press_outside(Action.TAKE_OVER)


def test_a_record_with_seals_is_not_asked_about() -> None:
    """As every record that this version began."""
    table = Table(few_steps(step("00-01"))).start().forget()

    assert not any("Take over" in one.message.text for one in table.world.thread)
