"""Step files, phases and personas are content: they can be gone tomorrow, and the meeting goes on without them."""

from bot.domain.catalog.phases import ANALYSIS_PHASES
from bot.domain.messages.menus import MenuKind
from bot.domain.messages.message import Action
from bot.domain.roundtable.stage import Stage
from tests.domain.books import book, few_steps, seats, step, thinking
from tests.domain.table import Table

TWO = few_steps(step("00-01"), step("00-02"), step("01-01"))
WITHOUT_FIRST = few_steps(step("00-02"), step("01-01"))
WITHOUT_PHASE = book([step("01-01")], phases=ANALYSIS_PHASES[1:2])


# --- the open step is gone --------------------------------------------------------------------------------------------


def test_finishing_a_step_that_is_gone_opens_the_next() -> None:
    """What was said to it is said to the next one."""
    table = Table(TWO).start().say("For field work.")
    table.playbook = WITHOUT_FIRST
    table.press(Action.FINISH_STEP)

    assert (table.rt.stage, table.rt.step_id) == (Stage.DISCUSSING, "00-02")
    assert [answer.text for answer in table.rt.answers] == ["For field work."]
    assert table.meta.steps_completed == ()


def test_resuming_a_step_that_is_gone_opens_the_next() -> None:
    """With the greeting before it."""
    table = Table(TWO).start().stop()
    table.playbook = WITHOUT_FIRST
    table.resume()

    assert table.rt.step_id == "00-02"
    welcome = "Welcome back. Let's pick up from Topic 00-02."
    assert table.last.text.startswith(f"{welcome}\n\n**Maya Chen (Business Analyst) -- Step 00-02")
    assert [line.content for line in table.lines].count(welcome) == 1


def test_another_depth_for_a_step_that_is_gone_opens_the_next() -> None:
    """At that depth."""
    table = Table(TWO).start()
    table.playbook = WITHOUT_FIRST
    table.say("deep")

    assert table.rt.step_id == "00-02"
    assert "\n4. Who?\n" in table.last.text


def test_words_to_a_step_that_is_gone_are_heard() -> None:
    """By the lead of the phase."""
    table = Table(TWO).start()
    table.playbook = WITHOUT_FIRST
    table.say("For field work.")

    assert table.last.speaker == "business-analyst"
    assert table.rt.answers[-1].text == "For field work."


def test_a_step_that_goes_while_it_is_written_is_done() -> None:
    """A person finished it; that counts, although nobody knows its files any more."""
    table = Table(TWO).start().stop_paying().press(Action.FINISH_STEP)
    table.pay_up_to("commit")
    table.playbook = WITHOUT_FIRST
    table.resume_paying()

    assert table.meta.steps_completed == ("00-01",)
    assert table.press_continue().rt.step_id == "00-02"


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


def test_resuming_in_a_phase_that_is_gone_opens_the_first_that_is_there() -> None:
    """As if it had never been."""
    table = Table(TWO).start().stop()
    table.playbook = WITHOUT_PHASE
    table.resume()

    assert table.rt.step_id == "01-01"


def test_a_menu_in_a_phase_that_is_gone_leads_on() -> None:
    """The phase is closed under the name that its key gives it."""
    table = Table(TWO).start().do_step()
    table.playbook = WITHOUT_PHASE
    table.press_continue().press_continue()

    assert table.rt.step_id == "01-01"
    assert table.meta.phases_completed == ("00-quick-scan",)


def test_resuming_at_a_menu_in_a_phase_that_is_gone_leads_on() -> None:
    """There is nothing to choose any more."""
    table = Table(TWO).start().do_step().press(Action.STOP)
    table.playbook = WITHOUT_PHASE
    table.resume()

    assert table.rt.step_id == "01-01"


def test_skipping_in_a_phase_that_is_gone_leads_on() -> None:
    """With nothing to draft."""
    table = Table(TWO).start().do_step()
    table.playbook = WITHOUT_PHASE
    table.press(Action.SKIP).press_continue()

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
