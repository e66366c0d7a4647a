"""Where `position` is a verb: where nobody else reads it."""

import pytest

from bot.engine.verbs.table import VERBS


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("position A", "A"),
        ("position: a, very sure", "a, very sure"),
        ("Position：A", "A"),
        ("position offline-sync: A", "offline-sync: A"),
        ("position a queue", "a queue"),
        ("position", ""),
    ],
)
def test_behind_the_slash_it_always_is(text: str, words: str) -> None:
    assert VERBS.read_command(text) == ("position", words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("position A", "A"),
        ("position option B, not sure", "option B, not sure"),
        ("position: a queue", "a queue"),
        ("position offline-sync: A", "offline-sync: A"),
    ],
)
def test_in_a_direct_message_it_needs_a_colon_or_a_letter(text: str, words: str) -> None:
    assert VERBS.read_direct(text) == ("position", words)


@pytest.mark.parametrize("text", ["position", "Position a bit off", "positions: A", "my position: A"])
def test_other_sentences_of_a_direct_message_are_none(text: str) -> None:
    assert VERBS.read_direct(text) is None


@pytest.mark.parametrize("text", ["position A", "position: A"])
def test_said_to_us_in_a_channel_it_is_no_verb(text: str) -> None:
    """Everybody can read it there: in a thread it is words, and elsewhere its author is told where to write it."""
    assert VERBS.read_mention(text) is None
