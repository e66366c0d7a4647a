"""The sessions of an agent: whether people wait for it in a thread. Only an app that is declared one has any."""

from collections.abc import Mapping

from slack_sandbox.messages import JSON
from slack_sandbox.methods.call import Call, Method
from slack_sandbox.residents import PROCESSING
from slack_sandbox.rules.refusal import SlackRefused
from slack_sandbox.slack import STOPPED, Slack

AGENT = "assistant:write"
"""Granted with the declaration."""
MOST_PROMPTS = 4
STATES = frozenset({"active", PROCESSING, "suspended", "closed"})
TITLE_CHARS = 200


def set_status(slack: Slack, call: Call) -> JSON:
    """
    Lasts until the app sets another; posts do not end it. Without the event people cannot stop it. The first call makes
    the session, and only that one takes its title.
    """
    slack.need(AGENT)
    channel, thread_ts, status = (
        slack.writable(call.need("channel_id")),
        call.need("thread_ts"),
        call.need("status"),
    )
    if status not in STATES:
        raise SlackRefused(
            "invalid_arguments", messages=["[ERROR] must be a valid enum value [json-pointer:/status]"]
        )
    if thread_ts not in channel.messages:
        raise SlackRefused("thread_not_found")
    if thread_ts not in channel.sessions and "title" in call.args:
        channel.titles[thread_ts] = _title(call)
    slack.workspace.show_session(channel, thread_ts, status)
    unheard = status == PROCESSING and STOPPED not in slack.app.events
    warning = {"warning": "missing_agent_session_stopped_event_subscription"} if unheard else {}
    return {"status": status, **warning}


def rename(slack: Slack, call: Call) -> JSON:
    """Of a session that there is."""
    slack.need(AGENT)
    channel, thread_ts, title = slack.writable(call.need("channel_id")), call.need("thread_ts"), _title(call)
    if thread_ts not in channel.sessions:
        raise SlackRefused("session_not_found")
    channel.titles[thread_ts] = title
    slack.workspace.show_session(channel, thread_ts, channel.sessions[thread_ts])
    return {"title": title}


def _title(call: Call) -> str:
    title = call.need("title")
    if not 0 < len(title) <= TITLE_CHARS:
        raise SlackRefused("invalid_arguments")
    return title


def set_suggested_prompts(slack: Slack, call: Call) -> JSON:
    """At most four, in the direct message of a person with the app."""
    slack.need(AGENT)
    channel = slack.writable(call.need("channel_id"))
    prompts = call.args.get("prompts")
    if channel.kind != "im" or not isinstance(prompts, list) or not 0 < len(prompts) <= MOST_PROMPTS:
        raise SlackRefused("invalid_arguments")
    if not all(isinstance(one, dict) and one.get("title") and one.get("message") for one in prompts):
        raise SlackRefused("invalid_arguments")
    channel.prompts = tuple((one["title"], one["message"]) for one in prompts)
    return {}


METHODS: Mapping[str, Method] = {
    "agents.sessions.rename": Method(rename, ("chat:write",)),
    "agents.sessions.setStatus": Method(set_status, ("chat:write",)),
    "assistant.threads.setSuggestedPrompts": Method(set_suggested_prompts, (AGENT,)),
}
