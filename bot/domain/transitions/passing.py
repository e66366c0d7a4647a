"""Silence instead of an echo: it stands in the record, is no post, and uses no turn."""

from bot.domain import elaboration_wording
from bot.domain.outcomes import PersonaSpoke
from bot.domain.persona import Persona
from bot.domain.roundtable import Roundtable
from bot.domain.transcript import Part


def noted(rt: Roundtable, persona: Persona, happened: PersonaSpoke) -> Roundtable:
    sentence = elaboration_wording.passed(persona)
    return rt.recording(sentence, part=Part.WORKSHOP, persona=persona.key, **happened.meta)
