"""A message as it is kept, and the several shapes in which Slack shows it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Self

JSON = dict[str, Any]
BROADCAST = "thread_broadcast"


@dataclass(frozen=True, slots=True)
class Reaction:
    name: str
    users: tuple[str, ...]

    def as_json(self) -> JSON:
        return {"name": self.name, "users": list(self.users), "count": len(self.users)}


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxMessage:
    """
    One post. A value: edits, reactions and deletions make another one, so a test can press a stale button.

    *user* is empty for what the app posted under a name of its own (Slack shows no user there);
    *only_for* is the one person who sees an ephemeral message.
    """

    ts: str
    channel: str
    text: str = ""
    user: str = ""
    bot_id: str = ""
    app_id: str = ""
    username: str = ""
    icons: JSON = field(default_factory=dict)
    blocks: tuple[JSON, ...] = ()
    thread_ts: str = ""
    metadata: JSON = field(default_factory=dict)
    reactions: tuple[Reaction, ...] = ()
    files: tuple[JSON, ...] = ()
    edited: JSON = field(default_factory=dict)
    subtype: str = ""
    only_for: str = ""
    client_msg_id: str = ""

    def but(self, **changes: Any) -> Self:
        return replace(self, **changes)

    @property
    def is_reply(self) -> bool:
        return bool(self.thread_ts) and self.thread_ts != self.ts

    @property
    def is_in_channel(self) -> bool:
        """A reply may be shown there, too."""
        return not self.is_reply or self.subtype == BROADCAST

    @property
    def root_ts(self) -> str:
        return self.thread_ts or self.ts

    @property
    def by_bot(self) -> bool:
        return bool(self.bot_id)

    @property
    def elements(self) -> tuple[JSON, ...]:
        """Everything in this message that can be pressed or chosen from, each with its `block_id`."""
        return tuple(interactive(self.blocks))

    @property
    def actions(self) -> tuple[str, ...]:
        return tuple(element["action_id"] for element in self.elements)

    @property
    def words(self) -> str:
        """All that can be read in the blocks; the fallback text when there are none."""
        return "\n".join(_texts(list(self.blocks))) or self.text

    def as_json(self, *, with_metadata: bool = True) -> JSON:
        """As in an event or in `conversations.history`; what Slack would leave out is left out."""
        shape: JSON = {"type": "message", "ts": self.ts, "text": self.text}
        for name in ("subtype", "user", "bot_id", "app_id", "username", "thread_ts", "client_msg_id"):
            if value := getattr(self, name):
                shape[name] = value
        for name in ("icons", "edited"):
            if value := getattr(self, name):
                shape[name] = dict(value)
        for name in ("blocks", "files"):
            if value := getattr(self, name):
                shape[name] = list(value)
        if self.metadata and with_metadata:
            shape["metadata"] = self.metadata
        if self.reactions:
            shape["reactions"] = [reaction.as_json() for reaction in self.reactions]
        if self.only_for:
            shape["is_ephemeral"] = True
        return shape


RUNNING_TEXT = frozenset({"rich_text_section", "rich_text_preformatted", "rich_text_quote"})
"""Elements of rich text whose own elements stand on one line."""


def with_ids(blocks: Iterable[JSON], stamp: str) -> tuple[JSON, ...]:
    """Slack names the blocks, and the elements in them, that came without a name."""
    seed = stamp[-6:]
    return tuple(_named(block, f"{seed}.{index}") for index, block in enumerate(blocks))


def interactive(blocks: Iterable[JSON]) -> Iterator[JSON]:
    """The elements with an action_id, in reading order."""
    for block in blocks:
        elements = block.get("elements")
        listed = elements if isinstance(elements, list) else []
        for element in (*listed, block.get("accessory"), block.get("element")):
            if isinstance(element, dict) and "action_id" in element:
                yield {**element, "block_id": block.get("block_id", "")}


def _named(block: JSON, seed: str) -> JSON:
    named = {**block, "block_id": block.get("block_id") or f"b{seed}"}
    for place in ("accessory", "element"):
        if isinstance(element := block.get(place), dict) and element.get("type") != "image":
            named[place] = {**element, "action_id": element.get("action_id") or f"a{seed}"}
    if block["type"] == "actions":
        named["elements"] = [
            {**element, "action_id": element.get("action_id") or f"a{seed}.{nth}"}
            for nth, element in enumerate(block["elements"])
        ]
    return named


def _texts(node: Any) -> Iterator[str]:
    if isinstance(node, list):
        for item in node:
            yield from _texts(item)
    elif isinstance(node, dict):
        if node.get("type") in RUNNING_TEXT:
            yield "".join(_texts(node["elements"]))
            return
        if isinstance(text := node.get("text"), str):
            yield text
        for name in ("text", "fields", "elements", "accessory", "label", "element", "title", "hint"):
            if not isinstance(node.get(name), str):
                yield from _texts(node.get(name))
