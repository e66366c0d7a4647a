"""What is counted is what a provider served, also for answers that could not be used."""

from collections.abc import Mapping
from typing import Any

import pytest
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import RequestUsage

from bot.domain.catalog.budget import accounts, spent_by
from bot.domain.roundtable.outcomes import Failed
from bot.errors import VoiceError
from bot.voices.llm.calling import MOST_ROUNDS, Caller
from bot.voices.offline import OfflineVoices
from bot.voices.thinking import ModelVoices
from tests.domain import books
from tests.domain.books import few_steps, step
from tests.domain.table import Table
from tests.voices.minds import cue, debating, record, take_turn
from tests.voices.people import ALEX, MAYA
from tests.voices.test_looking import caller, looker

FRAMED = (MAYA, "We covered the context. Alex, what is your take?")
TOKENS_IN, TOKENS_OUT = 100, 10
LOOK = ToolCallPart("history", {"path": "src"})
GOOD = TextPart(record("It retries after 60 s."))
DOWN = ModelHTTPError(503, "one")
Part = TextPart | ToolCallPart | ModelHTTPError


class Provider:
    """Serves *parts*, the last one for all that follow, and keeps its own books."""

    def __init__(self, *parts: Part) -> None:
        self._parts = list(parts)
        self.served = 0

    @property
    def model(self) -> Caller:
        return caller(FunctionModel(self._answer))

    def _answer(self, _messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
        part = self._parts.pop(0) if len(self._parts) > 1 else self._parts[0]
        if isinstance(part, ModelHTTPError):
            raise part
        self.served += TOKENS_IN + TOKENS_OUT
        return ModelResponse([part], usage=RequestUsage(input_tokens=TOKENS_IN, output_tokens=TOKENS_OUT))


async def facts(provider: Provider) -> Mapping[str, Any]:
    """Of what Alex says, or of the failure."""
    voices = ModelVoices(lambda _: provider.model, OfflineVoices(), looker_of=lambda *_: looker())
    try:
        return (await take_turn(voices, cue(debating(FRAMED), ALEX))).facts
    except VoiceError as error:
        return error.facts


@pytest.mark.parametrize(
    ("parts", "requests"),
    [
        ((GOOD,), 1),
        ((LOOK, LOOK, GOOD), 3),
        ((LOOK, LOOK, DOWN), 2),
        ((TextPart(""), GOOD), 2),
        ((TextPart("I cannot help with that."),), 2),
        ((LOOK, TextPart("")), 3),
    ],
    ids=["an answer", "looks", "a loop that fails", "an empty answer", "refusals", "looks for nothing"],
)
async def test_the_ledger_is_what_was_served(parts: tuple[Part, ...], requests: int) -> None:
    """By the books of the provider."""
    provider = Provider(*parts)

    spent = spent_by(await facts(provider))

    assert spent
    assert spent.tokens == provider.served == requests * (TOKENS_IN + TOKENS_OUT)


async def test_what_nothing_was_served_for_costs_nothing() -> None:
    """A provider that is down."""
    assert spent_by(await facts(Provider(DOWN))) is None


REVIEW = TextPart('{"verdicts": []}')


@pytest.mark.parametrize(
    ("parts", "requests"),
    [
        ((REVIEW,), 1),
        ((TextPart("Certainly!"), REVIEW), 2),
        ((TextPart("Certainly!"),), 2),
        ((TextPart("Certainly!"), DOWN), 1),
    ],
    ids=["an answer", "unusable once", "unusable twice", "unusable, then down"],
)
async def test_a_review_costs_what_was_served(parts: tuple[Part, ...], requests: int) -> None:
    """Also one that fails."""
    provider = Provider(*parts)
    voices = ModelVoices(lambda _: None, OfflineVoices(), second=provider.model)
    try:
        _, told = await voices.review(cue(debating(FRAMED)))
    except VoiceError as error:
        told = error.facts

    spent = spent_by(told)
    assert spent
    assert spent.tokens == provider.served == requests * (TOKENS_IN + TOKENS_OUT)


async def test_who_looks_without_an_end_is_asked_without_tools() -> None:
    """What it says then rests on what it saw, and the facts say that it was stopped."""
    provider = Provider(*[LOOK] * MOST_ROUNDS, GOOD)
    told = await facts(provider)

    assert told["stopped_looking"] is True
    spent = spent_by(told)
    assert spent
    assert spent.tokens == provider.served == (MOST_ROUNDS + 1) * (TOKENS_IN + TOKENS_OUT)


def test_an_answer_that_could_not_be_used_is_in_the_budget_and_in_the_record() -> None:
    """Once, whatever is done about it."""
    table = Table(books.thinking(few_steps(step("00-01"), step("00-02")))).start()
    took = {"provider": "scripted", "model": "one", "tokens_in": 200, "tokens_out": 20, "cost": "0.01"}
    failed = Failed(key="", at="", effect="", reason="refused", sentence="No.", facts=took)
    table.world.failing["speak"] = [failed]
    table.say("For field work.")

    assert table.rt.purse.spent.tokens == 220
    assert accounts(line.meta for line in table.lines).item.tokens == 220
