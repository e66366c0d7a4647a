"""
Who hears whom: in the first round, those who do not lead answer the framing without hearing each other.

Who has heard a good answer gives it again; three answers that were found apart are worth three.
"""

from bot.domain.discussion import positions
from bot.domain.discussion.elaboration import Elaboration, Turn


def visible_to(debate: Elaboration, persona: str) -> tuple[Turn, ...]:
    """The turns that *persona* knows when it speaks."""
    return positions.heard(debate.turns, debate.lead, blind=debate.is_blind(persona))
