"""What cannot be written: people have its text in the thread, and it is written as soon as that is possible."""

from bot.domain.messages import trouble_wording
from bot.domain.messages.message import Action
from bot.domain.roundtable.stage import Stage
from tests.domain.books import few_steps, step
from tests.domain.table import Table, played_once

TWO = few_steps(step("00-01"), step("00-02"))
FILE = "quick-scan.md"


@played_once
def unwritable(path: str = FILE) -> Table:
    table = Table(TWO).start()
    table.world.unwritable = path
    return table.do_step("For field work.")


def attached(table: Table) -> list[str]:
    return [text for text in table.texts if text.startswith("I could not save this in")]


def test_the_text_of_a_file_that_cannot_be_written_is_in_the_thread() -> None:
    """ERR-ART-002: with the warning; the step counts."""
    table = unwritable()

    [text] = attached(table)
    assert f"`{FILE}`" in text
    assert "For field work." in text
    assert any(text.startswith(f"⚠ Warning: Failed to write {FILE}.") for text in table.texts)
    assert table.meta.steps_completed == ("00-01",)


def test_it_is_written_with_the_next_commit() -> None:
    """Once the file can be written again, also if nobody comes back."""
    table = unwritable()
    table.world.unwritable = ""
    table.press_continue().do_step()

    assert "For field work." in table.world.files[FILE]
    assert table.texts.count(trouble_wording.SAVED_AT_LAST) == 1

    table = unwritable()
    table.world.unwritable = ""
    table.try_again()

    assert "For field work." in table.world.files[FILE]
    assert table.rt.unsaved == ()
    assert table.offered()[0] == Action.CONTINUE

    table = Table(TWO).start().do_step()
    before = len(table.world.commits)

    assert len(table.try_again().world.commits) == before


def test_what_still_cannot_be_written_is_kept_without_a_word() -> None:
    """People were told once."""
    table = unwritable()
    before = list(table.texts)
    table.try_again().try_again()

    assert table.texts == before
    table.world.unwritable = ""
    table.try_again()
    assert "For field work." in table.world.files[FILE]


def test_a_whole_commit_that_fails_has_its_texts_in_the_thread_too() -> None:
    """ERR-META-003: the disk is full. Once, however often it fails."""
    table = Table(TWO).start().fail("commit", times=3).do_step("For field work.")
    table.try_again().try_again()

    assert len(attached(table)) == 1
    assert table.rt.stage is Stage.AT_BOUNDARY


def test_rows_and_objects_are_shown_as_they_would_stand_in_the_file() -> None:
    """In a block of code: they are no Markdown."""
    table = Table(few_steps(step("00-01", outputs=("user-stories.json",)), step("00-02"))).start()
    table.world.unwritable = "user-stories.json"
    table.do_step("As a driver I want tunnels so that it works")

    [text] = attached(table)
    assert "```" in text
    assert '"US-001"' in text
