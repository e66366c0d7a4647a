"""The rules of the house: what those who run the bot have settled for everybody's roundtables."""

from enum import StrEnum

from bot.domain.catalog.budget import Budget
from bot.domain.values.value import Stored


class PressPolicy(StrEnum):
    """Who may press buttons, and wish by words for what a button would do."""

    STARTER = "starter"
    """Whoever began the roundtable."""
    PARTICIPANTS = "participants"
    """Whoever said something in it, and whoever began it."""
    EVERYONE = "everyone"


class Policy(Stored):
    """
    With *guests_press*, guests and people of other organisations are like everybody else. It *thinks* when there is a
    model for everybody, and then people wait for what is said. Slack knows us as an *agent* if the app is declared one.
    """

    press: PressPolicy = PressPolicy.EVERYONE
    guests_press: bool = False
    budget: Budget | None = None
    thinks: bool = False
    agent: bool = False
