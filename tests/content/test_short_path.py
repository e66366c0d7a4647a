"""short-path.yaml: the cards that ship, and what becomes of a file with mistakes."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from bot.content.playbook import load
from bot.domain.catalog.agenda import DROP, PathCard, Playbook
from bot.domain.catalog.phases import PHASE_KEYS
from bot.domain.catalog.steps import Ask
from bot.shipped import personas_dir, steps_dir

SHIPPED = load(personas_dir(), steps_dir())
CARD: Mapping[str, object] = {
    "phase": "01-requirements",
    "title": "Who, and what",
    "persona": "business-analyst",
    "questions": [{"text": "Who uses it?", "asks": "list user_type"}],
}


def shipped_card(phase: str) -> PathCard:
    assert SHIPPED.short_path
    card = SHIPPED.short_path.card_of(phase)
    assert card
    return card


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The shipped steps, without a short path."""
    for phase in PHASE_KEYS:
        (tmp_path / phase).symlink_to(steps_dir() / phase)
    return tmp_path


def read(folder: Path, *cards: Mapping[str, object], **parts: object) -> Playbook:
    (folder / "short-path.yaml").write_text(json.dumps({"cards": cards, **parts}), encoding="utf-8")
    return load(personas_dir(), folder)


def phases(playbook: Playbook) -> list[str]:
    return [card.phase for card in playbook.short_path.cards] if playbook.short_path else []


# --- what ships -------------------------------------------------------------------------------------------------------


def test_there_is_one_card_for_each_phase() -> None:
    """In their order, led by the persona that leads the phase."""
    assert phases(SHIPPED) == list(PHASE_KEYS)
    for phase in PHASE_KEYS:
        assert shipped_card(phase).persona == SHIPPED.roster.lead_of(phase)[0].key


def test_five_cards_ask_fourteen_questions() -> None:
    assert [len(shipped_card(phase).questions) for phase in PHASE_KEYS] == [3, 4, 3, 1, 3]
    assert shipped_card("01-requirements").then == "Which come first? `Must: FR-001, FR-003`"


def test_a_question_says_what_its_answer_becomes() -> None:
    assert dict(enumerate((one.asks for one in shipped_card("00-quick-scan").questions), start=1)) == {
        1: Ask(kind="problem", is_list=True),
        2: Ask(kind="metric", is_list=True),
        3: Ask(kind="driver", is_list=True),
    }
    assert all(one.asks.is_list for phase in PHASE_KEYS for one in shipped_card(phase).questions)


def test_what_stayed_a_note_has_four_buttons() -> None:
    """The last one leaves it out of the record."""
    for phase in PHASE_KEYS:
        press = shipped_card(phase).press
        assert len(press) == 4
        assert press[-1] == DROP


def test_every_step_of_a_phase_is_covered_by_its_card() -> None:
    """By kinds of entries, or by one with a field."""
    for phase in PHASE_KEYS:
        assert list(shipped_card(phase).covers) == [one.step_id for one in SHIPPED.agenda.steps_of(phase)]
    assert shipped_card("00-quick-scan").covers["00-01"] == (Ask(kind="problem"), Ask(kind="estimate"))
    assert shipped_card("00-quick-scan").covers["00-03"] == (Ask(kind="estimate", field="files"),)


# --- a team's own file ------------------------------------------------------------------------------------------------


def test_a_folder_without_the_file_has_no_short_path(folder: Path) -> None:
    """It asks step by step at every depth, which is nothing to complain about while people meet."""
    playbook = load(personas_dir(), folder)

    assert playbook.short_path is None
    assert playbook.notes == ()


@pytest.mark.parametrize("text", ["cards: [", "- a list", "cards: &a []", "\xff"])
def test_a_file_that_cannot_be_read_is_one_finding(folder: Path, text: str) -> None:
    (folder / "short-path.yaml").write_bytes(text.encode("latin-1"))

    playbook = load(personas_dir(), folder)

    assert playbook.short_path is None
    [finding] = playbook.notes
    assert finding.startswith("short-path.yaml is not used: ")


def test_a_name_that_means_nothing_is_one_finding(folder: Path) -> None:
    """The card stays."""
    playbook = read(folder, {**CARD, "bord": True})

    assert playbook.short_path
    assert playbook.notes == (
        "short-path.yaml: 'bord' means nothing in the card of the phase '01-requirements'.",
    )


def test_a_card_needs_a_phase_a_title_a_persona_and_questions(folder: Path) -> None:
    """Everything else is optional."""
    playbook = read(folder, CARD)

    assert playbook.notes == ()
    assert playbook.short_path
    [card] = playbook.short_path.cards
    assert (card.title, card.then, card.press, card.covers) == ("Who, and what", "", (), {})


MISTAKES: dict[str, tuple[Mapping[str, object], str]] = {
    "an unknown phase": ({"phase": "09-sales"}, "there is no such phase"),
    "an unknown persona": ({"persona": "zoe"}, "no persona has the key 'zoe'"),
    "an unknown kind": (
        {"questions": [{"text": "Who?", "asks": "list hero"}]},
        "'list hero' is no kind of entries and no field of one",
    ),
    "an unknown field": (
        {"questions": [{"text": "Who?", "asks": "estimate.colour"}]},
        "'estimate.colour' is no kind of entries and no field of one",
    ),
    "seven questions": (
        {"questions": [{"text": "Who?", "asks": "list user_type"}] * 7},
        'questions has to be a list of 1 to 6 questions, such as {text: "What can go wrong?", asks: list risk}',
    ),
    "no question": (
        {"questions": []},
        'questions has to be a list of 1 to 6 questions, such as {text: "What can go wrong?", asks: list risk}',
    ),
    "a long title": ({"title": "x" * 61}, "title has to be a text of 1 to 60 characters"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_card_with_a_mistake_is_left_out_with_a_finding(folder: Path, mistake: str) -> None:
    """The other cards are used; the phase of this one asks its steps."""
    wrong, why = MISTAKES[mistake]
    other = {**CARD, "phase": "04-design", "persona": "system-designer"}
    playbook = read(folder, {**CARD, **wrong}, other)

    assert phases(playbook) == ["04-design"]
    assert playbook.notes == (
        f"short-path.yaml: a card of the phase '{ {**CARD, **wrong}['phase'] }' is left out: {why}.",
    )


def test_of_two_cards_of_a_phase_the_first_stays(folder: Path) -> None:
    playbook = read(folder, CARD, {**CARD, "title": "Again"})

    assert playbook.short_path
    assert [card.title for card in playbook.short_path.cards] == ["Who, and what"]
    [finding] = playbook.notes
    assert finding.endswith("is left out: the phase has one already.")


@pytest.mark.parametrize(
    ("part", "given"), [("press", ["problem", "hero"]), ("covers", {"01-01": ["problem", "hero"]})]
)
def test_an_unknown_kind_beside_the_questions_leaves_the_card_out(
    folder: Path, part: str, given: object
) -> None:
    playbook = read(folder, CARD, **{part: {"01-requirements": given}})

    assert playbook.short_path is None
    [finding] = playbook.notes
    assert "'hero' is no kind of entries" in finding


def test_cards_stand_in_the_order_of_the_phases(folder: Path) -> None:
    """A step that a folder leaves out is covered by nothing; a part that means nothing is a finding."""
    first = {**CARD, "phase": "00-quick-scan"}
    playbook = read(folder, CARD, first, covers={"00-quick-scan": {"00-09": ["problem"]}}, colours={})

    assert phases(playbook) == ["00-quick-scan", "01-requirements"]
    assert playbook.short_path
    assert playbook.short_path.cards[0].covers == {}
    assert playbook.notes == (
        "short-path.yaml has a part 'colours' that means nothing: the parts are cards, press, covers.",
    )
