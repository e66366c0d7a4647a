"""
Every error this bot raises on purpose.

    BotError
      UserError            a person asked for something we cannot do; the text is shown to them as it is
        NotNow             the roundtable is not at a point where that makes sense
          Overtaken        another person changed the same fields since the person looked at them
      Conflict             another process saved first: reload and decide again
      Unavailable          the store did not answer in time: nothing was saved, nothing is acknowledged
        LeftAlone          a process of another kind has it, and this one neither changes it nor acts on it
          NewerVersion     a newer version of this program saved it, so it cannot be read here
          NotOwner         another process has taken the team
      EffectError          the outside world said no to an effect
        SlackError, VoiceError, WorkspaceError
      ConfigError          a setting is wrong; we refuse to start
      ContentError         a persona or step folder cannot be used at all; we refuse to start
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any


def lacks_extra(name: str) -> str:
    return f"this installation lacks the extra `{name}` (docs/operating.md#extras)"


class BotError(Exception):
    pass


class UserError(BotError):
    pass


class NotNow(UserError):
    pass


class Overtaken(NotNow):
    """*fields* are those that another person changed: `FR-003.priority`."""

    def __init__(self, sentence: str, *, fields: tuple[str, ...]) -> None:
        super().__init__(sentence)
        self.fields = fields


class Conflict(BotError):
    pass


class Unavailable(BotError):
    pass


class LeftAlone(Unavailable):
    pass


class NewerVersion(LeftAlone):
    pass


class NotOwner(LeftAlone):
    pass


class EffectError(BotError):
    """
    *reason* is a short machine word (`not_in_channel`, `disk_full`).

    *again* says whether the same call may succeed later, *after_seconds* when the other side named a time. *facts* say
    what a model took all the same.
    """

    def __init__(
        self,
        sentence: str,
        *,
        reason: str = "",
        again: bool = False,
        after_seconds: float = 0,
        facts: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        super().__init__(sentence)
        self.reason = reason
        self.again = again
        self.after_seconds = after_seconds
        self.facts = facts


class SlackError(EffectError):
    pass


class Postponed(EffectError):
    """A limit leaves no room for a call that people do not wait for, or a tracker is away; ask in `after_seconds`."""


class VoiceError(EffectError):
    pass


class WorkspaceError(EffectError):
    pass


class ConfigError(BotError):
    pass


class ContentError(BotError):
    pass
