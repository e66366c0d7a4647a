"""Text on its way in and out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.slack.markdown import escape, readable, visible


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        ("a &lt;b&gt; &amp; c", "a <b> & c"),
        ("&amp;lt;", "&lt;"),
        ("<@U123>", "@U123"),
        ("<@U123|ada>", "@ada"),
        ("<#C1|general>", "#general"),
        ("<#C1|>", "#C1"),
        ("<!here>", "@here"),
        ("<!channel|@channel>", "@channel"),
        ("<!subteam^S1|@nurses>", "@nurses"),
        ("<!subteam^S1>", "@S1"),
        ("<!date^1767261600^{date}|1 January>", "1 January"),
        ("<https://a.example>", "https://a.example"),
        ("<https://a.example|the docs>", "the docs (https://a.example)"),
        ("<http://a.example|a.example>", "http://a.example"),
        ("<mailto:a@b.example|a@b.example>", "a@b.example"),
        ("<tel:+1|call>", "call (tel:+1)"),
    ],
)
def test_what_slack_sends_is_read_as_it_was_meant(sent: str, read: str) -> None:
    """References become words, entities become characters, and each only once."""
    assert readable(sent) == read


@pytest.mark.parametrize(
    ("written", "seen"),
    [
        ("a\x00b\x1bc", "abc"),
        ("a\r\nb\u2028c", "a\nb\nc"),
        ("left\u202eright", "leftright"),
        ("in\u200bvis\u2060ible", "invisible"),
        ("\ud83d lonely", "\ufffd lonely"),
        ("👩🏽‍🚀 क्\u200cष", "👩🏽‍🚀 क्\u200cष"),
        (
            "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
            "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        ),
        ("hidden\U000e0041\U000e0042", "hidden"),
        ("e" + "\u0301" * 50, "e" + "\u0301" * 8),
    ],
)
def test_only_what_can_be_seen_stays(written: str, seen: str) -> None:
    """Controls, overrides and hidden letters go; what emoji and scripts are made of stays."""
    assert visible(written) == seen


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_survives_the_way_out_and_back(text: str) -> None:
    """What a person reads in Slack is what was written, and what they send back is the same."""
    shown = visible(text)

    assert readable(escape(shown)) == shown.strip()
    shown.encode()
