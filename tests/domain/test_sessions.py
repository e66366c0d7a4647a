"""What the session of an agent is called, and that it is closed at the end."""

from dataclasses import replace

import pytest

from bot.domain.catalog.policy import Policy
from bot.domain.messages.message import Action
from bot.domain.roundtable.effects import WorkIndicator
from tests.domain.books import few_steps
from tests.domain.table import Table, played_once


@played_once
def held(*, agent: bool = True) -> Table:
    return Table(replace(few_steps(), policy=Policy(agent=agent))).start()


def test_the_title_says_item_and_step_and_changes_with_the_step() -> None:
    table = held()
    first = f"Offline sync: {title(table)}"
    assert table.world.sessions == [(first, False)]

    table.say("Edits get lost.").do_step()
    assert table.world.sessions == [(first, False)]
    table.press(Action.CONTINUE)
    assert table.world.sessions == [(first, False), (f"Offline sync: {title(table)}", False)]


def title(table: Table) -> str:
    step = table.playbook.agenda.get(table.rt.step_id)
    assert step
    return step.title


def test_it_is_closed_when_the_analysis_is_done() -> None:
    """Once, also when people go on talking there; a restart in between."""
    table = held().through("02-01").press_continue()
    assert table.world.sessions[-1] == ("Offline sync", True)
    known = len(table.world.sessions)
    table.restart().say("Thanks!")

    assert len(table.world.sessions) == known
    assert [closed for _, closed in table.world.sessions[:-1]] == [False] * (known - 1)


def test_an_app_that_is_no_agent_has_none() -> None:
    assert held(agent=False).through("02-01").press_continue().world.sessions == []


@pytest.mark.parametrize(("reason", "asked"), [("not_agent_app", 0), ("internal_error", 1)])
def test_where_slack_has_none_it_is_not_asked_again(reason: str, asked: int) -> None:
    """Trouble that passes is no reason to stop: the next step is named again."""
    table = Table(replace(few_steps(), policy=Policy(agent=True))).fail("name_session", reason).start()
    assert (WorkIndicator.SESSION in table.rt.signs_refused) is (asked == 0)
    table.do_step().press(Action.CONTINUE)

    assert len(table.world.sessions) == asked


def test_a_new_thread_has_a_session_of_its_own() -> None:
    """The first one was deleted."""
    table = held().fail("post", "thread_not_found").do_step().press_continue()
    assert not table.rt.place.thread
    known = len(table.world.sessions)

    table.start_again()
    assert len(table.world.sessions) == known + 1
