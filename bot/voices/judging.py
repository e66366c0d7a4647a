"""
The roles of the planning workshop and the writer of its plan, by rules or by a model that is given the specification.
Their verdicts are shown and kept; people decide.
"""

import asyncio
import logging
from collections.abc import Iterable, Mapping
from typing import Any

from bot.domain.catalog.personas import ModelTask, Roster
from bot.domain.planning import derived
from bot.domain.planning.plan import PlanDocument
from bot.domain.planning.plan_reader import KnownIds, objects_in, read_plan
from bot.domain.planning.verdict import LONGEST, RoleVerdict, read_verdict, text_in, unreadable
from bot.domain.planning.workshop import Workshop
from bot.domain.specification.keywords import words_to_search
from bot.domain.transcript.lines import Line
from bot.domain.values.text import clean
from bot.engine.ports import NO_FACTS, Facts, PlanningCase, WrittenPlan
from bot.errors import VoiceError
from bot.voices.prompts import judging
from bot.voices.prompts.seen import sanitized
from bot.voices.prompts.tasks import again
from bot.voices.sources import JudgedClaims, Sources, prompt_texts, texts_in
from bot.voices.thinking import NO_EFFORTS, CallLimits, Efforts, MindOf, ModelSession
from bot.voices.tools.looking import LookerOf, LookSubject, no_looker

log = logging.getLogger(__name__)

JUDGING = CallLimits(90.0, 2_000)
FORMALIZING = CallLimits(180.0, 8_000)
READ = (
    "draft.md",
    "quick-scan.md",
    "requirements-spec.md",
    "user-stories.json",
    "traceability-matrix.csv",
    "impact-analysis.md",
    "architecture-overview.md",
    "module-design.md",
    "interface-spec.md",
    "data-flow.md",
    "error-taxonomy.md",
    "design-summary.md",
    "docs/common/nfr-matrix.md",
)
"""What a model is shown of an item's files."""


class OfflineWorkshop:
    """Without a model: coverage is the verdict, and the plan is a projection of the entries. Never fails."""

    reads: tuple[str, ...] = ()

    async def judge(self, ws: Workshop, role: str, case: PlanningCase) -> tuple[RoleVerdict, Facts]:
        settled = [one.text for one in ws.questions if one.settled]
        verdict = await asyncio.to_thread(
            derived.verdict, case.schema, case.specification, role, settled=settled
        )
        return verdict, NO_FACTS

    async def formalize(self, ws: Workshop, case: PlanningCase, *, lines: Iterable[Line]) -> WrittenPlan:
        turns = _ids(lines)
        plan = await asyncio.to_thread(derived.plan, ws, case.schema, case.specification, turns=turns)
        return WrittenPlan(plan.model_dump_json(), frozenset(case.specification.entries))


class ModelWorkshop:
    """*roles* are the workshop's personas; *rules* answers for a role without a persona or a model."""

    reads = READ

    def __init__(
        self,
        mind_of: MindOf,
        roles: Roster,
        rules: OfflineWorkshop,
        *,
        looker_of: LookerOf = no_looker,
        efforts: Efforts = NO_EFFORTS,
    ) -> None:
        self._looker_of = looker_of
        self._efforts = efforts
        self._mind_of = mind_of
        self._roles = roles
        self._rules = rules

    async def judge(self, ws: Workshop, role: str, case: PlanningCase) -> tuple[RoleVerdict, Facts]:
        """Never raises: when the model fails, the verdict is unreadable. Its calls are still counted."""
        persona = next((one for one in self._roles if one.actor == role), None)
        mind = self._mind_of(persona.key) if persona else None
        if persona is None or mind is None:
            return await self._rules.judge(ws, role, case)
        prompt = judging.judge(ws, persona, self._roles, files=case.files, entries=judging.entries(case))
        words = words_to_search(case.specification, ws.title)
        subject = LookSubject(ws.slug, case.sight, case.specification, words)
        looker = self._looker_of(subject, case.schema, persona)
        effort = self._efforts.get(ModelTask.JUDGE, "")
        thinking = ModelSession(mind, JUDGING, looker=looker, effort=effort)
        try:
            text = await thinking.about(prompt)
            if not any("ok" in one for one in objects_in(text)):
                text = await thinking.about(again(prompt, "verdict"))
        except VoiceError as error:
            log.warning("%s gives no verdict: %s (%s)", role, error, error.reason)
            return unreadable(f"the model gave no answer ({error.reason or 'unknown'})"), thinking.facts
        return _checked(sanitized(text), thinking, ws.slug, case)

    async def formalize(self, ws: Workshop, case: PlanningCase, *, lines: Iterable[Line]) -> WrittenPlan:
        """A model's plan if it is valid and contradicts no entry, within two attempts; otherwise the rules'."""
        said, mind = tuple(lines), self._mind_of(next(iter(self._roles)).key)
        if mind is None:
            return await self._rules.formalize(ws, case, lines=said)
        known = KnownIds(requirements=frozenset(case.specification.entries), turns=_ids(said))
        thinking = ModelSession(mind, FORMALIZING, effort=self._efforts.get(ModelTask.PLAN, ""))
        entries = judging.entries(case)
        errors: tuple[str, ...] = ()
        try:
            for _ in range(2):
                prompt = judging.formalize(ws, case.files, said, entries=entries, errors=errors)
                reading = read_plan(sanitized(await thinking.about(prompt)), known)
                errors = reading.errors or _contradictions(reading.plan, case)
                if reading.plan and not errors:
                    return WrittenPlan(reading.plan.model_dump_json(), known.requirements, thinking.facts)
        except VoiceError as error:
            log.warning("the plan is written without a model: %s (%s)", error, error.reason)
        plain = await self._rules.formalize(ws, case, lines=said)
        return plain._replace(facts=thinking.facts)


def _checked(text: str, thinking: ModelSession, slug: str, case: PlanningCase) -> tuple[RoleVerdict, Facts]:
    """The verdict, with the sources of each reason behind it."""
    claims = JudgedClaims(Sources(prompt_texts(case.specification, case.files), thinking.shown, slug))

    def told(entry: Any) -> str:
        named = entry.get("sources") if isinstance(entry, Mapping) else ()
        return claims.checked(clean(text_in(entry)), texts_in(named)).told(LONGEST)

    verdict = read_verdict(text, told=told)
    return verdict, {**thinking.facts, **claims.facts}


def _contradictions(plan: PlanDocument | None, case: PlanningCase) -> tuple[str, ...]:
    return derived.contradictions(plan, case.schema, case.specification) if plan else ()


def _ids(lines: Iterable[Line]) -> frozenset[str]:
    return frozenset(line.message_id for line in lines if line.message_id)
