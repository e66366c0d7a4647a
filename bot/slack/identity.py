"""Who we are in the workspace, as `auth.test` said once, at the start."""

from dataclasses import dataclass, field

CUSTOMISE = "chat:write.customize"
UPLOAD = "files:write"


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """*scopes* are the granted ones; empty when Slack did not name any."""

    team: str
    user: str
    bot: str
    token: str = field(default="", repr=False)
    scopes: tuple[str, ...] = ()

    @property
    def can_customise(self) -> bool:
        return not self.scopes or CUSTOMISE in self.scopes
