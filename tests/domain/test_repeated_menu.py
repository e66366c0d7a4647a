"""Cards stay where they are. Who types a command far below one gets its menu repeated there."""

from bot.domain.messages.message import Action, Message
from bot.domain.roundtable.stage import Stage
from tests.domain.books import few_steps
from tests.domain.table import Said, Table, played_once

FAR = 5


@played_once
def table() -> Table:
    """The personas say nothing while a step is open."""
    at = Table(few_steps())
    at.world.speech = lambda speak, _: "" if speak.task == "draft" else "That is a risk."
    return at.start()


def chatty(at: Table, count: int) -> Table:
    for number in range(count):
        at.say(f"Remark {number} about it, with some words.")
    return at


def cards(at: Table) -> list[Said]:
    return [said for said in at.world.thread if said.message.card and said.ts != at.rt.place.thread]


def repeated(at: Table) -> list[Message]:
    """The menus that were repeated, oldest first."""
    plain = (said.message for said in at.world.thread if not said.message.card)
    return [message for message in plain if message.text.startswith("**Topic 00-01")]


def actions(message: Message) -> list[str]:
    return [choice.action for choice in message.choices]


def test_much_talk_moves_nothing() -> None:
    """The card has one place, which the first message links to."""
    at = chatty(table(), 30)

    assert len(cards(at)) == 1
    assert repeated(at) == []


def test_who_types_a_command_sees_what_became_of_it() -> None:
    """Five messages below the card are enough; less are not."""
    at = chatty(table(), FAR - 2).say("deep")
    assert repeated(at) == []

    chatty(at, 1).say("finish")

    [below] = repeated(at)
    assert at.rt.stage is Stage.AT_BOUNDARY
    assert below.text.startswith("**Topic 00-01")
    assert actions(below)[0] == Action.CONTINUE
    assert actions(below) == actions(at.card)


def test_it_is_the_same_menu() -> None:
    """A press there counts, and takes the buttons from both."""
    at = chatty(table(), FAR).say("finish")
    at.press_continue()

    assert at.rt.step_id == "01-01"
    [below] = repeated(at)
    assert (below.choices, below.note) == ((), "Continue to Phase 01 (Requirements) -- chosen by Ada")
    assert [bool(said.message.choices) for said in cards(at)] == [False, True]


def test_there_is_one_at_most() -> None:
    """An earlier one loses its buttons; while little stands below it, it is edited in place."""
    at = chatty(table(), FAR).say("deep").say("brief")
    assert len(repeated(at)) == 1

    chatty(at, FAR).say("standard")

    old, new = repeated(at)
    assert (bool(old.choices), bool(new.choices)) == (False, True)


def test_a_restart_in_the_middle_repeats_it_once() -> None:
    at = chatty(table(), FAR).stop_paying().say("deep")
    at.paying = True
    at.restart()

    assert len(repeated(at)) == 1


def test_it_is_over_with_a_discussion() -> None:
    """The discussion is what people look at."""
    at = chatty(table(), FAR).say("finish").press(Action.ELABORATE)

    [below] = repeated(at)
    assert not below.choices
