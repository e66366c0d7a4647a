"""For whom a payload is, whose words a message holds, and to whom they are said."""

import re
from collections.abc import Iterator, Sequence
from functools import cache

from bot.domain.place import Belonging
from bot.slack.identity import Identity
from bot.slack.payload import Payload, is_id, known, word

SAID_BY_PEOPLE = frozenset({"", "thread_broadcast", "file_share", "me_message"})
"""Subtypes of messages that are words of a person (the last, of `/me`); everything else only reports something."""
SLACKBOT = "USLACKBOT"


def foreign(body: Payload, us: Identity) -> str:
    """
    The app or workspace that *body* is for when that is another one; empty when it is for us, or does not say.

    Who caused it may be of any workspace. In Slack Connect an event may name the other organisation's, so there the
    channel decides; a command names that of the person who typed it. In an Enterprise Grid the organisation is enough.
    """
    app = word(body, "api_app_id")
    if app and us.apps and app not in us.apps:
        return f"app {known(body, 'api_app_id') or '?'}"
    if "command" in body or body.get("is_ext_shared_channel") is True:
        return ""
    teams = set(filter(None, _teams(body)))
    if not teams or us.team in teams or (us.enterprise and us.enterprise in _enterprises(body)):
        return ""
    return f"workspace {', '.join(sorted(filter(is_id, teams))) or '?'}"


def _teams(body: Payload) -> Iterator[str]:
    yield from (word(body, name) for name in ("team_id", "context_team_id", "team"))
    yield word(body, "team", "id")
    yield word(body, "view", "app_installed_team_id")
    yield from (word(one, "team_id") for one in _installations(body))


def _enterprises(body: Payload) -> Iterator[str]:
    yield from (word(body, name) for name in ("enterprise_id", "context_enterprise_id", "enterprise"))
    yield word(body, "enterprise", "id")
    yield word(body, "team", "enterprise_id")
    yield from (word(one, "enterprise_id") for one in _installations(body))


def _installations(body: Payload) -> Sequence[Payload]:
    found = body.get("authorizations")
    return found if isinstance(found, list) else ()


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
