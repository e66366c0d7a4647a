"""What people are called."""

from bot.errors import SlackError
from bot.slack.calls import Calls
from bot.slack.packing import shortened
from bot.slack.text import one_line

REMEMBERED = 10_000
NAME_CHARS = 80


class Names:
    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._known: dict[str, str] = {}

    async def of(self, person: str) -> str:
        """The id of somebody Slack does not name; raises SlackError only when asking later may help."""
        if person not in self._known:
            self._remember(person, await self._asked(person))
        return self._known[person]

    async def or_id(self, person: str) -> str:
        try:
            return await self.of(person)
        except SlackError:
            return person

    def _remember(self, person: str, name: str) -> None:
        if len(self._known) >= REMEMBERED:
            self._known.pop(next(iter(self._known)))
        self._known[person] = name

    async def _asked(self, person: str) -> str:
        try:
            answer = await self._calls(self._calls.client.users_info, user=person)
        except SlackError as error:
            if error.again:
                raise
            return person
        user = answer["user"]
        profile = user.get("profile", {})
        names = (profile.get("display_name"), profile.get("real_name"), user.get("real_name"), person)
        return next(shortened(one_line(name), NAME_CHARS) for name in names if name and one_line(name))
