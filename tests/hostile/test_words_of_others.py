"""What people type, and what others leave in Slack and in Redis: a value, or one of our errors."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from bot.domain.messages.message import Message
from bot.domain.roundtable.state import Roundtable
from bot.engine.verbs.reviewing import reviewed
from bot.engine.verbs.table import VERBS
from bot.errors import NewerVersion
from bot.slack.posting import carried_by, is_slacks, item_of, last_line_of, metadata, part_key, step_of
from bot.storage.serialization import UnreadableState, parsed
from tests.hostile.test_files_of_others import any_text, deep, objects, values, written

API = "http://127.0.0.1:8765/api/"
BOT = "B1"
SLUG = "offline-sync"
fuzzed = hypothesis_settings(max_examples=100)

words = st.lists(
    st.sampled_from([*VERBS, "catch", "me", "up", "on", "by", "for", "everyone", ":", ",", " ", "  ", "\n", "`", "#1"])
    | any_text,
    max_size=8,
).map("".join)  # fmt: skip
notes = objects(
    event_type=st.just("roundtable_line"),
    event_payload=objects("key", "parts", "step", "last_line", part=st.sampled_from([1, "1", "²", "٣", "9" * 5_000])),
)  # fmt: skip
posts = st.lists(
    objects("text", "files", "thread_ts", bot_id=st.just(BOT), ts=st.just("17.1"), metadata=notes), max_size=4
)


# --- people -------------------------------------------------------------------------------------------------------


@fuzzed
@given(text=words)
def test_any_text_is_a_verb_or_none(text: str) -> None:
    """A command always is one; what it is about is in what was typed."""
    assert VERBS.read_command(text)[0] in VERBS
    found = VERBS.read_mention(text)
    assert found is None or found[0] in VERBS
    reference, lens = reviewed(text)
    assert reference in text
    assert lens in text


@fuzzed
@given(url=any_text | st.lists(st.sampled_from([
    "https://", "http://", "hooks.slack.com", "127.0.0.1", ":8765", ":443", "@", "/", "\\", "evil.example", "[", "]",
    "?", "#", ".", "\t", "\n", "\uff1a", "\uff53lack", "::1", "%2f",
]), max_size=7).map("".join))  # fmt: skip
def test_only_slacks_own_hosts_are_called(url: str) -> None:
    """Whatever a payload says; and the server that is named as Slack's."""
    if is_slacks(url, api_url=API):
        host = url.lower().partition("//")[2].replace("\t", "").replace("\n", "")
        assert host.startswith(("hooks.slack.com", "127.0.0.1:8765"))
        assert "@" not in host.partition("/")[0]


# --- other apps ---------------------------------------------------------------------------------------------------


@fuzzed
@given(posts=posts)
def test_any_metadata_says_something_or_nothing(posts: list[dict[str, Any]]) -> None:
    """Another app, or an earlier version, may have put anything there."""
    for post in posts:
        for said in (step_of(post), carried_by(post, "key"), item_of(post)):
            assert isinstance(said, str)
        assert last_line_of(post).n >= 0


@pytest.mark.parametrize("odd", ["x", 1, [1], {"event_payload": "x"}, {"event_payload": [1]}], ids=str)
def test_metadata_of_another_kind_says_nothing(odd: object) -> None:
    """And stops nobody from reading the thread."""
    post = {"ts": "17.1", "bot_id": BOT, "metadata": odd}

    assert (step_of(post), carried_by(post, "key"), item_of(post), bool(last_line_of(post))) == (
        "",
        "",
        "",
        False,
    )


def test_what_we_write_is_what_we_read() -> None:
    """A later part of a message has the id of its line, with its number."""
    post = {"ts": "17.1", "bot_id": BOT, "metadata": metadata("k", 2, 3, Message(text="", about="01-01"))}

    assert (step_of(post), carried_by(post, "key")) == ("01-01", part_key("k", 2))


# --- Redis --------------------------------------------------------------------------------------------------------

stored = objects(*Roundtable.model_fields, slug=st.just(SLUG), shape=st.sampled_from([1, 10**6, True, "1"]))


@fuzzed
@given(content=stored.map(written) | values.map(written) | deep | st.binary(max_size=80))
def test_any_stored_value_is_a_roundtable_or_unreadable(content: bytes) -> None:
    """Whoever can write to Redis can stop a roundtable, and no more than that one."""
    with suppress(UnreadableState, NewerVersion):
        found = parsed(Roundtable, SLUG, content.decode(errors="replace"), what="roundtable")
        assert found.model_dump_json()
