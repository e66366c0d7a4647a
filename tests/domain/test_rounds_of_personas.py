"""A round: one call for all personas, who quote what nobody has quoted yet; and whom people ask by name."""

import pytest

from bot.domain.discussion.elaboration import CALLS_AT_THE_END, MOST_CALLS, TurnKind
from bot.domain.messages.message import Action
from bot.domain.roundtable.effects import Speak
from bot.domain.roundtable.timers import TimerName
from bot.domain.specification.claims import Quote
from bot.domain.values.timestamps import seconds_since
from bot.errors import NotNow
from tests.domain.books import few_steps
from tests.domain.table import Contribution, Table, played_once

ALL = ("business-analyst", "solutions-architect", "system-designer")
CODE = Quote(line="src/sync.py:5-8@1a2b3c4", words="retries for ever")


@played_once
def discussing(*, max_turns: int = 30) -> Table:
    table = Table(few_steps()).start().meta_says(elaboration_config={"max_turns": max_turns})
    return table.elaborate()


def turns(table: Table) -> list[str]:
    return [turn.name for turn in table.rt.debate.turns]


def asked(table: Table) -> list[tuple[TurnKind, tuple[str, ...]]]:
    """The calls for turns, after those of the opening."""
    calls = [one for one in table.completing if isinstance(one, Speak) and one.task == "turn"]
    return [(one.turn, one.personas) for one in calls][3:]


def test_a_round_begins_fifteen_seconds_after_peoples_last_words() -> None:
    """Each message sets the timer anew."""
    table = discussing().stop_paying().say("What about conflicts?")
    first = table.rt.timers[TimerName.ROUND]
    table.say("And trains?", who="grace")

    assert seconds_since(table.rt.now, table.rt.timers[TimerName.ROUND]) == 15
    assert table.rt.timers[TimerName.ROUND] > first
    assert asked(table) == []
    assert asked(table.resume_paying().take_round()) == [(TurnKind.ROUND, ALL)]


def test_a_round_has_two_contributions_at_most_each_in_a_message_of_its_own() -> None:
    """From one call, whose tokens stand on the first of them."""
    table = discussing().say("What about conflicts?")
    table.world.facts = {"tokens_in": 100, "provider": "fake", "model": "m", "tokens_out": 1, "seconds": 0.1}
    table.take_round()

    said = [one.message for one in table.world.thread if one.message.text.endswith("on turn")]
    assert [one.speaker for one in said[3:]] == ["business-analyst", "solutions-architect"]
    lines = [line for line in table.lines if line.content.endswith("on turn")]
    assert ["tokens_in" in line.meta for line in lines[3:]] == [True, False]


def test_what_quotes_nothing_new_is_not_posted_and_stays_in_the_record() -> None:
    """Also when another contribution of the same round has quoted it."""
    table = discussing()
    said = {
        "business-analyst": Contribution("It retries for ever.", quotes=(CODE,)),
        "solutions-architect": Contribution("As Maya says.", quotes=(CODE,)),
    }
    table.world.speech = lambda speak, _: said.get(speak.persona, Contribution("", passed=True))
    table.press(Action.GO_ON)

    assert turns(table)[3:] == ["Maya"]
    assert "As Maya says." not in table.texts
    [line] = [line for line in table.lines if line.content == "It retries for ever."]
    assert line.meta["raw"] == "As Maya says."


def test_what_people_said_is_new_until_somebody_quotes_it() -> None:
    """So an answer to them can be said, and not twice."""
    table = discussing().say("It fails in tunnels.", ts="800.1")
    line = table.rt.line_of("800.1")
    own = Quote(line=line, words="fails in tunnels")
    table.world.speech = lambda *_: Contribution("Tunnels, then.", quotes=(own,))
    table.take_round()
    before = turns(table)
    table.press(Action.GO_ON)

    assert before[3:] == ["Ada", "Maya"]
    assert turns(table) == before


def test_who_has_nothing_new_says_so_and_the_card_names_whom_to_ask() -> None:
    """Those who have said nothing here. The next word, of anybody, takes that away."""
    table = discussing().say("I see.", who="grace")
    table.world.speech = lambda *_: Contribution("", passed=True)
    table.take_round()
    card = table.discussion

    assert "Nobody has anything new." in card.text
    asking = [one for one in card.offered if one.action == Action.ASK_PERSON]
    assert [(one.label, one.value) for one in asking] == [("Ask Ada", "ada")]
    assert "Nobody has anything new." not in table.say("Hm.").discussion.text


def test_a_press_asks_a_person_by_mention() -> None:
    """One line in the thread. Who has spoken meanwhile is not asked any more."""
    table = discussing().say("I see.", who="grace")
    table.world.speech = lambda *_: Contribution("", passed=True)
    table.take_round().press(Action.ASK_PERSON, value="ada", who="grace")
    asked = table.last

    assert asked.pings == ("ada",)
    assert asked.text == "Ada, Grace asks what you think about Quick Scan: Topic 00-01."
    floor = table.menu
    table.say("I think so, too.")
    with pytest.raises(NotNow, match="out of date"):
        table.press(Action.ASK_PERSON, value="ada", who="grace", menu=floor)


def test_who_is_addressed_by_name_answers_at_once() -> None:
    """Alone, also without a new quote. No round follows from it."""
    table = discussing()
    table.world.speech = lambda *_: Contribution("Yes.", quotes=())
    table.say("Alex, is that still so?")

    assert asked(table) == [(TurnKind.ASKED, ("solutions-architect",))]
    assert turns(table)[3:] == ["Ada", "Alex"]
    assert TimerName.ROUND not in table.rt.timers


def test_everybody_is_asked_by_one_call() -> None:
    """By the button, or in words; each answers in a message."""
    table = discussing().press(Action.ASK_ALL).say("everyone, what about conflicts?")

    assert asked(table) == [(TurnKind.ASKED, ALL)] * 2
    assert turns(table)[3:] == ["Maya", "Alex", "Jordan", "Ada", "Maya", "Alex", "Jordan"]


def test_who_is_asked_twice_while_a_call_is_on_its_way_is_asked_once() -> None:
    """What was said meanwhile is for the next round."""
    table = discussing().stop_paying().say("Alex, is it so?").say("Alex, hello?").resume_paying()

    assert asked(table) == [(TurnKind.ASKED, ("solutions-architect",))]
    assert TimerName.ROUND in table.rt.timers


def test_a_discussion_has_nine_calls_at_most() -> None:
    """With those that put it together. More turns give more calls."""
    table = discussing(max_turns=50)
    while not table.rt.debate.exhausted:
        table.press(Action.GO_ON)

    calls = [one for one in table.completing if isinstance(one, Speak) and one.task == "turn"]
    assert len(calls) == MOST_CALLS - CALLS_AT_THE_END
    assert "all calls of models are used" in table.discussion.text
    before = turns(table)
    assert turns(table.say("Alex, is it so?")) == before
    table.press(Action.MORE_TURNS).say("Alex, is it so?")
    assert turns(table)[-1] == "Alex"


@pytest.mark.parametrize(
    ("reason", "why"),
    [("refused", "refused to answer"), ("unstructured", "gave no answer that could be used")],
)
def test_a_round_without_an_answer_says_what_to_do(reason: str, why: str) -> None:
    """One line; people go on, and can ask again."""
    table = discussing().fail("speak", reason).press(Action.GO_ON)

    said = [line.content for line in table.lines if why in line.content]
    assert len(said) == 1
    assert turns(table.press(Action.GO_ON))[3:] == ["Maya", "Alex"]
