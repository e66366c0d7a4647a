"""What an app wants done with a modal that was submitted: its `response_action`."""

from collections.abc import Callable, Mapping

from slack_sandbox.delivery import Delivery
from slack_sandbox.messages import JSON
from slack_sandbox.rules.refusal import SlackRefused
from slack_sandbox.rules.validation import check_view
from slack_sandbox.views import View, Views


def settle(views: Views, view: View, delivery: Delivery) -> None:
    """An app's mistake (a view Slack would not show) is the delivery's error, and the modal stays."""
    try:
        RESPONSE_ACTIONS[delivery.response.get("response_action", "")](views, view, delivery.response)
    except (SlackRefused, KeyError) as mistake:
        delivery.error = str(mistake)


def _close(views: Views, view: View, _body: JSON) -> None:
    if views.is_open(view.id):
        views.close(views.get(view.id))


def _clear(views: Views, view: View, _body: JSON) -> None:
    views.clear(view.user)


def _errors(_views: Views, view: View, body: JSON) -> None:
    """Slack shows them below inputs, and takes no others."""
    inputs = {block["block_id"] for block in view.blocks if block["type"] == "input"}
    if not body.get("errors") or not set(body["errors"]) <= inputs:
        raise SlackRefused("invalid_errors")


def _update(views: Views, view: View, body: JSON) -> None:
    check_view(body["view"])
    views.update(body["view"], view_id=view.id)


def _push(views: Views, view: View, body: JSON) -> None:
    check_view(body["view"])
    views.push(view.user, body["view"])


RESPONSE_ACTIONS: Mapping[str, Callable[[Views, View, JSON], None]] = {
    "": _close,
    "clear": _clear,
    "errors": _errors,
    "update": _update,
    "push": _push,
}
