"""The fold of a transcript: what the lines alone say about an item, at any of them."""

import json
from collections.abc import Mapping
from typing import Any

from bot.domain.catalog.steps import Depth
from bot.domain.messages.message import Action
from bot.domain.transcript.fold import fold
from bot.domain.transcript.lines import parse
from bot.domain.transcript.state import State
from tests.domain.books import thinking
from tests.domain.table import Table, shipped


def of(table: Table, *, until: int | None = None) -> State:
    return fold(enumerate(table.lines[:until], start=1))


def said(**fields: Any) -> dict[str, Any]:
    given: Mapping[str, Any] = {
        "ts": "2025-03-01T10:15:30.123Z", "round": 1, "actor": "User", "phase": "draft", "role": "user",
        "source": "user", "content": "Hello",
    }  # fmt: skip
    return {**given, **fields}


def replayed(*lines: dict[str, Any]) -> State:
    return fold(enumerate((parse(json.dumps(line).encode()) for line in lines), start=1))


def test_it_says_where_the_meeting_is() -> None:
    """Phase, step, depth and round, without the roundtable itself."""
    table = Table().start().do_step().press_continue().depth(Depth.DEEP)
    state = of(table)

    assert (state.phase_key, state.step_id) == (table.rt.phase_key, table.rt.step_id)
    assert (state.depth, state.round, state.part) == ("deep", table.rt.round, "clarifying")


def test_it_says_how_far_the_item_is() -> None:
    """The same as meta.json, in the same order."""
    table = Table().start().elaborate().say("done").press_continue().through("00-03").press_continue()
    table.depth(Depth.BRIEF)
    progress = of(table).progress

    assert progress.steps_completed == table.meta.steps_completed
    assert progress.phases_completed == table.meta.phases_completed == ("00-quick-scan",)
    assert progress.elaborations == table.meta.elaborations
    assert progress.depth_overrides == table.meta.depth_overrides
    assert progress.derived_status == "partial"
    assert progress.whole


def test_an_analysis_from_the_beginning_forgets_the_steps() -> None:
    """The elaborations stay, as they do in meta.json."""
    table = Table().start().elaborate().say("done").through("04-05")
    table.press_continue()
    table.world.commits_behind = 3
    table.resume().press(Action.REANALYSE)

    assert of(table).progress.steps_completed == table.meta.steps_completed == ()
    assert of(table).progress.elaborations == table.meta.elaborations
    assert table.meta.elaborations


def test_a_meta_json_that_was_lost_is_said_anew() -> None:
    """Whatever it takes to write it again is in a line, too."""
    table = Table().start().do_step().press_continue()
    table.world.meta = None
    table.do_step()

    assert of(table).progress.steps_completed == table.meta.steps_completed == ("00-01", "00-02")


def test_a_line_in_the_middle_has_a_state_of_its_own() -> None:
    """Nothing that came later is known there."""
    table = Table().start().say("One answer.").say("Another.", who="grace").do_step()
    place = next(number for number, line in enumerate(table.lines, start=1) if line.content == "Another.")
    state = of(table, until=place)

    assert [one.name for one in state.people] == ["Ada", "Grace"]
    assert state.progress.steps_completed == ()


def test_a_discussion_ends_with_what_came_of_it() -> None:
    """Lines of before carried no changes: a synthesis was still one, and the rest is not made up."""
    table = Table().start().elaborate().say("Jordan, why?").say("done")
    (concluded,) = of(table).concluded

    assert concluded.record == table.meta.elaborations[0]
    assert concluded.whole

    table = Table().start().elaborate().say("Jordan, why?").say("done")
    metas = [{name: fact for name, fact in line.meta.items() if name != "change"} for line in table.lines]
    lines = (line.but(meta=meta) for line, meta in zip(table.lines, metas, strict=True))
    state = fold(enumerate(lines, start=1))

    assert not state.progress.whole
    assert [(one.step_id, one.record) for one in state.concluded] == [("00-01", None)]


def test_what_models_took_is_added_up() -> None:
    """For each actor, for each provider, and for all together; lines that a rule wrote are no calls."""
    table = Table(thinking(shipped())).start()
    table.world.facts = {
        "provider": "acme",
        "model": "m",
        "tokens_in": 10,
        "tokens_out": 3,
        "cost": 0.5,
        "seconds": 2,
    }
    totals = of(table.say("An answer.")).totals

    assert totals.by_provider["acme/m"].tokens_in == totals.all.tokens_in == 10
    assert totals.by_actor["BusinessAnalyst"].cost == 0.5
    assert (totals.all.calls, totals.all.unrecorded) == (1, 0)


def test_people_of_one_name_are_two() -> None:
    """They are told apart by what Slack calls them."""
    state = replayed(
        said(meta={"user_id": "U1", "user_name": "Ada"}), said(meta={"user_id": "U2", "user_name": "Ada"})
    )

    assert [(one.name, one.lines) for one in state.people] == [("Ada", 1), ("Ada", 1)]


def test_going_back_is_a_flaw_of_the_line_that_does() -> None:
    """Of rounds and of the clock; what follows is compared with that line."""
    later = "2025-03-01T10:15:31.000Z"
    state = replayed(said(round=3, ts=later), said(round=2, ts=later), said(round=2))

    assert [flaw.sentence for flaw in state.flaws] == [
        "goes back from round 3 to 2",
        "is earlier (2025-03-01T10:15:30.123Z) than the line before it (2025-03-01T10:15:31.000Z)",
    ]


def test_a_round_has_one_phase() -> None:
    """Unless the host says that it changes; and people may say something at any time."""
    maya = {"source": "model", "actor": "Maya"}
    note = said(phase="clarifying", source="system", actor="PlanningAgent")
    asking = said(phase="clarifying", **maya)

    assert replayed(said(**maya), note, asking).flaws == ()
    assert replayed(said(**maya), said(phase="clarifying"), said(**maya)).flaws == ()
    assert replayed(said(**maya), asking).flaws[0].sentence == (
        "is clarifying in round 1, which was draft before it"
    )


def test_where_two_meetings_meet_their_rounds_may_fall_together() -> None:
    """After a store was lost the count begins anew, and is raised to where the file was."""
    earlier = {"source": "model", "actor": "Maya", "meta": {"message_id": "item.a1.7"}}
    later = {"source": "model", "actor": "Maya", "meta": {"message_id": "item.b2.1"}}

    assert (
        replayed(said(**earlier), said(phase="workshop", **later), said(phase="clarifying", **later)).flaws
        == ()
    )


def test_a_change_that_is_none_changes_nothing() -> None:
    """Whatever other tools call a change."""
    changes: list[Any] = [7, {"steps": "00-01"}, {"elaborations": [{}]}, {}]
    state = replayed(*(said(meta={"change": one}) for one in changes))

    assert [flaw.number for flaw in state.flaws] == [1, 2, 3]
    assert state.progress.steps_completed == ()
