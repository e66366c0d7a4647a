"""Personas who disagree are put side by side, and people decide with a button; or they do not."""

from collections.abc import Iterable

import pytest

from bot.domain.discussion.elaboration import Stance
from bot.domain.messages.message import Action
from bot.domain.roundtable.effects import Speak
from bot.domain.roundtable.stage import Stage
from bot.domain.specification.snapshot import folded
from bot.domain.transcript.lines import Line, Source
from bot.errors import NotNow
from tests.domain.table import Contribution, Table, played_once
from tests.meetings.script import (
    ALEX,
    DONE,
    GO_ON,
    JORDAN,
    MAYA,
    Pressed,
    Said,
    Script,
    discussing,
    played,
    says,
)

ASKED = (
    "On storage, Alex and Jordan see this differently. Alex favors Redis because of t01 (Maya). Jordan favors SQLite "
    "and has named no turn that it rests on. What matters more for your project: Redis or SQLite?"
)
PERSONAS = {
    MAYA: [Contribution("Where do edits wait?")],
    ALEX: [says("Redis is fast.", "Redis", "t01")],
    JORDAN: [says("A file will do.", "SQLite")],
}
DECIDED = Pressed(Action.DECIDE, "1", "grace")


@played_once
def disputing() -> Table:
    """The buttons are under the two sides."""
    return discussing(PERSONAS)


# --- what people see --------------------------------------------------------------------------------------------------


def test_the_lead_states_both_sides_and_asks() -> None:
    """With the reasons on record, and a button for each; going on and ending are there as always."""
    table = disputing()

    assert (table.last.text, table.last.speaker) == (ASKED, MAYA)
    assert [(one.action, one.label, one.value) for one in table.menu.message.choices[:2]] == [
        (Action.DECIDE, "Decide: Redis", "0"),
        (Action.DECIDE, "Decide: SQLite", "1"),
    ]
    assert {Action.GO_ON, Action.END_ELABORATION} <= {one.action for one in table.menu.message.offered}


def test_those_of_one_opinion_are_named_together() -> None:
    """The side with more of them comes first."""
    personas = {**PERSONAS, MAYA: [says("Where do edits wait?", "SQLite")]}
    asked = next(text for text in played(Script(personas)).texts if "see this differently" in text)

    assert asked.startswith(
        "On storage, Maya, Jordan and Alex see this differently. Maya and Jordan favor SQLite "
    )


def test_a_long_position_still_has_a_button() -> None:
    """What stands on it is cut; what is decided is not."""
    long = (
        "a file on the device that is copied to the server whenever there is a network and nobody is looking"
    )
    personas = {**PERSONAS, JORDAN: [says("A file will do.", long)]}
    meeting = played(Script(personas, [DECIDED]))
    labels = [one.label for message in meeting.thread for one in message.choices if one.value == "1"]

    assert all(len(label) <= 40 for label in labels)
    assert decided(meeting.lines) == [f"storage: {long}"]


def decided(lines: Iterable[Line]) -> list[str]:
    return [str(one["text"]) for one in folded(lines).specification.active("decision")]


# --- deciding ---------------------------------------------------------------------------------------------------------


def test_a_decision_is_a_line_of_the_person_who_made_it() -> None:
    """In the words that were on record; the buttons say who it was."""
    table = disputing()
    asked = table.menu
    table.press(Action.DECIDE, value="1", who="grace")
    (made,) = table.rt.specification.active("decision")
    line = next(line for line in table.lines if line.message_id == made.claims["text"][0].line)

    assert (line.source, line.actor, line.meta["user_name"]) == (Source.USER, "User", "Grace")
    assert line.content == "Grace decided on storage: SQLite"
    assert made["text"] == "storage: SQLite"
    shown = next(said.message for said in table.world.thread if said.ts == table.ts_of(asked.token))
    assert "decided by Grace" in shown.text
    assert not any(one.action == Action.DECIDE for one in shown.choices)


def test_a_decision_does_nothing_but_stand_there() -> None:
    """Same stage, same turns, same limit; personas and people go on as they like."""
    table = disputing()
    before = table.rt
    table.press(Action.DECIDE, value="0")

    assert table.rt.stage is Stage.ELABORATING
    assert table.rt.debate.turns == before.debate.turns
    assert (table.rt.steps_completed, table.rt.artifacts) == (before.steps_completed, before.artifacts)
    assert table.rt.has_pending(Speak) is False
    assert "storage: Redis (decided by Ada)" in table.discussion.text


def test_the_synthesis_has_the_decision_word_by_word() -> None:
    """With who decided it; both sides stand below."""
    shown = played(Script(PERSONAS, [DECIDED, DONE])).shown.text

    assert "#### Decisions Made\n- storage: SQLite (Grace)\n" in shown
    assert "#### Positions\n- A: Redis – *Alex*\n- B: SQLite – *Jordan*\n" in shown


def test_people_may_ignore_the_question() -> None:
    """The discussion goes on, and nobody asks the same again."""
    meeting = played(Script(PERSONAS, [Said("Let us hear more."), GO_ON, DONE]))

    assert meeting.texts.count(ASKED) == 1
    assert decided(meeting.lines) == []


def test_another_position_is_another_question() -> None:
    """Whoever was asked about two sides has not been asked about three."""
    personas = {**PERSONAS, MAYA: [*PERSONAS[MAYA], says("Neither.", "paper")]}
    meeting = played(Script(personas, [Said("Hm."), DONE]))

    assert sum("see this differently" in text for text in meeting.texts) == 2


def test_a_second_press_changes_nothing() -> None:
    """Its button is gone; who wants another decision records one."""
    table = disputing()
    asked = table.menu
    table.press(Action.DECIDE, value="1", who="grace")
    before = table.rt

    with pytest.raises(NotNow, match="out of date"):
        table.press(Action.DECIDE, value="0", menu=asked)
    assert table.rt == before


@pytest.mark.parametrize("value", ["", "2", "-1", "one", "٣"])
def test_a_button_that_was_never_there_decides_nothing(value: str) -> None:
    """Values come from outside."""
    table = disputing()
    before = table.rt

    with pytest.raises(NotNow):
        table.press(Action.DECIDE, value=value)
    assert table.rt == before


def test_a_press_after_the_discussion_went_on_decides() -> None:
    """The question stands on the card until it is answered."""
    table = disputing()
    asked = table.menu
    table.say("Let us hear more.").press(Action.DECIDE, value="0", menu=asked)

    assert [one["text"] for one in table.rt.discussed.decisions] == ["storage: Redis"]


def test_issues_are_put_one_after_the_other() -> None:
    """A decision on one brings the next."""
    two = Stance(issue="names", position="short")
    other = Stance(issue="names", position="long")
    personas = {
        MAYA: PERSONAS[MAYA],
        ALEX: [Contribution("Redis, short.", (*PERSONAS[ALEX][0].stances, two))],
        JORDAN: [Contribution("A file, long.", (*PERSONAS[JORDAN][0].stances, other))],
    }
    meeting = played(Script(personas, [DECIDED, Pressed(Action.DECIDE, "0"), DONE]))

    assert decided(meeting.lines) == ["storage: SQLite", "names: short"]


def test_the_question_comes_again_after_a_pause() -> None:
    """Nobody answered it, and its buttons are gone."""
    table = disputing().stop().resume()

    assert table.last.text == ASKED
    assert table.offered()[0] == Action.DECIDE


def test_what_is_decided_survives_a_restart() -> None:
    """It is in the store with everything else."""
    table = disputing().press(Action.DECIDE, value="1", who="grace").restart()

    assert [one["text"] for one in table.rt.discussed.decisions] == ["storage: SQLite"]
