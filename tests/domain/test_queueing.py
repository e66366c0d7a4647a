"""What people say while a persona is at work, however much that is, and after the last turn."""

import pytest

from bot.domain.messages.message import Action
from tests.domain.table import Table, played_once

MANY = 40


@played_once
def talking(max_turns: int = 60) -> Table:
    """Everybody has opened the discussion; a round is about to take up what Ada said."""
    table = Table().start().do_step()
    table.meta_says(elaboration_config={"max_turns": max_turns}).resume().press(Action.ELABORATE)
    return table.say("What about conflicts?").stop_paying().take_round().pay_up_to("speak")


def test_people_talk_as_long_as_they_like() -> None:
    """Each message is a turn of its own, and the round that follows is one."""
    table = talking()
    for number in range(MANY):
        table.say(f"Point {number}.", who="grace")
    before = len(table.order("speak"))
    table.resume_paying().take_round()

    assert sum(turn.human for turn in table.rt.debate.turns) == MANY + 1
    assert len(table.order("speak")) == before + 2
    assert not table.rt.debate.besides


def test_what_is_said_after_the_last_turn_can_still_be_changed() -> None:
    """An edit reaches it, and a way out is one wherever it is said."""
    table = talking(6).resume_paying()
    table.say("Beyond.", who="grace", ts="1767300000.000100")
    table.edit("1767300000.000100", "Beyond that.", who="grace")
    assert table.rt.debate.besides[-1].text == "Beyond that."

    table.say("done", who="grace")
    assert table.rt.elaboration is None


@pytest.mark.parametrize("limit", [5, 10, 30])
def test_however_fast_people_are_the_limit_holds(limit: int) -> None:
    """What was said after it is in the record."""
    table = talking(limit)
    for number in range(MANY):
        table.say(f"Point {number}.", who="grace")
        assert table.rt.debate.turns_used <= limit
    table.resume_paying().say("done")

    assert table.meta.elaborations[-1].turn_count <= limit
    assert {f"Point {number}." for number in range(MANY)} <= {line.content for line in table.lines}
