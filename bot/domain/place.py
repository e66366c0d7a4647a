"""Where a roundtable is held, and by whom."""

from enum import StrEnum

from bot.domain.value import Stored


class Place(Stored):
    """A thread. `thread` is empty until the first message of the roundtable stands in the channel."""

    team: str
    channel: str
    thread: str = ""

    @property
    def key(self) -> str:
        return f"{self.team}.{self.channel}.{self.thread}"


class Belonging(StrEnum):
    """What somebody is to the workspace."""

    UNKNOWN = ""
    MEMBER = "member"
    GUEST = "guest"
    """Invited into some channels of it."""
    EXTERNAL = "external"
    """Of another workspace, in a channel that both share."""


OUTSIDERS = frozenset({Belonging.GUEST, Belonging.EXTERNAL})


class Person(Stored):
    """Somebody in Slack. `name` is empty while we know only the id."""

    id: str
    name: str = ""
    belongs: Belonging = Belonging.UNKNOWN
