"""
Where a roundtable is held and by whom, and who reads what we say there: one person, or everybody at a place.

Of several readers, the least privileged one counts. Commands, tools and prompts of personas, the Home tab, exports and
digests all ask a `Viewer`, so that no way in tells more than another. It is made in `bot/engine/viewing.py` only.
"""

import re
from collections.abc import Mapping
from enum import StrEnum

from bot.domain.values.value import Stored, Value


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
    LEFT = "left"
    """Deactivated: they read and press nothing any more."""
    UNVERIFIED = "unverified"
    """Slack was asked, and does not say. It is never stored."""


OUTSIDERS = frozenset({Belonging.GUEST, Belonging.EXTERNAL, Belonging.LEFT})


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


class AccessState(Stored):
    """
    How a roundtable behaves towards the people around it. `private` is None while we do not know who can see the
    channel, and then it is treated as private; `noted` is what meta.json says about that. `muted`: the personas say
    nothing by themselves. `outsiders` are the people who are known not to be members of the workspace, and what they
    are instead. `channels` are the ids that the channel had, with the stamp up to which it had each.
    """

    private: bool | None = None
    noted: bool | None = None
    muted: bool = False
    outsiders: Mapping[str, str] = {}
    channels: tuple[tuple[str, str], ...] = ()

    def channel_at(self, ts: str) -> str:
        """The id that the channel had when the message *ts* was written; empty for the id that it has now."""
        return next((channel for channel, until in self.channels if ts and ts < until), "")

    def add_channel(self, channel: str, ts: str) -> "AccessState":
        """What was written before *ts* is in *channel*."""
        return self.but(channels=(*self.channels, (channel, ts)))


class HeldItem(Value):
    """
    The channel of an item, as the store and git know it; empty for an item that was never held in one. Only its own
    channel may see a *hidden* one.
    """

    team: str = ""
    channel: str = ""
    hidden: bool = False


class Viewer(Value):
    """
    *least* is how the least privileged reader belongs to the workspace. *channels* are those of which the reader is a
    member, besides that of *place*. Without *tools*, personas look at nothing but the item. With *code_for_all* and
    *items_for_all*, guests and people of other organisations are told what members are told.
    """

    place: Place = NOWHERE
    least: Belonging = Belonging.UNVERIFIED
    channels: frozenset[str] = frozenset()
    tools: bool = True
    code_for_all: bool = False
    items_for_all: bool = False

    def sees(self, item: HeldItem) -> bool:
        """Whether this reader may know that *item* exists, and what it says."""
        if (
            item.channel
            and item.team == self.place.team
            and item.channel in {self.place.channel, *self.channels}
        ):
            return True
        return not item.hidden and (self._is_member or self.items_for_all)

    @property
    def knows_code(self) -> bool:
        """Whether this reader may be told what the repository has beside the items."""
        return self._is_member or self.code_for_all

    @property
    def sees_code(self) -> bool:
        """Whether personas may tell this reader of the code, its history, and what servers of tools say."""
        return self.tools and self.knows_code

    @property
    def _is_member(self) -> bool:
        """Who is not known counts as a guest."""
        return self.least is Belonging.MEMBER


NOBODY = Viewer()
"""Sees nothing."""


# --- addresses of messages ------------------------------------------------------------------------------------------

_THREAD = re.compile(r"(https?://[A-Za-z0-9.-]+(?::\d+)?)/archives/([A-Z0-9]+)/p(\d{10,16})")
_STAMP = re.compile(r"\d{7,10}\.\d{6}")


def read_permalink(permalink: str) -> re.Match[str] | None:
    """None for what is no permalink of Slack's."""
    return _THREAD.fullmatch(permalink)


def link_of_message(held_in: re.Match[str] | None, channel: str, ts: str) -> str:
    """Empty for a message that is not in that channel, or has no stamp, and where the thread is not known."""
    host, its_channel, root = held_in.groups() if held_in else ("", "", "")
    if not host or channel != its_channel or not _STAMP.fullmatch(ts):
        return ""
    return f"{host}/archives/{channel}/p{ts.replace('.', '')}?thread_ts={root[:-6]}.{root[-6:]}&cid={channel}"


def link_of_line(held_in: re.Match[str] | None, line: str) -> str:
    """Of what a person wrote: the id of its line is made of channel and stamp."""
    channel, _, ts = line.partition(".")
    return link_of_message(held_in, channel, ts)
