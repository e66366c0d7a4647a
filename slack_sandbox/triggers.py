import secrets
from dataclasses import dataclass

from slack_sandbox.clock import Clock
from slack_sandbox.rules.refusal import SlackRefused


@dataclass(frozen=True, slots=True)
class Trigger:
    user: str
    issued: float
    used: bool = False


class Triggers:
    """A trigger_id opens one view, for the person who caused it, within seconds."""

    def __init__(self, clock: Clock, *, seconds: float) -> None:
        self._clock = clock
        self._seconds = seconds
        self._issued: dict[str, Trigger] = {}

    def issue(self, user: str) -> str:
        trigger_id = f"{len(self._issued) + 1}.{secrets.token_hex(8)}"
        self._issued[trigger_id] = Trigger(user, self._clock.now())
        return trigger_id

    def exchange(self, trigger_id: str) -> str:
        """Who caused it."""
        trigger = self._issued.get(trigger_id)
        if trigger is None:
            raise SlackRefused("invalid_trigger_id")
        if trigger.used:
            raise SlackRefused("exchanged_trigger_id")
        if self._clock.now() - trigger.issued > self._seconds:
            raise SlackRefused("expired_trigger_id")
        self._issued[trigger_id] = Trigger(trigger.user, trigger.issued, used=True)
        return trigger.user
