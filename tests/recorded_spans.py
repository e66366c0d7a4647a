"""A tracer that keeps its spans: what it notes is what an exporter would be given."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from typing import Any

from opentelemetry import trace
from opentelemetry.trace import SpanContext, SpanKind, StatusCode, TraceFlags

_ids = count(1)


class RecordedSpan(trace.NonRecordingSpan):
    def __init__(self, name: str, kind: SpanKind, attributes: Mapping[str, Any]) -> None:
        trace_id = trace.get_current_span().get_span_context().trace_id or next(_ids)
        super().__init__(SpanContext(trace_id, next(_ids), False, TraceFlags(TraceFlags.SAMPLED)))
        self.name, self.kind, self.about = name, kind, dict(attributes)
        self.status = StatusCode.UNSET
        self.events: list[tuple[str, dict[str, Any]]] = []

    @property
    def header(self) -> dict[str, str]:
        """As the W3C has it."""
        its = self.get_span_context()
        return {"traceparent": f"00-{its.trace_id:032x}-{its.span_id:016x}-01"}

    def set_attribute(self, key: str, value: Any) -> None:
        self.about[key] = value

    def set_status(self, status: Any, description: str | None = None) -> None:
        assert description is None, "a description may quote people"
        self.status = status

    def add_event(self, name: str, attributes: Any = None, timestamp: int | None = None) -> None:  # noqa: ARG002
        self.events.append((name, dict(attributes)))


class Recorder:
    def __init__(self) -> None:
        self.spans: list[RecordedSpan] = []

    @contextmanager
    def start_as_current_span(
        self,
        name: str,
        *,
        kind: SpanKind,
        attributes: Mapping[str, Any],
        record_exception: bool,
        set_status_on_exception: bool,
    ) -> Iterator[trace.Span]:
        assert not record_exception, "the SDK would record the text"
        assert not set_status_on_exception
        self.spans.append(RecordedSpan(name, kind, attributes))
        with trace.use_span(self.spans[-1], record_exception=False, set_status_on_exception=False) as current:
            yield current

    def named(self, name: str) -> list[RecordedSpan]:
        return [one for one in self.spans if one.name == name]

    @property
    def words(self) -> str:
        return str([(one.name, one.about, one.events) for one in self.spans])
