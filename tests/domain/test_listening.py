"""Without a model personas open a discussion, and then listen until somebody addresses one by name."""

from bot.domain.messages.message import Action
from bot.domain.roundtable.effects import Speak
from bot.domain.transcript.lines import Source
from tests.domain.books import few_steps
from tests.domain.table import Table, played_once


@played_once
def opened() -> Table:
    table = Table(few_steps()).start().do_step()
    table.world.speech = lambda speak, rt: f"What about {speak.persona}, {len(rt.debate.turns)}?"
    table.world.more = {"by_rule": True}
    return table.press(Action.ELABORATE)


def test_what_people_say_to_each_other_costs_no_post() -> None:
    """It is a turn on record; the same button ends the discussion, and nobody is asked to speak."""
    table = opened()
    menu, shown = table.rt.menu, len(table.world.thread)
    table.say("We need a queue.").say("everyone, was meint ihr?", who="grace")

    assert [turn.text for turn in table.rt.debate.turns if turn.human] == [
        "We need a queue.",
        "everyone, was meint ihr?",
    ]
    assert len(table.world.thread) == shown
    assert menu
    assert table.menu.token == menu.token
    assert not table.menu.offers(Action.GO_ON)


def test_who_is_addressed_by_name_speaks() -> None:
    """Only that persona, once."""
    table = opened()
    before = len([one for one in table.completing if isinstance(one, Speak)])
    table.say("Jordan, what do you think?")

    asked = [one.persona for one in table.completing if isinstance(one, Speak)][before:]
    assert asked == ["system-designer"]
    assert not table.menu.offers(Action.GO_ON)


def test_lines_of_a_rule_are_no_models() -> None:
    table = opened()
    turns = [line for line in table.rt.lines if "turn_id" in line.meta]

    assert [(line.source, line.meta["voice"]) for line in turns] == [(Source.SYSTEM, "rule")] * 3
