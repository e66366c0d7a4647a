"""Phases: each has a lead who greets, hands over what was done, and closes it only when people say so."""

from bot.domain.catalog.taxonomy import trouble
from bot.domain.messages.message import Action
from bot.domain.roundtable.stage import Stage
from tests.domain.books import few_steps, step
from tests.domain.table import Table


def test_a_phase_is_closed_by_a_person_in_a_commit_of_its_own() -> None:
    """Before the next lead says a word; the status follows the phases, and steps never count."""
    table = Table(few_steps()).start().do_step()
    assert (table.meta.phases_completed, table.meta.analysis_status) == ((), "raw")
    table.completing.clear()
    table.press_continue()

    assert (table.meta.phases_completed, table.meta.analysis_status) == (("00-quick-scan",), "partial")
    assert table.order("commit", "post") == ["commit", "post"]


def test_the_same_lead_just_goes_on_after_one_commit() -> None:
    """It remembers the code base, so that somebody can tell later whether the analysis is stale."""
    table = Table(few_steps()).start().do_step().press_continue()

    assert table.last.text.startswith(
        "Hi, I'm Maya, your Business Analyst. I'll be guiding you through Requirements Discovery. Let's get started."
        "\n\n**Maya Chen (Business Analyst) -- Step 01-01: Topic 01-01**"
    )
    assert not any("Handing off" in text for text in table.texts)

    assert table.world.commits[-1].change.codebase_hash == "HEAD"

    closing = [work for work in table.world.commits if work.change.phases]
    assert [work.subject for work in closing] == ["roundtable(offline-sync): phase 00-quick-scan Quick Scan"]
    assert "Phase 00 (Quick Scan) complete." in [line.content for line in closing[0].lines]
    assert table.rt.stage is Stage.DISCUSSING


def test_another_lead_is_handed_what_was_done() -> None:
    """Who has finished what, and what the next one starts from; then the greeting: three lines, one post."""
    table = Table(few_steps()).start().through("01-02").press_continue()

    said = [
        (
            "Maya Chen has finished requirements discovery. Handing off to Alex Rivera (Solutions Architect) who will "
            "assess the impact and design the architecture."
        ),
        (
            "This is Maya's requirements record. Here's what I'm working with: `brief.md`, `draft.md`, "
            "`quick-scan.md` and `requirements.md`, covering Topic 01-01 and Topic 01-02."
        ),
        "Hi, I'm Alex, your Solutions Architect. I'll be guiding you through Impact Analysis. Let's get started.",
    ]
    assert table.last.text.startswith("\n\n".join(said))
    assert table.last.speaker == "solutions-architect"
    lines = [(line.actor, line.content) for line in table.lines if line.content in said]
    alex = "SolutionsArchitect"
    assert lines == list(zip(["PlanningAgent", alex, alex], said, strict=True))


def test_a_resumed_phase_is_not_handed_over_again() -> None:
    """Its lead has been at work already."""
    table = Table(few_steps(step("01-01"), step("02-01"), step("02-02"))).start().through("02-01")
    table.forget()

    handovers = [line for line in table.lines if "Handing off to" in line.content]
    assert len(handovers) == 1
    assert "Handing off to" not in table.last.text


def test_a_phase_without_steps_says_so_and_waits() -> None:
    """People are not led past a phase without noticing."""
    empty = trouble("ERR-STEP-001", phase_key="00-quick-scan")
    table = Table(few_steps(step("01-01"), troubles=[empty])).start()

    assert empty.sentence in table.texts
    assert table.offered() == [Action.CONTINUE, Action.ELABORATE, Action.STOP]
    assert table.press_continue().rt.step_id == "01-01"


def test_bad_step_files_are_told_when_their_phase_opens() -> None:
    """In one message, each with its code."""
    bad = [
        trouble("ERR-STEP-003", filename="01-a.md", phase_key="01-requirements"),
        trouble("ERR-STEP-004", filename="02-b.md", phase_key="01-requirements"),
    ]
    table = Table(few_steps(troubles=bad)).start()
    before = list(table.texts)
    table.do_step().press_continue()

    told = "\n".join(one.sentence for one in bad)
    assert told not in before
    assert told in table.texts
    note = next(said.message.note for said in table.world.thread if said.message.text == told)
    assert note == "ERR-STEP-003 · ERR-STEP-004"


def test_steps_of_later_phases_in_the_record_do_no_harm() -> None:
    """They are noted in the log when a phase closes; one that cannot be saved still leads on."""
    table = Table(few_steps()).start().meta_says(steps_completed=["02-01"]).do_step().press_continue()

    assert "ERR-INT-002" in table.codes
    assert table.rt.phase_key == "01-requirements"

    table = Table(few_steps()).start().do_step().fail("commit").press_continue()
    unsaved_at = (table.rt.step_id, table.meta.phases_completed)
    table.do_step()

    assert unsaved_at == ("01-01", ())
    assert table.meta.phases_completed == ("00-quick-scan",)


def test_words_said_while_a_phase_closes_are_answers_to_what_comes_next() -> None:
    """They are not lost between two steps."""
    table = Table(few_steps()).start().do_step().stop_paying().press_continue().say("Remember the trains.")
    table.resume_paying()

    assert table.rt.step_id == "01-01"
    assert [answer.text for answer in table.rt.answers] == ["Remember the trains."]
