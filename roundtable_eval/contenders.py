"""Contenders with models: the only module here that knows what the bot asks of a model. *A* drafts, *B* checks."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from decimal import Decimal
from functools import partial
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, TypeVar

from bot import cast
from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.personas import Chain, ModelName, Persona
from bot.domain.catalog.schema import Schema
from bot.domain.discussion import board as boards
from bot.domain.discussion.elaboration import Elaboration, EndedDiscussion, TurnKind
from bot.domain.messages.attribution_wording import UNCHECKED_MARK
from bot.domain.privacy.redaction import Redact
from bot.domain.roundtable.effects import Speak
from bot.domain.roundtable.inputs import Say
from bot.domain.roundtable.outcomes import DraftReview, Reviewed, TurnTaken
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import deciding, drafts, elaborations, specifying
from bot.domain.specification import checks
from bot.domain.specification.claims import Quote
from bot.domain.specification.entries import DECISION, OBJECTION, unconfirmed
from bot.domain.specification.fold import Patch
from bot.domain.transcript.lines import LinePhase
from bot.domain.values.json_files import objects_in
from bot.domain.values.places import Belonging, Person, Place, Viewer
from bot.domain.values.text import sentences_in, value_text
from bot.engine.evidence_ports import Evidence, LookRefused, NoSight
from bot.engine.ports import Speech, TurnSpeech, VoiceContext
from bot.errors import ConfigError, VoiceError
from bot.settings import Settings
from bot.storage.git.evidence import evidence_of
from bot.voices.llm.providers import account, missing
from bot.voices.model import Completion, LanguageModel, Prompt, RedactingModel, Usage
from bot.voices.offline import OfflineVoices
from bot.voices.prompts.fencing import fenced, sanitized, sealed
from bot.voices.thinking import ModelVoices
from bot.voices.tools.looking import Looker, LookSubject
from bot.voices.verifying import MOST_CLAIMS
from roundtable_eval.judging import refuse_relatives
from roundtable_eval.meeting import Meeting
from roundtable_eval.people import (
    MOST_QUESTIONS,
    Ask,
    ChoosingPeople,
    People,
    Room,
    ScriptedPeople,
    SpokenLine,
)
from roundtable_eval.scoring import Play, PlayCost, QuotedLine, Record, Statement, StatementKind

T = TypeVar("T")
REQUIREMENT = "requirement"
"""The step that collects it is the one that is played."""
AT = "2026-01-01T00:00:00.000Z"
ASK_SECONDS, ASK_TOKENS = 60.0, 1_000
STEP_ROUNDS, DISCUSSION_ROUNDS = 2, 3
"""In which the panel asks people."""
DRAFTS = 3
WHAT_OF_IT = "What do you say to that?"
"""Behind an objection of the review."""
MOST_LINES = 100_000
NO_FILES: Mapping[str, str] = {}
ANSWER_TOKENS = 300
"""An estimate."""


class ContenderModels(NamedTuple):
    """*of* gives a persona's model by its key; *a* and *b* are the two minds."""

    of: Callable[[str], LanguageModel]
    a: LanguageModel
    b: LanguageModel
    redact: Redact


class CountedModel(LanguageModel):
    """Counts also what is served for an answer that cannot be used."""

    def __init__(self, model: LanguageModel, usages: list[Usage]) -> None:
        self._model = model
        self._usages = usages

    async def think(self, prompt: Prompt, *, seconds: float, tokens: int) -> Completion:
        served = [] if prompt.served is None else prompt.served
        before = len(served)
        try:
            thought = await self._model.think(prompt._replace(served=served), seconds=seconds, tokens=tokens)
        finally:
            self._usages += served[before:]
        if len(served) == before:  # a model that only tells what its answer took
            self._usages.append(thought.usage)
        return thought


class MemberSight(NoSight):
    viewer = Viewer(least=Belonging.MEMBER)


class Table:
    """
    A room as the prompts of the bot show it. What people say becomes answers of one step, or turns; the bot *reads*
    objections and the like in it, as it does in a thread.
    """

    def __init__(
        self,
        room: Room,
        playbook: Playbook,
        models: ContenderModels,
        evidence: Evidence,
        usages: list[Usage],
        *,
        reads: bool = False,
    ) -> None:
        self.room, self.playbook, self.models = room, playbook, models
        self.personas = tuple(playbook.roster)
        self.lead = next((one for one in self.personas if one.first_name == room.lead), self.personas[0])
        self.patches: list[Patch] = []
        self.sentences: list[Statement] = []
        self.failures: list[str] = []
        self.unreviewed: list[str] = []
        self._evidence, self._usages, self._reads = evidence, usages, reads
        steps, kind = playbook.agenda.steps, playbook.schema.kinds.get(REQUIREMENT)
        step = next((one for one in steps if kind in playbook.schema.shown_in(one.step_id)), steps[0])
        self.rt = Roundtable(
            incarnation="eval",
            slug="meeting",
            title=f"{room.title}. People: {', '.join(f'{name} ({role})' for name, role in room.roles.items())}",
            place=Place(team="T", channel="C", thread="1"),
            people={name: name for name in room.roles},
            phase_key=step.phase_key,
            step_id=step.step_id,
            now=AT,
        )
        self._hear(room.lines)

    def fresh(self, *, reads: bool = False) -> "Table":
        """As if nothing had been drafted."""
        models, usages = self.models, self._usages
        fresh = Table(self.room, self.playbook, models, self._evidence, usages, reads=reads)
        fresh.failures, fresh.unreviewed = self.failures, self.unreviewed
        return fresh

    def counted(self, model: LanguageModel) -> LanguageModel:
        return CountedModel(model, self._usages)

    def voices(self, model_of: Callable[[str], LanguageModel]) -> ModelVoices:
        def looker_of(subject: LookSubject, schema: Schema, persona: Persona) -> Looker:
            return Looker(self._evidence, subject, schema, persona, redact=self.models.redact)

        offline = OfflineVoices()
        return ModelVoices(
            lambda key: self.counted(model_of(key)),
            offline,
            looker_of=looker_of,
            second=self.counted(self.models.b),
        )

    def cue(self, persona: Persona, files: Mapping[str, str] = NO_FILES) -> VoiceContext:
        async def read() -> Mapping[str, str]:
            return files

        return VoiceContext(self.rt, self.playbook, persona.key, read, MemberSight())

    async def draft(
        self, voices: ModelVoices, persona: Persona, files: Mapping[str, str] = NO_FILES
    ) -> tuple[str, ...]:
        """What *persona* asks, or else says, who reads *files*, too; what it proposes and says is kept."""
        speech = await self.answered(voices.draft(self.cue(persona, files)), Speech(""))
        patches = speech.patches or ()
        self.patches += patches
        self.rt = specifying.proposed(self.rt, persona, patches, self.playbook)
        self._keep_sentences(speech.text)
        asked = tuple(f"{one.to}, {one.text}" if one.to else one.text for one in speech.questions)
        return asked or (speech.text,)

    async def ask(self, *texts: str) -> bool:
        """Whether anything was asked, or said."""
        before = self.room.asked
        lines = await self.room.ask(*texts)
        self._hear(lines)
        return bool(lines) or self.room.asked > before

    async def take_turn(self, voices: ModelVoices, asked: Speak) -> list[str]:
        """In the discussion, as in a thread."""
        cue = self.cue(self.playbook.roster[asked.persona])
        speech = await self.answered(voices.turn(cue, asked), TurnSpeech())
        before = self.rt.debate.turn_count
        told = {"key": asked.id, "at": AT, "effect": asked.id, "turn": asked.turn, "personas": asked.personas}
        self.rt = elaborations.turn_taken(self.rt, TurnTaken(**told, **speech._asdict()), self.playbook)
        said = self.rt.debate.turns[before:]
        for one in said:
            self._keep_sentences(one.text, one.quotes)
        return [one.text for one in said]

    async def answered(self, answer: Awaitable[T], nothing: T) -> T:
        """Or *nothing*: a meeting goes on without an answer of a model."""
        try:
            return await answer
        except VoiceError as error:
            self.failures.append(str(error))
            return nothing

    def _hear(self, lines: Iterable[SpokenLine]) -> None:
        for line in lines:
            person, id = Person(id=line.speaker, name=line.speaker), self.rt.line_of(line.id)
            event = Say(key=id, at=AT, person=person, text=line.text, ts=line.id)
            rt = self.rt.answering(event, feedback=False)
            if debate := rt.elaboration:
                told = {"by": person.id, "name": person.name, "text": line.text, "ts": line.id, "line": id}
                rt, patches = deciding.said(rt.but(elaboration=debate.heard(**told)), event, self.playbook)
            else:
                patches = deciding.said_in_step(rt, event, self.playbook) if self._reads else ()
            self.rt = rt.heard(person, line.text, ts=line.id, part=LinePhase.WORKSHOP, entries=patches)

    # --- the record -------------------------------------------------------------------------------------------------

    async def review(self) -> bool:
        """
        By B, of all that was proposed. Who was not heard is asked, and all are asked about its objection; whether
        people said more then.
        """
        asked = list[str]()
        for _ in range(max(1, -(-len(list(unconfirmed(self.rt.specification))) // MOST_CLAIMS))):
            reviewing, before = self.voices(self.models.of).review(self.cue(self.lead)), len(self.failures)
            found, _ = await self.answered(reviewing, (DraftReview(), {}))
            self.unreviewed += self.failures[before:]
            self.rt = drafts.reviewed(
                self.rt, Reviewed(key="", at=AT, effect="", review=found), self.playbook
            )
            missing, objection = found.missing, found.objection
            asked += [f"{missing.to}, {missing.text}" if missing.to else missing.text] if missing else []
            asked += [f"{objection.text} {WHAT_OF_IT}"] if objection else []
        return bool(asked) and await self.ask(*asked)

    def statements(self, patches: Iterable[Patch], *, checked: bool = True) -> Iterator[Statement]:
        """Without the checks nothing is marked, and a decision counts without a press of the person."""
        schema, entries = self.playbook.schema, self.rt.specification.entries
        for patch in patches:
            kind = schema.kinds.get(patch.kind) or schema.of_id(patch.id)
            for field in checks.said_fields(patch, schema, entries):
                quotes = tuple(self._quoted(one.line, one.words) for one in patch.quotes.get(field, ()))
                is_unchecked = checked and bool(self.mark_of(patch, field))
                stated = Statement(value_text(patch.set[field]), quotes, is_unchecked)
                if not kind or field != kind.text or kind.key not in {DECISION, OBJECTION}:
                    yield stated
                elif kind.key == OBJECTION:
                    by = next((self._speaker(one.line) for one in quotes), "")
                    yield stated._replace(kind=StatementKind.OBJECTION, by=by)
                elif not checked:
                    yield stated._replace(kind=StatementKind.DECISION)

    def mark_of(self, patch: Patch, field: str) -> str:
        """Why the value is unchecked by now; empty where it is not."""
        entry = self.rt.specification.entries.get(patch.id)
        given = (one for one in entry.claims.get(field, ()) if one.value == patch.set[field]) if entry else ()
        claim = next(iter(given), None)
        return claim.reason if claim else patch.unverified.get(field, "")

    def record(self, *, checked: bool = True) -> Record:
        """What it proposed and said."""
        said = self.sentences if checked else (one._replace(unchecked=False) for one in self.sentences)
        return (*self.statements(self.patches, checked=checked), *said)

    def _keep_sentences(self, text: str, quotes: Iterable[Quote] = ()) -> None:
        """Each as it is posted; opinions rest on no quote."""
        check = checks.check_for(self.playbook, self.rt.people.values())
        lines = tuple(self._quoted(one.line, one.words) for one in quotes)
        *marked, rest = (sentences_in(part) for part in text.split(UNCHECKED_MARK))
        for part in (*marked, rest):
            for place, one in enumerate(part, start=1):
                is_unchecked = part is not rest and place == len(part)
                rests_on = lines if check.needs_quote(one) else ()
                self.sentences.append(Statement(one, rests_on, is_unchecked, StatementKind.SENTENCE))

    def objections(self) -> Iterator[Statement]:
        """Those that are on record."""
        text = self.playbook.schema.kinds[OBJECTION].text
        for entry in self.rt.specification.active(OBJECTION):
            yield Statement(str(entry[text]), kind=StatementKind.OBJECTION, by=boards.owner(entry))

    def _quoted(self, line: str, words: str) -> QuotedLine:
        return QuotedLine(line.removeprefix(f"{self.rt.place.channel}."), words)

    def _speaker(self, id: str) -> str:
        return next((one.speaker for one in self.room.lines if one.id == id), "")


# --- the four, in the order of what they do -----------------------------------------------------------------------


async def panel(table: Table) -> Record:
    table = table.fresh(reads=True)
    voices = table.voices(table.models.of)
    for _ in range(STEP_ROUNDS):
        if not await table.ask(*await table.draft(voices, table.lead)):
            break
    lead, others = table.lead, [one for one in table.personas if one != table.lead]
    entry, opened = specifying.discussion_opened(table.rt, table.room.title, table.rt.step_id, table.playbook)
    debate = Elaboration(
        step_id=table.rt.step_id, entry=entry, lead=lead.key, topic=table.room.title, max_turns=MOST_LINES
    )
    table.rt = table.rt.but(stage=Stage.ELABORATING, elaboration=debate).recording(
        table.room.title, part=LinePhase.WORKSHOP, entries=opened
    )
    keys = tuple(one.key for one in (lead, *others))
    opening = [Speak(persona=key, task="turn", turn=TurnKind.OPENING, personas=(key,)) for key in keys]
    said = [text for one in opening for text in await table.take_turn(voices, one)]
    for _ in range(DISCUSSION_ROUNDS):
        if not await table.ask(*said):
            break
        said = await table.take_turn(voices, Speak(persona=lead.key, task="turn", personas=keys))
    ended = EndedDiscussion(turns=table.rt.debate.turns)
    table.rt = table.rt.but(elaboration=None, ended={table.rt.step_id: ended})
    await table.draft(voices, lead)
    if await table.review():
        await table.draft(voices, lead)
    return (*table.record(), *table.objections())


async def alone(table: Table) -> Record:
    await _draft_and_ask(table, table.room.may_ask)
    return table.record(checked=False)


async def alone_with_checks(table: Table) -> Record:
    await _draft_and_ask(table, table.room.may_ask)
    if await table.review():
        await table.draft(table.voices(lambda _: table.models.a), table.lead)
    return table.record()


async def three_times_with_critic(table: Table) -> Record:
    """What B left unmarked of the three drafts, and what A writes when it has read them with B's marks."""
    picked, drafted = list[Statement](), list[str]()
    for _ in range(DRAFTS):
        one = table.fresh()
        await _draft_and_ask(one, MOST_QUESTIONS // DRAFTS)
        await one.review()
        picked += (stated for stated in one.statements(one.patches) if not stated.unchecked)
        drafted += (
            f"- {value_text(value)} ({one.mark_of(patch, field) or 'checked'})"
            for patch in one.patches
            for field, value in patch.set.items()
        )
    last = table.fresh()
    await last.draft(last.voices(lambda _: table.models.a), last.lead, {"draft.md": "\n".join(drafted)})
    await last.review()
    return (*picked, *last.record())


async def _draft_and_ask(table: Table, questions: int) -> None:
    """In one voice, all questions of a draft at once; the last draft knows all answers."""
    voices, most = table.voices(lambda _: table.models.a), table.room.asked + questions
    while (left := most - table.room.asked) > 0:
        if not await table.ask(*(await table.draft(voices, table.lead))[:left]):
            return
    await table.draft(voices, table.lead)


CONTENDERS: Mapping[str, Callable[[Table], Awaitable[Record]]] = {
    "panel": panel,
    "alone": alone,
    "alone+checks": alone_with_checks,
    "alone x3 + critic": three_times_with_critic,
}


class ModelContender:
    def __init__(self, name: str, playbook: Playbook, models: ContenderModels) -> None:
        self.name = name
        self._playbook = playbook
        self._models = models

    async def play(self, room: Room, seed: str) -> Play:  # noqa: ARG002 -- models are not seeded
        usages: list[Usage] = []
        with TemporaryDirectory() as folder:
            evidence = evidence_of(room.files, Path(folder))
            table = Table(room, self._playbook, self._models, evidence, usages)
            try:
                record, failed = await CONTENDERS[self.name](table), ""
            except VoiceError as error:
                record, failed = (), str(error)
            if not record and table.failures:
                failed = table.failures[-1]
            return Play(
                tuple(dict.fromkeys(record)),
                await _files_of(evidence, room.files),
                cost_of(usages),
                failed,
                tuple(table.failures),
                tuple(table.unreviewed),
            )


async def _files_of(evidence: Evidence, paths: Iterable[str]) -> Mapping[str, str]:
    """As the tools show them."""
    found = {}
    for path in paths:
        try:
            found[path] = (await evidence.read_file(path, 1, MOST_LINES)).text
        except LookRefused as refused:
            found[path] = str(refused)
    return found


def cost_of(usages: Iterable[Usage]) -> PlayCost:
    used = tuple(usages)
    priced = [one.dollars for one in used if one.dollars is not None]
    return PlayCost(
        calls=len(used),
        tokens_in=sum(one.tokens_in or 0 for one in used),
        tokens_out=sum(one.tokens_out or 0 for one in used),
        tokens_cached=sum(one.tokens_cached or 0 for one in used),
        dollars=sum(priced, Decimal(0)) if len(priced) == len(used) else None,
    )


def asking(model: LanguageModel, usages: list[Usage]) -> Ask:
    """For simulated people, and the judge."""
    counted = CountedModel(model, usages)

    async def ask(task: str, material: Mapping[str, str]) -> Mapping[str, Any]:
        shown = "\n\n".join(fenced(label, sanitized(text)) for label, text in material.items())
        prompt = sealed((), f"{shown}\n\n# Your task\n\n{task}", seed="eval")
        thought = await counted.think(prompt, seconds=ASK_SECONDS, tokens=ASK_TOKENS)
        return next(iter(objects_in(thought.text)), {})

    return ask


# --- what plays: with models, or in a rehearsal that says what it would cost --------------------------------------


class Players(NamedTuple):
    """*usages* are those of the simulated people and of the judge; a play has those of its contender."""

    contenders: tuple[ModelContender, ...]
    people: People
    judge: Ask | None
    usages: list[Usage]

    def cost_beside(self) -> PlayCost:
        return cost_of(self.usages)


@asynccontextmanager
async def opened_players(
    settings: Settings, playbook: Playbook, redact: Redact, *, people: str, judge: str
) -> AsyncIterator[Players]:
    """*people* and *judge* name their models; empty without one. Raises ConfigError."""
    _minds(settings)
    if judge:
        chains = (settings.model, settings.verifier, *(one.model for one in playbook.roster))
        refuse_relatives(_names(judge), [name for one in chains for name in Chain.read(one).names])
    also = [one for one in (people, judge) if one]
    guarded = partial(RedactingModel, redact=redact)
    async with cast.language_models(settings, playbook.roster, also) as found:
        common = found.of()
        if common is None:
            raise ConfigError("No model is configured: set ROUNDTABLE_MODEL.")
        # No other model answers for those that are named.
        alone = {one: found.of(str(Chain.read(one)._replace(offline=True))) for one in also}
        named = {one: guarded(model) for one, model in alone.items() if model}
        model_of, a = cast.models_of(found, playbook, guarded), guarded(common)
        b = cast.verifying_model(found, settings, guarded) or a
        models = ContenderModels(lambda key: model_of(key) or a, a, b, redact)
        yield _players(playbook, models, named.get(people), named.get(judge))


def rehearsing_players(
    settings: Settings, playbook: Playbook, meeting: Meeting, *, people: str, judge: str
) -> Players:
    """They render all prompts of *meeting* without a call. Raises ConfigError."""
    a, b = _minds(settings)
    own = {one.key: (*Chain.read(one.model).names, a)[0] for one in playbook.roster}
    also = [_names(one)[0] if one else None for one in (people, judge)]
    if problems := tuple(missing((a, b, *own.values(), *filter(None, also)), settings)):
        raise ConfigError(" ".join(problems))
    questions = cycle(meeting.questions.good if meeting.questions else ("What else has to be known?",))

    def model(name: ModelName) -> RehearsalModel:
        return RehearsalModel(name, settings, questions)

    models = ContenderModels(lambda key: model(own[key]), model(a), model(b), lambda text: text)
    return _players(playbook, models, *(model(one) if one else None for one in also))


def _players(
    playbook: Playbook, models: ContenderModels, people: LanguageModel | None, judge: LanguageModel | None
) -> Players:
    usages: list[Usage] = []
    return Players(
        tuple(ModelContender(name, playbook, models) for name in CONTENDERS),
        ChoosingPeople(asking(people, usages)) if people else ScriptedPeople(),
        asking(judge, usages) if judge else None,
        usages,
    )


def _minds(settings: Settings) -> tuple[ModelName, ModelName]:
    chain = Chain.read(settings.model)
    if not chain.names:
        raise ConfigError("No model is configured: set ROUNDTABLE_MODEL, or add --scripted better.")
    return chain.names[0], next(iter(settings.reviewers.names), chain.names[0])


def _names(given: str) -> tuple[ModelName, ...]:
    """Of --people or --judge."""
    try:
        if names := Chain.read(given).names:
            return names
    except ValueError:
        pass
    raise ConfigError(f"{given!r} is no model for --people or --judge, such as anthropic:NAME.")


class RehearsalModel(LanguageModel):
    """Answers in the form of each prompt, with a question as every text. A call with tools takes its prompt twice."""

    def __init__(self, name: ModelName, settings: Settings, questions: Iterator[str]) -> None:
        self._name = name
        self._address = account(name, settings, seconds=1.0).address
        self._questions = questions

    async def think(self, prompt: Prompt, *, seconds: float, tokens: int) -> Completion:  # noqa: ARG002
        from bot.voices.llm.calling import CHARS_OF_A_TOKEN  # noqa: PLC0415 -- installed with models only
        from bot.voices.llm.prices import price  # noqa: PLC0415

        told = sum(map(len, (*prompt.stable, prompt.moving))) // CHARS_OF_A_TOKEN * (2 if prompt.tools else 1)
        took: dict[str, Any] = {"tokens_in": told, "tokens_out": min(tokens, ANSWER_TOKENS)}
        dollars = price(self._name, address=self._address, **took)
        usage = Usage(self._name.provider, self._name.name, 0.0, dollars=dollars, **took)
        answer = self._filled(prompt.schema.form, prompt.moving) if prompt.schema else {}
        return Completion(json.dumps(answer), usage)

    def _filled(self, form: Mapping[str, Any], told: str) -> Any:
        """Of several values, one that the prompt names, such as a persona that may speak."""
        match form["type"]:
            case "object":
                return {name: self._filled(one, told) for name, one in form["properties"].items()}
            case "array":
                return [self._filled(form["items"], told)]
            case "string":
                values = form.get("enum", ())
                shown = (one for one in values if f"`{one}`" in told)
                return next(shown, values[0]) if values else next(self._questions)
            case "boolean":
                return False
            case _:
                return 1
