"""A team, three personas and two steps for the voices to speak about."""

from bot.domain.catalog.agenda import Agenda, Playbook
from bot.domain.catalog.personas import Persona, Roster
from bot.domain.catalog.steps import Depth, Step, StepHeading
from bot.domain.roundtable.state import Answer, Roundtable
from bot.domain.values.places import Place

MAYA, ALEX, JORDAN = "business-analyst", "solutions-architect", "system-designer"
ADA, BEN = "U1", "U2"
NOW = "2026-03-01T09:00:00.000Z"

ROSTER = Roster(
    (
        Persona(key=MAYA, name="Maya Chen", role="Business Analyst", lens="user needs"),
        Persona(key=ALEX, name="Alex Rivera", role="Solutions Architect", lens="feasibility and risk"),
        Persona(key=JORDAN, name="Jordan Park", role="System Designer", lens="interfaces and error paths"),
    )
)


def make_step(step_id: str, title: str, *, validation: str, artifacts: str) -> Step:
    return Step(
        step_id=step_id,
        title=title,
        persona=MAYA,
        depth=Depth.STANDARD,
        outputs=("requirements-spec.md",),
        phase_key="01-requirements",
        sections={
            StepHeading.STANDARD: "1. What goes wrong today?\n2. What number moves?\n3. Why now?",
            StepHeading.VALIDATION: validation,
            StepHeading.ARTIFACTS: artifacts,
        },
    )


CONTEXT = make_step(
    "01-01",
    "Business Context",
    validation=(
        "- The problem happens to a person -- Who had this problem last?\n"
        "- There is one measurable sign of success -- What number will move?\n"
        '- Edge case: "obvious" reasons are worth spelling out -- What would you tell a newcomer?\n'
    ),
    artifacts='- Update `requirements-spec.md`:\n  - Section: "1. Business Context"',
)
FEATURES = make_step(
    "01-06",
    "Core Features",
    validation=(
        "- Every capability has an acceptance criterion -- What would you show somebody?\n"
        "- Out of scope is written down -- What will we not do?\n"
    ),
    artifacts=(
        '- Update `requirements-spec.md`:\n  - Section: "6. Functional Requirements"\n  - Section: "7. Out of Scope"'
    ),
)
PLAYBOOK = Playbook(ROSTER, Agenda(steps=(CONTEXT, FEATURES)))


def roundtable(step: Step, *said: tuple[str, str]) -> Roundtable:
    """At *step*, where people said this."""
    return Roundtable(
        incarnation="i",
        slug="lost-rows",
        title="Exports lose rows",
        place=Place(team="T", channel="C", thread="1"),
        people={ADA: "Ada", BEN: "Ben"},
        phase_key=step.phase_key,
        step_id=step.step_id,
        answers=tuple(
            Answer(person=person, text=text, ts=str(number)) for number, (person, text) in enumerate(said)
        ),
        now=NOW,
    )
