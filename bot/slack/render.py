"""
A message as Slack's blocks: one or more parts, each of them a post of its own.

How the text is cut depends on nothing but the text, so that a part can be posted again, and rewritten without its
buttons, and still be the same part.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from bot.domain.messages.message import Action, Choice, Emphasis, Link, Message
from bot.domain.values.text import continues
from bot.slack.markdown import Piece, escape, mrkdwn, one_line, pieces

# What Slack refuses, by name: https://docs.slack.dev/reference/block-kit
#
# Lengths are counted as JavaScript counts them, in UTF-16 units; that is never less than what Python
# counts.


SECTION_CHARS = 3_000
CONTEXT_ELEMENTS = 10
MESSAGE_BLOCKS = 50
MESSAGE_CHARS = 10_000
"""Over all blocks. Slack's own limit is not documented; messages of 11,341 characters have been refused."""

UPDATE_TEXT_CHARS = 4_000
ACTIONS_ELEMENTS = 25
LABEL_CHARS = 75
VALUE_CHARS = 2_000
ID_CHARS = 255
URL_CHARS = 3_000


def size(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


# Long text in pieces that Slack takes: code stays code, and nothing that people see as one character is
# torn.


_FENCES = size("```\n\n```")
_ENTITY = re.compile(r"&(?:amp|lt|gt);")
_LONGEST_ENTITY = len("&amp;")
_BREAKS = ("\n\n", "\n", " ")


def sections(pieces: Iterable[Piece], limit: int = SECTION_CHARS) -> list[str]:
    """As few texts of at most *limit* as it takes; only code that is longer than a whole one is cut, by lines."""
    packed: list[str] = []
    for text in _fitting(pieces, limit):
        together = f"{packed[-1]}\n{text}" if packed else text
        if packed and size(together) <= limit:
            packed[-1] = together
        else:
            packed.append(text)
    return packed


def messages(sections: Iterable[str], *, limit: int, most: int) -> list[list[str]]:
    """The sections in groups of at most *most*, and at most *limit* characters."""
    grouped: list[list[str]] = []
    room = 0
    for section in sections:
        room -= size(section)
        if not grouped or room < 0 or len(grouped[-1]) == most:
            grouped.append([])
            room = limit - size(section)
        grouped[-1].append(section)
    return grouped


def shortened(text: str, limit: int) -> str:
    """*text*, or its beginning with "…", cut at a word where there is one."""
    if size(text) <= limit:
        return text
    return text[: _place_to_cut(text, limit - 1)].rstrip() + "…"


def split(text: str, limit: int) -> Iterator[str]:
    """Pieces of at most *limit*, cut between paragraphs, else lines, else words, else characters."""
    while size(text) > limit:
        cut = _place_to_cut(text, limit)
        yield text[:cut].rstrip()
        text = text[cut:].lstrip("\n")
    yield text


def _fitting(pieces: Iterable[Piece], limit: int) -> Iterator[str]:
    for piece in pieces:
        if piece.fenced:
            yield from (str(Piece(code, fenced=True)) for code in split(piece.text, limit - _FENCES))
        else:
            yield from (text for text in split(piece.text, limit) if text.strip())


def _place_to_cut(text: str, limit: int) -> int:
    """Behind the last break that leaves the beginning at least half full, else between two characters."""
    end = _within(text, limit)
    for mark in _BREAKS:
        if (place := text.rfind(mark, end // 2, end)) > 0:
            return place + len(mark)
    return next((place for place in range(end, end // 2, -1) if not _torn(text, place)), end)


def _within(text: str, limit: int) -> int:
    """How many characters of *text* have a size of at most *limit*."""
    end = min(limit, len(text))
    while (over := size(text[:end]) - limit) > 0:
        end -= (over + 1) // 2
    return end


def _torn(text: str, place: int) -> bool:
    """Whether a cut at *place* would go through an entity, or through what people see as one character."""
    around = _ENTITY.finditer(text, max(0, place - _LONGEST_ENTITY), place + _LONGEST_ENTITY)
    if any(entity.start() < place < entity.end() for entity in around):
        return True
    return place < len(text) and continues(text, place)


# The only links in what we post: those that a message names as such.


_SCHEMES = frozenset({"http", "https"})
_AS_WRITTEN = "!#$%&'()*+,/:;=?@[]~"


def sifted(links: Iterable[Link], most: int, chars: int) -> tuple[list[Link], list[str]]:
    """Those that can be links, at most *most* of at most *chars* together; the others as words."""
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
    """`<url|label>`, in which neither can end the other."""
    url = escape(quote(link.url, safe=_AS_WRITTEN))
    return f"<{url}|{escape(link.label) or url}>"


def _is_web(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in _SCHEMES and bool(parts.netloc)


# What a button carries to Slack and back: which action it is, the menu it belongs to, a value of its own.


TYPED: Mapping[Action, str] = {Action.CATCH_UP: "catchup", Action.EXPORT: "export"}
"""What could be typed in place of a press."""

PREFIX = "roundtable."
"""All action ids of ours begin with this, also those of older and newer versions."""


class Carried(NamedTuple):
    token: str
    value: str


def action_id(action: Action, nth: int = 1) -> str:
    """Ids are unique within a block: the second choice with the same action says so."""
    return f"{PREFIX}{action.value}" if nth == 1 else f"{PREFIX}{action.value}.{nth}"


def action_of(action_id: str) -> Action | None:
    """None for a button of somebody else, or of another version."""
    name = action_id.removeprefix(PREFIX).partition(".")[0]
    if not action_id.startswith(PREFIX) or name not in set(Action):
        return None
    return Action(name)


def value_of(choice: Choice, token: str) -> str:
    """Tokens contain no `/`."""
    value = f"{token}/{choice.value}"
    assert len(value) <= VALUE_CHARS, "a choice carries a reference, not a text"
    return value


def carried(value: str) -> Carried:
    token, _, own = value.partition("/")
    return Carried(token, own)


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
