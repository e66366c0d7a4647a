"""Traces: one span for each input, effect and call of a model, and not a word of what anybody said."""

import importlib.util
import json
import sys
from contextlib import AbstractAsyncContextManager, AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, cast

import aiohttp
import pytest
from aiohttp import web
from opentelemetry import trace
from opentelemetry.trace import SpanKind, StatusCode
from slack_bolt.async_app import AsyncApp, AsyncBoltRequest
from slack_bolt.response import BoltResponse

from bot import telemetry
from bot.domain.reviews.notice import Notice
from bot.errors import NotNow, Postponed, UserError, VoiceError
from bot.integrations import github
from bot.integrations.github import GitHub
from bot.server.http import received, serving
from bot.slack.handing_over import Answer, answering
from bot.storage.redis import RedisStore
from tests.e2e.meeting import CHANNEL, Meeting, sandbox
from tests.integrations.strict_github import TOKEN, strict_github
from tests.recorded_spans import RecordedSpan, Recorder
from tests.storage.samples import NOW, SLUG, a_roundtable

WITH_SDK = importlib.util.find_spec("opentelemetry.sdk") is not None


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


async def test_a_save_in_redis_is_a_span(recorder: Recorder, redis_url: str) -> None:
    """Of a roundtable and of a notice, with nothing that is saved."""
    async with RedisStore(redis_url, team="T1") as store:
        await store.put(a_roundtable(), expected=0)
        await store.notices.put(Notice(slug=SLUG, version=1, now=NOW), expected=0)

    saves = [(one.name, one.kind, one.about) for one in recorder.spans]
    assert saves == [("EVAL", SpanKind.CLIENT, {"db.system.name": "redis", "db.operation.name": "EVAL"})] * 2


class Asking:
    """A route, of a process that is asked by HTTP, hands it over to another one, and that asks GitHub."""

    most_bytes = 100

    def __init__(self, tracker: GitHub) -> None:
        self._tracker = tracker

    def refusal(self, request: web.Request) -> None:
        assert request.can_read_body

    async def take(self, request: web.Request, _body: bytes) -> web.Response:
        await self.other(json.dumps([{}, dict(request.headers)]))
        return web.Response()

    def answering(self, answer: Answer) -> AbstractAsyncContextManager[None]:
        self.other = answer
        return nullcontext()

    def deciding(self) -> AbstractContextManager[None]:
        return nullcontext()

    async def dispatched(self, _app: AsyncApp, _asked: AsyncBoltRequest) -> BoltResponse:
        with telemetry.span("input"):
            await self._tracker.read_issue("acme/api#42", public_only=False)
        return BoltResponse(status=200)


@pytest.mark.parametrize("is_collected", [True, False])
async def test_a_trace_goes_on_from_program_to_program(
    is_collected: bool,  # noqa: FBT001 -- a parameter of the test
    port: int,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By the header of the W3C. Without a collector there is none, and what reads it is not even loaded."""
    monkeypatch.delitem(sys.modules, telemetry.W3C, raising=False)
    recorder: Recorder | None = request.getfixturevalue("recorder") if is_collected else None
    before = RecordedSpan("of the other program", SpanKind.CLIENT, {})
    async with strict_github() as stand_in, github.opened(TOKEN, url=stand_in.url) as tracker:
        stand_in.add("acme/api#42", "Rate limits", "")
        app, route = cast("AsyncApp", None), cast("Any", Asking(tracker))
        monkeypatch.setattr(AsyncApp, "async_dispatch", route.dispatched)
        async with (
            serving("127.0.0.1", port, post={"/": received(route)}),
            answering(app, route),
            aiohttp.ClientSession(f"http://127.0.0.1:{port}", headers=before.header) as session,
        ):
            assert (await session.post("/", data=b"{}")).status == 200

    sent = {one.get("traceparent") for one in stand_in.headers}
    if recorder is None:
        assert (sent, telemetry.W3C in sys.modules) == ({None}, False)
        return
    [span] = recorder.spans
    assert span.get_span_context().trace_id == before.get_span_context().trace_id
    assert sent == {span.header["traceparent"]}


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
