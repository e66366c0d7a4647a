"""The personas of a recorded meeting: each says what the file has when it is its turn, and passes otherwise."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from bot.domain.catalog.agenda import Playbook
from bot.domain.discussion.elaboration import Elaboration, StanceGroups
from bot.domain.discussion.synthesis import Synthesis
from bot.domain.specification.entries import Patch
from bot.engine.ports import Facts, Speech, VoiceContext, Voices
from bot.voices.offline.offline import OfflineVoices
from bot.voices.thinking import ModelVoices
from bot.voices.verifying import Verifier
from roundtable_eval.contending import ATTEMPTS, ScriptedModel, as_answered, scripted
from roundtable_eval.meeting import Meeting

PASSED = Speech("", passed=True, by_rule=True)


class RecordedVoices:
    """
    In the thread of the recording the file speaks, and after its end the voices without a model: no model is called
    there. *live* speaks in all other threads.
    """

    def __init__(self, meeting: Meeting, playbook: Playbook, live: Voices) -> None:
        self._meeting = meeting
        self._playbook = playbook
        self._live = live
        self._rules = OfflineVoices()
        self._thread = ""
        self._said: set[str] = set()
        self._released = -1
        self._has_ended = False
        self._moved = asyncio.Event()

    # What the player says

    def play_in(self, thread_ts: str) -> None:
        self._thread = thread_ts

    def said(self, ts: str) -> None:
        """By a person, as the file has it."""
        self._said.add(ts)

    def release(self, turn: int) -> None:
        """The persona of this turn of the file may say it, as soon as it has the floor."""
        self._released = turn
        self._moved.set()

    def end(self) -> None:
        self._has_ended = True
        self._moved.set()

    # What the bot asks

    async def acknowledge(self, cue: VoiceContext) -> Speech:
        return await self._outside(cue).acknowledge(cue)

    async def frame(self, cue: VoiceContext) -> Speech:
        if not self._is_recorded(cue):
            return await self._outside(cue).frame(cue)
        return await self._next(cue, lambda voices: voices.frame(cue))

    async def respond(self, cue: VoiceContext) -> Speech:
        if not self._is_recorded(cue):
            return await self._outside(cue).respond(cue)
        return await self._next(cue, lambda voices: voices.respond(cue))

    async def propose(self, cue: VoiceContext, files: Mapping[str, str]) -> tuple[tuple[Patch, ...], Facts]:
        return await self._outside(cue).propose(cue, files)

    async def synthesize(self, cue: VoiceContext, files: Mapping[str, str]) -> tuple[Synthesis, Facts]:
        if not self._is_recorded(cue):
            return await self._outside(cue).synthesize(cue, files)
        models = scripted(self._meeting, self._playbook)
        verifier = Verifier(models.verifier) if models.verifier else None
        return await ModelVoices(lambda _: models.chair, self._rules, verifier).synthesize(cue, files)

    async def compare(self, cue: VoiceContext) -> tuple[StanceGroups, Facts]:
        models = scripted(self._meeting, self._playbook)
        if not self._is_recorded(cue) or models.comparing is None:
            return await self._outside(cue).compare(cue)
        return await Verifier(models.comparing).compared(cue.roundtable.debate)

    async def _next(self, cue: VoiceContext, speak: Callable[[Voices], Awaitable[Speech]]) -> Speech:
        number = self._turns_said(cue.roundtable.debate, cue.playbook)
        if number == len(self._meeting.thread):
            return PASSED
        turn = self._meeting.thread[number]
        persona = cue.playbook.roster.get(cue.persona)
        if persona is None or persona.first_name != turn.name:
            return PASSED
        while self._released < number and not self._has_ended:
            self._moved.clear()
            await self._moved.wait()
        if self._has_ended:
            return PASSED
        words = [as_answered(turn)] * ATTEMPTS
        return await speak(ModelVoices(lambda _: ScriptedModel(words), self._rules))

    def _turns_said(self, debate: Elaboration, playbook: Playbook) -> int:
        """How many turns of the file are in *debate*; visitors may have said something in between."""
        keys = {persona.first_name: persona.key for persona in playbook.roster}
        number = 0
        for one in debate.turns:
            if number == len(self._meeting.thread):
                break
            key = keys.get(self._meeting.thread[number].name)
            number += one.by == key if key else one.ts in self._said
        return number

    def _is_recorded(self, cue: VoiceContext) -> bool:
        return self._is_here(cue) and not self._has_ended

    def _is_here(self, cue: VoiceContext) -> bool:
        return bool(self._thread) and cue.roundtable.place.thread == self._thread

    def _outside(self, cue: VoiceContext) -> Voices:
        return self._rules if self._is_here(cue) else self._live
