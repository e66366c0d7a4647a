"""Reviewers that think: what they say is shown, and their failures say so instead of judging."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from bot.content.playbook import load
from bot.domain.reviews.text import Finding, FindingSeverity, ReviewerOpinion
from bot.engine.review_ports import ReviewCase
from bot.errors import VoiceError
from bot.shipped import personas_dir, steps_dir
from bot.voices.reviewing import PersonaReviewers
from tests.specification.meeting import Meeting
from tests.voices.minds import Answer, ScriptedMind, lost

SHIPPED = load(personas_dir(), steps_dir())
SPEC = "# Spec\n\n## 6. Functional Requirements\n\n### FR-001: Keep the last row\n\n- AC-001-01: 500 of 500 rows\n"
FILES = {"requirements-spec.md": SPEC}
MEETING = Meeting()
MEETING.say("Ada", "01-06", "requirement: Keep the last row\nAC: 500 of 500 rows")

ITEM = ReviewCase("lost-rows", "Exports lose rows", FILES, ["01-06"], SHIPPED, MEETING.specification)
ALEX = SHIPPED.roster["solutions-architect"]
FINDING = {
    "severity": "Critical",
    "file": "requirements-spec.md",
    "line": 5,
    "text": "Nobody says which rows.",
}


async def reviewed(*answers: Answer) -> ReviewerOpinion:
    mind = ScriptedMind(*answers)
    return await PersonaReviewers(lambda _: mind).opinion(ITEM, ALEX)


async def test_a_review_has_what_a_model_finds() -> None:
    """In the form that it was asked for, beside the gaps, which are no findings."""
    told = {"findings": [FINDING | {"severity": "critical", "quotes": []}]}
    mind = ScriptedMind(json.dumps(told))
    opinion = await PersonaReviewers(lambda _: mind).opinion(ITEM, ALEX)
    [schema] = [one.schema for one in mind.asked]

    assert schema
    Draft202012Validator(schema.form).validate(told)
    assert (opinion.by, opinion.judged) == (ALEX.label, True)
    assert opinion.findings == (
        Finding(
            severity=FindingSeverity.CRITICAL,
            file="requirements-spec.md",
            line=5,
            text="Nobody says which rows.",
        ),
    )
    assert opinion.findings[0].place == "requirements-spec.md:5"


async def test_without_a_model_a_review_is_coverage() -> None:
    """It is no verdict: neither of an empty item, nor of one in which everything is there."""
    rules = PersonaReviewers()
    empty = ReviewCase("x", "X", {}, [step.step_id for step in SHIPPED.agenda.steps], SHIPPED)
    for case in (empty, ITEM):
        opinions = [await rules.opinion(case, persona) for persona in SHIPPED.roster]
        review = await rules.together(case, opinions, unseen=(), asked="Asked for by Ada.")

        assert review.line == "REVIEW: metadata unavailable"
        assert "PASS" not in review.markdown
        assert "FAIL" not in review.markdown

    assert review.coverage == "1 of 1 requirement has a test, 0 risks, 1 point is not settled."
    assert "What might people expect that we will not do this time?" in review.markdown
    assert "23 unfinished steps were not reviewed." in review.unseen


@pytest.mark.parametrize(
    "finding",
    [
        None,
        "x",
        {},
        FINDING | {"file": "meta.json"},
        FINDING | {"file": "../x"},
        FINDING | {"text": " "},
        FINDING | {"text": 3},
    ],
    ids=str,
)
async def test_a_finding_is_about_a_file_that_is_there(finding: object) -> None:
    """Anything else is left out."""
    opinion = await reviewed(json.dumps({"findings": [finding, FINDING | {"line": 9_999}]}))

    assert [one.place for one in opinion.findings][:1] == ["requirements-spec.md"]


async def test_a_mind_may_find_nothing() -> None:
    """That is an answer."""
    opinion = await reviewed('{"findings": []}')

    assert (opinion.findings, opinion.judged) == ((), True)


@pytest.mark.parametrize(
    "answer",
    [
        "Looks good!",
        '{"findings": ["It loses rows."]}',
        "@@@REVIEW_META\nverdict: PASS\n@@@",
        lost("timeout"),
    ],
)
async def test_who_could_not_look_has_no_opinion(answer: Answer) -> None:
    """Least of all that all is well."""
    with pytest.raises(VoiceError):
        await reviewed(answer)


@settings(max_examples=40)
@given(
    text=st.text(max_size=200), line=st.one_of(st.integers(), st.booleans(), st.none(), st.text(max_size=3))
)
async def test_any_finding_is_one_line_of_plain_text(text: str, line: object) -> None:
    """Whatever a mind writes."""
    opinion = await reviewed(json.dumps({"findings": [FINDING | {"text": text, "line": line}]}))

    assert all(len(one.text) <= 400 and "\n" not in one.text for one in opinion.findings)
    assert all(one.line >= 0 for one in opinion.findings)
