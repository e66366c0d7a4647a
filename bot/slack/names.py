"""What people are called, and whether they belong to the workspace."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from bot.domain.place import Belonging
from bot.engine.newest import Newest
from bot.errors import SlackError
from bot.slack.calls import Calls
from bot.slack.packing import shortened
from bot.slack.text import one_line

REMEMBERED = 10_000
NAME_CHARS = 80


class _Known(NamedTuple):
    name: str
    belongs: Belonging = Belonging.UNKNOWN


class Names:
    def __init__(self, calls: Calls, *, team: str) -> None:
        self._calls = calls
        self._team = team
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
        user = answer["user"]
        profile = user.get("profile", {})
        names = (profile.get("display_name"), profile.get("real_name"), user.get("real_name"), person)
        name = next(shortened(one_line(name), NAME_CHARS) for name in names if name and one_line(name))
        return _Known(name, belonging_of(user, team=self._team))


def belonging_of(user: Mapping[str, Any], *, team: str) -> Belonging:
    """In an Enterprise Grid people of other workspaces of the same organisation are members."""
    if user.get("is_restricted") or user.get("is_ultra_restricted"):
        return Belonging.GUEST
    elsewhere = user.get("team_id") not in {None, "", team} and not user.get("enterprise_user")
    return Belonging.EXTERNAL if user.get("is_stranger") or elsewhere else Belonging.MEMBER
