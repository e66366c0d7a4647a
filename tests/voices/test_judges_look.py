"""Reviewers look as personas do: it is bounded, known, and held against their words."""

import json
from typing import Any

import pytest

from bot.domain.catalog.personas import Persona
from bot.domain.catalog.schema import Schema
from bot.domain.reviews.text import ReviewerOpinion
from bot.engine.evidence_ports import Passage
from bot.engine.review_ports import ReviewCase
from bot.voices.model import LanguageModel
from bot.voices.reviewing import PersonaReviewers
from bot.voices.tools.looking import Looker, LookSubject
from tests.sights import MEMBERS, SightOf
from tests.voices.test_judging import ALEX, FILES, MEETING, SHIPPED
from tests.voices.test_looking import Shelf, ToolUse, calling, without_password, without_tools

ITEM = ReviewCase("lost-rows", "Exports lose rows", FILES, ["01-06"], SHIPPED, MEETING.specification, MEMBERS)
CITED = "src/sync.py:40@1a2b3c4"
FORGED = "src/mail.py:7@1a2b3c4"
SEARCH: ToolUse = ("search_code", {"words": "retry"})
CODE_WORDS, FILE_WORDS = "retry(60) # 60 seconds", "500 of 500 rows"
FINDING = {"severity": "major", "file": "requirements-spec.md", "line": 5}


class HeldShelf(Shelf):
    def __init__(self) -> None:
        super().__init__()
        self.found = (Passage(CITED, "retry(60)  # 60 seconds, password=hunter2hunter2"),)


def looking(shelf: Shelf | None = None) -> Any:
    def looker_of(subject: LookSubject, schema: Schema, persona: Persona) -> Looker:
        return Looker(shelf or HeldShelf(), subject, schema, persona, redact=without_password)

    return looker_of


async def reviewed(
    mind: LanguageModel, shelf: Shelf | None = None, case: ReviewCase = ITEM
) -> ReviewerOpinion:
    return await reviewers(mind, shelf).opinion(case, ALEX)


def reviewers(mind: LanguageModel, shelf: Shelf | None = None) -> PersonaReviewers:
    return PersonaReviewers(lambda _: mind, looker_of=looking(shelf))


def quotes(*lines: str, words: str = CODE_WORDS) -> list[dict[str, str]]:
    return [{"line": one, "words": FILE_WORDS if one in FILES else words} for one in lines]


def found(text: str, *lines: str, words: str = CODE_WORDS) -> str:
    return json.dumps({"findings": [FINDING | {"text": text, "quotes": quotes(*lines, words=words)}]})


async def markdown(opinion: ReviewerOpinion) -> str:
    review = await PersonaReviewers().together(ITEM, [opinion], unseen=(), asked="Asked for by Ada.")
    return review.markdown


async def test_a_finding_names_the_code_that_it_rests_on() -> None:
    """With the commit, in the review's file, where also stands what was looked at."""
    opinion = await reviewed(calling(SEARCH, then=found("The retry waits 60 seconds.", CITED)))
    text = await markdown(opinion)

    (finding,) = opinion.findings
    assert (finding.sources, finding.unverified) == ((CITED,), "")
    assert opinion.looked_at == (CITED,)
    assert f"The retry waits 60 seconds. (`{CITED}`)" in text
    assert f"Looked at: `{CITED}`" in text
    assert "Left out" not in text


async def test_a_source_that_a_reviewer_was_not_shown_is_dropped() -> None:
    """The finding about the file stays, and says that no line says it."""
    opinion = await reviewed(calling(SEARCH, then=found("It waits 60 seconds.", FORGED)))
    text = await markdown(opinion)

    assert opinion.findings[0].sources == ()
    assert opinion.left_out == (f"{FORGED} (this source was not shown)",)
    assert "_unverified: no line says this_" in text
    assert "Left out: src/mail.py:7@1a2b3c4 (this source was not shown)" in text


async def test_a_finding_may_be_about_the_code_itself() -> None:
    """If it names lines that were shown: that is its place."""
    given = [
        {"file": "src/sync.py", "text": "It waits 60 seconds.", "quotes": quotes(one)}
        for one in (CITED, FORGED)
    ]
    opinion = await reviewed(calling(SEARCH, then=json.dumps({"findings": given})))

    assert [one.place for one in opinion.findings] == ["src/sync.py:40"]
    assert opinion.left_out == (f"{FORGED} (this source was not shown)",)


async def test_the_same_finding_with_another_source_is_not_found_twice() -> None:
    """By two reviewers: the first one has it, with its sources."""
    one, other = (found("The retry waits 60 seconds.", *sources) for sources in ([CITED], []))
    opinion, again = await reviewed(calling(SEARCH, then=one)), await reviewed(calling(then=other))
    review = await PersonaReviewers().together(ITEM, [opinion, again], unseen=(), asked="")

    assert [len(one.findings) for one in (opinion, again)] == [1, 1]
    assert [one.sources for one in review.findings] == [(CITED,)]
    assert review.meta
    assert review.meta.issues_total == 1


async def test_a_review_names_only_some_of_what_was_looked_at() -> None:
    """A list of files may be long, and a model may make any number of sources up."""
    shelf = HeldShelf()
    shelf.found = tuple(Passage(f"src/{number}.py:1@1a2b3c4", "x") for number in range(40))
    forged = [f"made/{number}.py:1@1a2b3c4" for number in range(300)]
    findings = [
        {**FINDING, "text": str(at), "quotes": quotes(*forged[at * 15 : at * 15 + 15])} for at in range(20)
    ]
    text = await markdown(await reviewed(calling(SEARCH, then=json.dumps({"findings": findings})), shelf))

    assert "`src/19.py:1@1a2b3c4`, and 20 more" in text
    assert "made/19.py:1@1a2b3c4 (this source was not shown); and 30 more" in text


@pytest.mark.parametrize(
    ("text", "quoted", "flaw"),
    [
        ("500 rows within 60 seconds is too much.", (CITED, "requirements-spec.md"), ""),
        ("It waits 90 seconds.", (CITED,), "“90 seconds”"),
        ("It does not wait 60 seconds.", (CITED,), "“not”"),
        ("It waits 60 seconds.", (), "no line says this"),
        ("It was decided to wait.", (CITED,), "“decided”"),
        ("It should be written down who waits.", (), ""),
    ],
)
async def test_a_finding_passes_the_check_of_every_sentence(
    text: str, quoted: tuple[str, ...], flaw: str
) -> None:
    """It may compare two: 500 is in the file, 60 in the code. An opinion needs no quote."""
    opinion = await reviewed(calling(SEARCH, then=found(text, *quoted)))

    assert flaw in opinion.findings[0].unverified
    assert bool(flaw) is bool(opinion.findings[0].unverified)


NIGHT: ToolUse = ("read_entry", {"id": "night-mode/FR-001"})


@pytest.mark.parametrize("sight", [MEMBERS, Shelf().sight])
async def test_items_are_known_where_they_may_be_seen(sight: SightOf) -> None:
    """By those who will read the review."""
    opinion = await reviewed(calling(NIGHT, then=found("x")), case=ITEM._replace(sight=sight))

    assert bool(opinion.looked_at) is (sight is not MEMBERS)


async def test_models_without_tools_are_shown_a_first_search() -> None:
    """Of the words of the title; it can be cited like any other look. Secrets are redacted."""
    prompts: list[str] = []
    opinion = await reviewed(without_tools(found("It waits 60 seconds.", CITED), prompts))

    assert opinion.findings[0].sources == (CITED,)
    for prompt in prompts:
        assert f"what a first search found\n{CITED}: retry(60)" in prompt
        assert "hunter2" not in prompt
