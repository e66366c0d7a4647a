"""
What may be seen from where: an item that is held in a private channel does not exist for other channels.

A channel that nobody has told us about counts as private. Nothing is asked of Slack here: it would keep people waiting.
"""

from bot.domain.place import Place
from bot.domain.roundtable import Roundtable
from bot.engine.ports import Listing


def sees(place: Place, rt: Roundtable) -> bool:
    """What has no thread yet is held nowhere."""
    if rt.manners.private is False or not (rt.place.thread or rt.manners.private):
        return True
    return _same_channel(place, rt.place.team, rt.place.channel)


def sees_folder(place: Place, listed: Listing) -> bool:
    """An item that was never held in Slack is no channel's, and no secret."""
    if listed.private is False or not listed.channel:
        return True
    return _same_channel(place, listed.team, listed.channel)


def may_see(place: Place, listed: Listing) -> bool:
    """As far as its folder goes; the roundtable itself may know better."""
    return listed.private is None or sees_folder(place, listed)


def _same_channel(place: Place, team: str, channel: str) -> bool:
    return (team, channel) == (place.team, place.channel)
