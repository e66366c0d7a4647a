"""Who speaks, judges and reviews: with the models that are configured, or without any."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import NamedTuple

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.personas import Roster, seat
from bot.domain.privacy.redaction import Redact
from bot.engine.ports import Planners, Voices
from bot.engine.review_ports import Reviewers
from bot.settings import Settings
from bot.voices.judging import ThinkingWorkshop
from bot.voices.llm import models
from bot.voices.llm.models import Minds
from bot.voices.model import DiscreetMind, Mind
from bot.voices.offline.offline import OfflineVoices
from bot.voices.offline.workshop import OfflineWorkshop
from bot.voices.reviewing import ChecklistReviewers, ThinkingReviewers
from bot.voices.thinking import ThinkingVoices


class Cast(NamedTuple):
    voices: Voices
    planners: Planners
    reviewers: Reviewers


def minds(settings: Settings, speakers: Roster) -> AbstractAsyncContextManager[Minds]:
    """Whoever is to think, for everybody and for *speakers* with a model of their own."""
    own = [persona.model for persona in speakers if persona.model]
    seconds, calls = settings.model_seconds, settings.model_calls
    return models.minds(settings.model, settings, personas=own, seconds=seconds, calls=calls)


@asynccontextmanager
async def cast(settings: Settings, playbook: Playbook, redact: Redact) -> AsyncIterator[Cast]:
    """Raises ConfigError, with a sentence for everything that a configured model lacks."""
    async with minds(settings, playbook.speakers) as found:
        mind_of = _minds_of(found, playbook, redact)
        voices, workshop, checklist = OfflineVoices(), OfflineWorkshop(), ChecklistReviewers()
        if not any(mind_of(persona.key) for persona in playbook.speakers):
            yield Cast(voices, workshop, checklist)
            return
        yield Cast(
            ThinkingVoices(mind_of, voices),
            ThinkingWorkshop(lambda key: mind_of(seat(key)), playbook.workshop, workshop),
            ThinkingReviewers(mind_of, checklist),
        )


def _minds_of(found: Minds, playbook: Playbook, redact: Redact) -> Callable[[str], Mind | None]:
    """None for a persona that speaks without a model."""
    own = {persona.key: persona.model for persona in playbook.speakers}

    def mind_of(key: str) -> Mind | None:
        mind = found.of(own.get(key, ""))
        return DiscreetMind(mind, redact) if mind else None

    return mind_of
