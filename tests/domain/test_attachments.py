"""Files that people share: their names and addresses are in the transcript, on the line of the message."""

from bot.domain.roundtable.inputs import Say
from bot.domain.roundtable.outcomes import Attachment, ThreadMessage
from bot.domain.transcript.lines import Line
from tests.domain.books import few_steps
from tests.domain.table import Table, person

SKETCH = Attachment(id="F1", name="sketch.png", type="image/png", permalink="https://x.test/F1", by="grace")


def shared(table: Table, text: str = "shared sketch.png") -> Line:
    ts = table.ts()
    table.hear(Say(key=f"C1.{ts}", at=table.now(), person=person("grace"), text=text, ts=ts, files=(SKETCH,)))
    return next(line for line in table.lines if line.message_id == f"C1.{ts}")


def test_a_file_is_on_the_line_of_its_message_and_answers_the_step() -> None:
    """The card says that nobody looks into it. Words without one have a line as it was."""
    line = shared(Table(few_steps()).start())

    assert line.content == "shared sketch.png"
    assert line.meta["attachments"] == [SKETCH.model_dump(mode="json")]

    table = Table(few_steps()).start()
    shared(table)
    sentence = "I can't look inside files. Say in words what matters in `sketch.png`."
    assert sentence in table.card.text
    table.finish()

    assert "shared sketch.png" in table.world.files["quick-scan.md"]

    table = Table(few_steps()).start().say("For field work.")

    assert "attachments" not in table.lines[-1].meta


def test_feedback_with_a_file_is_committed_with_it() -> None:
    """Also where the commit is owed at once."""
    table = Table(few_steps()).start().do_step()
    line = shared(table, "Look at this")

    assert line.meta["attachments"]
    table.stop()
    assert shared(table, "And at this").meta["attachments"]


def test_a_file_that_was_missed_is_taken_from_the_thread() -> None:
    """It was shared while nobody listened."""
    table = Table(few_steps()).start()
    missed = ThreadMessage(person=person("grace"), text="shared sketch.png", ts=table.ts(), files=(SKETCH,))
    table.world.heard = (missed,)
    table.return_()

    assert [line.meta.get("attachments") for line in table.lines if line.content == "shared sketch.png"] == [
        [SKETCH.model_dump(mode="json")]
    ]
