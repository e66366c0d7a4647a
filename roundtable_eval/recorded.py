"""
The personas of the demo: what the file has is the answer of their model, and everything behind the model is real. What
they look at is checked, and so are the sources of what they propose.
"""

import asyncio
import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.personas import Persona
from bot.domain.catalog.policy import Policies, Policy
from bot.domain.catalog.schema import Schema
from bot.domain.catalog.steps import Depth
from bot.domain.discussion.elaboration import TurnKind
from bot.domain.privacy.redaction import unchanged
from bot.domain.roundtable.effects import Speak
from bot.domain.roundtable.outcomes import DraftReview
from bot.domain.specification.entries import Specification
from bot.engine.evidence_ports import Evidence, LookRefused, Passage
from bot.engine.ports import NO_FACTS, Facts, Speech, TurnSpeech, VoiceContext, Voices
from bot.voices.model import Completion, LanguageModel, Prompt, Usage
from bot.voices.offline import OfflineVoices
from bot.voices.thinking import ModelVoices
from bot.voices.tools.looking import Looker, LookSubject
from roundtable_eval.demo_script import DemoScript, ScriptedDraft, ScriptedLook

SILENT = Speech("", by_rule=True, patches=())
"""It has read what people said. None in place of no patches would mean that it did not, and is not asked again."""
PASSED = TurnSpeech(by_rule=True)
OF_A_CALL = frozenset({"provider", "model", "tokens_in", "tokens_out", "seconds", "cost"})
"""Facts that a recording does not have: it takes no tokens."""
SHA_CHARS = 7
MOST_DRAFTS = 1_000
"""The script says when a persona speaks."""

Entry = Mapping[str, Any]
Form = Callable[[VoiceContext, str, Sequence[Entry]], Entry]
"""How a model gives what a persona says, and the entries that it proposes."""


class RecordedPolicies(Policies):
    """In the channel of the demo personas have a model until *is_over*, and one card is asked for each phase."""

    recorded: str
    is_over: Callable[[], bool]

    def of(self, channel: str, policy: Policy) -> Policy:
        policy = super().of(channel, policy)
        if channel != self.recorded or self.is_over():
            return policy
        at_once = policy.but(draft_seconds=0, most_drafts=MOST_DRAFTS)
        return at_once.but(thinks=True, looks_first=False, depth=Depth.BRIEF, budget=None)


class ScriptedEvidence(Evidence):
    """Code that only the file of the demo has. What would be a commit is the digest of the text."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = files

    async def search_code(self, words: Sequence[str], *, within: Sequence[str] = ()) -> tuple[Passage, ...]:  # noqa: ARG002
        return tuple(
            Passage(self.cited(f"{path}:{number}"), f"{number} {row}")
            for path, text in self._files.items()
            for number, row in enumerate(text.splitlines(), start=1)
            if any(word in row for word in words)
        )

    async def read_file(self, path: str, first: int, last: int) -> Passage:
        if path not in self._files:
            raise LookRefused(f"There is no file {path}.")
        rows = self._files[path].splitlines()[first - 1 : last]
        shown = [f"{number} {row}" for number, row in enumerate(rows, start=first)]
        return Passage(self.cited(f"{path}:{first}-{last}"), "\n".join(shown))

    async def git_log(self, path: str, *, sees: Callable[[str], Awaitable[bool]]) -> tuple[Passage, ...]:  # noqa: ARG002
        self._refuse(path)

    async def related_files(self, path: str) -> tuple[Passage, ...]:
        self._refuse(path)

    async def specification(self, slug: str) -> Specification:
        self._refuse(slug)

    def cited(self, text: str) -> str:
        """*text* with its `shipping/labels.py:5` as `shipping/labels.py:5@1a2b3c4`."""
        for path, content in self._files.items():
            sha = hashlib.sha1(content.encode(), usedforsecurity=False).hexdigest()[:SHA_CHARS]
            text = re.sub(rf"{re.escape(path)}:\d+(?:-\d+)?\b(?!@)", rf"\g<0>@{sha}", text)
        return text

    def words_at(self, source: str) -> str:
        """The line of `shipping/labels.py:5`."""
        path, _, number = source.rpartition(":")
        return self._files[path].splitlines()[int(number) - 1].strip()

    def _refuse(self, what: str) -> NoReturn:
        raise LookRefused(f"Nothing else of {what} is in the demo.")


class ScriptedAnswer(LanguageModel):
    def __init__(self, answer: Callable[[Prompt], Awaitable[str]]) -> None:
        self._answer = answer

    async def think(self, prompt: Prompt, *, seconds: float, tokens: int) -> Completion:  # noqa: ARG002
        return Completion(await self._answer(prompt), Usage("recorded", "demo", 0.0))


class RecordedVoices:
    """In the thread of the demo the file speaks, until its end; *live* speaks after that, and in all other threads."""

    def __init__(self, script: DemoScript, playbook: Playbook, live: Voices) -> None:
        self._script = script
        self._playbook = playbook
        self._live = live
        self._evidence = ScriptedEvidence(script.evidence)
        self._thread = ""
        self._replies: dict[str, tuple[int, ...]] = {}
        self._framing: tuple[int, ...] = ()
        self._due = -1
        self.has_ended = False
        self._moved = asyncio.Event()

    # What the player says

    def play_in(self, thread_ts: str) -> None:
        self._thread = thread_ts

    def said(self, ts: str, replies: tuple[int, ...]) -> None:
        """By a person, as the file has it; *replies* are the events in which a persona takes it up."""
        self._replies[ts] = replies

    def discussed(self, framing: tuple[int, ...]) -> None:
        """A discussion was opened; in the events *framing* a persona begins it."""
        self._framing = framing

    def release(self, number: int) -> None:
        """It is time for this event, and for all before it."""
        self._due = number
        self._moved.set()

    def end(self) -> None:
        self.has_ended = True
        self._moved.set()

    # What the bot asks

    async def draft(self, cue: VoiceContext) -> Speech:
        answers = cue.roundtable.answers
        events = self._replies.get(answers[-1].ts, ()) if answers else ()
        if not self._is_recorded(cue):
            return await self._live.draft(cue)
        if not (own := self._own(cue.persona, events)):
            return SILENT
        speech = await self._speaking(cue, own, self._draft).draft(cue)
        if not self._is_recorded(cue):
            return await self._live.draft(cue)
        return speech._replace(facts=_kept(speech.facts))

    async def turn(self, cue: VoiceContext, asked: Speak) -> TurnSpeech:
        if not self._is_recorded(cue):
            return await self._live.turn(cue, asked)
        turns, events = cue.roundtable.debate.turns, self._framing
        if asked.turn is not TurnKind.OPENING:
            events = self._replies.get(turns[-1].ts, ()) if turns and turns[-1].human else ()
        own = [one for key in asked.personas for one in self._own(key, events)]
        if not own:
            return PASSED
        speech = await self._speaking(cue, own, self._turn).turn(cue, asked)
        if not self._is_recorded(cue):
            return await self._live.turn(cue, asked)
        return speech._replace(facts=_kept(speech.facts))

    async def review(self, cue: VoiceContext) -> tuple[DraftReview, Facts]:
        return (DraftReview(), NO_FACTS) if self._is_recorded(cue) else await self._live.review(cue)

    def _own(self, key: str, events: Sequence[int]) -> list[int]:
        """Of *events* those of the persona."""
        persona = self._playbook.roster.get(key)
        return [one for one in events if persona and self._script.turns[one].by == persona.first_name]

    def _speaking(self, cue: VoiceContext, events: Sequence[int], form: Form) -> ModelVoices:
        model = ScriptedAnswer(lambda prompt: self._answer(cue, events, prompt, form))
        return ModelVoices(lambda _: model, OfflineVoices(), looker_of=self._looker_of)

    async def _answer(self, cue: VoiceContext, events: Sequence[int], prompt: Prompt, form: Form) -> str:
        """The looks of *events*, each when it is time, then what they say and propose."""
        said, entries = "", list[Mapping[str, Any]]()
        for number in events:
            await self._until_due(number)
            event = self._script.turns[number]
            for look in filter(None, map(ScriptedLook.read, event.look)):
                assert prompt.tools, "the demo's personas may look"
                await prompt.tools.look(look.tool, look.given)
            said = self._evidence.cited(event.ask or event.say) or said
            entries += (self._entry(cue, draft) for draft in event.draft)
        return f"```record\n{json.dumps(form(cue, said, entries))}\n```"

    @staticmethod
    def _draft(_cue: VoiceContext, said: str, entries: Sequence[Entry]) -> Entry:
        return {"say": said, "entries": entries}

    @staticmethod
    def _turn(cue: VoiceContext, said: str, _entries: Sequence[Entry]) -> Entry:
        return {"contributions": [{"persona": cue.persona, "say": [{"text": said, "quotes": []}]}]}

    def _entry(self, cue: VoiceContext, draft: ScriptedDraft) -> Mapping[str, Any]:
        text = self._playbook.schema.kinds[draft.kind].text
        quotes = [
            {"field": text, "line": line, "words": words} for line, words in self._quotes_of(cue, draft)
        ]
        return {"kind": draft.kind, "fields": {text: draft.text}, "quotes": quotes}

    def _looker_of(self, subject: LookSubject, schema: Schema, persona: Persona) -> Looker:
        return Looker(self._evidence, subject, schema, persona, redact=unchanged)

    def _quotes_of(self, cue: VoiceContext, draft: ScriptedDraft) -> Iterator[tuple[str, str]]:
        rt = cue.roundtable
        people = {name: id for id, name in rt.people.items()}
        for one in rt.answers:
            if draft.said and one.person == people.get(draft.said) and draft.quote in one.text:
                yield rt.line_of(one.ts), draft.quote
        for source in draft.sources:
            yield self._evidence.cited(source), self._evidence.words_at(source)

    async def _until_due(self, number: int) -> None:
        while self._due < number and not self.has_ended:
            self._moved.clear()
            await self._moved.wait()

    def _is_recorded(self, cue: VoiceContext) -> bool:
        return bool(self._thread) and cue.roundtable.place.thread == self._thread and not self.has_ended


def _kept(facts: Facts) -> Facts:
    return {name: fact for name, fact in facts.items() if name not in OF_A_CALL}
