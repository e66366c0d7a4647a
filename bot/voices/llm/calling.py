"""
One call of one model: a prompt goes out, and an answer comes back, or a VoiceError that says why there is none.

Errors of the libraries quote answers, and those may quote prompts and keys. So of a foreign error only its kind, its
HTTP status and the wait that was asked for are passed on.
"""

import asyncio
import logging
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import NamedTuple

from genai_prices import calc_price
from httpx2 import HTTPError
from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.exceptions import (
    AgentRunError,
    ContentFilterError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestRejectedError,
    ModelRequestTimeout,
    ModelServerError,
    ModelTimeoutError,
    ModelUnavailableError,
    UserError,
)
from pydantic_ai.messages import (
    CachePoint,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    ToolCallPart,
    ToolReturnPart,
    UserContent,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings, ThinkingEffort
from pydantic_ai.tools import ToolDefinition

from bot.domain.catalog.personas import ModelName
from bot.errors import VoiceError
from bot.telemetry import tool_span
from bot.voices.llm.forms import Clock, RequestForm, RequestForms
from bot.voices.model import Completion, Prompt, Toolbox, Usage, together
from bot.voices.prompts.fencing import with_material

log = logging.getLogger(__name__)

STREAMED_FROM_TOKENS = 2000
"""Longer answers are streamed: a gateway may take a long silence for the end."""
THINKING_TOKENS = 4000
"""Added for models that think first, and count it."""
LET_GO_SECONDS = 0.5
CHARS_OF_A_TOKEN = 4
ANSWER_CHARS = 100_000
"""Of an answer that is read: it is refused as one that is cut off, and nothing of it is used."""
MOST_ROUNDS = 2
"""Of tool calls, before the answer has to come."""
FIRST_LOOK = "what a first search found"
ALL_LOOKS = "what was found; nothing more can be looked at"
UNKNOWN_TOOL = "unknown"
"""In traces, for a name that the model made up."""
EFFORTS: Mapping[str, ThinkingEffort] = {
    one: one for one in ("minimal", "low", "medium", "high", "xhigh", "max")
}
LONGEST_WAIT_SECONDS = 3600.0
"""The most that a header of an answer can ask for."""

FOREIGN: tuple[type[Exception], ...] = (
    AgentRunError,
    UserError,
    HTTPError,
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    OSError,
    TypeError,
    ValueError,
)
"""The library's own errors, and what it raises over an answer that is not in its form."""


class Failure(NamedTuple):
    kind: type[Exception]
    reason: str
    sentence: str
    again: bool = True


NO_ANSWER = "{name} sent something that is no answer."
NOT_REACHED = "{name} could not be reached, or hung up."

FAILURES = (
    Failure(
        ModelContextWindowExceededError, "context", "The discussion is too long for {name}.", again=False
    ),
    Failure(ModelAuthenticationError, "denied", "{name} does not accept our key.", again=False),
    Failure(ModelQuotaExceededError, "denied", "Our account for {name} is used up.", again=False),
    Failure(ModelNotFoundError, "unavailable", "{name} does not exist where we ask for it.", again=False),
    Failure(ModelRateLimitError, "unavailable", "{name} asks us to wait."),
    Failure(ModelRequestTimeout, "timeout", "{name} did not answer in time."),
    Failure(ModelTimeoutError, "timeout", "{name} did not answer in time."),
    Failure(ModelConnectionError, "unavailable", NOT_REACHED),
    Failure(ModelUnavailableError, "unavailable", "{name} is not available just now."),
    Failure(ModelServerError, "unavailable", "{name} has trouble of its own."),
    Failure(ModelRequestRejectedError, "unavailable", "{name} does not take what we ask.", again=False),
    Failure(ContentFilterError, "refused", "{name} would rather not answer.", again=False),
    Failure(ModelHTTPError, "unavailable", "{name} has trouble."),
    Failure(ModelAPIError, "unavailable", NO_ANSWER),
    Failure(UserError, "unavailable", "{name} cannot be asked in this way.", again=False),
    Failure(HTTPError, "unavailable", NOT_REACHED),
    Failure(OSError, "unavailable", NOT_REACHED),
    Failure(Exception, "unavailable", NO_ANSWER),
)
"""The first one that fits: subclasses come before their base."""

UNMAPPED: Mapping[object, str] = {"refusal": "content_filter"}
"""Reasons for an end that the library knows of some providers only: Claude may stop so on Bedrock, too."""

NOT_OF_THE_FORM = (ModelContextWindowExceededError, ModelAuthenticationError, ModelNotFoundError)
"""Rejections of a request in whatever form."""

_PLAIN = re.compile(r"[\w./:@+-]{1,100}")


class Caller:
    """One model; each `think` is a single call."""

    def __init__(
        self,
        name: ModelName,
        model: Model,
        *,
        address: str,
        caches: bool,
        streams: bool,
        errors: tuple[type[Exception], ...] = FOREIGN,
        clock: Clock = time.monotonic,
    ) -> None:
        self._name = name
        self._model = model
        self._address = address
        self._caches = caches
        self._streams = streams
        self._errors = errors
        self._thinks = any(map(model.profile.get, ("thinking_always_enabled", "thinking_enabled_by_default")))
        self.forms = RequestForms(name, model.profile, clock)

    async def think(self, prompt: Prompt, *, seconds: float, tokens: int) -> Completion:
        began = time.monotonic()
        responses, form, stopped = await self._answered(prompt, seconds=seconds, tokens=tokens)
        usages = [usage(one, self._name, address=self._address, seconds=0.0) for one in responses]
        took = together(usages)._replace(seconds=time.monotonic() - began)
        text = self._said(responses[-1])
        self.forms.heard(form, text)
        return Completion(text, took, stopped_looking=stopped)

    async def _answered(self, prompt: Prompt, *, seconds: float, tokens: int) -> "_Exchange":
        """A library that cannot be interrupted is left behind when the time is over."""
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

    async def _asked(self, prompt: Prompt, tokens: int) -> "_Exchange | VoiceError":
        """An error is returned and raised by the caller, so that no foreign error is chained to it and shown."""
        try:
            return await self._exchanged(prompt, tokens)
        except self._errors as error:
            log.info("%s failed with %s", self._name, type(error).__name__)
            return translated(error, self._name)
        except VoiceError as error:
            return error

    async def _exchanged(self, prompt: Prompt, tokens: int) -> "_Exchange":
        """In the first form that the server does not reject."""
        rejected: list[RequestForm] = []
        while True:
            form = next(one for one in self.forms.of(prompt) if one not in rejected)
            try:
                responses = await self._in_form(form, prompt, tokens)
            except (ModelRequestRejectedError, UserError) as error:
                rejected.append(form)
                has_another = any(one not in rejected for one in self.forms.of(prompt))
                if isinstance(error, NOT_OF_THE_FORM) or not has_another:
                    raise
            else:
                self.forms.leave_out_refused(form, rejected)
                looked = [one for one in responses if one.tool_calls]
                return _Exchange(responses, form, stopped_looking=len(looked) == MOST_ROUNDS)

    async def _in_form(self, form: RequestForm, prompt: Prompt, tokens: int) -> list[ModelResponse]:
        if prompt.tools and form.tools:
            return await self._looked(prompt, prompt.tools, tokens, form)
        if prompt.tools and prompt.tools.tools and (found := await prompt.tools.first_look()):
            prompt = with_material(prompt, FIRST_LOOK, found)
        return [await self._requested(_messages(prompt, caches=self._caches), prompt, tokens, form)]

    async def _looked(
        self, prompt: Prompt, tools: Toolbox, tokens: int, form: RequestForm
    ) -> list[ModelResponse]:
        """
        The model looks, and then answers; what it says while it looks is not its answer. One that does not stop is
        asked anew, with all that it saw, and without tools.
        """
        sent, responses = _messages(prompt, caches=self._caches), list[ModelResponse]()
        seen: list[str] = []
        for _ in range(MOST_ROUNDS):
            responses.append(await self._requested(sent, prompt, tokens, form))
            calls = responses[-1].tool_calls
            if not calls:
                return responses
            results = [
                ToolReturnPart(call.tool_name, await _result(call, tools), call.tool_call_id)
                for call in calls
            ]
            seen += (str(one.content) for one in results)
            sent = [*sent, responses[-1], ModelRequest(parts=results)]
        told = with_material(prompt, ALL_LOOKS, "\n\n".join(seen))
        last = await self._requested(
            _messages(told, caches=self._caches), told, tokens, form._replace(tools=())
        )
        return [*responses, last]

    async def _requested(
        self,
        sent: list[ModelMessage],
        prompt: Prompt,
        tokens: int,
        form: RequestForm,
    ) -> ModelResponse:
        began, served = time.monotonic(), list[Usage]()

        def serve(response: ModelResponse) -> None:
            took = usage(response, self._name, address=self._address, seconds=time.monotonic() - began)
            served.append(took if took.tokens_in is not None else _estimated(took, sent, response))

        try:
            response = await self._sent(
                sent, self._settings(prompt, tokens), tokens, _parameters(form), serve
            )
        except (asyncio.CancelledError, ModelTimeoutError, ModelRequestTimeout):
            if not served:  # it has read the prompt, and nobody waits for the answer any more
                serve(ModelResponse(parts=[]))
            raise
        finally:
            if prompt.served is not None:
                prompt.served.extend(served)
        self.forms.taken(form)
        return response

    async def _sent(
        self,
        sent: list[ModelMessage],
        settings: ModelSettings,
        tokens: int,
        parameters: ModelRequestParameters,
        serve: Callable[[ModelResponse], None],
    ) -> ModelResponse:
        """*serve* hears of each answer, and of the part of one that ends in the middle."""
        if not self._streams or tokens < STREAMED_FROM_TOKENS:
            answer = await model_request(
                self._model, sent, model_settings=settings, model_request_parameters=parameters
            )
            serve(answer)
            return answer
        async with model_request_stream(
            self._model, sent, model_settings=settings, model_request_parameters=parameters
        ) as coming:
            try:
                async for _ in coming:
                    pass
            finally:
                answer = coming.get()
                serve(answer)
        if not answer.finish_reason:
            raise self._broke_off()
        return answer

    def _settings(self, prompt: Prompt, tokens: int) -> ModelSettings:
        """Reasoning is never forced off; without an effort of ours, the model's own default holds."""
        effort = EFFORTS.get(prompt.effort)
        settings = ModelSettings(max_tokens=tokens + (THINKING_TOKENS if self._thinks or effort else 0))
        if effort:
            settings["thinking"] = effort
        if self._caches:
            settings["cache"] = {"messages": False}
        return settings

    def _said(self, response: ModelResponse) -> str:
        text = (response.text or "").strip()
        match response.finish_reason or UNMAPPED.get((response.provider_details or {}).get("finish_reason")):
            case "content_filter":
                raise VoiceError(f"{self._name} would rather not answer.", reason="refused")
            case "error":
                raise self._broke_off()
            case "length":
                raise VoiceError(f"{self._name} was cut off in the middle of its answer.", reason="cut_off")
            case _ if len(text) > ANSWER_CHARS:
                raise VoiceError(
                    f"{self._name} said more than {ANSWER_CHARS:,} characters.", reason="cut_off"
                )
            case _ if not text:
                raise VoiceError(f"{self._name} said nothing.", reason="empty", again=True)
            case _:
                return text

    def _broke_off(self) -> VoiceError:
        return VoiceError(f"{self._name} broke off.", reason="unavailable", again=True)


class _Exchange(NamedTuple):
    """All responses, the answer last, and the form in which it was asked for."""

    responses: list[ModelResponse]
    form: RequestForm
    stopped_looking: bool = False


def _parameters(form: RequestForm) -> ModelRequestParameters:
    """Without the library's own words about a schema: the prompt has ours, and its beginning stays the same."""
    tools = [
        ToolDefinition(
            name=one.name, description=one.description, parameters_json_schema=dict(one.parameters)
        )
        for one in form.tools
    ]
    if form.schema is None:
        return ModelRequestParameters(function_tools=tools)
    output = OutputObjectDefinition(dict(form.schema.form), name=form.schema.name, strict=True)
    return ModelRequestParameters(
        function_tools=tools, output_mode="native", output_object=output, prompted_output_template=False
    )


def _messages(prompt: Prompt, *, caches: bool) -> list[ModelMessage]:
    """
    The first stable part is the system prompt; all others may hold what people wrote, and are the user's.

    A provider that takes no cache marks gets one text: many servers take nothing else.
    """
    system, others = prompt.stable[:1], prompt.stable[1:]
    content: str | Sequence[UserContent] = "\n\n".join((*others, prompt.moving))
    if caches and others:
        kept = [part for text in others for part in (f"{text}\n\n", CachePoint())]
        content = [*kept, prompt.moving]
    return [ModelRequest(parts=[*map(SystemPromptPart, system), UserPromptPart(content)])]


async def _result(call: ToolCallPart, tools: Toolbox) -> str:
    try:
        given = call.args_as_dict()
    except (ValueError, AssertionError):  # what the model sent is no JSON object
        given = {}
    is_known = any(tool.name == call.tool_name for tool in tools.tools)
    with tool_span(call.tool_name if is_known else UNKNOWN_TOOL):
        return await tools.look(call.tool_name, given)


def _forgotten(asking: "asyncio.Task[_Exchange | VoiceError]") -> None:
    if not asking.cancelled():
        asking.exception()


def translated(error: Exception, name: ModelName) -> VoiceError:
    failure = next(one for one in FAILURES if isinstance(error, one.kind))
    sentence = failure.sentence.format(name=name)
    if isinstance(error, ModelHTTPError):
        sentence = f"{sentence.removesuffix('.')} (HTTP {error.status_code})."
    wait = (error.retry_after or 0.0) if isinstance(error, ModelAPIError) else 0.0
    return VoiceError(
        sentence,
        reason=failure.reason,
        again=failure.again,
        after_seconds=min(wait, LONGEST_WAIT_SECONDS) if failure.again else 0.0,
    )


def usage(response: ModelResponse, name: ModelName, *, address: str, seconds: float) -> Usage:
    """
    What a call took. *address* is empty for the provider's own. At any other address a model has the price that is
    known for that address, or none.
    """
    told = response.usage
    said = not told.unmeasured_requests and bool(told.input_tokens or told.output_tokens)
    cached = told.cache_read_tokens
    return Usage(
        provider=name.provider,
        model=_model(response, name),
        seconds=seconds,
        tokens_in=told.input_tokens if said else None,
        tokens_out=told.output_tokens if said else None,
        tokens_cached=cached if said and (cached or not address) else None,
        dollars=_dollars(response, name, address) if said else None,
        finish_reason=response.finish_reason or "",
    )


def _estimated(told: Usage, sent: Iterable[ModelMessage], response: ModelResponse) -> Usage:
    """By characters, where a provider does not say what it took."""
    return told._replace(
        tokens_in=-(-sum(map(_chars, sent)) // CHARS_OF_A_TOKEN),
        tokens_out=-(-_chars(response) // CHARS_OF_A_TOKEN),
        about=True,
    )


def _chars(message: ModelMessage) -> int:
    found = (getattr(part, "content", None) or getattr(part, "args", None) for part in message.parts)
    texts = (text for one in found for text in (one if isinstance(one, list | tuple) else [one or ""]))
    return sum(len(str(one)) for one in texts if not isinstance(one, CachePoint))


def _model(response: ModelResponse, name: ModelName) -> str:
    """The provider's name for it, which has the version. It goes into the transcript, so it must look like a name."""
    told = response.model_name
    return told if isinstance(told, str) and _PLAIN.fullmatch(told) else name.name


def _dollars(response: ModelResponse, name: ModelName, address: str) -> Decimal | None:
    """By the provider's name for the model, else by ours: a new version may not have a price yet."""
    used = response.usage
    for model in dict.fromkeys((_model(response, name), name.name)):
        with suppress(LookupError, ValueError):
            if address:
                return calc_price(used, model, provider_api_url=address).total_price
            return calc_price(used, model, provider_id=response.provider_name).total_price
    return None
