"""What the planning workshop asks of the world: its files, its roles, its plan."""

from collections.abc import Iterable
from typing import Any, NamedTuple, assert_never

from bot.domain.effects import Formalize, Judge, ReadPlan
from bot.domain.item import DRAFT
from bot.domain.outcomes import Outcome
from bot.domain.planning.brief import brief_of
from bot.domain.planning.outcomes import Formalized, Judged, PlanRead
from bot.domain.planning.recalling import recalled
from bot.domain.planning.validating import Known
from bot.domain.roundtable import Roundtable
from bot.domain.transcript import Line
from bot.engine.ports import Workspace
from bot.engine.voice_ports import Planners

InWorkshop = ReadPlan | Judge | Formalize

Told = dict[str, Any]
"""What every outcome says: the effect it belongs to, and when."""


class Workshops(NamedTuple):
    planners: Planners
    workspace: Workspace

    async def perform(self, effect: InWorkshop, rt: Roundtable, told: Told) -> Outcome:
        match effect:
            case ReadPlan():
                return await self._read(effect, rt, told)
            case Judge():
                assert rt.workshop, "a role is asked in a workshop"
                files = await self.workspace.files(rt.slug, self.planners.reads)
                verdict, facts = await self.planners.judge(rt.workshop, effect.role, files)
                return Judged(**told, role=effect.role, round=effect.round, verdict=verdict, facts=facts)
            case Formalize():
                return await self._formalized(rt, told)
            case _:
                assert_never(effect)

    async def _read(self, effect: ReadPlan, rt: Roundtable, told: Told) -> PlanRead:
        found = await self.workspace.planning(rt.slug)
        draft = await self.workspace.files(rt.slug, (DRAFT,))
        answered, remarks = recalled(_everything(found.lines, rt.lines))
        return PlanRead(
            **told,
            files=found.files,
            brief=brief_of(rt.title, draft.get(DRAFT, "")),
            answered=answered,
            remarks=remarks,
            aside=effect.aside,
        )

    async def _formalized(self, rt: Roundtable, told: Told) -> Formalized:
        assert rt.workshop, "a plan is written in a workshop"
        files = await self.workspace.files(rt.slug, self.planners.reads)
        found = await self.workspace.planning(rt.slug)
        lines = _everything(found.lines, rt.lines)
        formal = await self.planners.formalize(rt.workshop, files, lines=lines)
        known = Known(
            requirements=formal.requirements,
            turns=frozenset(line.message_id for line in lines if line.message_id),
        )
        return Formalized(**told, plan=formal.plan, known=known, facts=formal.facts)


def _everything(saved: Iterable[Line], pending: Iterable[Line]) -> tuple[Line, ...]:
    """The transcript with the lines that are not in git yet; one that is there already counts once."""
    kept = tuple(saved)
    known = {line.message_id for line in kept if line.message_id}
    return (*kept, *(line for line in pending if line.message_id not in known))
