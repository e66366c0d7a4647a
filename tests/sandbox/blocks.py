"""Parts of messages and forms, as an app writes them."""

from typing import Any

Body = dict[str, Any]


def plain(text: str) -> Body:
    return {"type": "plain_text", "text": text}


def mrkdwn(text: str) -> Body:
    return {"type": "mrkdwn", "text": text}


def section(text: str = "x", **more: Any) -> Body:
    return {"type": "section", "text": mrkdwn(text), **more}


def button(action_id: str = "go", text: str = "Go", **more: Any) -> Body:
    return {"type": "button", "text": plain(text), "action_id": action_id, **more}


def actions(*elements: Body) -> Body:
    return {"type": "actions", "elements": list(elements)}


def options(*texts: str) -> list[Body]:
    """Each with its text as its value."""
    return [{"text": plain(one), "value": one} for one in texts]


def entry(name: str, element: Body, *, label: str = "", **more: Any) -> Body:
    """A field of a form."""
    return {"type": "input", "block_id": name, "label": plain(label or name), "element": element, **more}


def modal(callback_id: str, *blocks: Body, title: str = "Start", submit: str = "Begin", **more: Any) -> Body:
    view = {"type": "modal", "callback_id": callback_id, "title": plain(title), "submit": plain(submit)}
    return {**view, "blocks": list(blocks), **more}
