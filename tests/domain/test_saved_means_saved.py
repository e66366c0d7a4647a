"""That something is saved is said when the commit is made; until then, what is the case is said once."""

from bot.domain.messages import step_wording, trouble_wording
from bot.domain.messages.menus import MenuKind
from bot.domain.messages.message import Action
from bot.domain.roundtable.effects import Commit
from bot.domain.values.timestamps import after
from tests.domain.books import few_steps, step
from tests.domain.card_scene import shown
from tests.domain.table import SORRY, Table

TWO = few_steps(step("00-01"), step("00-02"))
UPDATED = "artifacts were updated"


def not_yet(table: Table) -> list[str]:
    return [text for text in table.texts if SORRY in text]


def claims(table: Table) -> list[str]:
    return [text for text in table.texts if text.startswith("Saved") or UPDATED in text]


def assert_not_saved(table: Table) -> None:
    """Its menu says so, and nothing on it claims otherwise."""
    text = table.menu.message.text
    assert step_wording.NOT_ALL_SAVED in text
    assert "Saved: " not in text


def test_a_step_whose_commit_fails_is_not_said_to_be_saved() -> None:
    """Its menu comes, and says that it is not; the reason is told once."""
    table = Table(TWO).start().fail("commit").do_step()

    assert table.menu.kind is MenuKind.STEP
    assert table.rt.steps_completed == ("00-01",)
    assert table.meta.steps_completed == ()
    assert claims(table) == []
    assert not_yet(table) == [
        f"⚠ Not saved yet: {SORRY} Nothing that was said is lost. I keep trying, and tell you when it is saved."
    ]
    assert_not_saved(table)


def test_it_is_said_when_it_is_saved() -> None:
    """By itself, after a while."""
    table = Table(TWO).start().fail("commit", times=3).do_step()
    table.try_again().try_again()
    assert len(not_yet(table)) == 1
    assert trouble_wording.SAVED_AT_LAST not in table.texts

    table.try_again()
    assert table.texts.count(trouble_wording.SAVED_AT_LAST) == 1
    assert table.meta.steps_completed == ("00-01",)


def test_the_menu_of_a_step_says_saved_only_of_what_is() -> None:
    """A file of its own could not be written."""
    table = Table(TWO).start()
    table.world.unwritable = "quick-scan.md"
    table.do_step()

    assert_not_saved(table)


def test_feedback_that_cannot_be_saved_is_not_said_to_be_saved() -> None:
    """Also when nobody acknowledges it."""
    table = Table(TWO).start().do_step().fail("commit").fail("speak").say("Photos, too.")
    before = len(claims(table))
    table.press_continue()

    assert len(claims(table)) == before
    assert len(not_yet(table)) == 1
    assert table.press(Action.STOP).subjects[-2].startswith("feedback")


def test_a_plan_that_cannot_be_saved_is_shown_as_it_is() -> None:
    """Its files are not there yet."""
    failed = Table(TWO).start().plan().stop_paying().press(Action.FINISH_STEP).pay_up_to("commit")
    failed.fail("commit").resume_paying()

    assert step_wording.NOT_ALL_SAVED in failed.card.text
    assert "planning/plan.md" not in failed.world.files


# --- words after the commit ---


LATER = "What was added since then is not saved yet."


def test_the_card_does_not_say_saved_of_words_that_are_in_no_commit() -> None:
    """Found from outside: feedback at a menu stood on a card titled *saved* for up to two minutes."""
    table = Table(few_steps()).start().do_step()
    assert "– saved" in shown(table.menu.message)
    assert "Saved: " in table.card.text

    table.say("Photos of the meter count, too.")
    assert "– saved" not in table.card.text
    assert "Saved: " not in table.card.text
    assert table.card.text.count(LATER) == 1


def test_it_says_so_again_when_they_are_in_git() -> None:
    """Not while their commit is on its way."""
    table = Table(few_steps()).start().do_step().say("Photos of the meter count, too.").stop_paying()
    table.time_is(after(table.rt.now, 3 * 60))
    assert any(isinstance(one, Commit) for one in table.rt.outbox)
    assert LATER in table.card.text

    table.resume_paying()
    assert LATER not in table.card.text
    assert "Saved: " in table.card.text
    assert "Photos of the meter count" in "".join(table.world.files.values())


def test_a_letter_at_the_menu_leaves_nothing_to_save() -> None:
    assert LATER not in Table(few_steps()).start().do_step().say("finish").card.text
