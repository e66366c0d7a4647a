"""What every module here shares: the workspace, the one app that is installed in it, and what that app may do."""

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from slack_sandbox.delivery import Timing
from slack_sandbox.messages import JSON
from slack_sandbox.residents import Channel
from slack_sandbox.rules.refusal import SlackRefused
from slack_sandbox.triggers import Triggers
from slack_sandbox.views import Views
from slack_sandbox.workspace import SlackWorkspace

SCOPES = frozenset({
    "app_mentions:read",
    "assistant:write",
    "channels:history",
    "channels:join",
    "channels:read",
    "chat:write",
    "chat:write.customize",
    "commands",
    "files:read",
    "files:write",
    "groups:history",
    "groups:read",
    "im:history",
    "im:read",
    "im:write",
    "metadata.message:read",
    "reactions:read",
    "reactions:write",
    "team:read",
    "users:read",
})  # fmt: skip

STOPPED = "agent_session_stopped"

EVENTS = frozenset({
    STOPPED,
    "app_home_opened",
    "app_mention",
    "app_uninstalled",
    "channel_id_changed",
    "member_joined_channel",
    "member_left_channel",
    "message.channels",
    "message.groups",
    "message.im",
    "reaction_added",
    "reaction_removed",
    "tokens_revoked",
    "user_change",
})  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class App:
    """
    The app under test. *shortcuts* are its message shortcuts: callback_id to the name in the menu. *example* is a
    command that the page proposes in an empty channel, and *connect* one to copy, which connects a coding agent.
    """

    id: str = "A0SANDBOX"
    name: str = "roundtable"
    bot_id: str = "B0SANDBOX"
    bot_user_id: str = "U0ROUNDTABLE"
    bot_token: str = "xoxb-sandbox"
    app_token: str = "xapp-sandbox"
    signing_secret: str = "sandbox-signing-secret"
    shortcuts: Mapping[str, str] = field(default_factory=dict)
    events: frozenset[str] = EVENTS
    example: str = ""
    connect: str = ""


@dataclass(slots=True)
class UploadedFile:
    id: str
    name: str
    length: int
    content: bytes = b""
    completed: bool = False


class Slack:
    def __init__(self, workspace: SlackWorkspace, app: App, *, timing: Timing) -> None:
        self.workspace = workspace
        self.app = app
        self.scopes: set[str] = set(SCOPES)
        self.triggers = Triggers(workspace.clock, seconds=timing.trigger_seconds)
        self.views = Views(workspace)
        self.files: dict[str, UploadedFile] = {}
        self.token_error = ""
        """What every call with the bot token is told, once the token was revoked."""
        self.base_url = ""
        self.ticket: Callable[[], str] = str
        """Where `apps.connections.open` gets a ticket for one websocket."""
        self._file_numbers = itertools.count(1)

    def channel(self, channel_id: str) -> Channel:
        """As the app sees it: a private channel it is not in does not exist."""
        channel = self.workspace.channels.get(channel_id)
        if channel is None or (channel.kind != "channel" and self.app.bot_user_id not in channel.members):
            raise SlackRefused("channel_not_found")
        return channel

    def writable(self, channel_id: str) -> Channel:
        """A channel the app may post in. A person's id means the conversation with that person."""
        if channel_id in self.workspace.users:
            return self.workspace.direct(self.app.bot_user_id, channel_id)
        channel = self.channel(channel_id)
        if channel.archived:
            raise SlackRefused("is_archived")
        if self.app.bot_user_id not in channel.members:
            raise SlackRefused("not_in_channel")
        return channel

    def need(self, *scopes: str) -> None:
        """Any one of *scopes* is enough."""
        if not self.scopes.intersection(scopes):
            provided = ",".join(sorted(self.scopes))
            raise SlackRefused("missing_scope", needed=scopes[0], provided=provided)

    def new_file(self, name: str, *, length: int) -> UploadedFile:
        file = UploadedFile(f"F0SANDBOX{next(self._file_numbers):03d}", name, length)
        self.files[file.id] = file
        return file

    def identity(self) -> JSON:
        return {"user": self.app.bot_user_id, "bot_id": self.app.bot_id, "app_id": self.app.id}
