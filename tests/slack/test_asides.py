"""What people say to each other, beside the roundtable."""

from typing import Any

import pytest

from bot.slack import parse
from bot.slack.client import Identity
from tests.slack.conftest import NOW, payload

US = Identity(team="T0TEAM", user="U0BOT", bot="B0BOT")


def heard(**changes: Any) -> Any:
    return parse.message(payload("message_in_thread", **changes)["event"], US, at=NOW)


@pytest.mark.parametrize(
    "text", ["aside: lunch?", "Aside : tea?", "(aside: lunch?)", "*aside:* lunch?", "ASIDE：lunch"]
)
def test_an_aside_is_not_heard(text: str) -> None:
    """It is in nobody's transcript, and nobody answers it, whatever is in it."""
    assert heard(event__text=text) is None


@pytest.mark.parametrize("text", ["As an aside: lunch?", "asides: none", "set aside: two days"])
def test_a_sentence_that_has_the_word_is_no_aside(text: str) -> None:
    """Only how a message begins counts."""
    assert isinstance(heard(event__text=text), parse.PersonMessage)


def test_an_aside_to_us_is_not_answered() -> None:
    """Not even with help."""
    event = payload("mention_in_thread")["event"]

    assert parse.mention({**event, "text": "<@U0BOT> aside: he is slow today"}, US, at=NOW) is None


def edited(before: str, after: str) -> Any:
    event = payload("message_changed")["event"]
    event["previous_message"]["text"], event["message"]["text"] = before, after
    return parse.message(event, US, at=NOW)


def test_a_message_that_becomes_an_aside_is_taken_back() -> None:
    """And one that no longer is one is said now; an aside that changes is nobody's business."""
    assert isinstance(edited("in tunnels", "aside: in tunnels"), parse.Retracted)
    assert isinstance(edited("aside: in tunnels", "in tunnels"), parse.PersonMessage)
    assert edited("aside: in tunnels", "aside: in lifts") is None


def test_a_deleted_aside_was_never_there() -> None:
    """Nothing is recorded about it now either."""
    event = payload("message_deleted")["event"]
    event["previous_message"]["text"] = "aside: never mind"

    assert parse.message(event, US, at=NOW) is None


def test_asides_are_not_read_from_a_thread() -> None:
    """When it is adopted, or read again after the store was lost."""
    event = payload("message_in_thread")["event"]

    assert parse.heard({**event, "text": "aside: lunch?"}, US) is None
