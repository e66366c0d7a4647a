"""What a button carries to Slack and back: which action it is, the menu it belongs to, a value of its own."""

from collections.abc import Mapping
from typing import NamedTuple

from bot.domain.message import Action, Choice
from bot.slack.limits import VALUE_CHARS

TYPED: Mapping[Action, str] = {Action.CATCH_UP: "catchup", Action.EXPORT: "export"}
"""What could be typed in place of a press."""

PREFIX = "roundtable."
"""All action ids of ours begin with this, also those of older and newer versions."""


class Carried(NamedTuple):
    token: str
    value: str


def action_id(action: Action, nth: int = 1) -> str:
    """Ids are unique within a block: the second choice with the same action says so."""
    return f"{PREFIX}{action.value}" if nth == 1 else f"{PREFIX}{action.value}.{nth}"


def action_of(action_id: str) -> Action | None:
    """None for a button of somebody else, or of another version."""
    name = action_id.removeprefix(PREFIX).partition(".")[0]
    if not action_id.startswith(PREFIX) or name not in set(Action):
        return None
    return Action(name)


def value_of(choice: Choice, token: str) -> str:
    """Tokens contain no `/`."""
    value = f"{token}/{choice.value}"
    assert len(value) <= VALUE_CHARS, "a choice carries a reference, not a text"
    return value


def carried(value: str) -> Carried:
    token, _, own = value.partition("/")
    return Carried(token, own)
