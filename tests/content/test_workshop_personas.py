"""The five roles of the planning workshop that come with the bot: who they are, and the lane each stays in."""

import re

import pytest

from bot.content import load
from bot.domain.catalog.personas import Persona
from bot.domain.planning.verdict import ORDER, seated
from bot.shipped import personas_dir, steps_dir

PLAYBOOK = load(personas_dir(), steps_dir())
ROLES = list(PLAYBOOK.workshop)


@pytest.fixture(params=ROLES, ids=lambda persona: persona.key)
def role(request: pytest.FixtureRequest) -> Persona:
    found: Persona = request.param
    return found


def test_they_load_without_a_warning() -> None:
    """And are nobody's lead in an analysis."""
    assert (PLAYBOOK.troubles, PLAYBOOK.notes) == ((), ())
    assert all(persona.workshop for persona in ROLES)
    assert not [persona.key for persona in ROLES if persona.phases]


@pytest.mark.parametrize(
    ("key", "name", "title", "actor"),
    [
        ("product-planner", "Nora Voss", "Product Planner", "ProductPlanner"),
        ("system-designer", "Ilan Marek", "System Designer", "SystemDesigner"),
        ("senior-developer", "Tomasz Reyes", "Senior Developer", "SeniorDeveloper"),
        ("test-planner", "Wanda Okafor", "Test Planner", "TestPlanner"),
        ("risk-planner", "Selma Haddad", "Risk Planner", "RiskPlanner"),
    ],
)
def test_who_they_are(key: str, name: str, title: str, actor: str) -> None:
    """Names for people, actors for the transcript."""
    persona = PLAYBOOK.workshop[key]

    assert (persona.name, persona.role, persona.actor) == (name, title, actor)


def test_they_sit_in_the_order_of_old() -> None:
    """However their files are called, and there is nobody else."""
    assert seated(persona.actor for persona in ROLES) == ORDER
    assert len(ROLES) == len(ORDER)


def test_nobody_can_be_taken_for_somebody_else() -> None:
    """Neither in the workshop nor at the table of the analysis: faces, first names, lenses and actors differ."""
    everybody = [*ROLES, *PLAYBOOK.roster]

    for told in ("icon", "first_name", "lens", "actor", "identity"):
        assert len({getattr(persona, told) for persona in everybody}) == len(everybody), told


def test_a_role_says_when_it_agrees_and_when_it_does_not(role: Persona) -> None:
    """In its first line what makes it say yes, among what it does what makes it say no."""
    assert role.identity.startswith(f"I'm {role.first_name}, your {role.role}. I say yes to a plan when ")
    assert "\n" not in role.identity
    assert len([line for line in role.does if line.startswith("Says no when ")]) == 1


def test_a_role_is_complete(role: Persona) -> None:
    """Style, four titled principles, what it does and what it leaves to the others."""
    assert role.style
    assert [bool(one.title and one.text) for one in role.principles] == [True] * 4
    assert len(role.does) == 5
    assert 3 <= len(role.does_not) <= 4


@pytest.mark.parametrize(
    ("key", "forbidden"),
    [
        ("product-planner", ("implemented", "tests", "code")),
        ("system-designer", ("important", "code", "unit tests")),
        ("senior-developer", ("value", "test cases", "architecture")),
        ("test-planner", ("Rank", "implemented")),
        ("risk-planner", ("implementation", "coverage")),
    ],
)
def test_a_role_stays_in_its_lane(key: str, forbidden: tuple[str, ...]) -> None:
    """It says itself what it does not discuss, and that it makes nothing up."""
    left_to_others = " ".join(PLAYBOOK.workshop[key].does_not)

    assert [word for word in forbidden if word not in left_to_others] == []


def test_questions_are_open_and_one_takes_up_what_was_said(role: Persona) -> None:
    """Yes or no is never enough of an answer."""
    asked = [one.text for one in role.questions]
    assert len(asked) == 6
    assert all(re.match(r"(What|How|Who|Whose|Where|Which|In which)\b.*\?$", one) for one in asked)
    assert [one for one in asked if "{" in one] == [one for one in asked if '"{quote}"' in one]


def test_questions_are_nobody_elses() -> None:
    """No two roles ask the same."""
    questions = [one.text for persona in (*ROLES, *PLAYBOOK.roster) for one in persona.questions]

    assert len(set(questions)) == len(questions)
