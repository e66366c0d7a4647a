"""What comes of the effects of a planning workshop."""

from collections.abc import Mapping
from typing import Any

from bot.domain.happened import Paid
from bot.domain.planning.validating import NOTHING_KNOWN, Known
from bot.domain.planning.verdict import Verdict
from bot.domain.planning.workshop import Question, Remark


class PlanRead(Paid):
    """
    The files of the workshop that there are, by their path in the item's folder, and what the transcript says that
    people answered and said in it before. `brief` is what the item says it is about. `aside` is the effect's.
    """

    files: Mapping[str, str]
    brief: str = ""
    answered: tuple[Question, ...] = ()
    remarks: tuple[Remark, ...] = ()
    aside: bool = False


class Judged(Paid):
    """`facts` go into the line's `meta`."""

    role: str
    round: int
    verdict: Verdict
    facts: Mapping[str, Any] = {}


class Formalized(Paid):
    """A plan as a voice wrote it; `known` is what it may trace to. `facts` are of the line that says so."""

    plan: str
    known: Known = NOTHING_KNOWN
    facts: Mapping[str, Any] = {}
