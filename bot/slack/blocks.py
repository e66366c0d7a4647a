"""
A message as Slack's blocks: one or more parts, each of them a post of its own.

How the text is cut depends on nothing but the text, so that a part can be posted again, and rewritten without its
buttons, and still be the same part.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from bot.domain.message import Choice, Emphasis, Link, Message
from bot.slack.buttons import action_id, value_of
from bot.slack.limits import (
    ACTIONS_ELEMENTS,
    CONTEXT_ELEMENTS,
    LABEL_CHARS,
    MESSAGE_BLOCKS,
    MESSAGE_CHARS,
    SECTION_CHARS,
    size,
)
from bot.slack.links import markup, sifted
from bot.slack.markdown import mrkdwn, pieces
from bot.slack.packing import messages, sections, shortened
from bot.slack.text import escape, one_line

NOTE_CHARS = 1_000
LINKS_CHARS = 1_500
BODY_CHARS = MESSAGE_CHARS - NOTE_CHARS - LINKS_CHARS - ACTIONS_ELEMENTS * LABEL_CHARS
BODY_SECTIONS = MESSAGE_BLOCKS - 10
NOTHING = "…"
"""In place of a text in which there is nothing to see: Slack refuses an empty message."""

OWN_LINE = ("```", ">", "*", "•")
"""What means something only at the beginning of a line."""

Block = dict[str, Any]


class Part(NamedTuple):
    """`text` says everything that the blocks show: notifications and screen readers have only that."""

    text: str
    blocks: list[Block]


def parts(message: Message, *, label: str = "", signed: bool = False) -> list[Part]:
    """
    *label* says who speaks. It begins every `text`; when *signed*, for want of a name of the post's own, it also
    begins what is shown.
    """
    prefix = f"{escape(one_line(label))}: " if label else ""
    links, words = sifted(message.links, CONTEXT_ELEMENTS, LINKS_CHARS)
    bodies = _bodies("\n".join([message.text, *words]), prefix, message.choices)
    *whole, last = (_part(body, prefix, signed=signed) for body in bodies)
    return [*whole, _with_tail(last, message, links)]


def _bodies(text: str, prefix: str, choices: Sequence[Choice]) -> list[list[str]]:
    most = BODY_CHARS - LABEL_CHARS * max(0, len(choices) - ACTIONS_ELEMENTS)
    assert most >= SECTION_CHARS, "nobody reads so many buttons"
    room = SECTION_CHARS - size(f"{prefix}\n")
    return messages(sections(pieces(text), room) or [NOTHING], limit=most, most=BODY_SECTIONS)


def _part(body: list[str], prefix: str, *, signed: bool) -> Part:
    first, *rest = body
    shown = _begun(prefix, first) if signed else first
    return Part(prefix + "\n".join(body), [_section(section) for section in (shown, *rest)])


def _begun(prefix: str, section: str) -> str:
    return f"{prefix}\n{section}" if prefix and section.startswith(OWN_LINE) else prefix + section


def _with_tail(part: Part, message: Message, links: Sequence[Link]) -> Part:
    note = shortened(mrkdwn(message.note), NOTE_CHARS)
    labels = [_label(choice) for choice in message.choices]
    words = [
        part.text,
        *(escape(f"{link.label}: {link.url}") for link in links),
        note,
        " ".join(f"[{escape(label)}]" for label in labels),
    ]
    blocks = [
        *part.blocks,
        *_context(markup(link) for link in links),
        *_context([note] if note else []),
        *_actions(message),
    ]
    return Part("\n".join(filter(None, words)), blocks)


def _section(text: str) -> Block:
    return {"type": "section", "text": _mrkdwn(text), "expand": True}


def _context(texts: Iterable[str]) -> Iterator[Block]:
    if elements := [_mrkdwn(text) for text in texts]:
        yield {"type": "context", "elements": elements}


def _mrkdwn(text: str) -> Block:
    """Verbatim: Slack makes no links, channels or mentions out of plain words."""
    return {"type": "mrkdwn", "text": text, "verbatim": True}


def _actions(message: Message) -> Iterator[Block]:
    for start in range(0, len(message.choices), ACTIONS_ELEMENTS):
        buttons = list(_buttons(message.choices[start : start + ACTIONS_ELEMENTS], message.token))
        name = {"block_id": f"{message.token}.{start}"} if message.token else {}
        yield {"type": "actions", **name, "elements": buttons}


def _buttons(choices: Iterable[Choice], token: str) -> Iterator[Block]:
    seen: Counter[str] = Counter()
    for choice in choices:
        seen[choice.action] += 1
        style = {} if choice.emphasis is Emphasis.PLAIN else {"style": choice.emphasis.value}
        yield {
            "type": "button",
            "action_id": action_id(choice.action, seen[choice.action]),
            "text": {"type": "plain_text", "text": _label(choice), "emoji": True},
            "value": value_of(choice, token),
            **style,
        }


def _label(choice: Choice) -> str:
    return shortened(one_line(choice.label), LABEL_CHARS) or choice.action.value
