"""
Who hears whom: in the first round, those who do not lead answer the framing without hearing each other.

Who has heard a good answer gives it again; three answers that were found apart are worth three.
"""

from bot.domain.elaboration import Elaboration, Turn


def is_blind(debate: Elaboration, persona: str) -> bool:
    """
    Whether *persona* is about to speak in the first round, which it is to answer alone. A challenger has to know what
    the others agree on.
    """
    if persona in {debate.lead, debate.challenger} or persona in debate.unheard or debate.silent_rounds:
        return False
    spoken = [turn.by for turn in debate.turns if not turn.human]
    others = {by for by in spoken if by != debate.lead}
    return persona not in spoken and spoken.count(debate.lead) == 1 and len(others) == len(spoken) - 1


def heard_by(debate: Elaboration, persona: str) -> tuple[Turn, ...]:
    """The turns that *persona* knows when it speaks: people always, and the lead."""
    if not is_blind(debate, persona):
        return debate.turns
    return tuple(turn for turn in debate.turns if turn.human or turn.by == debate.lead)
