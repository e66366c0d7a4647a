"""A roundtable with fewer personas, and one in a channel with rules of its own."""

from dataclasses import replace

import pytest

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.policy import ChannelRules, Policies, PressPolicy
from bot.domain.catalog.steps import Depth
from bot.domain.messages.message import Action
from bot.errors import NotNow
from tests.domain.table import HERE, Table, shipped

ALEX, JORDAN = "solutions-architect", "system-designer"


def ruled(**rules: object) -> Playbook:
    channels = {HERE.channel: ChannelRules.model_validate(rules)}
    return replace(shipped(), policies=Policies(channels=channels))


def test_the_first_of_the_cast_leads_for_the_absent() -> None:
    table = Table().start(personas=(ALEX, JORDAN))

    assert "Alex leads this step, because Maya does not take part." in table.last.text
    assert table.last.speaker == ALEX
    assert "ERR-PERSONA-001" not in table.codes


def test_an_elaboration_lists_who_took_part() -> None:
    """Also one persona alone, with people."""
    table = Table().start(personas=(ALEX, JORDAN)).elaborate()
    speakers = {line.actor for line in table.lines}
    table.say("done")

    assert "BusinessAnalyst" not in speakers
    (record,) = table.meta.elaborations
    assert record.personas_active == (ALEX, JORDAN)

    table = Table().start(personas=(ALEX,)).elaborate()
    table.say("I want to keep a log of edits").say("done")

    assert table.meta.elaborations[0].personas_active == (ALEX,)


def test_the_choices_are_in_git_and_come_back_from_there() -> None:
    table = Table().start(personas=(ALEX,), participants=("U2",), due="2026-01-09T10:00:00.000Z")
    seats = table.meta.seats
    table.forget()

    assert seats.personas_active == (ALEX,)
    assert "U2" in seats.participants
    rt = table.rt
    assert (rt.personas_active, rt.attendance.due) == ((ALEX,), "2026-01-09T10:00:00.000Z")
    assert "U2" in rt.attendance.participants


def test_a_chosen_depth_applies_to_all_phases() -> None:
    table = Table().start(depth=Depth.BRIEF)

    assert table.rt.depth is Depth.BRIEF
    assert set(table.meta.depth_overrides.values()) == {"brief"}


def test_the_channel_chooses_where_people_do_not() -> None:
    """Also who presses."""
    playbook = ruled(cast=[JORDAN], depth="deep", press="starter")

    assert (Table(playbook).start().rt.personas_active, Table(playbook).start().rt.depth) == (
        (JORDAN,),
        Depth.DEEP,
    )
    chosen = Table(playbook).start(personas=(ALEX,), depth=Depth.BRIEF).rt
    assert (chosen.personas_active, chosen.depth) == ((ALEX,), Depth.BRIEF)

    playbook = ruled(press=PressPolicy.STARTER)
    table = Table(playbook).start().say("Edits get lost. Scope: small", who="grace")
    with pytest.raises(NotNow):
        table.press(Action.FINISH_STEP, who="grace")

    assert table.finish(who="ada").rt.steps_completed
