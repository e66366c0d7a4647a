"""
The voice without a model: the roundtable as a facilitated meeting of people.

The personas ask what their lens would ask, and quote. The same roundtable gets the same words, always. Reading what
people wrote is work for the processor, so it is done beside the event loop: meanwhile everybody else is served.
"""

import asyncio
from collections.abc import Mapping

from bot.domain.catalog.personas import Persona
from bot.domain.discussion.synthesis import Synthesis
from bot.domain.specification.entries import Patch
from bot.engine.ports import NO_FACTS, Facts, Speech, VoiceContext
from bot.errors import VoiceError
from bot.voices.offline import acknowledging, discussing, extracting, framing
from bot.voices.offline.situation import Situation
from bot.voices.truncation import truncated


class OfflineVoices:
    """Never fails for want of a network; raises VoiceError only when asked to speak where there is nothing to."""

    async def acknowledge(self, cue: VoiceContext) -> Speech:
        return Speech(
            await asyncio.to_thread(
                acknowledging.acknowledge, truncated(cue.roundtable), cue.playbook, _persona(cue)
            )
        )

    async def frame(self, cue: VoiceContext) -> Speech:
        return Speech(await asyncio.to_thread(framing.frame, _situation(cue)))

    async def respond(self, cue: VoiceContext) -> Speech:
        return Speech(await asyncio.to_thread(discussing.respond, _situation(cue)))

    async def propose(self, cue: VoiceContext, files: Mapping[str, str]) -> tuple[tuple[Patch, ...], Facts]:
        """Nothing: what is not said in a form is not guessed."""
        del cue, files
        return (), NO_FACTS

    async def synthesize(self, cue: VoiceContext, files: Mapping[str, str]) -> tuple[Synthesis, Facts]:  # noqa: ARG002
        return await asyncio.to_thread(extracting.synthesize, _situation(cue).debate), NO_FACTS


def _persona(cue: VoiceContext) -> Persona:
    if persona := cue.playbook.roster.get(cue.persona):
        return persona
    raise VoiceError(f"There is no persona {cue.persona!r}.", reason="unknown_persona")


def _situation(cue: VoiceContext) -> Situation:
    rt = truncated(cue.roundtable)
    if rt.elaboration is None:
        raise VoiceError("There is no discussion to speak in.", reason="no_elaboration")
    return Situation(rt, cue.playbook, _persona(cue), rt.elaboration)
