"""What people and models write, as Slack shows it: formatted where it is Markdown, and never able to act."""

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.slack.markdown import mrkdwn
from tests.growth import grows_no_faster

LIVE_TOKEN = re.compile(r"<[@#!]|<(?:https?|mailto):")


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("**bold** and __bold__", "*bold* and *bold*"),
        ("*italic* and _italic_", "_italic_ and _italic_"),
        ("***both***", "_*both*_"),
        ("~~gone~~", "~gone~"),
        ("**Run `make` now**", "*Run `make` now*"),
        ("snake_case_name and 2 * 3 * 4", "snake_case_name and 2 * 3 * 4"),
        ("# Goals #", "*Goals*"),
        ("### The **main** goal", "*The main goal*"),
        ("## Use `a*b` #1", "*Use `a*b` #1*"),
        ("#", "#"),
        ("# #", "# #"),
        ("- one\n* two\n  + three", "• one\n• two\n  • three"),
        ("1. one\n2. two", "1. one\n2. two"),
        ("1) > - said", ">1) • said"),
        ("> said\nmine", ">said\nmine"),
        ("**two\nrows**", "*two*\n*rows*"),
        ("see https://a.example/__init__.py", "see https://a.example/__init__.py"),
        ("a &lt; b", "a &amp;lt; b"),
        ("> said\n>> before", ">said\n>before"),
        ("above\n\n---\n\nbelow", "above\n\n———\n\nbelow"),
        ("[the docs](https://a.example/b_c_d)", "the docs (https://a.example/b_c_d)"),
        ("[https://a.example](https://a.example)", "https://a.example"),
        ("![a chart](https://a.example/c.png)", "a chart (https://a.example/c.png)"),
        ("<https://a.example/__init__.py>", "https://a.example/__init__.py"),
        ("a \\*star\\* and a \\\\", "a *star* and a \\"),
        ("use `a < b && c`", "use `a &lt; b &amp;&amp; c`"),
        ("use ``code``", "use `code`"),
        ("a < b > c & d", "a &lt; b &gt; c &amp; d"),
        ("<b>bold</b> &amp;", "&lt;b&gt;bold&lt;/b&gt; &amp;amp;"),
        ("> # Goal", ">*Goal*"),
        ("> ---", ">———"),
        ("one\n\n\n# Two\n\n", "one\n\n\n*Two*"),
        ("**one\ntwo *and **three** four***", "*one*\n*two _and three four_*"),
        ('[the plan](https://a.example/p "ours")', 'the plan (https://a.example/p "ours")'),
        ("![a *chart*](https://a.example/c.png)", "a _chart_ (https://a.example/c.png)"),
        (
            "[![in](https://a.example/i)](https://a.example/o)",
            "in (https://a.example/i) (https://a.example/o)",
        ),
        ("ftp://a.example", "ftp://a.example"),
    ],
)
def test_markdown_becomes_what_slack_understands(written: str, shown: str) -> None:
    """Marks are exchanged, and what only looks like a mark is left alone."""
    assert mrkdwn(written) == shown


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("~~~python\nx = **y**  # <b>\n~~~", "```\nx = **y**  # &lt;b&gt;\n```"),
        ("before\n```\nnever closed", "before\n```\nnever closed\n```"),
        ("```make it\nso```\nplease", "```\nmake it\nso\n```\nplease"),
        ("```not a language\nx\n```", "```\nnot a language\nx\n```"),
        ("one ```\ntwo", "one '''\ntwo"),
        ("- ```\n  x = 1\n  ```\n\nafter", "• \n```\nx = 1\n```\n\nafter"),
        ("````\n```\ninner\n```\n````", "```\n'''\ninner\n'''\n```"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "```\n| a | b |\n|---|---|\n| 1 | 2 |\n```"),
    ],
)
def test_code_is_left_alone(written: str, shown: str) -> None:
    """
    Between fences nothing is formatted, whatever marks the fence, whoever forgot to close it, or opened and closed it
    in the middle of a row. A fence inside does not end it. Tables become code, so that columns line up.
    """
    assert mrkdwn(written) == shown


@pytest.mark.parametrize(
    "attack",
    [
        "<!channel>", "<@U123>", "<#C123|general>", "<https://evil.example|your bank>",
        "[<!here>](https://a.example)", "`<!channel>`", "```\n<!channel>\n```", "\\<!channel>",
        "<\u200b!channel>", "**<@U1>**", "&lt;!channel&gt;",
    ],
)  # fmt: skip
def test_nothing_written_can_ping_or_link(attack: str) -> None:
    """Neither a person's words nor a model's mention anybody or hide an address."""
    assert not LIVE_TOKEN.search(mrkdwn(attack))


MARKUP = st.text(st.sampled_from("ab1 \n`*_~[]()<>!@#|&;\\:/.-\u200b\u202e\ud800é"), max_size=200)


@given(MARKUP | st.text(st.characters(exclude_categories=())))
def test_no_text_at_all_becomes_a_token(written: str) -> None:
    """No angle bracket, control or hidden character survives, whatever is thrown at it."""
    shown = mrkdwn(written)

    assert not LIVE_TOKEN.search(shown)
    assert not re.search(r"<", shown)
    assert not re.search("[\x00-\x08\x0b-\x1f\ud800-\udfff\u202a-\u202e\u2066-\u2069\u200b]", shown)


@given(st.text(st.sampled_from("ab1 \n*_~>#-`|[]()\\:/.!"), max_size=60))
def test_no_word_is_lost(written: str) -> None:
    """Formatting may change marks, never letters; only the name of a language above code is no word."""
    written = re.sub(r"(?m)^ {0,3}(`{3,}|~{3,})[\w+.#-]*\s*$", r"\1", written)

    assert re.findall(r"[a-z0-9]", unescape(mrkdwn(written))) == re.findall(r"[a-z0-9]", written)


@pytest.mark.parametrize("mark", [">", "- ", "1. ", "> - "])
def test_no_word_is_lost_however_deep_it_stands(mark: str) -> None:
    """The parser stops at some depth; what is deeper is text."""
    assert mrkdwn(mark * 300 + "b").endswith("b")


HALF_MARKUP = [
    "**a", " **a", "*a ", "__a", "_a ", "~~a", "[a", "`a", "``a", ">    ", "![](", "a|", "\\",
    "&lt;https://a",
]  # fmt: skip
ALONE = [" ", "- ", "_ ", "| ", "> ", "#", "# ", "\n", "\t", "<", "https://"]


@pytest.mark.parametrize("row", HALF_MARKUP + ALONE)
@pytest.mark.parametrize(
    "opening",
    ["", "> a", *(pytest.param(row, marks=pytest.mark.thorough) for row in ("# a", "- a", "| a", "1. a"))],
)
def test_the_longest_half_markup_takes_as_long_as_it_is(opening: str, row: str) -> None:
    """Nobody can keep us busy by opening what is never closed: reading it twice for each mark would take minutes."""
    grows_no_faster(mrkdwn, lambda size: opening + row * (size // len(row)) + "b", 5_000)
