"""
Meetings in which something is planted: facts, dissent, lies, decisions and positions that are given up. Their files
also have the answers of models, which lie; only the bot's checks stand between those and the record.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.personas import Persona
from bot.domain.discussion.attesting import NOT_SAID, PROPOSED, attested
from bot.domain.discussion.elaboration import Elaboration, Stance, TurnKind
from bot.domain.discussion.synthesis import Decision, Objection, Synthesis
from bot.domain.messages.attribution_wording import recorder
from bot.domain.roundtable import citing
from bot.domain.roundtable.effects import Speak
from bot.domain.roundtable.inputs import Say
from bot.domain.roundtable.outcomes import TurnTaken
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Answer, Roundtable
from bot.domain.roundtable.transitions import deciding, elaborations, specifying, syntheses
from bot.domain.specification.checks import check_for
from bot.domain.specification.fold import letters_of
from bot.domain.transcript.lines import LinePhase
from bot.domain.values.places import Person, Place
from bot.domain.values.value import Value
from bot.engine.ports import VoiceContext
from bot.voices.offline.offline import OfflineVoices
from bot.voices.thinking import ModelVoices
from bot.voices.verifying import Verifier
from roundtable_eval.files import read_yaml
from tests.voices.minds import ScriptedMind

AT = "2026-01-01T00:00:00.000Z"

Words = tuple[str, ...]
"""All of them stand in one claim."""


class PlantedTurn(Value):
    """A person `says` something or decides; a persona says it as the answer of its model."""

    name: str
    says: str = ""
    stances: tuple[Stance, ...] = ()
    issue: str = ""
    decides: str = ""


class PlantedWords(Value):
    by: str
    says: str = ""
    words: Words = ()


class Planted(Value):
    """`decisions` are the only ones that people make."""

    facts: tuple[Words, ...] = ()
    dissent: tuple[PlantedWords, ...] = ()
    lies: tuple[Words, ...] = ()
    decisions: tuple[PlantedWords, ...] = ()


class PlantedMeeting(NamedTuple):
    title: str
    answers: tuple[PlantedTurn, ...]
    thread: tuple[PlantedTurn, ...]
    planted: Planted
    panel: Mapping[str, Any]
    verifier: tuple[Mapping[str, Any], ...]


class PlantedScore(NamedTuple):
    """What of it the record kept, and what it has that it should not have."""

    facts: int
    dissent: int
    false_claims: int = 0
    invented: int = 0


def read_planted(path: Path) -> PlantedMeeting:
    given, _ = read_yaml(path)
    script = given["script"]
    return PlantedMeeting(
        given["title"],
        tuple(map(_turn, given.get("answers") or ())),
        tuple(map(_turn, given["thread"])),
        Planted.model_validate(given.get("planted") or {}),
        script["panel"],
        tuple(script.get("verifier") or ()),
    )


def _turn(given: Mapping[str, Any]) -> PlantedTurn:
    """`- Ada: Never lose an edit.` or `- Maya: {says: …, stances: […]}`."""
    ((name, said),) = given.items()
    told = said if isinstance(said, Mapping) else {"says": str(said)}
    return PlantedTurn.model_validate({"name": name, **told})


def wanted(planted: Planted) -> PlantedScore:
    """All that is planted is kept, and nothing else is there."""
    return PlantedScore(len(planted.facts), len(planted.dissent))


async def played(meeting: PlantedMeeting, playbook: Playbook) -> PlantedScore:
    """As a panel, with all checks."""
    stage = PlantedStage(meeting, playbook)
    await stage.debate()
    return await stage.score()


class PlantedStage:
    def __init__(self, meeting: PlantedMeeting, playbook: Playbook) -> None:
        self._meeting = meeting
        self._playbook = playbook
        self._personas = {one.first_name: one for one in playbook.roster}
        step = next(iter(playbook.agenda.steps))
        people = (one.name for one in (*meeting.answers, *meeting.thread) if one.name not in self._personas)
        self.rt = Roundtable(
            incarnation="eval",
            slug="meeting",
            title=meeting.title,
            place=Place(team="T", channel="C", thread="1"),
            people={name: name for name in people},
            phase_key=step.phase_key,
            step_id=step.step_id,
            answers=tuple(
                Answer(person=one.name, text=one.says, ts=f"a{number}")
                for number, one in enumerate(meeting.answers)
            ),
            now=AT,
        )

    async def debate(self) -> None:
        rt, title = self.rt, self._meeting.title
        lead = self._personas[self._meeting.thread[0].name].key
        entry, opened = specifying.discussion_opened(rt, title, rt.step_id, self._playbook)
        most = len(self._meeting.thread) + 1
        debate = Elaboration(step_id=rt.step_id, entry=entry, lead=lead, topic=title, max_turns=most)
        rt = rt.but(stage=Stage.ELABORATING, elaboration=debate)
        self.rt = rt.recording(title, part=LinePhase.WORKSHOP, **opened)
        for number, turn in enumerate(self._meeting.thread):
            if persona := self._personas.get(turn.name):
                await self._persona_speaks(persona, turn)
            else:
                self._person_speaks(turn, f"m{number}")

    async def score(self) -> PlantedScore:
        """What a voice adds is checked, and stands beside what is on record."""
        rt, planted = self.rt, self._meeting.planted
        verifier = ScriptedMind(json.dumps([*map(dict, self._meeting.verifier)]))
        voices = _voices(self._meeting.panel, Verifier(verifier) if self._meeting.verifier else None)
        chair = next(one for one in self._playbook.roster if one.key != rt.debate.lead)
        found, _ = await voices.synthesize(VoiceContext(rt, self._playbook, chair.key), {})
        check = check_for(self._playbook, rt.people.values())
        given = attested(citing.grounded(found, rt.debate), rt.discussed, check).synthesis
        objections = syntheses.concluded_block(rt, given, self._playbook).block.objections
        decisions = tuple(
            Decision(text=str(one["text"]), by=recorder(one, "text"))
            for one in rt.discussed.current_decisions
        )
        record = given.but(decisions=decisions, objections=tuple(Objection(text=one) for one in objections))
        everything, as_fact = tuple(_everything(record)), tuple(_as_fact(record))
        return PlantedScore(
            facts=sum(_is_in(one, everything) for one in planted.facts),
            dissent=sum(
                any(letters_of(one.says) in letters_of(text) for text in objections)
                for one in planted.dissent
            ),
            false_claims=sum(_is_in(one, as_fact) for one in planted.lies),
            invented=sum(
                not any(known.by == one.by and _is_in(known.words, [one.text]) for known in planted.decisions)
                for one in decisions
            ),
        )

    async def _persona_speaks(self, persona: Persona, turn: PlantedTurn) -> None:
        held = turn.stances[0] if turn.stances else None
        said = {"persona": persona.key, "say": [{"text": turn.says, "quotes": []}]}
        if held:
            because = next(iter(held.because), "")
            said |= {"issue": held.issue, "option": held.position, "moved_by": because}
        voices = _voices({"contributions": [said]})
        asked = Speak(persona=persona.key, task="turn", turn=TurnKind.ASKED, personas=(persona.key,))
        speech = await voices.turn(VoiceContext(self.rt, self._playbook, persona.key), asked)
        told = {
            "key": turn.name,
            "at": AT,
            "effect": turn.name,
            "turn": asked.turn,
            "personas": asked.personas,
        }
        self.rt = elaborations.turn_taken(self.rt, TurnTaken(**told, **speech._asdict()), self._playbook)

    def _person_speaks(self, turn: PlantedTurn, ts: str) -> None:
        rt, person = self.rt, Person(id=turn.name, name=turn.name)
        text = turn.says
        if turn.decides:
            text = f"{turn.issue}: {turn.decides}" if turn.issue else turn.decides
            facts = specifying.decided(rt, text, self._playbook)
        else:
            debate = rt.debate
            debate = debate.heard(by=turn.name, name=turn.name, text=text, ts=ts, line=rt.line_of(ts))
            event = Say(key=ts, at=AT, person=person, text=text, ts=ts)
            rt, facts = deciding.said(rt.but(elaboration=debate), event, self._playbook)
        self.rt = rt.heard(person, text, ts=ts, part=LinePhase.WORKSHOP, **facts)


def _voices(answer: Mapping[str, Any], verifier: Verifier | None = None) -> ModelVoices:
    mind = ScriptedMind(json.dumps(dict(answer)))
    return ModelVoices(lambda _: mind, OfflineVoices(), verifier)


def _is_in(words: Words, claims: Iterable[str]) -> bool:
    return any(all(one.casefold() in claim.casefold() for one in words) for claim in claims)


def _everything(record: Synthesis) -> Iterator[str]:
    for part in (record.insights, record.decisions, record.questions, record.objections):
        yield from (one.text for one in part)
    yield from record.actions


def _as_fact(record: Synthesis) -> Iterator[str]:
    """Without what is marked: unverified, proposed, an assumption. An objection is in the words of who made it."""
    for one in record.insights:
        if one.turns and not one.unverified and not one.text.startswith(PROPOSED):
            yield one.text
    yield from (f"{one.text} {one.rationale}" for one in record.decisions)
    yield from (one for one in record.actions if "(unverified: " not in one and f"({NOT_SAID})" not in one)
    yield record.summary
