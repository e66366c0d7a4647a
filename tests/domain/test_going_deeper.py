"""Going deeper from the short path: the steps that are missing are asked, and the analysis completes again."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from bot.domain.catalog.policy import Policy, PressPolicy
from bot.domain.messages.message import Action
from bot.domain.roundtable.effects import Post
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import BRIEF
from bot.errors import NotNow
from tests.domain.card_scene import behind_dots, labels
from tests.domain.table import Table, played_once
from tests.domain.test_short_path import WHY, short
from tests.specification.meeting import PLAYBOOK

WHAT = "2. Edits are kept on the device\nAC: 500 of 500 rows are there\n4. PDF"
SCAN, REQUIREMENTS = PLAYBOOK.agenda.phases[0].key, PLAYBOOK.agenda.phases[1].key
STEPS = [step.step_id for step in PLAYBOOK.agenda.steps]


@played_once
def two_cards() -> Table:
    """The third card is open; `00-01`, `01-01` and `01-06` have content."""
    return short().say(WHY).press(Action.NEXT).say(WHAT).press(Action.NEXT)


@played_once
def analysed() -> Table:
    table = two_cards()
    while table.rt.stage is Stage.DISCUSSING:
        table.press(Action.NEXT)
    assert table.rt.stage is Stage.ANALYSED
    return table


def missing(table: Table) -> list[str]:
    return [one for one in STEPS if one not in table.rt.steps_completed]


def asked_from_here(table: Table) -> list[str]:
    """The steps that are asked until the analysis is complete."""
    asked: list[str] = []
    while table.rt.stage is not Stage.ANALYSED:
        if table.rt.stage is Stage.DISCUSSING:
            asked.append(table.rt.step_id)
            table.press(Action.FINISH_STEP)
        else:
            table.press_continue()
    return asked


def offer(table: Table) -> list[str]:
    """What the button says on the brief."""
    shown = table.rt.live[BRIEF].shown
    assert shown
    return [label for label in behind_dots(shown) if label.startswith("Go deeper")]


def briefs(table: Table) -> list[Post]:
    return [one for one in table.completing if isinstance(one, Post) and one.broadcast]


# --- what follows -----------------------------------------------------------------------------------------------------


def test_at_the_end_the_missing_steps_are_asked() -> None:
    """Each once, in their order; then the analysis is complete again, and nothing is left to go deeper for."""
    table = analysed()
    left = missing(table)
    assert offer(table) == [f"Go deeper: {len(left)} steps"]
    assert f"{24 - len(left)} of 24 steps have content; go deeper for the others." in table.last.text

    table.press_outside(Action.GO_DEEPER, who="grace")
    assert table.meta.phases_completed == ()
    assert set(table.meta.depth_overrides.values()) == {"standard"}
    assert asked_from_here(table) == left
    assert sorted(table.meta.steps_completed) == STEPS
    assert table.meta.phases_completed == tuple(phase.key for phase in PLAYBOOK.agenda.phases)
    assert offer(table) == []


def test_at_the_end_the_missing_steps_are_asked_of_who_may_press() -> None:
    """The record says who asked; with nothing missing there is one sentence."""
    table = analysed()
    label = offer(table)[0]
    table.press_outside(Action.GO_DEEPER, who="grace")

    assert f"Grace chose: {label}" in [line.content for line in table.lines]
    assert table.subjects[-1] == "deeper: 21 steps"

    table = analysed()
    policy = Policy(press=PressPolicy.STARTER)
    table.playbook = replace(PLAYBOOK, policy=policy)

    with pytest.raises(NotNow, match="Ada"):
        table.press_outside(Action.GO_DEEPER, who="grace")
    table.say("go deeper", who="grace")
    assert table.rt.stage is Stage.ANALYSED
    assert "Ada" in table.world.told[-1][1].text

    table = analysed()
    table.press_outside(Action.GO_DEEPER)
    asked_from_here(table)

    with pytest.raises(NotNow, match=r"Every step is done\."):
        table.press_outside(Action.GO_DEEPER)
    assert table.say("go deeper").world.told[-1][1].text == "Every step is done."


def test_the_brief_is_posted_again_at_the_end() -> None:
    """The first one loses the button when it is pressed, and says who did that."""
    table = analysed()
    first = table.rt.stands_at(BRIEF)
    table.press_outside(Action.GO_DEEPER)
    shown = next(one.message for one in table.world.thread if one.ts == first)
    assert behind_dots(shown) == ["Export the record"]
    assert shown.note == "Go deeper: 21 steps -- chosen by Ada"
    assert len(briefs(table)) == 1

    asked_from_here(table)
    assert len(briefs(table)) == 2
    assert table.rt.stands_at(BRIEF) != first
    assert "Analysis complete." in table.last.text


def test_phases_without_a_missing_step_stay_closed() -> None:
    """The depth of those before is left alone."""
    table = short().say(WHY).say("keyword: outbox").say("File count: 4").press(Action.NEXT)
    assert table.rt.steps_completed == ("00-01", "00-02", "00-03")
    table.press(Action.NEXT).say("go deeper")

    assert table.meta.phases_completed == (SCAN,)
    assert table.meta.depth_overrides[SCAN] == "brief"
    assert table.rt.step_id == "01-02"


def test_at_the_menu_of_a_card() -> None:
    """The card stays in the thread as it was saved. Its phase is not closed, and is asked step by step."""
    table = short().say(WHY).press(Action.FINISH_STEP)
    card = table.rt.stands_at(table.menu.token)
    assert "Go deeper: 23 steps" in behind_dots(table.card)

    table.press(Action.GO_DEEPER, who="grace")
    assert table.rt.step_id == "00-02"
    shown = next(one.message for one in table.world.thread if one.ts == card)
    assert shown.card
    assert shown.card.title == "✓ What and why"
    assert shown.card.subtitle == "Problem: 1, Success metric: 1, Driver: 1"
    assert asked_from_here(table) == STEPS[1:]


def test_a_card_that_is_covered_is_closed_with_it() -> None:
    """No menu of a phase is asked once more in which nothing is missing."""
    table = short().say(WHY).say("keyword: outbox").say("File count: 4").press(Action.FINISH_STEP)
    table.press(Action.GO_DEEPER)

    assert table.meta.phases_completed == (SCAN,)
    assert "Phase 00 (Quick Scan) complete." in [line.content for line in table.lines]
    assert table.rt.step_id == "01-01"


def test_on_a_later_card() -> None:
    """What was said on it stands in the record, and on the card of its step."""
    table = two_cards().say("2. Orders get lost -> a link")
    left = missing(table)
    assert f"Go deeper: {len(left)} steps" in behind_dots(table.card)

    table.press(Action.GO_DEEPER)
    assert table.rt.step_id == "00-02"
    assert table.rt.answers == ()
    assert "Orders get lost" in table.world.files["impact-analysis.md"]
    assert asked_from_here(table) == left


def test_the_first_card_has_no_such_button() -> None:
    """No phase was closed, so another depth does the same. The words count all the same."""
    table = short()
    assert not [label for label in behind_dots(table.card) if label.startswith("Go deeper")]

    table.say("go deeper")
    assert "Step 00-01: Scope Estimation" in table.last.text


def test_a_card_that_covers_no_first_step_is_asked_step_by_step() -> None:
    """Its id is that of the first step, which is not done when the card is."""
    table = short().press(Action.NEXT).say(WHAT).press(Action.NEXT).say("go deeper")

    assert "Step 00-01: Scope Estimation" in table.last.text
    assert asked_from_here(table) == [one for one in STEPS if one != "01-06"]


def test_steps_that_are_skipped_can_be_asked_again() -> None:
    """The phase is closed with them, and a second time they are all that is missing."""
    table = analysed()
    table.press_outside(Action.GO_DEEPER).do_step().press(Action.SKIP).press_continue()
    asked_from_here(table)
    assert missing(table) == ["00-03"]
    assert offer(table) == ["Go deeper: 1 step"]

    table.say("Go deeper.")
    assert asked_from_here(table) == ["00-03"]


def test_a_deep_phase_stays_deep() -> None:
    table = two_cards().say("deep")
    table.say("words").press(Action.FINISH_STEP).press(Action.SKIP).press_continue().stop().resume()
    asked_from_here(table)
    table.press_outside(Action.GO_DEEPER)

    depths = table.meta.depth_overrides
    assert (depths[SCAN], depths[REQUIREMENTS], depths["02-impact-analysis"]) == (
        "standard",
        "standard",
        "deep",
    )


def test_while_the_plan_is_open() -> None:
    """It is left as it is."""
    table = analysed().plan()
    left = missing(table)
    table.say("go deeper")

    assert asked_from_here(table) == left


# --- where it does nothing --------------------------------------------------------------------------------------------


def test_of_two_who_press_the_second_is_told_so() -> None:
    """While it is saved, and afterwards."""
    table = analysed().stop_paying()
    table.press_outside(Action.GO_DEEPER)
    with pytest.raises(NotNow, match="I am saving"):
        table.press_outside(Action.GO_DEEPER, who="grace")
    table.resume_paying()
    with pytest.raises(NotNow, match="asked already"):
        table.press_outside(Action.GO_DEEPER, who="grace")
    assert [subject for subject in table.subjects if subject.startswith("deeper")] == ["deeper: 21 steps"]


def test_the_menu_of_a_card_is_used_once() -> None:
    table = two_cards().press(Action.FINISH_STEP)
    menu = table.menu
    table.press(Action.GO_DEEPER)

    with pytest.raises(NotNow, match="Go deeper: 21 steps -- chosen by Ada"):
        table.press(Action.GO_DEEPER, who="grace", menu=menu)


def test_not_in_a_discussion_nor_in_a_pause() -> None:
    """One sentence says so."""
    table = analysed().say("reopen 02-01").press(Action.FINISH_STEP).press(Action.ELABORATE)
    assert table.rt.stage is Stage.ELABORATING
    with pytest.raises(NotNow, match="End it first"):
        table.press_outside(Action.GO_DEEPER)

    turns = table.rt.debate.turn_count
    table.say("go deeper")
    assert table.rt.debate.turn_count > turns

    table = two_cards().stop()
    with pytest.raises(NotNow, match="Type `resume` first"):
        table.press_outside(Action.GO_DEEPER)

    assert table.resume().say("go deeper").rt.step_id == "00-02"


def test_where_steps_are_asked_one_by_one_the_words_ask_for_depth() -> None:
    table = Table(PLAYBOOK).start().say("go deeper")

    assert "Got it, switching to deep mode." in table.last.text


# --- when something is lost -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "lose", [lambda table: table.restart().resume(), Table.forget], ids=["the process", "the store"]
)
def test_it_is_still_offered(lose: Callable[[Table], Table]) -> None:
    """After a process has died, and after the store was lost."""
    table = analysed()
    left = missing(table)
    lose(table)
    assert f"Go deeper: {len(left)} steps" in labels(table.last)

    assert asked_from_here(table.press(Action.GO_DEEPER)) == left


def test_killed_before_the_next_card() -> None:
    """What was asked for is done by the next process, once."""
    table = analysed().stop_paying()
    left = missing(table)
    table.press_outside(Action.GO_DEEPER)
    table.resume_paying().restart()

    assert asked_from_here(table) == left


@pytest.mark.parametrize("answers", [0, 2])
def test_only_git_is_left(answers: int) -> None:
    """The phases are open there, and so the next missing step is asked."""
    table = analysed()
    left = missing(table)
    table.press_outside(Action.GO_DEEPER)
    for _ in range(answers):
        table.do_step().press_continue()
    table.forget()

    assert asked_from_here(table) == left[answers:]
    assert len(table.meta.phases_completed) == 5


def test_it_goes_on_when_it_cannot_be_saved() -> None:
    """The phases are open again, and git has that with the next commit."""
    table = analysed().fail("commit")
    left = missing(table)
    table.press_outside(Action.GO_DEEPER)
    assert table.rt.step_id == left[0]

    assert asked_from_here(table) == left
    assert sorted(table.meta.steps_completed) == STEPS
    assert len(table.meta.phases_completed) == 5


def test_words_while_it_is_saved_belong_to_the_first_step() -> None:
    table = analysed().stop_paying()
    table.press_outside(Action.GO_DEEPER).say("keyword: outbox").resume_paying()

    assert [answer.text for answer in table.rt.answers] == ["keyword: outbox"]
    assert "outbox" in table.press(Action.FINISH_STEP).world.files["quick-scan.md"]
