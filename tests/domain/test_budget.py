"""What models may take for an item: told in time, and asked about at the end."""

from dataclasses import replace
from decimal import Decimal

import pytest

from bot.domain.catalog.budget import Budget
from bot.domain.catalog.policy import Policy
from bot.domain.messages.message import Action
from bot.domain.roundtable.outcomes import DraftQuestion, PersonaSpoke
from bot.domain.roundtable.stage import Stage
from bot.domain.specification.fold import Patch
from bot.domain.transcript.lines import LinePhase
from bot.errors import NotNow
from tests.domain.table import Contribution, Table, played_once, shipped

TOKENS = {"provider": "p", "model": "m", "tokens_in": 80, "tokens_out": 20, "cost": "0.10"}
"""100 tokens, ten cents."""


def table(budget: Budget | None) -> Table:
    at = Table(replace(shipped(), policy=Policy(budget=budget, thinks=True, draft_seconds=0, most_drafts=99)))
    at.world.facts = TOKENS
    return at.start()


def answered(at: Table, times: int) -> Table:
    """Each answer is acknowledged, for a hundred tokens."""
    for _ in range(times):
        at.wait(200).say("We need it in tunnels")
    return at


@played_once
def spent_out() -> Table:
    """At a step's question, with nothing left."""
    return answered(table(Budget(tokens=500)), 8)


def notices(at: Table) -> list[str]:
    return [text for text in at.texts if "model budget for this item" in text]


def test_the_menu_says_what_was_spent() -> None:
    """One quiet line, with a budget or without, and nothing without a model; it survives the store, and costs once."""
    at = answered(table(None), 2).do_step()
    assert "Models so far: 300 tokens, $0.30." in at.last.text

    at = answered(table(Budget(tokens=10_000)), 2).do_step()
    assert "Models so far: 300 tokens, $0.30, of 10,000 tokens." in at.last.text

    at = Table(replace(shipped(), policy=Policy(budget=Budget(tokens=10)))).start().do_step()

    assert notices(at) == []
    assert "Models" not in at.last.text

    at = answered(table(Budget(tokens=10_000)), 3).do_step()
    spent = at.rt.purse.spent
    at.forget()

    assert spent.tokens == 400
    assert at.rt.purse.spent == spent

    at = answered(table(None), 1)
    outcome = next(one for one in at.told if isinstance(one, PersonaSpoke))

    assert at.decided(outcome) is at.rt


def test_people_are_told_in_time() -> None:
    """At 50, 75 and 95 per cent, each once."""
    at = answered(table(Budget(tokens=2001)), 20)

    assert [text.partition(" %")[0] for text in notices(at)] == ["50", "75", "95"]
    assert "1,100 of 2,001 tokens." in notices(at)[0]


def test_at_the_end_of_a_step_people_are_asked() -> None:
    """What there is is saved, the personas are quiet; people finish the step, or allow more."""
    at = spent_out()

    assert at.rt.purse.spent.tokens == 500
    assert "The model budget for this item is used up (500 of 500 tokens)." in at.card.text
    assert "budget used up" in at.subjects
    assert (at.offered()[0], at.offered()[-1]) == (Action.FINISH_STEP, Action.ALLOW_MORE)
    assert len(at.rt.answers) == 8


def test_at_the_end_of_a_discussion_what_there_is_is_saved() -> None:
    """It takes no model; then the menu asks."""
    at = table(Budget(dollars=Decimal("0.30"))).elaborate()
    at.say("everyone, what about conflicts?")

    assert at.rt.stage is Stage.AT_BOUNDARY
    assert any(subject.startswith("elaboration 00-01") for subject in at.subjects)
    assert any("Here is what we have" in text for text in at.texts)
    assert Action.ALLOW_MORE in at.offered()
    assert [one.phase for one in at.lines if one.meta.get("provider")] == [
        LinePhase.CLARIFYING,  # the answer is heard
        LinePhase.WORKSHOP,  # the discussion is framed
        LinePhase.WORKSHOP,  # and one colleague speaks
    ]
    assert at.rt.purse.spent.cost == Decimal("0.30")


def test_the_draft_that_crosses_the_budget_is_used() -> None:
    """It was paid for: what it proposes and says is on record, and stands on the card that asks for more."""
    at = table(Budget(tokens=500))
    at.world.facts = TOKENS | {"tokens_in": 980}
    risk = Patch(id="RSK-001", kind="risk", new=True, set={"text": "Phones are lost"})
    at.world.more = {"patches": (risk,), "questions": (DraftQuestion(text="How long are the tunnels?"),)}
    answered(at, 1)

    assert at.rt.purse.spent.tokens == 1_000
    assert "used up (1,000 of 500 tokens)" in at.card.text
    assert "Phones are lost" in at.card.text
    assert "How long are the tunnels?" in at.card.text
    assert "RSK-001" in at.rt.specification.entries
    assert at.rt.unread == ()


def test_the_turn_that_crosses_the_budget_is_used() -> None:
    """What the persona says is posted and recorded before the discussion ends over it."""
    at = table(Budget(tokens=10_000)).elaborate()
    at.world.facts = TOKENS | {"tokens_in": 20_000}
    at.world.speech = lambda *_: Contribution("A queue breaks first.")
    at.say("Alex, what breaks?")

    assert at.rt.stage is Stage.AT_BOUNDARY
    assert at.rt.purse.spent.tokens > 10_000
    assert any("A queue breaks first." in text for text in at.texts)
    assert "A queue breaks first." in [one.content for one in at.lines]
    assert Action.ALLOW_MORE in at.offered()


def test_a_person_allows_as_much_again() -> None:
    """Who it was is in the transcript, and the personas speak again."""
    at = spent_out()
    at.press(Action.ALLOW_MORE, who="grace")

    assert "Grace allowed more: models may take 1,000 tokens for this item." in [
        one.content for one in at.lines
    ]
    assert at.rt.purse.spent.tokens == 600
    answered(at, 1)
    assert at.rt.purse.spent.tokens == 700
    assert Action.ALLOW_MORE not in at.offered()


def test_nobody_is_made_to_go_on_without_money() -> None:
    """A discussion opened at the end of the budget waits for people, and its button says why."""
    at = spent_out().do_step("More").press(Action.ELABORATE)
    at.say("What about conflicts?")
    assert at.rt.debate.turn_count == 1

    at.say("done")
    assert at.rt.stage is Stage.AT_BOUNDARY
    at.press(Action.ELABORATE)
    with pytest.raises(NotNow):
        at.press(Action.GO_ON)


def test_without_a_budget_a_step_is_written_without_a_model() -> None:
    """Who allows more has the words read."""
    at = spent_out().press(Action.FINISH_STEP)

    assert at.rt.stage is Stage.AT_BOUNDARY
    assert at.rt.purse.spent.tokens == 500
    assert "00-01" in at.meta.steps_completed
    assert Action.ALLOW_MORE in at.offered()

    assert at.rt.unread
    at.press(Action.ALLOW_MORE)

    assert at.rt.stage is Stage.AT_BOUNDARY
    assert at.rt.purse.spent.tokens > 500


@pytest.mark.parametrize("where", ["question", "step", "floor"])
def test_wherever_people_choose_they_can_allow_more(where: str) -> None:
    """Not only where the money came to its end; and everything stands where it stood."""
    at = spent_out().press(Action.FINISH_STEP)
    if where == "question":
        at.press(Action.CONTINUE)
    elif where == "floor":
        at.press(Action.ELABORATE)
    menu, stage = at.menu, at.rt.stage
    assert Action.ALLOW_MORE in at.offered()
    shown = next(one.message for one in at.world.thread if one.message.token == menu.token)
    assert shown.choices == menu.message.choices

    at.press(Action.ALLOW_MORE)
    assert at.rt.stage is stage
    assert at.menu.kind is menu.kind
    assert Action.ALLOW_MORE not in at.offered()
