"""One call of each provider's real client, against a provider on this machine."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from bot.voices.llm.calling import STREAMED_FROM_TOKENS, THINKING_TOKENS
from bot.voices.model import LanguageModel, Prompt
from tests.patience import PATIENCE_SECONDS
from tests.voices.models.provider import KEY, Answer, ModelServer, hangs, says, sends, when

AskedOnce = Callable[[str], LanguageModel]

CLAUDE = "anthropic:claude-sonnet-5"
GPT = "openai-responses:gpt-5.6"
OWN = "openai:qwen3"
BEDROCK = "bedrock:us.anthropic.claude-sonnet-4-5-20250929-v1:0"
EVERY = (
    CLAUDE,
    GPT,
    OWN,
    "openai-chat:gpt-5.6",
    "google:gemini-2.5-flash",
    "ollama:llama3.2",
    "vllm:qwen3",
    BEDROCK,
)

PROMPT = Prompt(("You are Maya.", "The step: journeys.", "The files."), "Sam said: it is slow.")
SHORT, LONG = 500, STREAMED_FROM_TOKENS


def strings(value: Any) -> list[str]:
    """Every text in a body, in its order."""
    if isinstance(value, dict):
        return [text for one in value.values() for text in strings(one)]
    if isinstance(value, list):
        return [text for one in value for text in strings(one)]
    return [value] if isinstance(value, str) else []


@pytest.mark.parametrize("tokens", [SHORT, LONG], ids=["at once", "streamed"])
@pytest.mark.parametrize("model", EVERY)
async def test_an_answer_comes_back_as_text(
    model: str, tokens: int, asked_once: AskedOnce, server: ModelServer
) -> None:
    """Whoever is asked, and however long it may be."""
    server.will(says(Answer("I would ask who waits for whom.\n\nAnd why.")))

    thought = await asked_once(model).think(PROMPT, seconds=10, tokens=tokens)

    assert thought.text == "I would ask who waits for whom.\n\nAnd why."
    assert len(server.asked) == 1


@pytest.mark.parametrize("model", [CLAUDE, GPT, OWN])
@pytest.mark.parametrize(("tokens", "streamed"), [(SHORT, False), (LONG, True)])
async def test_long_answers_come_as_they_are_made(
    model: str, tokens: int, *, streamed: bool, asked_once: AskedOnce, server: ModelServer
) -> None:
    """A gateway takes a minute of silence for the end."""
    await asked_once(model).think(PROMPT, seconds=10, tokens=tokens)

    assert bool(server.asked[0].body["stream"]) is streamed


@pytest.mark.parametrize("model", EVERY)
async def test_what_stays_the_same_comes_first(
    model: str, asked_once: AskedOnce, server: ModelServer
) -> None:
    """In the order given, what is new at the very end: so a provider finds the part that it has seen before."""
    await asked_once(model).think(PROMPT, seconds=10, tokens=SHORT)

    body = server.asked[0].body
    moving = {name: body[name] for name in ("messages", "contents", "input") if name in body}
    told = "\n".join(strings(body.get("system")) + strings(body.get("systemInstruction")) + strings(moving))
    at = [told.index(text) for text in (*PROMPT.stable, PROMPT.moving)]
    assert at == sorted(at)


async def test_anthropic_keeps_every_stable_part(asked_once: AskedOnce, server: ModelServer) -> None:
    """Each ends with a mark; what is new has none, because writing it down there would cost and never be read."""
    await asked_once(CLAUDE).think(PROMPT, seconds=10, tokens=SHORT)

    body = server.asked[0].body
    parts = [*body["system"], *body["messages"][0]["content"]]
    assert [("cache_control" in part, part["text"].strip()) for part in parts] == [
        *((True, text) for text in PROMPT.stable),
        (False, PROMPT.moving),
    ]


async def test_more_parts_than_anthropic_keeps_do_no_harm(asked_once: AskedOnce, server: ModelServer) -> None:
    """It takes four marks at most."""
    parts = tuple(f"Part {number}." for number in range(9))

    await asked_once(CLAUDE).think(Prompt(parts, "New."), seconds=10, tokens=SHORT)

    body = server.asked[0].body
    marks = [part for part in (*body["system"], *body["messages"][0]["content"]) if "cache_control" in part]
    assert len(marks) == 4


async def test_the_same_prompt_is_the_same_to_the_byte(asked_once: AskedOnce, server: ModelServer) -> None:
    """All that comes before what is new: the caches of providers compare nothing else."""
    mind = asked_once(OWN)
    for said in ("One.", "Two."):
        await mind.think(PROMPT._replace(moving=said), seconds=10, tokens=SHORT)

    first, second = (str(asked.body["messages"]) for asked in server.asked)
    assert first.replace("One.", "Two.") == second


async def test_a_server_of_ones_own_gets_plain_text(asked_once: AskedOnce, server: ModelServer) -> None:
    """Many take no lists of parts, and none takes OpenAI's marks."""
    await asked_once("openai:gpt-5.6").think(PROMPT, seconds=10, tokens=SHORT)

    assert server.asked[0].path == "/v1/chat/completions"
    assert [type(message["content"]) for message in server.asked[0].body["messages"]] == [str, str]
    assert "cache" not in str(server.asked[0].body)


async def test_a_prompt_may_have_no_stable_part(asked_once: AskedOnce, server: ModelServer) -> None:
    """Then there is no word of the system."""
    await asked_once(OWN).think(Prompt((), "Say yes."), seconds=10, tokens=SHORT)

    assert server.asked[0].body["messages"] == [{"role": "user", "content": "Say yes."}]


async def test_openai_is_told_to_keep_nothing(asked_once: AskedOnce, server: ModelServer) -> None:
    """Otherwise every discussion could be read in its console for a month."""
    await asked_once(GPT).think(PROMPT, seconds=10, tokens=SHORT)

    assert server.asked[0].path == "/v1/responses"
    assert server.asked[0].body["store"] is False


@pytest.mark.parametrize(
    ("model", "field"),
    [(CLAUDE, "max_tokens"), (GPT, "max_output_tokens"), (OWN, "max_completion_tokens")],
)
async def test_an_answer_is_bounded(
    model: str, field: str, asked_once: AskedOnce, server: ModelServer
) -> None:
    """The library's own bound would be 64,000 tokens for some. A model that thinks by default gets room for that."""
    await asked_once(model).think(PROMPT, seconds=10, tokens=SHORT)

    assert server.asked[0].body[field] == SHORT + (0 if model == OWN else THINKING_TOKENS)


@pytest.mark.parametrize("effort", ["", "low", "high"])
async def test_who_cannot_but_think_first_gets_room_for_it(
    effort: str, asked_once: AskedOnce, server: ModelServer
) -> None:
    """Otherwise nothing would be left for the answer. How much it thinks is its own default, or is asked for."""
    await asked_once("openai-responses:o3").think(PROMPT._replace(effort=effort), seconds=10, tokens=SHORT)

    body = server.asked[0].body
    assert body["max_output_tokens"] > SHORT
    assert body.get("reasoning", {}).get("effort", "") == effort


@pytest.mark.parametrize("model", [CLAUDE, OWN])
async def test_the_key_goes_where_it_belongs(model: str, asked_once: AskedOnce, server: ModelServer) -> None:
    """In its header, and nowhere in what is said."""
    await asked_once(model).think(PROMPT, seconds=10, tokens=SHORT)

    [asked] = server.asked
    assert asked.headers["Authorization"] == f"Bearer {KEY}"
    assert KEY not in str(asked.body) + asked.path


async def test_a_call_that_is_cancelled_is_hung_up(asked_once: AskedOnce, server: ModelServer) -> None:
    """At once: nobody pays for an answer that no one will read."""
    server.will(hangs())
    thinking = asyncio.create_task(asked_once(OWN).think(PROMPT, seconds=60, tokens=SHORT))
    await server.arrived.wait()

    thinking.cancel()

    with pytest.raises(asyncio.CancelledError):
        await thinking
    await asyncio.wait_for(server.hung_up.wait(), PATIENCE_SECONDS)


async def test_a_client_that_cannot_be_interrupted_keeps_nobody(
    asked_once: AskedOnce, server: ModelServer
) -> None:
    """AWS's waits in a thread, which is left behind."""
    answered = asyncio.Event()
    server.will(when(answered, sends("{}")))
    thinking = asyncio.create_task(asked_once(BEDROCK).think(PROMPT, seconds=60, tokens=SHORT))
    await server.arrived.wait()

    thinking.cancel()

    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(thinking, PATIENCE_SECONDS)
    assert server.at_once == 1, "it still waits there"
    answered.set()
