"""What Slack refuses, as one sentence and what to do about it."""

from types import SimpleNamespace
from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError

from bot.slack.client import SENTENCES, translated


def refused(data: Any, *, status: int = 200, **headers: str) -> SlackApiError:
    response = SimpleNamespace(data=data, status_code=status, headers=headers)
    return SlackApiError("refused", response)


@pytest.mark.parametrize("reason", SENTENCES)
def test_every_known_refusal_is_a_sentence_and_final(reason: str) -> None:
    """Calling again would be refused again, until somebody does what the sentence says."""
    error = translated(refused({"ok": False, "error": reason}))

    assert (str(error), error.reason, error.again) == (SENTENCES[reason], reason, False)
    assert str(error).endswith(".")


def test_a_missing_scope_is_named() -> None:
    """So that whoever manages the app knows what to add."""
    error = translated(
        refused({"error": "missing_scope", "needed": "reactions:write", "provided": "chat:write"})
    )

    assert "`reactions:write`" in str(error)
    assert error.reason == "missing_scope"


def test_a_refusal_nobody_has_heard_of_is_shown_as_it_is() -> None:
    """Slack invents new ones; its word for it is better than none."""
    error = translated(refused({"error": "restricted_action_full_moon"}))
    other = translated(refused({"error": "phase_of_moon"}))

    assert "don't let me post" in str(error)
    assert "phase_of_moon" in str(other)
    assert not other.again


@pytest.mark.parametrize(
    "trouble",
    [
        refused({"error": "internal_error"}),
        refused({"error": "fatal_error"}),
        refused({"error": "update_failed"}),
        refused({"error": "external_channel_migrating"}),
        refused({}, status=503),
        refused("<html>", status=502),
        refused(None, status=200),
        TimeoutError(),
        aiohttp.ServerDisconnectedError(),
        aiohttp.ClientPayloadError(),
        ConnectionResetError(),
    ],
)
def test_what_may_have_happened_is_tried_again(trouble: Exception) -> None:
    """Perhaps it was done and only the answer was lost: `again` has the engine look first."""
    assert translated(trouble).again


def test_an_answer_that_is_not_slacks_own_is_understood_too() -> None:
    """The SDK hands over aiohttp's response when it cannot read the body."""
    error = SlackApiError("unreadable", SimpleNamespace(status=500, headers={}))

    assert translated(error).again


@pytest.mark.parametrize(("header", "seconds"), [("30", 30.0), ("", 0.0), ("soon", 0.0), ("-1", 0.0)])
def test_slack_says_how_long_to_wait(header: str, seconds: float) -> None:
    """Nonsense means no particular time."""
    error = translated(refused({"error": "ratelimited"}, status=429, **{"Retry-After": header}))

    assert (error.again, error.after_seconds) == (True, seconds)
