"""Slack's rate limits, as far as it documents them: so many calls of a method a minute, and posts per channel."""

from collections import deque
from collections.abc import Callable, Mapping
from math import ceil
from typing import NamedTuple

MINUTE = 60.0


class Limit(NamedTuple):
    """At most *calls* in any *seconds*."""

    calls: int
    seconds: float = MINUTE


TIER_1, TIER_2, TIER_3, TIER_4 = Limit(1), Limit(20), Limit(50), Limit(100)
POSTS = Limit(300)
POSTS_IN_A_CHANNEL = Limit(10, 5)
"""One a second, and a short burst."""

LIMITS: Mapping[str, Limit] = {
    "agents.sessions.rename": TIER_3,
    "agents.sessions.setStatus": TIER_3,
    "assistant.threads.setStatus": TIER_4,
    "assistant.threads.setSuggestedPrompts": TIER_3,
    "bots.info": TIER_3,
    "chat.postMessage": POSTS,
    "chat.delete": TIER_3,
    "chat.getPermalink": TIER_4,
    "chat.postEphemeral": TIER_4,
    "chat.update": TIER_3,
    "conversations.history": TIER_3,
    "conversations.info": TIER_3,
    "conversations.members": TIER_4,
    "conversations.open": TIER_3,
    "conversations.replies": TIER_3,
    "files.completeUploadExternal": TIER_4,
    "files.getUploadURLExternal": TIER_4,
    "reactions.add": TIER_3,
    "reactions.remove": TIER_2,
    "users.info": TIER_4,
    "views.open": TIER_4,
    "views.publish": TIER_4,
    "views.push": TIER_4,
    "views.update": TIER_4,
}
UNLIMITED = frozenset({"auth.test", "api.test", "apps.connections.open"})


class RateLimits:
    """*speed* shortens all times, for tests."""

    def __init__(self, now: Callable[[], float], *, speed: float = 1.0) -> None:
        self._now = now
        self._speed = speed
        self._calls: dict[tuple[str, str], deque[float]] = {}

    def seconds_to_wait(self, method: str, channel: str) -> float:
        """0 for a call that is let through, and counted. Slack names whole seconds, at least one."""
        if method in UNLIMITED:
            return 0.0
        counted = [(LIMITS.get(method, TIER_2), self._calls.setdefault((method, ""), deque()))]
        if method == "chat.postMessage":
            counted.append((POSTS_IN_A_CHANNEL, self._calls.setdefault((method, channel), deque())))
        now = self._now() * self._speed
        wait = max(_wait(limit, calls, now) for limit, calls in counted)
        if wait > 0:
            return max(1, ceil(wait)) / self._speed
        for _, calls in counted:
            calls.append(now)
        return 0.0


def _wait(limit: Limit, calls: deque[float], now: float) -> float:
    while calls and calls[0] <= now - limit.seconds:
        calls.popleft()
    return calls[0] + limit.seconds - now if len(calls) >= limit.calls else 0.0
