"""People see that somebody is thinking, on the message that is being answered, and it always goes again."""

from dataclasses import replace

import pytest

from bot.domain.house import House
from bot.domain.message import Action
from bot.domain.stage import Stage
from bot.domain.working import EMOJI
from tests.domain.table import Table, shipped


def thinking() -> Table:
    """A roundtable whose personas have a model."""
    return Table(replace(shipped(), house=House(thinks=True))).start()


def shown(table: Table) -> list[str]:
    return [ts for ts, emoji in table.world.reactions if emoji == EMOJI]


def test_the_answer_that_is_being_read_carries_it() -> None:
    """Before the voice is asked, and not after it has spoken."""
    table = thinking().stop_paying().say("Field work needs it.", ts="1767300000.000100").pay_up_to("speak")
    assert shown(table) == ["1767300000.000100"]

    assert not shown(table.resume_paying())


def test_a_whole_round_is_marked_once() -> None:
    """On the thread, when a button began it: two calls to Slack, however many speak."""
    table = thinking().do_step()
    before = table.order("react", "unreact")
    table.press(Action.ELABORATE)

    assert table.order("react", "unreact")[len(before) :] == ["react", "unreact"]
    assert not shown(table)


@pytest.mark.parametrize("kind", ["speak", "draft"])
def test_it_goes_when_the_voice_fails(kind: str) -> None:
    """Whoever waits would wait for nothing."""
    table = thinking().fail(kind, "timeout", times=2).say("Field work needs it.").finish()

    assert not shown(table)


def test_it_goes_when_somebody_stops() -> None:
    """With the round that was running."""
    table = thinking().do_step().stop_paying().press(Action.ELABORATE).pay_up_to("speak")
    assert shown(table)

    table.press(Action.STOP).resume_paying()
    assert table.rt.stage is Stage.PAUSED
    assert not shown(table)


def test_a_process_that_dies_leaves_none_behind() -> None:
    """What it showed is saved with the roundtable, and taken away by whoever goes on."""
    table = thinking().stop_paying().say("Field work needs it.").pay_up_to("speak")
    assert shown(table)

    table.paying = True
    assert not shown(table.restart())


def test_without_a_model_there_is_nothing_to_wait_for() -> None:
    """No call to Slack is spent on it."""
    table = Table().start().elaborate()

    assert not table.order("unreact")
