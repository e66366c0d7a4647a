"""Cards as blocks: the same facts as in the value, within Slack's limits, and nothing in them acts."""

import re
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.domain.actions.table import ACTIONS
from bot.domain.messages.message import (
    Action,
    Card,
    CardPart,
    CardRow,
    Choice,
    Confirm,
    Emphasis,
    Link,
    Message,
)
from bot.slack.limits import size
from bot.slack.render import RenderedMessage, chosen, parts
from slack_sandbox.rules.blocks import block_text, message_problems

TOKEN = "0123456789abcdef"
SOURCE = Link(label="what Ada said", url="https://acme.slack.com/archives/C042/p1795374000000221")
LIVE_TOKEN = re.compile(r"<[@#!]|<(?!https?://[^<>|]+\|[^<>]*>)")

words = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=40),
    st.lists(
        st.sampled_from(
            ["word ", "<!here> ", "& ", "**b** ", "`c` ", "~~s~~ ", "\n", "```\n", "# ", "- ", "1. ",
             "\ue0000\ue001", f"[said]({SOURCE.url})", "[x](https://evil.example)", "<https://evil.example|x>"]
        ),
        max_size=12,
    ).map("".join),
    st.integers(1, 12).map(lambda times: "A long sentence of words & signs. " * 10 * times),
)  # fmt: skip
choices = st.builds(
    Choice,
    action=st.sampled_from([*ACTIONS]),
    label=words,
    emphasis=st.sampled_from(Emphasis),
    value=st.text(st.sampled_from("abc-123/"), max_size=200),
    confirm=st.none() | st.builds(Confirm, title=words, text=words, yes=words, no=words),
)
rows = st.builds(CardRow, text=words, id=words, aside=words, level=st.integers(-1, 12))
card_parts = st.builds(
    CardPart,
    title=words,
    prose=words,
    rows=st.lists(rows, max_size=6).map(tuple),
    numbered=st.booleans(),
    struck=st.booleans(),
    button=st.none() | choices,
    options=st.lists(choices, max_size=6).map(tuple),
)
cards = st.builds(
    Message,
    text=words,
    choices=st.lists(choices, max_size=30).map(tuple),
    token=st.sampled_from(["", TOKEN]),
    note=words,
    links=st.lists(st.sampled_from([SOURCE, Link(label="f", url="javascript:x")]), max_size=14).map(tuple),
    card=st.builds(
        Card,
        title=words,
        subtitle=words,
        parts=st.lists(card_parts, max_size=5).map(tuple),
        more=st.lists(choices, max_size=8).map(tuple),
        foot=st.lists(words, max_size=4).map(tuple),
        revision=st.integers(0, 9_999),
    ),
)


def texts(blocks: object) -> list[dict[str, Any]]:
    """Every object of the blocks that has a text."""
    if isinstance(blocks, list):
        return [text for block in blocks for text in texts(block)]
    if not isinstance(blocks, dict):
        return []
    own = [blocks] if isinstance(blocks.get("text"), str) else []
    return [*own, *(text for value in blocks.values() for text in texts(value))]


def of_type(kind: str, blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [block for block in blocks if block["type"] == kind]


def rendered(card: Card, **message: Any) -> RenderedMessage:
    (part,) = parts(Message(text="All of it.", token=TOKEN, card=card, **message))
    assert message_problems(part.blocks) == []
    return part


@settings(
    max_examples=20, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], deadline=None
)
@given(cards, st.booleans())
def test_slack_takes_every_card(message: Message, signed: bool) -> None:  # noqa: FBT001
    """Also the plainer form; nothing pings, and links lead only to where the message says."""
    (part,) = parts(message, label="Maya Chen (Business Analyst)", signed=signed)

    assert size(part.text) <= 40_000
    for blocks in (part.blocks, part.plainer[0]()):
        assert message_problems(blocks) == []
        assert block_text(blocks) <= 10_000
        live = [text["text"] for text in texts(blocks) if text["type"] == "mrkdwn"]
        assert not any(LIVE_TOKEN.search(text) for text in live)
        assert not any("<https://evil" in text for text in live)
        assert {one["url"] for one in texts(blocks) if one["type"] == "link"} <= {SOURCE.url}
    assert not of_type("rich_text", part.plainer[0]())


def test_a_card_is_one_message_with_all_its_parts_in_order() -> None:
    """Title, small print, lists, what is missing, buttons and ⋯, foot: as in the designs."""
    confirm = Confirm(title="2 without a test", text="Saved as they are.", yes="Finish anyway")
    card = Card(
        title="Core Feature Definition",
        subtitle="01-06 · Requirements",
        parts=(
            CardPart(
                title="So far",
                rows=(
                    CardRow(id="FR-001", text="Limit `requests` per **key**"),
                    CardRow(text="the 601st gets a 429", level=1),
                    CardRow(text="", aside="no test yet", level=1),
                    CardRow(id="FR-002", text="See what is left", aside="not confirmed"),
                ),
            ),
            CardPart(
                title="Still missing", rows=(CardRow(id="2", text="How would you see it?"),), numbered=True
            ),
            CardPart(
                title="Worth a second look",
                prose="FR-002 says “soon”.",
                button=Choice(action=Action.AMEND, label="Fix…", value="FR-002"),
            ),
        ),
        more=(
            Choice(action=Action.DEPTH_BRIEF, label="Ask me less"),
            Choice(action=Action.STOP, label="Stop here"),
        ),
        foot=("Heard from: Ada",),
        revision=3,
    )
    part = rendered(
        card,
        choices=(
            Choice(action=Action.FINISH_STEP, label="Finish step", confirm=confirm),
            Choice(action=Action.ELABORATE, label="Discuss", emphasis=Emphasis.PRIMARY),
        ),
    )

    kinds = [block["type"] for block in part.blocks]
    assert kinds == ["section", "context", "rich_text", "section", "section", "actions", "context"]
    assert part.blocks[0]["text"]["text"] == "*Core Feature Definition*"
    heading, *lists = part.blocks[2]["elements"]
    assert heading["elements"] == [{"type": "text", "text": "So far", "style": {"bold": True}}]
    assert [(one["indent"], len(one["elements"])) for one in lists] == [(0, 1), (1, 2), (0, 1)]
    assert lists[0]["elements"][0]["elements"] == [
        {"type": "text", "text": "FR-001  ", "style": {"bold": True}},
        {"type": "text", "text": "Limit "},
        {"type": "text", "text": "requests", "style": {"code": True}},
        {"type": "text", "text": " per "},
        {"type": "text", "text": "key", "style": {"bold": True}},
    ]
    assert lists[1]["elements"][1]["elements"] == [
        {"type": "text", "text": "no test yet", "style": {"italic": True}}
    ]
    assert part.blocks[3]["text"]["text"] == "*Still missing*\n*2*  How would you see it?"
    fix = part.blocks[4]["accessory"]
    assert (fix["action_id"], fix["value"]) == ("roundtable.amend", f"{TOKEN}/FR-002")
    finish, discuss, more = part.blocks[5]["elements"]
    assert (finish["confirm"]["confirm"]["text"], finish["confirm"]["deny"]["text"]) == (
        "Finish anyway",
        "Go back",
    )
    assert discuss["style"] == "primary"
    assert more["action_id"] == "roundtable.more"
    assert [option["value"] for option in more["options"]] == [f"{TOKEN}/depth_brief", f"{TOKEN}/stop"]
    assert part.text.endswith("[Finish step] [Discuss] [Fix…] [⋯ Ask me less, Stop here]")


def test_names_of_blocks_change_with_every_edit() -> None:
    """Else Slack keeps what somebody chose in the edition before."""
    choices = (Choice(action=Action.STOP, label="Stop"),)
    names = [
        rendered(Card(title="T", revision=number), choices=choices).blocks[-1]["block_id"]
        for number in (1, 2)
    ]

    assert len(set(names)) == 2


def test_a_suggestion_has_a_menu_of_its_own_and_links_its_source() -> None:
    """Only where the message links; who wrote another address into a text sees it as text."""
    options = tuple(
        Choice(action=Action.LINE, label=label, value=f"1/{what}")
        for label, what in (("✓ Accept", "accept"), ("✎ Change…", "change"), ("✗ Leave out", "strike"))
    )
    row = CardRow(
        id="1",
        text="Every [answer](https://evil.example) carries `X`",
        aside=f"from [what Ada said]({SOURCE.url})",
    )
    gone = CardPart(
        rows=(CardRow(id="3", text="Can *billing* see ~this~?", aside="left out by Grace"),),
        numbered=True,
        struck=True,
    )
    part = rendered(
        Card(title="T", parts=(CardPart(rows=(row,), numbered=True, options=options), gone)), links=(SOURCE,)
    )

    suggestion, struck = part.blocks[1:]
    assert suggestion["text"]["text"] == (
        f"*1*  Every answer (https://evil.example) carries `X`\n_from <{SOURCE.url}|what Ada said>_"
    )
    assert suggestion["accessory"]["action_id"] == "roundtable.line"
    assert [one["value"] for one in suggestion["accessory"]["options"]] == [
        f"{TOKEN}/1/accept", f"{TOKEN}/1/change", f"{TOKEN}/1/strike",
    ]  # fmt: skip
    assert struck["text"]["text"] == "~3  Can billing see this?~\n_left out by Grace_"


def test_a_link_in_a_list_is_one_too() -> None:
    """And stands nowhere else."""
    row = CardRow(text=f"Token bucket, [why]({SOURCE.url})")
    part = rendered(Card(title="T", parts=(CardPart(rows=(row,)),)), links=(SOURCE,))

    (item,) = part.blocks[1]["elements"][0]["elements"]
    assert item["elements"] == [
        {"type": "text", "text": "Token bucket, "},
        {"type": "link", "url": SOURCE.url, "text": "why"},
    ]
    assert len(part.blocks) == 2


def test_a_collapsed_card_has_its_menu_beside_the_title() -> None:
    """One line in the thread."""
    more = (Choice(action=Action.AMEND, label="Amend…"), Choice(action=Action.REOPEN, label="Open again"))
    part = rendered(Card(title="Quality", more=more))

    assert [block["accessory"]["action_id"] for block in part.blocks] == ["roundtable.more"]


def test_one_choice_alone_is_a_button_and_so_is_one_that_asks_first() -> None:
    """An overflow has two to five options, and one question for all of them."""
    stop = Choice(action=Action.STOP, label="Stop")
    asks = stop.but(confirm=Confirm(title="Sure?", text="All stops.", yes="Stop"))
    skip, sort = Choice(action=Action.SKIP, label="Skip"), Choice(action=Action.SORT, label="Sort…")
    parts_ = (CardPart(title="P"),)

    def kinds(*more: Choice) -> list[str]:
        part = rendered(Card(title="T", parts=parts_, more=more))
        return [element["type"] for element in part.blocks[-1]["elements"]]

    assert kinds(stop) == ["button"]
    assert kinds(stop, skip) == ["overflow"]
    assert kinds(asks, skip, sort) == ["button", "overflow"]
    assert kinds(stop, skip, sort, stop, skip, sort) == ["button", "overflow"]


def test_what_does_not_fit_is_counted() -> None:
    """Nothing is refused, and people see that there is more."""
    many = tuple(CardRow(id=f"FR-{number:03}", text="word " * 40) for number in range(200))
    part = rendered(
        Card(
            title="T",
            parts=(CardPart(title="So far", rows=many), CardPart(title="Missing", prose="x\n" * 20)),
        )
    )

    shown = sum(len(one["elements"]) for one in part.blocks[1]["elements"][1:])
    (last,) = part.blocks[1]["elements"][-1]["elements"][-1]["elements"]
    assert last["text"] == f"and {200 - (shown - 1)} more"


def test_an_option_says_which_action_it_is() -> None:
    """Of another version it may be one that we do not know."""
    assert chosen("tok/depth_brief") == (Action.DEPTH_BRIEF, ("tok", ""))
    assert chosen("tok/line/3/accept") == (Action.LINE, ("tok", "3/accept"))
    assert chosen("tok/dance") == ("dance", ("tok", ""))
    assert chosen("") == ("", ("", ""))
