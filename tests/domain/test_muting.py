"""Muting the personas, and stopping them in the middle of a round."""

import pytest

from bot.domain.messages.message import Action
from bot.domain.roundtable.inputs import Mute
from bot.domain.roundtable.stage import Stage
from bot.errors import NotNow
from tests.domain.books import thinking
from tests.domain.table import FLOOR, Table, person, shipped


def mute(at: Table, *, muted: bool = True, who: str = "ada") -> Table:
    return at.does(Mute, who=who, muted=muted)


def spoken(at: Table) -> list[str]:
    """By whom personas were asked to say something."""
    return [effect.persona for effect in at.completing if effect.kind == "speak"]


def test_muted_personas_say_nothing_and_hear_everything() -> None:
    """Also after a restart. The answer is kept for the step, and everybody reads who muted and how to go on."""
    at = mute(Table().start())
    assert "Ada muted the personas" in at.texts[-1]
    at.say("We need it in tunnels")

    assert spoken(at) == []
    assert [answer.text for answer in at.rt.answers] == ["We need it in tunnels"]

    at = mute(Table().start()).restart()

    assert spoken(at.say("In tunnels")) == []


def test_unmuted_they_answer_what_was_said_meanwhile() -> None:
    """Once, however much it was."""
    at = mute(Table(thinking(shipped())).start())
    at.say("We need it in tunnels").say("And in lifts")
    mute(at, muted=False)

    assert len(spoken(at)) == 1
    assert "draft" in at.texts[-1]


def test_a_step_can_be_finished_in_silence() -> None:
    """Writing down is no talk: the menu comes, and feedback at it is written without a word when people go on."""
    at = mute(Table().start()).do_step("In tunnels")
    assert at.rt.stage is Stage.AT_BOUNDARY

    at.say("Photos get lost as well")
    assert (at.rt.stage, spoken(at)) == (Stage.AT_BOUNDARY, [])
    at.press_continue()
    assert at.subjects[-1].startswith("feedback")
    assert spoken(at) == []


def test_muting_ends_a_round_at_once() -> None:
    """Whoever was about to speak does not, the discussion can be ended by its button, and it goes on where it was."""
    at = Table().start().elaborate()
    at.paying = False
    at.say("everyone, what about conflicts?")
    turns = at.rt.debate.turn_count
    mute(at)
    at.paying = True
    at.say("Edits of two people, I mean")

    assert at.rt.debate.turn_count == turns + 1
    assert at.offered() == FLOOR

    mute(at, muted=False)
    assert at.rt.debate.turn_count > turns + 1


def test_a_discussion_that_begins_in_silence_waits_with_its_framing() -> None:
    """People may talk first; the lead opens it when it may."""
    at = mute(Table().start()).elaborate()
    at.say("Two people edit the same form")
    assert at.rt.debate.turn_count == 1

    mute(at, muted=False)
    assert at.rt.debate.framed


def test_letting_them_go_on_ends_the_silence() -> None:
    """Nobody presses that button and wants to hear nothing."""
    at = mute(Table().start().elaborate())
    before = at.rt.debate.turn_count
    at.press(Action.GO_ON)

    assert at.rt.debate.turn_count > before
    assert not at.rt.manners.muted


@pytest.mark.parametrize("muted", [True, False])
def test_muting_twice_is_answered(muted: bool) -> None:  # noqa: FBT001 -- pytest calls it by name
    """In a sentence, and nothing is said twice in the thread."""
    at = Table().start()
    if muted:
        mute(at)
    with pytest.raises(NotNow, match="muted already" if muted else "are not muted"):
        at.decided(Mute(key="again", at=at.now(), person=person("grace"), muted=muted))
