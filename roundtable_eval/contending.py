"""
Plays a meeting three ways: as a panel of personas with all checks; as one model with everything that was known; as one
model with the thread alone, pasted. Each leaves a record that is scored in the same way.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.personas import Persona
from bot.domain.discussion import board, dissent, grouping
from bot.domain.discussion.attesting import attested
from bot.domain.discussion.elaboration import Decided, Elaboration, Turn
from bot.domain.discussion.synthesis import Synthesis, claims
from bot.domain.roundtable import citing, quality, uncarried
from bot.domain.roundtable.inputs import Say
from bot.domain.roundtable.outcomes import PersonaSpoke
from bot.domain.roundtable.state import Answer, Roundtable
from bot.domain.roundtable.transitions import deciding, speaking
from bot.domain.values.places import Person, Place
from bot.engine.ports import VoiceContext
from bot.errors import VoiceError
from bot.voices.concluding import concluded
from bot.voices.model import Completion, LanguageModel, Prompt, Usage
from bot.voices.offline.offline import OfflineVoices
from bot.voices.prompts import tasks
from bot.voices.prompts.fencing import fenced
from bot.voices.prompts.seen import sanitized
from bot.voices.thinking import ModelVoices
from bot.voices.verifying import Verifier
from roundtable_eval.meeting import Meeting, MeetingScore, MeetingTurn, score

CONTENDERS = PANEL, ALONE, PASTED = "panel", "alone", "pasted"
ATTEMPTS = 2
SECONDS = 180.0
FEWEST_TOKENS, MOST_TOKENS = 1_000, 8_000
AT = "2026-01-01T00:00:00Z"


class Contest(NamedTuple):
    """What one contender made of one meeting. *failed* is empty, or why there is no record."""

    meeting: str
    contender: str
    score: MeetingScore
    record: Synthesis
    asked: int = 0
    calls: int = 0
    tokens: int = 0
    dollars: Decimal | None = None
    seconds: float = 0.0
    failed: str = ""


class CountedModel(LanguageModel):
    """Counts what a model takes."""

    def __init__(self, model: LanguageModel, usages: list[Usage]) -> None:
        self._model = model
        self._usages = usages

    async def think(self, prompt: Prompt, *, seconds: float, tokens: int) -> Completion:
        thought = await self._model.think(prompt, seconds=seconds, tokens=tokens)
        self._usages.append(thought.usage)
        return thought


class ScriptedModel(LanguageModel):
    """Gives the answers of a meeting's file, one after the other."""

    def __init__(self, answers: Iterable[str]) -> None:
        self._answers = list(answers)

    async def think(self, prompt: Prompt, *, seconds: float, tokens: int) -> Completion:  # noqa: ARG002
        if not self._answers:
            raise VoiceError("The script has no further answer.", reason="empty")
        return Completion(
            self._answers.pop(0), Usage("script", "file", 0.0, tokens_in=0, tokens_out=0, dollars=Decimal(0))
        )


class ContestModels(NamedTuple):
    """
    *speaker* by a persona's key; *chair* writes the synthesis; *alone* and *pasted* are the other contenders. The
    *verifier* reads claims; *comparing* is the same model when it reads positions.
    """

    speaker: Callable[[str], LanguageModel]
    chair: LanguageModel
    alone: LanguageModel
    pasted: LanguageModel
    verifier: LanguageModel | None
    comparing: LanguageModel | None = None


def scripted(meeting: Meeting, playbook: Playbook) -> ContestModels:
    """The models of the meeting's file."""
    said = {
        one.key: ScriptedModel(as_answered(turn) for turn in meeting.thread if turn.name == one.first_name)
        for one in playbook.roster
    }
    script = meeting.script
    panel, alone, pasted = (
        ScriptedModel([json.dumps(one)] * ATTEMPTS) for one in (script.panel, script.alone, script.pasted)
    )
    verifier = (
        ScriptedModel([json.dumps(list(map(dict, script.verifier)))] * ATTEMPTS) if script.verifier else None
    )
    comparing = ScriptedModel([json.dumps(dict(script.same))] * ATTEMPTS) if script.same else None
    return ContestModels(said.__getitem__, panel, alone, pasted, verifier, comparing)


async def contest(meeting: Meeting, playbook: Playbook, models: ContestModels) -> tuple[Contest, ...]:
    """All three, the panel first: what it took is what the others may take."""
    stage = MeetingStage(meeting, playbook, models)
    debate, usages = await stage.debate()
    panel = await stage.panel(debate, usages)
    budget = min(max(sum(one.tokens_out or 0 for one in usages), FEWEST_TOKENS), MOST_TOKENS)
    everything = [
        *stage.people_said(),
        *(fenced(f"evidence of {name}", sanitized(text)) for name, text in meeting.evidence.items()),
    ]
    only_thread = stage.people_said()
    alone = await stage.single(ALONE, models.alone, everything, budget)
    return panel, alone, await stage.single(PASTED, models.pasted, only_thread, budget)


class _Found(NamedTuple):
    """Beside the record: the issues that were agreed on too easily, and what is listed as not carried over."""

    collapsed: tuple[str, ...] = ()
    listed: tuple[str, ...] = ()


class MeetingStage:
    def __init__(self, meeting: Meeting, playbook: Playbook, models: ContestModels) -> None:
        self._meeting = meeting
        self._playbook = playbook
        self._models = models
        self._personas = {one.first_name: one for one in playbook.roster}
        self._step = next(iter(playbook.agenda.steps))
        self._rt = Roundtable(
            incarnation="eval",
            slug="meeting",
            title=meeting.title,
            place=Place(team="T", channel="C", thread="1"),
            people={
                one.name: one.name
                for one in (*meeting.answers, *meeting.thread)
                if one.name not in self._personas
            },
            phase_key=self._step.phase_key,
            step_id=self._step.step_id,
            answers=tuple(
                Answer(person=one.name, text=one.says, ts=f"a{number}")
                for number, one in enumerate(meeting.answers)
            ),
            now=AT,
        )

    async def debate(self) -> tuple[Elaboration, list[Usage]]:
        """People say what the file has; a persona whose turn it is speaks with its model."""
        usages: list[Usage] = []
        lead = self._personas[self._meeting.thread[0].name].key
        length = len(self._meeting.thread) + 1
        debate = Elaboration(
            step_id=self._step.step_id, lead=lead, topic=self._meeting.title, max_turns=length
        )
        for number, turn in enumerate(self._meeting.thread):
            if persona := self._personas.get(turn.name):
                debate = await self._persona(debate, persona, turn, usages)
            else:
                debate = self._person(debate, turn, number)
        return await self._compared(debate, usages), usages

    async def _compared(self, debate: Elaboration, usages: list[Usage]) -> Elaboration:
        """As before a synthesis in a thread."""
        if self._models.comparing is None or not grouping.is_worth_asking(debate):
            return debate
        groups, _ = await Verifier(CountedModel(self._models.comparing, usages)).compared(debate)
        return debate.but(groups=grouping.checked(groups, debate).groups)

    async def panel(self, debate: Elaboration, usages: list[Usage]) -> Contest:
        """As in a thread: a synthesis that loses an objection is asked for once more, then the record is put back."""
        verifier = Verifier(CountedModel(self._models.verifier, usages)) if self._models.verifier else None
        voices = ModelVoices(lambda _: CountedModel(self._models.chair, usages), OfflineVoices(), verifier)
        chair = next((one for one in self._playbook.roster if one.key != debate.lead), None)
        failed = ""
        delivered = Synthesis(summary="")
        for attempt in range(ATTEMPTS):
            told = debate.but(failed_syntheses=attempt)
            cue = VoiceContext(
                self._rt.but(elaboration=told), self._playbook, chair.key if chair else debate.lead
            )
            try:
                found, _ = await voices.synthesize(cue, {})
            except VoiceError as error:
                failed = str(error)
                continue
            failed = ""
            delivered = attested(citing.grounded(found, debate), debate).synthesis
            lost = (*dissent.missing(delivered, debate), *dissent.half_said(delivered, debate))
            if not lost:
                break
            debate = debate.but(left_out=tuple(one.text for one in lost))
        record = dissent.restored(delivered, debate)
        questions = sum(turn.text.count("?") for turn in debate.turns if not turn.human)
        beside = _Found(tuple(quality.collapsed(debate)), self._listed(record, debate))
        return self._contest(PANEL, record, usages, beside, asked=questions, failed=failed)

    def _listed(self, record: Synthesis, debate: Elaboration) -> tuple[str, ...]:
        """What the card lists as not carried over."""
        rt = self._rt.but(elaboration=debate)
        return tuple(one.text for one in uncarried.of_discussion(rt, claims(record), citing.cites(record)))

    async def single(
        self, contender: str, model: LanguageModel, material: Iterable[str], tokens: int
    ) -> Contest:
        """What it says is its record: nobody checks it."""
        usages: list[Usage] = []
        prompt = tasks.alone("\n\n".join(material))
        try:
            thought = await CountedModel(model, usages).think(prompt, seconds=SECONDS, tokens=tokens)
            record, failed = concluded(thought.text, self._as_pasted()), ""
        except VoiceError as error:
            record, failed = Synthesis(summary=""), str(error)
        return self._contest(contender, record, usages, _Found(), asked=len(record.questions), failed=failed)

    def people_said(self) -> list[str]:
        return [fenced(f"{turn.id} {turn.name}", sanitized(turn.text)) for turn in self._as_pasted().turns]

    def _as_pasted(self) -> Elaboration:
        """The thread of people alone, as turns that can be named."""
        said = (
            one for one in (*self._meeting.answers, *self._meeting.thread) if one.name not in self._personas
        )
        turns = tuple(
            Turn(id=f"t{number:02}", by=one.name, name=one.name, text=_words_of(one), human=True)
            for number, one in enumerate(said, start=1)
        )
        lead = self._personas[self._meeting.thread[0].name].key
        return Elaboration(
            step_id=self._step.step_id,
            lead=lead,
            topic=self._meeting.title,
            max_turns=len(turns) + 1,
            turns=turns,
        )

    async def _persona(
        self, debate: Elaboration, persona: Persona, turn: MeetingTurn, usages: list[Usage]
    ) -> Elaboration:
        if turn.challenge:
            debate = debate.but(challenger=persona.key, challengers=(*debate.challengers, persona.key))
        debate = debate.asked(persona.key)
        model = CountedModel(self._models.speaker(persona.key), usages)
        voices = ModelVoices(lambda _: model, OfflineVoices())
        cue = VoiceContext(
            self._rt.but(elaboration=debate), self._playbook, persona.key, self._files_of(persona)
        )
        speech = await (voices.respond(cue) if debate.framed else voices.frame(cue))
        if speech.passed or not speech.text:
            debate = debate.passed_over(persona.key)
        else:
            told = {"key": turn.name, "at": AT, "effect": turn.name, "persona": persona.key}
            event = PersonaSpoke(**told, **speech._asdict())
            text, _ = speaking.own_words(speech.text, persona, self._playbook)
            debate = speaking.spoken(debate, text, event, by=persona, unaided=False)
            debate = board.with_persona_options(debate)
        has_spoken = {one.by for one in debate.turns} >= {one.key for one in self._playbook.roster}
        is_challenged = any(one.challenge for one in self._meeting.thread) and not debate.challenged
        return debate.round_over() if has_spoken and not debate.first_round and not is_challenged else debate

    def _person(self, debate: Elaboration, turn: MeetingTurn, number: int) -> Elaboration:
        """What their words put on the card is put there, too."""
        if turn.decides:
            pressed = Decided(
                issue=turn.issue,
                position=turn.decides,
                by=turn.name,
                name=turn.name,
                line=f"m{number}",
                after=debate.turn_count,
            )
            return debate.but(decided=(*debate.decided, pressed))
        if debate.framed and not debate.first_round:
            debate = debate.round_over()
        person = Person(id=turn.name, name=turn.name)
        event = Say(key=f"m{number}", at=AT, person=person, text=turn.says, ts=f"m{number}")
        line = self._rt.line_of(event.ts)
        debate = debate.heard(by=turn.name, name=turn.name, text=turn.says, ts=event.ts, line=line)
        rt = self._rt.but(elaboration=debate)
        return deciding.said(rt, event, self._playbook, turn=debate.turns[-1].id)[0].debate

    def _files_of(self, persona: Persona) -> Callable[[], Any]:
        shown = {
            "draft.md": self._meeting.evidence.get("all", ""),
            "notes.md": self._meeting.evidence.get(persona.first_name, ""),
        }

        async def files() -> Mapping[str, str]:
            return {name: text for name, text in shown.items() if text}

        return files

    def _contest(
        self,
        contender: str,
        record: Synthesis,
        usages: list[Usage],
        beside: _Found,
        *,
        asked: int,
        failed: str,
    ) -> Contest:
        priced = [one.dollars for one in usages if one.dollars is not None]
        return Contest(
            self._meeting.key,
            contender,
            score(self._meeting.planted, record, beside.collapsed, beside.listed),
            record,
            asked=asked,
            calls=len(usages),
            tokens=sum((one.tokens_in or 0) + (one.tokens_out or 0) for one in usages),
            dollars=sum(priced, Decimal(0)) if priced and len(priced) == len(usages) else None,
            seconds=round(sum(one.seconds for one in usages), 1),
            failed=failed,
        )


def _words_of(turn: MeetingTurn) -> str:
    return f"Decision: {turn.issue}: {turn.decides}" if turn.decides else turn.says


def as_answered(turn: MeetingTurn) -> str:
    """As a model answers: the words, and the record of where it stands."""
    stances = [one.model_dump(mode="json", exclude_defaults=True) for one in turn.stances]
    return f"{turn.says}\n\n```record\n{json.dumps({'stances': stances})}\n```"
