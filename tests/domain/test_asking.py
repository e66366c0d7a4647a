"""What a draft asks people, on this card and the next; and when it is made."""

from dataclasses import replace
from typing import Any

import pytest

from bot.domain.catalog.policy import Policy
from bot.domain.messages.message import Action
from bot.domain.roundtable.effects import Speak
from bot.domain.roundtable.outcomes import DraftQuestion
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.timers import OF_DRAFTS
from bot.domain.specification.coverage import of_step
from tests.domain.books import few_steps
from tests.domain.table import Table, shipped

BANK = DraftQuestion(
    text="When does the bank's day end?", to="Grace", recommended="16:00", why="It sets the limit"
)


def opened(**more: Any) -> Table:
    """Three steps; a draft is made when people have been silent for 15 seconds."""
    policy = Policy(thinks=True, **more)
    return Table(replace(few_steps(*shipped().agenda.steps[:3]), policy=policy)).start()


def says(table: Table, *questions: DraftQuestion, following: tuple[DraftQuestion, ...] = ()) -> Table:
    table.world.more = {"patches": (), "questions": questions, "next_questions": following}
    table.world.speech = lambda *_: ""
    return table


def drafts(table: Table) -> int:
    return len([one for one in table.completing if isinstance(one, Speak)])


def lines(table: Table) -> list[str]:
    return [line.content for line in table.lines]


# --- when -----------------------------------------------------------------------------------------------------------


def test_a_draft_is_made_when_people_have_been_silent() -> None:
    """One for all that they said, and none while they go on."""
    table = says(opened())
    for words in ("Edits get lost.", "In tunnels.", "Every day."):
        table.say(words).wait(8)
    assert drafts(table) == 0

    table.fall_silent()
    assert drafts(table) == 1
    assert not table.rt.unread
    assert table.rt.timers.keys().isdisjoint(OF_DRAFTS)


def test_who_never_stops_is_read_after_ninety_seconds() -> None:
    """Who is asked by name answers at once."""
    table = says(opened())
    for number in range(8):
        table.say(f"Tunnel {number}.").fall_silent(10)
    assert drafts(table) == 1

    table = says(opened()).say("We lose edits.").say("Alex, can a queue help?")

    assert drafts(table) == 1
    assert table.fall_silent().rt.drafts == 1


@pytest.mark.parametrize("is_read", [True, False])
def test_who_is_asked_by_name_during_a_call_answers_after_it(*, is_read: bool) -> None:
    """Also when no more drafts are made of the step; but a call that read nothing is not made again by itself."""
    table = says(opened())
    for words in ("One.", "Two."):
        table.say(words).fall_silent()
    table.stop_paying().say("Three.").fall_silent().pay_up_to("speak")
    speak, read = table.speaking, tuple(one.ts for one in table.rt.unread)
    table.say("Maya, can a queue help?", who="grace")

    table.spoke(speak, "", read=read if is_read else (), patches=() if is_read else None)

    assert table.rt.has_pending(Speak) is is_read


def test_after_three_drafts_people_ask_for_the_next() -> None:
    """The card says so once they are silent; the next step begins anew, with what is left."""
    table = says(opened())
    for words in ("One.", "Two.", "Three.", "Four."):
        table.say(words).fall_silent()
    assert drafts(table) == 3
    assert "1 message was not read by Maya after 3 drafts of this step." in table.card.text

    table.press(Action.READ_AGAIN)
    assert drafts(table) == 4
    assert Action.READ_AGAIN not in table.offered()
    table.say("Five.").fall_silent().press(Action.FINISH_STEP).press(Action.CONTINUE)
    assert [one.text for one in table.rt.unread] == ["Five."]
    assert drafts(table.fall_silent()) == 5


@pytest.mark.parametrize("at", ["while people are silent", "while it is drafted"])
def test_after_a_restart_it_is_drafted_once(at: str) -> None:
    table = says(opened()).say("Edits get lost.")
    if at == "while it is drafted":
        table.stop_paying().fall_silent()
        assert table.rt.has_pending(Speak)
    table.restart().resume_paying().fall_silent().fall_silent()

    assert drafts(table) == 1


@pytest.mark.parametrize("when", ["before", "during"])
def test_nothing_is_unread_after_finish(when: str) -> None:
    """Finish waits for no draft: it is made at the menu, or on the next card."""
    table = says(opened()).say("Edits get lost.")
    if when == "during":
        table.stop_paying().fall_silent()
        assert table.rt.has_pending(Speak)
    table.press(Action.FINISH_STEP).resume_paying().press(Action.CONTINUE)
    assert table.rt.step_id == "00-02"
    assert table.rt.unread
    table.fall_silent()

    assert not table.rt.unread


def test_an_answer_that_is_changed_is_drafted_from_again() -> None:
    table = says(opened()).say("Edits get lost.").fall_silent()
    table.edit(table.rt.answers[0].ts, "Every second edit gets lost.").fall_silent()

    assert drafts(table) == 2


# --- what -----------------------------------------------------------------------------------------------------------


def test_the_card_asks_by_name() -> None:
    """With the answer that the persona would give; the line says whom it asks, and why."""
    table = says(opened(), BANK).say("Hello.", who="grace").say("There is a limit.").fall_silent()

    assert "**Grace**: When does the bank's day end? Maya would say: 16:00." in table.card.text
    (line,) = [one for one in table.lines if one.content == BANK.text]
    assert line.actor == "BusinessAnalyst"
    assert (line.meta["asks"], line.meta["recommended"], line.meta["why"]) == ("grace", "16:00", BANK.why)


@pytest.mark.parametrize("name", ["", "Alex", "Somebody", "gra"])
def test_a_name_that_nobody_has_asks_everybody(name: str) -> None:
    table = says(opened(), BANK.but(to=name)).say("Hello.", who="grace").fall_silent()

    assert table.rt.questions[0].to == ""


def test_who_was_silent_all_phase_comes_first_and_three_are_enough() -> None:
    asked = [BANK.but(text=f"{number}?", to="Ada") for number in range(2)]
    table = says(opened(), *asked, BANK, BANK.but(text="Too many?")).say("A limit.", who="grace")
    table.press(Action.FINISH_STEP).press(Action.CONTINUE).say("Daily.", who="grace").fall_silent()

    assert [one.to for one in table.rt.questions] == ["ada", "ada", "grace"]
    assert "Too many?" not in table.card.text


def test_the_next_step_opens_with_its_questions() -> None:
    """Another step shows nothing of it."""
    table = says(opened(looks_first=True), BANK, following=(BANK.but(text="Who is waiting?"),))
    table.say("There is a limit.").fall_silent()
    calls = drafts(table)
    assert "Who is waiting?" not in lines(table)
    table.press(Action.FINISH_STEP).press(Action.CONTINUE)

    assert (table.rt.step_id, drafts(table)) == ("00-02", calls)
    assert "Who is waiting?" in table.card.text
    assert lines(table).count("Who is waiting?") == 1
    assert "When does the bank's day end?" not in table.card.text

    table = says(opened(), following=(BANK.but(text="Who is waiting?"),)).say("A limit.").fall_silent()
    table.press(Action.FINISH_STEP).press(Action.REOPEN, value="00-01")

    assert (table.rt.stage, table.rt.step_id) == (Stage.DISCUSSING, "00-01")
    assert not table.rt.questions
    assert "Who is waiting?" not in table.card.text


def test_what_entries_answer_is_asked_no_more() -> None:
    """Whether they are the draft's own or come from people: coverage misses it no more."""
    table = opened()
    step_id = table.rt.step_id
    gap = next(one for one in of_step(table.playbook.schema, table.rt.specification, step_id) if one.ask)
    says(table, BANK.but(gap=gap.key)).say("Hello.").fall_silent()
    assert BANK.text in table.card.text

    says(table, BANK.but(gap="missing/of/something/else")).say("Well.").fall_silent()
    assert BANK.text not in table.card.text
