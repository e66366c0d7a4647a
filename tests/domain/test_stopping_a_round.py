"""While personas have the floor, one button stops them; it goes when it is not needed any more."""

from collections.abc import Callable

from bot.domain.messages.message import Action
from bot.domain.roundtable.effects import Speak
from bot.domain.roundtable.outcomes import PersonaSpoke
from bot.domain.roundtable.stage import Stage
from tests.domain.table import FLOOR, Table, played_once
from tests.domain.test_pausing import how


@played_once
def opening() -> Table:
    """A discussion was just opened, and its lead is about to frame it."""
    table = Table().start().do_step().stop_paying().press(Action.ELABORATE)
    return table.pay_up_to("speak")


def buttons_of(table: Table) -> list[list[str]]:
    """What can be pressed in the thread, message by message; without those that offer nothing."""
    shown = [[choice.action for choice in one.message.choices] for one in table.world.thread]
    return [actions for actions in shown if actions]


def test_a_discussion_can_be_stopped_from_its_first_message_on() -> None:
    """Before anybody has said anything, the introduction carries the button; a word in between leaves it."""
    table = opening()

    assert "ELABORATION MODE" in table.last.text
    assert table.menu.offers(Action.STOP)

    table = opening().say("What about conflicts?", who="grace")

    assert table.menu.offers(Action.STOP)
    assert table.rt.has_pending(Speak)


@how
def test_stopping_ends_the_round_before_the_next_turn(stop: Callable[[Table], Table]) -> None:
    """Who was about to speak does not, and what was being said when it was stopped is not posted afterwards."""
    table = opening()
    table.pay_one()
    table.pay_up_to("speak")
    turns, speak = table.rt.debate.turn_count, table.rt.outbox[0]
    stop(table)

    late = PersonaSpoke(key=speak.id, at=table.now(), effect=speak.id, persona="qa", text="One more thing.")
    assert table.decided(late) is table.rt
    table.resume_paying()
    assert table.rt.stage is Stage.PAUSED
    assert table.rt.debate.turn_count == turns
    assert table.offered() == [Action.RESUME]
    assert buttons_of(table) == [[Action.RESUME]]


def test_whoever_resumes_finds_the_discussion_as_it_was() -> None:
    """Stopping ends a round, not the discussion: the floor is the people's then."""
    table = opening()
    table.pay_one()
    table.pay_up_to("speak")
    table.press(Action.STOP).resume_paying().press(Action.RESUME)

    assert table.rt.stage is Stage.ELABORATING
    assert table.offered() == FLOOR
