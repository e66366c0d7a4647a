"""Traces: one span for each input and effect, and not a word of what anybody said."""

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace

from bot import telemetry
from tests.e2e.meeting import Meeting, sandbox

WITH_SDK = importlib.util.find_spec("opentelemetry.sdk") is not None


class Recorder:
    """A tracer: what it notes is what an exporter would be given."""

    def __init__(self) -> None:
        self.spans: list[tuple[str, dict[str, Any]]] = []

    @contextmanager
    def start_as_current_span(self, name: str, **options: Any) -> Iterator[trace.Span]:
        self.spans.append((name, dict(options["attributes"])))
        yield trace.INVALID_SPAN


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> Recorder:
    recorder = Recorder()
    monkeypatch.setattr(trace, "get_tracer", lambda _name: recorder)
    return recorder


async def test_inputs_and_effects_are_spans_with_ids_and_kinds(recorder: Recorder, tmp_path: Path) -> None:
    """Enough to see what took how long, and for which item."""
    async with sandbox() as slack:
        meeting = Meeting(slack, tmp_path / "workspace")
        async with meeting.bot():
            await meeting.start("Offline sync")
            await meeting.do_step("Field workers lose their edits")

    inputs = [about for name, about in recorder.spans if name == "input"]
    effects = [about for name, about in recorder.spans if name == "effect"]
    assert [about["roundtable.kind"] for about in inputs] == ["start", "say", "press"]
    assert {"open_thread", "post", "commit"} <= {about["roundtable.kind"] for about in effects}
    assert {about["roundtable.item"] for about in (*inputs, *effects)} == {"offline-sync"}
    names = {key for _, about in recorder.spans for key in about}
    assert names == {f"roundtable.{key}" for key in ("item", "kind", "step", "effect")}
    assert "Field workers" not in str(recorder.spans)


def test_nothing_is_traced_unless_somebody_collects_it() -> None:
    """The usual case costs nothing."""
    with telemetry.exported(None), telemetry.span("effect", item="offline-sync") as span:
        assert not span.is_recording()


@pytest.mark.skipif(WITH_SDK, reason="the SDK is installed here")
def test_an_endpoint_without_the_extra_is_said_and_stops_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """Traces are a luxury."""
    with telemetry.exported("http://127.0.0.1:4318"), telemetry.span("effect") as span:
        assert not span.is_recording()

    assert "pip install '.[otel]'" in caplog.text
