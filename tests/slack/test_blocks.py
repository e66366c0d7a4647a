"""Messages as blocks: within every limit of Slack's, nothing lost, nothing torn, nothing that acts."""

import re
from html import unescape
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.domain.actions.table import ACTIONS
from bot.domain.messages.message import Action, Choice, Emphasis, Link, Message
from bot.slack.limits import shortened, size, split
from bot.slack.render import RenderedMessage, action_of, carried, parts
from slack_sandbox.rules.blocks import block_text, message_problems

LABEL = "Maya Chen (Business Analyst)"
LIVE_TOKEN = re.compile(r"<[@#!]|<(?!https?://[^<>|]+\|[^<>]*>)")
TOKEN = "0123456789abcdef"

texts = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=300),
    st.lists(
        st.sampled_from(
            [
                "word ", "<!here> ", "& ", "**b** ", "`c` ", "\n", "\n\n", "```\n", "# ", "- ", "👩🏽‍🚀", "🇩🇪",
                "é", "| a |\n",
            ]
        ),
        max_size=80,
    ).map("".join),
    st.integers(1, 40).map(lambda times: "A long sentence of many words & signs. " * 30 * times),
    st.integers(1, 40).map(lambda times: "```\n" + "code < line\n" * 30 * times + "```\nafter"),
)  # fmt: skip
choices = st.builds(
    Choice,
    action=st.sampled_from([*ACTIONS]),
    label=st.text(st.characters(exclude_categories=()), max_size=100),
    emphasis=st.sampled_from(Emphasis),
    value=st.text(st.sampled_from("abc-123"), max_size=60),
)
links = st.builds(
    Link,
    label=st.text(max_size=100),
    url=st.sampled_from(
        ["https://a.example/x?y=1&z=<2>|3", "javascript:alert(1)", "http://b.example", "nonsense", ""]
    )
    | st.text(max_size=50),
)
said = st.builds(
    Message,
    text=texts,
    choices=st.lists(choices, max_size=30).map(tuple),
    token=st.sampled_from(["", TOKEN]),
    note=texts,
    links=st.lists(links, max_size=14).map(tuple),
)


def shown(part: RenderedMessage) -> list[str]:
    """Every mrkdwn text of a part."""
    sections = [block["text"] for block in part.blocks if block["type"] == "section"]
    small = [text for block in part.blocks if block["type"] == "context" for text in block["elements"]]
    return [text["text"] for text in (*sections, *small)]


def buttons(part: RenderedMessage) -> list[dict[str, Any]]:
    return [button for block in part.blocks if block["type"] == "actions" for button in block["elements"]]


def letters(text: str) -> str:
    return "".join(re.findall(r"[a-z]+", unescape(text)))


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(said, st.booleans())
def test_whatever_is_said_slack_takes_it(message: Message, signed: bool) -> None:  # noqa: FBT001
    """Every limit that Slack has on texts, blocks, buttons and ids is kept, and nothing in it is a live token."""
    for part in parts(message, label=LABEL, signed=signed):
        texts = shown(part)
        assert part.blocks
        assert all(texts)
        assert message_problems(part.blocks) == []
        assert block_text(part.blocks) <= 10_000
        assert size(part.text) <= 40_000
        assert not any(LIVE_TOKEN.search(text) for text in texts)
        assert not re.search(r"<", part.text)


@settings(max_examples=100, deadline=None)
@given(said)
def test_choices_stand_under_the_last_part_and_come_back_as_they_were(message: Message) -> None:
    """Only the last part has buttons, and a press says which action, menu and value it was."""
    *before, last = parts(message)

    assert not any(buttons(part) for part in before)
    assert [(action_of(b["action_id"]), *carried(b["value"])) for b in buttons(last)] == [
        (choice.action, message.token, choice.value) for choice in message.choices
    ]


@settings(max_examples=100, deadline=None)
@given(texts)
def test_no_word_is_lost_however_long_it_gets(text: str) -> None:
    """What does not fit into one post becomes another, in the blocks and in the plain text."""
    text = re.sub(r"[^\x00-\x7f]", "", text)
    told = parts(Message(text=text))

    assert letters("".join(section for part in told for section in shown(part))) == letters(text)
    assert letters("".join(part.text for part in told)) == letters(text)


@settings(max_examples=100, deadline=None)
@given(texts)
def test_code_stays_inside_its_fences(text: str) -> None:
    """Code that must be cut is closed where it ends and opened again where it goes on."""
    for part in parts(Message(text=text)):
        for section in shown(part):
            assert section.count("```") % 2 == 0


@settings(max_examples=50, deadline=None)
@given(said)
def test_a_part_is_the_same_with_and_without_its_tail(message: Message) -> None:
    """So that a used menu can be rewritten in place, and a half-posted message completed."""
    bare = message.but(choices=(), note="", token="")
    few = message.but(choices=message.choices[:25])

    for with_tail, without in zip(parts(few), parts(bare), strict=True):
        assert without.blocks[: _sections(without)] == with_tail.blocks[: _sections(with_tail)]


def _sections(part: RenderedMessage) -> int:
    return sum(block["type"] == "section" for block in part.blocks)


def test_the_text_alone_says_it_all() -> None:
    """Notifications and screen readers have nothing else."""
    message = Message(
        text="Who **uses** it?",
        choices=(
            Choice(action=Action.FINISH_STEP, label="Finish step"),
            Choice(action=Action.SKIP, label="Skip"),
        ),
        note="Step 1 of 24",
        links=(Link(label="Issue", url="https://a.example/1"),),
    )

    (part,) = parts(message, label=LABEL)

    assert part.text == (
        "Maya Chen (Business Analyst): Who *uses* it?\nIssue: https://a.example/1\nStep 1 of 24\n[Finish step] [Skip]"
    )
    assert shown(part) == ["Who *uses* it?", "<https://a.example/1|Issue>", "Step 1 of 24"]


def test_without_a_name_of_its_own_a_post_is_signed() -> None:
    """When Slack gives the persona no name, its words begin with it; lists and code begin on their own line."""
    (prose,) = parts(Message(text="Who uses it?"), label=LABEL, signed=True)
    (listed,) = parts(Message(text="- one"), label=LABEL, signed=True)

    assert shown(prose) == ["Maya Chen (Business Analyst): Who uses it?"]
    assert shown(listed) == ["Maya Chen (Business Analyst): \n• one"]


def test_a_link_cannot_lead_elsewhere_than_it_says() -> None:
    """Only http and https, and neither the address nor the label can end the other."""
    tricks = (
        Link(label="a>b|<!here>", url="https://a.example/x>|y<z"),
        Link(label="script", url="javascript:alert(1)"),
    )

    (part,) = parts(Message(text="See.", links=tricks))

    assert shown(part) == [
        "See.\nscript: javascript:alert(1)",
        "<https://a.example/x%3E%7Cy%3Cz|a&gt;b|&lt;!here&gt;>",
    ]


def test_nothing_to_see_is_still_a_message() -> None:
    """Slack refuses an empty message, so there is never one."""
    assert shown(parts(Message(text="\u200b \n"))[0]) == ["…"]


def test_a_repeated_action_gets_an_id_of_its_own() -> None:
    """A picker has several buttons of one action, and Slack wants each id once in a block."""
    picker = Message(
        text="Which?",
        choices=tuple(
            Choice(action=Action.RESUME, label=slug, value=slug) for slug in ("dark-mode", "search")
        ),
    )

    ids = [(button["action_id"], button["value"]) for button in buttons(parts(picker)[0])]

    assert ids == [("roundtable.resume", "/dark-mode"), ("roundtable.resume.2", "/search")]


@pytest.mark.parametrize("whole", ["&amp;", "&lt;", "👩🏽‍🚀", "🇩🇪", "é", "🏴\U000e0067\U000e0062\U000e007f"])
@pytest.mark.parametrize("limit", range(10, 30))
def test_nothing_is_cut_through(whole: str, limit: int) -> None:
    """Entities, emoji with skin tones, flags and accents arrive whole."""
    pieces = list(split(whole * 50, limit))

    assert "".join(pieces) == whole * 50
    assert all(len(piece) % len(whole) == 0 and size(piece) <= limit for piece in pieces)
    assert shortened(whole * 50, limit).rstrip("…") in {whole * times for times in range(limit)}


def test_text_is_cut_where_people_would_pause() -> None:
    """Between paragraphs, else lines, else words."""
    assert list(split("one two\n\nthree four\nfive", 14)) == ["one two", "three four", "five"]
    assert shortened("one two three", 10) == "one two…"
