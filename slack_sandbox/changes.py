"""What can change in a workspace, as every watcher is told."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from slack_sandbox.messages import JSON, SandboxMessage


class ChangeKind(StrEnum):
    POSTED = "posted"
    EDITED = "edited"
    DELETED = "deleted"
    EPHEMERAL = "ephemeral"
    """Posted, edited or taken away, but only one person sees it, and no event tells the app."""
    REACTED = "reacted"
    UNREACTED = "unreacted"
    JOINED = "joined"
    LEFT = "left"
    CHANNEL = "channel"
    """Made, archived or renamed."""
    STATUS = "status"
    """What an app says it is doing in a thread."""
    RENUMBERED = "renumbered"
    """The channel has another id."""
    PERSON = "person"
    """Has another name, or became a guest."""
    VIEW = "view"
    HOME = "home"


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxChange:
    kind: ChangeKind
    channel: str = ""
    user: str = ""
    message: SandboxMessage | None = None
    before: SandboxMessage | None = None
    detail: JSON = field(default_factory=dict)


Watcher = Callable[[SandboxChange], None]
