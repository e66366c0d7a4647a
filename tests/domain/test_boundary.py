"""The menu after a step and after a phase: it stays until a person chooses, and nobody is asked twice."""

import pytest

from bot.domain.messages.menus import MenuKind
from bot.domain.messages.message import Action, Message
from bot.domain.roundtable.inputs import Press
from bot.domain.roundtable.stage import Stage
from bot.errors import NotNow
from tests.domain.books import few_steps, step
from tests.domain.table import Table, person, played_once

TWO = few_steps(step("00-01"), step("00-02"), step("01-01"))
STEP_MENU = [
    Action.CONTINUE,
    Action.AMEND,
    Action.ELABORATE,
    Action.SKIP,
    Action.REOPEN,
    Action.DEPTH_BRIEF,
    Action.DEPTH_DEEP,
    Action.STOP,
]
PHASE_MENU = [action for action in STEP_MENU if action != Action.SKIP]


def pressable(table: Table) -> list[str]:
    """Also behind ⋯."""
    return [choice.action for choice in table.menu.message.offered]


@played_once
def at_menu() -> Table:
    return Table(TWO).start().do_step()


@played_once
def at_phase_menu() -> Table:
    return Table(TWO).start().through("00-02")


# --- what is offered --------------------------------------------------------------------------------------------------


def test_after_a_step_there_is_a_menu() -> None:
    """In words for those who type, in buttons for those who press; a finish there is answered and changes nothing."""
    table = at_menu()

    assert table.menu.kind is MenuKind.STEP
    assert pressable(table) == STEP_MENU
    assert table.last.text.endswith(
        "[E] Elaboration Mode -- bring all perspectives to discuss this topic\n"
        "[C] Continue -- move to the next step\n"
        "[S] Skip remaining steps in this phase\n"
        "Or type naturally to provide feedback."
    )

    menu, subjects = table.menu, list(table.subjects)
    table.say("finish", who="grace")

    assert (table.menu, table.subjects) == (menu, subjects)
    assert table.world.told[-1] == ("grace", Message(text="There is no open step to finish right now."))
    assert table.lines[-1].content == "finish"


def test_after_the_last_step_of_a_phase_the_menu_names_the_next_phase() -> None:
    """There is nothing left to skip, by a forged press neither; [S] is feedback."""
    table = at_phase_menu()

    assert table.menu.kind is MenuKind.PHASE
    assert pressable(table) == PHASE_MENU
    assert table.last.text.endswith(
        "[E] Elaboration Mode -- bring all perspectives to discuss this topic\n"
        "[C] Continue to Phase 01 (Requirements)\n"
        "Or type naturally to provide feedback."
    )

    before = table.rt

    with pytest.raises(NotNow, match="Use the newest menu"):
        table.press(Action.SKIP)
    assert table.rt is before

    menu = table.menu
    table.say("s")
    said = table.lines[-1]

    assert (table.menu, table.rt.phases_completed) == (menu, ())
    assert (table.rt.answers[-1].text, table.rt.answers[-1].feedback) == ("s", True)
    assert table.world.reactions[-1] == (said.meta["message_ts"], "memo")

    table.press_continue()
    assert said.message_id in {line.message_id for line in table.world.commits[-1].lines}


def test_after_the_last_phase_the_menu_completes_the_analysis() -> None:
    """The label says what the button does."""
    table = Table(few_steps()).start().through("02-01")

    assert table.menu.label_of(Action.CONTINUE) == "Complete analysis"


# --- choosing ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("letter", ["C", "c", " c ", "Continue", "continue."])
def test_a_letter_chooses(letter: str) -> None:
    """Exactly one letter, or "continue" alone; it works wherever its line stands in the menu."""
    table = at_menu().say(letter)

    assert table.rt.step_id == "00-02"
    assert table.rt.stage is Stage.DISCUSSING


@pytest.mark.parametrize(("letter", "stage"), [("e", Stage.ELABORATING), ("S", Stage.AT_BOUNDARY)])
def test_the_other_letters_choose_too(letter: str, stage: Stage) -> None:
    """`E` opens a discussion, `S` skips the rest of the phase."""
    assert at_menu().say(letter).rt.stage is stage


@pytest.mark.parametrize("text", ["Continue?", "continue please", "ce", "C.C."])
def test_a_word_is_not_a_letter(text: str) -> None:
    """More than the word is natural language, and so it is feedback."""
    table = at_menu().say(text)

    assert (table.rt.step_id, table.rt.stage) == ("00-01", Stage.AT_BOUNDARY)
    assert table.press_continue().subjects[-1] == "feedback 00-01 Topic 00-01"


def test_a_used_menu_says_who_chose_what() -> None:
    """Its buttons are gone, and who presses one all the same is told; the transcript says who chose."""
    table = at_menu()
    used = table.menu
    table.press(Action.CONTINUE, who="grace")

    shown = next(said.message for said in table.world.thread if said.ts == table.ts_of(used.token))
    assert shown.choices == ()
    assert shown.text.startswith("Topic 00-01 is finished.")
    assert table.rt.what_became_of(used.token) == "Continue -- chosen by Grace"

    table = at_menu().press(Action.CONTINUE, who="grace")

    line = next(line for line in table.lines if line.content == "Grace chose: Continue")
    assert (line.source, line.meta["person"]) == ("system", "grace")

    table = at_menu()
    menu = table.menu
    table.press(Action.CONTINUE, who="grace", menu=menu)
    before = table.rt

    with pytest.raises(NotNow, match=r"menu is over: Continue -- chosen by Grace\. Nothing was changed\."):
        table.press(Action.SKIP, who="ada", menu=menu)
    assert table.rt is before


# --- choosing twice ---------------------------------------------------------------------------------------------------


def test_what_slack_delivers_twice_is_heard_once() -> None:
    """The very same roundtable comes back: there is nothing to save, nothing to do, nobody to tell."""
    table = at_menu()
    menu = table.menu
    table.press(Action.CONTINUE, menu=menu, key="trigger-1")
    before = table.rt

    table.press(Action.CONTINUE, menu=menu, key="trigger-1")

    assert table.rt is before

    table = at_menu().say("Good.", ts="700.1")
    before = table.rt

    table.say("Good.", ts="700.1")

    assert table.rt is before


def test_a_button_of_another_roundtable_changes_nothing() -> None:
    """A token that we never gave, or gave too long ago, is answered all the same."""
    table = at_menu()
    foreign = Press(
        key="k", at=table.now(), person=person("ada"), action=Action.CONTINUE, token="no-such", ts="1"
    )
    before = table.rt

    with pytest.raises(NotNow, match="Use the newest menu in the thread"):
        table.hear(foreign)
    assert table.rt is before


def finished_unposted(table: Table) -> Table:
    """By a press on the card, before we know where it stands."""
    return table.does(Press, action=Action.FINISH_STEP, token=table.menu.token, ts="")


def test_a_card_that_is_finished_before_it_is_posted_can_be_edited() -> None:
    """Its post, which had no buttons, is known to be the card: it is edited when we know where it stands."""
    table = Table(TWO, paying=False).start()
    table.pay_until(lambda rt: rt.stage is Stage.DISCUSSING)
    finished_unposted(table).resume_paying()

    cards = [said.message for said in table.world.thread if said.message.token]
    assert [message.choices[0].action for message in cards] == [Action.CONTINUE]

    table = Table(TWO, paying=False).start()
    table.pay_until(lambda rt: rt.stage is Stage.DISCUSSING)
    finished_unposted(table)
    table.pay_until(lambda rt: rt.card is not None and bool(rt.stands_at(rt.card.token))).resume_paying()

    assert table.menu_at
    assert table.press_continue().rt.step_id == "00-02"


# --- feedback ---------------------------------------------------------------------------------------------------------


def test_feedback_is_kept_and_committed_when_people_go_on() -> None:
    """The menu stays, and nothing is completed a second time or closed; one commit holds all that was added."""
    table = at_menu()
    before, commits = table.menu, len(table.world.commits)
    table.say("Trains have tunnels, too.", who="grace").say("And bridges have none, I think.")

    assert (table.menu_at, table.menu.kind, table.menu.message.choices) == (
        table.ts_of(before.token),
        before.kind,
        before.message.choices,
    )
    assert len(table.world.commits) == commits
    table.press_continue()
    assert len(table.world.commits) == commits + 1
    assert "- Grace: Trains have tunnels, too." in table.world.files["quick-scan.md"]

    table = at_menu().say("Trains have tunnels, too.").press_continue()

    assert table.meta.steps_completed == ("00-01",)
    assert (table.world.commits[-1].step, table.world.commits[-1].change.steps) == ("", ())

    table = at_phase_menu().say("Trains have tunnels, too.")

    assert table.menu.kind is MenuKind.PHASE
    assert table.rt.phases_completed == ()


# --- discussing from the question -------------------------------------------------------------------------------------


def test_discuss_on_an_open_step_saves_the_step_first() -> None:
    """As the question before the press counts says."""
    table = Table(TWO).start().say("For field work.").press(Action.ELABORATE, who="grace")

    assert table.meta.steps_completed == ("00-01",)
    assert "For field work." in table.world.files["quick-scan.md"]
    assert (table.rt.stage, table.rt.heading_for) == (Stage.ELABORATING, None)
