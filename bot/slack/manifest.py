"""The app's manifest: the scopes, events and features that the bot uses, and no others."""

from collections.abc import Collection, Mapping
from typing import Any

from bot.domain.messages.agent_wording import PROMPTS
from bot.engine.verbs.table import VERBS
from bot.slack.client import AGENT, CUSTOMISE, UPLOAD
from bot.slack.transport import PATH

COMMAND = "/roundtable"
SHORTCUT = "roundtable_start"
SHORTCUT_NAME = "Start a roundtable"
MARK_SHORTCUT = "roundtable_mark"
MARK_SHORTCUT_NAME = "Mark this message"
START_SHORTCUT = "roundtable_start_form"
START_SHORTCUT_NAME = "Start a roundtable…"

SCOPES: Mapping[str, str] = {
    "app_mentions:read": "hear `@roundtable …` in a thread, where slash commands cannot be typed",
    "channels:history": "hear answers in threads of public channels, and look there for a post after a crash",
    "groups:history": "the same in private channels it was invited to",
    "channels:read": "know that a channel is public, so that its items can be asked for elsewhere, and who is in it,"
    " for Home; and find the triage channel by its name, which an id does without",
    "groups:read": "know that a channel is private, so that its items stay there, and who is in it, for Home; and find"
    " a private one by its name",
    "chat:write": "post",
    "chat:write.customize": "post under a persona's name and icon; without it personas sign in the text",
    "commands": "the slash command and the message shortcut",
    "files:write": "put an exported record into its thread; without it people are told where the record is kept",
    "im:write": "write to a person directly when nothing else reaches them",
    "reactions:read": "hear when people mark a message with a reaction; the shortcut does without",
    "reactions:write": "acknowledge an answer with a reaction",
    "users:read": "write people's names, not their ids, into the transcript, and remind them by their own clock",
}

OPTIONAL = frozenset({CUSTOMISE, UPLOAD, "channels:read", "groups:read", "reactions:read"})
"""The bot works without them, with less."""

REACTED = ("reaction_added", "reaction_removed")
LEFT = ("channel_archive", "channel_left", "group_archive", "group_left")
"""A channel is archived, or the bot was removed from it."""
MEMBERS = ("member_joined_channel", "member_left_channel")
RENUMBERED, PERSON = "channel_id_changed", "user_change"
BOT_EVENTS = (
    "app_home_opened", "app_mention", *LEFT, RENUMBERED, *MEMBERS, "message.channels", "message.groups", *REACTED,
    PERSON,
)  # fmt: skip

AGENT_SCOPES: Mapping[str, str] = {
    AGENT: "suggest what to say in a direct message, and show a session with a stop button",
    "im:history": "hear what people say in a direct message",
}
"""Beside the others, of an app that is declared an agent."""

STOPPED = "agent_session_stopped"
"""The event of the stop button that Slack shows for an agent at work."""
AGENT_EVENTS = (STOPPED, "app_home_opened", "message.im")


REMOVED = ("app_uninstalled", "tokens_revoked")
"""An app that is installed in several workspaces is told when one of them removes it."""
INSTALL_PATH, REDIRECT_PATH = "/slack/install", "/slack/oauth_redirect"


def manifest(
    *,
    socket_mode: bool = True,
    url: str | None = None,
    agent: bool = False,
    teams: bool = False,
    rotate: bool = False,
) -> dict[str, Any]:
    """
    *url* is the bot's public address, for HTTP and for *teams*: `https://bot.example.com`. An *agent* is listed as one,
    has Slack's stop button, and people can talk to it in a direct message. With *teams* several workspaces install it,
    or an organization; with *rotate* its tokens live for twelve hours, and Slack does not take that back.
    """
    base = (url or "").rstrip("/")
    address = "" if socket_mode else f"{base}{PATH}"
    request = {"request_url": address} if address else {}
    events = dict.fromkeys((*BOT_EVENTS, *(AGENT_EVENTS if agent else ()), *(REMOVED if teams else ())))
    scopes = {"scopes": {"bot": sorted((*SCOPES, *AGENT_SCOPES) if agent else SCOPES)}}
    redirect = {"redirect_urls": [f"{base}{REDIRECT_PATH}"]} if teams else {}
    return {
        "display_information": {
            "name": "Roundtable",
            "description": "Roundtable discussions with named personas, in a thread, kept in git.",
            "background_color": "#2f4858",
        },
        "features": {**_features(address, agent=agent), **(_AGENT if agent else {})},
        "oauth_config": {**scopes, **redirect},
        "settings": {
            "event_subscriptions": {**request, "bot_events": list(events)},
            "interactivity": {"is_enabled": True, **request},
            "org_deploy_enabled": teams,
            "socket_mode_enabled": socket_mode,
            "token_rotation_enabled": teams and rotate,
        },
    }


def _features(address: str, *, agent: bool) -> dict[str, Any]:
    command = {
        "command": COMMAND,
        **({"url": address} if address else {}),
        "description": "Start a roundtable, or ask about one",
        "usage_hint": VERBS.hint,
        "should_escape": True,
    }
    shortcut = {
        "name": SHORTCUT_NAME,
        "type": "message",
        "callback_id": SHORTCUT,
        "description": "Take this message as the title, and its thread as the place",
    }
    with_form = {
        "name": START_SHORTCUT_NAME,
        "type": "global",
        "callback_id": START_SHORTCUT,
        "description": "Fill in a form: title, people, depth, when it is due",
    }
    mark = {
        "name": MARK_SHORTCUT_NAME,
        "type": "message",
        "callback_id": MARK_SHORTCUT,
        "description": "A decision, an objection, an open question, or not for the record",
    }
    return {
        "app_home": {
            "home_tab_enabled": True,
            "messages_tab_enabled": True,
            "messages_tab_read_only_enabled": not agent,
        },
        "bot_user": {"display_name": "roundtable", "always_online": True},
        "slash_commands": [command],
        "shortcuts": [shortcut, with_form, mark],
    }


_AGENT = {
    "agent_view": {
        "agent_description": "Personas that lead a team through an analysis, in a thread of its channel.",
        "suggested_prompts": [{"title": label, "message": said} for label, said in PROMPTS],
    }
}


def missing_scopes(granted: Collection[str]) -> tuple[str, ...]:
    """The scopes that we use and do not have."""
    return tuple(scope for scope in sorted(SCOPES) if scope not in granted)
