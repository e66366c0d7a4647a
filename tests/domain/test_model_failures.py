"""When a model fails, one line says what to do about it, and the next call is made as if nothing had happened."""

from dataclasses import replace

import pytest

from bot.domain.catalog.policy import ReviewedBy
from bot.domain.discussion.elaboration import TurnKind
from bot.domain.messages.message import Action
from bot.domain.roundtable.effects import Speak
from bot.domain.roundtable.outcomes import Failed
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.timers import TimerName
from bot.errors import NotNow
from tests.domain.books import few_steps, step, thinking
from tests.domain.table import FLOOR, SORRY, Contribution, Table

TWO = thinking(few_steps(step("00-01"), step("00-02")))
ANY = ["month", "timeout", "unavailable", "denied", "refused", "empty", "cut_off", "unstructured", "busy"]
BUTTONS = ["Try again", "Go on without"]
SHOWN = ["Try again", "Show", "Go on without"]


def failures(table: Table) -> list[tuple[str, list[str]]]:
    """The lines that offer to go on without, on the card of the discussion or of the step, with their buttons."""
    card = (table.discussion if table.rt.elaboration else table.card).card
    assert card
    parts = [one for one in card.parts if any(b.action == Action.GO_ON_WITHOUT for b in one.buttons)]
    return [(one.prose, [choice.label for choice in one.buttons]) for one in parts]


def asked(table: Table) -> list[Speak]:
    return [one for one in table.completing if isinstance(one, Speak)]


# --- drafts -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reason", [*ANY, "context"])
def test_a_draft_that_fails_is_one_line_and_the_next_one_is_asked_for(reason: str) -> None:
    """Of whatever kind the failure is: the model is not off for the rest of the roundtable."""
    table = Table(TWO).start().fail("speak", reason).say("For field work.")

    ((line, buttons),) = failures(table)
    assert "draft" in line or "answer" in line
    assert [one for one in buttons if one in BUTTONS] == BUTTONS

    table.completing.clear()
    table.say("And for lorries.")

    assert [one.task for one in asked(table)] == ["draft"]
    assert failures(table) == []


def test_go_on_without_leaves_the_words_and_asks_no_model_to_read_them() -> None:
    """They stand in the step as people said them; the line says who went on."""
    table = Table(TWO).start().fail("speak", "timeout").say("For field work.")
    table.completing.clear()
    table.press(Action.GO_ON_WITHOUT, who="grace")

    assert failures(table) == []
    assert table.rt.unread == ()
    assert "Grace chose: Go on without" in [line.content for line in table.lines]
    table.press(Action.FINISH_STEP)
    assert "- Ada: For field work." in table.world.files["quick-scan.md"]
    assert asked(table) == []


def test_a_first_look_that_fails_has_its_buttons_too() -> None:
    """Nobody has said anything yet, so there is nothing to read again: the look itself is tried again."""
    looking = replace(TWO, policy=TWO.policy.but(looks_first=True))
    table = Table(looking).fail("speak", "timeout").start()
    assert failures(table) == [("Maya has no draft: the model did not answer in time.", BUTTONS)]

    table.completing.clear()
    table.press(Action.READ_AGAIN)

    assert len(asked(table)) == 1
    assert failures(table) == []


def test_who_does_not_want_to_wait_for_a_slow_model_goes_on_without_it() -> None:
    """The call is over, and what people said is not read by the next one."""
    table = Table(TWO).start().stop_paying().say("For field work.").pay_up_to("speak")
    table.time_comes(TimerName.SLOW).pay_up_to("speak")
    assert failures(table) == [("Maya is drafting, for more than 20 s.", ["Stop", "Go on without"])]

    table.press(Action.GO_ON_WITHOUT)

    assert not table.rt.has_pending(Speak)
    assert table.rt.unread == ()


def test_where_nothing_failed_there_is_nothing_to_go_on_without() -> None:
    with pytest.raises(NotNow):
        Table(TWO).start().press(Action.GO_ON_WITHOUT)


# --- discussions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reason", ANY)
def test_an_opening_that_no_model_gives_leaves_the_floor_to_people(reason: str) -> None:
    """One line for each persona; nothing stalls, and no words are made up for anybody."""
    table = Table(TWO).start().do_step().fail("speak", reason, times=3).press(Action.ELABORATE)

    ((lines, buttons),) = failures(table)
    assert [one.partition(":")[0] for one in lines.split("\n")] == ["Maya", "Alex", "Jordan"]
    assert buttons == BUTTONS
    assert table.rt.stage is Stage.ELABORATING
    assert table.rt.debate.turns == ()
    assert table.offered() == FLOOR


def test_the_opening_is_tried_again() -> None:
    table = Table(TWO).start().do_step().fail("speak", "timeout", times=3).press(Action.ELABORATE)
    table.completing.clear()
    table.press(Action.GO_ON)

    assert {one.turn for one in asked(table)} == {TurnKind.OPENING}
    assert [turn.name for turn in table.rt.debate.turns] == ["Maya", "Alex", "Jordan"]
    assert failures(table) == []


def test_one_of_the_opening_who_fails_is_named_and_the_others_are_heard() -> None:
    table = Table(TWO).start().do_step().fail("speak", "timeout").press(Action.ELABORATE)

    assert failures(table) == [("Maya: the model did not answer in time.", BUTTONS)]
    assert [turn.name for turn in table.rt.debate.turns] == ["Alex", "Jordan"]


def test_who_is_asked_by_name_and_whose_model_fails_is_asked_again_the_next_time() -> None:
    table = Table(TWO).start().elaborate().fail("speak", "unavailable").say("Alex, what breaks?")
    assert failures(table) == [("Alex: the model could not be reached.", BUTTONS)]

    table.completing.clear()
    table.say("Alex, and now?")

    assert [one.personas for one in asked(table)] == [("solutions-architect",)]


def test_another_model_says_what_one_refused_in_a_discussion() -> None:
    """As in a step, and for those personas alone."""
    two_minds = replace(TWO, policy=TWO.policy.but(reviewed_by=ReviewedBy.OTHER))
    table = Table(two_minds).start().elaborate().fail("speak", "refused").say("Alex, what breaks?")
    assert failures(table) == [("Alex: the model refused to answer.", ["Ask another model", *BUTTONS])]

    table.completing.clear()
    table.press(Action.ASK_OTHER)

    assert [(one.personas, one.turn, one.by_other) for one in asked(table)] == [
        (("solutions-architect",), TurnKind.ASKED, True)
    ]
    assert failures(table) == []
    with pytest.raises(NotNow):
        table.press(Action.ASK_OTHER)


def test_an_answer_that_cannot_be_read_is_shown_in_a_discussion_too() -> None:
    table = Table(TWO).start().elaborate()
    facts = {"raw": "{contributions: …"}
    table.world.failing["speak"] = [
        Failed(key="", at="", effect="", reason="unstructured", sentence=SORRY, facts=facts)
    ]
    table.say("Alex, what breaks?")
    assert failures(table) == [("Alex: the model gave no answer that could be used.", SHOWN)]

    table.press(Action.SHOW_ANSWER, who="grace")

    assert table.world.told[-1][0] == "grace"
    assert "{contributions: " in table.world.told[-1][1].text


def test_who_is_asked_and_has_nothing_to_add_is_named_on_the_card() -> None:
    """Who asked would wait for an answer. The round that follows takes the line away."""
    table = Table(TWO).start().elaborate()
    table.world.speech = lambda *_: Contribution("", passed=True)
    table.say("Alex, what breaks?")
    assert failures(table) == [("Alex has nothing to add.", BUTTONS)]

    table.press(Action.GO_ON_WITHOUT)
    assert failures(table) == []


def test_who_looked_too_long_says_so_in_a_discussion_too() -> None:
    """Until the next round."""
    table = Table(TWO).start().elaborate()
    table.world.facts = {"stopped_looking": True, "looked_at": [{"ids": []}] * 6}
    table.say("Alex, what breaks?")
    card = table.discussion.card

    assert card
    assert "Alex stopped after 6 looks; this rests on what was seen." in [one.prose for one in card.parts]


def test_people_go_on_without_the_personas() -> None:
    """No round waits for them then, until people want one."""
    table = Table(TWO).start().elaborate().fail("speak", "timeout").press(Action.GO_ON)
    table.completing.clear()
    table.press(Action.GO_ON_WITHOUT)

    assert failures(table) == []
    assert not table.rt.debate.is_round_wanted
    assert asked(table) == []


def test_a_round_that_takes_long_is_one_line_on_the_card() -> None:
    """Also where people go on talking; they go on without it, and their words stay."""
    table = Table(TWO).start().elaborate().stop_paying().press(Action.GO_ON)
    due = table.rt.timers[TimerName.SLOW]
    table.say("We have tunnels.")
    assert table.rt.timers[TimerName.SLOW] == due
    table.time_comes(TimerName.SLOW)
    assert table.menu.message.card
    (line,) = [one for one in table.menu.message.card.parts if "20 s" in one.prose]
    assert line.prose == "The personas are thinking, for more than 20 s."
    assert [one.action for one in line.buttons] == [Action.GO_ON_WITHOUT]

    table.press(Action.GO_ON_WITHOUT).resume_paying()

    assert failures(table) == []
    assert "20 s" not in table.discussion.text
    assert not table.rt.has_pending(Speak)
    assert "We have tunnels." in [turn.text for turn in table.rt.debate.turns]
