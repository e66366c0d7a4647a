"""
What a discussion leaves behind: its block, in git before it is shown; a record; the menu. No model is waited for. Then
a model drafts entries from what people said there.
"""

import pytest

from bot.domain.catalog.taxonomy import trouble
from bot.domain.messages import draft_wording, step_wording
from bot.domain.messages.message import Action
from bot.domain.roundtable.effects import Speak
from bot.domain.roundtable.stage import Stage
from bot.domain.specification.claims import Quote
from bot.domain.transcript.lines import Line
from tests.domain.books import few_steps, step, thinking
from tests.domain.table import SORRY, Table, played_once
from tests.domain.test_drafts import quoting

SAID = "Insight: Trains have tunnels.\nDecision: We keep a queue because it survives a tunnel\nQuestion: How long?"


@played_once
def concluded() -> Table:
    table = Table(few_steps(step("00-01", "Scope and Size"))).start().do_step("It is small.")
    return table.press(Action.ELABORATE).say(SAID).say("done")


# --- the block --------------------------------------------------------------------------------------------------------


def test_the_block_names_who_said_what() -> None:
    """What people recorded, with the turns and how it ended."""
    assert concluded().texts[-2] == (
        "Wrapping up the discussion. Let me synthesize our key points.\n\n"
        "### Elaboration Insights (Step 00-01: Scope and Size)\n\n"
        "**Participants**: Ada, Maya Chen (BA), Alex Rivera (Architect), Jordan Park (Designer)\n"
        "**Turns**: 4 | **Exit**: user-initiated\n\n"
        "#### Key Insights\n- [Ada] Trains have tunnels. [t04]\n\n"
        "#### Decisions Made\n- We keep a queue because it survives a tunnel (Ada) [t04]\n\n"
        "#### Open Questions\n- How long?: asked by Ada [t04]\n"
    )


def test_the_block_names_all_people_who_spoke_and_says_when_the_limit_ended_it() -> None:
    """Once each, also who wrote only after the last turn; then the personas."""
    table = Table(few_steps()).start().meta_says(elaboration_config={"max_turns": 4}).elaborate()
    table.say("It must be fast.").say("And cheap.", who="grace").say("And safe.")

    assert "**Participants**: Ada, Grace, Maya Chen (BA), Alex" in table.say("done").texts[-2]

    table = Table(few_steps()).start().meta_says(elaboration_config={"max_turns": 3}).elaborate()

    assert "**Turns**: 3 | **Exit**: turn-limit" in table.say("done").texts[-2]


def test_the_block_is_in_git_before_it_is_shown() -> None:
    """The commit names the step."""
    table = concluded()

    assert table.order("commit", "rewrite", "post")[-4:][:2] == ["commit", "rewrite"]
    block = table.texts[-2].partition("\n\n")[2]
    assert any(line.content.startswith(block) for line in table.world.commits[-1].lines)

    commit = concluded().world.commits[-1]

    assert commit.subject == "roundtable(offline-sync): elaboration 00-01 Scope and Size"
    assert (commit.step, commit.change.steps) == ("00-01", ())


# --- the record -------------------------------------------------------------------------------------------------------


def test_a_record_is_appended_and_never_replaced() -> None:
    """What, how long, who, when and what people decided last, or that it was nothing. The newest is last."""
    record = concluded().meta.elaborations[-1]

    assert record.step_id == "00-01"
    assert record.turn_count == 4
    assert record.personas_active == ("business-analyst", "solutions-architect", "system-designer")
    assert record.timestamp.endswith("Z")
    assert record.synthesis_summary == "DEC-001 was decided on Quick Scan: Scope and Size"

    table = concluded().press(Action.ELABORATE).say("done")

    assert [record.turn_count for record in table.meta.elaborations] == [4, 3]

    table = Table(few_steps(step("00-01", "Scope and Size"))).start().elaborate().say("Hm.").say("done")
    assert (
        table.meta.elaborations[-1].synthesis_summary == "Nothing was decided on Quick Scan: Scope and Size"
    )


# --- the files --------------------------------------------------------------------------------------------------------


def test_the_files_of_the_step_are_added_to() -> None:
    """Two discussions stack; one without insights adds its decisions and questions. The menu says where what went."""
    table = Table(few_steps(step("00-01", "Scope and Size"))).start().do_step("It is small.")
    before = table.world.files["quick-scan.md"].splitlines()
    table.press(Action.ELABORATE).say(SAID).say("done")

    after = table.world.files["quick-scan.md"]
    assert "<!-- Elaboration: step 00-01, " in after
    assert "- [Ada] Trains have tunnels. [t04]" in after
    rest = iter(after.splitlines())
    assert all(line in rest for line in before[: before.index("## 2. Not settled (0)")])

    table = Table(few_steps(step("00-01", "Scope and Size"))).start().do_step("It is small.")
    told = table.press(Action.ELABORATE).say("Decision: a queue").say("done").last.text

    assert told.startswith(
        'Updated quick-scan.md, section "1. Scope and Size": added the result of the discussion.'
    )

    table = concluded()
    told = (
        'Updated quick-scan.md, section "1. Scope and Size": added 1 insight from the discussion.\n\nSaved: '
    )
    assert table.last.text.startswith(told)
    table.press(Action.ELABORATE).say("Again.").say("done")

    assert table.world.files["quick-scan.md"].count("<!-- Elaboration: step 00-01, ") == 2


def test_a_file_that_is_missing_is_named_and_skipped() -> None:
    """The block is in the thread, and in the other files. One that had nothing to say so far is made."""
    table = Table(few_steps(step("00-01", outputs=["quick-scan.md", "notes.md"]))).start().do_step()
    assert "notes.md" not in table.world.files
    del table.world.files["quick-scan.md"]
    table.press(Action.ELABORATE).say(SAID).say("done")

    assert trouble("ERR-ELAB-013", filename="quick-scan.md").sentence in table.texts
    assert "Trains have tunnels" in table.world.files["notes.md"]
    assert "<!-- Elaboration" not in table.world.files.get("quick-scan.md", "")


def test_files_that_are_no_prose_are_left_alone() -> None:
    """A marker is a comment in Markdown, and damage in JSON."""
    table = Table(few_steps(step("00-01", outputs=["stories.json"]))).start().elaborate().say("done")

    assert "stories.json" not in {edit.path for edit in table.world.commits[-1].edits}
    assert len(table.meta.elaborations) == 1


def test_in_the_file_that_all_items_share_they_go_to_the_item_s_own_section() -> None:
    """Another item's section stands below it, and is not touched."""
    table = Table(few_steps(step("00-01", "Quality", outputs=("nfr-matrix.md",)))).start("Offline sync")
    table.world.files["nfr-matrix.md"] = (
        "# NFR Matrix\n\n## Offline sync (offline-sync)\n\nours\n\n## Quality of prints (prints)\n\ntheirs\n"
    )
    table.do_step().press(Action.ELABORATE).say(SAID).say("done")

    ours, theirs = table.world.files["nfr-matrix.md"].split("## Quality of prints")
    assert "Trains have tunnels" in ours
    assert "Trains have tunnels" not in theirs


# --- discussions that come to little ----------------------------------------------------------------------------------


def test_a_person_who_spoke_before_the_framing_is_not_passed_over() -> None:
    """The discussion has a block, even if it ends with its framing."""
    table = Table(few_steps()).start().do_step().stop_paying().press(Action.ELABORATE).pay_up_to("speak")
    table.say("Trains have tunnels.").say("done").resume_paying()

    assert "**Participants**: Ada, Maya Chen" in table.world.files["quick-scan.md"]
    assert table.meta.elaborations[-1].turn_count == 1

    table = Table(few_steps()).start().do_step().stop_paying().press(Action.ELABORATE)
    table.pay_until(lambda rt: rt.elaboration is not None and rt.debate.turn_count == 1)
    table.say("done").resume_paying()

    sentence = "Discussion ended early. The framing identified Quick Scan: Topic 00-01 as a discussion point."
    assert table.texts[-2].endswith(f"\n\n{sentence}")
    assert table.meta.elaborations[-1].turn_count == 1
    assert table.world.commits[-1].edits == ()


# --- what can go wrong ------------------------------------------------------------------------------------------------


def test_a_record_that_cannot_be_saved_is_told_and_saved_later() -> None:
    """The block is shown, the menu returns, and the next commit brings the record after all."""
    table = Table(few_steps()).start().elaborate().say("Trains have tunnels.").fail("commit").say("done")

    told = trouble("ERR-ELAB-009", unsaved=SORRY).sentence
    assert any(told in text for text in table.texts)
    assert not table.meta.elaborations
    assert table.menu.offers(Action.ELABORATE)
    assert any("### Elaboration Insights" in text for text in table.texts)

    table.press_continue()
    assert table.meta.elaborations[-1].turn_count == 4


@pytest.mark.parametrize("ending", ["done", "exit"])
def test_a_word_that_comes_too_late_is_kept(ending: str) -> None:
    """Said while the block is saved: it belongs to the step, and is in its file."""
    table = Table(few_steps()).start().do_step().press(Action.ELABORATE).stop_paying()
    table.say(ending).say("Wait, one more!").resume_paying()

    assert "Wait, one more!" in [line.content for line in table.lines]
    assert "Ada: Wait, one more!" in table.world.files["quick-scan.md"]
    assert table.rt.stage is Stage.AT_BOUNDARY


# --- then a model drafts ----------------------------------------------------------------------------------------------


WORDS = "Trains have tunnels of twenty minutes."
BESIDE = "And lifts."


@played_once
def thoughtful(*, ended: bool = True) -> Table:
    """With a model that proposes what people said in the discussion."""
    table = Table(thinking(few_steps(step("00-01"), step("00-02")))).start()
    table.do_step().press(Action.ELABORATE)
    ts = table.ts()
    table.say(WORDS, ts=ts)
    table.world.patches = (
        quoting("INS-001", "insight", WORDS, Quote(line=table.rt.line_of(ts), words=WORDS)),
    )
    return table.say("done") if ended else table


def proposed(table: Table) -> list[str]:
    return [str(one["text"]) for one in table.rt.specification.active("insight")]


def drafts(lines: tuple[Line, ...]) -> int:
    return sum("INS-0" in line.content for line in lines)


def test_a_draft_follows_and_people_accept_it() -> None:
    """By the persona that leads the step, on the card of the step."""
    table = thoughtful()

    assert proposed(table) == [WORDS]
    assert table.rt.card
    assert WORDS in table.card.text
    assert table.rt.unread == ()
    assert not any(one.turns for one in table.rt.ended.values())
    assert drafts(table.lines) == 1


def test_no_model_is_asked_before_the_block_is_saved_and_the_menu_is_open() -> None:
    """Whoever wants to go on has the buttons at once."""
    table = thoughtful(ended=False).stop_paying().say("done")
    assert not table.rt.has_pending(Speak)
    table.pay_up_to("speak")

    assert table.rt.stage is Stage.AT_BOUNDARY
    assert table.menu.offers(Action.CONTINUE)
    assert len(table.meta.elaborations) == 1
    assert proposed(table) == []


@pytest.mark.parametrize("paid", [0, 1, 2, 3, 4, 5, 6])
def test_after_a_restart_the_draft_comes_once(paid: int) -> None:
    """Wherever the process ended."""
    table = thoughtful(ended=False).stop_paying().say("done")
    for _ in range(paid):
        table.pay_one()
    table.restart().resume_paying()

    assert drafts(table.lines) == 1
    assert proposed(table) == [WORDS]
    assert sum("### Elaboration Insights" in text for text in table.texts) == 1


def test_when_people_go_on_or_discuss_again_first_the_draft_comes_after_that() -> None:
    """On the next card, or below the second discussion."""
    table = thoughtful(ended=False).stop_paying().say("done")
    table.pay_up_to("speak").press(Action.CONTINUE).resume_paying()

    assert table.rt.step_id == "00-02"
    assert proposed(table) == [WORDS]
    assert drafts(table.lines) == 1

    table = thoughtful(ended=False).stop_paying().say("done")
    table.pay_up_to("speak").press(Action.ELABORATE).resume_paying()
    assert proposed(table) == []
    assert WORDS in [one.text for one in table.rt.unread]
    table.say("done")

    assert proposed(table) == [WORDS]


def test_what_nobody_answered_is_read_with_the_rest() -> None:
    """It was said after the last turn."""
    table = Table(thinking(few_steps())).start()
    table.meta_says(elaboration_config={"max_turns": 3}).elaborate().say("That was all.").say(BESIDE)
    table.stop_paying().say("done").pay_up_to("speak")

    assert [one.text for one in table.rt.unread] == ["That was all.", BESIDE]


@pytest.mark.parametrize("reason", draft_wording.FAILURES)
def test_an_answer_that_cannot_be_used_is_one_line_with_a_button(reason: str) -> None:
    """What people said is in the record; the model may be asked again."""
    table = thoughtful(ended=False).fail("speak", reason).say("done")
    told = draft_wording.FAILURES[reason].format(name="Maya")

    assert table.card.text.count(told) == 1
    assert table.menu.offers(Action.CONTINUE)
    assert len(table.meta.elaborations) == 1
    table.press(Action.READ_AGAIN)
    assert proposed(table) == [WORDS]
    assert told not in table.card.text


def test_what_no_model_has_read_at_the_end_of_the_item_is_noted() -> None:
    """Nobody is asked any more."""
    table = Table(thinking(few_steps())).start().through("02-01")
    table.press(Action.ELABORATE).say(WORDS).stop_paying().say("done").pay_up_to("speak")
    table.press(Action.CONTINUE).resume_paying()

    assert table.rt.stage is Stage.ANALYSED
    assert step_wording.never_read(1) in [line.content for line in table.lines]
    assert table.rt.unread == ()
