"""What people change afterwards: the transcript never forgets, the files follow the newest words."""

from bot.domain.messages.menus import MenuKind
from bot.domain.messages.message import Action, Card
from bot.domain.roundtable.stage import Stage
from tests.domain.books import few_steps, step
from tests.domain.table import Table


def test_an_edited_answer_is_the_answer() -> None:
    """The step is written from what people say now. Only an edit of what has not come yet is remembered."""
    table = Table(few_steps()).start().say("For fields.", ts="900.1").edit("900.1", "For field work.")

    assert [answer.text for answer in table.rt.answers] == ["For field work."]

    assert table.rt.overtaken == ()


def test_an_edit_is_a_line_that_names_the_old_one() -> None:
    """Both are in the transcript."""
    table = (
        Table(few_steps())
        .start()
        .say("For fields.", ts="900.1")
        .edit("900.1", "For field work.", who="grace")
    )

    old, new = [line for line in table.lines if line.source == "user"]
    assert (old.content, new.content) == ("For fields.", "For field work.")
    assert (new.meta["amends"], new.meta["user_name"]) == (old.message_id, "Grace")


def test_a_deleted_answer_is_no_answer() -> None:
    """That it was deleted, and by whom, is a line; the words stay in the transcript."""
    table = Table(few_steps()).start().say("For fields.", ts="900.1").delete("900.1", who="grace")

    assert table.rt.answers == ()
    assert table.rt.lines[-1].content == "Grace deleted a message."
    assert table.rt.lines[-1].meta["retracts"] == "C1.900.1"
    assert "For fields." in [line.content for line in table.lines]


def test_a_change_after_finish_is_written_before_the_menu_returns() -> None:
    """At a menu, while we write, while we are stopped, and during a discussion."""
    table = Table(few_steps()).start().say("For fields.", ts="900.1").press(Action.FINISH_STEP)
    before = table.menu
    table.edit("900.1", "For field work.")
    assert (table.menu.kind, table.menu.message.choices) == (before.kind, before.message.choices)

    table.press_continue()
    assert "- Ada: For field work." in table.world.files["quick-scan.md"]
    assert "For fields." not in table.world.files["quick-scan.md"]
    assert table.meta.steps_completed == ("00-01",)

    table = Table(few_steps()).start().say("For fields.", ts="900.1").say("For trains.")
    table.stop_paying().press(Action.FINISH_STEP).delete("900.1").resume_paying()

    assert "For trains." in table.world.files["quick-scan.md"]
    assert "For fields." not in table.world.files["quick-scan.md"]
    assert table.rt.stage is Stage.AT_BOUNDARY

    table = Table(few_steps(step("00-01"), step("00-02"))).start().say("For fields.", ts="900.1")
    table.press(Action.FINISH_STEP).press(Action.STOP).edit("900.1", "For field work.").resume()

    assert "- Ada: For field work." in table.world.files["quick-scan.md"]
    assert table.offered()[0] == Action.CONTINUE

    table = Table(few_steps()).start().say("For fields.", ts="900.1").press(Action.FINISH_STEP)
    table.press(Action.ELABORATE).edit("900.1", "For field work.").say("done")

    assert "- Ada: For field work." in table.world.files["quick-scan.md"]
    assert table.menu.kind is MenuKind.PHASE


def test_editing_what_is_no_answer_changes_no_file() -> None:
    """An earlier step's words, for example: the transcript has both versions."""
    table = (
        Table(few_steps()).start().say("For fields.", ts="900.1").press(Action.FINISH_STEP).press_continue()
    )
    commits = len(table.world.commits)
    table.edit("900.1", "For field work.")

    assert len(table.world.commits) == commits
    assert table.rt.stage is Stage.DISCUSSING


def test_a_change_while_nothing_goes_on_is_saved_at_once() -> None:
    """Like everything said while we are stopped."""
    table = Table(few_steps()).start().say("For fields.", ts="900.1").stop().edit("900.1", "For field work.")

    assert "For field work." in [line.content for line in table.world.commits[-1].lines]


def test_an_edit_that_comes_twice_is_one_edit() -> None:
    """Slack repeats those, too; it is one line however much was forgotten."""
    table = Table(few_steps()).start().say("For fields.", ts="900.1")
    table.edit("900.1", "For field work.", key="edit-1")
    before = table.rt
    table.edit("900.1", "For field work.", key="edit-1")

    assert table.rt is before

    table = Table(few_steps()).start().say("For fields.", ts="900.1")
    table.edit("900.1", "For field work.", key="C1.900.1.901.1").delete("900.1", key="C1.900.1.deleted")

    assert [line.message_id for line in table.lines[-2:]] == ["C1.900.1.901.1", "C1.900.1.deleted"]


# --- heard of before the message itself -------------------------------------------------------------------------------


def test_a_message_that_comes_after_its_edit_or_deletion_says_what_is_left_of_it() -> None:
    """A deleted wish is not granted."""
    table = Table(few_steps()).start().edit("900.1", "For field work.").say("For fields.", ts="900.1")

    assert [answer.text for answer in table.rt.answers] == ["For field work."]

    table = Table(few_steps()).start().delete("900.1").say("For fields.", ts="900.1")

    assert table.rt.answers == ()
    assert [line.content for line in table.lines].count("For fields.") == 1

    table = Table(few_steps()).start().delete("900.1").say("finish", ts="900.1")

    assert table.rt.stage is Stage.DISCUSSING


# --- in a discussion --------------------------------------------------------------------------------------------------


def test_an_edited_turn_is_what_the_personas_hear_and_a_deleted_one_says_nothing() -> None:
    """It is the same turn."""
    table = Table(few_steps()).start().elaborate().say("It must be fast.", ts="900.1")
    before = table.rt.debate.turn_count
    table.edit("900.1", "It must be correct.")

    assert "It must be correct." in [turn.text for turn in table.rt.debate.turns]
    assert "It must be fast." not in [turn.text for turn in table.rt.debate.turns]
    assert table.rt.debate.turn_count == before

    table = Table(few_steps()).start().elaborate().say("It must be fast.", ts="900.1").delete("900.1")

    assert "It must be fast." not in [turn.text for turn in table.rt.debate.turns]


def test_what_an_edit_says_again_need_not_be_confirmed() -> None:
    """An edited answer stays below its question."""
    table = Table().start("Rate limiting")
    table.say("Decision: limit per key; because: offices share an address", ts="900.1")
    table.edit("900.1", "Decision: limit per key; because: addresses change")

    (entry,) = table.rt.specification.active("decision")
    assert (entry.id, entry["text"], entry["reason"]) == ("DEC-001", "limit per key", "addresses change")
    assert entry.stale == ()

    table = Table().start("Rate limiting").say("2. Two areas.", ts="900.1")
    table.edit("900.1", "2. Three areas.")

    (note,) = table.rt.specification.active("note")
    assert (note["text"], note["question"], note.stale) == ("Three areas.", 2, ())


def test_a_numbered_answer_that_becomes_an_entry_answers_its_question() -> None:
    """Found by hand: the card went on to ask it. Where the answer is deleted, it asks again."""
    table = Table().start("Rate limiting").through("01-04").press_continue()
    table.say("quality: Answers in time -> 5 s p95")
    asked = _numbers(table)
    table.say("2) quality: Nothing is lost -> 0 of 1000", ts="900.1").restart().say(
        "Some more words about it."
    )

    assert "2." in asked
    assert "2." not in _numbers(table)
    assert "2." in _numbers(table.delete("900.1"))


def _numbers(table: Table) -> list[str]:
    """Of the questions that the card asks."""
    asking = {"Still missing", "Also asked"}
    return [row.id for part in shown(table).parts if part.title in asking for row in part.rows if row.id]


def test_the_card_names_who_changed_what_an_entry_rests_on() -> None:
    """Also who deleted it: by name, in the record, too."""
    table = Table().start("Rate limiting").say("Risk: one core", ts="900.1", who="grace")
    table.delete("900.1", who="grace")

    (found,) = [one.prose for one in shown(table).parts if one.title == "To be confirmed again"]
    assert found == "Grace deleted a message. 1 entry rests on it: RSK-001."
    why = table.rt.specification.entries["RSK-001"].claims["text"][0].stale
    assert why
    assert (why.by, why.name) == ("grace", "Grace")


def shown(table: Table) -> Card:
    assert table.menu.message.card
    return table.menu.message.card
