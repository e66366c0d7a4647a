"""
The voice without a model. It names what is on record and what is missing, and says once that there is no model. It
judges nothing and guesses nothing.
"""

from bot.domain.catalog.personas import Persona
from bot.domain.discussion.elaboration import Elaboration
from bot.domain.messages import discussion_wording
from bot.engine.ports import Speech, VoiceContext
from bot.errors import VoiceError
from bot.voices.offline import discussing
from bot.voices.offline.discussing import Situation


class OfflineVoices:
    """Needs no network. Raises VoiceError only when there is no such persona, or no discussion."""

    async def draft(self, cue: VoiceContext) -> Speech:  # noqa: ARG002
        """Nothing: what is not said in a form is not guessed, and whether an answer is good is not judged."""
        return Speech("", by_rule=True)

    async def frame(self, cue: VoiceContext) -> Speech:
        return Speech(discussing.frame(_situation(cue)), by_rule=True)

    async def respond(self, cue: VoiceContext) -> Speech:
        if discussing.is_asked(_situation(cue)):
            return Speech(discussion_wording.NO_MODEL, by_rule=True)
        return Speech("", by_rule=True, passed=True)


def _situation(cue: VoiceContext) -> Situation:
    return Situation(cue.roundtable, cue.playbook, _persona(cue), _debate(cue))


def _persona(cue: VoiceContext) -> Persona:
    if persona := cue.playbook.roster.get(cue.persona):
        return persona
    raise VoiceError(f"There is no persona {cue.persona!r}.", reason="unknown_persona")


def _debate(cue: VoiceContext) -> Elaboration:
    if cue.roundtable.elaboration is None:
        raise VoiceError("There is no discussion to speak in.", reason="no_elaboration")
    return cue.roundtable.elaboration
