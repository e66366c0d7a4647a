"""Where a roundtable is held, and by whom."""

from bot.domain.value import Stored


class Place(Stored):
    """A thread. `thread` is empty until the first message of the roundtable stands in the channel."""

    team: str
    channel: str
    thread: str = ""

    @property
    def key(self) -> str:
        return f"{self.team}.{self.channel}.{self.thread}"


class Person(Stored):
    """Somebody in Slack. `name` is empty while we know only the id."""

    id: str
    name: str = ""
