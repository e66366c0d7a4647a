"""A team, three personas and some steps for the voices to speak about."""

import asyncio
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bot.domain.catalog.agenda import Agenda, Playbook
from bot.domain.catalog.personas import Persona, Roster
from bot.domain.catalog.steps import Depth, Step, StepHeading
from bot.domain.discussion.elaboration import Elaboration, TurnKind
from bot.domain.roundtable.effects import Speak
from bot.domain.roundtable.inputs import Say
from bot.domain.roundtable.state import Answer, Roundtable
from bot.domain.roundtable.transitions import deciding
from bot.domain.transcript.lines import LinePhase
from bot.domain.values.places import Person, Place
from bot.engine.ports import Speech, VoiceContext, Voices
from bot.voices.offline import OfflineVoices

MAYA, ALEX, JORDAN = "business-analyst", "solutions-architect", "system-designer"
ADA, BEN = "U1", "U2"
NOW = "2026-03-01T09:00:00.000Z"

ROSTER = Roster(
    (
        Persona(
            key=MAYA,
            name="Maya Chen",
            role="Business Analyst",
            lens="user needs",
        ),
        Persona(
            key=ALEX,
            name="Alex Rivera",
            role="Solutions Architect",
            lens="feasibility and risk",
        ),
        Persona(
            key=JORDAN,
            name="Jordan Park",
            role="System Designer",
            lens="interfaces and error paths",
        ),
    )
)

STANDARD = "1. What goes wrong today?\n2. What number moves?\n3. Why now?"


def make_step(step_id: str, title: str, *outputs: str, **more: Any) -> Step:
    sections = {
        StepHeading.STANDARD: more.pop("standard", STANDARD),
        StepHeading.VALIDATION: more.pop("validation", ""),
        StepHeading.ARTIFACTS: more.pop("artifacts", ""),
    }
    return Step(
        step_id=step_id,
        title=title,
        persona=more.pop("persona", MAYA),
        depth=Depth.STANDARD,
        outputs=outputs,
        phase_key=more.pop("phase_key", "01-requirements"),
        sections=sections,
    )


CONTEXT = make_step(
    "01-01",
    "Business Context",
    "requirements-spec.md",
    validation=(
        "- The problem happens to a person -- Who had this problem last?\n"
        "- There is one measurable sign of success -- What number will move?\n"
        '- Edge case: "obvious" reasons are worth spelling out -- What would you tell a newcomer?\n'
    ),
    artifacts='- Update `requirements-spec.md`:\n  - Section: "1. Business Context"',
)
SCOPE = make_step(
    "00-01",
    "Scope Estimation",
    "quick-scan.md",
    phase_key="00-quick-scan",
    standard=(
        "1. What will be different?\n"
        "2. What size is that: small, medium or large?\n"
        "3. How tricky is it: low, medium or high?"
    ),
    validation=(
        "- A size is named: small, medium or large -- Which comes closest: small, medium or large?\n"
        "- A complexity is named: low, medium or high -- How tricky does it feel?\n"
    ),
    artifacts='- Update `quick-scan.md`:\n  - Section: "1. Scope"',
)
KEYWORDS = make_step(
    "00-02",
    "Keyword Search",
    "quick-scan.md",
    phase_key="00-quick-scan",
    artifacts='- Update `quick-scan.md`:\n  - Section: "2. Keywords"',
)
FILE_COUNT = make_step(
    "00-03",
    "File Count",
    "quick-scan.md",
    phase_key="00-quick-scan",
    standard="1. How many files is it in total, roughly?\n2. How many more come on top for tests?\n3. What else?",
    artifacts='- Update `quick-scan.md`:\n  - Section: "3. File Count"\n  - Section: "4. Final Scope"',
)
QUALITY = make_step(
    "01-05",
    "Quality & Risk",
    "requirements-spec.md",
    "nfr-matrix.md",
    artifacts=(
        '- Update `requirements-spec.md`:\n  - Section: "5. Quality Attributes & Risks"\n- Update `nfr-matrix.md`'
    ),
)
FEATURES = make_step(
    "01-06",
    "Core Features",
    "requirements-spec.md",
    validation=(
        "- Every capability has an acceptance criterion -- What would you show somebody?\n"
        "- Out of scope is written down -- What will we not do?\n"
    ),
    artifacts=(
        '- Update `requirements-spec.md`:\n  - Section: "6. Functional Requirements"\n  - Section: "7. Out of Scope"'
    ),
)
STORIES = make_step("01-07", "User Stories", "user-stories.json")
PRIORITIES = make_step(
    "01-08",
    "MoSCoW Prioritization",
    "requirements-spec.md",
    "traceability-matrix.csv",
    artifacts='- Update `requirements-spec.md`:\n  - Section: "8. MoSCoW Prioritization"',
)
OPTIONS = make_step(
    "03-01",
    "Architecture Options",
    "architecture-overview.md",
    persona=ALEX,
    phase_key="03-architecture",
    standard="1. What options are there?\n2. What did we select, and why?",
    artifacts=(
        '- Update `architecture-overview.md`:\n  - Section: "1. Architecture Options"\n'
        '  - Section: "2. Selected Architecture"'
    ),
)
OTHER = make_step(
    "06-01", "Rollout", "rollout.json", "rollout.csv", "rollout.yaml", "rollout.txt", phase_key="06-rollout"
)

STEPS = (SCOPE, KEYWORDS, FILE_COUNT, CONTEXT, QUALITY, FEATURES, STORIES, PRIORITIES, OPTIONS, OTHER)
PLAYBOOK = Playbook(ROSTER, Agenda(steps=STEPS))


def roundtable(step: Step, *said: tuple[str, str], after: tuple[tuple[str, str], ...] = ()) -> Roundtable:
    """At *step*, where people said this, and gave feedback *after* it was finished."""
    answers = [Answer(person=person, text=text, ts=str(number)) for number, (person, text) in enumerate(said)]
    feedback = [
        Answer(person=person, text=text, ts=f"f{n}", feedback=True) for n, (person, text) in enumerate(after)
    ]
    return Roundtable(
        incarnation="i",
        slug="lost-rows",
        title="Exports lose rows",
        place=Place(team="T", channel="C", thread="1"),
        people={ADA: "Ada", BEN: "Ben"},
        phase_key=step.phase_key,
        step_id=step.step_id,
        answers=(*answers, *feedback),
        now=NOW,
    )


def draft(rt: Roundtable, persona: str = MAYA, playbook: Playbook = PLAYBOOK) -> Speech:
    return asyncio.run(OfflineVoices().draft(VoiceContext(rt, playbook, persona)))


PAGES: Mapping[str, Mapping[str, str]] = json.loads((Path(__file__).parent / "pages.json").read_text("utf-8"))
"""Files as version 1 wrote them without a model: items of that time are planned and reviewed, too."""


def written(
    rt: Roundtable, files: Mapping[str, str] | None = None, *, skipped: bool = False
) -> dict[str, str]:
    """The files after the open step, with the answers of *rt*, as version 1 left them."""
    before = dict(files or {})
    asked = json.dumps([rt.step_id, [answer.text for answer in rt.answers], before, skipped])
    return {**before, **PAGES[hashlib.sha256(asked.encode()).hexdigest()[:12]]}


class Meeting:
    """An elaboration that is played turn by turn."""

    def __init__(self, rt: Roundtable, playbook: Playbook = PLAYBOOK, *, lead: str = MAYA) -> None:
        step = playbook.agenda.step(rt.step_id)
        self.rt = rt
        self.playbook = playbook
        self.voices: Voices = OfflineVoices()
        self.debate = Elaboration(
            step_id=step.step_id, entry="DIS-001", lead=lead, topic=step.title, max_turns=100
        )

    def cue(self, persona: str = "") -> VoiceContext:
        return VoiceContext(self.rt.but(elaboration=self.debate), self.playbook, persona or self.debate.lead)

    def opens(self) -> str:
        return self._heard(self.debate.lead, TurnKind.OPENING)

    def speaks(self, persona: str) -> str:
        return self._heard(persona, TurnKind.ASKED)

    def says(self, person: str, text: str) -> "Meeting":
        name, ts = self.rt.name_of(person), f"9.{self.debate.turn_count}"
        event = Say(key=f"C.{ts}", at=self.rt.now, person=Person(id=person), text=text, ts=ts)
        line = self.rt.line_of(ts)
        self.debate = self.debate.heard(by=person, name=name, text=text, ts=ts, line=line)
        rt, patches = deciding.said(self.rt.but(elaboration=self.debate), event, self.playbook)
        self.debate = rt.debate
        self.rt = rt.heard(event.person, text, ts=ts, part=LinePhase.WORKSHOP, entries=patches)
        return self

    def _heard(self, persona: str, kind: TurnKind) -> str:
        """As the roundtable takes it."""
        asked = Speak(persona=persona, task="turn", turn=kind, personas=(persona,))
        speech = asyncio.run(self.voices.turn(self.cue(persona), asked))
        for said in speech.contributions:
            self.debate = self.debate.spoken(said, name=self.playbook.roster[persona].first_name)
        return " ".join(one.text for one in speech.contributions)
