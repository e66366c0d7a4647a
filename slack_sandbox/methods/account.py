"""Who is asking, and who is here: tokens, team, users, bots."""

from collections.abc import Mapping

from slack_sandbox.messages import JSON
from slack_sandbox.methods.call import Call, Method
from slack_sandbox.methods.paging import MOST, page
from slack_sandbox.rules.refusal import SlackRefused
from slack_sandbox.slack import Slack


def api_test(_slack: Slack, call: Call) -> JSON:
    if error := call.text("error"):
        raise SlackRefused(error, args=dict(call.args))
    return {"args": dict(call.args)}


def auth_test(slack: Slack, _call: Call) -> JSON:
    return {
        "url": f"{slack.base_url}/",
        "team": slack.workspace.team_name,
        "team_id": slack.workspace.team_id,
        "user": slack.app.name,
        "user_id": slack.app.bot_user_id,
        "bot_id": slack.app.bot_id,
        "is_enterprise_install": False,
    }


def bots_info(slack: Slack, call: Call) -> JSON:
    if call.text("bot", slack.app.bot_id) != slack.app.bot_id:
        raise SlackRefused("bot_not_found")
    bot = {
        "id": slack.app.bot_id,
        "app_id": slack.app.id,
        "user_id": slack.app.bot_user_id,
        "name": slack.app.name,
        "deleted": False,
    }
    return {"bot": bot}


def team_info(slack: Slack, _call: Call) -> JSON:
    name = slack.workspace.team_name
    return {"team": {"id": slack.workspace.team_id, "name": name, "domain": name.lower(), "icon": {}}}


def users_info(slack: Slack, call: Call) -> JSON:
    user = slack.workspace.users.get(call.need("user"))
    if user is None:
        raise SlackRefused("user_not_found")
    return {"user": user.as_json(slack.workspace.team_id)}


def users_list(slack: Slack, call: Call) -> JSON:
    members = [user.as_json(slack.workspace.team_id) for user in slack.workspace.users.values()]
    return page(call, "members", members, usual=MOST)


def connections_open(slack: Slack, _call: Call) -> JSON:
    address = slack.base_url.replace("http", "ws", 1)
    return {"url": f"{address}/link?ticket={slack.ticket()}&app_id={slack.app.id}"}


METHODS: Mapping[str, Method] = {
    "api.test": Method(api_test, public=True),
    "apps.connections.open": Method(connections_open, app_level=True),
    "auth.test": Method(auth_test),
    "bots.info": Method(bots_info, ("users:read",), by_form=True),
    "team.info": Method(team_info, ("team:read",)),
    "users.info": Method(users_info, ("users:read",), by_form=True),
    "users.list": Method(users_list, ("users:read",), by_form=True),
}
