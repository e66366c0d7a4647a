"""Asking for the record: it changes nothing of the meeting, and comes once."""

from collections.abc import Callable

import pytest

from bot.domain.messages.message import Action
from bot.domain.roundtable.effects import ShareRecord
from bot.domain.roundtable.inputs import Export
from bot.errors import NotNow
from tests.domain.books import few_steps
from tests.domain.table import SORRY, Table, person


def test_it_is_put_into_the_thread_at_any_time_and_is_no_part_of_what_was_said() -> None:
    """While a step is open, at its menu, in a discussion, and when it is stopped."""
    table = Table(few_steps()).start()
    evening: tuple[Callable[[], Table], ...] = (
        table.do_step,
        lambda: table.press(Action.ELABORATE),
        lambda: table.say("done"),
        table.stop,
    )
    for goes_on in evening:
        before = table.rt.stage
        table.export()
        assert table.rt.stage is before
        goes_on()
    table.export()

    assert len(table.world.shared) == 5
    assert {one.person for one in table.world.shared} == {"ada"}

    table = Table(few_steps()).start().do_step()
    lines, menu = table.lines, table.menu
    table.export()

    assert (table.lines, table.menu) == (lines, menu)


def test_asked_for_twice_at_once_it_comes_once() -> None:
    """Two people, or one nervous thumb."""
    table = Table(few_steps()).start().stop_paying()
    table.export().export(who="grace").resume_paying()

    assert len(table.world.shared) == 1


def test_asked_for_again_it_has_a_name_of_its_own() -> None:
    """A command that Slack repeats is old news."""
    table = Table(few_steps()).start().export().wait(60).export()

    assert len({one.asked_at for one in table.world.shared}) == 2

    table = Table(few_steps()).start().export()
    again = Export(key=table.rt.seen[-1], at=table.now(), person=person("ada"))
    table.hear(again)

    assert len(table.world.shared) == 1


def test_where_it_cannot_be_put_whoever_asked_is_told_where_it_is() -> None:
    """Before there is a thread it is refused."""
    table = Table(few_steps()).start().fail("share_record", "missing_scope")
    table.export(who="grace").do_step()
    (who, message) = table.world.told[-1]

    assert who == "grace"
    assert SORRY in message.text
    assert "`planning/meeting.jsonl` in the folder of `offline-sync`" in message.text
    assert table.rt.steps_completed == ("00-01",)

    table = Table(few_steps(), paying=False).start()

    with pytest.raises(NotNow, match="not open yet"):
        table.export()


def test_it_survives_the_death_of_the_process() -> None:
    """It is owed like anything else, and stored with who asked and when."""
    table = Table(few_steps()).start().stop_paying().export()
    pending = table.rt.outbox[-1]
    table.resume_paying().restart()

    assert isinstance(pending, ShareRecord)
    assert table.world.shared == [pending]
