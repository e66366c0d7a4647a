"""What a discussion leaves behind: a summary with names on it, in git before it is shown; a record; the same menu."""

import pytest

from bot.domain.catalog.taxonomy import trouble
from bot.domain.discussion.synthesis import Decision, Insight, OpenQuestion, Synthesis
from bot.domain.messages.attribution_wording import attributions
from bot.domain.messages.message import Action
from bot.domain.roundtable.stage import Stage
from tests.domain.books import few_steps, step
from tests.domain.table import SORRY, Table

OF_ALL = Synthesis(
    insights=(
        Insight(text="Trains have tunnels", by=("Ada",)),
        Insight(text="Queues grow", by=("Maya", "Alex")),
    ),
    decisions=(Decision(text="We keep a queue", rationale="it survives a tunnel", by="Ada"),),
    questions=(OpenQuestion(text="How long?", why="nobody measured it"),),
    summary="Identified a queue that survives tunnels.",
)
SAID = "Trains have tunnels.\nDecision: We keep a queue because it survives a tunnel"
NOTHING = Synthesis(summary="They talked about queues")


def concluded(synthesis: Synthesis = OF_ALL) -> Table:
    table = Table(few_steps(step("00-01", "Scope and Size"))).start().do_step()
    table.world.synthesis = synthesis
    return table.press(Action.ELABORATE).say(SAID).take_round().say("done")


# --- the summary ------------------------------------------------------------------------------------------------------


def test_the_summary_names_who_said_what() -> None:
    """Insights, decisions and open questions, with the turns and how it ended."""
    assert concluded().texts[-2] == (
        "Wrapping up the discussion. Let me synthesize our key points.\n\n"
        "### Elaboration Insights (Step 00-01: Scope and Size)\n\n"
        "**Participants**: Ada, Maya Chen (BA), Alex Rivera (Architect), Jordan Park (Designer)\n"
        "**Turns**: 6 | **Exit**: user-initiated\n\n"
        "#### Key Insights\n- [Ada] Trains have tunnels\n- [Maya/Alex] Queues grow\n\n"
        "#### Decisions Made\n- We keep a queue because it survives a tunnel (Ada)\n\n"
        "#### Open Questions\n- How long?: nobody measured it\n"
    )


def test_the_summary_names_all_people_who_spoke() -> None:
    """Once each, also who wrote only after the last turn; then the personas."""
    table = Table(few_steps()).start().meta_says(elaboration_config={"max_turns": 4}).elaborate()
    table.say("It must be fast.").say("And cheap.", who="grace").say("And safe.")

    assert "**Participants**: Ada, Grace, Maya Chen (BA), Alex" in table.say("done").texts[-2]


def test_what_the_bot_takes_from_a_discussion_is_suggested_by_the_bot() -> None:
    """People never read the actor of its lines: on the card, and in the files."""
    table = concluded().say("reopen")
    found = table.rt.specification.active("insight")

    assert {attributions(one) for one in found} == {"proposed by the bot, not accepted"}
    assert table.rt.card
    assert "The bot suggests" in table.card.text
    assert "PlanningAgent" not in table.card.text


def test_the_summary_says_when_the_limit_ended_it() -> None:
    """People should know why it stopped."""
    table = Table(few_steps()).start().meta_says(elaboration_config={"max_turns": 3}).elaborate()

    assert "**Turns**: 3 | **Exit**: turn-limit" in table.say("done").texts[-2]


def test_the_summary_is_in_git_before_it_is_shown() -> None:
    """Artifacts, record and transcript are one commit; then the summary, then the files, then the menu."""
    table = concluded()

    assert table.order("synthesize", "commit", "rewrite", "post")[-4:][:2] == ["commit", "rewrite"]
    assert table.texts[-2].partition("\n\n")[2] in [line.content for line in table.world.commits[-1].lines]


def test_the_commit_names_the_step() -> None:
    """In its subject and in its trailer; no step is completed by it."""
    commit = concluded().world.commits[-1]

    assert commit.subject == "roundtable(offline-sync): elaboration 00-01 Scope and Size"
    assert (commit.step, commit.change.steps) == ("00-01", ())


# --- the record -------------------------------------------------------------------------------------------------------


def test_a_record_is_appended() -> None:
    """What, how long, who, when and what came of it."""
    record = concluded().meta.elaborations[-1]

    assert record.step_id == "00-01"
    assert record.turn_count == 6
    assert record.personas_active == ("business-analyst", "solutions-architect", "system-designer")
    assert record.timestamp.endswith("Z")
    assert record.synthesis_summary == "Identified a queue that survives tunnels."


def test_records_are_never_replaced() -> None:
    """The newest is last."""
    table = concluded().press(Action.ELABORATE).say("done")

    assert [record.turn_count for record in table.meta.elaborations] == [6, 3]


# --- the files --------------------------------------------------------------------------------------------------------


def test_the_files_of_the_step_are_added_to() -> None:
    """Below a marker, in the section that fits; every line that was there is still there."""
    table = Table(few_steps(step("00-01", "Scope and Size"))).start().do_step("It is small.")
    before = table.world.files["quick-scan.md"].splitlines()
    table.press(Action.ELABORATE).say("done")

    after = table.world.files["quick-scan.md"]
    assert "<!-- Elaboration: step 00-01, " in after
    assert "- [Ada] It matters" in after
    rest = iter(after.splitlines())
    assert all(line in rest for line in before[: before.index("## 2. Not settled (0)")])


def test_people_are_told_which_file_and_section_got_what() -> None:
    """Above the menu."""
    updated = (
        'Updated quick-scan.md, section "1. Scope and Size": added 2 insights from the discussion.\n\nSaved: '
    )

    assert concluded().last.text.startswith(updated)


def test_a_discussion_without_insights_counts_none() -> None:
    """Its decisions and questions were added all the same."""
    told = concluded(OF_ALL.but(insights=())).last.text

    assert told.startswith(
        'Updated quick-scan.md, section "1. Scope and Size": added the result of the discussion.'
    )


def test_two_discussions_stack() -> None:
    """The second is added below the first."""
    table = concluded().press(Action.ELABORATE).say("Again.").say("done")

    assert table.world.files["quick-scan.md"].count("<!-- Elaboration: step 00-01, ") == 2


def test_a_file_that_is_missing_is_named_and_skipped() -> None:
    """The insights are in the summary, and in the other files. One that had nothing to say so far is made."""
    table = Table(few_steps(step("00-01", outputs=["quick-scan.md", "notes.md"]))).start().do_step()
    assert "notes.md" not in table.world.files
    del table.world.files["quick-scan.md"]
    table.press(Action.ELABORATE).say("done")

    assert trouble("ERR-ELAB-013", filename="quick-scan.md").sentence in table.texts
    assert "It matters" in table.world.files["notes.md"]
    assert "<!-- Elaboration" not in table.world.files.get("quick-scan.md", "")


def test_files_that_are_no_prose_are_left_alone() -> None:
    """A marker is a comment in Markdown, and damage in JSON."""
    table = Table(few_steps(step("00-01", outputs=["stories.json"]))).start().elaborate().say("done")

    assert "stories.json" not in {edit.path for edit in table.world.commits[-1].edits}
    assert len(table.meta.elaborations) == 1


# --- discussions that come to little ----------------------------------------------------------------------------------


def test_a_discussion_that_ends_with_its_framing_is_recorded() -> None:
    """One turn, one sentence, no file."""
    table = Table(few_steps()).start().do_step().stop_paying().press(Action.ELABORATE)
    table.pay_until(lambda rt: rt.elaboration is not None and rt.debate.turn_count == 1)
    table.say("done").resume_paying()

    sentence = "Discussion ended early. The framing identified Quick Scan: Topic 00-01 as a discussion point."
    assert table.texts[-2].endswith(f"\n\n{sentence}")
    assert table.meta.elaborations[-1].turn_count == 1
    assert table.world.commits[-1].edits == ()
    assert "synthesize" not in table.order("synthesize")


def test_a_person_who_spoke_before_the_framing_is_not_passed_over() -> None:
    """Their words are put together, even if they were the only ones."""
    table = Table(few_steps()).start().do_step().stop_paying().press(Action.ELABORATE).pay_up_to("speak")
    table.say("Trains have tunnels.").say("done").resume_paying()

    assert table.order("synthesize") == ["synthesize"]
    assert table.meta.elaborations[-1].turn_count == 1


def test_a_synthesis_that_says_nothing_is_tried_once_more() -> None:
    """Then one sentence has to do: the files have no block of it, the record is kept."""
    table = concluded(NOTHING)

    assert table.order("synthesize") == ["synthesize", "synthesize"]
    assert "\n\nKey takeaway: They talked about queues\n" in table.texts[-2]
    assert "<!-- Elaboration: " not in table.world.files["quick-scan.md"]
    assert table.meta.elaborations[-1].synthesis_summary == "They talked about queues"
    assert "ERR-ELAB-007" in table.codes


def test_a_second_attempt_that_succeeds_is_all_that_people_see() -> None:
    """The first one leaves nothing behind."""
    table = (
        Table(few_steps()).start().elaborate().say("Trains have tunnels.").fail("synthesize", "unstructured")
    )
    table.say("done")

    assert "ERR-ELAB-007" not in table.codes
    assert "### Elaboration Insights" in table.texts[-2]


def test_without_any_summary_the_last_word_of_people_is_the_takeaway() -> None:
    """They said it, so it is not invented."""
    table = Table(few_steps()).start().elaborate().say("Trains have tunnels.")
    table.fail("synthesize", "unstructured", times=2).say("done")

    assert table.texts[-2].endswith("\n\nKey takeaway: Trains have tunnels.")


def test_a_voice_that_is_gone_can_be_asked_again() -> None:
    """Nothing of the discussion is lost meanwhile."""
    table = Table(few_steps()).start().elaborate().say("Trains have tunnels.").fail("synthesize").say("done")
    stalled_at = table.rt.stage
    table.press_retry()

    assert stalled_at is Stage.STALLED
    assert table.meta.elaborations[-1].turn_count == 4


# --- what can go wrong ------------------------------------------------------------------------------------------------


def test_a_record_that_cannot_be_saved_is_told_and_saved_later() -> None:
    """The summary is shown, the menu returns, and the next commit brings the record after all."""
    table = Table(few_steps()).start().elaborate().say("Trains have tunnels.").fail("commit").say("done")

    told = trouble("ERR-ELAB-009", unsaved=SORRY).sentence
    assert any(told in text for text in table.texts)
    assert not table.meta.elaborations
    assert table.menu.offers(Action.ELABORATE)

    table.press_continue()
    assert table.meta.elaborations[-1].turn_count == 4


def test_the_summary_is_shown_even_when_it_could_not_be_saved() -> None:
    """People need it all the more."""
    table = Table(few_steps()).start().elaborate().say("Trains have tunnels.").fail("commit").say("done")

    assert any("### Elaboration Insights" in text for text in table.texts)


@pytest.mark.parametrize("ending", ["done", "exit"])
def test_a_word_that_comes_too_late_is_kept(ending: str) -> None:
    """Said while the synthesis is made: in the transcript, and in the log as a possible misunderstanding."""
    table = (
        Table(few_steps())
        .start()
        .elaborate()
        .stop_paying()
        .say(ending)
        .say("Wait, one more!")
        .resume_paying()
    )

    assert "Wait, one more!" in [line.content for line in table.lines]
    assert "ERR-ELAB-011" in table.codes


def test_after_the_limit_a_late_word_is_no_misunderstanding() -> None:
    """Nobody ended it by a word."""
    table = Table(few_steps()).start().meta_says(elaboration_config={"max_turns": 3}).do_step().stop_paying()
    table.press(Action.ELABORATE)
    table.pay_until(lambda rt: rt.elaboration is not None and rt.elaboration.exhausted)
    table.press(Action.END_ELABORATION).say("Wait!").resume_paying()

    assert "ERR-ELAB-011" not in table.codes


def test_in_the_file_that_all_items_share_they_go_to_the_item_s_own_section() -> None:
    """Another item's section stands below it, and is not touched."""
    table = Table(few_steps(step("00-01", "Quality", outputs=("nfr-matrix.md",)))).start("Offline sync")
    table.world.files["nfr-matrix.md"] = (
        "# NFR Matrix\n\n## Offline sync (offline-sync)\n\nours\n\n## Quality of prints (prints)\n\ntheirs\n"
    )
    table.world.synthesis = OF_ALL
    table.do_step().press(Action.ELABORATE).say("Trains have tunnels.").say("done")

    ours, theirs = table.world.files["nfr-matrix.md"].split("## Quality of prints")
    assert "Trains have tunnels" in ours
    assert "Trains have tunnels" not in theirs
