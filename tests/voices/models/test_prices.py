"""What a call took. Unknown is not free."""

from collections.abc import Callable
from decimal import Decimal

import httpx2
import pytest
from pydantic_ai.models import create_async_httpx2_client

from bot.domain.catalog.personas import ModelName
from bot.keys import Keys
from bot.voices.llm.calling import STREAMED_FROM_TOKENS
from bot.voices.llm.loading import caller
from bot.voices.llm.providers import account
from bot.voices.model import LanguageModel, Prompt, Usage
from tests.voices.models.provider import Answer, ModelServer, says

AskedOnce = Callable[[str], LanguageModel]

BEDROCK = "bedrock:us.anthropic.claude-sonnet-4-5-20250929-v1:0"
EVERY = (
    "anthropic:claude-sonnet-5", "openai-responses:gpt-5.6", "openai:qwen3", "google:gemini-2.5-flash",
    "ollama:llama3.2", "vllm:qwen3", BEDROCK,
)  # fmt: skip
PROMPT = Prompt(("You are Maya.",), "Well?")
SHORT, LONG = 500, STREAMED_FROM_TOKENS


async def usage(mind: LanguageModel, *, tokens: int = SHORT) -> Usage:
    return (await mind.think(PROMPT, seconds=20, tokens=tokens)).usage


@pytest.mark.parametrize("tokens", [SHORT, LONG], ids=["at once", "streamed"])
@pytest.mark.parametrize("model", EVERY)
async def test_every_provider_says_what_it_took(
    model: str, tokens: int, asked_once: AskedOnce, server: ModelServer
) -> None:
    """Each counts in its own way; here those read from its cache are always among those that went in."""
    server.will(says(Answer(tokens=(1200, 40, 1000))))

    took = await usage(asked_once(model), tokens=tokens)

    assert (took.tokens_in, took.tokens_out, took.tokens_cached) == (1200, 40, 1000)
    assert took.provider == model.partition(":")[0]
    assert took.seconds > 0


@pytest.mark.parametrize("tokens", [SHORT, LONG], ids=["at once", "streamed"])
@pytest.mark.parametrize("model", ["openai:qwen3", "openai-responses:gpt-5.6"])
async def test_what_is_not_said_is_unknown(
    model: str, tokens: int, asked_once: AskedOnce, server: ModelServer
) -> None:
    """Not 0: a budget would never be used up."""
    server.will(says(Answer(tokens=None)))

    took = await usage(asked_once(model), tokens=tokens)

    assert (took.tokens_in, took.tokens_out, took.tokens_cached, took.dollars) == (None, None, None, None)


async def test_nothing_read_from_a_cache_is_nothing_said_about_one(
    asked_once: AskedOnce, server: ModelServer
) -> None:
    """By a server of one's own, which may well have none."""
    server.will(says(Answer(tokens=(1200, 40, 0))))

    assert (await usage(asked_once("openai:qwen3"))).tokens_cached is None


@pytest.mark.parametrize("model", ["openai:gpt-4o", "ollama:gpt-4o", "anthropic:claude-sonnet-5"])
async def test_a_server_of_ones_own_has_no_price(
    model: str, asked_once: AskedOnce, server: ModelServer
) -> None:
    """Even where its model is called like one that has."""
    server.will(says(Answer(model=model.partition(":")[2])))

    assert (await usage(asked_once(model))).dollars is None


async def elsewhere(server: ModelServer, model: str) -> Usage:
    """What a call comes to that believes to be at the provider's own address."""
    name = ModelName(*model.split(":", 1))
    there = httpx2.URL(server.url)

    async def diverted(request: httpx2.Request) -> None:
        request.url = request.url.copy_with(scheme="http", host=there.host, port=there.port)

    keys = Keys.model_validate({"openai_api_key": "k", "anthropic_api_key": "k", "google_api_key": "k"})
    async with create_async_httpx2_client() as http:
        http.event_hooks = {"request": [diverted]}
        return await usage(caller(name, account(name, keys, seconds=20), http))


@pytest.mark.parametrize(
    ("model", "dollars"),
    [
        ("openai:gpt-4o", Decimal("0.00215")),
        ("anthropic:claude-sonnet-4-6", Decimal("0.0015")),
        ("google:gemini-2.5-flash", Decimal("0.00019")),
    ],
)
async def test_the_price_is_that_of_the_price_list(model: str, dollars: Decimal, server: ModelServer) -> None:
    """200 new tokens in, 1000 from the cache and 40 out, at what each of them costs there."""
    server.will(says(Answer(model=model.partition(":")[2], tokens=(1200, 40, 1000))))

    assert (await elsewhere(server, model)).dollars == dollars


async def test_bedrock_has_prices_of_its_own(asked_once: AskedOnce) -> None:
    """It is known by its region's name for the model."""
    assert (await usage(asked_once(BEDROCK))).dollars == Decimal("0.00165")


async def test_a_version_nobody_knows_costs_what_the_model_does(server: ModelServer) -> None:
    """Providers answer under names that are newer than any list."""
    server.will(says(Answer(model="preview-of-tomorrow", tokens=(1200, 40, 1000))))

    took = await elsewhere(server, "openai:gpt-4o")

    assert (took.model, took.dollars) == ("preview-of-tomorrow", Decimal("0.00215"))


async def test_a_model_nobody_knows_has_no_price(server: ModelServer) -> None:
    """And no error either."""
    assert (await elsewhere(server, "openai:gpt-99-mystery")).dollars is None
