"""
Which turns a persona sees: in the first round, the personas that do not lead answer the framing without seeing each
other's answers, because a persona that has read a good answer repeats it.
"""

from bot.domain.discussion import positions
from bot.domain.discussion.elaboration import Elaboration, Turn


def visible_to(debate: Elaboration, persona: str) -> tuple[Turn, ...]:
    """The turns that *persona* knows when it speaks."""
    return positions.heard(debate.turns, debate.lead, blind=debate.is_blind(persona))
