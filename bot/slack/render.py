"""
A message as Block Kit: one or more parts, each a post of its own.

How a text is cut depends only on the text, so a part stays the same when it is posted again or rewritten without its
buttons.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from bot.domain.messages.message import Action, Choice, Emphasis, Link, Message
from bot.slack.limits import (
    ACTIONS_ELEMENTS,
    CONTEXT_ELEMENTS,
    LABEL_CHARS,
    MESSAGE_BLOCKS,
    MESSAGE_CHARS,
    SECTION_CHARS,
    VALUE_CHARS,
    messages,
    sections,
    shortened,
    size,
)
from bot.slack.markdown import escape, mrkdwn, one_line, pieces

# --- links: only those that a message lists ------------------------------------------------------------------------

_SCHEMES = frozenset({"http", "https"})
_AS_WRITTEN = "!#$%&'()*+,/:;=?@[]~"


def fitting_links(links: Iterable[Link], most: int, chars: int) -> tuple[list[Link], list[str]]:
    """The links that fit, at most *most* with at most *chars* together; the others as text."""
    kept: list[Link] = []
    words: list[str] = []
    for link in links:
        safe = Link(label=shortened(one_line(link.label), LABEL_CHARS), url=one_line(link.url))
        length = size(markup(safe))
        if _is_web(safe.url) and len(kept) < most and length <= chars:
            kept.append(safe)
            chars -= length
        else:
            words.append(f"{safe.label}: {safe.url}")
    return kept, words


def markup(link: Link) -> str:
    """`<url|label>`, with both escaped."""
    url = escape(quote(link.url, safe=_AS_WRITTEN))
    return f"<{url}|{escape(link.label) or url}>"


def _is_web(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in _SCHEMES and bool(parts.netloc)


# --- what a button carries: its action, the token of its menu, a value ----------------------------------------------

TYPED: Mapping[Action, str] = {Action.CATCH_UP: "catchup", Action.EXPORT: "export"}
"""Buttons that do the same as a typed verb."""

PREFIX = "roundtable."
"""Of all our action ids, also those of older and newer versions."""


class ButtonValue(NamedTuple):
    token: str
    value: str


def action_id(action: Action, nth: int = 1) -> str:
    """Slack wants unique ids within a block, so the second choice with the same action has a number."""
    return f"{PREFIX}{action.value}" if nth == 1 else f"{PREFIX}{action.value}.{nth}"


def action_of(action_id: str) -> Action | None:
    """None for a button of another app, or of another version."""
    name = action_id.removeprefix(PREFIX).partition(".")[0]
    if not action_id.startswith(PREFIX) or name not in set(Action):
        return None
    return Action(name)


def value_of(choice: Choice, token: str) -> str:
    value = f"{token}/{choice.value}"
    assert len(value) <= VALUE_CHARS, "a choice carries a reference, not a text"
    return value


def carried(value: str) -> ButtonValue:
    # Tokens contain no "/".
    token, _, own = value.partition("/")
    return ButtonValue(token, own)


# --- blocks ---------------------------------------------------------------------------------------------------------

NOTE_CHARS = 1_000
LINKS_CHARS = 1_500
BODY_CHARS = MESSAGE_CHARS - NOTE_CHARS - LINKS_CHARS - ACTIONS_ELEMENTS * LABEL_CHARS
BODY_SECTIONS = MESSAGE_BLOCKS - 10
NOTHING = "…"
"""In place of an empty text, which Slack refuses."""

OWN_LINE = ("```", ">", "*", "•")
"""Marks that work only at the beginning of a line."""

Block = dict[str, Any]


class RenderedMessage(NamedTuple):
    """`text` says all that the blocks show, for notifications and screen readers."""

    text: str
    blocks: list[Block]


def parts(message: Message, *, label: str = "", signed: bool = False) -> list[RenderedMessage]:
    """*label* names the speaker in every `text`; when *signed*, also in the blocks, for posts without a username."""
    prefix = f"{escape(one_line(label))}: " if label else ""
    links, words = fitting_links(message.links, CONTEXT_ELEMENTS, LINKS_CHARS)
    bodies = _bodies("\n".join([message.text, *words]), prefix, message.choices)
    *whole, last = (_part(body, prefix, signed=signed) for body in bodies)
    return [*whole, _with_tail(last, message, links)]


def _bodies(text: str, prefix: str, choices: Sequence[Choice]) -> list[list[str]]:
    most = BODY_CHARS - LABEL_CHARS * max(0, len(choices) - ACTIONS_ELEMENTS)
    assert most >= SECTION_CHARS, "too many buttons for one message"
    room = SECTION_CHARS - size(f"{prefix}\n")
    return messages(sections(pieces(text), room) or [NOTHING], limit=most, most=BODY_SECTIONS)


def _part(body: list[str], prefix: str, *, signed: bool) -> RenderedMessage:
    first, *rest = body
    shown = _begun(prefix, first) if signed else first
    return RenderedMessage(prefix + "\n".join(body), [_section(section) for section in (shown, *rest)])


def _begun(prefix: str, section: str) -> str:
    return f"{prefix}\n{section}" if prefix and section.startswith(OWN_LINE) else prefix + section


def _with_tail(part: RenderedMessage, message: Message, links: Sequence[Link]) -> RenderedMessage:
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
    return RenderedMessage("\n".join(filter(None, words)), blocks)


def _section(text: str) -> Block:
    return {"type": "section", "text": _mrkdwn(text), "expand": True}


def _context(texts: Iterable[str]) -> Iterator[Block]:
    if elements := [_mrkdwn(text) for text in texts]:
        yield {"type": "context", "elements": elements}


def _mrkdwn(text: str) -> Block:
    # Verbatim: Slack makes no links, channels or mentions out of plain words.
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
