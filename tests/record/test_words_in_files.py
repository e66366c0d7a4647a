"""Each person's words are in a file after the commit, also where no section has a place for them."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.domain.discussion.elaboration import SealedPosition
from bot.domain.messages.message import Action
from bot.domain.roundtable.inputs import AnswerQuestion, SealPosition
from tests.domain.books import few_steps
from tests.domain.table import Table, person, shipped
from tests.record.kept import committed, found


def answered(table: Table) -> None:
    table.say("I am here.", who="linus").say("Open question: Who pays? -> Linus", who="grace").do_step()
    sent = {"key": table.key(), "at": table.now(), "person": person("linus")}
    table.hear(AnswerQuestion(**sent, entry="Q-001", text="The customer pays."))


def replaced(table: Table) -> None:
    table.say("decision: One counter in the database; because: it is there", who="grace")
    table.say("decision: A token bucket; because: it is fast; replaces: DEC-001", who="linus")


def beside_a_decision(table: Table) -> None:
    """An objection has a field called *risk*, and is listed where decisions are."""
    table.say("decision: The file is written aside")
    table.say("risk: The file is read while it is written -> rename it", who="grace")


def sealed(table: Table) -> None:
    table.do_step().press(Action.ELABORATE).say("option: a queue").say("Hm.", who="grace")
    position = SealedPosition(option="A", sure="high", why="it is simple", change="a failover test")
    table.hear(SealPosition(key=table.key(), at=table.now(), person=person("ada"), position=position))
    table.say("done")


@pytest.mark.parametrize(
    ("say", "words"),
    [
        (answered, "  - Answer: The customer pays."),
        (replaced, "  - Because: it is there\n  - Replaced by DEC-002"),
        (beside_a_decision, "RSK-001 The file is read while it is written"),
        (sealed, "  - Would change their mind: a failover test"),
    ],
)
def test_what_people_say_is_in_a_file(say: Callable[[Table], None], words: str, tmp_path: Path) -> None:
    table = Table().start()
    say(table)
    item = committed(table.stop(), tmp_path)

    assert found(item, shipped()) == []
    assert words in "\n".join(page.read_text() for page in item.folder.glob("*.md"))


KEPT = {
    "We must not lose data in tunnels.": "We must not lose data in tunnels.",
    "It costs us an hour a day.": "It costs us an hour a day.",
    "risk: the disk fills": "the disk fills",
    "decision: Use files\nNobody asked for more.": "Nobody asked for more.",
}
TEXTS = st.sampled_from([*KEPT, "thanks!", "ok", "deep", "accept 1", "RSK-001: withdrawn", "Maya, why?"])


@given(
    st.lists(TEXTS, min_size=1, max_size=4),
    st.lists(st.tuples(st.integers(0, 3), TEXTS), max_size=4),
    st.booleans(),
)
@settings(max_examples=60)
def test_what_people_make_of_a_message_is_in_a_file(
    first: list[str],
    edits: list[tuple[int, str]],
    finishes: bool,  # noqa: FBT001 -- hypothesis gives it
) -> None:
    """Also where it was a command or thanks before, and in a step that is over."""
    table, reads = Table(few_steps()).start(), dict(enumerate(first))
    for number, text in reads.items():
        table.say(text, ts=f"900.{number}", who=("ada", "grace")[number % 2])
    if finishes:
        table.press(Action.FINISH_STEP).press_continue()
    for number, text in edits:
        if number in reads and reads[number] != text:
            table.edit(f"900.{number}", text, who=("ada", "grace")[number % 2])
            reads[number] = text
    table.stop()

    files = "\n".join(text for name, text in table.world.files.items() if name.endswith(".md"))
    withdrawn = "the disk fills" if "RSK-001: withdrawn" in reads.values() else ""
    assert [
        words for text in reads.values() if (words := KEPT.get(text, "")) != withdrawn and words not in files
    ] == []
