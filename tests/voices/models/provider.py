"""
A provider of models on this machine. It speaks as OpenAI (both ways), Anthropic, Google and Bedrock do, says what it
was told to say, and keeps what it was asked. Like them it answers 400 to a schema that is not in their form.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple, Self

from aiohttp import web

from bot.settings import Settings
from tests.voices.models.published import breaches

Json = dict[str, Any]
Reply = Callable[[web.Request, Json], Awaitable[web.StreamResponse]]
MODEL = "model-2026-11-01"


class Called(NamedTuple):
    """A tool that the model wants to use."""

    name: str
    given: Json
    id: str = "call_1"


class Answer(NamedTuple):
    """
    *finish* in OpenAI's words; each way of speaking has its own. Without *tokens* nothing is said of them. With *calls*
    it ends there, to see what the tools return.
    """

    text: str = "I would ask who waits for whom."
    finish: str = "stop"
    tokens: tuple[int, int, int] | None = (1200, 40, 1000)
    model: str = MODEL
    refusal: str = ""
    calls: tuple[Called, ...] = ()


class Asked(NamedTuple):
    path: str
    body: Json
    headers: dict[str, str]


class ModelServer:
    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.replies: list[Reply] = []
        self.hung_up = asyncio.Event()
        self.arrived = asyncio.Event()
        self.at_once = self.most_at_once = 0

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_post("/{path:.*}", self._asked)
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    def will(self, *replies: Reply) -> None:
        """One for each call; the last one for all that follow."""
        self.replies = list(replies)

    async def _asked(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.asked.append(Asked(request.path, body, dict(request.headers)))
        self.arrived.set()
        if found := breaches(request.path, body):
            return web.json_response({"error": {"message": "; ".join(found)}}, status=400)
        reply = (
            (self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]) if self.replies else says()
        )
        self.at_once += 1
        self.most_at_once = max(self.at_once, self.most_at_once)
        try:
            return await reply(request, body)
        except asyncio.CancelledError:
            self.hung_up.set()
            raise
        finally:
            self.at_once -= 1


def says(answer: Answer = Answer()) -> Reply:  # noqa: B008 -- a value
    async def reply(request: web.Request, body: Json) -> web.StreamResponse:
        path = request.path
        if path.endswith("/chat/completions"):
            return await (_chat_streamed(request, answer) if body.get("stream") else _json(_chat(answer)))
        if path.endswith("/responses"):
            return await (
                _response_streamed(request, answer) if body.get("stream") else _json(_response(answer))
            )
        if path.endswith("/messages"):
            return await (
                _message_streamed(request, answer) if body.get("stream") else _json(_message(answer))
            )
        if path.endswith(":generateContent"):
            return await _json(_content(answer))
        if path.endswith(":streamGenerateContent"):
            return await _events(request, [("", _content(answer))])
        assert path.endswith("/converse"), path
        return await _json(_converse(answer))

    return reply


def fails(status: int, body: object = None, **headers: str) -> Reply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}

    async def reply(_request: web.Request, _body: Json) -> web.StreamResponse:
        return web.json_response(body or {"error": {"message": "no"}}, status=status, headers=named)

    return reply


def sends(text: str | bytes, *, kind: str = "application/json") -> Reply:
    """With status 200, whatever it is."""

    async def reply(_request: web.Request, _body: Json) -> web.StreamResponse:
        content = text.encode() if isinstance(text, str) else text
        return web.Response(body=content, headers={"content-type": kind})

    return reply


def hangs() -> Reply:
    async def reply(_request: web.Request, _body: Json) -> web.StreamResponse:
        await asyncio.Event().wait()
        raise AssertionError

    return reply


def when(event: asyncio.Event, then: Reply) -> Reply:
    async def reply(request: web.Request, body: Json) -> web.StreamResponse:
        await event.wait()
        return await then(request, body)

    return reply


def hangs_up(after: str = "") -> Reply:
    """In the middle of an answer when *after* is something."""

    async def reply(request: web.Request, _body: Json) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        if after:
            await response.prepare(request)
            await response.write(after.encode())
        assert request.transport
        request.transport.abort()
        return response

    return reply


def goes_on_for_ever(bit: bytes = b"x" * 65536) -> Reply:
    async def reply(request: web.Request, _body: Json) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "application/json"})
        await response.prepare(request)
        await response.write(b'{"choices": [{"message": {"content": "')
        while True:
            await response.write(bit)

    return reply


@asynccontextmanager
async def model_server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


async def _json(body: Json) -> web.StreamResponse:
    return web.json_response(body)


async def _events(request: web.Request, events: Sequence[tuple[str, Json | str]]) -> web.StreamResponse:
    response = web.StreamResponse(headers={"content-type": "text/event-stream"})
    await response.prepare(request)
    for name, event in events:
        told = event if isinstance(event, str) else json.dumps(event)
        named = f"event: {name}\n" if name else ""
        await response.write(f"{named}data: {told}\n\n".encode())
    await response.write_eof()
    return response


def _chat_usage(answer: Answer) -> Json:
    if answer.tokens is None:
        return {}
    taken, given, cached = answer.tokens
    return {
        "usage": {
            "prompt_tokens": taken,
            "completion_tokens": given,
            "total_tokens": taken + given,
            "prompt_tokens_details": {"cached_tokens": cached},
        }
    }


def _chat(answer: Answer) -> Json:
    said: Json = {"role": "assistant", "content": answer.text}
    if answer.refusal:
        said |= {"content": None, "refusal": answer.refusal}
    if answer.calls:
        said |= {"content": None, "tool_calls": [_chat_call(one) for one in answer.calls]}
    choice = {"index": 0, "message": said, "finish_reason": "tool_calls" if answer.calls else answer.finish}
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": answer.model,
        "choices": [choice],
    } | _chat_usage(answer)


def _chat_call(one: Called) -> Json:
    return {
        "id": one.id,
        "type": "function",
        "function": {"name": one.name, "arguments": json.dumps(one.given)},
    }


def _chat_call_deltas(answer: Answer) -> list[Json]:
    """The name first, and then the arguments in pieces."""
    deltas: list[Json] = []
    for number, one in enumerate(answer.calls):
        whole = _chat_call(one)
        begun = whole | {"index": number, "function": {"name": one.name, "arguments": ""}}
        pieces = ({"arguments": piece} for piece in _halves(one.given))
        deltas += [
            {"tool_calls": [begun]},
            *({"tool_calls": [{"index": number, "function": piece}]} for piece in pieces),
        ]
    return deltas


def _halves(given: Json) -> tuple[str, str]:
    told = json.dumps(given)
    return told[: len(told) // 2], told[len(told) // 2 :]


async def _chat_streamed(request: web.Request, answer: Answer) -> web.StreamResponse:
    def chunk(delta: Json, finish: str | None = None) -> Json:
        return {
            "id": "c1",
            "object": "chat.completion.chunk",
            "created": 1_790_000_000,
            "model": answer.model,
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        }

    said = {"refusal": answer.refusal} if answer.refusal else {}
    words = [] if answer.refusal or answer.calls else answer.text.split(" ")
    deltas: list[Json] = [{"content": f"{' ' if number else ''}{word}"} for number, word in enumerate(words)]
    deltas += _chat_call_deltas(answer)
    finish = "tool_calls" if answer.calls else answer.finish
    chunks = [chunk({"role": "assistant"} | said), *map(chunk, deltas), chunk({}, finish)]
    if answer.tokens:
        chunks.append(chunk({}) | {"choices": []} | _chat_usage(answer))
    return await _events(request, [*(("", one) for one in chunks), ("", "[DONE]")])


def _response(answer: Answer) -> Json:
    taken, given, cached = answer.tokens or (0, 0, 0)
    cut_off = {"length": "max_output_tokens", "content_filter": "content_filter"}.get(answer.finish)
    part: Json = {"type": "output_text", "text": answer.text, "annotations": []}
    if answer.refusal:
        part = {"type": "refusal", "refusal": answer.refusal}
    return {
        "id": "r1",
        "object": "response",
        "created_at": 1_790_000_000,
        "model": answer.model,
        "status": "incomplete" if cut_off else "completed",
        "incomplete_details": {"reason": cut_off} if cut_off else None,
        "error": None,
        "instructions": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "output": [_response_call(one) for one in answer.calls]
        or [{"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": [part]}],
        "usage": {
            "input_tokens": taken,
            "output_tokens": given,
            "total_tokens": taken + given,
            "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        }
        if answer.tokens
        else None,
    }


def _response_call(one: Called) -> Json:
    return {
        "type": "function_call",
        "id": f"fc_{one.id}",
        "call_id": one.id,
        "name": one.name,
        "arguments": json.dumps(one.given),
        "status": "completed",
    }


def _response_call_events(place: int, one: Called) -> list[Json]:
    item = _response_call(one)
    at = {"item_id": item["id"], "output_index": place}
    begun = item | {"arguments": "", "status": "in_progress"}
    return [
        {"type": "response.output_item.added", "output_index": place, "item": begun},
        *(
            {"type": "response.function_call_arguments.delta", **at, "delta": piece}
            for piece in _halves(one.given)
        ),
        {
            "type": "response.function_call_arguments.done",
            **at,
            "name": one.name,
            "arguments": item["arguments"],
        },
        {"type": "response.output_item.done", "output_index": place, "item": item},
    ]


def _response_text_events(answer: Answer, whole: Json) -> list[Json]:
    [item] = whole["output"]
    [part] = item["content"]
    at = {"item_id": item["id"], "output_index": 0, "content_index": 0}
    said, field = ("refusal", "refusal") if answer.refusal else ("output_text", "text")
    return [
        {"type": "response.output_item.added", "output_index": 0, "item": item | {"content": []}},
        {"type": "response.content_part.added", **at, "part": part | {field: ""}},
        {"type": f"response.{said}.delta", **at, "delta": part[field], "logprobs": []},
        {"type": f"response.{said}.done", **at, field: part[field], "logprobs": []},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
    ]


async def _response_streamed(request: web.Request, answer: Answer) -> web.StreamResponse:
    whole = _response(answer)
    begun = whole | {"status": "in_progress", "output": [], "usage": None}
    called = [event for place, one in enumerate(answer.calls) for event in _response_call_events(place, one)]
    events: list[Json] = [
        {"type": "response.created", "response": begun},
        *(called or _response_text_events(answer, whole)),
        {"type": f"response.{whole['status']}", "response": whole},
    ]
    numbered = [(one["type"], one | {"sequence_number": number}) for number, one in enumerate(events)]
    return await _events(request, numbered)


STOPS = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}


def _message_usage(answer: Answer) -> Json:
    taken, given, cached = answer.tokens or (0, 0, 0)
    return {
        "input_tokens": taken - cached,
        "output_tokens": given,
        "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": 0,
    }


def _message(answer: Answer) -> Json:
    return {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": [_message_call(one) for one in answer.calls]
        or ([{"type": "text", "text": answer.text}] if answer.text else []),
        "stop_reason": _stop(answer),
        "stop_sequence": None,
        "usage": _message_usage(answer),
    }


def _message_call(one: Called) -> Json:
    return {"type": "tool_use", "id": one.id, "name": one.name, "input": one.given}


def _stop(answer: Answer) -> str:
    return "tool_use" if answer.calls else STOPS[answer.finish]


def _message_call_events(place: int, one: Called) -> list[Json]:
    begun = _message_call(one) | {"input": {}}
    deltas = ({"type": "input_json_delta", "partial_json": piece} for piece in _halves(one.given))
    return [
        {"type": "content_block_start", "index": place, "content_block": begun},
        *({"type": "content_block_delta", "index": place, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": place},
    ]


async def _message_streamed(request: web.Request, answer: Answer) -> web.StreamResponse:
    begun = _message(answer) | {"content": [], "stop_reason": None}
    words = answer.text.split(" ") if answer.text and not answer.calls else []
    events: list[Json] = [{"type": "message_start", "message": begun}]
    for place, one in enumerate(answer.calls):
        events += _message_call_events(place, one)
    if words:
        events.append(
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
        )
        for number, word in enumerate(words):
            delta = {"type": "text_delta", "text": f"{' ' if number else ''}{word}"}
            events.append({"type": "content_block_delta", "index": 0, "delta": delta})
        events.append({"type": "content_block_stop", "index": 0})
    stop = {"stop_reason": _stop(answer), "stop_sequence": None}
    events += [
        {"type": "message_delta", "delta": stop, "usage": _message_usage(answer)},
        {"type": "message_stop"},
    ]
    return await _events(request, [(one["type"], one) for one in events])


def _content(answer: Answer) -> Json:
    taken, given, cached = answer.tokens or (0, 0, 0)
    finish = {"stop": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}[answer.finish]
    called = [{"functionCall": {"id": one.id, "name": one.name, "args": one.given}} for one in answer.calls]
    return {
        "candidates": [
            {
                "content": {"role": "model", "parts": called or [{"text": answer.text}]},
                "finishReason": finish,
                "index": 0,
            }
        ],
        "usageMetadata": {
            "promptTokenCount": taken,
            "candidatesTokenCount": given,
            "cachedContentTokenCount": cached,
            "totalTokenCount": taken + given,
        },
        "modelVersion": answer.model,
        "responseId": "g1",
    }


def _converse(answer: Answer) -> Json:
    taken, given, cached = answer.tokens or (0, 0, 0)
    finish = {
        "stop": "end_turn",
        "length": "max_tokens",
        "content_filter": "guardrail_intervened",
        "refusal": "refusal",
    }
    called = [
        {"toolUse": {"toolUseId": one.id, "name": one.name, "input": one.given}} for one in answer.calls
    ]
    return {
        "output": {"message": {"role": "assistant", "content": called or [{"text": answer.text}]}},
        "stopReason": "tool_use" if called else finish[answer.finish],
        "usage": {
            "inputTokens": taken - cached,
            "outputTokens": given,
            "totalTokens": taken + given,
            "cacheReadInputTokens": cached,
        },
        "metrics": {"latencyMs": 1},
    }


KEY = "sk-open-sesame-0123456789"


def settings_for(server: ModelServer, model: str = "offline", **env: str) -> Settings:
    given = {
        "ROUNDTABLE_MODEL": model,
        "ROUNDTABLE_MODEL_SECONDS": "20",
        "OPENAI_API_KEY": KEY,
        "OPENAI_BASE_URL": f"{server.url}/v1",
        "ANTHROPIC_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": server.url,
        "GOOGLE_API_KEY": KEY,
        "GOOGLE_GEMINI_BASE_URL": server.url,
        "OLLAMA_BASE_URL": f"{server.url}/v1",
        "VLLM_BASE_URL": f"{server.url}/v1",
        "AWS_DEFAULT_REGION": "eu-central-1",
    }
    return Settings.from_env(given | env)
