"""What the file of `ROUNDTABLE_POLICIES` says about each channel, on top of the settings."""

import re
from collections.abc import Mapping

from bot.domain.catalog.budget import Budget
from bot.domain.catalog.policy import GuestsSee, Policy, PressPolicy
from bot.domain.catalog.steps import Depth
from bot.domain.values.value import Stored
from bot.domain.values.working_time import QuietHours

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

    def over(self, policy: Policy) -> Policy:
        own = {name: value for name in type(self).model_fields if (value := getattr(self, name)) is not None}
        return policy.but(**own) if own else policy


class Policies(Stored):
    """`default` is for every channel, `channels` by the channel's id."""

    default: ChannelRules = ChannelRules()
    channels: Mapping[str, ChannelRules] = {}

    def of(self, channel: str, policy: Policy) -> Policy:
        """*policy* as it applies in *channel*."""
        policy = self.default.over(policy)
        return self.channels[channel].over(policy) if channel in self.channels else policy
