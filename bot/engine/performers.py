"""One exhaustive match: an effect becomes a call to a port, and its result an outcome."""

from typing import NamedTuple, assert_never

from bot.domain.agenda import Playbook
from bot.domain.effects import (
    Commit,
    Draft,
    Effect,
    Log,
    MeetPerson,
    OpenThread,
    Post,
    React,
    ReadItem,
    ReadThread,
    Rewrite,
    Speak,
    Survey,
    Synthesize,
    Tell,
)
from bot.domain.inputs import (
    Committed,
    Done,
    Drafted,
    ItemRead,
    Outcome,
    PersonaSpoke,
    PersonMet,
    Posted,
    Surveyed,
    Synthesized,
    ThreadOpened,
    ThreadRead,
)
from bot.domain.roundtable import Roundtable
from bot.engine.clock import Clock
from bot.engine.ports import Chat, Cue, Voices, Workspace
from bot.engine.troubles import log_trouble

MESSAGES_READ = 200
SURVEY_SECONDS = 5.0
SOURCES = ("draft.md", "quick-scan.md", "requirements-spec.md", "user-stories.json")
"""Artifacts that steps build upon, besides their own."""


class Performers(NamedTuple):
    """The world, as far as effects reach into it."""

    chat: Chat
    voices: Voices
    workspace: Workspace
    playbook: Playbook
    clock: Clock

    async def perform(self, effect: Effect, rt: Roundtable) -> Outcome:
        """Raises EffectError when the world says no."""
        again = effect.attempts > 1
        told = {"key": effect.id, "effect": effect.id, "at": self.clock()}
        match effect:
            case OpenThread():
                opened = await self.chat.open(rt.place, effect.message, key=effect.id, again=again)
                return ThreadOpened(**told, ts=opened.ts, permalink=opened.permalink)
            case ReadThread():
                heard = await self.chat.read(rt.place, limit=MESSAGES_READ)
                return ThreadRead(**told, heard=heard, recovering=effect.recovering)
            case ReadItem():
                reading = await self.workspace.read(rt.slug, now=rt.now)
                return ItemRead(
                    **told, state=reading.state, troubles=reading.troubles, recovering=effect.recovering
                )
            case Post():
                ts = await self.chat.post(rt.place, effect.message, key=effect.id, again=again)
                return Posted(**told, ts=ts)
            case Rewrite():
                await self.chat.rewrite(rt.place, effect.ts, effect.message)
            case React():
                await self.chat.react(rt.place, effect.ts, effect.emoji)
            case Tell():
                await self.chat.tell(rt.place, effect.person, effect.message, reply_url=effect.reply_url)
            case Speak():
                return PersonaSpoke(**told, persona=effect.persona, text=await self._voice(effect, rt))
            case Survey():
                survey = await self.workspace.survey(effect.keywords, seconds=SURVEY_SECONDS)
                return Surveyed(**told, survey=survey)
            case Draft():
                files = await self.workspace.files(rt.slug, self._files_of(effect.steps))
                edits = await self.voices.draft(
                    self._cue(rt), steps=effect.steps, files=files, skipped=effect.skipped
                )
                return Drafted(**told, edits=edits)
            case Synthesize():
                files = await self.workspace.files(rt.slug, self._files_of((rt.step_id,)))
                return Synthesized(**told, synthesis=await self.voices.synthesize(self._cue(rt), files))
            case Commit():
                receipt = await self.workspace.commit(rt.slug, effect, now=rt.now)
                lines = frozenset(line.message_id for line in effect.lines)
                return Committed(
                    **told,
                    state=receipt.state,
                    lines=lines,
                    sha=receipt.sha,
                    touched=receipt.touched,
                    troubles=receipt.troubles,
                )
            case MeetPerson():
                name = await self.chat.name(effect.person)
                return PersonMet(**told, person=effect.person, name=name)
            case Log():
                log_trouble(effect.trouble)
            case _:
                assert_never(effect)
        return Done(**told)

    async def _voice(self, effect: Speak, rt: Roundtable) -> str:
        cue = Cue(rt, self.playbook, effect.persona)
        match effect.task:
            case "acknowledge":
                return await self.voices.acknowledge(cue)
            case "frame":
                return await self.voices.frame(cue)
            case "respond":
                return await self.voices.respond(cue)
            case _:
                assert_never(effect.task)

    def _cue(self, rt: Roundtable) -> Cue:
        step = self.playbook.agenda.get(rt.step_id)
        lead = self.playbook.roster.lead_of(rt.phase_key)[0].key
        return Cue(rt, self.playbook, step.persona if step and step.persona in self.playbook.roster else lead)

    def _files_of(self, steps: tuple[str, ...]) -> tuple[str, ...]:
        own = (
            output
            for step_id in steps
            if (step := self.playbook.agenda.get(step_id))
            for output in step.outputs
        )
        return tuple(dict.fromkeys((*own, *SOURCES)))
