"""Who speaks and reviews: with the models that are configured, or without any."""

import logging
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import NamedTuple

from bot.content import mcp
from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.personas import Persona, Roster
from bot.domain.catalog.schema import Schema
from bot.domain.privacy.redaction import Redact
from bot.engine.evidence_ports import Evidence
from bot.engine.ports import Voices
from bot.engine.review_ports import Reviewers
from bot.settings import Settings
from bot.voices.llm import models
from bot.voices.llm.models import ModelRegistry
from bot.voices.model import ForeignTools, LanguageModel, ModelMeter, RedactingModel
from bot.voices.month import BudgetedModel, MonthlyBudget
from bot.voices.offline import OfflineVoices
from bot.voices.reviewing import PersonaReviewers
from bot.voices.thinking import ModelVoices
from bot.voices.tools.looking import Looker, LookerOf, LookSubject

log = logging.getLogger(__name__)

Guard = Callable[[LanguageModel], LanguageModel]
"""What stands before every model."""


class Speakers(NamedTuple):
    voices: Voices
    reviewers: Reviewers


def language_models(
    settings: Settings, speakers: Roster, also: Iterable[str] = (), *, meter: ModelMeter | None = None
) -> AbstractAsyncContextManager[ModelRegistry]:
    """The models of the settings, those that *speakers* name for themselves, and those of *also*."""
    own = [*also, *(persona.model for persona in speakers if persona.model)]
    own += [str(settings.reviewers)] if settings.reviewers.names else []
    seconds, calls = settings.model_seconds, settings.model_calls
    return models.model_registry(
        settings.model, settings, personas=own, seconds=seconds, calls=calls, meter=meter
    )


@asynccontextmanager
async def opened_speakers(
    settings: Settings,
    playbook: Playbook,
    redact: Redact,
    *,
    evidence: Evidence,
    meter: ModelMeter | None = None,
    month: MonthlyBudget | None = None,
) -> AsyncIterator[Speakers]:
    """*evidence* is for models to look at. Raises ConfigError, with a sentence for all that a model lacks."""

    def guarded(model: LanguageModel) -> LanguageModel:
        return RedactingModel(BudgetedModel(model, month) if month else model, redact)

    async with AsyncExitStack() as stack:
        found = await stack.enter_async_context(language_models(settings, playbook.roster, meter=meter))
        model_of = models_of(found, playbook, guarded)
        verifier = verifying_model(found, settings, guarded)
        voices = OfflineVoices()
        if not any(model_of(persona.key) for persona in playbook.roster):
            yield Speakers(voices, PersonaReviewers())
            return
        foreign = await stack.enter_async_context(foreign_tools(settings))
        looker_of = _looker_of(evidence, redact, foreign)
        yield Speakers(
            ModelVoices(model_of, voices, looker_of=looker_of, efforts=settings.thinking, second=verifier),
            PersonaReviewers(model_of, looker_of=looker_of, efforts=settings.thinking),
        )


@asynccontextmanager
async def foreign_tools(settings: Settings) -> AsyncIterator[ForeignTools | None]:
    """Of the servers that are configured. Raises ContentError."""
    if settings.mcp is None:
        yield None
        return
    servers = mcp.read_servers(settings.mcp)
    if not mcp.is_installed():
        log.warning("%s", mcp.NOT_INSTALLED)
        yield None
        return
    from bot.voices.tools.servers import opened_tools

    async with opened_tools(servers) as found:
        yield found


def _looker_of(evidence: Evidence, redact: Redact, foreign: ForeignTools | None) -> LookerOf:
    def looker_of(subject: LookSubject, schema: Schema, persona: Persona) -> Looker | None:
        if not subject.sight.viewer.tools:
            return None
        return Looker(evidence, subject, schema, persona, redact=redact, foreign=foreign)

    return looker_of


def verifying_model(found: ModelRegistry, settings: Settings, guarded: Guard) -> LanguageModel | None:
    model = found.of(str(settings.reviewers)) if settings.reviewers.names else None
    return guarded(model) if model else None


def models_of(
    found: ModelRegistry, playbook: Playbook, guarded: Guard
) -> Callable[[str], LanguageModel | None]:
    """None for a persona that speaks without a model."""
    own = {persona.key: persona.model for persona in playbook.roster}

    def model_of(key: str) -> LanguageModel | None:
        model = found.of(own.get(key, ""))
        return guarded(model) if model else None

    return model_of
