"""A card moves below what people wrote, so that its buttons can be found."""

from bot.domain.messages.message import Action
from bot.domain.roundtable.effects import Post
from bot.domain.roundtable.stage import Stage
from tests.domain.books import few_steps
from tests.domain.table import Said, Table

FAR, NEAR = 12, 5
PAUSE_SECONDS = 120


def table() -> Table:
    """The personas say nothing while a step is open."""
    at = Table(few_steps())
    at.world.speech = lambda speak, _: "" if speak.task == "acknowledge" else "That is a risk."
    return at.start()


def chatty(at: Table, count: int) -> Table:
    for number in range(count):
        at.say(f"Remark {number} about it, with some words.")
    return at


def cards(at: Table) -> list[Said]:
    """All posts that are or were the card, oldest first."""
    return [said for said in at.world.thread if said.message.card and said.ts != at.rt.place.thread]


def posted(at: Table) -> int:
    return sum(isinstance(one, Post) for one in at.completing)


def test_it_moves_after_twelve_messages() -> None:
    """The full card stands at the bottom, under the same token, and the old one says so."""
    at = chatty(table(), FAR - 1)
    assert len(cards(at)) == 1
    token = at.menu.token

    chatty(at, 1)

    old, new = cards(at)
    assert new.message.choices
    assert new.message.token == at.menu.token == token
    assert not old.message.offered
    assert old.message.text == "Topic 00-01 goes on further down."
    assert at.rt.card
    assert at.rt.card.ts == new.ts


def test_it_moves_at_most_once_in_two_minutes() -> None:
    """The test's clock goes on by a second with each thing that happens."""
    at = chatty(chatty(table(), FAR), FAR)
    assert len(cards(at)) == 2

    at.wait(PAUSE_SECONDS)
    chatty(at, 1)
    assert len(cards(at)) == 3


def test_it_moves_for_who_types_a_command() -> None:
    """Five messages are enough then; less are not."""
    at = chatty(table(), NEAR - 2).say("deep")
    assert len(cards(at)) == 1

    chatty(at, 1).say("brief")
    assert len(cards(at)) == 2


def test_finishing_by_word_shows_the_menu_below() -> None:
    """Whoever typed `finish` sees what became of it."""
    at = chatty(table(), NEAR).say("finish")

    _, new = cards(at)
    assert at.rt.stage is Stage.AT_BOUNDARY
    assert Action.CONTINUE in [one.action for one in new.message.choices]


def test_a_press_on_the_old_post_counts() -> None:
    """The token is the same; the presser is told where the card is."""
    at = chatty(table(), NEAR)
    old = at.menu
    at.say("deep")

    at.press(Action.FINISH_STEP, menu=old)

    assert at.rt.stage is Stage.AT_BOUNDARY
    assert at.world.told[-1][1].text == "This card moved. I did it anyway: *Finish step*."


def test_what_is_pressed_while_it_moves_shows_on_the_new_post() -> None:
    """The answer of Slack to the post is still to come."""
    at = chatty(table(), FAR - 1).stop_paying()
    chatty(at, 1).pay_up_to("post")
    at.press(Action.FINISH_STEP).resume_paying()

    old, new = cards(at)
    assert not old.message.offered
    assert Action.CONTINUE in [one.action for one in new.message.choices]


def test_a_step_that_is_left_while_its_card_moves_leaves_no_buttons() -> None:
    at = table().do_step()
    chatty(at, FAR - 2).stop_paying()
    chatty(at, 1).press_continue().resume_paying()

    assert [bool(said.message.choices) for said in cards(at)].count(True) == 1


def test_words_are_no_more_late_because_the_card_moved() -> None:
    """It asks the same as before."""
    at = chatty(table(), FAR - 1)
    ts = at.ts()
    chatty(at, 1)

    at.say("finish", ts=ts)

    assert at.rt.stage is Stage.AT_BOUNDARY


def test_a_restart_in_the_middle_moves_it_once() -> None:
    at = chatty(table(), FAR - 1).stop_paying()
    chatty(at, 1)
    at.paying = True
    at.restart()

    assert len(cards(at)) == 2
    assert not cards(at)[0].message.offered


def test_it_stays_during_a_discussion() -> None:
    """The discussion is what people look at."""
    at = chatty(table().elaborate(), FAR)

    assert not [said for said in cards(at) if "goes on further down" in said.message.text]
