"""What a configured model needs is imported and built here: seconds of work, so it is done in a thread."""

import importlib
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AsyncExitStack
from typing import NamedTuple

from httpx2 import AsyncByteStream, AsyncClient, ReadError, Response
from pydantic_ai.models import Model, create_async_httpx2_client

from bot.domain.model_names import ModelName
from bot.keys import Keys
from bot.voices.models.calling import Caller
from bot.voices.models.failing import FOREIGN
from bot.voices.models.providers import PROVIDERS, Account, account

ANSWER_BYTES = 16 * 1024 * 1024
"""More is no answer to anything that we ask."""

Build = Callable[[ModelName, Account, AsyncClient], Model]


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
        provider = PROVIDERS[name.provider]
        try:
            build: Build = importlib.import_module(f"{__package__}.{provider.module}").model
            given = account(name, keys, seconds=seconds)
            clients.append(_client())
            model = build(name, given, clients[-1])
        except (ImportError, *FOREIGN) as error:
            broken[name] = f"{name} could not be set up ({type(error).__name__})."
            continue
        caches = provider.caches and not (given.address and provider.extra == "openai")
        callers[name] = Caller(name, model, address=given.address, caches=caches, streams=provider.streams)
    return Loaded(callers, broken, tuple(clients))


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
