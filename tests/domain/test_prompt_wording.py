"""The blocks of the question at the bottom."""

from typing import Any

from bot.domain.messages.message import Action, Message
from bot.slack.render import parts
from tests.domain.test_prompts import DECISION, asked, choose, table


def actions(message: Message) -> list[dict[str, Any]]:
    (shown,) = parts(message)
    return [one for block in shown.blocks if block["type"] == "actions" for one in block["elements"]]


def test_what_a_decision_may_change_is_one_list_in_groups() -> None:
    choice, none = actions(asked(table().say(DECISION)))

    assert choice["type"] == "multi_static_select"
    (group,) = choice["option_groups"]
    assert group["label"]["text"] == "Requirements"
    assert [(one["text"]["text"], one["value"]) for one in group["options"]] == [
        ("FR-001 Changes merge per field", "item/DEC-001/FR-001"),
        ("FR-002 Never billed twice", "item/DEC-001/FR-002"),
        ("AC-001-01 the engineer is asked", "item/DEC-001/AC-001-01"),
    ]
    assert none["action_id"] == f"roundtable.{Action.CHANGES_NONE}"


def test_what_is_contradicted_has_three_answers() -> None:
    labels = [one["text"]["text"] for one in actions(asked(choose(table().say(DECISION), "FR-001")))]

    assert labels == ["Write it anew…", "It still holds", "Withdraw it"]
