"""The voices of the simulator: they say who speaks, and on what."""

from bot.engine.ports import Speech, VoiceContext
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

    def _said(self, text: str) -> str:
        try:
            return self._world.fates.io(Kind.VOICE, lambda: text)
        except Refused:
            raise VoiceError("The voice is busy.", reason="busy", again=True) from None
