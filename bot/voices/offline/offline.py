"""
The voice without a model. It names what is on record and what is missing, and says once that there is no model. It
judges nothing and guesses nothing.
"""

from bot.domain.catalog.personas import Persona
from bot.domain.discussion.elaboration import Contribution, Elaboration, TurnKind
from bot.domain.messages import discussion_wording
from bot.domain.roundtable.effects import Speak
from bot.domain.roundtable.outcomes import DraftReview
from bot.engine.ports import NO_FACTS, Facts, Speech, TurnSpeech, VoiceContext
from bot.errors import VoiceError
from bot.voices.offline import discussing
from bot.voices.offline.discussing import Situation


class OfflineVoices:
    """Needs no network. Raises VoiceError only when there is no such persona, or no discussion."""

    async def draft(self, cue: VoiceContext) -> Speech:  # noqa: ARG002
        """Nothing: what is not said in a form is not guessed, and whether an answer is good is not judged."""
        return Speech("", by_rule=True)

    async def turn(self, cue: VoiceContext, asked: Speak) -> TurnSpeech:
        """The lead opens. Who is asked by name says that there is no model, once."""
        here = Situation(cue.roundtable, cue.playbook, persona_of(cue), debate_of(cue))
        said = ""
        if asked.turn is TurnKind.OPENING and not here.debate.framed and cue.persona == here.debate.lead:
            said = discussing.frame(here)
        elif asked.turn is TurnKind.ASKED and discussing.is_asked(here):
            said = discussion_wording.NO_MODEL
        found = Contribution(persona=cue.persona, text=said, by_rule=True)
        return TurnSpeech((found,) if said else (), by_rule=True)

    async def review(self, cue: VoiceContext) -> tuple[DraftReview, Facts]:  # noqa: ARG002
        """Nothing: it confirms nothing, and objects to nothing."""
        return DraftReview(), NO_FACTS


def persona_of(cue: VoiceContext) -> Persona:
    if persona := cue.playbook.roster.get(cue.persona):
        return persona
    raise VoiceError(f"There is no persona {cue.persona!r}.", reason="unknown_persona")


def debate_of(cue: VoiceContext) -> Elaboration:
    if cue.roundtable.elaboration is None:
        raise VoiceError("There is no discussion to speak in.", reason="no_elaboration")
    return cue.roundtable.elaboration
