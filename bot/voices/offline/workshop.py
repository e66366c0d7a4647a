"""
The roles of the planning workshop without a model: each counts what is there and what is missing in its own field.

The same workshop and the same files give the same verdicts and the same plan, always.
"""

import asyncio
from collections.abc import Iterable, Mapping

from bot.domain.planning.plan import PlanDocument
from bot.domain.planning.verdict import RoleVerdict, unreadable
from bot.domain.planning.workshop import Workshop
from bot.domain.transcript.lines import Line
from bot.engine.ports import NO_FACTS, Facts, WrittenPlan
from bot.voices.offline.evidence import Evidence
from bot.voices.offline.planning import drafted
from bot.voices.offline.planning_context import READ, case_file
from bot.voices.offline.role_checks import LANES

__all__ = ["READ", "OfflineWorkshop"]


class OfflineWorkshop:
    """Never fails for want of a network. A role that it does not know says that it cannot say."""

    reads = READ

    async def judge(self, ws: Workshop, role: str, files: Mapping[str, str]) -> tuple[RoleVerdict, Facts]:
        """*files* are the item's, as far as `READ` names them and they are there."""
        return await asyncio.to_thread(judge, ws, role, files), NO_FACTS

    async def formalize(
        self, ws: Workshop, files: Mapping[str, str], *, lines: Iterable[Line]
    ) -> WrittenPlan:
        """*lines* are the transcript's; what people said there is what the plan is traced to."""
        plan = await asyncio.to_thread(formalize, ws, files, tuple(lines))
        known = (one.id for one in case_file(ws, files).requirements)
        return WrittenPlan(plan.model_dump_json(), frozenset(known))


def judge(ws: Workshop, role: str, files: Mapping[str, str]) -> RoleVerdict:
    lane = LANES.get(role)
    if lane is None:
        return unreadable(f"{role} has no checklist; only a model can speak in this role")
    return lane(case_file(ws, files)).verdict()


def formalize(ws: Workshop, files: Mapping[str, str], lines: Iterable[Line]) -> PlanDocument:
    return drafted(ws, case_file(ws, files), Evidence(lines))
