"""Who we are in the workspace, as `auth.test` said once, at the start, and how discreet."""

from collections.abc import Callable
from dataclasses import dataclass, field

from bot.domain.redaction import unchanged

CUSTOMISE = "chat:write.customize"
UPLOAD = "files:write"
AGENT = "assistant:write"
"""Slack grants it to every app that is declared an agent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """
    *scopes* are the granted ones; empty when Slack did not name any. *redact* is done to what people write.
    *enterprise* is the organisation of the workspace, if it is in an Enterprise Grid. *apps* are the ids of our app,
    as far as they are known.
    """

    team: str
    user: str
    bot: str
    enterprise: str = ""
    apps: frozenset[str] = frozenset()
    token: str = field(default="", repr=False)
    scopes: tuple[str, ...] = ()
    redact: Callable[[str], str] = field(default=unchanged, repr=False, compare=False)

    @property
    def can_customise(self) -> bool:
        return not self.scopes or CUSTOMISE in self.scopes

    @property
    def is_agent(self) -> bool:
        return AGENT in self.scopes
