"""A mind's synthesis: only what was said by those who spoke, and decisions only of people."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.discussion.attesting import PROPOSED
from bot.domain.discussion.synthesis import (
    Decision,
    Insight,
    Objection,
    OpenQuestion,
    Synthesis,
)
from bot.errors import VoiceError
from bot.voices.concluding import concluded
from tests.voices.minds import ScriptedMind, cue, debating, lost, thinking
from tests.voices.people import ADA, ALEX, MAYA

RT = debating((MAYA, "Framed."), (ALEX, "A queue keeps the order."), (ADA, "We take the queue."))
GOOD: dict[str, Any] = {
    "insights": [{"text": "A queue keeps the order", "by": ["Alex"], "turns": ["t02"]}],
    "decisions": [{"text": "We take the queue", "rationale": "order", "by": "Ada", "turns": ["t03"]}],
    "questions": [{"text": "How long is it?", "why": "Ada looks it up", "turns": ["t03"]}],
    "actions": ["Measure it (Ada)"],
    "summary": "The queue it is.",
}


def read(**changes: Any) -> Synthesis:
    return concluded(json.dumps(GOOD | changes), RT.debate)


@pytest.mark.parametrize("around", ["{}", "```json\n{}\n```", "Here it is:\n\n{}\n\nAnything else?"])
def test_it_is_read_wherever_it_stands(around: str) -> None:
    """In a block, in prose, or alone."""
    assert concluded(around.replace("{}", json.dumps(GOOD)), RT.debate) == Synthesis(
        insights=(Insight(text="A queue keeps the order", by=("Alex",), turns=("t02",)),),
        decisions=(Decision(text="We take the queue", rationale="order", by="Ada", turns=("t03",)),),
        questions=(OpenQuestion(text="How long is it?", why="Ada looks it up", turns=("t03",)),),
        actions=("Measure it (Ada)",),
        summary="The queue it is.",
    )


def test_what_only_a_persona_favours_is_not_decided() -> None:
    """People decide: it becomes an insight that says what it is."""
    found = read(
        decisions=[{"text": "Two queues", "by": "Alex", "turns": ["t02"]}, {"text": "Three", "by": "Ada"}]
    )

    assert found.decisions == ()
    assert [one.text for one in found.insights] == [
        "A queue keeps the order",
        f"{PROPOSED}Two queues",
        f"{PROPOSED}Three",
    ]


def test_a_decision_is_of_the_person_whose_turn_it_was() -> None:
    """Not of the persona whom a mind names."""
    assert read(decisions=[{"text": "The queue", "by": "Alex", "turns": ["t03"]}]).decisions[0].by == "Ada"


def test_only_those_who_spoke_are_named_and_only_their_turns() -> None:
    """Invented names and turns are left out; where nobody is named, whoever the turns are of."""
    found = read(
        insights=[
            {"text": "One", "by": ["Nobody", "alex", 3], "turns": ["t02", "t77", "t02"]},
            {"text": "Two", "turns": ["t02", "t03"]},
            {"text": "Three"},
        ]
    )

    assert [(one.by, one.turns) for one in found.insights] == [
        (("Alex",), ("t02",)),
        (("Alex", "Ada"), ("t02", "t03")),
        ((), ()),
    ]


def test_an_objection_is_read_with_whose_it_is() -> None:
    """And where it was made; what became of it is for people to say."""
    told = {
        "text": "A queue grows",
        "by": ["alex"],
        "turns": ["t02", "t99"],
        "outcome": "Deferred",
        "risk": "Full disks",
        "reopen_if": "1,000 rows wait",
    }
    (objection,) = read(objections=[told]).objections

    assert objection == Objection(
        text="A queue grows",
        by=("Alex",),
        turns=("t02",),
    )


def test_a_missing_summary_is_the_first_insight() -> None:
    """The record needs a sentence."""
    assert read(summary="").summary == "A queue keeps the order"


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "The discussion was good.",
        "{}",
        '{"insights": []}',
        '{"insights": [{"text": ""}]}',
        '{"x": 1}',
        "[1]",
    ],
)
def test_what_has_no_insight_is_unstructured(answer: str) -> None:
    """It is tried once more, where that is counted (ERR-ELAB-007)."""
    with pytest.raises(VoiceError) as error:
        concluded(answer, RT.debate)

    assert error.value.reason == "unstructured"


@pytest.mark.parametrize(
    ("raised", "reason"),
    [
        ("empty", "unstructured"),
        ("cut_off", "unstructured"),
        ("refused", "unstructured"),
        ("timeout", "timeout"),
    ],
)
async def test_a_mind_that_fails_says_what_follows(raised: str, reason: str) -> None:
    """About the answer: once more. About the mind: the roundtable goes on without (ERR-INT-001)."""
    with pytest.raises(VoiceError) as error:
        await thinking(ScriptedMind(lost(raised))).synthesize(cue(RT), {})

    assert error.value.reason == reason


async def test_the_second_time_a_mind_hears_of_the_first() -> None:
    """And what it took stands with the synthesis."""
    mind = ScriptedMind(json.dumps(GOOD))
    again = RT.but(elaboration=RT.debate.but(failed_syntheses=1))
    await thinking(mind).synthesize(cue(RT), {})
    synthesis, facts = await thinking(mind).synthesize(cue(again), {})

    assert "An earlier attempt" not in mind.asked[0].moving
    assert "An earlier attempt" in mind.asked[1].moving
    assert synthesis.summary == "The queue it is."
    assert facts["tokens_in"] == 900


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=40),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["text", "by", "turns", "why", "rationale", "outcome", "because", "risk"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(
    found=st.dictionaries(
        st.sampled_from(["insights", "decisions", "questions", "actions", "objections", "summary"]), VALUES
    )
)
def test_any_object_is_a_synthesis_or_none(found: dict[str, Any]) -> None:
    """Nothing else raises; nobody is named who did not speak, and no decision is anybody's but a person's."""
    try:
        synthesis = concluded(json.dumps(found), RT.debate)
    except VoiceError:
        synthesis = Synthesis(summary="")

    named = [*(one.by for one in synthesis.insights), *(one.by for one in synthesis.objections)]
    assert all({*by} <= {"Maya", "Alex", "Ada"} for by in named)
    assert all(one.by == "Ada" for one in synthesis.decisions)
    assert len(synthesis.summary) <= 100
