"""What people are called, and whether they belong to the workspace."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from bot.domain.place import Belonging
from bot.engine.newest import Newest
from bot.errors import SlackError
from bot.slack.calls import Calls
from bot.slack.identity import Identity
from bot.slack.packing import shortened
from bot.slack.text import one_line

REMEMBERED = 10_000
NAME_CHARS = 80


class _Known(NamedTuple):
    name: str
    belongs: Belonging = Belonging.UNKNOWN


class Names:
    def __init__(self, calls: Calls, us: Identity) -> None:
        self._calls = calls
        self._us = us
        self._known: Newest[str, _Known] = Newest(REMEMBERED)

    async def of(self, person: str) -> str:
        """The id of somebody Slack does not name; raises SlackError only when asking later may help."""
        if person not in self._known:
            self._known[person] = await self._asked(person)
        return self._known[person].name

    async def or_id(self, person: str) -> str:
        try:
            return await self.of(person)
        except SlackError:
            return person

    def belonging(self, person: str) -> Belonging:
        """As far as it is known; nobody is asked."""
        known = self._known.get(person)
        return known.belongs if known else Belonging.UNKNOWN

    async def _asked(self, person: str) -> _Known:
        try:
            answer = await self._calls(self._calls.client.users_info, user=person)
        except SlackError as error:
            if error.again:
                raise
            return _Known(person)
        if not (user := answer.get("user")):
            return _Known(person)
        profile = user.get("profile") or {}
        names = (profile.get("display_name"), profile.get("real_name"), user.get("real_name"), person)
        name = next(shown for name in names if name and (shown := one_line(name)))
        return _Known(shortened(self._us.redact(name), NAME_CHARS), belonging_of(user, self._us))


def belonging_of(user: Mapping[str, Any], us: Identity) -> Belonging:
    """
    In an Enterprise Grid people of other workspaces of the same organisation are members. Those of another one are
    not, though Slack calls them users of an enterprise, too.
    """
    if user.get("is_restricted") or user.get("is_ultra_restricted"):
        return Belonging.GUEST
    organisation = (user.get("enterprise_user") or {}).get("enterprise_id") or user.get("enterprise_id")
    ours = bool(us.enterprise) and organisation == us.enterprise
    elsewhere = user.get("team_id") not in {None, "", us.team} and not ours
    return Belonging.EXTERNAL if user.get("is_stranger") or elsewhere else Belonging.MEMBER
