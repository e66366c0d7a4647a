"""Everything that people can ask for, at one desk."""

from bot.engine.planning_desk import PlanningDesk
from bot.engine.review_desk import ReviewDesk


class WholeDesk(ReviewDesk, PlanningDesk):
    """Takes the parts of both."""
