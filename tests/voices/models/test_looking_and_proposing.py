"""Tools and structured output with each provider's real client: a look, its result, and the JSON that rests on it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest
from aiohttp import ClientSession
from anthropic.types import Message as AnthropicMessage
from anthropic.types.message_create_params import MessageCreateParams
from google.genai.types import Content, GenerateContentResponse, GenerationConfig
from google.genai.types import Tool as GeminiTool
from openai.types.chat import ChatCompletion
from openai.types.chat.completion_create_params import CompletionCreateParams
from openai.types.responses import Response
from openai.types.responses.response_create_params import ResponseCreateParams
from pydantic import TypeAdapter
from typing_extensions import TypedDict

from bot.domain.specification.fold import Patch
from bot.engine.evidence_ports import Passage
from bot.engine.ports import Facts, VoiceContext
from bot.voices.llm.calling import STREAMED_FROM_TOKENS
from bot.voices.model import LanguageModel, Tool
from bot.voices.offline import OfflineVoices
from bot.voices.prompts import schemas
from bot.voices.thinking import ModelVoices
from bot.voices.tools.looking import TOOLS, Looker, LookSubject
from tests.sights import MEMBERS
from tests.specification.meeting import PLAYBOOK, SCHEMA
from tests.voices.models.provider import Answer, Called, Json, ModelServer, fails, says
from tests.voices.models.test_asking import CLAUDE, EVERY, GPT, OWN, PROMPT, SHORT, strings
from tests.voices.people import ADA, FEATURES, MAYA, roundtable
from tests.voices.test_looking import Shelf

SCHEMA_NAMES = ("parameters", "input_schema", "inputSchema", "parameters_json_schema")
RESULTS = {"tool_call_id": "tool", "call_id": "function_call_output", "tool_use_id": "tool_result"}
"""Where the id of a call is, by the kind of a part that has its result."""
AskedOnce = Callable[[str], LanguageModel]

LOOK = Called("read_file", {"path": "src/sync.py", "first": 40, "last": 58})
SEARCH = Called("search_code", {"words": "retry"}, id="call_2")
FOUND = "src/sync.py:40-58@1a2b3c4: retry(60)"
WANTS_TO_LOOK = says(Answer("", calls=(LOOK, SEARCH)))


class Toolbox:
    """Returns the same for everything, and remembers what was asked."""

    tools: Sequence[Tool] = TOOLS

    def __init__(self) -> None:
        self.looked: list[tuple[str, Mapping[str, Any]]] = []

    async def look(self, name: str, given: Mapping[str, Any], /) -> str:
        self.looked.append((name, given))
        return f"{FOUND} ({len(self.looked)})"

    async def first_look(self) -> str:
        return FOUND


def offered(body: Json) -> dict[str, Json]:
    """The parameters of each tool, by its name, as each way of speaking writes them."""
    tools = body.get("tools") or body["toolConfig"]["tools"]
    found: dict[str, Json] = {}
    for one in tools:
        for tool in one.get("functionDeclarations", [one.get("function") or one.get("toolSpec") or one]):
            schema = next((tool[name] for name in SCHEMA_NAMES if name in tool), None)
            if schema:  # the others are marks of a cache
                found[tool["name"]] = schema.get("json", schema)
    return found


def returned(body: Json) -> list[str]:
    """The ids of the calls that have a result in *body*, in their order."""

    def ids(value: Any) -> Iterator[str]:
        if isinstance(value, list):
            for one in value:
                yield from ids(one)
        elif isinstance(value, dict):
            kind = value.get("type") or value.get("role")
            yield from (value[name] for name, result in RESULTS.items() if kind == result)
            yield from (value[name]["id"] for name in value if name == "functionResponse")
            yield from (value[name]["toolUseId"] for name in value if name == "toolResult")
            yield from ids(list(value.values()))

    return list(ids(body))


@pytest.mark.parametrize("tokens", [SHORT, STREAMED_FROM_TOKENS], ids=["at once", "streamed"])
@pytest.mark.parametrize("model", EVERY)
async def test_a_look_goes_there_and_its_result_comes_back(
    model: str, tokens: int, asked_once: AskedOnce, server: ModelServer
) -> None:
    """Two calls in one response, each with its own result; then the answer. All tokens are counted."""
    server.will(WANTS_TO_LOOK, says(Answer("It retries after 60 s.")))
    tools = Toolbox()

    thought = await asked_once(model).think(PROMPT._replace(tools=tools), seconds=10, tokens=tokens)

    first, second = (one.body for one in server.asked)
    assert thought.text == "It retries after 60 s."
    assert tools.looked == [(one.name, one.given) for one in (LOOK, SEARCH)]
    assert list(offered(first)) == [one.name for one in TOOLS]
    assert returned(first) == []
    assert returned(second) == [LOOK.id, SEARCH.id]
    told = "\n".join(strings(second))
    assert f"{FOUND} (1)" in told
    assert f"{FOUND} (2)" in told
    assert (thought.usage.tokens_in, thought.usage.tokens_out) == (2400, 80)


@pytest.mark.parametrize("model", EVERY)
async def test_each_is_told_what_a_tool_takes(model: str, asked_once: AskedOnce, server: ModelServer) -> None:
    """The names of its parameters and which of them are required, whatever else a provider leaves of a schema."""
    await asked_once(model).think(PROMPT._replace(tools=Toolbox()), seconds=10, tokens=SHORT)

    schema = offered(server.asked[0].body)["read_file"]
    assert list(schema["properties"]) == ["path", "first", "last"]
    assert schema["properties"]["path"]["type"].casefold() == "string"
    if model not in {GPT, "openai-chat:gpt-5.6"} or not server.asked[0].body["tools"][0].get("strict"):
        assert schema["required"] == ["path"]


@pytest.mark.parametrize("model", [OWN, "ollama:llama3.2", "vllm:qwen3"])
async def test_a_server_that_refuses_tools_is_shown_a_search(
    model: str, asked_once: AskedOnce, server: ModelServer
) -> None:
    """Many of one's own answer 400 then; it is remembered, and not tried again."""
    server.will(fails(400, {"error": {"message": "tools are not supported"}}), says(Answer("It retries.")))
    mind = asked_once(model)

    for _ in range(2):
        thought = await mind.think(PROMPT._replace(tools=Toolbox()), seconds=10, tokens=SHORT)
        assert thought.text == "It retries."

    assert ["tools" in one.body for one in server.asked] == [True, False, False]
    assert FOUND in "\n".join(strings(server.asked[-1].body))


class NumberedShelf(Shelf):
    async def read_file(self, path: str, first: int, last: int) -> Passage:
        return Passage(f"{path}:{first}-{last}@1a2b3c4", "40 wait = Retry(60, 's')\n41 start(wait)")


async def proposed(mind: LanguageModel) -> tuple[tuple[Patch, ...], Facts]:
    rt = roundtable(FEATURES, (ADA, "It has to try again by itself."))
    persona = PLAYBOOK.roster[MAYA]
    looker = Looker(NumberedShelf(), LookSubject.of(rt, MEMBERS), SCHEMA, persona, redact=lambda text: text)
    voices = ModelVoices(lambda _: mind, OfflineVoices(), looker_of=lambda *_: looker)
    speech = await voices.draft(VoiceContext(rt, PLAYBOOK, MAYA))
    return speech.patches or (), speech.facts


# --- the server speaks, and is spoken to, as the providers publish it ---


class GeminiRequest(TypedDict):
    contents: list[Content]
    systemInstruction: Content
    tools: list[GeminiTool]
    generationConfig: GenerationConfig


REQUESTS: Mapping[str, Any] = {
    CLAUDE: MessageCreateParams,
    GPT: ResponseCreateParams,
    "openai-chat:gpt-5.6": CompletionCreateParams,
    "google:gemini-3-pro": GeminiRequest,
}


@pytest.mark.parametrize("model", REQUESTS)
async def test_requests_with_tools_and_a_schema_are_in_the_published_form(
    model: str, asked_once: AskedOnce, server: ModelServer
) -> None:
    """The one that offers tools, and the one that returns results. AWS's library checks each request by itself."""
    server.will(WANTS_TO_LOOK, says(Answer("{}")))
    prompt = PROMPT._replace(tools=Toolbox(), schema=schemas.turn(("maya",)))
    await asked_once(model).think(prompt, seconds=10, tokens=SHORT)

    form = TypeAdapter(REQUESTS[model])
    for one in server.asked:
        form.validate_python({name: value for name, value in one.body.items() if name != "stream"})


ANSWERS: Mapping[str, tuple[str, Any]] = {
    "anthropic": ("/messages", AnthropicMessage),
    "openai-responses": ("/responses", Response),
    "openai": ("/chat/completions", ChatCompletion),
    "google": ("/gemini:generateContent", GenerateContentResponse),
}


@pytest.mark.parametrize("provider", ANSWERS)
@pytest.mark.parametrize("answer", [Answer(), Answer("", calls=(LOOK, SEARCH))], ids=["words", "calls"])
async def test_the_server_answers_in_the_published_form(
    provider: str, answer: Answer, server: ModelServer
) -> None:
    """Otherwise the tests above would prove nothing. AWS's library checks its own answers by its service model."""
    path, form = ANSWERS[provider]
    server.will(says(answer))
    async with ClientSession() as session, session.post(f"{server.url}{path}", json={}) as response:
        body = await response.text()

    form.model_validate_json(body)
