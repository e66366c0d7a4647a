"""What a roundtable has so far, as one person is told: the brief."""

from bot.domain.messages import record_wording
from bot.domain.messages.message import Action
from bot.domain.specification.brief import Brief, BriefRow, BriefSection
from bot.engine import answers
from tests.domain.table import Table


def test_nothing_is_recorded_at_first() -> None:
    at = Table().start("Rate limiting")
    told = answers.so_far(at.rt, at.playbook)

    assert told.text == "**Rate limiting**: 0 of 24 steps done.\nNothing is recorded yet."


def test_it_is_the_brief() -> None:
    """With how much is done; what only other files show is counted."""
    at = (
        Table().start("Rate limiting").say("decision: We count per key.").say("Batch jobs starve the others.")
    )
    at.press(Action.FINISH_STEP).press_continue().say("We look for the gateway.", who="grace")

    assert answers.so_far(at.rt, at.playbook).text == (
        "**Rate limiting**: 1 of 24 steps done.\n"
        "\n**Decisions**\n- DEC-001: We count per key. Decided by Ada.\n"
        "\n**In the other files**\n- 2 notes\n"
        "\n**Not settled (0)**\n- Nothing."
    )


def test_what_people_wrote_is_only_text() -> None:
    """And long sections are cut and counted."""
    rows = tuple(BriefRow(text="*bold* <!channel>", label=f"RSK-{number:03}") for number in range(1, 10))
    brief = Brief(sections=(BriefSection(title="Risks", rows=rows, file="requirements-spec.md"),))
    told = record_wording.so_far("Offline", 1, 24, brief).text

    assert "and 1 more: requirements-spec.md" in told
    assert "RSK-009" not in told
    assert "- RSK-001: \\*bold\\*" in told


def test_which_item_is_asked_where_there_are_several() -> None:
    told = record_wording.which_item(["a", "b"], "read so far")
    assert told == "Which item? Say it, as in `/roundtable read so far a`. There are `a` and `b`."
    assert "no item" in record_wording.which_item([], "review")
