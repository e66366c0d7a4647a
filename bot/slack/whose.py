"""Whose words a message holds, and to whom they are said."""

import re
from functools import cache

from bot.domain.place import Belonging
from bot.slack.identity import Identity
from bot.slack.payload import Payload, known, word

SAID_BY_PEOPLE = frozenset({"", "thread_broadcast", "file_share", "me_message"})
"""Subtypes of messages that are words of a person (the last, of `/me`); everything else only reports something."""
SLACKBOT = "USLACKBOT"


def in_thread(event: Payload) -> bool:
    return known(event, "thread_ts") not in {"", word(event, "ts")}


def in_any_thread(message: Payload) -> bool:
    """Also as its root, under which somebody has replied."""
    return bool(known(message, "thread_ts"))


def by_person(message: Payload, us: Identity) -> bool:
    if message.get("bot_id") or word(message, "subtype") not in SAID_BY_PEOPLE:
        return False
    return known(message, "user") not in {"", us.user, SLACKBOT}


def addresses(message: Payload, us: Identity) -> bool:
    return mention_of(us).match(word(message, "text")) is not None


def mention_of(us: Identity) -> re.Pattern[str]:
    return _mention(us.user)


@cache
def _mention(user: str) -> re.Pattern[str]:
    return re.compile(rf"\s*<@{re.escape(user)}(?:\|[^<>]*)?>[\s:,]*")


def belonging(body: Payload, us: Identity, team: str) -> Belonging:
    """Of somebody whose workspace is *team*: where that is another one, of another organisation, it is plain to see."""
    organisation = us.enterprise or body.get("enterprise") or body.get("enterprise_id")
    return Belonging.EXTERNAL if team and team != us.team and not organisation else Belonging.UNKNOWN
