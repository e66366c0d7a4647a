"""
Roles and reviewers that think. What they say is shown and kept; nothing acts on it.

A mind that fails makes no verdict and no finding of its own: a role cannot say then, and a reviewer has found what
code can find.
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from bot.domain.catalog.personas import Persona, Roster
from bot.domain.item.artifacts import shared
from bot.domain.planning.plan_reader import KnownIds, objects_in, read_plan
from bot.domain.planning.verdict import RoleVerdict, read_verdict, unreadable
from bot.domain.planning.workshop import Workshop
from bot.domain.reviews.text import Finding, FindingSeverity, ReviewerOpinion
from bot.domain.transcript.lines import Line
from bot.engine.ports import Facts, WrittenPlan
from bot.errors import VoiceError
from bot.voices.model import LanguageModel
from bot.voices.offline import checklist
from bot.voices.offline.dossier import Dossier
from bot.voices.offline.numbering import known_requirements
from bot.voices.offline.workshop import OfflineWorkshop
from bot.voices.prompts import judging
from bot.voices.prompts.seen import row, sanitized
from bot.voices.prompts.tasks import again
from bot.voices.thinking import CallLimits, ModelSession

log = logging.getLogger(__name__)

JUDGING = CallLimits(90.0, 2_000)
FORMALIZING = CallLimits(180.0, 8_000)
REVIEWING = CallLimits(120.0, 4_000)
SPEC = "requirements-spec.md"
TEXT_CHARS = 400

MindOf = Callable[[str], LanguageModel | None]
Files = Mapping[str, str]


class ModelWorkshop:
    """*roles* are the workshop's personas; one that is not among them, or whose mind fails, is answered for offline."""

    def __init__(self, mind_of: MindOf, roles: Roster, offline: OfflineWorkshop) -> None:
        self._mind_of = mind_of
        self._roles = roles
        self._offline = offline

    @property
    def reads(self) -> tuple[str, ...]:
        return self._offline.reads

    async def judge(self, ws: Workshop, role: str, files: Files) -> tuple[RoleVerdict, Facts]:
        """Never raises: a role that cannot be asked cannot say, and holds nothing up for ever. Its calls count."""
        persona = next((one for one in self._roles if one.actor == role), None)
        mind = self._mind_of(persona.key) if persona else None
        if persona is None or mind is None:
            return await self._offline.judge(ws, role, files)
        prompt = judging.judge(ws, persona, self._roles, files=files)
        thinking = ModelSession(mind, JUDGING)
        try:
            text = await thinking.about(prompt)
            if not any("ok" in one for one in objects_in(text)):
                text = await thinking.about(again(prompt, "verdict"))
        except VoiceError as error:
            log.warning("%s gives no verdict: %s (%s)", role, error, error.reason)
            return unreadable(f"the model gave no answer ({error.reason or 'unknown'})"), thinking.facts
        return read_verdict(sanitized(text)), thinking.facts

    async def formalize(self, ws: Workshop, files: Files, *, lines: Iterable[Line]) -> WrittenPlan:
        """A mind's plan if it is valid, at the second attempt if need be; else the one that needs no mind."""
        said, mind = tuple(lines), self._mind_of(next(iter(self._roles)).key)
        if mind is None:
            return await self._offline.formalize(ws, files, lines=said)
        known = KnownIds(
            requirements=frozenset(one.id for one in known_requirements(files.get(SPEC, ""))),
            turns=frozenset(line.message_id for line in said if line.message_id),
        )
        thinking = ModelSession(mind, FORMALIZING)
        errors: tuple[str, ...] = ()
        try:
            for _ in range(2):
                text = await thinking.about(judging.formalize(ws, files, said, errors=errors))
                reading = read_plan(sanitized(text), known)
                if reading.plan:
                    return WrittenPlan(reading.plan.model_dump_json(), known.requirements, thinking.facts)
                errors = reading.errors
        except VoiceError as error:
            log.warning("the plan is written without a model: %s (%s)", error, error.reason)
        plain = await self._offline.formalize(ws, files, lines=said)
        return plain._replace(facts=thinking.facts)


class ModelReviewer:
    """Reviews by a mind, together with what code finds by looking."""

    def __init__(self, mind: LanguageModel) -> None:
        self._mind = mind

    async def opinion(self, item: Dossier, persona: Persona, roster: Roster) -> ReviewerOpinion:
        """Raises VoiceError: who could not look has found nothing, and that is said."""
        prompt = judging.review(item.slug, persona, roster, files=item.texts)
        thinking = ModelSession(self._mind, REVIEWING)
        found = _findings(await thinking.about(prompt), item)
        if found is None:
            found = _findings(await thinking.about(again(prompt, "findings")), item)
        if found is None:
            raise VoiceError(f"{persona.name}'s review could not be read.", reason="unstructured")
        looked = checklist.opinion(item, persona, roster)
        return looked.but(findings=tuple(dict.fromkeys((*found, *looked.findings))))


def _findings(text: str, item: Dossier) -> tuple[Finding, ...] | None:
    """None where there is no list of findings, however short."""
    given = next(
        (one["findings"] for one in objects_in(sanitized(text)) if isinstance(one.get("findings"), list)),
        None,
    )
    if given is None:
        return None
    found = [finding for one in given[: judging.MOST_FINDINGS] if (finding := _finding(one, item))]
    return tuple(sorted(found, key=lambda one: one.severity.rank))


def _finding(given: Any, item: Dossier) -> Finding | None:
    """Of a file that is there; a line that is not is the whole file."""
    if not isinstance(given, Mapping):
        return None
    file, text = given.get("file"), given.get("text")
    severities = {one.value: one for one in FindingSeverity}
    severity = severities.get(str(given.get("severity")).casefold(), FindingSeverity.MINOR)
    if not isinstance(file, str) or file not in item.texts or not isinstance(text, str) or not text.strip():
        return None
    line = given.get("line")
    is_line = isinstance(line, int) and not isinstance(line, bool) and 0 < line <= _length(item.texts[file])
    told = line if is_line and not shared(file) else 0  # of a shared file only a part was shown
    return Finding(severity=severity, file=file, text=row(text, TEXT_CHARS), line=told)


def _length(text: str) -> int:
    return len(text.splitlines())
