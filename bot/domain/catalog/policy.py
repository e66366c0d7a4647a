"""The settings that apply to every roundtable."""

from enum import StrEnum

from bot.domain.catalog.budget import Budget
from bot.domain.values.value import Stored


class PressPolicy(StrEnum):
    """Who may press buttons, or type words that do the same."""

    STARTER = "starter"
    """The person who started the roundtable."""
    PARTICIPANTS = "participants"
    """The person who started the roundtable, and everyone who wrote in it."""
    EVERYONE = "everyone"


class Policy(Stored):
    """
    With *guests_press*, guests and people of other organisations count as members. *thinks*: every persona has a model,
    so people wait for replies; *model* is that of personas that name none. *agent*: the Slack app is declared as one.
    """

    press: PressPolicy = PressPolicy.EVERYONE
    guests_press: bool = False
    budget: Budget | None = None
    thinks: bool = False
    model: str = ""
    agent: bool = False
