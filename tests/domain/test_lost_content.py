"""Step files, phases and personas are content: they can be gone tomorrow. Past an open step only a person goes."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.phases import ANALYSIS_PHASES
from bot.domain.catalog.steps import Depth
from bot.domain.messages.menus import MenuKind
from bot.domain.messages.message import Action, Message
from bot.domain.roundtable.stage import Stage
from tests.domain.books import book, few_steps, seats, step, thinking
from tests.domain.table import Table

TWO = few_steps(step("00-01"), step("00-02"), step("01-01"))
WITHOUT_FIRST = few_steps(step("00-02"), step("01-01"))
WITHOUT_PHASE = book([step("01-01")], phases=ANALYSIS_PHASES[1:2])


# --- the open step is gone --------------------------------------------------------------------------------------------

MISSING = "Step 00-01 is not in this version's files (content 3f2a9c1b77de). Put it back, or press Skip."


def without(playbook: Playbook) -> Playbook:
    return replace(playbook, content="3f2a9c1b77de")


def waiting_for_its_file(*said: str) -> Table:
    """The open step has left the files after people *said* something to it."""
    table = Table(TWO).start()
    for text in said:
        table.say(text)
    table.playbook = without(WITHOUT_FIRST)
    return table


@pytest.mark.parametrize(
    "tried",
    [
        lambda table: table.press(Action.FINISH_STEP),
        lambda table: table.say("finish"),
        lambda table: table.say("deep"),
        lambda table: table.depth(Depth.BRIEF),
        lambda table: table.say("And for trains."),
        lambda table: table.stop().resume(),
        lambda table: table.press(Action.DEPTH_DEEP),
    ],
    ids=["press", "finish", "deep", "depth", "words", "resume", "depth pressed"],
)
@pytest.mark.parametrize("lost", [WITHOUT_FIRST, WITHOUT_PHASE], ids=["step", "phase"])
def test_only_a_person_goes_past_a_step_that_is_gone(tried: Callable[[Table], Table], lost: Playbook) -> None:
    """The thread says what is missing, and what to press."""
    table = waiting_for_its_file("For field work.")
    table.playbook = without(lost)
    tried(table)

    assert (table.rt.stage, table.rt.step_id) == (Stage.DISCUSSING, "00-01")
    assert table.last.text.endswith(MISSING)
    assert [choice.action for choice in table.last.offered] == [Action.SKIP_STEP]
    assert "For field work." in [answer.text for answer in table.rt.answers]
    assert table.meta.steps_completed == ()


def test_it_is_said_once_in_the_thread() -> None:
    """Then only to who tries again."""
    table = waiting_for_its_file().say("For field work.").say("And for trains.").say("finish")

    assert sum(said.message.text.endswith(MISSING) for said in table.world.thread) == 1
    assert table.world.told[-1] == ("ada", Message(text=MISSING))


def test_resuming_greets_before_it_says_what_is_missing() -> None:
    """It names no other step to go on from."""
    table = waiting_for_its_file().stop().resume()

    assert table.last.text == f"Welcome back.\n\n{MISSING}"


@pytest.mark.parametrize("skipped", ["press", "skip"])
def test_words_to_a_step_that_is_skipped_stay_under_its_id(skipped: str) -> None:
    """They are committed with who skipped it, and answer no other step."""
    table = waiting_for_its_file("For field work.").say("And for trains.")
    table = table.press(Action.SKIP_STEP) if skipped == "press" else table.say("Skip.")

    assert table.rt.step_id == "00-02"
    assert table.rt.answers == ()
    assert table.meta.steps_completed == ()
    lines = [line.content for commit in table.world.commits for line in commit.lines]
    assert {"For field work.", "And for trains.", "Ada chose: Skip"} <= set(lines)
    notes = table.world.files["notes.md"]
    assert "For field work." in notes
    assert "And for trains." in notes
    table.do_step("Without a network.").press_continue()
    (later,) = (one for one in table.rt.specification.entries.values() if one.step == "00-02")
    assert later["text"] == "Without a network."


def test_what_no_model_has_read_is_read_as_said_to_the_step_that_is_gone() -> None:
    """Also after it was skipped."""
    table = Table(thinking(TWO)).start().stop_paying().say("For field work.")
    table.playbook = without(thinking(WITHOUT_FIRST))
    table.say("finish").resume_paying().press(Action.SKIP_STEP)

    assert {one.step_id for one in table.rt.unread} <= {"00-01"}


def test_a_step_that_is_back_is_asked_again() -> None:
    """With what people said to it; also by who presses Skip when it is back already."""
    table = waiting_for_its_file("For field work.").say("And for trains.")
    menu = table.menu
    table.playbook = TWO
    table.press(Action.SKIP_STEP, menu=menu)

    assert table.rt.step_id == "00-01"
    assert [answer.text for answer in table.rt.answers] == ["For field work.", "And for trains."]
    assert Action.FINISH_STEP in table.offered()
    assert table.press(Action.FINISH_STEP).meta.steps_completed == ("00-01",)


def test_past_a_phase_that_is_gone_the_first_that_is_there_opens() -> None:
    """It is not closed as complete."""
    table = waiting_for_its_file("For field work.")
    table.playbook = without(WITHOUT_PHASE)
    table.stop().resume().press(Action.SKIP_STEP)

    assert table.rt.step_id == "01-01"
    assert table.meta.phases_completed == ()


def test_words_that_came_while_a_step_was_written_stay_with_it() -> None:
    """It is done, although its file is gone when it is written."""
    table = Table(TWO).start().stop_paying().press(Action.FINISH_STEP).say("And trains.")
    table.pay_up_to("commit")
    table.playbook = WITHOUT_FIRST
    table.resume_paying().press_continue()

    assert table.rt.step_id == "00-02"
    assert table.rt.answers == ()
    assert "And trains." in [line.content for commit in table.world.commits for line in commit.lines]

    table = Table(TWO).start().stop_paying().press(Action.FINISH_STEP)
    table.pay_up_to("commit")
    table.playbook = WITHOUT_FIRST
    table.resume_paying()

    assert table.meta.steps_completed == ("00-01",)
    assert table.press_continue().rt.step_id == "00-02"


def test_skip_is_an_ordinary_word_while_the_step_is_there() -> None:
    """It answers the step."""
    table = Table(TWO).start().say("skip")

    assert table.rt.step_id == "00-01"
    assert [answer.text for answer in table.rt.answers] == ["skip"]


# --- the finished step is gone ----------------------------------------------------------------------------------------


def test_feedback_to_a_step_that_is_gone_is_kept_in_the_transcript() -> None:
    """There is no section to write it into; the menu stays."""
    table = Table(TWO).start().do_step()
    table.playbook = WITHOUT_FIRST
    table.say("And trains.")
    assert table.menu.kind is MenuKind.STEP

    table.press_continue()
    assert table.subjects[-1] == "feedback"
    assert "And trains." in [line.content for line in table.world.commits[-1].lines]


def test_a_discussion_of_a_step_that_goes_is_recorded() -> None:
    """Under its id; nothing is written into files that nobody owns, and what people said is in the notes."""
    table = Table(TWO).start().elaborate().say("Tunnels.")
    table.playbook = WITHOUT_FIRST
    table.say("done")

    assert table.meta.elaborations[-1].step_id == "00-01"
    assert {edit.path for edit in table.world.commits[-1].edits} == {"brief.md", "notes.md"}
    assert table.offered()[0] == Action.CONTINUE


# --- the phase is gone ------------------------------------------------------------------------------------------------


def test_a_menu_in_a_phase_that_is_gone_leads_on() -> None:
    """The phase is closed under the name that its key gives it; skipping drafts nothing."""
    table = Table(TWO).start().do_step()
    table.playbook = WITHOUT_PHASE
    table.press_continue().press_continue()

    assert table.rt.step_id == "01-01"
    assert table.meta.phases_completed == ("00-quick-scan",)

    table = Table(TWO).start().do_step()
    table.playbook = WITHOUT_PHASE
    table.press(Action.SKIP).press_continue()

    assert table.rt.step_id == "01-01"


def test_resuming_at_a_menu_in_a_phase_that_is_gone_leads_on() -> None:
    """There is nothing to choose any more."""
    table = Table(TWO).start().do_step().press(Action.STOP)
    table.playbook = WITHOUT_PHASE
    table.resume()

    assert table.rt.step_id == "01-01"


# --- a persona is gone ------------------------------------------------------------------------------------------------


def test_a_step_whose_persona_left_is_asked_by_the_lead() -> None:
    """Somebody always does."""
    table = Table(few_steps(step("00-01", persona="security-officer"))).start()

    assert table.last.speaker == "business-analyst"
    why = "Maya leads this step, because the persona `security-officer` cannot be used."
    assert f"Let's get started.\n\n{why}\n\n**Maya Chen (Business Analyst) -- " in table.last.text
    assert sum(why in line.content for line in table.lines) == 1


def test_a_discussion_whose_lead_left_is_led_by_the_lead_of_the_phase() -> None:
    """The floor is given back, the synthesis is made."""
    both = book(
        [step("02-01")], roster=seats("business-analyst", "solutions-architect"), phases=ANALYSIS_PHASES[2:3]
    )
    table = Table(both).start().elaborate()
    table.playbook = book([step("02-01")], roster=seats("business-analyst"), phases=ANALYSIS_PHASES[2:3])
    table.say("What about tunnels?").take_round().say("done")

    assert table.meta.elaborations[-1].turn_count == 4
    assert table.rt.stage is Stage.AT_BOUNDARY


def test_an_acknowledgement_of_somebody_who_left_is_said_by_the_lead() -> None:
    """It was asked for while they were there."""
    table = (
        Table(thinking(few_steps(step("00-01", persona="system-designer"))))
        .start()
        .stop_paying()
        .say("For field work.")
    )
    left = book([step("00-01")], roster=seats("business-analyst"), phases=ANALYSIS_PHASES[:1])
    table.playbook = thinking(left)
    table.resume_paying()

    assert table.last.speaker == "business-analyst"
