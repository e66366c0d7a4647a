"""What follows when people have written nothing for a while: a discussion ends, and feedback is saved."""

from bot.domain.discussion.elaboration import EndReason, SealedPosition
from bot.domain.messages.message import Action
from bot.domain.roundtable.inputs import SealPosition
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.timers import TimerName
from bot.domain.values.timestamps import after
from tests.domain.books import few_steps
from tests.domain.table import Table, played_once

MINUTE = 60


def comes(table: Table, seconds: int) -> Table:
    """So much time passes, and the engine tells what is due, when it is due."""
    until = table.wait(seconds).now()
    while due := min((due for due in table.rt.timers.values() if due <= until), default=""):
        table.time_is(due)
    return table


@played_once
def at_the_limit(*named: str, due: str = "") -> Table:
    """Ada has the last turn. Those who were *named* at the start take part, too."""
    table = Table(few_steps()).start(participants=named, due=due)
    table.meta_says(elaboration_config={"max_turns": 4})
    return table.elaborate().say("That was all from me.")


def is_open(table: Table) -> bool:
    return table.rt.stage is Stage.ELABORATING


def test_a_discussion_without_turns_ends_when_it_is_quiet() -> None:
    """Ten minutes, once everybody was heard. The record says how it ended."""
    table = at_the_limit()
    assert "ends by itself when nobody has written for 10 minutes." in table.discussion.text

    comes(table, 9 * MINUTE)
    assert is_open(table)
    comes(table.restart(), 2 * MINUTE)

    assert not is_open(table)
    said = [line.content for line in table.lines]
    assert any(one.startswith("Everybody was heard, and the thread has been quiet since.") for one in said)
    assert "**Exit**: quiet" in table.discussion.text
    assert table.meta.elaborations[-1].turn_count == 4


def test_each_word_of_a_person_begins_the_wait_again() -> None:
    """What they said after the last turn is part of the synthesis."""
    table = at_the_limit()
    comes(table, 9 * MINUTE).say("One more thing.", who="grace")
    comes(table, 9 * MINUTE).say("And one more.")
    comes(table, 9 * MINUTE)

    assert [turn.text for turn in table.rt.debate.turns[-2:]] == ["One more thing.", "And one more."]
    comes(table, 2 * MINUTE)
    assert not is_open(table)


def test_it_waits_for_everybody_who_takes_part() -> None:
    """The card says for whom, and people can still end it."""
    table = comes(at_the_limit("grace", "linus"), 60 * MINUTE)
    assert is_open(table)
    assert table.rt.timers == {}
    sentence = "when Grace and Linus have been heard, too, and nobody has written for 10 minutes."
    assert sentence in table.discussion.text

    table.say("I am for it.", who="grace").say("objection: it is slow", who="linus")
    assert "ends by itself when nobody" in table.discussion.text
    comes(table, 11 * MINUTE)
    assert not is_open(table)


def test_people_can_always_end_it_themselves() -> None:
    table = at_the_limit("grace").press(Action.END_ELABORATION)

    assert not is_open(table)
    assert TimerName.QUIET not in table.rt.timers
    assert "**Exit**: turn-limit" in table.discussion.text


def test_more_turns_stop_the_wait() -> None:
    """And so do a pause, and positions that are being given privately."""
    assert TimerName.QUIET not in at_the_limit().press(Action.MORE_TURNS).rt.timers

    table = at_the_limit().stop()
    assert TimerName.QUIET not in table.rt.timers
    assert TimerName.QUIET in table.resume().rt.timers

    table = at_the_limit().say("option: a queue").does(SealPosition, position=SealedPosition(option="A"))
    assert TimerName.QUIET not in table.rt.timers
    assert TimerName.QUIET in table.press(Action.REVEAL).rt.timers


def test_no_silence_is_proved_while_nothing_ran() -> None:
    """After days without a process people have the time once more."""
    table = at_the_limit()
    late = after(table.rt.now, 3 * 24 * 60 * MINUTE)
    assert is_open(table.time_is(late))

    table.stop_paying().time_is(after(late, 10 * MINUTE))
    assert table.rt.debate.ending is EndReason.QUIET


def test_the_due_time_ends_it_without_those_who_were_not_heard() -> None:
    """At once when it is quiet by then; while people write, when they pause."""
    table = at_the_limit("grace", due="2026-01-01T01:00:00.000Z")
    assert "or when answers are due: Thursday 1 January, 01:00 (UTC)." in table.discussion.text
    comes(table, 60 * MINUTE)
    assert "**Exit**: due-time" in table.discussion.text

    table = at_the_limit("grace", due="2026-01-01T01:00:00.000Z")
    comes(table, 55 * MINUTE).say("Wait, one thing.")
    comes(table, 6 * MINUTE)
    assert is_open(table)
    assert "**Exit**: due-time" in comes(table, 9 * MINUTE).discussion.text


# --- feedback ---------------------------------------------------------------------------------------------------------


@played_once
def at_menu() -> Table:
    return Table(few_steps()).start().do_step()


def feedback(table: Table) -> list[str]:
    return [one for one in table.subjects if one.startswith("feedback")]


def test_feedback_is_committed_after_two_quiet_minutes() -> None:
    """Once, with all of it; the card keeps its menu."""
    table = at_menu()
    menu = table.menu.token
    comes(table.say("Scope: small"), MINUTE)
    comes(table.say("Photos, too.", who="grace"), MINUTE)
    assert feedback(table) == []

    comes(table.restart(), MINUTE)
    assert feedback(table) == ["feedback 00-01 Topic 00-01"]
    assert "Photos, too." in table.world.meeting.decode()
    assert table.menu.token == menu
    assert table.menu.offers(Action.CONTINUE)
    assert table.rt.timers == {}


def test_nothing_is_committed_twice() -> None:
    """Neither when people go on before, nor when they do so after."""
    table = at_menu().say("Photos, too.").press_continue()
    assert table.rt.timers == {}
    comes(table, 5 * MINUTE)
    assert feedback(table) == ["feedback 00-01 Topic 00-01"]

    table = at_menu()
    comes(table.say("Photos, too."), 3 * MINUTE).press_continue()
    assert feedback(table) == ["feedback 00-01 Topic 00-01"]


def test_a_press_while_it_is_committed_waits_for_nothing() -> None:
    """The commit is on its way, and a person goes on: no second one."""
    table = at_menu().say("Photos, too.").stop_paying()
    table.time_is(after(table.rt.now, 2 * MINUTE)).press_continue().resume_paying()

    assert feedback(table) == ["feedback 00-01 Topic 00-01"]
    assert table.rt.step_id == "01-01"
    assert table.rt.stage is Stage.DISCUSSING


def test_a_word_that_chooses_is_no_feedback() -> None:
    """Nothing waits for a commit."""
    assert at_menu().say("finish").rt.timers == {}
