"""The one door: what may happen when, what is refused, and that a roundtable is a value that can be stored."""

from functools import partial

import pytest

from bot.domain.catalog.steps import Depth
from bot.domain.messages.message import Action
from bot.domain.roundtable import state
from bot.domain.roundtable.machine import ANYTIME, TRANSITIONS
from bot.domain.roundtable.outcomes import Attempted, Posted
from bot.domain.roundtable.stage import BUSY, Stage
from bot.domain.roundtable.state import MENUS_REMEMBERED
from bot.errors import NotNow
from tests.domain.books import few_steps
from tests.domain.table import HERE, Table

SCENES = {
    Stage.OPENING: lambda: Table(few_steps(), paying=False).start(),
    Stage.DISCUSSING: lambda: Table(few_steps()).start(),
    Stage.WRITING: lambda: Table(few_steps()).start().stop_paying().press(Action.FINISH_STEP),
    Stage.AT_BOUNDARY: lambda: Table(few_steps()).start().do_step(),
    Stage.ELABORATING: lambda: Table(few_steps()).start().elaborate(),
    Stage.CLOSING: lambda: Table(few_steps()).start().do_step().stop_paying().press_continue(),
    Stage.STALLED: lambda: (
        Table(few_steps()).start().do_step().fail("speak", times=3).press(Action.ELABORATE)
    ),
    Stage.PAUSED: lambda: Table(few_steps()).start().stop(),
    Stage.ANALYSED: lambda: Table(few_steps()).start().through("02-01").press_continue(),
}


@pytest.mark.parametrize("stage", Stage)
def test_every_stage_can_be_reached(stage: Stage) -> None:
    """By people who do ordinary things."""
    assert SCENES[stage]().rt.stage is stage


@pytest.mark.parametrize("stage", Stage)
def test_people_are_heard_in_every_stage(stage: Stage) -> None:
    """Whatever is going on: what somebody says is a line of the transcript."""
    table = SCENES[stage]().say("I worry about tunnels.", who="grace")

    assert "I worry about tunnels." in [line.content for line in table.lines]


@pytest.mark.parametrize("stage", sorted(BUSY))
def test_while_we_are_busy_nothing_can_be_asked_for(stage: Stage) -> None:
    """It takes a moment; whoever asks is told so, and nothing changes. Only a stop is remembered."""
    table = SCENES[stage]()
    before = table.rt

    for wish in (table.resume, partial(table.depth, Depth.DEEP)):
        with pytest.raises(NotNow, match="I am saving"):
            wish()
    assert table.rt is before
    after = table.stop().rt
    assert after.stop_asked_by == "ada" or after.stage is Stage.PAUSED


@pytest.mark.parametrize("stage", Stage)
def test_a_running_roundtable_is_not_started_again(stage: Stage) -> None:
    """One item, one roundtable; one that has no thread is none yet."""
    with pytest.raises(NotNow, match="running already"):
        SCENES[stage]().start_again()


def test_nothing_in_the_table_is_there_twice() -> None:
    """What may happen at any time stands in one place."""
    assert not {kind for _, kind in TRANSITIONS} & set(ANYTIME)


def test_an_attempt_is_counted() -> None:
    """So that whoever comes next knows to look first."""
    table = Table(few_steps(), paying=False).start()
    pending = table.rt.outbox[0]
    table.rt = table.decided(Attempted(key=pending.id, at=table.now(), effect=pending.id))

    assert [effect.attempts for effect in table.rt.outbox[:1]] == [1]
    assert table.rt.outbox[0].id == pending.id


@pytest.mark.parametrize("stage", Stage)
def test_an_outcome_of_something_that_is_not_owed_is_old_news(stage: Stage) -> None:
    """The very same roundtable: a payment that was told twice, or too late, settles nothing."""
    table = SCENES[stage]()
    pending = {effect.id for effect in table.rt.outbox}
    late = [outcome for outcome in table.told if outcome.effect not in pending]
    never = Posted(key="x", at=table.now(), effect="offline-sync.0.1", ts="1")

    assert all(table.decided(outcome) is table.rt for outcome in (*late, never))


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A roundtable may last for weeks."""
    monkeypatch.setattr(state, "KEYS_REMEMBERED", 9)
    table = Table(few_steps()).start()
    for _ in range(MENUS_REMEMBERED + 2):
        table.resume()

    assert len(table.rt.seen) == 9
    assert len(table.rt.used) == MENUS_REMEMBERED


def test_the_same_start_makes_the_same_roundtable() -> None:
    """Nothing in it comes from a clock or from chance; time never goes back."""
    assert Table(few_steps()).start().rt == Table(few_steps()).start().rt

    table = Table(few_steps()).start()
    before = table.rt.now
    table._tick = 0
    table.say("From the past.", ts="950.1")

    assert table.rt.now >= before


def test_a_place_has_a_key() -> None:
    """Workspace, channel and thread together: a channel's id alone says nothing about whose it is."""
    assert HERE.but(thread="5.1").key == "T1.C1.5.1"
