"""The settings that apply to every roundtable, and what the file of `ROUNDTABLE_POLICIES` says about channels."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import StringConstraints

from bot.domain.catalog.budget import Budget
from bot.domain.catalog.steps import Depth
from bot.domain.values.timestamps import QuietHours, WorkingTime
from bot.domain.values.value import Stored, Value


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


class ReviewedBy(StrEnum):
    """Which model checks the drafts of models."""

    NOBODY = "nobody"
    SAME = "same"
    OTHER = "other"


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
    so people wait for replies, and its drafts are *reviewed_by* one; *model* is that of personas that name none. With
    *looks_first* a persona looks when a step opens, before anybody answers. *agent*: the Slack app is declared as one.
    *file_url* is where people read the files of the workspace, with `{path}` in it. A step's persona drafts when people
    have been silent for *draft_seconds*, *most_drafts* times in a step.

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
    reviewed_by: ReviewedBy = ReviewedBy.NOBODY
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
    the roundtables that are worked on at the same time. What is over waits. *month* is what models may take in a
    calendar month.
    """

    calls: int = 4
    effects: int = 20
    month: Budget | None = None


class Policies(Stored):
    """`default` is for every channel, `channels` by the channel's id, `teams` by that of the workspace."""

    default: ChannelRules = ChannelRules()
    channels: Mapping[str, ChannelRules] = {}
    teams: Mapping[str, TeamLimits] = {}

    def of(self, channel: str, policy: Policy) -> Policy:
        """*policy* as it applies in *channel*."""
        policy = self.default.over(policy)
        return self.channels[channel].over(policy) if channel in self.channels else policy


# --- how long things are kept: `words:2y,item:5y` in `ROUNDTABLE_RETENTION` -------------------------------------------

LEAST_DAYS, DAYS_A_YEAR = 7, 365
FORM = (
    "words, item and state, or stopped and a checkout that is not shorter, with days or years of at least a week, such"
    " as words:2y,item:never"
)
_AGE = re.compile("([0-9]{1,5})([dy])")


class Retention(Value):
    """
    In days, None for ever. Since a person last wrote: `words` are those of people, `item` all of an item. Since it was
    saved last: `state` is the live state of a finished item. Since a workspace removed the app: `stopped` is what the
    store has of it, `checkout` its repository here.
    """

    words: int | None = None
    item: int | None = None
    state: int | None = 30
    stopped: int | None = 30
    checkout: int | None = None


def retention(text: str) -> Retention:
    """Raises ValueError."""
    found: dict[str, int | None] = {}
    for part in filter(None, (one.strip() for one in text.split(","))):
        name, _, age = part.partition(":")
        if name not in Retention.model_fields or name in found:
            raise ValueError(f"{name!r} is no kind, or stands there twice")
        found[name] = None if age == "never" else _days(age)
    kept = Retention(**found)
    if kept.checkout is not None and (kept.stopped is None or kept.checkout < kept.stopped):
        raise ValueError("the state cannot outlive what it is about")
    return kept


def _days(age: str) -> int:
    given = _AGE.fullmatch(age)
    days = int(given[1]) * (DAYS_A_YEAR if given[2] == "y" else 1) if given else 0
    if days < LEAST_DAYS:
        raise ValueError(f"{age!r} is no age of at least a week")
    return days


def is_over(days: int | None, since: str, now: str) -> bool:
    return days is not None and (datetime.fromisoformat(now) - datetime.fromisoformat(since)).days >= days


# --- keys of coding agents: only the digest of a secret is known ------------------------------------------------------

EVERY_PUBLIC_ITEM = "*"

KeyName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]{0,39}$")]
Owner = Annotated[str, StringConstraints(pattern=r"^[UW][A-Z0-9]{1,30}$")]
ItemName = Annotated[str, StringConstraints(pattern=r"^(\*|[A-Za-z0-9][A-Za-z0-9_-]{0,99})$")]
Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class AgentKey(Value):
    """*owner* is the id in Slack of the person whom the agent works for. A private item has to be named in *items*."""

    name: KeyName
    owner: Owner
    sha256: Digest
    items: tuple[ItemName, ...] = (EVERY_PUBLIC_ITEM,)
    may_ask: bool = False

    @property
    def is_for_all(self) -> bool:
        return EVERY_PUBLIC_ITEM in self.items


def digest_of(secret: str) -> str:
    """No salt: a secret of 256 random bits is in no list."""
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()


def key_with(keys: Iterable[AgentKey], authorization: str) -> AgentKey | None:
    """The key whose secret the header *authorization* carries."""
    scheme, _, secret = authorization.partition(" ")
    if scheme.casefold() != "bearer":
        return None
    given = digest_of(secret.strip())
    return next((one for one in keys if one.sha256 == given), None)
