"""A whole thread, read once by a command: what people said in it, and what our posts say was committed."""

import asyncio
from collections.abc import Mapping
from typing import Any, NamedTuple

from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.roundtable.outcomes import Heard
from bot.domain.transcript.witness import Witness
from bot.domain.values.places import Place
from bot.errors import SlackError
from bot.slack.calls import Calls, Unpaced, following
from bot.slack.client import Identity
from bot.slack.parse import heard
from bot.slack.post_lookup import witness_of

A_PAGE = 200
PAGES = 200
ATTEMPTS = 6
WAIT_SECONDS = 2.0
"""Between two attempts, when Slack does not say how long."""


class Testimony(NamedTuple):
    """
    *said* by people, the oldest first, *stamps* of every message that is there, *posts* of ours that say what was
    committed, by their stamps. *until* is the last stamp that was read, empty when there is nothing after it.
    """

    said: tuple[Heard, ...]
    stamps: frozenset[str]
    posts: tuple[tuple[str, Witness], ...]
    until: str = ""


async def testimony(client: AsyncWebClient, us: Identity, place: Place) -> Testimony:
    """Raises SlackError, also when Slack asks us to wait again and again."""
    calls = Calls(client, Unpaced(), team=us.team)
    messages: dict[str, Mapping[str, Any]] = {}
    cursor = ""
    for _ in range(PAGES):
        answer = await _page(calls, place, cursor)
        messages |= {str(message.get("ts")): message for message in answer["messages"]}
        cursor = following(answer)
        if not cursor:
            break
    said = (heard(message, us) for message in messages.values())
    ours = ((ts, witness_of(one)) for ts, one in messages.items() if one.get("bot_id") == us.bot)
    return Testimony(
        said=tuple(sorted((one for one in said if one), key=lambda one: one.ts)),
        stamps=frozenset(messages),
        posts=tuple(sorted(((ts, one) for ts, one in ours if one), key=lambda one: one[0])),
        until=max(messages, default="") if cursor else "",
    )


async def _page(calls: Calls, place: Place, cursor: str) -> Any:
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return await calls(
                calls.client.conversations_replies,
                channel=place.channel,
                ts=place.thread,
                cursor=cursor or None,
                limit=A_PAGE,
                include_all_metadata=True,
            )
        except SlackError as error:
            if not error.again or attempt == ATTEMPTS:
                raise
            await asyncio.sleep(error.after_seconds or WAIT_SECONDS)
    raise AssertionError("the last attempt returns")
