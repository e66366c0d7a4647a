"""What a voice says besides words goes into the record: where it stands, what it took, and that it was silent."""

from typing import Any

from bot.domain.discussion.elaboration import Stance
from bot.domain.messages.message import Action
from bot.domain.transcript.lines import Line
from tests.domain.books import few_steps
from tests.domain.table import Table

TOOK = {
    "provider": "acme",
    "model": "large",
    "tokens_in": 900,
    "tokens_out": 60,
    "seconds": 1.5,
    "cost": "0.0123",
}
KEEP_BOTH = Stance(
    issue="conflicts", position="keep both", because=("t01",), confidence=0.7, new_evidence=True
)


def discussing(**more: Any) -> Table:
    table = Table(few_steps()).start().do_step()
    table.world.facts, table.world.more = TOOK, more
    return table.press(Action.ELABORATE)


def by(table: Table, actor: str) -> Line:
    return next(line for line in reversed(table.lines) if line.actor == actor)


def test_what_a_turn_took_stands_on_its_line() -> None:
    """By the names of the schema, where a cost is a number."""
    meta = by(discussing(), "SolutionsArchitect").meta

    assert {name: meta[name] for name in TOOK} == {**TOOK, "cost": 0.0123}
    assert meta["turn_id"] == "t02"


def test_what_nobody_knows_is_absent() -> None:
    """An unknown cost is not a cost of nothing."""
    table = Table(few_steps()).start().do_step()
    table.world.facts = {"provider": "acme"}
    table.press(Action.ELABORATE)

    assert "cost" not in by(table, "SolutionsArchitect").meta


def test_a_stance_is_kept_with_the_turn_and_on_its_line() -> None:
    """Issue, position, and the turns it rests on."""
    table = discussing(stances=(KEEP_BOTH,))

    assert table.rt.debate.turns[1].stances == (KEEP_BOTH,)
    position = next(
        one for one in table.rt.specification.active("position") if one["person"] == "SolutionsArchitect"
    )
    (claim,) = position.claims["option"]
    assert (position["issue"], claim.value) == ("conflicts", "keep both")
    assert claim.line == table.rt.debate.turns[1].line
    assert claim.sources == (table.rt.debate.turns[0].line,)


def test_a_turn_without_a_record_says_so() -> None:
    """Its text counts, what it stands for is not guessed."""
    table = Table(few_steps()).start().do_step()
    table.world.facts = {"unrecorded": True}
    table.press(Action.ELABORATE)

    assert by(table, "SolutionsArchitect").meta["unrecorded"] is True
    assert table.rt.debate.turns[1].unrecorded


def test_what_a_synthesis_took_stands_on_its_line() -> None:
    """So that the whole of an item can be added up."""
    table = Table(few_steps()).start()
    table.world.facts = TOOK
    table.elaborate().say("Tunnels.").say("done")
    spent = [line for line in table.lines if line.actor == "PlanningAgent" and "tokens_in" in line.meta]

    assert [line.content.split()[0] for line in spent] == ["###"]


def test_a_pass_is_recorded_and_not_posted() -> None:
    """It uses no turn; the next one speaks."""
    table = Table(few_steps()).start().do_step().stop_paying().press(Action.ELABORATE)
    table.pay_until(lambda rt: bool(rt.elaboration and rt.elaboration.framed))
    table.world.more = {"passed": True}
    table.pay_until(lambda rt: not rt.debate.waiting)
    table.resume_paying()
    passed = [line for line in table.lines if line.meta.get("pass")]

    assert [line.meta["persona"] for line in passed] == ["solutions-architect", "system-designer"]
    assert [line.content for line in passed] == ["Alex has nothing to add.", "Jordan has nothing to add."]
    assert not any("nothing to add" in text for text in table.texts)
    assert table.rt.debate.turn_count == 1
    assert table.menu.offers(Action.END_ELABORATION)
