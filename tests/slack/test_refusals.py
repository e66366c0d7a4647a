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


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"error": "missing_scope", "needed": "reactions:write"}, "`reactions:write`"),
        ({"error": "restricted_action_full_moon"}, "don't let me post"),
        ({"error": "phase_of_moon"}, "phase_of_moon"),
    ],
)
def test_other_refusals_say_what_is_known(answer: dict[str, str], words: str) -> None:
    """Which scope is missing; and Slack's new word is better than none."""
    error = translated(refused(answer))

    assert words in str(error)
    assert (error.reason, error.again) == (answer["error"], False)


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
        SlackApiError("unreadable: aiohttp's response", SimpleNamespace(status=500, headers={})),
        TimeoutError(),
        aiohttp.ServerDisconnectedError(),
        aiohttp.ClientPayloadError(),
        ConnectionResetError(),
    ],
)
def test_what_may_have_happened_is_tried_again(trouble: Exception) -> None:
    """Perhaps it was done and only the answer was lost: `again` has the engine look first."""
    assert translated(trouble).again


@pytest.mark.parametrize(("header", "seconds"), [("30", 30.0), ("", 0.0), ("soon", 0.0), ("-1", 0.0)])
def test_slack_says_how_long_to_wait(header: str, seconds: float) -> None:
    """Nonsense means no particular time."""
    error = translated(refused({"error": "ratelimited"}, status=429, **{"Retry-After": header}))

    assert (error.again, error.after_seconds) == (True, seconds)
