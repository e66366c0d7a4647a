"""
Traces, for those who collect them: one span for each input and each effect, with ids and kinds, never with words.

Without a collector the API costs next to nothing. To send traces, `pip install '.[otel]'` and set
OTEL_EXPORTER_OTLP_ENDPOINT; the other OTEL_ variables (headers, service name, sampling) are the SDK's own.
"""

import importlib
import logging
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from opentelemetry import trace

NO_SDK = "OTEL_EXPORTER_OTLP_ENDPOINT is set, but nothing is traced: pip install '.[otel]'"
TRACES = "/v1/traces"
NOT_TRACED = nullcontext(trace.INVALID_SPAN)
EXPORT_SECONDS = 1
"""In a thread of its own; but at the end it is waited for."""

log = logging.getLogger(__name__)


def span(name: str, **about: str) -> AbstractContextManager[Any]:
    """Of an exception only the type is recorded, because its text may quote people."""
    tracer = trace.get_tracer(__name__)
    if isinstance(tracer, trace.ProxyTracer):  # stands in for a collector, as long as there is none
        return NOT_TRACED
    return tracer.start_as_current_span(
        name,
        attributes={f"roundtable.{key}": value for key, value in about.items() if value},
        record_exception=False,
        set_status_on_exception=False,
    )


@contextmanager
def exported(endpoint: str | None) -> Iterator[None]:
    """Spans are sent to *endpoint*; what is left of them is sent at the end."""
    if not endpoint:
        yield
        return
    try:
        sdk = importlib.import_module("opentelemetry.sdk.trace")
        sending = importlib.import_module("opentelemetry.sdk.trace.export")
        otlp = importlib.import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
    except ImportError:
        log.warning(NO_SDK)
        yield
        return
    provider = sdk.TracerProvider()
    exporter = otlp.OTLPSpanExporter(endpoint=endpoint.rstrip("/") + TRACES, timeout=EXPORT_SECONDS)
    provider.add_span_processor(sending.BatchSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    try:
        yield
    finally:
        provider.shutdown()
