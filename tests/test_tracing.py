"""Traces: one span for each input, effect and call of a model, and not a word of what anybody said."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.trace import SpanKind, StatusCode

from bot import telemetry
from bot.errors import NotNow, Postponed, UserError, VoiceError
from tests.e2e.meeting import CHANNEL, Meeting, sandbox
from tests.recorded_spans import Recorder

WITH_SDK = importlib.util.find_spec("opentelemetry.sdk") is not None


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

    inputs, effects = recorder.named("input"), recorder.named("effect")
    assert [one.about["roundtable.kind"] for one in inputs] == ["start", "say", "press"]
    assert {"open_thread", "post", "commit"} <= {one.about["roundtable.kind"] for one in effects}
    assert {one.about["roundtable.item"] for one in (*inputs, *effects)} == {"offline-sync"}
    calls = {one.name for one in recorder.spans if one.kind is SpanKind.CLIENT}
    assert {"slack chat.postMessage", "slack chat.update", "slack reactions.add"} <= calls
    names = {key for one in recorder.spans for key in one.about}
    assert names == {f"roundtable.{key}" for key in ("item", "kind", "step", "effect")}
    assert {one.status for one in recorder.spans} == {StatusCode.UNSET}
    assert "Field workers" not in recorder.words


async def test_an_effect_that_failed_is_an_error(recorder: Recorder, tmp_path: Path) -> None:
    """It raises nothing: its failure is an outcome, which people are told of. The span has the reason, in one word."""
    async with sandbox() as slack:
        meeting = Meeting(slack, tmp_path / "workspace")
        async with meeting.bot():
            slack.fail_next("chat.postMessage", "is_archived")
            await slack.person("ada").slash(CHANNEL, "/roundtable start Offline sync")
            await slack.settled()

    (failed,) = [one for one in recorder.named("effect") if one.status is StatusCode.ERROR]
    assert failed.about["roundtable.kind"] == "open_thread"
    assert failed.about["error.type"] == "is_archived"
    (refused,) = [one for one in recorder.named("slack chat.postMessage") if one.status is StatusCode.ERROR]
    assert refused.about == {"error.type": "is_archived"}


@pytest.mark.parametrize(
    ("error", "error_type"),
    [
        (KeyError("secret words"), "builtins.KeyError"),
        (VoiceError("secret words", reason="timeout"), "timeout"),
        (NotNow("It is being saved."), None),
        (Postponed("later", after_seconds=1), None),
    ],
)
def test_a_span_that_raises_is_an_error_unless_a_person_was_refused(
    error: Exception, error_type: str | None, recorder: Recorder
) -> None:
    """With the type of the exception, as the conventions name it, and without its text."""
    with (
        pytest.raises(type(error)),
        telemetry.span("input", refusals=(UserError, Postponed), item="offline-sync"),
    ):
        raise error

    (one,) = recorder.spans
    assert (one.status is StatusCode.ERROR) == (error_type is not None)
    assert one.about.get("error.type") == error_type
    assert [name for name, _ in one.events] == ["exception"] * (error_type is not None)
    assert all(set(about) == {"exception.type"} for _, about in one.events)
    assert "secret" not in recorder.words


def test_the_service_has_a_name_and_a_version() -> None:
    """The conventions ask for both, and for an id that tells processes apart."""
    one, other = telemetry.own_resource("1.2.3"), telemetry.own_resource("1.2.3")

    assert (one["service.name"], one["service.version"]) == ("roundtable", "1.2.3")
    assert one["service.instance.id"] != other["service.instance.id"]


@pytest.mark.skipif(not WITH_SDK, reason="the extra otel is not installed")
def test_what_the_operator_says_about_the_service_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """OTEL_SERVICE_NAME is the SDK's own setting."""
    monkeypatch.setenv("OTEL_SERVICE_NAME", "meetings")
    providers: list[Any] = []
    monkeypatch.setattr(trace, "set_tracer_provider", providers.append)

    with telemetry.exported("http://127.0.0.1:9", version="1.2.3"):
        attributes = providers[0].resource.attributes

    assert (attributes["service.name"], attributes["service.version"]) == ("meetings", "1.2.3")


def test_nothing_is_traced_unless_somebody_collects_it() -> None:
    """The usual case costs nothing."""
    with telemetry.exported(None, version="1.2.3"), telemetry.span("effect", item="offline-sync") as span:
        assert not span.is_recording()


@pytest.mark.skipif(WITH_SDK, reason="the SDK is installed here")
def test_an_endpoint_without_the_extra_is_said_and_stops_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """Traces are a luxury."""
    with telemetry.exported("http://127.0.0.1:4318", version="1.2.3"), telemetry.span("effect") as span:
        assert not span.is_recording()

    assert "nothing is traced: this installation lacks the extra `otel`" in caplog.text
