"""Answers in the schema of their prompt: each task reads all that is in one, and takes no words in its place."""

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from bot.domain.messages.attribution_wording import UNCHECKED_MARK
from bot.domain.reviews.text import Finding, FindingSeverity
from bot.engine.ports import VoiceContext
from bot.errors import VoiceError
from bot.voices.reviewing import PersonaReviewers
from tests.specification.meeting import PLAYBOOK
from tests.voices.minds import ScriptedMind, cue, debating, record, take_turn, thinking
from tests.voices.people import ADA, ALEX, CONTEXT, FEATURES, MAYA, roundtable
from tests.voices.prompts.kept import ALL, PROMPTS
from tests.voices.test_judging import FINDING, ITEM

FRAMED = (MAYA, "We covered the context. Alex, what is your take?")
ASSESSED: dict[str, Any] = {
    "declined": False,
    "say": [],
    "questions": [
        {
            "text": "How many edits a week?",
            "to": "Ada",
            "about": 0,
            "recommended": "40",
            "why": "The queue depends on it.",
            "quotes": [],
        }
    ],
    "next": [],
    "entries": [],
}


def valid(mind: ScriptedMind, told: dict[str, Any]) -> None:
    """Whether *told* is an answer in the schema of what was asked last."""
    schema = mind.asked[-1].schema
    assert schema
    Draft202012Validator(schema.form).validate(told)


async def test_findings_are_read_completely() -> None:
    """With their severity, file and line."""
    told = {"findings": [FINDING | {"severity": "critical", "quotes": []}]}
    mind = ScriptedMind(json.dumps(told))
    opinion = await PersonaReviewers(lambda _: mind).opinion(ITEM, ITEM.playbook.roster[ALEX])

    valid(mind, told)
    assert opinion.findings == (
        Finding(
            severity=FindingSeverity.CRITICAL,
            file="requirements-spec.md",
            line=5,
            text="Nobody says which rows.",
        ),
    )


async def test_an_assessment_asks_its_questions() -> None:
    mind = ScriptedMind(json.dumps(ASSESSED))
    rt = roundtable(FEATURES, (ADA, "Edits get lost in tunnels."))
    speech = await thinking(mind).draft(VoiceContext(rt, PLAYBOOK, MAYA))

    valid(mind, ASSESSED)
    (asked,) = speech.questions
    assert (asked.text, asked.to) == ("How many edits a week?", "Ada")
    assert (asked.recommended, asked.why) == (f"40 {UNCHECKED_MARK}", "The queue depends on it.")


@pytest.mark.parametrize("words", ["En voi auttaa tässä asiassa.", "A queue, I would say."])
async def test_words_in_place_of_data_are_no_opinion(words: str) -> None:
    """They may be a refusal, in whatever language: it is asked once more, and then it is a failure."""
    mind = ScriptedMind(words)
    with pytest.raises(VoiceError) as error:
        await take_turn(thinking(mind), cue(debating(FRAMED), ALEX))

    assert error.value.reason == "unstructured"
    assert "was no JSON object of the form" in mind.asked[1].moving


@pytest.mark.parametrize("say", ["", "Valitettavasti en voi osallistua."])
async def test_who_declines_has_no_opinion(say: str) -> None:
    """In any task: what is said then is not posted."""
    rt = roundtable(CONTEXT, (ADA, "Edits get lost in tunnels."))
    declined = {"declined": True, "say": say}
    spoken = json.loads(record(say)) | {"declined": True}
    for told, asked in (
        (
            spoken,
            take_turn(thinking(ScriptedMind(json.dumps(spoken))), cue(debating(FRAMED), ALEX)),
        ),
        (ASSESSED | declined, thinking(ScriptedMind(json.dumps(ASSESSED | declined))).draft(cue(rt))),
    ):
        with pytest.raises(VoiceError) as error:
            await asked
        assert error.value.reason == "refused", told


def test_all_turns_of_a_discussion_have_one_schema() -> None:
    """A provider that caches a prompt with its schema can keep it from turn to turn."""
    turns = [made() for name, made in PROMPTS.items() if name.startswith("turn")]

    assert {one.schema and one.schema.name for one in turns} == {"turn"}
    assert all(one.schema == turns[0].schema for one in turns)


def test_every_task_has_a_schema_and_says_its_form() -> None:
    for name, made in ALL.items():
        assert made().schema, name
        assert made().moving.count("JSON object of the form above") == 1, name
