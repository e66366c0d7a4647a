"""Whether a model is asked for what is owed, and so whether people wait for one, and pay it."""

from bot.domain.agenda import Playbook
from bot.domain.effects import Draft, Formalize, Judge, Speak, Synthesize
from bot.domain.model_names import OFFLINE
from bot.domain.persona import Persona
from bot.domain.roundtable import Roundtable
from bot.domain.transitions.asking import speaker_of

ByVoice = Speak | Draft | Synthesize | Judge | Formalize


def thinks(work: ByVoice, rt: Roundtable, playbook: Playbook) -> bool:
    """With the persona's own model, or else everybody's."""
    if isinstance(work, Speak | Draft | Synthesize) and rt.unaided:
        return False
    if isinstance(work, Draft | Synthesize) and work.unaided:
        return False
    persona = _by(work, rt, playbook)
    own = persona.model if persona else ""
    return own != OFFLINE if own else playbook.house.thinks


def _by(work: ByVoice, rt: Roundtable, playbook: Playbook) -> Persona | None:
    match work:
        case Speak(persona=key):
            return playbook.roster.get(key)
        case Judge(role=role):
            return next((one for one in playbook.workshop if one.actor == role), None)
        case Formalize():
            return next(iter(playbook.workshop), None)
        case _:
            return speaker_of(rt, playbook)
