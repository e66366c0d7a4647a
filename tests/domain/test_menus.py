"""The menus: for each, what it offers; the buttons are labelled, so that nobody needs a symbol to know what they do."""

from importlib import import_module
from pkgutil import iter_modules

from bot.domain import messages
from bot.domain.actions.table import ACTIONS
from bot.domain.catalog.steps import Depth
from bot.domain.messages import agent_question_wording, discussion_card, menus
from bot.domain.messages.message import Choice, Emphasis

MODULES = (import_module(f"{messages.__name__}.{one.name}") for one in iter_modules(messages.__path__))
ALL = (
    *(one for module in MODULES for one in vars(module).values() if isinstance(one, Choice)),
    *menus.DEPTHS.values(),
    *discussion_card.pressable("OBJ-001"),
)


def test_every_action_has_a_button() -> None:
    """And no button is without an action."""
    assert {choice.action for choice in ALL} == set(ACTIONS)


def test_every_button_has_words() -> None:
    """Short ones, that screen readers can read; an option of an agent has the words of the agent."""
    labelled = [one for one in ALL if one != agent_question_wording.OPTION]
    assert all(choice.label and len(choice.label) < 75 for choice in labelled)


def test_one_button_leads_on() -> None:
    """The eye finds it first; a menu without words above it begins with itself."""
    for message in (
        menus.after_step("ba", "Text", Depth.DEEP),
        menus.after_phase("ba", "Text", None),
    ):
        assert [choice.emphasis for choice in message.choices].count(Emphasis.PRIMARY) == 1
        assert message.choices[0].emphasis is Emphasis.PRIMARY

    assert menus.after_step("ba", "", Depth.DEEP).text.startswith("[E]")
