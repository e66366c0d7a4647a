"""Where a roundtable is held, and by whom."""

from enum import StrEnum

from bot.domain.values.value import Stored


class Place(Stored):
    """A thread. `thread` is empty until the first message of the roundtable stands in the channel."""

    team: str
    channel: str
    thread: str = ""

    @property
    def key(self) -> str:
        return f"{self.team}.{self.channel}.{self.thread}"


NOWHERE = Place(team="", channel="")
"""Where nothing private is known."""


class Belonging(StrEnum):
    """How a person belongs to the workspace."""

    UNKNOWN = ""
    MEMBER = "member"
    GUEST = "guest"
    """Invited into some channels of it."""
    EXTERNAL = "external"
    """Of another workspace, in a channel that both share."""
    UNVERIFIED = "unverified"
    """Slack was asked, and does not say. It is never stored."""


OUTSIDERS = frozenset({Belonging.GUEST, Belonging.EXTERNAL})


class ChannelKind(StrEnum):
    """What kind of conversation a channel is."""

    UNKNOWN = ""
    PUBLIC = "public"
    PRIVATE = "private"
    DIRECT = "direct"
    """A direct message, also of a group: the app is not told what people write there."""


class Person(Stored):
    """A person in Slack. `name` is empty while only the id is known."""

    id: str
    name: str = ""
    belongs: Belonging = Belonging.UNKNOWN
