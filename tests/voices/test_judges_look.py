"""Roles of the workshop and reviewers look as personas do: it is bounded, known, and held against their words."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from bot.domain.catalog.personas import Persona
from bot.domain.catalog.schema import Schema
from bot.domain.planning.verdict import RoleVerdict
from bot.domain.reviews.text import ReviewerOpinion
from bot.engine.evidence_ports import Passage
from bot.engine.ports import Facts, PlanningCase
from bot.engine.review_ports import ReviewCase
from bot.voices.judging import ModelWorkshop, OfflineWorkshop
from bot.voices.model import LanguageModel
from bot.voices.reviewing import ChecklistReviewers, ModelReviewers
from bot.voices.tools.looking import MOST_LOOKS, TOOLS, Looker, LookSubject
from tests.domain.planning.seats import TESTS, started
from tests.sights import MEMBERS, SightOf
from tests.specification.meeting import SCHEMA
from tests.voices.test_judging import ALEX, FILES, JORDAN, MEETING, SHIPPED
from tests.voices.test_looking import LINE, Shelf, caller

ROLE = next(one for one in SHIPPED.workshop if one.actor == TESTS)
CASE = PlanningCase(SCHEMA, MEETING.specification, FILES, MEMBERS)
ITEM = ReviewCase("lost-rows", "Exports lose rows", FILES, ["01-06"], SHIPPED, MEETING.specification, MEMBERS)
CITED = "src/sync.py:40@1a2b3c4"
FORGED = "src/mail.py:7@1a2b3c4"
SEARCH: tuple[str, dict[str, object]] = ("search_code", {"pattern": "retry"})
FINDING = {"severity": "major", "file": "requirements-spec.md", "line": 5}


class HeldShelf(Shelf):
    def __init__(self) -> None:
        super().__init__()
        self.found = (Passage(CITED, "retry(60)  # 60 seconds, password=hunter2hunter2"),)


def looking(shelf: Shelf | None = None) -> Any:
    def looker_of(subject: LookSubject, schema: Schema, persona: Persona) -> Looker:
        return Looker(
            shelf or HeldShelf(),
            subject,
            schema,
            persona,
            redact=lambda text: text.replace("hunter2hunter2", "[redacted:password]"),
        )

    return looker_of


def calling(*calls: tuple[str, dict[str, object]], then: str) -> LanguageModel:
    left = list(calls)

    def answer(_: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        assert {one.name for one in info.function_tools} == {one.name for one in TOOLS}
        return ModelResponse([ToolCallPart(*left.pop(0)) if left else TextPart(then)])

    return caller(FunctionModel(answer))


async def judged(
    mind: LanguageModel, shelf: Shelf | None = None, case: PlanningCase = CASE
) -> tuple[RoleVerdict, Facts]:
    workshop = ModelWorkshop(lambda _: mind, SHIPPED.workshop, OfflineWorkshop(), looker_of=looking(shelf))
    return await workshop.judge(started(), TESTS, case)


async def reviewed(
    mind: LanguageModel, shelf: Shelf | None = None, case: ReviewCase = ITEM
) -> ReviewerOpinion:
    return await reviewers(mind, shelf).opinion(case, ALEX)


def reviewers(mind: LanguageModel, shelf: Shelf | None = None) -> ModelReviewers:
    return ModelReviewers(lambda _: mind, ChecklistReviewers(), looker_of=looking(shelf))


def verdict(text: str, *sources: str) -> str:
    return json.dumps({"ok": False, "reasons": [{"text": text, "sources": sources}]})


def found(text: str, *sources: str) -> str:
    return json.dumps({"findings": [FINDING | {"text": text, "sources": sources}]})


async def markdown(opinion: ReviewerOpinion) -> str:
    review = await ChecklistReviewers().together(ITEM, [opinion], unseen=(), asked="Asked for by Ada.")
    return review.markdown


# --- a role ---------------------------------------------------------------------------------------------------------


async def test_a_role_looks_and_its_reason_names_what_it_saw() -> None:
    """The look is a fact of its line, and all requests are counted."""
    said, facts = await judged(calling(SEARCH, then=verdict("The retry waits 60 seconds.", CITED)))
    _, alone = await judged(calling(then=verdict("The retry waits.")))

    assert said.reasons == (f"The retry waits 60 seconds. ({CITED})",)
    assert facts["looked_at"] == [{"tool": "search_code", "for": "retry", "ids": [CITED]}]
    assert "dropped" not in facts
    assert facts["tokens_in"] > alone["tokens_in"]


@pytest.mark.parametrize(
    ("text", "sources", "shown"),
    [
        (
            "It waits 90 seconds.",
            [CITED],
            f"It waits 90 seconds. ({CITED}; unverified: the source does not say",
        ),
        ("It waits.", [FORGED], "It waits. (unverified: the source that it names was not shown)"),
        (f"It waits, see {FORGED}.", [], "It waits, see [a source that was not shown]. (unverified: "),
        (f"It waits 60 s, see {CITED}.", [], f"It waits 60 s, see {CITED}."),
        ("It has no limit.", [CITED], f"It has no limit. ({CITED})"),
        ("500 of 500 rows are asked for.", ["AC-001-01"], "500 of 500 rows are asked for. (AC-001-01)"),
        ("400 rows are asked for.", ["AC-001-01"], "400 rows are asked for. (AC-001-01; unverified: "),
        ("Nobody is named.", [], "Nobody is named."),
        ("It asks for 500 rows.", ["requirements-spec.md"], "It asks for 500 rows. (requirements-spec.md)"),
        ("FR-99 is missing.", ["FR-9"], "FR-99 is missing. (unverified: "),
        ("Are 90 seconds meant?", [CITED], f"Are 90 seconds meant? ({CITED})"),
    ],
)
async def test_what_a_role_says_is_held_against_its_sources(
    text: str, sources: Sequence[str], shown: str
) -> None:
    """What they do not say is marked. A source that was not shown is dropped, and the record says why."""
    said, facts = await judged(calling(SEARCH, then=verdict(text, *sources)))

    assert said.reasons[0].startswith(shown)
    assert said.ok is False
    made_up = [one for one in (FORGED, "FR-9") if one in sources or f"see {one}" in text]
    dropped = [{"what": one, "why": "this source was not shown"} for one in made_up]
    assert facts.get("dropped", []) == dropped


async def test_a_long_reason_keeps_its_sources() -> None:
    """Its words are cut before them."""
    said, _ = await judged(calling(SEARCH, then=verdict("word " * 300, CITED)))

    assert said.reasons[0].endswith(f"({CITED})")
    assert len(said.reasons[0]) <= 500


async def test_a_role_that_only_looks_gives_no_verdict() -> None:
    """Its looks are bounded, and are facts all the same."""
    endless = FunctionModel(lambda _, __: ModelResponse([ToolCallPart("git_log", {"path": "src"})] * 3))
    said, facts = await judged(caller(endless))

    assert said.ok is None
    assert len(facts["looked_at"]) == MOST_LOOKS


# --- a reviewer -----------------------------------------------------------------------------------------------------


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
    """The finding about the file stays, and says that nothing else supports it."""
    opinion = await reviewed(calling(SEARCH, then=found("It waits 60 seconds.", FORGED)))
    text = await markdown(opinion)

    assert opinion.findings[0].sources == ()
    assert opinion.left_out == (f"{FORGED} (this source was not shown)",)
    assert "_unverified: the source that it names was not shown_" in text
    assert "Left out: src/mail.py:7@1a2b3c4 (this source was not shown)" in text


async def test_a_finding_may_be_about_the_code_itself() -> None:
    """If it names lines that were shown: that is its place."""
    given = [
        {"file": "src/sync.py", "text": "It waits 60 seconds.", "sources": [one]} for one in (CITED, FORGED)
    ]
    opinion = await reviewed(calling(SEARCH, then=json.dumps({"findings": given})))

    assert [one.place for one in opinion.findings] == ["src/sync.py:40"]
    assert opinion.left_out == (f"{FORGED} (this source was not shown)",)


async def test_the_same_finding_with_another_source_is_not_found_twice() -> None:
    """By two reviewers: the first one has it, with its sources."""
    one, other = (found("The retry waits 60 seconds.", *sources) for sources in ([CITED], []))
    opinion, again = await reviewed(calling(SEARCH, then=one)), await reviewed(calling(then=other))
    review = await ChecklistReviewers().together(ITEM, [opinion, again], unseen=(), asked="")

    assert [len(one.findings) for one in (opinion, again)] == [1, 1]
    assert [one.sources for one in review.findings] == [(CITED,)]
    assert review.meta
    assert review.meta.issues_total == 1


async def test_a_review_names_only_some_of_what_was_looked_at() -> None:
    """A list of files may be long, and a model may make any number of sources up."""
    shelf = HeldShelf()
    shelf.found = tuple(Passage(f"src/{number}.py:1@1a2b3c4", "x") for number in range(40))
    forged = [f"made/{number}.py:1@1a2b3c4" for number in range(300)]
    findings = [{**FINDING, "text": str(at), "sources": forged[at * 15 : at * 15 + 15]} for at in range(20)]
    text = await markdown(await reviewed(calling(SEARCH, then=json.dumps({"findings": findings})), shelf))

    assert "`src/19.py:1@1a2b3c4`, and 20 more" in text
    assert "made/19.py:1@1a2b3c4 (this source was not shown); and 30 more" in text


async def test_the_words_of_a_finding_stand_in_its_sources_or_its_file() -> None:
    """A finding compares the two: 500 is in the file, 60 in the code, and 90 in neither."""
    both = await reviewed(calling(SEARCH, then=found("500 rows within 60 seconds is too much.", CITED)))
    none = await reviewed(calling(SEARCH, then=found("It waits 90 seconds.", CITED)))

    assert both.findings[0].unverified == ""
    assert "90" in none.findings[0].unverified


async def test_who_challenges_a_review_looks_again() -> None:
    """What it finds then has its sources, too, beside what was seen before."""
    empty = json.dumps({"findings": []})
    left = [empty, empty, found("The retry waits 60 seconds.", CITED)]

    def answer(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        if len(messages) == 1 and len(left) == 1:
            return ModelResponse([ToolCallPart(*SEARCH)])
        return ModelResponse([TextPart(left.pop(0))])

    ours = reviewers(caller(FunctionModel(answer)))
    opinions = [await ours.opinion(ITEM, persona) for persona in (ALEX, JORDAN)]
    _, jordan = await ours.challenged(ITEM, opinions)

    assert jordan.findings[0].sources == (CITED,)
    assert jordan.looked_at == (CITED,)
    assert "this one gave 1 finding" in jordan.challenge


# --- both -----------------------------------------------------------------------------------------------------------

NIGHT: tuple[str, dict[str, object]] = ("read_item", {"slug": "night-mode"})


@pytest.mark.parametrize("sight", [MEMBERS, Shelf().sight])
async def test_items_are_known_where_they_may_be_seen(sight: SightOf) -> None:
    """By those who are in the workshop, or will read the review."""
    await judged(calling(NIGHT, then=verdict("x")), case=CASE._replace(sight=sight))
    opinion = await reviewed(calling(NIGHT, then=found("x")), case=ITEM._replace(sight=sight))

    assert bool(opinion.looked_at) is (sight is not MEMBERS)


async def test_models_without_tools_are_shown_a_first_search() -> None:
    """Of the words of the title; it can be cited like any other look. Secrets are redacted."""
    prompts: list[str] = []
    answers = [verdict("It waits 60 seconds.", CITED), found("It waits 60 seconds.", CITED)]

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        assert not info.function_tools
        parts = [part for one in messages for part in one.parts if isinstance(part, UserPromptPart)]
        prompts.extend(str(part.content) for part in parts)
        return ModelResponse([TextPart(answers.pop(0))])

    mind = caller(FunctionModel(answer, profile={"supports_tools": False}))
    said, facts = await judged(mind)
    opinion = await reviewed(mind)

    assert said.reasons == (f"It waits 60 seconds. ({CITED})",)
    assert facts["looked_at"][0]["tool"] == "search_code"
    assert opinion.findings[0].sources == (CITED,)
    for prompt in prompts:
        assert f"what a first search found\n{CITED}: retry(60)" in prompt
        assert "hunter2" not in prompt


def test_each_role_has_a_place_where_it_looks_first() -> None:
    """And may look everywhere else, so that all of them have the same tools."""
    for role in SHIPPED.workshop:
        assert role.looks_at[0] != "*"
        assert role.looks_at[-1] == "*"
    assert LINE.id == CITED
    assert ROLE.looks_at == ("tests/**", "*")
