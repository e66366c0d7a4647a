"""Everything that people can ask for, at one desk."""

from bot.engine.planning_desk import PlanningDesk
from bot.engine.record_desk import RecordDesk
from bot.engine.review_desk import ReviewDesk


class WholeDesk(ReviewDesk, RecordDesk, PlanningDesk):
    """Takes the parts of all of them."""
