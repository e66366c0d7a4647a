"""
How often Slack lets an app call its methods: https://docs.slack.dev/apis/web-api/rate-limits

Slack counts by the minute. A budget that begins full and then fills steadily may spend both in one minute, so what it
fills with is what Slack allows less the burst.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple


class Rate(NamedTuple):
    per_second: float
    burst: int


class Budget(NamedTuple):
    name: str
    rate: Rate


def _a_minute(calls: int, *, burst: int) -> Rate:
    return Rate((calls - burst) / 60, burst)


TIER_2 = _a_minute(20, burst=5)
TIER_3 = _a_minute(50, burst=10)
TIER_4 = _a_minute(100, burst=20)

POSTS = _a_minute(300, burst=20)
"""In all channels of a workspace. Slack says "several hundred"."""
POSTS_IN_A_CHANNEL = Rate(1, 5)
"""Slack lets a short burst pass: a few messages belong together, and people should not wait between them."""

POSTING = "chat_postMessage"
SEEN = frozenset({POSTING, "files_completeUploadExternal"})
"""What people would see twice."""

RATES: Mapping[str, Rate] = {
    POSTING: POSTS,
    "agents_sessions_setStatus": TIER_3,
    "assistant_threads_setStatus": TIER_4,
    "bots_info": TIER_3,
    "chat_delete": TIER_3,
    "chat_getPermalink": TIER_4,
    "chat_postEphemeral": TIER_4,
    "chat_update": TIER_3,
    "conversations_history": TIER_3,
    "conversations_info": TIER_3,
    "conversations_open": TIER_3,
    "conversations_replies": TIER_3,
    "files_completeUploadExternal": TIER_4,
    "files_getUploadURLExternal": TIER_4,
    "reactions_add": TIER_3,
    "reactions_remove": TIER_2,
    "users_info": TIER_4,
    "views_open": TIER_4,
    "views_publish": TIER_4,
    "views_push": TIER_4,
    "views_update": TIER_4,
}
"""By the name that the method has in the SDK. What is not named here is called as rarely as if it were tier 2."""


def budgets(method: str, *, team: str, channel: str = "") -> Iterator[Budget]:
    """What a call of *method* uses up, the narrowest first: whoever waits there needs no other yet."""
    name = method.replace("_", ".")
    if method == POSTING:
        yield Budget(f"{name}:{team}.{channel}", POSTS_IN_A_CHANNEL)
    yield Budget(f"{name}:{team}", RATES.get(method, TIER_2))
