"""What a roundtable has so far, as one person is told."""

from bot.domain.messages import record_wording
from bot.domain.messages.message import Action
from bot.domain.messages.record_wording import StepSoFar
from bot.domain.roundtable import so_far
from tests.domain.table import Table


def test_nothing_is_recorded_at_first() -> None:
    at = Table().start("Rate limiting")
    told = so_far.so_far(at.rt, at.playbook)

    assert told.text == "**Rate limiting**: 0 of 24 steps done.\nNothing is recorded yet."


def test_accepted_entries_of_each_step() -> None:
    """And notes, with who said them. The open step is called so."""
    at = (
        Table().start("Rate limiting").say("decision: We count per key.").say("Batch jobs starve the others.")
    )
    at.press(Action.FINISH_STEP).press_continue().say("We look for the gateway.", who="grace")
    rows = so_far.so_far(at.rt, at.playbook).text.splitlines()

    assert rows[0] == "**Rate limiting**: 1 of 24 steps done."
    assert {"- DEC-001: We count per key.", "- “Batch jobs starve the others.” – Ada"} <= set(rows)
    assert next(row for row in rows if row.startswith("**00-02")).endswith(", not finished")
    assert rows[-1] == "- “We look for the gateway.” – Grace"


def test_long_lists_are_cut_and_counted() -> None:
    entries = [(f"FR-{number:03}", "*bold* <!channel>") for number in range(1, 8)]
    step = StepSoFar("01-06", "Features", entries, notes=[("Hm.", "Ada")] * 2, proposed=1)
    rows = record_wording.so_far("Offline", 1, 24, [step] * 31).text.splitlines()

    assert rows.count("- 2 more entries, 2 more notes, 1 suggestion not confirmed") == 30
    assert rows[-1] == "and 1 step more"
    assert "FR-006" not in "".join(rows)
    assert "**bold**" not in "".join(rows)


def test_which_item_is_asked_where_there_are_several() -> None:
    assert "`a` , `b`".replace(" ,", ",") in record_wording.which_item(["a", "b"])
    assert "no item" in record_wording.which_item([])
