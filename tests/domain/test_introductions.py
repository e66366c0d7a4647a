"""People whom nobody has named yet: what somebody writes comes from Slack with an id alone."""

import pytest

from tests.domain.table import STRANGERS, Table
from tests.domain.test_queueing import talking

ZOE = "U0ZOE"


@pytest.fixture
def table() -> Table:
    return Table().start()


def notes(table: Table) -> list[str]:
    """What became of the menus, in the thread."""
    texts = (one.message.text for one in table.world.thread)
    return [line.partition(" · ")[0] for text in texts for line in text.splitlines()]


def test_who_speaks_for_the_first_time_is_answered_by_name(table: Table) -> None:
    """Not by what Slack calls them among machines."""
    table.elaborate()
    table.world.speech = lambda _speak, rt: f"What I take from {rt.debate.turns[-1].name} is this."
    table.say("Last write wins loses work", who=ZOE).take_round()

    assert "What I take from Zoe is this." in table.texts


def test_what_is_said_after_the_last_turn_has_a_name_too() -> None:
    """It is put together with the rest."""
    table = talking(6).resume_paying()
    table.say("And I", who=ZOE).pay_until(lambda rt: bool(rt.people.get(ZOE)))

    assert [one.name for one in table.rt.debate.besides][-1:] == ["Zoe"]


def test_a_menu_says_by_name_what_became_of_it(table: Table) -> None:
    """Also where the first that somebody writes is what closes it."""
    table.say("Quick to say").finish(who=ZOE).say("One more thing: trains", who="U0ODD")

    assert {"Finished by Zoe", "- Odd: One more thing: trains"} <= {*notes(table)}


def test_the_record_has_the_name(table: Table) -> None:
    """In what they wrote, and in what is told of them."""
    table.say("Quick to say").finish(who=ZOE).say("One more thing", who="U0ODD")

    assert "Zoe finished step 00-01 Scope Estimation." in [line.content for line in table.lines]
    assert [line.meta["user_name"] for line in table.lines if line.content == "One more thing"] == ["Odd"]


def test_what_people_wrote_stays(table: Table) -> None:
    """Whatever they called each other."""
    table.stop_paying().say(f"Ask {ZOE} about it").say("Me?", who=ZOE).resume_paying()

    assert f"Ask {ZOE} about it" in [line.content for line in table.lines]


def test_whom_slack_does_not_name_keeps_the_id(table: Table) -> None:
    """It is better than nothing."""
    assert "U0NOBODY" not in STRANGERS
    table.say("Quick to say").finish(who="U0NOBODY")

    assert "Finished by U0NOBODY" in notes(table)
