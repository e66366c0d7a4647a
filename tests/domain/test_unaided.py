"""When a model fails for good (ERR-INT-001): people are told once, and the meeting goes on without it."""

from dataclasses import replace

import pytest

from bot.domain.catalog.taxonomy import trouble
from bot.domain.messages.message import Action, Card, card_in_words
from bot.domain.roundtable.effects import Speak
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from tests.domain.books import few_steps, step, thinking
from tests.domain.table import FLOOR, Table, played_once

TWO = thinking(few_steps(step("00-01"), step("00-02")))
LOST = f"⚠ {trouble('ERR-INT-001').sentence}"
AWAY = ["timeout", "unavailable", "denied", "context"]
ANY = [*AWAY[:3], "refused", "empty", "cut_off"]


def told(table: Table) -> int:
    return sum(text.startswith(LOST) for text in table.texts)


@played_once
def reading_failed(reason: str = "unavailable") -> Table:
    """What Ada said, which a model was to read; then she finished the step."""
    return Table(TWO).start().fail("speak", reason).say("For field work.").press(Action.FINISH_STEP)


# --- going on ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reason", AWAY)
def test_a_step_whose_words_no_model_can_read_is_written(reason: str) -> None:
    """By a person's wish to finish it; the step counts, the phase waits for a person as always."""
    table = reading_failed(reason)

    assert told(table) == 1
    assert "- Ada: For field work." in table.world.files["quick-scan.md"]
    assert table.meta.steps_completed == ("00-01",)
    assert table.meta.phases_completed == ()
    assert "ERR-INT-001" in table.codes


def test_every_menu_offers_to_have_the_model_back() -> None:
    """Below what it offers anyway, for as long as the meeting goes on without."""
    table = reading_failed()
    after_step = table.offered()
    table.press_continue()

    assert after_step[:3] == [Action.CONTINUE, Action.AMEND, Action.ELABORATE]
    assert after_step[-1] is table.offered()[-1] == Action.RETRY


def test_people_are_told_once_and_not_at_every_effect() -> None:
    """Whoever speaks after that is not asked of the model any more."""
    table = reading_failed().press(Action.ELABORATE).say("Tunnels.").say("done").press_continue().do_step()

    assert told(table) == 1
    assert table.rt.unaided


def test_with_a_failure_of_the_voice_without_a_model_a_person_is_waited_for() -> None:
    """There is nobody left to do it: nothing counts as done, and the button tries again."""
    table = Table(TWO).start().do_step().fail("speak", "unavailable", times=6).press(Action.ELABORATE)

    assert table.rt.stage is Stage.STALLED
    assert table.meta.elaborations == ()
    assert table.offered() == [Action.RETRY]


def test_an_open_menu_moves_below_the_news() -> None:
    """An acknowledgement fails while people answer: they find the buttons where they read."""
    table = Table(TWO).start()
    before = table.menu
    table.fail("speak", "timeout").say("For field work.")

    assert table.menu.kind is before.kind
    assert [one for one in table.offered() if one != Action.RETRY] == [
        choice.action for choice in before.message.choices
    ]
    assert table.texts[-2].startswith(LOST)
    assert table.texts[-1] == "business-analyst on draft"


@pytest.mark.parametrize("reason", ["empty", "refused", "cut_off", "unstructured"])
def test_one_acknowledgement_more_or_less_is_no_news(reason: str) -> None:
    """The model answers, only not this time."""
    table = Table(TWO).start().fail("speak", reason).say("For field work.")

    assert told(table) == 0
    assert not table.rt.unaided


# --- discussions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reason", ANY)
def test_a_discussion_is_opened_without_a_model(reason: str) -> None:
    """When the model answers for nobody: nothing stalls, and the lead opens it."""
    table = Table(TWO).start().do_step().fail("speak", reason, times=3).press(Action.ELABORATE)

    assert [turn.name for turn in table.rt.debate.turns] == ["Maya"]
    assert told(table) == 1


def test_one_of_the_opening_who_fails_does_not_make_it_go_on_without_a_model() -> None:
    """The others have spoken."""
    table = Table(TWO).start().do_step().fail("speak", "timeout").press(Action.ELABORATE)

    assert told(table) == 0
    assert [turn.name for turn in table.rt.debate.turns] == ["Alex", "Jordan"]


def test_a_round_that_no_model_answers_goes_on_without_one() -> None:
    """Nobody waits for it any more; one button has it back."""
    table = Table(TWO).start().elaborate().fail("speak", "timeout").press(Action.GO_ON)

    assert told(table) == 1
    assert table.rt.unaided


def test_a_person_is_not_left_without_an_answer() -> None:
    """Whoever was asked fails: the same persona answers without a model."""
    table = Table(TWO).start().elaborate().fail("speak", "timeout").say("Alex, what breaks?")

    assert told(table) == 1
    assert [turn.name for turn in table.rt.debate.turns][-2:] == ["Ada", "Alex"]


# --- the model of one persona -----------------------------------------------------------------------------------------


@played_once
def own_model(reason: str = "unavailable", *, who: str = "alex") -> Table:
    """Alex has a model of his own, and it fails in the first round of a discussion."""
    policy = TWO.policy.but(model="openai:gpt-y", thinks=True, draft_seconds=0)
    book = replace(TWO, policy=policy, roster=TWO.roster.with_models({who: "openai:gpt-x"}))
    table = Table(book).start().do_step().stop_paying().press(Action.ELABORATE)
    table.pay_up_to("speak").pay_one()
    return table.pay_up_to("speak").fail("speak", reason).resume_paying()


@pytest.mark.parametrize("reason", ["timeout", "unavailable", "denied"])
def test_the_own_model_of_a_persona_rests_for_that_persona_only(reason: str) -> None:
    """It answers by rules, the others think; people are told who, once."""
    table = own_model(reason)

    assert not table.rt.unaided
    assert table.rt.unaided_personas == ("solutions-architect",)
    assert {turn.name for turn in table.rt.debate.turns} == {"Maya", "Alex", "Jordan"}
    assert [table.rt.is_unaided(one.key) for one in table.playbook.roster].count(True) == 1
    assert sum(text.startswith("⚠ The model of Alex does not answer.") for text in table.texts) == 1
    assert told(table) == 0


def test_the_first_message_says_who_goes_on_by_rules() -> None:
    """As long as it is so."""
    table = own_model()
    failed = card_in_words(newest_root(table))
    table.press_retry()

    assert "Maya thinks with openai:gpt-y. Alex follows rules, without a model." in failed
    assert "Alex thinks with openai:gpt-x." in card_in_words(newest_root(table))
    assert table.rt.unaided_personas == ()
    assert Action.RETRY not in table.offered()


def test_one_bad_answer_of_its_own_model_only_passes_a_persona_over() -> None:
    """The next one may be fine."""
    table = own_model("empty")

    assert table.rt.unaided_personas == ()
    assert {turn.name for turn in table.rt.debate.turns} == {"Maya", "Jordan"}


def test_a_restart_knows_whose_model_failed() -> None:
    """It is stored with the roundtable."""
    stored = own_model().rt.model_dump_json()

    assert Roundtable.model_validate_json(stored).unaided_personas == ("solutions-architect",)


def newest_root(table: Table) -> Card:
    card = table.world.root_edits[-1].message.card
    assert card
    return card


# --- having it back ---------------------------------------------------------------------------------------------------


def test_after_a_step_the_button_has_its_words_read() -> None:
    """By the model; below the same menu without the button."""
    table = reading_failed()
    table.completing.clear()
    table.press_retry()

    assert not table.rt.unaided
    assert table.order("speak") == ["speak"]
    assert table.meta.steps_completed == ("00-01",)
    assert Action.RETRY not in table.offered()
    assert Action.CONTINUE in table.offered()


def test_within_a_step_the_next_answer_is_the_models() -> None:
    """The menu stays what it is."""
    table = Table(TWO).start().fail("speak", "timeout").say("For field work.").press_retry()

    assert not table.rt.unaided
    assert Action.FINISH_STEP in table.offered()
    assert Action.RETRY not in table.offered()


def test_in_a_discussion_the_floor_stays_the_peoples() -> None:
    """They go on as they like, with the model."""
    table = Table(TWO).start().do_step().fail("speak", "timeout", times=3).press(Action.ELABORATE)
    table.press_retry()

    assert table.offered() == FLOOR
    assert not table.rt.unaided


def test_resuming_asks_the_model_again() -> None:
    """Whoever resumes expects the whole of it."""
    assert not reading_failed().resume().rt.unaided


def test_who_presses_while_it_is_being_read_is_heard() -> None:
    """The button is there as soon as the news is; what is owed is then asked of the model."""
    table = Table(TWO).start().stop_paying().say("For field work.").press(Action.FINISH_STEP)
    table.fail("speak", "unavailable").pay_up_to("speak").pay_one()
    table.pay_until(lambda rt: bool(rt.menu and rt.stands_at(rt.menu.token)))
    table.press_retry().resume_paying()

    assert not table.rt.unaided
    assert table.meta.steps_completed == ("00-01",)


def test_a_restart_does_not_forget_it() -> None:
    """It is part of the roundtable."""
    table = reading_failed().restart()

    assert table.rt.unaided
    assert any(isinstance(effect, Speak) for effect in table.completing)
