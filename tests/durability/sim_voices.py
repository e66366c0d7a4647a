"""The voices of the simulator: they say who speaks, and on what."""

from bot.domain.discussion.elaboration import MOST_IN_A_ROUND, Contribution, TurnKind
from bot.domain.roundtable.effects import Speak
from bot.domain.roundtable.outcomes import DraftReview
from bot.domain.specification.claims import Quote
from bot.engine.ports import Facts, Speech, TurnSpeech, VoiceContext
from bot.errors import VoiceError
from tests.durability.fates import Kind, Refused
from tests.durability.world import World


class SimVoices:
    def __init__(self, world: World) -> None:
        self._world = world

    async def draft(self, cue: VoiceContext) -> Speech:
        return Speech(self._said(f"{cue.persona} heard it"))

    async def turn(self, cue: VoiceContext, asked: Speak) -> TurnSpeech:
        most = MOST_IN_A_ROUND if asked.turn is TurnKind.ROUND else len(asked.personas)
        number = cue.roundtable.debate.turn_count
        found = [
            Contribution(
                persona=key,
                text=self._said(f"{key} on {asked.turn.value}"),
                quotes=(Quote(line=f"src/sync.py:{number}-{place}", words="the line of code"),),
            )
            for place, key in enumerate(asked.personas[:most])
        ]
        return TurnSpeech(tuple(found))

    async def review(self, cue: VoiceContext) -> tuple[DraftReview, Facts]:  # noqa: ARG002
        return DraftReview(), {"provider": self._said("scripted")}

    def _said(self, text: str) -> str:
        try:
            return self._world.fates.io(Kind.VOICE, lambda: text)
        except Refused:
            raise VoiceError("The voice is busy.", reason="busy", again=True) from None
