"""What an element of a block becomes once a person touched it: one table for clicks, one for filled-in views."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from slack_sandbox.messages import JSON, interactive
from slack_sandbox.rules.shapes import size

Touch = Callable[[JSON, Any], JSON]


def touched(element: JSON, value: Any) -> JSON:
    """The part of an action or of a view's state that carries the choice *value*."""
    return TOUCHES[element["type"]](element, value)


def filled(blocks: list[JSON], values: Mapping[str, Any]) -> JSON:
    """A view's `state.values`: what was entered, by action_id, else what the app proposed."""
    state: JSON = {}
    for element in interactive(blocks):
        if element["type"] != "button":
            entered = values.get(element["action_id"], _proposed(element))
            state.setdefault(element["block_id"], {})[element["action_id"]] = {
                "type": element["type"],
                **touched(element, entered),
            }
    return state


def unfit(blocks: list[JSON], state: JSON) -> dict[str, str]:
    """What Slack itself does not let pass, by block: the app is not even asked."""
    found: dict[str, str] = {}
    for block in blocks:
        if block["type"] == "input":
            element = block["element"]
            (entered,) = [
                value
                for name, value in state[block["block_id"]][element["action_id"]].items()
                if name != "type"
            ]
            if entered:
                problem = _does_not_fit(element, entered)
            else:
                problem = "" if block.get("optional") else "Please fill this in."
            if problem:
                found[block["block_id"]] = problem
    return found


def _does_not_fit(element: JSON, entered: Any) -> str:
    match element["type"]:
        case "plain_text_input":
            least, most = element.get("min_length", 0), element.get("max_length", 3000)
            return "" if least <= size(entered) <= most else f"Between {least} and {most} characters."
        case "number_input":
            return _no_number(element, entered)
        case "multi_static_select":
            most = element.get("max_selected_items", 100)
            return "" if len(entered) <= most else f"No more than {most}."
        case _:
            return ""


def _no_number(element: JSON, entered: str) -> str:
    pattern = r"-?[0-9]+(\.[0-9]+)?" if element.get("is_decimal_allowed") else r"-?[0-9]+"
    if not re.fullmatch(pattern, entered):
        return "A number, please."
    least, most = (float(element.get(name, entered)) for name in ("min_value", "max_value"))
    return "" if least <= float(entered) <= most else "That number is too small or too large."


def _button(element: JSON, _value: Any) -> JSON:
    carried = {"text": element["text"]} | ({"value": element["value"]} if "value" in element else {})
    return carried | ({"style": element["style"]} if "style" in element else {})


def _text(_element: JSON, value: Any) -> JSON:
    return {"value": value or None}


def _option(element: JSON, value: Any) -> JSON:
    return {"selected_option": _find(element, value) if value is not None else None}


def _options(element: JSON, value: Any) -> JSON:
    return {"selected_options": [_find(element, one) for one in value or ()]}


def _named(name: str) -> Touch:
    return lambda _element, value: {name: value}


TOUCHES: Mapping[str, Touch] = {
    "button": _button,
    "static_select": _option,
    "overflow": _option,
    "radio_buttons": _option,
    "external_select": _option,
    "multi_static_select": _options,
    "checkboxes": _options,
    "users_select": _named("selected_user"),
    "channels_select": _named("selected_channel"),
    "conversations_select": _named("selected_conversation"),
    "multi_users_select": _named("selected_users"),
    "multi_channels_select": _named("selected_channels"),
    "multi_conversations_select": _named("selected_conversations"),
    "datepicker": _named("selected_date"),
    "timepicker": _named("selected_time"),
    "datetimepicker": _named("selected_date_time"),
    "plain_text_input": _text,
    "number_input": _text,
    "email_text_input": _text,
    "url_text_input": _text,
}


def options(element: JSON) -> Iterator[JSON]:
    yield from element.get("options", ())
    for group in element.get("option_groups", ()):
        yield from group["options"]


def _find(element: JSON, value: Any) -> JSON:
    for option in options(element):
        if option["value"] == value:
            return option
    offered = [option["value"] for option in options(element)]
    raise LookupError(f"{element['action_id']!r} has no option {value!r}, only {offered}")


def _proposed(element: JSON) -> Any:
    if "initial_option" in element:
        return element["initial_option"]["value"]
    if "initial_options" in element:
        return [option["value"] for option in element["initial_options"]]
    return next((value for name, value in element.items() if name.startswith("initial_")), None)
