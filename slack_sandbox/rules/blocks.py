"""Block Kit's rules as tables: what each block, element and view needs, may have, and how much of it."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from slack_sandbox.rules.shapes import (
    Rule,
    ShapeProblem,
    anything,
    by_type,
    each,
    flag,
    number,
    one_of,
    shape,
    size,
    string,
)

MESSAGE_BLOCKS = 50
VIEW_BLOCKS = 100
MOST_RICH_ELEMENTS = 1_000
"""Slack publishes no limit; this is generous."""
BLOCK_TEXT = 11_000
"""Undocumented: all text of a message's blocks together. Of 11,341 characters it is known that they were refused."""
TEXT_FLAGS: Mapping[str, Mapping[str, Rule]] = {"mrkdwn": {"verbatim": flag}, "plain_text": {"emoji": flag}}


def _text(most: int, *kinds: str) -> Rule:
    """What each kind of text may say about itself, the other may not."""
    needs = {"type": one_of(*(kinds or tuple(TEXT_FLAGS))), "text": string(most)}
    rules = {kind: shape(needs=needs, may=may) for kind, may in TEXT_FLAGS.items()}
    neither = shape(needs=needs)

    def rule(value: Any, at: str) -> Iterator[ShapeProblem]:
        kind = value.get("type") if isinstance(value, dict) else None
        return rules.get(str(kind), neither)(value, at)

    return rule


def _plain(most: int) -> Rule:
    return _text(most, "plain_text")


def _kind(name: str) -> Mapping[str, Rule]:
    return {"type": one_of(name)}


def _chosen(rule: Rule) -> Rule:
    """What is chosen at first has to be one of the options, to the letter."""

    def checked(value: Any, at: str) -> Iterator[ShapeProblem]:
        yield from (problems := [*rule(value, at)])
        if problems:
            return
        groups = [group["options"] for group in value.get("option_groups") or ()]
        offered = [*(value.get("options") or ()), *(one for group in groups for one in group)]
        first = value.get("initial_options") or filter(None, [value.get("initial_option")])
        if any(one not in offered for one in first):
            yield ShapeProblem("initial option not found in options", at, "wrong_value")

    return checked


def _element(
    name: str, needs: Mapping[str, Rule] | None = None, *, any_of: tuple[str, ...] = (), **may: Rule
) -> Rule:
    common = {"action_id": string(255), "confirm": CONFIRM, "focus_on_load": flag}
    return shape(needs={**_kind(name), **(needs or {})}, may={**common, **may}, any_of=any_of)


def _block(
    name: str, needs: Mapping[str, Rule] | None = None, *, any_of: tuple[str, ...] = (), **may: Rule
) -> Rule:
    return shape(needs={**_kind(name), **(needs or {})}, may={"block_id": string(255), **may}, any_of=any_of)


def _select(name: str, *, any_of: tuple[str, ...] = (), **may: Rule) -> Rule:
    return _element(name, None, any_of=any_of, placeholder=_plain(150), **may)


def _input(name: str, **may: Rule) -> Rule:
    return _element(
        name,
        None,
        any_of=(),
        placeholder=_plain(150),
        initial_value=string(3000, least=0),
        dispatch_action_config=anything,
        **may,
    )


CONFIRM = shape(
    needs={"title": _plain(100), "text": _text(300), "confirm": _plain(30), "deny": _plain(30)},
    may={"style": one_of("primary", "danger")},
)
OPTION = shape(
    needs={"text": _text(75), "value": string(150)},
    may={"description": _text(75)},
)
OVERFLOW_OPTION = shape(
    needs={"text": _plain(75), "value": string(150)},
    may={"description": _plain(75), "url": string(3000)},
)
OPTIONS = each(OPTION, most=100)
GROUPS = each(shape(needs={"label": _plain(75), "options": OPTIONS}), most=100)

IMAGE = shape(
    needs={**_kind("image"), "alt_text": string(2000)},
    may={"image_url": string(3000), "slack_file": anything},
    any_of=("image_url", "slack_file"),
)

ELEMENTS: Mapping[str, Rule] = {
    "button": _element(
        "button",
        {"text": _plain(75)},
        value=string(2000),
        url=string(3000),
        style=one_of("primary", "danger"),
        accessibility_label=string(75),
        visible_to_user_ids=anything,
    ),
    "static_select": _chosen(
        _select(
            "static_select",
            any_of=("options", "option_groups"),
            options=OPTIONS,
            option_groups=GROUPS,
            initial_option=OPTION,
        )
    ),
    "multi_static_select": _chosen(
        _select(
            "multi_static_select",
            any_of=("options", "option_groups"),
            options=OPTIONS,
            option_groups=GROUPS,
            initial_options=OPTIONS,
            max_selected_items=number(1, 100),
        )
    ),
    "external_select": _select("external_select", min_query_length=number(0, 100), initial_option=OPTION),
    "users_select": _select("users_select", initial_user=string(255)),
    "multi_users_select": _select(
        "multi_users_select", initial_users=anything, max_selected_items=number(1, 100)
    ),
    "channels_select": _select("channels_select", initial_channel=string(255), response_url_enabled=flag),
    "conversations_select": _select(
        "conversations_select",
        initial_conversation=string(255),
        default_to_current_conversation=flag,
        response_url_enabled=flag,
        filter=anything,
    ),
    "overflow": _element("overflow", {"options": each(OVERFLOW_OPTION, most=5, least=2)}),
    "radio_buttons": _chosen(
        _element("radio_buttons", {"options": each(OPTION, most=10)}, initial_option=OPTION)
    ),
    "checkboxes": _chosen(
        _element("checkboxes", {"options": each(OPTION, most=10)}, initial_options=each(OPTION, most=10))
    ),
    "datepicker": _select("datepicker", initial_date=string(10)),
    "datetimepicker": _element("datetimepicker", initial_date_time=number(0, 2**53)),
    "timepicker": _select("timepicker", initial_time=string(5), timezone=string(100)),
    "plain_text_input": _input(
        "plain_text_input",
        multiline=flag,
        min_length=number(0, 3000),
        max_length=number(1, 3000),
    ),
    "number_input": _input("number_input", is_decimal_allowed=flag, min_value=anything, max_value=anything),
    "email_text_input": _input("email_text_input"),
    "url_text_input": _input("url_text_input"),
    "image": IMAGE,
}

RICH_STYLES = ("bold", "italic", "strike", "code", "underline")
REFERENCE_STYLES = ("bold", "italic", "strike", "highlight", "client_highlight", "unlink")


def _rich(name: str, needs: Mapping[str, Rule], *styles: str, **may: Rule) -> Rule:
    style = shape(needs={}, may=dict.fromkeys(styles or REFERENCE_STYLES, flag))
    return shape(needs={**_kind(name), **needs}, may={"style": style, **may})


RICH_TEXT = _rich("text", {"text": string(BLOCK_TEXT)}, *RICH_STYLES)
RICH_LINK = _rich("link", {"url": string(3000)}, *RICH_STYLES, text=string(BLOCK_TEXT), unsafe=flag)
IN_RICH_SECTION: Mapping[str, Rule] = {
    "text": RICH_TEXT,
    "link": RICH_LINK,
    "emoji": _rich("emoji", {"name": string(255)}, unicode=string(255), skin_tone=number(1, 6)),
    "user": _rich("user", {"user_id": string(255)}),
    "usergroup": _rich("usergroup", {"usergroup_id": string(255)}),
    "channel": _rich("channel", {"channel_id": string(255)}),
    "broadcast": _rich("broadcast", {"range": one_of("here", "channel", "everyone")}),
    "color": _rich("color", {"value": string(255)}),
    "date": _rich(
        "date", {"timestamp": number(0, 2**53), "format": string(255)}, url=string(3000), fallback=string(255)
    ),
    "team": _rich("team", {"team_id": string(255)}),
}
_rich_words = each(by_type(lambda: IN_RICH_SECTION, "element"), most=MOST_RICH_ELEMENTS, least=0)
_rich_code = each(
    by_type(lambda: {"text": RICH_TEXT, "link": RICH_LINK}, "element"), most=MOST_RICH_ELEMENTS, least=0
)
RICH_SECTION = shape(needs={**_kind("rich_text_section"), "elements": _rich_words})
IN_RICH_TEXT: Mapping[str, Rule] = {
    "rich_text_section": RICH_SECTION,
    "rich_text_list": shape(
        needs={
            **_kind("rich_text_list"),
            "style": one_of("bullet", "ordered"),
            "elements": each(RICH_SECTION, most=MOST_RICH_ELEMENTS),
        },
        may={"indent": number(0, 8), "offset": number(0, 10_000), "border": number(0, 1)},
    ),
    "rich_text_preformatted": shape(
        needs={**_kind("rich_text_preformatted"), "elements": _rich_code},
        may={"border": number(0, 1), "language": string(100)},
    ),
    "rich_text_quote": shape(
        needs={**_kind("rich_text_quote"), "elements": _rich_words}, may={"border": number(0, 1)}
    ),
}

ONLY_INPUT = frozenset({"plain_text_input", "number_input", "email_text_input", "url_text_input"})
IN_ACTIONS = {name: rule for name, rule in ELEMENTS.items() if name not in ONLY_INPUT | {"image"}}
IN_SECTION = {name: rule for name, rule in ELEMENTS.items() if name not in ONLY_INPUT}
IN_INPUT = {name: rule for name, rule in ELEMENTS.items() if name not in {"button", "overflow", "image"}}
IN_CONTEXT = {"image": IMAGE, "mrkdwn": _text(2000, "mrkdwn"), "plain_text": _plain(2000)}

FREE: Mapping[str, Rule] = dict.fromkeys(
    (
        "table",
        "video",
        "file",
        "call",
        "context_actions",
        "task_card",
        "plan",
        "card",
        "carousel",
    ),
    anything,
)
"""Blocks Slack knows and the sandbox lets through unread."""

EVERYWHERE: Mapping[str, Rule] = {
    "section": _block(
        "section",
        any_of=("text", "fields"),
        text=_text(3000),
        fields=each(_text(2000), most=10),
        accessory=by_type(lambda: IN_SECTION, "element"),
        expand=flag,
    ),
    "divider": _block("divider"),
    "header": _block("header", {"text": _plain(150)}),
    "context": _block("context", {"elements": each(by_type(lambda: IN_CONTEXT, "element"), most=10)}),
    "actions": _block("actions", {"elements": each(by_type(lambda: IN_ACTIONS, "element"), most=25)}),
    "image": _block(
        "image",
        {"alt_text": string(2000)},
        any_of=("image_url", "slack_file"),
        image_url=string(3000),
        slack_file=anything,
        title=_plain(2000),
    ),
    "input": _block(
        "input",
        {"label": _plain(2000), "element": by_type(lambda: IN_INPUT, "element")},
        hint=_plain(2000),
        optional=flag,
        dispatch_action=flag,
    ),
    "rich_text": _block(
        "rich_text",
        {"elements": each(by_type(lambda: IN_RICH_TEXT, "element"), most=MOST_RICH_ELEMENTS)},
    ),
    "markdown": _block("markdown", {"text": string(12_000)}),
    **FREE,
}
IN_MESSAGES = {**EVERYWHERE, "container": anything, "data_table": anything, "data_visualization": anything}
IN_VIEWS = {**{name: rule for name, rule in EVERYWHERE.items() if name != "markdown"}, "alert": anything}

_message_blocks = each(by_type(lambda: IN_MESSAGES, "block"), most=MESSAGE_BLOCKS, least=0)
_view_blocks = each(by_type(lambda: IN_VIEWS, "block"), most=VIEW_BLOCKS)

_VIEW_TEXTS = {
    "private_metadata": string(3000, least=0),
    "callback_id": string(255, least=0),
    "external_id": string(255, least=0),
}
_VIEW_FLAGS = dict.fromkeys(("clear_on_close", "notify_on_close", "submit_disabled"), flag)
VIEWS: Mapping[str, Rule] = {
    "modal": shape(
        needs={**_kind("modal"), "title": _plain(24), "blocks": _view_blocks},
        may={**_VIEW_TEXTS, **_VIEW_FLAGS, "submit": _plain(24), "close": _plain(24)},
    ),
    "home": shape(needs={**_kind("home"), "blocks": _view_blocks}, may=_VIEW_TEXTS),
}
_view = by_type(lambda: VIEWS, "view")


def message_problems(blocks: Any, at: str = "/blocks") -> list[ShapeProblem]:
    return [*_message_blocks(blocks, at), *_twins(blocks, at)]


def view_problems(view: Any, at: str = "/view") -> list[ShapeProblem]:
    problems = [*_view(view, at)]
    if problems:
        return problems
    if not view.get("submit") and any(block["type"] == "input" for block in view["blocks"]):
        problems = [ShapeProblem("missing required field: submit", at, "missing_field", "submit")]
    return [*problems, *_twins(view["blocks"], f"{at}/blocks")]


def block_text(blocks: Any) -> int:
    """How many characters of text there are in *blocks*, wherever they stand."""
    if isinstance(blocks, list):
        return sum(block_text(item) for item in blocks)
    if isinstance(blocks, dict):
        own = blocks.get("text")
        rest = sum(block_text(value) for value in blocks.values() if isinstance(value, dict | list))
        return rest + (size(own) if isinstance(own, str) else 0)
    return 0


def _twins(blocks: Any, at: str) -> Iterator[ShapeProblem]:
    """Names that must be unique: of the blocks in a message, of the elements in a block."""
    if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
        return
    for index, name in _repeated([block.get("block_id") for block in blocks]):
        yield ShapeProblem(f"block_id {name!r} already exists", f"{at}/{index}/block_id", "duplicate", name)
    for nth, block in enumerate(blocks):
        elements = block.get("elements")
        listed: list[Any] = elements if isinstance(elements, list) else []
        for index, name in _repeated([e.get("action_id") for e in listed if isinstance(e, dict)]):
            pointer = f"{at}/{nth}/elements/{index}/action_id"
            yield ShapeProblem(f"action_id {name!r} already exists", pointer, "duplicate", name)


def _repeated(names: list[Any]) -> Iterator[tuple[int, str]]:
    seen: Counter[str] = Counter()
    for index, name in enumerate(names):
        if isinstance(name, str):
            seen[name] += 1
            if seen[name] > 1:
                yield index, name
