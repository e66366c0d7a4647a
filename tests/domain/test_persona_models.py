"""Models of single personas, by the setting."""

import pytest

from bot.domain.catalog.personas import efforts, models_by_persona
from tests.voices.people import ALEX, JORDAN, MAYA, ROSTER


def test_personas_are_named_as_people_call_them() -> None:
    """By first name or key; the models of one persona stand with a plus between them."""
    models = models_by_persona("Maya = anthropic:x, system-designer=a:y+b:z+offline")
    given = ROSTER.with_models(models)

    assert {one.key: one.model for one in given} == {MAYA: "anthropic:x", ALEX: "", JORDAN: "a:y,b:z,offline"}
    assert ROSTER.unknown(models_by_persona("max=a:b,maya=a:b")) == ("max",)


@pytest.mark.parametrize("text", ["maya", "maya=", "=a:b", "maya=gpt"])
def test_what_is_no_model_of_a_persona_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no"):
        models_by_persona(text)


def test_an_effort_has_a_task() -> None:
    """By their names; spaces do not matter."""
    assert efforts("draft:high, turn: low") == {"draft": "high", "turn": "low"}


@pytest.mark.parametrize(
    ("earlier", "task"),
    [
        *((one, "draft") for one in ("acknowledge", "propose", "synthesize")),
        *((one, "turn") for one in ("frame", "respond")),
        *((one, "review") for one in ("verify", "compare", "judge")),
    ],
)
def test_earlier_names_of_tasks_are_read(earlier: str, task: str) -> None:
    """Settings of earlier versions go on."""
    assert efforts(f"{earlier}:low") == {task: "low"}
