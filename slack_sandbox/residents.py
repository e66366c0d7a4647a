"""Who and what a workspace has: people and channels, as kept and as Slack shows them."""

from dataclasses import dataclass, field

from slack_sandbox.messages import JSON, SandboxMessage

PROCESSING = "processing"
"""An agent's session in which people wait, and may stop it."""


@dataclass(frozen=True, slots=True)
class User:
    id: str
    name: str
    real_name: str
    is_bot: bool = False
    is_guest: bool = False
    is_deleted: bool = False
    """Deactivated: what a person who left the workspace is."""
    team_id: str = ""
    """Of a person from another workspace, in a channel that both workspaces share."""
    tz: str = "Etc/UTC"
    tz_offset: int = 0

    def as_json(self, team_id: str) -> JSON:
        team_id = self.team_id or team_id
        profile = {"real_name": self.real_name, "display_name": self.real_name, "team": team_id}
        return {
            "id": self.id,
            "team_id": team_id,
            "is_restricted": self.is_guest,
            "is_ultra_restricted": False,
            "is_stranger": bool(self.team_id),
            "name": self.name,
            "real_name": self.real_name,
            "deleted": self.is_deleted,
            "is_bot": self.is_bot,
            "is_app_user": False,
            "tz": self.tz,
            "tz_offset": self.tz_offset,
            "profile": profile,
        }


@dataclass(slots=True)
class Channel:
    id: str
    name: str
    kind: str = "channel"
    """As in events: `channel`, `group` (private), `im` or `mpim`."""
    members: set[str] = field(default_factory=set)
    archived: bool = False
    created: int = 0
    messages: dict[str, SandboxMessage] = field(default_factory=dict)
    replies: dict[str, list[str]] = field(default_factory=dict)
    status: dict[str, JSON] = field(default_factory=dict)
    """What an app says it is doing, by thread."""
    sessions: dict[str, str] = field(default_factory=dict)
    """What an agent says about its session, by thread."""
    titles: dict[str, str] = field(default_factory=dict)
    """Of these sessions."""
    prompts: tuple[tuple[str, str], ...] = ()
    """What an agent suggests: a label, and what it says for the person."""

    def at_work(self, thread_ts: str) -> JSON:
        """What people see under the thread."""
        if self.sessions.get(thread_ts) == PROCESSING:
            return {"status": "is working…", "stoppable": True}
        return {"status": "", **self.status.get(thread_ts, {})}

    def as_json(self, *, seen_by: str) -> JSON:
        return {
            "id": self.id,
            "name": self.name,
            "name_normalized": self.name,
            "created": self.created,
            "is_channel": self.kind == "channel",
            "is_group": self.kind == "group",
            "is_im": self.kind == "im",
            "is_mpim": self.kind == "mpim",
            "is_private": self.kind != "channel",
            "is_archived": self.archived,
            "is_general": False,
            "is_member": seen_by in self.members,
            "num_members": len(self.members),
        }
