"""
Personas with a model: each task becomes a prompt, and the model's answer becomes what the persona says or writes.

After an unusable answer the model is asked once more, with what was wrong; a second one is dropped. Nothing is posted
in a persona's name that its model did not write. When a model fails for good, VoiceError says why.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from typing import Any, NamedTuple, Protocol, TypeVar

from bot.domain.catalog.personas import ModelTask
from bot.domain.discussion.elaboration import Contribution, Elaboration, TurnKind
from bot.domain.roundtable.effects import Speak
from bot.domain.roundtable.outcomes import DraftQuestion, DraftReview
from bot.domain.specification.entries import Patch
from bot.domain.transcript.lines import QUOTED
from bot.domain.values.json_files import objects_in
from bot.engine.ports import Facts, Speech, TurnSpeech, VoiceContext, Voices
from bot.errors import EffectError, VoiceError
from bot.voices import answers, proposing, verifying
from bot.voices.answers import Answered, GivenQuestion, SpokenPart
from bot.voices.model import LanguageModel, Prompt, Usage, facts_of
from bot.voices.offline.offline import debate_of, persona_of
from bot.voices.prompts import tasks, wanted
from bot.voices.prompts.scene import Scene
from bot.voices.prompts.seen import sanitized
from bot.voices.sources import quoted_in, with_known_sources
from bot.voices.tools.looking import Looker, no_looker

log = logging.getLogger(__name__)

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

EMPTY, LONG, VOICES, REFUSED = "empty", "long", "voices", "refused"
FORM = "form"
"""What can be wrong with an answer. Each is also the heading of the sentence in `again.md` for the second attempt."""

OF_A_MIND = {"empty": EMPTY, "cut_off": LONG, "refused": REFUSED}
"""The same, by the reasons of a model's VoiceError."""

REASONS = {
    EMPTY: "empty",
    LONG: "cut_off",
    VOICES: "unstructured",
    REFUSED: "refused",
    FORM: "unstructured",
}

MindOf = Callable[[str], LanguageModel | None]
TurnLookerOf = Callable[[VoiceContext], Looker | None]
Efforts = Mapping[ModelTask, str]
NO_EFFORTS: Efforts = {}


class CallLimits(NamedTuple):
    seconds: float
    tokens: int


SPEAKING = CallLimits(60.0, 1_200)
DRAFTING = CallLimits(120.0, 4_000)
REVIEWING = CallLimits(verifying.SECONDS, verifying.TOKENS)

RAW, RAW_CHARS = "raw", 8_000
"""In the facts of a call: its answer, if that could not be read."""
SALVAGED = "from an answer that could not be read whole"


class ModelVoices:
    """
    *mind_of* gives a persona's model, by its key, or None; *offline* speaks for a persona without one. *looker_of*
    gives the tools of a turn, *efforts* how much is thought first. *second* is another model, for reviews, and for what
    personas say together.
    """

    def __init__(
        self,
        mind_of: MindOf,
        offline: Voices,
        *,
        looker_of: TurnLookerOf = no_looker,
        efforts: Efforts = NO_EFFORTS,
        second: LanguageModel | None = None,
    ) -> None:
        self._mind_of = mind_of
        self._second = second
        self._offline = offline
        self._looker_of = looker_of
        self._efforts = efforts

    async def draft(self, cue: VoiceContext) -> Speech:
        mind = self._mind(cue)
        if mind is None:
            return await self._offline.draft(cue)
        if cue.by_other:
            mind = self._second or mind
        session = self._session(mind, cue, DRAFTING, ModelTask.DRAFT)
        if not cue.roundtable.to_read and not session.looks:
            return Speech("")
        scene = await _scene(cue)
        spec, points = AnswerSpec(scene), wanted.open_points(scene)
        searched = await session.first_search("\n".join(one.text for one in cue.roundtable.unread))
        answer, facts = await _answer(session, cue, tasks.draft(scene, searched), spec)
        check = proposing.ProseCheck(scene, session.shown)
        prose = check.mark_sentences(answer.text, answer.quotes)
        facts = {**facts, **prose.facts}
        speech = Speech(
            prose.text,
            facts,
            questions=tuple(_asked(one, check, points) for one in answer.questions),
            next_questions=tuple(_asked(one, check) for one in answer.following),
        )
        if answer.entries is None:
            return speech
        found = proposing.proposed(answer.entries, scene, session.shown)
        patches = map(_doubted, found.patches) if facts.get(RAW) else found.patches
        facts = found.facts_with(facts, *answer.dropped)
        return speech._replace(patches=tuple(patches), facts=facts)

    async def turn(self, cue: VoiceContext, asked: Speak) -> TurnSpeech:
        if (mind := self._mind_for(cue, asked)) is None:
            return await self._offline.turn(cue, asked)
        debate, scene = debate_of(cue), await _scene(cue)
        session = self._session(mind, cue, SPEAKING, ModelTask.TURN)
        searched = ""
        if asked.turn is TurnKind.ROUND:  # people wait for it, so that it looks at no more than one search
            newest = takewhile(lambda one: one.human, reversed(debate.turns))
            searched = await session.only_search("\n".join(one.text for one in newest))
        spec, prompt = TurnSpec(scene, debate, asked), tasks.turn(scene, debate, asked, searched)
        parts, flaw = await _read_twice(prompt, spec, session, cue.persona)
        if flaw:
            raise _unusable(cue, flaw, session)
        return _turn_speech(parts, session, scene, prompt)

    def _mind_for(self, cue: VoiceContext, asked: Speak) -> LanguageModel | None:
        """Who speaks alone has a model of its own, or leads with the common one; for all others *second* speaks."""
        mind, persona = self._mind(cue), cue.playbook.roster.get(cue.persona)
        leads = cue.roundtable.debate.lead == cue.persona
        is_own = len(asked.personas) == 1 and (leads or bool(persona and persona.model))
        return mind if mind is None or is_own else self._second or mind

    async def review(self, cue: VoiceContext) -> tuple[DraftReview, Facts]:
        if (mind := self._second) is None:
            return await self._offline.review(cue)
        session = ModelSession(mind, REVIEWING, effort=self._efforts.get(ModelTask.REVIEW, ""))
        try:
            found = await verifying.review(cue.roundtable, cue.playbook.schema, session.about)
        except VoiceError as error:
            raise VoiceError(str(error), reason=error.reason, facts=session.facts) from None
        if objection := found.objection:
            found = found.but(objection=objection.but(model=session.facts.get("model", "")))
        return found, session.facts

    def _session(
        self, mind: LanguageModel, cue: VoiceContext, limits: CallLimits, task: ModelTask
    ) -> "ModelSession":
        return ModelSession(mind, limits, looker=self._looker_of(cue), effort=self._efforts.get(task, ""))

    def _mind(self, cue: VoiceContext) -> LanguageModel | None:
        return self._mind_of(cue.persona)


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
        self._has_tools = True
        self.raw = ""
        """The newest answer."""
        self.stopped_looking = False
        self.in_schema = False
        """Whether a model was held to the schema of an answer, so that one without its data is none."""

    @property
    def facts(self) -> Facts:
        """With what was looked at, also by a model that did not answer."""
        stopped = {"stopped_looking": True} if self.stopped_looking else {}
        return {**facts_of(self._usages), **(self._looker.facts if self._looker else {}), **stopped}

    @property
    def looks(self) -> bool:
        return self._looker is not None

    @property
    def shown(self) -> Mapping[str, str]:
        """What a tool showed, by the ids that it is cited by."""
        return self._looker.shown if self._looker else {}

    async def first_search(self, said: str) -> str:
        return await self._looker.first_search(said) if self._looker else ""

    async def only_search(self, said: str) -> str:
        """In place of tools."""
        self._has_tools = False
        return await self.first_search(said)

    async def about(self, prompt: Prompt) -> str:
        """
        Raises VoiceError, without `again`: the chain of models has made all attempts already. A cancellation says what
        was served until then, in its `args`.
        """
        seconds, tokens = self._allowance
        try:
            tools = self._looker if self._has_tools else None
            prompt = prompt._replace(tools=tools, effort=self._effort, served=self._usages)
            before = len(self._usages)
            thought = await self._mind.think(prompt, seconds=seconds, tokens=tokens)
        except VoiceError as error:
            raise VoiceError(str(error), reason=error.reason, facts=self.facts) from None
        except asyncio.CancelledError as cancelled:
            cancelled.args = (self.facts,)
            raise
        if len(self._usages) == before:  # a model that only tells what its answer took
            self._usages.append(thought.usage)
        self.in_schema |= thought.in_schema
        self.stopped_looking |= thought.stopped_looking
        self.raw = thought.text
        return thought.text


class AnswerReader(Protocol[T_co]):
    def read(self, text: str, *, in_schema: bool = False) -> tuple[T_co, str]:
        """The answer, and what is wrong with it; empty when nothing is."""
        ...


class AnswerSpec:
    """The requirements for what is made of people's answers: it needs no words."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self._persona = scene.persona
        self._names = answers.SpeakerPrefixes(scene.playbook.roster, scene.rt.people.values())

    def read(self, text: str, *, in_schema: bool = False) -> tuple[Answered, str]:
        """
        The answer, and what is wrong with it; empty when nothing is. An answer that was to be in a schema has a record:
        words alone may be a refusal, in whatever language.
        """
        found = answers.read(sanitized(text))
        whole = answers.tidied(found.text)
        own = self._names.own(whole, self._persona)
        answer = found._replace(text=own)
        if found.declined or answers.declines(own):
            return answer._replace(text=""), REFUSED
        if not found.recorded and (in_schema or own):
            return answer._replace(text="" if in_schema else own), FORM
        if not own:
            return answer, "" if found.recorded and not whole else VOICES if whole else EMPTY
        return answer, LONG if len(own) > answers.LONGEST_REMARK else ""


class TurnSpec:
    """The requirements for what the personas of *asked* say in a discussion."""

    def __init__(self, scene: Scene, debate: Elaboration, asked: Speak) -> None:
        roster = scene.playbook.roster
        self._roster = roster
        self._names = answers.SpeakerPrefixes(roster, scene.rt.people.values())
        self._personas = [one for one in roster if one.key in asked.personas]
        self._turns = frozenset(turn.id for turn in tasks.heard_by(debate, asked))
        self._most = tasks.most_contributions(asked)

    def read(self, text: str, *, in_schema: bool = False) -> tuple[list[SpokenPart], str]:  # noqa: ARG002
        """What was said, and what is wrong with it. An empty list is an answer, too."""
        clean = sanitized(text)
        given = answers.spoken_in(clean, turns=self._turns)
        if answers.is_declined(clean) or (given is None and answers.declines(clean)):
            return [], REFUSED
        if given is None:
            return [], FORM if clean.strip() else EMPTY
        found = [part for one in given if (part := self._own(one))]
        is_anothers = not found and any(one.text for one in given)
        return found[: self._most], VOICES if is_anothers else ""

    def _own(self, part: SpokenPart) -> SpokenPart | None:
        """With the words of its persona alone. Where only one was asked, nobody else is meant."""
        named = [one for one in self._personas if part.persona in {one.key, one.name, one.first_name}]
        known = named or (
            self._personas if len(self._personas) == 1 and part.persona not in self._roster else []
        )
        text = self._names.own(answers.tidied(part.text), known[0]) if known else ""
        if not text or answers.declines(text):
            return None
        return part._replace(persona=known[0].key, text=answers.shortened(text))


def _turn_speech(
    parts: Sequence[SpokenPart], session: "ModelSession", scene: Scene, prompt: Prompt
) -> TurnSpeech:
    """Nobody sees a source that the personas did not see."""
    seen, shown = "\n".join((*prompt.stable, prompt.moving)), session.shown
    found, left_out = list[Contribution](), list[Mapping[str, str]]()
    check = proposing.ProseCheck(scene, shown)
    for one in parts:
        text = with_known_sources(one.text, shown, seen)
        left_out += text.dropped
        passages = quoted_in(text.text, shown)
        prose = check.mark_sentences(text.text, one.quotes)
        found.append(
            Contribution(
                persona=one.persona,
                text=prose.text,
                stances=one.stances,
                quotes=prose.quotes,
                facts={**prose.facts, **({QUOTED: passages} if passages else {})},
            )
        )
    facts = {**session.facts, "dropped": tuple(left_out)} if left_out else session.facts
    return TurnSpeech(tuple(found), facts)


def _asked(
    one: GivenQuestion, check: proposing.ProseCheck, points: Sequence[wanted.OpenPoint] = ()
) -> DraftQuestion:
    gap = points[one.about - 1].gap if 0 < one.about <= len(points) else None
    about = gap.key if gap else ""
    why = check.mark(one.why)
    return DraftQuestion(text=one.text, to=one.to, recommended=one.recommended, why=why, gap=about)


async def _answer(
    thinking: ModelSession, cue: VoiceContext, prompt: Prompt, spec: AnswerSpec
) -> tuple[Answered, Facts]:
    answer, flaw = await _read_twice(prompt, spec, thinking, cue.persona)
    if flaw == LONG and answer.text:
        answer, flaw = answer._replace(text=answers.shortened(answer.text, answers.LONGEST_REMARK)), ""
    facts = dict(thinking.facts)
    if flaw in {FORM, EMPTY} and (entries := _entries_in(thinking.raw)):
        answer, flaw = answer._replace(text="", entries=entries), ""
        facts[RAW] = thinking.raw[:RAW_CHARS]
    if flaw == FORM and answer.text:  # what it says is still useful
        flaw = ""
    if flaw:
        raise _unusable(cue, flaw, thinking)
    answer = _with_known_sources(answer, thinking.shown, prompt)
    if passages := quoted_in(answer.text, thinking.shown):
        facts[QUOTED] = passages
    if answer.dropped:
        facts["dropped"] = answer.dropped
    return answer, facts if answer.recorded else {**facts, "unrecorded": True}


def _entries_in(text: str) -> tuple[Mapping[str, Any], ...]:
    """Whole ones, in an answer that was cut off or has no form."""
    return tuple(one for one in objects_in(text) if isinstance(one.get("fields"), Mapping | list))


def _doubted(patch: Patch) -> Patch:
    return patch.but(unverified={**dict.fromkeys(patch.set, SALVAGED), **patch.unverified})


def _with_known_sources(answer: Answered, shown: Mapping[str, str], prompt: Prompt) -> Answered:
    """Nobody sees a source that the persona did not see."""
    seen = "\n".join((*prompt.stable, prompt.moving))
    dropped = list[Mapping[str, str]]()

    def known(text: str) -> str:
        found = with_known_sources(text, shown, seen)
        dropped.extend(found.dropped)
        return found.text

    def asked(one: GivenQuestion) -> GivenQuestion:
        return one._replace(text=known(one.text), recommended=known(one.recommended), why=known(one.why))

    return answer._replace(
        text=known(answer.text),
        questions=tuple(map(asked, answer.questions)),
        following=tuple(map(asked, answer.following)),
        dropped=tuple(dropped),
    )


async def _read_twice(
    prompt: Prompt, spec: AnswerReader[T], thinking: ModelSession, persona: str
) -> tuple[T, str]:
    answer, flaw = await _read_once(prompt, spec, thinking)
    if flaw:
        log.info("%s is asked once more, because the answer was %s", persona, flaw)
        answer, flaw = await _read_once(tasks.again(prompt, flaw), spec, thinking)
    return answer, flaw


async def _read_once(prompt: Prompt, spec: AnswerReader[T], thinking: ModelSession) -> tuple[T, str]:
    try:
        text = await thinking.about(prompt)
    except VoiceError as error:
        if flaw := OF_A_MIND.get(error.reason):
            return spec.read("")[0], flaw
        raise
    return spec.read(text, in_schema=thinking.in_schema)


def _unusable(cue: VoiceContext, flaw: str, thinking: ModelSession) -> VoiceError:
    sentence = f"{cue.persona} found no words that could be used."
    raw = {RAW: thinking.raw[:RAW_CHARS]} if thinking.raw else {}
    return VoiceError(sentence, reason=REASONS[flaw], facts={**thinking.facts, **raw})


async def _scene(cue: VoiceContext) -> Scene:
    """With the item's files, or without any if they cannot be read."""
    files: Mapping[str, str] = {}
    try:
        files = await cue.files()
    except EffectError as error:
        log.warning("%s speaks without having read the files: %s", cue.persona, error)
    return Scene(cue.roundtable, cue.playbook, persona_of(cue), files)
