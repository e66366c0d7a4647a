"""Whoever writes "help" into a thread is lost, and answers nothing."""

import pytest

from bot.domain.messages.message import Action
from bot.domain.roundtable.stage import Stage
from tests.domain.table import Table


@pytest.mark.parametrize("text", ["help", "Help!", "help me, please"])
def test_help_is_no_answer(text: str) -> None:
    """The person alone is told what they can say; the question stays open, and nothing of it gets into a file."""
    table = Table().start().say(text, who="grace")

    ((person, message),) = table.world.told
    assert person == "grace"
    assert "`finish` saves the open step" in message.text
    assert table.rt.answers == ()
    assert (table.rt.stage, table.offered()[0]) == (Stage.DISCUSSING, Action.FINISH_STEP)


def test_help_is_on_record() -> None:
    """Like everything that is said in the thread."""
    assert Table().start().say("help").lines[-1].content == "help"


@pytest.mark.parametrize("text", ["done", "I think we're done"])
def test_who_is_done_is_told_how_to_finish(text: str) -> None:
    """In a discussion these words end it; a step is finished on purpose only, and the person alone is told how."""
    table = Table().start().say(text, who="grace")

    ((person, message),) = table.world.told
    assert (person, "type `finish`" in message.text) == ("grace", True)
    assert table.rt.stage is Stage.DISCUSSING


def test_that_somebody_is_done_is_no_answer() -> None:
    """It would stand below the last question, as what its author answered to that. It stays in the transcript."""
    table = Table().start().say("For field work.").say("we're done here", who="grace")

    assert [answer.text for answer in table.rt.answers] == ["For field work."]
    assert [one["text"] for one in table.rt.specification.entries.values()] == ["For field work."]
    assert table.lines[-1].content == "we're done here"
    assert "This is not kept as an answer." in table.world.told[-1][1].text


def test_help_at_a_menu_is_no_feedback() -> None:
    """The same menu stays open, and nothing is written again."""
    table = Table().start().do_step()
    menu = table.menu

    table.say("help")

    assert table.menu == menu
    assert not any(subject.startswith("feedback") for subject in table.subjects)


def test_help_in_a_discussion_is_no_turn() -> None:
    """Nobody answers it, and it uses nothing up."""
    table = Table().start().elaborate()
    turns = table.rt.debate.turn_count

    table.say("help")

    assert table.rt.debate.turn_count == turns
    assert table.world.told


def test_a_sentence_about_help_is_an_answer() -> None:
    """Only the word by itself is a call."""
    table = Table().start().say("Help texts are missing")

    assert [answer.text for answer in table.rt.answers] == ["Help texts are missing"]


def test_help_after_a_stop_is_saved_at_once() -> None:
    """Nothing else may come."""
    table = Table().start().stop().say("help")

    assert table.rt.lines == ()
    assert table.world.told
