"""A second model reads claims beside their sources: what it denies is dropped, its quotes must be there."""

import json
from typing import Any

import pytest

from bot.domain.catalog.personas import Chain
from bot.domain.specification.claim_check import NOT_CONFIRMED
from bot.engine.ports import VoiceContext
from bot.voices.offline.offline import OfflineVoices
from bot.voices.thinking import ModelVoices
from bot.voices.verifying import DENIED, Verifier
from tests.specification.meeting import PLAYBOOK, Meeting
from tests.voices.minds import Answer, ScriptedMind, drafted, lost, whole
from tests.voices.people import ADA, FEATURES, MAYA, roundtable

RT = roundtable(FEATURES, (ADA, "Export every row, from the new table."))
QUOTES = [{"field": "title", "line": "C.0", "words": "Export every row"}]
ROWS = {"kind": "requirement", "fields": {"title": "Export every row"}, "quotes": QUOTES}
ALL = {**ROWS, "fields": {"title": "All the rows are exported"}}
CHEAP = {**ROWS, "fields": {"title": "Exports are cheap"}}


def judged(*verdicts: tuple[str, str]) -> str:
    told = [
        {"claim": n, "supported": said, "quote": quote} for n, (said, quote) in enumerate(verdicts, start=1)
    ]
    return json.dumps({"claims": told})


def voices(speaker: ScriptedMind, verifier: ScriptedMind) -> ModelVoices:
    return ModelVoices(lambda _: speaker, OfflineVoices(), Verifier(verifier))


async def proposed(answer: Answer, *given: Any) -> tuple[list[tuple[str, dict[str, str]]], Any, ScriptedMind]:
    verifier = ScriptedMind(answer)
    speech = await voices(ScriptedMind(drafted(*given)), verifier).draft(VoiceContext(RT, PLAYBOOK, MAYA))
    told = [(one.set["title"], dict(one.unverified)) for one in speech.patches or ()]
    return told, speech.facts, verifier


async def test_what_is_denied_is_marked_and_counted() -> None:
    """Nothing is dropped: people see the reason, and decide. The tokens of both models are on record."""
    kept, facts, verifier = await proposed(judged(("yes", "Export every row"), ("no", "")), ALL, CHEAP)

    assert kept == [("All the rows are exported", {}), ("Exports are cheap", {"title": DENIED})]
    counts = {name: facts["verifier"][name] for name in ("yes", "partly", "no", "no_answer")}
    assert counts == {"yes": 1, "partly": 0, "no": 1, "no_answer": 0}
    assert facts["tokens_in"] == facts["verifier"]["tokens_in"] == 900
    assert "Export every row, from the new table." in whole(verifier.asked[0])


async def test_what_is_supported_in_part_is_shown_as_such() -> None:
    """With the sentence that the source really has."""
    kept, _, _ = await proposed(judged(("partly", "from the new table")), ALL)

    assert kept == [("All the rows are exported", {"title": "the source says only: “from the new table”"})]


async def test_two_changes_of_one_entry_are_two_claims() -> None:
    """A model may fill fields of an entry one after the other."""
    item = Meeting()
    item.say("Ada", "01-06", "requirement: Export every row")
    rt = RT.but(specification=item.specification)
    given = [
        {
            "id": "FR-001",
            "fields": {field: "All of them, says Ada"},
            "quotes": [{**QUOTES[0], "field": field}],
        }
        for field in ("detail", "reason")
    ]
    verifier = ScriptedMind(judged(("yes", "Export every row"), ("no", "")))
    speaking = voices(ScriptedMind(drafted(*given)), verifier)
    speech = await speaking.draft(VoiceContext(rt, PLAYBOOK, MAYA))

    assert [dict(one.unverified) for one in speech.patches or ()] == [{}, {"reason": DENIED}]


async def test_words_of_a_quote_need_no_second_model() -> None:
    kept, _, verifier = await proposed(judged(("no", "")), ROWS)

    assert kept == [("Export every row", {})]
    assert verifier.asked == []


async def test_without_a_second_model_other_words_are_not_confirmed() -> None:
    speaking = ModelVoices(lambda _: ScriptedMind(drafted(ROWS, ALL)), OfflineVoices())
    speech = await speaking.draft(VoiceContext(RT, PLAYBOOK, MAYA))

    assert [dict(one.unverified) for one in speech.patches or ()] == [{}, {"title": NOT_CONFIRMED}]


@pytest.mark.parametrize(
    "answer",
    [
        judged(("yes", "Ada wants it by Friday")),
        judged(("yes", "the")),
        judged(("yes", "every row")),
        judged(("yes", "")),
        judged(("perhaps", "Export every row")),
        '[{"claim": 7, "supported": "no"}]',
        "Certainly!",
        "[" * 10_000,
        lost("unavailable"),
    ],
)
async def test_an_answer_that_cannot_be_used_confirms_nothing(answer: Answer) -> None:
    """A quote that is no whole clause of the line, another verdict, no such claim, no JSON, no answer at all."""
    kept, facts, _ = await proposed(answer, ALL)

    assert kept == [("All the rows are exported", {"title": NOT_CONFIRMED})]
    assert facts["verifier"].get("no_answer") == 1 or facts["verifier"] == {"failed": "unavailable"}


@pytest.mark.parametrize(
    ("models", "setting", "asked"),
    [
        ("openai:a,anthropic:b,offline", "", "anthropic:b,openai:a"),
        ("openai:a,offline", "", "openai:a"),
        ("openai:a", "google:c", "google:c"),
        ("openai:a", "offline", ""),
        ("offline", "", ""),
    ],
)
def test_the_next_model_checks_unless_another_is_named(models: str, setting: str, asked: str) -> None:
    """With one model, that one in a fresh context; without any, nobody."""
    assert Chain.read(models).verifying(setting) == asked
