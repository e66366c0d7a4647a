"""The bot, its manifest, its pace and its sandbox, held against what Slack publishes of its methods."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.domain.messages.message import (
    Action,
    Card,
    CardPart,
    CardRow,
    Choice,
    Confirm,
    Emphasis,
    Message,
)
from bot.slack.client import AGENT
from bot.slack.manifest import BOT_EVENTS, SCOPES
from bot.slack.pace import RATES
from bot.slack.pace import TIER_2 as SELDOM
from bot.slack.render import parts
from slack_sandbox.methods import METHODS
from slack_sandbox.rules.limits import LIMITS, TIER_2, UNLIMITED
from tests.other.published import BLOCK_KIT, PARTS_OF_BLOCKS, PUBLISHED, unlike_published

ROOT = Path(__file__).parents[2]
WRITTEN = sorted((ROOT / "bot").glob("*.py")) + sorted((ROOT / "bot" / "slack").rglob("*.py"))
FAMILIES = re.compile(
    r"(?!team_(?:id|files|for|at_work)$)(agents|apps|assistant|auth|bots|chat|conversations|files|reactions|team|users|views)_[a-zA-Z_]+"
)

OF_EVENTS = {
    "app_home_opened": "",
    "app_mention": "app_mentions:read",
    "channel_archive": "channels:read",
    "channel_left": "channels:read",
    "channel_id_changed": "channels:read",
    "member_joined_channel": "channels:read",
    "member_left_channel": "channels:read",
    "user_change": "users:read",
    "group_archive": "groups:read",
    "group_left": "groups:read",
    "reaction_added": "reactions:read",
    "reaction_removed": "reactions:read",
    "message.channels": "channels:history",
    "message.groups": "groups:history",
}
ASKED_FOR_OTHERWISE = {"commands", "chat:write.customize", *filter(None, OF_EVENTS.values())}
"""By the slash command and the shortcut, by the arguments `username` and `icon_…`, and by events."""
NOT_OURS = {"im:history", "mpim:history", "im:read", "mpim:read"} | {
    *("channels:manage", "groups:write", "mpim:write"),
}
"""Of the scopes by kind of conversation, those of kinds that we never ask about: nobody holds roundtables there."""

OF_INSTALLING = {"auth.revoke"}
"""The sandbox is one workspace, in which the app is installed; `tests/installing.py` answers these."""


def called() -> Iterator[str]:
    """Every method of the SDK's client that the code names."""
    for module in WRITTEN:
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and FAMILIES.fullmatch(node.attr):
                yield node.attr.replace("_", ".")


def test_the_table_has_the_methods_that_are_called_and_no_others() -> None:
    """So that nothing is called which nobody looked up."""
    assert set(called()) == set(PUBLISHED)


def test_the_manifest_asks_for_what_the_methods_need() -> None:
    """Every method has a scope that lets it be called, and no scope is asked for in vain."""
    needed = {scope for method in PUBLISHED.values() for scope in method.scopes} - NOT_OURS - {AGENT}

    assert all(method.scopes & {*SCOPES, AGENT} for method in PUBLISHED.values() if method.scopes)
    assert (
        set(filter(None, (OF_EVENTS[event] for event in BOT_EVENTS))) | needed | ASKED_FOR_OTHERWISE
        == SCOPES.keys()
    )


@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_no_method_is_called_more_often_than_slack_allows(name: str) -> None:
    """In the worst minute: a full budget, spent at once, and what it fills with meanwhile."""
    allowed = PUBLISHED[name].a_minute
    rate = RATES.get(name.replace(".", "_"), SELDOM)

    assert allowed is None or rate.burst + 60 * rate.per_second <= allowed + 1e-9


@pytest.mark.parametrize("name", sorted(PUBLISHED.keys() - OF_INSTALLING))
def test_the_sandbox_takes_what_slack_takes(name: str) -> None:
    """JSON only where Slack reads it, no more calls than Slack allows, and no scope that Slack does not know of."""
    published, method = PUBLISHED[name], METHODS[name]
    limit = LIMITS.get(name, TIER_2)

    assert method.by_form is not published.reads_json
    assert set(method.scopes) <= published.scopes
    assert published.a_minute is None or name in UNLIMITED or limit.calls <= published.a_minute


class _Call:
    def __init__(self, method: str, **args: object) -> None:
        self.method, self.args = method, args


@pytest.mark.parametrize(
    ("call", "flaw"),
    [
        (_Call("chat.shout", text="x"), "chat.shout: a method that is not in the table"),
        (_Call("chat.update", channel="C1"), "chat.update: ts is missing"),
        (_Call("users.info", user="U1", team="T1"), "users.info: there is no team"),
        (_Call("chat.postMessage", channel="C1", text=["x"]), "chat.postMessage: text is a list"),
        (_Call("chat.postMessage", channel="C1", blocks="[]"), "chat.postMessage: blocks is a str"),
        (_Call("chat.update", channel="C1", ts="1.1", link_names="no"), "chat.update: link_names is a str"),
    ],
)
def test_a_call_that_slack_does_not_document_is_found(call: _Call, flaw: str) -> None:
    """The meetings of `tests/e2e` are looked through for them when they are over."""
    assert unlike_published([call]) == [flaw]
    assert unlike_published([_Call("chat.update", channel="C1", ts="1.1", text="x", blocks=[])]) == []


def test_a_card_has_only_what_slack_publishes_of_its_blocks() -> None:
    """The names, by type of object, of https://docs.slack.dev/reference/block-kit for 2026-08."""
    rows = (
        CardRow(id="FR-001", text="Say `it` **to** ~~whom~~", aside="no test yet"),
        CardRow(text="x", level=1),
    )
    two = (Choice(action=Action.AMEND, label="Amend…"), Choice(action=Action.REOPEN, label="Open again"))
    asks = Confirm(title="Sure?", text="All of it.", yes="Yes")
    button = Choice(action=Action.SORT, label="Sort…", confirm=asks, emphasis=Emphasis.PRIMARY)
    card = Card(
        title="Core features",
        subtitle="01-06",
        parts=(CardPart(title="So far", rows=rows), CardPart(rows=rows, numbered=True, options=two)),
        more=two,
        foot=("Heard from: Ada",),
    )
    (part,) = parts(Message(text="x", token="k7", choices=(button,), card=card))

    assert [*_unpublished(part.blocks)] == []
    assert [*_unpublished(part.plainer[0]())] == []
    assert [*_unpublished([{"type": "section", "colour": "red"}])] == ["section: colour"]


def _unpublished(node: object) -> Iterator[str]:
    if isinstance(node, list):
        for one in node:
            yield from _unpublished(one)
    elif isinstance(node, dict):
        kind = str(node.get("type", ""))
        yield from (
            f"{kind}: {name}" for name in sorted(set(node) - BLOCK_KIT.get(kind, PARTS_OF_BLOCKS) - {"type"})
        )
        for one in node.values():
            yield from _unpublished(one)
