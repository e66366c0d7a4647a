"""The settings that apply to every roundtable, and what the file of `ROUNDTABLE_POLICIES` says about channels."""

import re
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

from bot.domain.catalog.budget import Budget
from bot.domain.catalog.steps import Depth
from bot.domain.values.timestamps import QuietHours, WorkingTime
from bot.domain.values.value import Stored


class PressPolicy(StrEnum):
    """Who may press buttons, or type words that do the same."""

    STARTER = "starter"
    """The person who started the roundtable."""
    PARTICIPANTS = "participants"
    """The person who started the roundtable, and everyone who wrote in it."""
    EVERYONE = "everyone"


class GuestsSee(StrEnum):
    """What is told where guests or people of other organisations read along, as if all were members."""

    CODE = "code"
    """The code base, its history, and what servers of tools say."""
    ITEMS = "items"
    """Items of other channels, but for private ones."""


class AgentsMay(StrEnum):
    """What coding agents may do in the threads of a channel."""

    ASK = "ask"
    NONE = "none"


_HOURS = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])\s*-\s*([01]?[0-9]|2[0-3]):([0-5][0-9])", re.ASCII)


def quiet_hours(text: str) -> QuietHours:
    """`18:00-08:00`. Raises ValueError."""
    found = _HOURS.fullmatch(text.strip())
    if found is None:
        raise ValueError("no hours")
    begin_hour, begin_minute, end_hour, end_minute = map(int, found.groups())
    return QuietHours(begin=60 * begin_hour + begin_minute, end=60 * end_hour + end_minute)


NIGHT = QuietHours(begin=20 * 60, end=7 * 60)
"""When the bot writes to no person, where the policy does not say."""


class Policy(Stored):
    """
    With *guests_press*, guests and people of other organisations count as members. *thinks*: every persona has a model,
    so people wait for replies; *model* is that of personas that name none. With *looks_first* a persona looks when a
    step opens, before anybody answers. *agent*: the Slack app is declared as one. *file_url* is where people read the
    files of the workspace, with `{path}` in it. A step's persona drafts when people have been silent for
    *draft_seconds*, *most_drafts* times in a step.

    A file of policies may say for a channel whether roundtables are started there, with which *cast* (the keys of
    personas; none means all) and at which *depth*, and when people are not written to: in *quiet_hours*, and on
    *weekends* unless that is true. A discussion without turns ends when everybody was heard and the thread has been
    quiet for *quiet_minutes*. Without *tools*, personas look at nothing but the item. *guests_see* is what guests are
    told beside the items of their channel. *agents* says whether coding agents may ask there.
    """

    press: PressPolicy = PressPolicy.EVERYONE
    guests_press: bool = False
    budget: Budget | None = None
    thinks: bool = False
    looks_first: bool = False
    model: str = ""
    agent: bool = False
    file_url: str = ""
    draft_seconds: int = 15
    most_drafts: int = 3
    start: bool = True
    cast: tuple[str, ...] = ()
    depth: Depth | None = None
    quiet_hours: QuietHours | None = None
    weekends: bool = False
    quiet_minutes: int = 10
    tools: bool = True
    guests_see: tuple[GuestsSee, ...] = ()
    agents: AgentsMay = AgentsMay.ASK

    @property
    def working(self) -> WorkingTime:
        return WorkingTime(self.quiet_hours, self.weekends)

    def is_quiet(self, local: datetime) -> bool:
        """Whether the bot writes to no person then, by that person's own clock."""
        return not self.working.is_working_day(local.date()) or self.is_quiet_at(local.hour, local.minute)

    def is_quiet_at(self, hour: int, minute: int) -> bool:
        """On any day."""
        return (self.quiet_hours or NIGHT).contain(60 * hour + minute)


CHANNEL_ID = re.compile(r"[CG][A-Z0-9]{2,20}")


class ChannelRules(Stored):
    """What a channel has of its own. None is as everywhere else."""

    start: bool | None = None
    cast: tuple[str, ...] | None = None
    depth: Depth | None = None
    budget: Budget | None = None
    press: PressPolicy | None = None
    quiet_hours: QuietHours | None = None
    weekends: bool | None = None
    tools: bool | None = None
    guests_see: tuple[GuestsSee, ...] | None = None
    agents: AgentsMay | None = None

    def over(self, policy: Policy) -> Policy:
        own = {name: value for name in type(self).model_fields if (value := getattr(self, name)) is not None}
        return policy.but(**own) if own else policy


TEAM_ID = re.compile(r"[TE][A-Z0-9]{1,30}")


class TeamLimits(Stored):
    """
    Of one Slack workspace, or organization, among several: *calls* of models at a time to one provider, and *effects*,
    the roundtables that are worked on at the same time. What is over waits.
    """

    calls: int = 4
    effects: int = 20


class Policies(Stored):
    """`default` is for every channel, `channels` by the channel's id, `teams` by that of the workspace."""

    default: ChannelRules = ChannelRules()
    channels: Mapping[str, ChannelRules] = {}
    teams: Mapping[str, TeamLimits] = {}

    def of(self, channel: str, policy: Policy) -> Policy:
        """*policy* as it applies in *channel*."""
        policy = self.default.over(policy)
        return self.channels[channel].over(policy) if channel in self.channels else policy
