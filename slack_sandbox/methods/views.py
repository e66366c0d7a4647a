from collections.abc import Mapping

from slack_sandbox.messages import JSON
from slack_sandbox.methods.call import Call, Method
from slack_sandbox.payloads import view_shape
from slack_sandbox.rules.blocks import message_problems, view_problems
from slack_sandbox.rules.refusal import SlackRefused, missing
from slack_sandbox.rules.shapes import ShapeProblem
from slack_sandbox.rules.validation import check_view
from slack_sandbox.slack import Slack
from slack_sandbox.views import View


def opened(slack: Slack, call: Call) -> JSON:
    body = _view(call)
    return _shown(slack, slack.views.open(slack.triggers.exchange(call.need("trigger_id")), body))


def pushed(slack: Slack, call: Call) -> JSON:
    body = _view(call)
    return _shown(slack, slack.views.push(slack.triggers.exchange(call.need("trigger_id")), body))


def updated(slack: Slack, call: Call) -> JSON:
    view_id, external_id = call.text("view_id"), call.text("external_id")
    if not view_id and not external_id:
        raise missing("view_id")
    body = _view(call)
    view = slack.views.update(body, view_id=view_id, external_id=external_id, known_hash=call.text("hash"))
    return _shown(slack, view)


def published(slack: Slack, call: Call) -> JSON:
    user = call.need("user_id")
    if user not in slack.workspace.users:
        raise SlackRefused("invalid_user_id")
    return _shown(slack, slack.views.publish(user, _view(call)))


def validated(_slack: Slack, call: Call) -> JSON:
    """Slack's own judgement of blocks, of a message or of a view, without sending anything."""
    if problems := _problems(call):
        raise SlackRefused("invalid_blocks", errors=[problem.as_json() for problem in problems])
    return {}


def _problems(call: Call) -> list[ShapeProblem]:
    if (view := call.args.get("view")) is not None:
        return view_problems(view)
    blocks = call.args.get("blocks")
    if blocks is None and isinstance(message := call.args.get("message"), dict):
        blocks = message.get("blocks")
    if blocks is None:
        raise missing("blocks")
    return message_problems(blocks)


def _view(call: Call) -> JSON:
    view = call.args.get("view")
    if view is None:
        raise missing("view")
    check_view(view)
    body: JSON = view
    return body


def _shown(slack: Slack, view: View) -> JSON:
    return {"view": view_shape(slack, view)}


METHODS: Mapping[str, Method] = {
    "views.open": Method(opened),
    "views.push": Method(pushed),
    "views.update": Method(updated),
    "views.publish": Method(published),
    "blocks.validate": Method(validated),
}
