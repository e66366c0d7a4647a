"""
Traces by the conventions of OpenTelemetry: one span for each input, effect, save in Redis, call of Slack or a model and
use of a tool, with ids and kinds, never with words.

Without a collector the API costs next to nothing. To send traces, install the extra `otel` and set
OTEL_EXPORTER_OTLP_ENDPOINT; the other OTEL_ variables (headers, service name, sampling) are the SDK's own.
"""

import importlib
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import Any
from uuid import uuid4

from opentelemetry import context, trace
from opentelemetry.trace import SpanKind, StatusCode

NO_SDK = (
    "OTEL_EXPORTER_OTLP_ENDPOINT is set, but nothing is traced: this installation lacks the extra `otel`"
    " (docs/operating.md#extras)"
)
TRACES = "/v1/traces"
W3C = "opentelemetry.trace.propagation.tracecontext"
NOT_TRACED = nullcontext(trace.INVALID_SPAN)
EXPORT_SECONDS = 1
"""In a thread of its own; but at the end it is waited for."""
SERVICE = "roundtable"

PROVIDERS: Mapping[str, str] = {
    "bedrock": "aws.bedrock",
    "google": "gcp.gemini",
    "openai-chat": "openai",
    "openai-responses": "openai",
}
"""The convention's words for providers, where they differ from those of our settings."""

Attributes = Mapping[str, Any]
log = logging.getLogger(__name__)


def span(
    name: str, *, refusals: type[Exception] | tuple[type[Exception], ...] = (), **about: str
) -> AbstractContextManager[trace.Span]:
    """A span that ends in an exception is an error, unless it is one of *refusals*: sentences for people."""
    attributes = {f"roundtable.{key}": value for key, value in about.items() if value}
    return _recorded(name, attributes, SpanKind.INTERNAL, refusals)


def model_span(provider: str, model: str) -> AbstractContextManager[trace.Span]:
    """Of one call of a model; what came back is added by `model_answered`."""
    asked = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": PROVIDERS.get(provider, provider),
        "gen_ai.request.model": model,
    }
    return _recorded(f"chat {model}", asked, SpanKind.CLIENT, ())


def model_answered(
    current: trace.Span,
    *,
    model: str,
    tokens_in: int | None,
    tokens_out: int | None,
    tokens_cached: int | None,
    finish_reasons: Sequence[str],
) -> None:
    answered: dict[str, Any] = {
        "gen_ai.response.model": model,
        "gen_ai.usage.input_tokens": tokens_in,
        "gen_ai.usage.output_tokens": tokens_out,
        "gen_ai.usage.cache_read.input_tokens": tokens_cached,
        "gen_ai.response.finish_reasons": tuple(finish_reasons) or None,
    }
    for name, value in answered.items():
        if value is not None:
            current.set_attribute(name, value)


def tool_span(tool: str) -> AbstractContextManager[trace.Span]:
    used = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool}
    return _recorded(f"execute_tool {tool}", used, SpanKind.INTERNAL, ())


def slack_span(method: str) -> AbstractContextManager[trace.Span]:
    """Of one call of Slack's Web API, without its arguments."""
    return _recorded(f"slack {method}", {}, SpanKind.CLIENT, ())


def redis_span(command: str) -> AbstractContextManager[trace.Span]:
    """Of a save, without its keys and values."""
    return _recorded(command, {"db.system.name": "redis", "db.operation.name": command}, SpanKind.CLIENT, ())


def failed(current: trace.Span, error_type: str) -> None:
    """*error_type* is one of a few words, or the name of a class. Descriptions may quote people, so there is none."""
    current.set_status(StatusCode.ERROR)
    current.set_attribute("error.type", error_type)


def _tracer() -> trace.Tracer | None:
    """None without a collector."""
    tracer = trace.get_tracer(__name__)
    return None if isinstance(tracer, trace.ProxyTracer) else tracer


def _recorded(
    name: str,
    attributes: Attributes,
    kind: SpanKind,
    refusals: type[Exception] | tuple[type[Exception], ...],
) -> AbstractContextManager[trace.Span]:
    if not (tracer := _tracer()):
        return NOT_TRACED
    started = tracer.start_as_current_span(
        name, kind=kind, attributes=attributes, record_exception=False, set_status_on_exception=False
    )
    return _failing(started, refusals)


@contextmanager
def _failing(
    started: AbstractContextManager[trace.Span], refusals: type[Exception] | tuple[type[Exception], ...]
) -> Iterator[trace.Span]:
    """Of an exception only the type is recorded, because its text may quote people."""

    def note(_kind: object, error: BaseException | None, _traceback: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, refusals):
            name = f"{type(error).__module__}.{type(error).__qualname__}"
            failed(current, getattr(error, "reason", "") or name)
            current.add_event("exception", {"exception.type": name})

    with started as current, ExitStack() as stack:
        stack.push(note)
        yield current


# --- traces that go on in other programs, by the W3C's header --------------------------------------------------------


@contextmanager
def continued(headers: Mapping[str, Any]) -> Iterator[None]:
    """Inside, spans belong to the trace that *headers* name, if they do."""
    token = context.attach(_w3c().extract(headers) if _tracer() else context.get_current())
    try:
        yield
    finally:
        context.detach(token)


def trace_headers() -> dict[str, str]:
    """For a program that goes on with this trace."""
    headers: dict[str, str] = {}
    if _tracer():
        _w3c().inject(headers)
    return headers


def _w3c() -> Any:
    return importlib.import_module(W3C).TraceContextTextMapPropagator()


@contextmanager
def exported(endpoint: str | None, *, version: str) -> Iterator[None]:
    """Spans are sent to *endpoint*; what is left of them is sent at the end."""
    if not endpoint:
        yield
        return
    try:
        sdk = importlib.import_module("opentelemetry.sdk.trace")
        resources = importlib.import_module("opentelemetry.sdk.resources")
        sending = importlib.import_module("opentelemetry.sdk.trace.export")
        otlp = importlib.import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
    except ImportError:
        log.warning(NO_SDK)
        yield
        return
    # What the operator says in OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES comes last, so it counts.
    said = resources.OTELResourceDetector().detect()
    resource = resources.Resource.create(own_resource(version)).merge(said)
    provider = sdk.TracerProvider(resource=resource)
    exporter = otlp.OTLPSpanExporter(endpoint=endpoint.rstrip("/") + TRACES, timeout=EXPORT_SECONDS)
    provider.add_span_processor(sending.BatchSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    try:
        yield
    finally:
        provider.shutdown()


def own_resource(version: str) -> Attributes:
    return {"service.name": SERVICE, "service.version": version, "service.instance.id": str(uuid4())}
