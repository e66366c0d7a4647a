"""Anything that may come in as an event, a command or a click: acknowledged, or answered, and never a mystery."""

import json
import logging
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from slack_bolt.async_app import AsyncApp, AsyncBoltRequest

from bot.errors import Unavailable
from bot.slack import app as slack_app
from bot.slack.reception import WENT_WRONG
from bot.slack.transport import bolt_request
from slack_sandbox import Sandbox
from tests.slack.conftest import ScriptedDesk, payload
from tests.slack.test_listeners import ALL, dispatched

OWN_IDS = ("roundtable.continue", "roundtable.resume", "roundtable_start", "someone.else")

scalars = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=()))
)
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
fuzzed = settings(
    max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def places(body: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """The ways to everything in *body*."""
    inner = body.items() if isinstance(body, dict) else enumerate(body) if isinstance(body, list) else ()
    return [step for key, value in inner for step in ((*path, key), *places(value, (*path, key)))]


@st.composite
def damaged(draw: st.DrawFn) -> dict[str, Any]:
    """A real payload in which some things are missing, or are something else."""
    body = payload(draw(st.sampled_from(ALL)))
    for _ in range(draw(st.integers(1, 3))):
        if not (found := places(body)):
            break
        *outer, last = draw(st.sampled_from(found))
        part: Any = body
        for step in outer:
            part = part[step]
        if draw(st.booleans()):
            del part[last]
        else:
            part[last] = draw(anything | st.sampled_from(OWN_IDS))
    return body


@st.composite
def invented(draw: st.DrawFn) -> dict[str, Any]:
    """Something that only looks like a payload from afar."""
    known = st.sampled_from(
        ["type", "event", "command", "actions", "user", "channel", "message", "callback_id", "authorizations"]
    )
    kinds = st.sampled_from(
        ["event_callback", "block_actions", "message_action", "shortcut", "view_submission"]
    )
    body: dict[str, Any] = draw(st.dictionaries(known | st.text(max_size=8), anything, max_size=6))
    return body | draw(st.just({}) | st.builds(lambda kind: {"type": kind}, kinds))


@fuzzed
@given(body=damaged() | invented())
async def test_whatever_comes_in_is_acknowledged(
    app: AsyncApp, caplog: pytest.LogCaptureFixture, body: dict[str, Any]
) -> None:
    """Slack would send it again and again otherwise, and it would not get any better."""
    caplog.clear()
    if not json_survives(body):
        return

    request = in_socket(body)
    response = await app.async_dispatch(request)

    assert response.status == 200
    assert WENT_WRONG not in (response.body or "")
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


@fuzzed
@given(body=damaged())
async def test_what_was_not_saved_is_not_acknowledged_however_odd(
    app: AsyncApp, desk: ScriptedDesk, body: dict[str, Any]
) -> None:
    """Being forgiving must not lose anything: what reached the desk and failed there comes again."""
    desk.brought, desk.fails = [], [Unavailable("no store")]
    if not json_survives(body) or "command" in body:
        return

    response = await app.async_dispatch(in_socket(body))

    reached = [verb for verb, *_ in desk.brought]
    if "event" in body and reached:
        assert response.status == 503
    else:
        assert response.status == 200


def json_survives(body: dict[str, Any]) -> bool:
    """Slack's payloads come as JSON: what that cannot carry cannot come."""
    return bool(json.loads(json.dumps(body)))


def in_socket(body: dict[str, Any]) -> AsyncBoltRequest:
    """As it comes over a websocket: without a signature."""
    return bolt_request(body, headers={}, mode="socket_mode")


@pytest.mark.parametrize("name", ["message_in_thread", "block_actions", "slash_command", "message_action"])
async def test_what_is_ignored_leaves_one_line(
    app: AsyncApp, sandbox: Sandbox, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    """Over HTTP too, once the signature is right."""
    body = payload(name)
    odd = {"event": 7, "user": {}, "user_id": ""}

    response = await dispatched(app, sandbox, {key: odd.get(key, value) for key, value in body.items()})

    assert response.status == 200
    [line] = [record for record in caplog.records if record.name.startswith("bot.slack")]
    assert "it is malformed" in line.getMessage()


async def test_a_mistake_of_ours_is_not_taken_for_a_malformed_payload(
    app: AsyncApp, desk: ScriptedDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even where it is made while an error is reported: Slack sends the event again."""

    def fails(_: Exception) -> None:
        raise TypeError

    monkeypatch.setattr(slack_app, "_judged", fails)
    desk.brought, desk.fails = [], [Unavailable("no store")]
    with pytest.raises(TypeError):
        await app.async_dispatch(in_socket(payload("message_in_thread")))
