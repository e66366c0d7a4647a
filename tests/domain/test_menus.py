"""The menus: for each, what it offers; the buttons are labelled, so that nobody needs a symbol to know what they do."""

from bot.domain.actions.table import ACTIONS
from bot.domain.catalog.steps import Depth
from bot.domain.messages import (
    agent_question_wording,
    agent_wording,
    discussion_card,
    draft_wording,
    home_page,
    mark_wording,
    menus,
    prompt_wording,
    step_card,
    step_entries,
    verb_wording,
)
from bot.domain.messages import attendance_wording as attendance
from bot.domain.messages.message import Action, Emphasis

ALL = (
    menus.SAVE_AND_GO_ON,
    menus.FINISH_STEP, menus.CONTINUE, menus.ELABORATE, menus.SKIP, menus.SKIP_STEP, menus.STOP, menus.GO_ON,
    menus.DECIDE, menus.END_ELABORATION,
    menus.RESUME, menus.RETRY, menus.RESTORE, menus.START_OVER, menus.REANALYSE, menus.CANCEL, menus.CATCH_UP,
    menus.SETTINGS, menus.EXPORT, menus.FINDINGS, menus.TAKE_UP, menus.TAKE_OVER, menus.ALLOW_MORE, menus.READ_AGAIN,
    *menus.DEPTHS.values(),
    menus.PLAN, menus.GO_DEEPER, menus.ISSUES, menus.READ_ISSUE,
    step_card.LINES[0], step_card.ACCEPT_ALL, step_card.REOPEN, step_card.AMEND, step_card.SORT, step_card.HOLDS,
    step_card.FILE, step_card.WITHDRAW, step_entries.READ, verb_wording.DECIDED, verb_wording.MORE,
    menus.START_FORM, mark_wording.AGREED, mark_wording.NOT_AGREED,
    attendance.NUDGE, attendance.NOTHING_TO_ADD, attendance.LATER, attendance.EXTEND, attendance.WITHOUT,
    attendance.UNTIL, attendance.NO_LIMIT, agent_wording.ANSWER,
    agent_wording.WAITING, discussion_card.NAME_OPTION,
    agent_question_wording.OPTION.but(label="Yes"), agent_question_wording.DECLINE,
    home_page.NOT_TODAY, home_page.AT,
    discussion_card.RECORD, discussion_card.OBJECT, discussion_card.ASK_ALL, discussion_card.ASK,
    discussion_card.SEALED, discussion_card.REVEAL, discussion_card.MORE_TURNS, discussion_card.AGREED,
    draft_wording.ASK_OTHER, draft_wording.SHOW, draft_wording.STOP_DRAFT,
    draft_wording.CHECK_AGAIN, draft_wording.NOT_RELEVANT, draft_wording.GO_ON_WITHOUT,
    menus.REVERSE, prompt_wording.NONE, prompt_wording.CHANGE,
    discussion_card.UNDECIDED_CHOICE, discussion_card.pressable("OBJ-001")[0],
)  # fmt: skip


def test_every_action_has_a_button() -> None:
    """And only one."""
    assert {choice.action for choice in ALL} == set(ACTIONS)
    assert len(of_menus()) == len(set(of_menus()))


def of_menus() -> list[str]:
    """Where a card has the same button, it stands there with the card's words and value."""
    cards = {Action.REOPEN, Action.AMEND, Action.SORT, Action.AGREED, Action.NOT_AGREED}
    return [choice.action for choice in ALL if choice.action not in cards]


def test_every_button_has_words() -> None:
    """Short ones, that screen readers can read."""
    assert all(choice.label and len(choice.label) < 75 for choice in ALL)


def test_one_button_leads_on() -> None:
    """The eye finds it first; a menu without words above it begins with itself."""
    for message in (
        menus.after_step("ba", "Text", Depth.DEEP),
        menus.after_phase("ba", "Text", None),
    ):
        assert [choice.emphasis for choice in message.choices].count(Emphasis.PRIMARY) == 1
        assert message.choices[0].emphasis is Emphasis.PRIMARY

    assert menus.after_step("ba", "", Depth.DEEP).text.startswith("[E]")
