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
from bot.domain.discussion import board as boards
from bot.domain.discussion.attesting import attested
from bot.domain.discussion.elaboration import Elaboration, Turn
from bot.domain.discussion.synthesis import Decision, Objection, Synthesis
from bot.domain.messages.attribution_wording import recorder
from bot.domain.roundtable import citing, quality
from bot.domain.roundtable.inputs import Say
from bot.domain.roundtable.outcomes import PersonaSpoke
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Answer, Roundtable
from bot.domain.roundtable.transitions import deciding, speaking, specifying, syntheses
from bot.domain.specification.checks import check_for
from bot.domain.transcript.lines import LinePhase
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
AT = "2026-01-01T00:00:00.000Z"


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
    *verifier* reads claims.
    """

    speaker: Callable[[str], LanguageModel]
    chair: LanguageModel
    alone: LanguageModel
    pasted: LanguageModel
    verifier: LanguageModel | None


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
    return ContestModels(said.__getitem__, panel, alone, pasted, verifier)


async def contest(meeting: Meeting, playbook: Playbook, models: ContestModels) -> tuple[Contest, ...]:
    """All three, the panel first: what it took is what the others may take."""
    stage = MeetingStage(meeting, playbook, models)
    held, usages = await stage.debate()
    panel = await stage.panel(held, usages)
    budget = min(max(sum(one.tokens_out or 0 for one in usages), FEWEST_TOKENS), MOST_TOKENS)
    everything = [
        *stage.people_said(),
        *(fenced(f"evidence of {name}", sanitized(text)) for name, text in meeting.evidence.items()),
    ]
    only_thread = stage.people_said()
    alone = await stage.single(ALONE, models.alone, everything, budget)
    return panel, alone, await stage.single(PASTED, models.pasted, only_thread, budget)


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

    async def debate(self) -> tuple[Roundtable, list[Usage]]:
        """People say what the file has; a persona whose turn it is speaks with its model."""
        usages: list[Usage] = []
        lead = self._personas[self._meeting.thread[0].name].key
        title, step_id = self._meeting.title, self._step.step_id
        entry, opened = specifying.discussion_opened(self._rt, title, step_id, self._playbook)
        debate = Elaboration(
            step_id=step_id, entry=entry, lead=lead, topic=title, max_turns=len(self._meeting.thread) + 1
        )
        rt = self._rt.but(stage=Stage.ELABORATING, elaboration=debate)
        rt = rt.recording(title, part=LinePhase.WORKSHOP, **opened)
        for number, turn in enumerate(self._meeting.thread):
            if persona := self._personas.get(turn.name):
                rt = await self._persona(rt, persona, turn, usages)
            else:
                rt = self._person(rt, turn, number)
        return rt, usages

    async def panel(self, rt: Roundtable, usages: list[Usage]) -> Contest:
        """As in a thread: what a voice adds is checked, and stands beside what is on record."""
        verifier = Verifier(CountedModel(self._models.verifier, usages)) if self._models.verifier else None
        voices = ModelVoices(lambda _: CountedModel(self._models.chair, usages), OfflineVoices(), verifier)
        chair = next((one for one in self._playbook.roster if one.key != rt.debate.lead), None)
        failed = ""
        delivered = Synthesis(summary="")
        for attempt in range(ATTEMPTS):
            told = rt.but(elaboration=rt.debate.but(failed_syntheses=attempt))
            cue = VoiceContext(told, self._playbook, chair.key if chair else rt.debate.lead)
            try:
                found, _ = await voices.synthesize(cue, {})
            except VoiceError as error:
                failed = str(error)
                continue
            failed = ""
            check = check_for(self._playbook, rt.people.values())
            delivered = attested(citing.grounded(found, rt.debate), rt.discussed, check).synthesis
            break
        board = rt.discussed
        block = syntheses.concluded_block(rt, delivered, self._playbook).block
        record = delivered.but(
            decisions=tuple(
                Decision(text=str(one["text"]), by=recorder(one, "text")) for one in board.current_decisions
            ),
            objections=tuple(Objection(text=row) for row in block.objections),
        )
        questions = sum(turn.text.count("?") for turn in rt.debate.turns if not turn.human)
        collapsed = tuple(quality.collapsed(board))
        return self._contest(PANEL, record, usages, collapsed, asked=questions, failed=failed)

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
        return self._contest(contender, record, usages, (), asked=len(record.questions), failed=failed)

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
        self, rt: Roundtable, persona: Persona, turn: MeetingTurn, usages: list[Usage]
    ) -> Roundtable:
        debate = rt.debate
        if turn.challenge:
            debate = debate.but(challenger=persona.key, challengers=(*debate.challengers, persona.key))
        rt = rt.but(elaboration=debate.asked(persona.key))
        model = CountedModel(self._models.speaker(persona.key), usages)
        voices = ModelVoices(lambda _: model, OfflineVoices())
        cue = VoiceContext(rt, self._playbook, persona.key, self._files_of(persona))
        speech = await (voices.respond(cue) if rt.debate.framed else voices.frame(cue))
        if speech.passed or not speech.text:
            rt = rt.but(elaboration=rt.debate.passed_over(persona.key))
        else:
            told = {"key": turn.name, "at": AT, "effect": turn.name, "persona": persona.key}
            event = PersonaSpoke(**told, **speech._asdict())
            text, _ = speaking.own_words(speech.text, persona, self._playbook)
            debate = speaking.spoken(rt.debate, text, event, by=persona, unaided=False)
            rt = rt.but(elaboration=boards.with_persona_options(debate))
            taken = specifying.stances_taken(rt, persona, self._playbook)
            facts = {**taken, speaking.TURN_ID: rt.debate.turns[-1].id}
            rt = speaking.told(rt, [speaking.PersonaUtterance(persona, text, facts)])
        debate = rt.debate
        has_spoken = {one.by for one in debate.turns} >= {one.key for one in self._playbook.roster}
        is_challenged = any(one.challenge for one in self._meeting.thread) and not debate.challenged
        is_over = has_spoken and not debate.first_round and not is_challenged
        return rt.but(elaboration=debate.round_over()) if is_over else rt

    def _person(self, rt: Roundtable, turn: MeetingTurn, number: int) -> Roundtable:
        """What their words put on the card is put there, too."""
        person, ts = Person(id=turn.name, name=turn.name), f"m{number}"
        if turn.decides:
            text = f"{turn.issue}: {turn.decides}" if turn.issue else turn.decides
            facts = specifying.decided(rt, text, self._playbook)
            return rt.heard(person, text, ts=ts, part=LinePhase.WORKSHOP, **facts)
        debate = rt.debate
        if debate.framed and not debate.first_round:
            debate = debate.round_over()
        event = Say(key=ts, at=AT, person=person, text=turn.says, ts=ts)
        line = rt.line_of(ts)
        debate = debate.heard(by=turn.name, name=turn.name, text=turn.says, ts=ts, line=line)
        rt, facts = deciding.said(rt.but(elaboration=debate), event, self._playbook)
        return rt.heard(person, turn.says, ts=ts, part=LinePhase.WORKSHOP, **facts)

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
        collapsed: tuple[str, ...],
        *,
        asked: int,
        failed: str,
    ) -> Contest:
        priced = [one.dollars for one in usages if one.dollars is not None]
        return Contest(
            self._meeting.key,
            contender,
            score(self._meeting.planted, record, collapsed),
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
