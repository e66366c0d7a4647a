"""
Between which stages a workshop may go, and what has to be so.

The first six rows are the schema's own. The others are ways back: a role's blocking question belongs to `clarifying`,
a plan that cannot be mended goes back to those who decide, and a redo begins again.
"""

from collections.abc import Callable, Mapping

from bot.domain.planning.deciding import Decision
from bot.domain.planning.paths import REQUIRED
from bot.domain.planning.workshop import Workshop
from bot.domain.transcript import Part
from bot.errors import NotNow

ATTEMPTS = 2
"""To write a plan that is valid; after that it is people's turn."""


def _has_brief(ws: Workshop) -> bool:
    return bool(ws.brief.strip()) and bool(ws.roles)


def _questions_settled(ws: Workshop) -> bool:
    return not ws.asking


def _all_spoke(ws: Workshop) -> bool:
    return ws.verdicts_of(ws.round).keys() >= set(ws.roles)


def _round_left(ws: Workshop) -> bool:
    return ws.rounds_left > 0


def _session_left(ws: Workshop) -> bool:
    return ws.sessions_left > 0 and bool(ws.open_questions)


def _person_said_go(ws: Workshop) -> bool:
    """And why, where that was not what was proposed."""
    chosen = ws.chosen
    if chosen is None or chosen.decision is not Decision.GO:
        return False
    return bool(chosen.reason) or not chosen.against


def _person_said_redo(ws: Workshop) -> bool:
    return ws.chosen is not None and ws.chosen.decision is Decision.REDO


def _written_and_valid(ws: Workshop) -> bool:
    return ws.plan is not None and set(ws.outputs) >= REQUIRED


def _not_mended(ws: Workshop) -> bool:
    return bool(ws.errors) and ws.attempts >= ATTEMPTS


Guard = Callable[[Workshop], bool]

BRIEF = (_has_brief, "There is nothing to plan yet: say in a sentence what it is about.")
ASKED = (_questions_settled, "There are questions open; answer them, or pass them.")
HEARD = (_all_spoke, "Not every role has spoken in this round yet.")
ROUND = (_round_left, "The rounds are used up; somebody has to ask for another one.")
SESSION = (_session_left, "There is no question left to ask.")
CLEAR = (
    lambda ws: ws.brief_is_clear,
    "The brief says that something is unclear, and nobody has cleared it up yet.",
)
GO = (_person_said_go, "Somebody has to say that the plan is to be written.")
REDO = (_person_said_redo, "Somebody has to say that it is to begin again.")
WRITTEN = (_written_and_valid, "The plan and its files are not all written yet.")
BROKEN = (_not_mended, "The plan can still be mended.")

GUARDS: Mapping[tuple[Part, Part], tuple[tuple[Guard, str], ...]] = {
    (Part.DRAFT, Part.CLARIFYING): (BRIEF,),
    (Part.CLARIFYING, Part.WORKSHOP): (HEARD, ASKED, ROUND),
    (Part.CLARIFYING, Part.FORMALIZING): (HEARD, ASKED, CLEAR, GO),
    (Part.WORKSHOP, Part.WORKSHOP): (HEARD, ROUND),
    (Part.WORKSHOP, Part.FORMALIZING): (HEARD, GO),
    (Part.FORMALIZING, Part.REVIEW_READY): (WRITTEN,),
    (Part.WORKSHOP, Part.CLARIFYING): (HEARD, SESSION, ROUND),
    (Part.FORMALIZING, Part.WORKSHOP): (BROKEN,),
    (Part.WORKSHOP, Part.DRAFT): (REDO,),
    (Part.REVIEW_READY, Part.DRAFT): (REDO,),
}


def entering(ws: Workshop, stage: Part) -> Workshop:
    """*ws* in *stage*. Raises NotNow, with a sentence for people, where the table says no."""
    for holds, sentence in GUARDS.get((ws.stage, stage), ((lambda _: False, _no_way(ws, stage)),)):
        if not holds(ws):
            raise NotNow(sentence)
    return ws.but(stage=stage)


def _no_way(ws: Workshop, stage: Part) -> str:
    return f"A plan does not go from {ws.stage} to {stage}."
