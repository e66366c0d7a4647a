"""
The clients of the configured models: imported and built in a thread, because that takes seconds.

Each provider's library is imported by the function that needs it, so only those that are configured are loaded.
"""

import logging
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AsyncExitStack
from typing import NamedTuple

from httpx2 import AsyncByteStream, AsyncClient, ReadError, Request, Response
from pydantic_ai.models import Model, create_async_httpx2_client

from bot.domain.catalog.personas import ModelName
from bot.keys import Keys
from bot.telemetry import trace_headers
from bot.voices.llm.calling import FOREIGN, Caller
from bot.voices.llm.providers import PROVIDERS, Account, account

ANSWER_BYTES = 16 * 1024 * 1024
"""A longer answer is an error."""

CONNECT_SECONDS = 5

log = logging.getLogger(__name__)


class ModelUnusable(Exception):
    pass


class Client(NamedTuple):
    """*errors* are those of the provider's library."""

    model: Model
    errors: tuple[type[Exception], ...]


class Loaded(NamedTuple):
    """*broken* has a sentence for each model that could not be built."""

    callers: Mapping[ModelName, Caller]
    broken: Mapping[ModelName, str]
    clients: tuple[AsyncClient, ...]

    async def close(self) -> None:
        async with AsyncExitStack() as stack:
            for client in self.clients:
                stack.push_async_callback(client.aclose)


def load(names: Iterable[ModelName], keys: Keys, *, seconds: float) -> Loaded:
    callers: dict[ModelName, Caller] = {}
    broken: dict[ModelName, str] = {}
    clients: list[AsyncClient] = []
    for name in names:
        clients.append(_client())
        try:
            callers[name] = caller(name, account(name, keys, seconds=seconds), clients[-1])
        except (ImportError, ModelUnusable) as error:
            log.info("%s: %s", name, type(error.__cause__ or error).__name__)
            broken[name] = f"{name} could not be set up: its library does not take what is configured."
    return Loaded(callers, broken, tuple(clients))


def caller(name: ModelName, given: Account, http: AsyncClient) -> Caller:
    """Raises ModelUnusable when the provider's library refuses what is configured."""
    provider = PROVIDERS[name.provider]
    try:
        model, errors = CLIENTS[provider.extra](name, given, http)
    except FOREIGN as error:
        raise ModelUnusable(name) from error
    return Caller(
        name,
        model,
        address=given.address,
        caches=provider.caches and not (given.address and provider.extra == "openai"),
        streams=provider.streams,
        errors=FOREIGN + errors,
    )


def _client() -> AsyncClient:
    client = create_async_httpx2_client()
    client.event_hooks = {**client.event_hooks, "request": [_traced], "response": [_bounded]}
    return client


async def _traced(request: Request) -> None:
    request.headers.update(trace_headers())


async def _bounded(response: Response) -> None:
    if isinstance(response.stream, AsyncByteStream):
        response.stream = _Bounded(response.stream)


class _Bounded(AsyncByteStream):
    def __init__(self, stream: AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = ANSWER_BYTES
        async for chunk in self._stream:
            left -= len(chunk)
            if left < 0:
                raise ReadError(f"an answer of more than {ANSWER_BYTES} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


def _anthropic(name: ModelName, account: Account, http: AsyncClient) -> Client:
    from anthropic import AnthropicError, AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    client = AsyncAnthropic(
        api_key=account.key.get_secret_value(),
        base_url=account.address or "https://api.anthropic.com",
        http_client=http,
        max_retries=0,
    )
    return Client(
        AnthropicModel(name.name, provider=AnthropicProvider(anthropic_client=client)), (AnthropicError,)
    )


def _bedrock(name: ModelName, account: Account, _http: AsyncClient) -> Client:
    """
    AWS's library has an HTTP client of its own, and finds keys, roles, profiles and its address by itself.

    It waits in a thread that cannot be cancelled: that ends with the answer, or with the timeout.
    """
    import boto3
    from botocore.config import Config
    from botocore.exceptions import BotoCoreError, ClientError
    from pydantic_ai.models.bedrock import BedrockConverseModel
    from pydantic_ai.providers.bedrock import BedrockProvider

    config = Config(
        connect_timeout=CONNECT_SECONDS, read_timeout=account.seconds, retries={"total_max_attempts": 1}
    )
    try:
        client = boto3.client("bedrock-runtime", region_name=account.region or None, config=config)
    except BotoCoreError as error:  # such as a profile that does not exist
        raise ModelUnusable(name) from error
    model = BedrockConverseModel(name.name, provider=BedrockProvider(bedrock_client=client))
    return Client(model, (BotoCoreError, ClientError))


def _google(name: ModelName, account: Account, http: AsyncClient) -> Client:
    """Its client does not retry by default."""
    from google.genai.errors import APIError
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    provider = GoogleProvider(
        api_key=account.key.get_secret_value(), base_url=account.address or None, http_client=http
    )
    return Client(GoogleModel(name.name, provider=provider), (APIError,))


def _openai(name: ModelName, account: Account, http: AsyncClient) -> Client:
    """
    OpenAI, and every server with its interface: one of your own by OPENAI_BASE_URL, Ollama, vLLM.

    OpenAI itself is called by its newer interface, all others by the older one, which they all have;
    `openai-responses:` and `openai-chat:` choose one.
    """
    from openai import AsyncOpenAI, OpenAIError
    from pydantic_ai.models.ollama import OllamaModel
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel, OpenAIResponsesModelSettings
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.ollama import OllamaProvider
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.providers.vllm import VLLMProvider

    client = AsyncOpenAI(
        api_key=account.key.get_secret_value(),
        base_url=account.address or "https://api.openai.com/v1",
        http_client=http,
        max_retries=0,
    )
    # A stream that ends without a reason may have been cut off by something in between.
    whole = OpenAIModelProfile(openai_chat_streaming_requires_finish_reason=True)
    model: Model
    if name.provider == "ollama":
        model = OllamaModel(name.name, provider=OllamaProvider(openai_client=client), profile=whole)
    elif name.provider == "vllm":
        model = OpenAIChatModel(name.name, provider=VLLMProvider(openai_client=client), profile=whole)
    elif name.provider == "openai-responses" or (name.provider == "openai" and not account.address):
        # By default, this interface keeps every discussion at OpenAI, to be read in its console.
        not_kept = OpenAIResponsesModelSettings(openai_store=False)
        model = OpenAIResponsesModel(
            name.name, provider=OpenAIProvider(openai_client=client), settings=not_kept
        )
    else:
        model = OpenAIChatModel(name.name, provider=OpenAIProvider(openai_client=client), profile=whole)
    return Client(model, (OpenAIError,))


CLIENTS: Mapping[str, Callable[[ModelName, Account, AsyncClient], Client]] = {
    "anthropic": _anthropic,
    "bedrock": _bedrock,
    "google": _google,
    "openai": _openai,
}
"""By the extra that brings the library."""
