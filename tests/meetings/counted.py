"""
A meeting of 13 steps and two discussions in the real engine, with models that answer by rule: what is sent to them is
recorded, with the forms of answers and the tools, as a provider would get it.
"""

import asyncio
import json
import math
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import takewhile
from operator import eq
from pathlib import Path
from typing import Any, NamedTuple

from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import RequestUsage

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.personas import ModelName, Persona
from bot.domain.catalog.policy import Policy, ReviewedBy
from bot.domain.catalog.schema import Schema
from bot.domain.item.item import item_from
from bot.domain.messages.message import Action
from bot.domain.privacy.redaction import unchanged
from bot.domain.roundtable.inputs import Press, Say, Start
from bot.domain.roundtable.state import Roundtable
from bot.domain.specification.claims import EntryState
from bot.domain.specification.entries import NOT_LISTED
from bot.domain.values.places import Person
from bot.engine.performers import Performers
from bot.engine.roundtables import Roundtables
from bot.storage.git.evidence import ITEMS_DIR, GitEvidence
from bot.storage.git.workspace import GitWorkspace
from bot.storage.sqlite import SqliteStore
from bot.voices.llm.calling import Caller
from bot.voices.offline import OfflineVoices
from bot.voices.thinking import ModelVoices
from bot.voices.tools.looking import Looker, LookSubject
from tests.domain.table import HERE, NAMES, shipped
from tests.durability.world import SimChat, SimRecords, World
from tests.engine.replica import Woken
from tests.patience import PATIENCE_SECONDS
from tests.sealing import SEAL
from tests.sights import MEMBERS
from tests.storage.checkout import Git

CHARS_OF_A_TOKEN = 4
"""An estimate, as that of `roundtable eval`."""
BEGIN = datetime(2026, 1, 1)  # noqa: DTZ001 -- the only clock of this meeting
SILENCE = timedelta(seconds=16)

Said = tuple[str, str]

STEPS: Mapping[str, Sequence[Said]] = {
    "00-01": [("ada", "Edits that engineers make in tunnels vanish without a network. Twelve files, I guess.")],
    "00-02": [("ada", "Look for the sync queue and the conflicts."), ("grace", "The retry after 60 seconds is old.")],
    "00-03": [("linus", "The mobile client and the upload job have to change, and nothing in billing.")],
    "01-01": [
        ("grace", "Linus lost an inspection of a gas valve last month. The crew drove back 180 kilometres."),
        ("linus", "We had eleven conflicts in October, and the regulator asks for the log by March."),
    ],
    "01-02": [("grace", "Field engineers in two crews use it. Dispatchers read what comes out of it.")],
    "01-03": [
        ("ada", "An engineer opens the form in the van and fills it in underground."),
        ("grace", "At the gate the form is sent without a press. Nobody tells them whether it arrived."),
    ],
    "01-04": [("linus", "The tablets run Android 11 and have 2 GB of storage left. We cannot add a server.")],
    "01-05": [
        ("linus", "Sync has to be through within 60 seconds for 95 percent of edits."),
        ("grace", "If the tablet is stolen, customer addresses leak. That is what keeps me awake."),
    ],
    "01-06": [("ada", "Edits are kept on the device until the server has confirmed them. Photos come later.")],
    "01-07": [
        ("ada", "As a dispatcher I see which inspections have not arrived yet."),
        ("grace", "As an engineer I see that my last edit is safe before I leave the gate."),
    ],
    "01-08": [("grace", "Keeping edits is a must. The list for dispatchers can wait.")],
    "02-01": [
        ("linus", "The upload job reads the same table as the sync queue."),
        ("ada", "Billing counts finished inspections every night at 02:00, so a late edit changes an invoice."),
    ],
    "02-02": [("linus", "Everything comes in through one endpoint of the sync service. The web form calls it, too.")],
}  # fmt: skip
"""What people say on each step. The ids are those of the steps that ship."""
DISCUSSED: Mapping[str, Sequence[Sequence[Said]]] = {
    "01-05": [
        [("grace", "Crews have no signal for two days at a time, so the last edit is rarely the right one.")],
        [("linus", "I object: two copies of a form confuse the crews."), ("ada", "for A")],
    ],
    "02-01": [
        [("ada", "An invoice that changes after it was sent costs us a phone call each.")],
        [("grace", "Then the nightly count has to wait until every tablet has reported.")],
    ],
}
"""The rounds of people's words in a discussion after the step."""
CODE = {
    f"src/{folder}/{name}.py": "".join(
        f"def {name}_{verb}(edit, queue):\n    # what the {name} of the {folder} has\n    return queue.{verb}(edit)\n\n"
        for verb in ("keep", "send", "retry", "merge")
    )
    for folder in ("sync", "upload", "mobile")
    for name in ("queue", "conflict", "inspection", "endpoint", "tablet")
}


class ModelCall(NamedTuple):
    """
    *text* is all that was sent, in the order in which a provider reads it: tools, the form of the answer, the prompt.
    *began* and *ended* are the numbers of what happened.
    """

    task: str
    text: str
    began: int
    ended: int

    @property
    def tokens(self) -> int:
        return len(self.text) // CHARS_OF_A_TOKEN


def in_sequence(calls: Sequence[ModelCall]) -> int:
    """How many of them had to wait for each other, at most: those that overlap count once."""
    waited = list[int]()
    for call in calls:
        before = (n for n, other in zip(waited, calls, strict=False) if other.ended < call.began)
        waited.append(1 + max(before, default=0))
    return max(waited, default=0)


class CountedMeeting(NamedTuple):
    """*openings* and *rounds* of discussions are among the calls; *accepted* are entries."""

    calls: Sequence[ModelCall]
    openings: Sequence[Sequence[ModelCall]]
    rounds: Sequence[Sequence[ModelCall]]
    accepted: int

    @property
    def tokens_in(self) -> int:
        return sum(one.tokens for one in self.calls)

    @property
    def chars(self) -> int:
        return sum(len(one.text) for one in self.calls)

    @property
    def known_chars(self) -> int:
        """With which the call before of the same task began, too: a provider need not read them again."""
        before: dict[str, str] = {}
        found = 0
        for call in self.calls:
            found += sum(1 for _ in takewhile(bool, map(eq, call.text, before.get(call.task, ""))))
            before[call.task] = call.text
        return found


class ModelsByRule:
    """
    A draft has an entry for each new sentence of people, of the step's own kinds by turns; every second one looks at
    the code before, and a review confirms everything. *in_other_words*: no value is its quote, and one draft in four
    looks. *difficult*: it looks wherever it has tools, and its first answer in a round cannot be read.
    """

    def __init__(self, *, in_other_words: bool = False, difficult: bool = False) -> None:
        self.calls: list[ModelCall] = []
        self._in_other_words = in_other_words
        self._difficult = difficult
        self._read: set[str] = set()
        self._drafts = 0
        self._happened = 0
        self._together, self._begun = 1, 0
        self._all_there = asyncio.Condition()

    @property
    def model(self) -> FunctionModel:
        return FunctionModel(
            self._answer, profile={"supports_json_schema_output": True, "supports_tools": True}
        )

    def answer_together(self, calls: int) -> None:
        """From now on so many are answered when all of them have begun."""
        self._together, self._begun = calls, 0

    async def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        told, place = _told(messages), len(self.calls)
        call = ModelCall(_task(told), _form(info) + told, self._next(), 0)
        self.calls.append(call)
        has_looked = len(messages) > 1
        part: ToolCallPart | TextPart
        if not has_looked and info.function_tools and self._looks(call.task):
            part = ToolCallPart("search_code", {"words": "sync queue retry"})
        elif self._difficult and "Take the discussion one step further" in told and "# Once more" not in told:
            part = TextPart("Certainly!")
        else:
            part = TextPart(json.dumps(ANSWERS[call.task](self, told)))
        async with asyncio.timeout(PATIENCE_SECONDS), self._all_there:
            self._begun += 1
            wave = math.ceil(self._begun / self._together) * self._together
            self._all_there.notify_all()
            await self._all_there.wait_for(lambda: self._begun >= wave)
        self.calls[place] = call._replace(ended=self._next())
        return ModelResponse([part], usage=RequestUsage(input_tokens=call.tokens, output_tokens=10))

    def _next(self) -> int:
        self._happened += 1
        return self._happened

    def _looks(self, task: str) -> bool:
        if task != "draft":
            return self._difficult
        self._drafts += 1
        return self._difficult or self._drafts % (4 if self._in_other_words else 2) == 1

    def draft(self, told: str) -> Mapping[str, Any]:
        here = told.partition("## Kinds of entries of this step")[2]
        kinds = re.findall(r"(?m)^- (\w+) \([^)\n]*\): (\w+) \((?:text|line)\)", here) or [
            ("question", "text")
        ]
        entries = list[Mapping[str, Any]]()
        for line, name, text in spoken_in(told):
            if line in self._read or name in PERSONAS:
                continue
            self._read.add(line)
            for sentence in re.split(r"(?<=[.!?])\s+", text):
                kind, field = kinds[len(entries) % len(kinds)]
                value = self._worded(sentence)
                quote = {"field": field, "line": line, "words": sentence}
                entries.append(
                    {
                        "kind": kind,
                        "id": "",
                        "part_of": "",
                        "fields": [{"field": field, "value": value}],
                        "quotes": [quote],
                    }
                )
        question = {"text": "Who finds out first when an edit is lost?", "to": "Grace", "about": 0}
        question |= {
            "recommended": "The dispatcher, the next morning.",
            "why": "It says what has to be shown.",
            "quotes": [],
        }
        return {"declined": False, "say": "", "questions": [question], "next": [question], "entries": entries}

    def _worded(self, sentence: str) -> str:
        """The same, with its last word first."""
        if not self._in_other_words:
            return sentence
        *most, last = sentence.rstrip(".").split()
        return f"{last}: {' '.join(most)}"

    def turn(self, told: str) -> Mapping[str, Any]:
        """In an opening the words that were said first, in a round those that were said last."""
        asked = re.findall(r"(?m)^## .*\(`([\w-]+)`\)$", told)
        lines = [one for one in spoken_in(told) if one[1].removesuffix(", a person") in NAMES.values()]
        line, _, text = lines[-1]
        said = {"text": f"What was said weighs most: {text}", "quotes": [{"line": line, "words": text}]}
        stands = {"issue": "what counts", "option": f"keep both edits, {asked[0]}", "moved_by": ""}
        return {
            "declined": False,
            "contributions": [{"persona": asked[0], "say": [said], **stands, "ask": NOBODY}],
        }

    def review(self, told: str) -> Mapping[str, Any]:
        claims = told.partition("# The claims that were drafted")[2]
        sources = re.findall(r"(?m)^<<<\w+ claim (\d+), source \[[^\n]*\n(?:\w+: )?([^\n]*)", claims)
        verdicts = [{"claim": int(number), "verdict": "yes", "words": text} for number, text in sources]
        line, _, text = spoken_in(told)[-1] if spoken_in(told) else ("", "", "")
        against = {"text": "Nobody said what happens then.", "quotes": [{"line": line, "words": text}]}
        missing = {"person": "Linus", "ask": "What happens to an edit of a tablet that is gone?"}
        return {"verdicts": verdicts, "objection": against, "contradictions": [], "missing": missing}


NOBODY = {"text": "", "to": ""}
ANSWERS: Mapping[str, Callable[[ModelsByRule, str], Mapping[str, Any]]] = {
    "draft": ModelsByRule.draft,
    "turn": ModelsByRule.turn,
    "review": ModelsByRule.review,
}
PERSONAS = frozenset(one.first_name for one in shipped().roster)


def spoken_in(told: str) -> list[tuple[str, str, str]]:
    """The id, the speaker and the words of each message that a prompt shows."""
    found = re.findall(r"(?m)^\[([\w.]+)\] ([^\n:]+):\n((?:> [^\n]*\n?)+)", told)
    return [(id, name, " ".join(row[2:] for row in rows.splitlines())) for id, name, rows in found]


def _task(told: str) -> str:
    if "# Your task: speak" in told:
        return "turn"
    return "review" if "You review what another model drafted" in told else "draft"


def _told(messages: Sequence[ModelMessage]) -> str:
    return "\n".join(_words(part) for one in messages for part in one.parts)


def _words(part: Any) -> str:
    if isinstance(part, ToolCallPart):
        return f"{part.tool_name} {part.args_as_json_str()}"
    content = part.content
    return content if isinstance(content, str) else "\n".join(one for one in content if isinstance(one, str))


def _form(info: AgentInfo) -> str:
    """What goes with a request beside its messages: it is the first that a provider reads."""
    tools = [[one.name, one.description, one.parameters_json_schema] for one in info.function_tools]
    output = info.model_request_parameters.output_object
    return json.dumps(tools) + json.dumps(output.json_schema if output else None)


async def counted(root: Path, models: ModelsByRule) -> CountedMeeting:
    """Plays the meeting. The item is in the repository at *root* afterwards."""
    git = Git(root)
    git.begin()
    for path, text in CODE.items():
        git.write(path, text)
    git("add", "--all")
    git("commit", "--message", "The service")
    world, book = World(), _book()
    async with SqliteStore(root / ".roundtable") as store, GitWorkspace(root, seal=SEAL) as workspace:
        meeting = PlayedMeeting(store, models)
        voices = _voices(models, GitEvidence(root, ITEMS_DIR))
        chat, records = SimChat(world), SimRecords(world)
        performers = Performers(chat, voices, workspace, book, meeting.now, records, MEMBERS)
        meeting.engine = Roundtables(
            store=store, wake=Woken(), performers=performers, playbook=book, clock=meeting.now
        )
        await meeting.begin()
        for step_id, said in STEPS.items():
            await meeting.step(step_id, said)
            if step_id in DISCUSSED:
                await meeting.discussion(DISCUSSED[step_id])
            if step_id != [*STEPS][-1]:
                await meeting.press(Action.CONTINUE)
                if (await meeting.rt()).step_id == step_id:  # the menu of the phase
                    await meeting.press(Action.CONTINUE)
        entries = (await meeting.rt()).specification.entries.values()
    accepted = sum(one.state is EntryState.ACCEPTED and one.kind not in NOT_LISTED for one in entries)
    return CountedMeeting(tuple(models.calls), meeting.openings, meeting.rounds, accepted)


def _book() -> Playbook:
    policy = Policy(thinks=True, looks_first=True, reviewed_by=ReviewedBy.OTHER)
    return replace(shipped(), policy=policy)


def _voices(models: ModelsByRule, evidence: GitEvidence) -> ModelVoices:
    mind = Caller(ModelName("scripted", "one"), models.model, address="", caches=False, streams=False)

    def looker_of(subject: LookSubject, schema: Schema, persona: Persona) -> Looker:
        return Looker(evidence, subject, schema, persona, redact=unchanged)

    return ModelVoices(lambda _: mind, OfflineVoices(), looker_of=looker_of, second=mind)


class PlayedMeeting:
    """What people do, and a clock that goes when they are silent."""

    engine: Roundtables

    def __init__(self, store: SqliteStore, models: ModelsByRule) -> None:
        self.openings: list[Sequence[ModelCall]] = []
        self.rounds: list[Sequence[ModelCall]] = []
        self._store = store
        self._models = models
        self._now = BEGIN
        self._inputs = 0
        self._slug = ""

    def now(self) -> str:
        return f"{self._now:%Y-%m-%dT%H:%M:%S.000Z}"

    async def rt(self) -> Roundtable:
        found = await self._store.get(self._slug)
        assert found
        return found

    async def begin(self) -> None:
        item, ada = item_from("Offline sync for field engineers"), Person(id="ada", name="Ada")
        rt = await self.engine.start(Start(key="start", at=self.now(), item=item, place=HERE, person=ada))
        self._slug = rt.slug
        await self.engine.pay(self._slug)
        await self.silence()

    async def say(self, who: str, text: str) -> None:
        rt, person = await self.rt(), Person(id=who, name=NAMES[who])
        ts = f"{2_000_000 + self._next()}.000100"
        await self._given(Say(key=rt.line_of(ts), at=self.now(), person=person, text=text, ts=ts))

    async def press(self, action: str, who: str = "ada") -> None:
        rt, person = await self.rt(), Person(id=who, name=NAMES[who])
        assert rt.menu, f"nothing to press, the roundtable is {rt.stage}"
        key, token = f"press.{self._next()}", rt.menu.token
        value = next((one.value for one in rt.menu.message.offered if one.action == action), "")
        given = {"key": key, "at": self.now(), "person": person, "action": action, "token": token}
        await self._given(Press(**given, ts=rt.stands_at(token), value=value))

    async def silence(self) -> None:
        """Until a draft or a round begins; then everything is performed."""
        self._now += SILENCE
        await self.engine.pay(self._slug)
        await self.engine.pay(self._slug)

    async def _given(self, event: Say | Press) -> None:
        await self.engine.handle(self._slug, event)
        await self.engine.pay(self._slug)

    def _next(self) -> int:
        self._inputs += 1
        self._now += timedelta(seconds=1)
        return self._inputs

    async def step(self, step_id: str, said: Sequence[Said]) -> None:
        rt = await self.rt()
        assert rt.step_id == step_id, f"{rt.step_id} is open and not {step_id}"
        for who, text in said:
            await self.say(who, text)
        await self.silence()
        rt = await self.rt()
        if rt.menu and rt.menu.offers(Action.ACCEPT_ALL):
            await self.press(Action.ACCEPT_ALL)
        await self.press(Action.FINISH_STEP)

    async def discussion(self, rounds: Sequence[Sequence[Said]]) -> None:
        self._models.answer_together(len(PERSONAS))
        self.openings.append(await self._calls_of(self.press(Action.ELABORATE)))
        self._models.answer_together(1)
        for said in rounds:
            for who, text in said:
                await self.say(who, text)
            self.rounds.append(await self._calls_of(self.silence()))
        await self.press(Action.END_ELABORATION)
        await self.silence()

    async def _calls_of(self, deed: Awaitable[None]) -> Sequence[ModelCall]:
        before = len(self._models.calls)
        await deed
        return tuple(self._models.calls[before:])
