# ruff: noqa: ARG002 -- the port is wider than what is played here
"""The voices of the simulator: they say who speaks, and on what."""

from collections.abc import Mapping

from bot.domain.discussion.synthesis import Insight, Synthesis
from bot.engine.ports import NO_FACTS, Facts, ReviewFound, Speech, VoiceContext
from bot.errors import VoiceError
from tests.durability.fates import Kind, Refused
from tests.durability.world import World


class SimVoices:
    def __init__(self, world: World) -> None:
        self._world = world

    async def draft(self, cue: VoiceContext) -> Speech:
        return Speech(self._said(f"{cue.persona} heard it"))

    async def frame(self, cue: VoiceContext) -> Speech:
        return Speech(self._said(f"{cue.persona} frames it"))

    async def respond(self, cue: VoiceContext) -> Speech:
        return Speech(self._said(f"{cue.persona} responds"))

    async def synthesize(self, cue: VoiceContext, files: Mapping[str, str]) -> tuple[Synthesis, Facts]:
        summary = self._said("It matters")
        return Synthesis(insights=(Insight(text="It matters", by=("Ada",)),), summary=summary), NO_FACTS

    async def review(self, cue: VoiceContext) -> ReviewFound:
        return ReviewFound(facts={"provider": self._said("scripted")})

    def _said(self, text: str) -> str:
        try:
            return self._world.fates.io(Kind.VOICE, lambda: text)
        except Refused:
            raise VoiceError("The voice is busy.", reason="busy", again=True) from None
