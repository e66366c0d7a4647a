"""
Personas with a model: each task becomes a prompt, and the model's answer becomes what the persona says or writes.

Nothing is posted in a persona's name that its model did not write. When a model fails for good, VoiceError says why.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

from bot.domain.catalog.personas import ModelTask
from bot.domain.discussion.elaboration import Contribution, TurnKind
from bot.domain.roundtable.effects import Speak
from bot.domain.roundtable.outcomes import DraftQuestion, DraftReview
from bot.domain.specification.claim_check import WAITING
from bot.domain.specification.fold import Patch
from bot.domain.transcript.lines import UNSEEN
from bot.engine.ports import Facts, Speech, TurnSpeech, VoiceContext, Voices
from bot.errors import EffectError, VoiceError
from bot.voices import answers, proposing, verifying
from bot.voices.answers import Answered
from bot.voices.model import LanguageModel
from bot.voices.offline import debate_of, persona_of
from bot.voices.prompts import tasks, wanted
from bot.voices.prompts.fencing import NAME_CHARS, sanitized, text_row
from bot.voices.prompts.scene import Scene
from bot.voices.prompts.specification import ids_left_out
from bot.voices.session import NO_EFFORTS, REVIEWING, VOICES, CallLimits, Efforts, ModelSession
from bot.voices.sources import ProseCheck
from bot.voices.tools.looking import LookerOf, LookSubject, no_looker

log = logging.getLogger(__name__)

MindOf = Callable[[str], LanguageModel | None]

SPEAKING = CallLimits(60.0, 1_200)
DRAFTING = CallLimits(120.0, 4_000)

SALVAGED = "from an answer that could not be read whole"


def no_mind(_: str) -> None:
    """For personas without a model."""


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
        looker_of: LookerOf = no_looker,
        efforts: Efforts = NO_EFFORTS,
        second: LanguageModel | None = None,
    ) -> None:
        self._mind_of = mind_of
        self._second = second
        self._offline = offline
        self._looker_of = looker_of
        self._efforts = efforts

    async def draft(self, cue: VoiceContext) -> Speech:
        mind = self._mind_of(cue.persona)
        if mind is None:
            return await self._offline.draft(cue)
        if cue.by_other:
            mind = self._second or mind
        session = self._session(mind, cue, DRAFTING, ModelTask.DRAFT)
        if not cue.roundtable.to_read and not session.looks:
            return Speech("")
        scene = await _scene(cue)
        searched = await session.first_search("\n".join(one.text for one in cue.roundtable.unread))
        prompt, is_salvaged = tasks.draft(scene, searched), False
        try:
            answer = await session.ask(prompt, lambda text: _read_draft(text, scene))
        except VoiceError as error:
            entries = answers.whole_entries_in(session.raw)
            if not entries or error.reason == "refused":
                raise
            answer, is_salvaged = Answered("", entries=entries), True
        speech = _draft_speech(answer, session, scene, is_salvaged=is_salvaged)
        unseen = ids_left_out("\n".join(prompt.stable))
        return speech._replace(facts={**speech.facts, UNSEEN: unseen}) if unseen else speech

    async def turn(self, cue: VoiceContext, asked: Speak) -> TurnSpeech:
        if (mind := self._mind_for(cue, asked)) is None:
            return await self._offline.turn(cue, asked)
        debate, scene = debate_of(cue), await _scene(cue)
        session = self._session(mind, cue, SPEAKING, ModelTask.TURN)
        searched = ""
        if asked.turn is TurnKind.ROUND:  # people wait for it, so that it looks at no more than one search
            newest = takewhile(lambda one: one.human, reversed(debate.turns))
            searched = await session.only_search("\n".join(one.text for one in newest))
        prompt = tasks.turn(scene, debate, asked, searched)
        parts = await session.ask(prompt, lambda text: _read_turn(text, scene, asked))
        return _turn_speech(parts, session, scene)

    def _mind_for(self, cue: VoiceContext, asked: Speak) -> LanguageModel | None:
        """Who speaks alone has a model of its own, or leads with the common one; else *second* speaks."""
        mind, persona = self._mind_of(cue.persona), cue.playbook.roster.get(cue.persona)
        leads = cue.roundtable.debate.lead == cue.persona
        is_own = not cue.by_other and len(asked.personas) == 1 and (leads or bool(persona and persona.model))
        return mind if mind is None or is_own else self._second or mind

    async def review(self, cue: VoiceContext) -> tuple[DraftReview, Facts]:
        if (mind := self._second) is None:
            return await self._offline.review(cue)
        session = ModelSession(mind, REVIEWING, ModelTask.REVIEW, efforts=self._efforts)
        found = await verifying.review(cue.roundtable, cue.playbook, session)
        if objection := found.objection:
            found = found.but(objection=objection.but(model=session.facts.get("model", "")))
        return found, session.facts

    def _session(
        self, mind: LanguageModel, cue: VoiceContext, limits: CallLimits, task: ModelTask
    ) -> ModelSession:
        subject = LookSubject.of(cue.roundtable, cue.sight)
        looker = self._looker_of(subject, cue.playbook.schema, persona_of(cue))
        return ModelSession(mind, limits, task, efforts=self._efforts, looker=looker)


# --- drafts ---


def _read_draft(text: str, scene: Scene) -> Answered:
    """It needs no words. Raises VoiceError."""
    clean = sanitized(text)
    found = answers.read_draft(clean)
    if found is None:
        raise _without_form(scene, clean)
    said = answers.tidied(found.text)
    if found.declined:
        raise _unusable(scene, "refused")
    own = answers.SpeakerPrefixes(scene.playbook.roster, scene.rt.people.values()).own(said, scene.persona)
    if said and not own:
        raise _unusable(scene, VOICES)
    return found._replace(text=answers.shortened(own, answers.LONGEST_REMARK))


def _draft_speech(answer: Answered, session: ModelSession, scene: Scene, *, is_salvaged: bool) -> Speech:
    check = proposing.prose_check(scene, session.shown)
    prose = check.mark_sentences(answer.text, answer.quotes)
    facts = {**session.facts, **prose.facts, **(session.raw_facts if is_salvaged else {})}
    speech = Speech(
        prose.text,
        facts,
        questions=tuple(_questions(answer.questions, check, wanted.open_points(scene))),
        next_questions=tuple(_questions(answer.following, check)),
    )
    if answer.entries is None:
        return speech
    found = proposing.proposed(answer.entries, scene, session.shown)
    patches = tuple(map(_doubted, found.patches)) if is_salvaged else found.patches
    return speech._replace(patches=patches, facts=found.facts_with(facts))


def _doubted(patch: Patch) -> Patch:
    """No second model confirms a value that may have been cut off."""
    found = {field: why for field, why in patch.unverified.items() if why not in WAITING}
    return patch.but(unverified={**dict.fromkeys(patch.set, SALVAGED), **found})


def _questions(
    given: Iterable[Mapping[str, Any]], check: ProseCheck, points: Sequence[wanted.OpenPoint] = ()
) -> Iterator[DraftQuestion]:
    """`about` is the number of one of *points*, 0 for none."""
    for one in given:
        quotes, about = tuple(answers.quotes_in([one])), one.get("about")
        told = (text_row(one.get(name), answers.QUESTION_CHARS) for name in ("text", "recommended", "why"))
        text, own, why = map(answers.tidied, told)
        marked = (check.mark_sentences(words, quotes).text for words in (text, own.rstrip("."), why))
        text, recommended, why = marked
        gap = points[about - 1].gap if type(about) is int and 0 < about <= len(points) else None
        if text:
            to = text_row(one.get("to"), NAME_CHARS)
            yield DraftQuestion(
                text=text, to=to, recommended=recommended, why=why, gap=gap.key if gap else ""
            )


# --- turns ---


def _read_turn(text: str, scene: Scene, asked: Speak) -> list[Contribution]:
    """By the personas that were *asked*. An empty list is an answer, too. Raises VoiceError."""
    clean, debate = sanitized(text), scene.rt.debate
    given = answers.spoken_in(clean, turns={turn.id for turn in tasks.heard_by(debate, asked)})
    if answers.is_declined(clean):
        raise _unusable(scene, "refused")
    if given is None:
        raise _without_form(scene, clean)
    found = [own for one in given if (own := _own_part(one, scene, asked))]
    if not found and any(one.text for one in given):
        raise _unusable(scene, VOICES)
    return found[: tasks.most_contributions(asked)]


def _own_part(part: Contribution, scene: Scene, asked: Speak) -> Contribution | None:
    """With the words of its persona alone. Where only one was asked, nobody else is meant."""
    roster = scene.playbook.roster
    able = [one for one in roster if one.key in asked.personas]
    known = [one for one in able if part.persona in {one.key, one.name, one.first_name}]
    if not known and len(able) == 1 and part.persona not in roster:
        known = able
    names = answers.SpeakerPrefixes(roster, scene.rt.people.values())
    tidy = answers.tidied(part.text)
    text = names.own(tidy, known[0]) if known else ""
    if not text:
        return None
    blends = names.blends(tidy, known[0])
    return part.but(persona=known[0].key, text=answers.shortened(text), blends=blends)


def _turn_speech(parts: Iterable[Contribution], session: ModelSession, scene: Scene) -> TurnSpeech:
    check = proposing.prose_check(scene, session.shown)
    prose = ((one, check.mark_sentences(one.text, one.quotes)) for one in parts)
    found = tuple(one.but(text=said.text, quotes=said.quotes, facts=said.facts) for one, said in prose)
    return TurnSpeech(found, session.facts)


def _without_form(scene: Scene, text: str) -> VoiceError:
    is_refused = answers.declines(text) and not answers.whole_entries_in(text)
    return _unusable(scene, "refused" if is_refused else "unstructured" if text else "empty")


def _unusable(scene: Scene, reason: str) -> VoiceError:
    return VoiceError(f"{scene.persona.key} found no words that could be used.", reason=reason)


async def _scene(cue: VoiceContext) -> Scene:
    """With the item's files, or without any if they cannot be read."""
    files: Mapping[str, str] = {}
    try:
        files = await cue.files()
    except EffectError as error:
        log.warning("%s speaks without having read the files: %s", cue.persona, error)
    return Scene(cue.roundtable, cue.playbook, persona_of(cue), files)
