"""What a voice says besides words goes into the record: where it stands, what it took, and that it was silent."""

from bot.domain.discussion.elaboration import Stance
from bot.domain.messages.message import Action
from bot.domain.transcript.lines import Line
from tests.domain.books import few_steps
from tests.domain.table import Contribution, Table

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


def discussing(*stances: Stance) -> Table:
    table = Table(few_steps()).start().do_step()
    table.world.facts = TOOK
    table.world.speech = lambda *_: Contribution("We keep both.", stances)
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
    table = discussing(KEEP_BOTH)

    assert table.rt.debate.turns[1].stances == (KEEP_BOTH,)
    position = next(
        one for one in table.rt.specification.active("position") if one["person"] == "SolutionsArchitect"
    )
    (claim,) = position.claims["option"]
    assert (position["issue"], claim.value) == ("conflicts", "keep both")
    assert claim.line == table.rt.debate.turns[1].line
    assert claim.sources == (table.rt.debate.turns[0].line,)


def test_a_pass_is_recorded_and_not_posted() -> None:
    """It uses no turn; what the call took stands on its line."""
    table = Table(few_steps()).start().do_step()
    table.world.facts = TOOK
    table.world.speech = lambda speak, _: Contribution(
        "We start.", passed=speak.persona != "business-analyst"
    )
    table.press(Action.ELABORATE)
    passed = [line for line in table.lines if "nothing to add" in line.content]

    assert [line.meta["persona"] for line in passed] == ["solutions-architect", "system-designer"]
    assert [line.content for line in passed] == ["Alex has nothing to add.", "Jordan has nothing to add."]
    assert all("tokens_in" in line.meta for line in passed)
    assert not any("nothing to add" in text for text in table.texts)
    assert table.rt.debate.turn_count == 1
    assert table.menu.offers(Action.END_ELABORATION)
