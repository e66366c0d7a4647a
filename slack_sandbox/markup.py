"""What a person types, and what Slack makes of it before others read it."""

import re

from slack_sandbox.workspace import SlackWorkspace

WORD = re.compile(r"(?<![\w/])([@#])([\w.-]*\w)")
LINK = re.compile(r"https?://[^\s|]+[^\s|.,;:!?)\"']")
EVERYBODY = frozenset({"here", "channel", "everyone"})


def escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def typed(workspace: SlackWorkspace, text: str) -> str:
    """
    `@ada` and `#general` become references, addresses become links, and the rest is escaped.

    References that are already written as Slack writes them (`<@U…>`) stay what they are: the page
    and tests may use either.
    """
    pieces = re.split(r"(<[@#!][^<>\s]+>)", text)
    return "".join(piece if index % 2 else _plain(workspace, piece) for index, piece in enumerate(pieces))


def _plain(workspace: SlackWorkspace, text: str) -> str:
    linked = LINK.sub(lambda found: f"<{found[0]}>", escape(text))
    return WORD.sub(lambda found: _reference(workspace, found[1], found[2]) or found[0], linked)


def _reference(workspace: SlackWorkspace, sign: str, name: str) -> str:
    if sign == "#":
        channels = (c for c in workspace.channels.values() if c.name == name)
        return next((f"<#{channel.id}|{channel.name}>" for channel in channels), "")
    if name in EVERYBODY:
        return f"<!{name}>"
    users = (u for u in workspace.users.values() if u.name.lower() == name.lower())
    return next((f"<@{user.id}>" for user in users), "")
