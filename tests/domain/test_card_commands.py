"""What people type in place of a button counts only as a whole message, or at the beginning of a row."""

import pytest

from bot.domain.catalog.schema import NOTE
from bot.domain.messages.card_commands import TypedAction, TypedKind, may_be_typed, typed
from bot.domain.messages.specification_wording import no_such_line
from bot.domain.messages.step_scene import StaleEntry, StepScene, Suggestion, SuggestionState, UnsortedNote
from bot.domain.specification.claims import StaleCause
from tests.domain.card_scene import FEATURES, scene
from tests.specification.meeting import Meeting

SCHEMA = scene(Meeting()).schema


@pytest.fixture
def card() -> StepScene:
    """Two suggestions are open, one note is to be sorted, one entry to be confirmed again."""
    meeting = Meeting()
    meeting.say("Linus", FEATURES, "ours must not")
    return scene(
        meeting,
        suggestions=(
            Suggestion(number=1, id="RSK-001", by="Maya"),
            Suggestion(number=2, id="RSK-002", by="Maya", state=SuggestionState.LEFT_OUT),
            Suggestion(number=3, id="RSK-003", by="Maya"),
        ),
        unsorted=(UnsortedNote("a", meeting.specification.active(NOTE)[0]),),
        stale=(StaleEntry(id="FR-003", cause=StaleCause.CHANGED),),
    )


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("accept 1", TypedAction(what=TypedKind.ACCEPT, numbers=(1,))),
        ("Accept 1 and 3.", TypedAction(what=TypedKind.ACCEPT, numbers=(1, 3))),
        ("accept 7", TypedAction(what=TypedKind.ACCEPT, numbers=(7,))),
        ("accept all", TypedAction(what=TypedKind.ACCEPT, numbers=(1, 3), is_all=True)),
        ("change 3: within 2 days", TypedAction(what=TypedKind.CHANGE, numbers=(3,), words="within 2 days")),
        ("change 3: at 10:30", TypedAction(what=TypedKind.CHANGE, numbers=(3,), words="at 10:30")),
        ("leave out 3", TypedAction(what=TypedKind.LEAVE_OUT, numbers=(3,))),
        ("sort a risk", TypedAction(what=TypedKind.SORT, letter="a", kind="risk")),
        ("sort a out of scope", TypedAction(what=TypedKind.SORT, letter="a", kind="exclusion")),
        ("Risk.", TypedAction(what=TypedKind.SORT, letter="a", kind="risk")),
        ("leave out all", TypedAction(what=TypedKind.LEAVE_OUT, numbers=(1, 3), is_all=True)),
        ("keep FR–3", TypedAction(what=TypedKind.KEEP, id="FR-003")),
        ("withdraw fr-003", TypedAction(what=TypedKind.WITHDRAW, id="FR-003")),
        ("withdraw OBJ-001", TypedAction(what=TypedKind.WITHDRAW, id="OBJ-001")),
        ("keep FR-001", TypedAction(what=TypedKind.KEEP, id="FR-001")),
    ],
)  # fmt: skip
def test_a_whole_message_does_what_the_button_does(card: StepScene, text: str, action: TypedAction) -> None:
    assert may_be_typed(text, SCHEMA)
    assert typed(text, card, person="ULINUS").actions == (action,)
    assert typed(text, card, person="ULINUS").rest == ""


@pytest.mark.parametrize(
    "text",
    [
        "I would accept 1", "accept the risk", "accept 1?", "accept", "leave out all of it",
        "leave out tablets", "change 3", "change 3:", "change the colour: red", "change 1 and 3: red",
        "sort a list", "sort b risk", "sort entries by date", "keep UTF-8", "keep it",
        "withdraw the old app in May", "withdraw OBJ-001 in May", "withdraw OBJ-001 and OBJ-002", "undo",
        "reopen: the file", "accept 1\nand add a limit per plan", "",
    ],
)  # fmt: skip
def test_everything_else_is_content(card: StepScene, text: str) -> None:
    """Word by word, also when a row of it looks like a command."""
    assert typed(text, card, person="ULINUS").actions == ()
    assert typed(text, card, person="ULINUS").rest == text


@pytest.mark.parametrize(
    "text", ["accept 1", "accept all", "leave out 1", "leave out all", "change 1: x", "sort a risk", "risk"]
)
def test_what_the_card_does_not_show_is_content(text: str) -> None:
    """`Sort a risk` may be what people can do with it."""
    assert typed(text, scene(Meeting()), person="ULINUS").actions == ()


def test_the_name_of_a_kind_sorts_only_ones_own_note(card: StepScene) -> None:
    assert typed("risk", card, person="ada").actions == ()
    assert typed("risk: the council says no", card, person="ULINUS").actions == ()


def test_a_row_that_changes_a_suggestion_stands_among_others(card: StepScene) -> None:
    """The other rows are content."""
    assert may_be_typed("Nearly.\nchange 3: within 2 days", SCHEMA)
    assert not may_be_typed("I would change 3: within 2 days", SCHEMA)
    found = typed("Nearly.\nchange 3: within 2 days\nThe rest later.", card, person="ULINUS")

    assert [one.words for one in found.actions] == ["within 2 days"]
    assert found.rest == "Nearly.\nThe rest later."


def test_a_number_out_of_reach_is_answered(card: StepScene) -> None:
    assert no_such_line(7, card.shown_open) == "There is no open line 7. The open ones are 1 and 3."
    assert no_such_line(7, [1]) == "There is no open line 7. The open one is 1."
    assert no_such_line(7, []) == "There is no open line 7."
