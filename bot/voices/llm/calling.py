"""One call of one model: a prompt goes out, and what comes back is an answer or says why it is none."""

import asyncio
import logging
import time
from collections.abc import Sequence

from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.messages import (
    CachePoint,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    UserContent,
    UserPromptPart,
)
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings

from bot.domain.catalog.models import ModelName
from bot.errors import VoiceError
from bot.voices.llm.failing import FOREIGN, translated
from bot.voices.llm.pricing import usage
from bot.voices.model import Prompt, Thought

log = logging.getLogger(__name__)

STREAMED_FROM_TOKENS = 2000
"""Longer answers come as they are made: what stands between may take a long silence for the end."""
THINKING_TOKENS = 4000
"""Added for models that cannot but think first, and count it."""
LET_GO_SECONDS = 0.5


class Caller:
    """A mind of one model that asks once."""

    def __init__(
        self,
        name: ModelName,
        model: Model,
        *,
        address: str,
        caches: bool,
        streams: bool,
        errors: tuple[type[Exception], ...] = FOREIGN,
    ) -> None:
        self._name = name
        self._model = model
        self._address = address
        self._caches = caches
        self._streams = streams
        self._errors = errors
        self._thinks = bool(model.profile.get("thinking_always_enabled"))

    async def think(self, prompt: Prompt, *, seconds: float, tokens: int) -> Thought:
        began = time.monotonic()
        response = await self._answered(prompt, seconds=seconds, tokens=tokens)
        took = usage(response, self._name, address=self._address, seconds=time.monotonic() - began)
        return Thought(self._said(response), took)

    async def _answered(self, prompt: Prompt, *, seconds: float, tokens: int) -> ModelResponse:
        """A library that cannot be interrupted must not keep us: it is left behind, and says it to nobody."""
        asking = asyncio.create_task(self._asked(prompt, tokens), name=f"asking {self._name}")
        try:
            await asyncio.wait({asking}, timeout=seconds)
            if not asking.done():
                raise VoiceError(
                    f"{self._name} did not answer within {seconds:g} s.", reason="timeout", again=True
                )
        finally:
            if asking.cancel():
                asking.add_done_callback(_forgotten)
                await asyncio.wait({asking}, timeout=LET_GO_SECONDS)
        answer = asking.result()
        if isinstance(answer, VoiceError):
            raise answer
        return answer

    async def _asked(self, prompt: Prompt, tokens: int) -> ModelResponse | VoiceError:
        """An error is returned, and raised outside: so it has no foreign one behind it, whose words would be shown."""
        sent = _messages(prompt, caches=self._caches)
        settings = self._settings(tokens)
        try:
            if not self._streams or tokens < STREAMED_FROM_TOKENS:
                return await model_request(self._model, sent, model_settings=settings)
            async with model_request_stream(self._model, sent, model_settings=settings) as coming:
                async for _ in coming:
                    pass
                answer = coming.get()
            return answer if answer.finish_reason else self._broke_off()
        except self._errors as error:
            log.info("%s failed with %s", self._name, type(error).__name__)
            return translated(error, self._name)

    def _settings(self, tokens: int) -> ModelSettings:
        settings = ModelSettings(
            max_tokens=tokens + (THINKING_TOKENS if self._thinks else 0),
            thinking=False,  # or as little as it can
        )
        if self._caches:
            settings["cache"] = {"messages": False}
        return settings

    def _said(self, response: ModelResponse) -> str:
        text = (response.text or "").strip()
        match response.finish_reason:
            case "content_filter":
                raise VoiceError(f"{self._name} would rather not answer.", reason="refused")
            case "error":
                raise self._broke_off()
            case "length":
                raise VoiceError(f"{self._name} was cut off in the middle of its answer.", reason="cut_off")
            case _ if not text:
                raise VoiceError(f"{self._name} said nothing.", reason="empty", again=True)
            case _:
                return text

    def _broke_off(self) -> VoiceError:
        return VoiceError(f"{self._name} broke off.", reason="unavailable", again=True)


def _messages(prompt: Prompt, *, caches: bool) -> list[ModelMessage]:
    """
    The first stable part is the system's word; all others may hold what people wrote, and come as theirs.

    Whoever cannot be told what to keep gets one text: many servers take no other.
    """
    system, others = prompt.stable[:1], prompt.stable[1:]
    content: str | Sequence[UserContent] = "\n\n".join((*others, prompt.moving))
    if caches and others:
        kept = [part for text in others for part in (f"{text}\n\n", CachePoint())]
        content = [*kept, prompt.moving]
    return [ModelRequest(parts=[*map(SystemPromptPart, system), UserPromptPart(content)])]


def _forgotten(asking: "asyncio.Task[ModelResponse | VoiceError]") -> None:
    if not asking.cancelled():
        asking.exception()
