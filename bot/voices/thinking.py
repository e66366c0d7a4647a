"""
Personas with a model: each task becomes a prompt, and the model's answer becomes what the persona says or writes.

After an unusable answer the model is asked once more, with what was wrong; a second one is dropped. Nothing is posted
in a persona's name that its model did not write. When a model fails for good, VoiceError says why, and the roundtable
goes on without a model until a person turns it on again.
"""

import logging
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from bot.domain.catalog.models import ModelTask
from bot.domain.discussion.elaboration import Elaboration
from bot.domain.discussion.synthesis import Synthesis
from bot.domain.specification.entries import Patch
from bot.engine.ports import NO_FACTS, Facts, Speech, VoiceContext, Voices
from bot.errors import EffectError, VoiceError
from bot.voices import answers, proposing
from bot.voices.answers import Answered
from bot.voices.concluding import concluded
from bot.voices.model import LanguageModel, Prompt, Usage, facts_of
from bot.voices.prompts import tasks
from bot.voices.prompts.blind import visible_to
from bot.voices.prompts.scene import Scene
from bot.voices.prompts.seen import sanitized
from bot.voices.tools.looking import Looker
from bot.voices.verifying import Verifier, merged

log = logging.getLogger(__name__)

EMPTY, LONG, VOICES, REFUSED, PARTS, QUESTION = "empty", "long", "voices", "refused", "parts", "question"
"""What can be wrong with an answer. Each is also the heading of the sentence in `again.md` for the second attempt."""

OF_A_MIND = {"empty": EMPTY, "cut_off": LONG, "refused": REFUSED}
"""The same, by the reasons of a model's VoiceError."""

REASONS = {EMPTY: "empty", LONG: "cut_off", VOICES: "unstructured", REFUSED: "refused"}

MindOf = Callable[[str], LanguageModel | None]
LookerOf = Callable[[VoiceContext], Looker | None]
Efforts = Mapping[ModelTask, str]
NO_EFFORTS: Efforts = {}


def no_looker(_: VoiceContext) -> None:
    """For voices that look at nothing."""


class CallLimits(NamedTuple):
    seconds: float
    tokens: int


WRITING = CallLimits(120.0, 4_000)
SPEAKING = CallLimits(60.0, 1_200)
CONCLUDING = CallLimits(120.0, 4_000)


class ModelVoices:
    """
    *mind_of* gives a persona's model, by its key, or None. *offline* speaks for a persona without one, and in a
    roundtable that goes on without a model. *looker_of* gives the tools of a turn, *efforts* how much is thought first.
    *verifier* reads claims beside their sources once more.
    """

    def __init__(
        self,
        mind_of: MindOf,
        offline: Voices,
        verifier: Verifier | None = None,
        *,
        looker_of: LookerOf = no_looker,
        efforts: Efforts = NO_EFFORTS,
    ) -> None:
        self._mind_of = mind_of
        self._offline = offline
        self._looker_of = looker_of
        self._efforts = efforts
        self._verifier = verifier

    async def acknowledge(self, cue: VoiceContext) -> Speech:
        if (mind := self._mind(cue)) is None:
            return await self._offline.acknowledge(cue)
        if not cue.roundtable.answers:
            return Speech("")
        scene = await _scene(cue)
        session = self._session(mind, cue, SPEAKING, ModelTask.ACKNOWLEDGE)
        return await _spoken(session, cue, tasks.acknowledge(scene), AnswerSpec(scene, assesses=True))

    async def frame(self, cue: VoiceContext) -> Speech:
        if (mind := self._mind(cue)) is None:
            return await self._offline.frame(cue)
        debate, scene = _debate(cue), await _scene(cue)
        session = self._session(mind, cue, SPEAKING, ModelTask.FRAME)
        return await _spoken(session, cue, tasks.frame(scene, debate), AnswerSpec(scene, may_pass=False))

    async def respond(self, cue: VoiceContext) -> Speech:
        if (mind := self._mind(cue)) is None:
            return await self._offline.respond(cue)
        debate, scene = _debate(cue), await _scene(cue)
        known = frozenset(turn.id for turn in visible_to(debate, cue.persona))
        session = self._session(mind, cue, SPEAKING, ModelTask.RESPOND)
        return await _spoken(session, cue, tasks.respond(scene, debate), AnswerSpec(scene, known))

    async def propose(self, cue: VoiceContext, files: Mapping[str, str]) -> tuple[tuple[Patch, ...], Facts]:
        mind = self._mind(cue)
        if mind is None:
            return await self._offline.propose(cue, files)
        scene = _scene_of(cue, files)
        if (prompt := proposing.prompt(scene)) is None:
            return (), NO_FACTS
        thinking = self._session(mind, cue, WRITING, ModelTask.DRAFT)
        found = proposing.proposals(await thinking.about(prompt), scene, thinking.shown)
        if found is None:
            answer = await thinking.about(tasks.again(prompt, PARTS))
            found = proposing.proposals(answer, scene, thinking.shown)
        if found is None:
            return (), thinking.facts
        dropped = {"dropped": list(found.dropped)} if found.dropped else {}
        facts = {**thinking.facts, **dropped}
        if self._verifier is None:
            return found.patches, facts
        known, schema = cue.roundtable.specification, cue.playbook.schema
        kept, checked = await self._verifier.proposals(found.patches, found.texts, schema, known)
        return kept, merged(facts, checked)

    async def synthesize(self, cue: VoiceContext, files: Mapping[str, str]) -> tuple[Synthesis, Facts]:
        """Raises VoiceError. The caller counts failures and decides about another attempt (ERR-ELAB-007)."""
        if (mind := self._mind(cue)) is None:
            return await self._offline.synthesize(cue, files)
        debate, scene = _debate(cue), _scene_of(cue, files)
        thinking = self._session(mind, cue, CONCLUDING, ModelTask.SYNTHESIZE)
        try:
            text = await thinking.about(tasks.synthesize(scene, debate))
        except VoiceError as error:
            if error.reason in OF_A_MIND:
                raise VoiceError(str(error), reason="unstructured", facts=error.facts) from None
            raise
        synthesis, facts = concluded(text, debate), thinking.facts
        if self._verifier is None:
            return synthesis, facts
        kept, checked = await self._verifier.synthesis(synthesis, debate)
        return kept, merged(facts, checked)

    def _session(
        self, mind: LanguageModel, cue: VoiceContext, limits: CallLimits, task: ModelTask
    ) -> "ModelSession":
        return ModelSession(mind, limits, looker=self._looker_of(cue), effort=self._efforts.get(task, ""))

    def _mind(self, cue: VoiceContext) -> LanguageModel | None:
        return None if cue.roundtable.is_unaided(cue.persona) else self._mind_of(cue.persona)


class ModelSession:
    """All calls of a model for one task, and what they took together."""

    def __init__(
        self, mind: LanguageModel, allowance: CallLimits, *, looker: Looker | None = None, effort: str = ""
    ) -> None:
        self._mind = mind
        self._allowance = allowance
        self._looker = looker
        self._effort = effort
        self._usages: list[Usage] = []

    @property
    def facts(self) -> Facts:
        """With what was looked at, also by a model that did not answer."""
        return {**facts_of(self._usages), **(self._looker.facts if self._looker else {})}

    @property
    def shown(self) -> Mapping[str, str]:
        """What a tool showed, by the ids that it is cited by."""
        return self._looker.shown if self._looker else {}

    async def about(self, prompt: Prompt) -> str:
        """Raises VoiceError, without `again`: the chain of models has made all attempts already."""
        seconds, tokens = self._allowance
        try:
            prompt = prompt._replace(tools=self._looker, effort=self._effort, served=self._usages)
            before = len(self._usages)
            thought = await self._mind.think(prompt, seconds=seconds, tokens=tokens)
        except VoiceError as error:
            raise VoiceError(str(error), reason=error.reason, facts=self.facts) from None
        if len(self._usages) == before:  # a model that only tells what its answer took
            self._usages.append(thought.usage)
        return thought.text


class AnswerSpec:
    """
    The requirements for an answer. *turns* are the ids of the turns that the persona has read. If it *assesses*
    people's answers and is not satisfied, it must ask exactly one question.
    """

    def __init__(
        self, scene: Scene, turns: Collection[str] = (), *, may_pass: bool = True, assesses: bool = False
    ) -> None:
        rt, roster = scene.rt, scene.playbook.roster
        self._persona = scene.persona
        self._names = answers.SpeakerPrefixes(roster, rt.people.values())
        self._turns = turns
        self._may_pass = may_pass
        self._assesses = assesses

    def read(self, text: str) -> tuple[Answered, str]:
        """The answer, and what is wrong with it; empty when nothing is."""
        found = answers.read(sanitized(text), turns=self._turns)
        whole = answers.tidied(found.text)
        own = self._names.own(whole, self._persona)
        answer = found._replace(text=own)
        if answers.declines(own):
            return answer._replace(text=""), REFUSED
        unasked = self._assesses and found.satisfied is False and answers.questions_in(own) != 1
        if not own and not whole and unasked:
            return answer, QUESTION
        if not own:
            silent = (found.passed and self._may_pass) or found.satisfied is not None
            return answer, "" if silent and not whole else VOICES if whole else EMPTY
        if len(own) > answers.LONGEST:
            return answer, LONG
        return answer, QUESTION if unasked else ""


async def _spoken(thinking: "ModelSession", cue: VoiceContext, prompt: Prompt, wanted: AnswerSpec) -> Speech:
    answer, flaw = await _answered(prompt, wanted, thinking)
    if flaw:
        log.info("%s is asked once more, because the answer was %s", cue.persona, flaw)
        answer, flaw = await _answered(tasks.again(prompt, flaw), wanted, thinking)
    if flaw == LONG and answer.text:
        answer, flaw = answer._replace(text=answers.shortened(answer.text)), ""
    if flaw == QUESTION:  # what it says about the answer is still useful
        flaw = ""
    if flaw:
        sentence = f"{cue.persona} found no words that could be used."
        raise VoiceError(sentence, reason=REASONS[flaw], facts=thinking.facts)
    facts = dict(thinking.facts) if answer.recorded else {**thinking.facts, "unrecorded": True}
    return Speech(answer.text, facts, answer.stances, answer.satisfied, answer.passed)


async def _answered(prompt: Prompt, wanted: AnswerSpec, thinking: ModelSession) -> tuple[Answered, str]:
    try:
        text = await thinking.about(prompt)
    except VoiceError as error:
        if flaw := OF_A_MIND.get(error.reason):
            return Answered(""), flaw
        raise
    return wanted.read(text)


async def _scene(cue: VoiceContext) -> Scene:
    """With the item's files, or without any if they cannot be read."""
    try:
        files = await cue.files()
    except EffectError as error:
        log.warning("%s speaks without having read the files: %s", cue.persona, error)
        files = {}
    return _scene_of(cue, files)


def _scene_of(cue: VoiceContext, files: Mapping[str, str]) -> Scene:
    if persona := cue.playbook.roster.get(cue.persona):
        return Scene(cue.roundtable, cue.playbook, persona, files)
    raise VoiceError(f"There is no persona {cue.persona!r}.", reason="unknown_persona")


def _debate(cue: VoiceContext) -> Elaboration:
    if cue.roundtable.elaboration is None:
        raise VoiceError("There is no discussion to speak in.", reason="no_elaboration")
    return cue.roundtable.elaboration
