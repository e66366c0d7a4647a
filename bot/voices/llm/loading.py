"""What a configured model needs is imported and built here: seconds of work, so it is done in a thread."""

import importlib
import logging
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AsyncExitStack
from typing import NamedTuple, Protocol

from httpx2 import AsyncByteStream, AsyncClient, ReadError, Response
from pydantic_ai.models import Model, create_async_httpx2_client

from bot.domain.catalog.models import ModelName
from bot.keys import Keys
from bot.voices.llm.calling import Caller
from bot.voices.llm.failing import FOREIGN
from bot.voices.llm.providers import PROVIDERS, Account, account

ANSWER_BYTES = 16 * 1024 * 1024
"""More is no answer to anything that we ask."""

log = logging.getLogger(__name__)


class Unusable(Exception):
    pass


class Wire(Protocol):
    """What each of the modules `by_….py` is. *ERRORS* come out of its library where nobody has thought of them."""

    ERRORS: tuple[type[Exception], ...]

    def model(self, name: ModelName, account: Account, http: AsyncClient) -> Model: ...


class Loaded(NamedTuple):
    """A sentence stands for each model that could not be built."""

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
        except (ImportError, Unusable) as error:
            log.info("%s: %s", name, type(error.__cause__ or error).__name__)
            broken[name] = f"{name} could not be set up: its library does not take what is configured."
    return Loaded(callers, broken, tuple(clients))


def caller(name: ModelName, given: Account, http: AsyncClient) -> Caller:
    """Raises Unusable when the provider's library is not pleased."""
    provider = PROVIDERS[name.provider]
    wire: Wire = importlib.import_module(f"{__package__}.{provider.module}")
    errors = FOREIGN + wire.ERRORS
    try:
        model = wire.model(name, given, http)
    except errors as error:
        raise Unusable(name) from error
    return Caller(
        name,
        model,
        address=given.address,
        caches=provider.caches and not (given.address and provider.extra == "openai"),
        streams=provider.streams,
        errors=errors,
    )


def _client() -> AsyncClient:
    client = create_async_httpx2_client()
    client.event_hooks = {**client.event_hooks, "response": [_bounded]}
    return client


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
