"""
A message as Block Kit: one or more parts, each a post of its own. A card is always one part.

How a text is cut depends only on the text, so a part stays the same when it is posted again or rewritten without its
buttons.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from bot.domain.actions.action import Control
from bot.domain.actions.table import ACTIONS
from bot.domain.messages.message import (
    Card,
    CardPart,
    CardRow,
    Choice,
    Confirm,
    Emphasis,
    Link,
    Message,
)
from bot.slack.limits import (
    ACTIONS_ELEMENTS,
    CONFIRM_LABEL_CHARS,
    CONFIRM_TEXT_CHARS,
    CONFIRM_TITLE_CHARS,
    CONTEXT_ELEMENTS,
    LABEL_CHARS,
    LIST_LEVELS,
    MESSAGE_BLOCKS,
    MESSAGE_CHARS,
    OPTION_VALUE_CHARS,
    OVERFLOW_OPTIONS,
    POST_TEXT_CHARS,
    SECTION_CHARS,
    VALUE_CHARS,
    abridged,
    messages,
    sections,
    shortened,
    size,
)
from bot.slack.markdown import Piece, Run, escape, mrkdwn, one_line, pieces, runs

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
    url = escape(_quoted(link.url))
    return f"<{url}|{escape(link.label) or url}>"


def _quoted(url: str) -> str:
    return quote(url, safe=_AS_WRITTEN)


def _is_web(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in _SCHEMES and bool(parts.netloc)


_PERSON = re.compile(r"[UW][A-Z0-9]{1,30}", re.ASCII)

# --- what a button carries: its action, the token of its menu, a value ----------------------------------------------

PREFIX = "roundtable."
"""Of all our action ids, also those of older and newer versions."""

MORE = f"{PREFIX}more"
"""An overflow menu. Its options name their actions: `TOKEN/ACTION[/VALUE]`."""


class ButtonValue(NamedTuple):
    token: str
    value: str


def action_id(action: str) -> str:
    return f"{PREFIX}{action}"


def action_of(action_id: str) -> str:
    """Empty for a button of another app."""
    return action_id.removeprefix(PREFIX).partition(".")[0] if action_id.startswith(PREFIX) else ""


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
    """
    `text` says all that the blocks show, for notifications and screen readers. Where Slack refuses the blocks,
    `plainer` makes others, which are tried in turn.
    """

    text: str
    blocks: list[Block]
    plainer: tuple[Callable[[], list[Block]], ...] = ()


def parts(message: Message, *, label: str = "", signed: bool = False) -> list[RenderedMessage]:
    """*label* names the speaker in every `text`; when *signed*, also in the blocks, for posts without a username."""
    prefix = f"{escape(one_line(label))}: " if label else ""
    if message.card:
        return [_card(message, message.card, prefix, signed=signed)]
    links, words = fitting_links(message.links, CONTEXT_ELEMENTS, LINKS_CHARS)
    bodies = _bodies("\n".join([message.text, *words]), prefix, message.choices)
    *whole, last = (_part(body, prefix, signed=signed) for body in bodies)
    first, *others = [*whole, _with_tail(last, message, links)]
    return [_calling(message.pings, first), *others]


def _calling(people: Iterable[str], part: RenderedMessage) -> RenderedMessage:
    """Slack tells those people. Their ids stand in a section of their own, where no text of anybody is."""
    called = " ".join(f"<@{one}>" for one in people if _PERSON.fullmatch(one))
    if not called:
        return part
    section = {"type": "section", "text": {"type": "mrkdwn", "text": called}}
    return part._replace(text=f"{called}\n{part.text}", blocks=[section, *part.blocks])


def _bodies(text: str, prefix: str, choices: Sequence[Choice]) -> list[list[str]]:
    most = BODY_CHARS - LABEL_CHARS * max(0, len(choices) - ACTIONS_ELEMENTS)
    assert most >= SECTION_CHARS, "too many buttons for one message"
    room = SECTION_CHARS - size(f"{prefix}\n")
    return messages(sections(pieces(text), room) or [NOTHING], limit=most, most=BODY_SECTIONS)


def _part(body: list[str], prefix: str, *, signed: bool) -> RenderedMessage:
    first, *rest = body
    shown = _begun(prefix, first) if signed else first
    return RenderedMessage(prefix + "\n".join(body), [section_block(section) for section in (shown, *rest)])


def _begun(prefix: str, section: str) -> str:
    return f"{prefix}\n{section}" if prefix and section.startswith(OWN_LINE) else prefix + section


def _with_tail(part: RenderedMessage, message: Message, links: Sequence[Link]) -> RenderedMessage:
    note = shortened(mrkdwn(message.note), NOTE_CHARS)
    blocks = [
        *part.blocks,
        *context_blocks(markup(link) for link in links),
        *context_blocks([note] if note else []),
        *actions_blocks(list(button_elements(message.choices, message.token)), message.token),
    ]
    labels = [escape(_label(choice)) for choice in message.choices]
    return RenderedMessage(_all_words(part.text, links, note, labels), blocks)


def _all_words(text: str, links: Iterable[Link], note: str, labels: Iterable[str]) -> str:
    """What the blocks show, as one text."""
    shown = (escape(f"{link.label}: {link.url}") for link in links)
    return "\n".join(filter(None, [text, *shown, note, " ".join(f"[{label}]" for label in labels)]))


def section_block(text: str) -> Block:
    return {"type": "section", "text": _mrkdwn(text), "expand": True}


def context_blocks(texts: Iterable[str]) -> Iterator[Block]:
    if elements := [_mrkdwn(text) for text in texts]:
        yield {"type": "context", "elements": elements}


def _mrkdwn(text: str) -> Block:
    # Verbatim: Slack makes no links, channels or mentions out of plain words.
    return {"type": "mrkdwn", "text": text, "verbatim": True}


def actions_blocks(elements: Sequence[Block], token: str = "") -> Iterator[Block]:
    for start in range(0, len(elements), ACTIONS_ELEMENTS):
        name = {"block_id": f"{token}.{start}"} if token else {}
        yield {
            "type": "actions",
            **name,
            "elements": _with_unique_ids(elements[start : start + ACTIONS_ELEMENTS]),
        }


def _with_unique_ids(elements: Iterable[Block]) -> list[Block]:
    """Slack wants unique ids within a block, so the second element with the same action has a number."""
    seen: Counter[str] = Counter()
    named: list[Block] = []
    for element in elements:
        action = action_of(element["action_id"])
        seen[action] += 1
        number = f".{seen[action]}" if seen[action] > 1 else ""
        named.append({**element, "action_id": f"{action_id(action)}{number}"})
    return named


def button_elements(choices: Iterable[Choice], token: str) -> Iterator[Block]:
    for choice in choices:
        style = {} if choice.emphasis is Emphasis.PLAIN else {"style": choice.emphasis.value}
        confirm = {"confirm": _confirm(choice.confirm)} if choice.confirm else {}
        yield {
            "type": "button",
            "action_id": action_id(choice.action),
            "text": plain_text(_label(choice), LABEL_CHARS),
            "value": value_of(choice, token),
            **style,
            **confirm,
        }


def _confirm(confirm: Confirm) -> Block:
    return {
        "title": plain_text(confirm.title, CONFIRM_TITLE_CHARS),
        "text": plain_text(confirm.text, CONFIRM_TEXT_CHARS),
        "confirm": plain_text(confirm.yes, CONFIRM_LABEL_CHARS),
        "deny": plain_text(confirm.no, CONFIRM_LABEL_CHARS),
    }


def plain_text(text: str, limit: int) -> Block:
    return {"type": "plain_text", "text": shortened(one_line(text), limit) or NOTHING, "emoji": True}


def _label(choice: Choice) -> str:
    return shortened(one_line(choice.label), LABEL_CHARS) or choice.action


# --- cards ----------------------------------------------------------------------------------------------------------
#
# Everything is cut so that Slack takes it; what is left out is counted: "and 4 more".

BUTTONS_CHARS = 3_000
"""Of all buttons below a card, with the questions before them. Those that do not fit can be typed."""
MORE_OPTIONS = 2 * OVERFLOW_OPTIONS
STAND_PROMPT = "Where do you stand?"
SEVERAL_PROMPT = "Choose what it changes"
CARD_NOTE_CHARS, CARD_FOOT_CHARS = 800, 1_500
CARD_LINKS_CHARS = 1_000
INLINE_LINK_CHARS = 500
TITLE_CHARS = 150
ROW_CHARS = 1_000
UNITS = 400
"""Lines and rows of one part that are looked at."""

_INLINE_LINK = re.compile(r"\[([^\[\]\n]{1,200})\]\((https?://[^\s()<>]+)\)")
_OPEN, _CLOSE = "\ue000", "\ue001"
"""Around the number of a link, while the text around it is read as Markdown."""
_NUMBERED = re.compile(f"{_OPEN}([0-9]+){_CLOSE}")


def _card(message: Message, card: Card, prefix: str, *, signed: bool) -> RenderedMessage:
    links, words = fitting_links(message.links, CONTEXT_ELEMENTS, CARD_LINKS_CHARS)
    label = prefix if signed else ""
    rich, plain = (_CardBlocks(message, card, label, links=links, rich=rich) for rich in (True, False))
    behind = ", ".join(escape(_label(choice)) for choice in card.more)
    labels = dict.fromkeys(_label(choice) for choice in message.offered if choice not in card.more)
    text = prefix + mrkdwn("\n".join([message.text or card.title, *words]))
    note = shortened(mrkdwn(message.note), NOTE_CHARS)
    every = _all_words(text, links, note, [*map(escape, labels), *([f"⋯ {behind}"] if behind else [])])
    return RenderedMessage(abridged(every, POST_TEXT_CHARS), rich.blocks(), (plain.blocks, list))


def chars(blocks: object) -> int:
    """Of all texts in *blocks*, however deep."""
    if isinstance(blocks, list):
        return sum(map(chars, blocks))
    if isinstance(blocks, dict):
        own = blocks.get("text")
        return (size(own) if isinstance(own, str) else 0) + sum(map(chars, blocks.values()))
    return 0


class _CardBlocks:
    """Without *rich*, lists are sections, too."""

    def __init__(
        self, message: Message, card: Card, label: str, *, links: Sequence[Link], rich: bool
    ) -> None:
        self._message = message
        self._card = card
        self._label = label
        self._links = links
        self._rich = rich
        self._found: list[Link] = []
        self._inline = {one.url: one for one in links if size(markup(one)) <= INLINE_LINK_CHARS}

    def blocks(self) -> list[Block]:
        head, tail = self._head(), self._tail(self._links)
        body = self._body(MESSAGE_CHARS - chars(head) - chars(tail), MESSAGE_BLOCKS - len(head) - len(tail))
        shown = json.dumps([head, body])
        others = [
            one
            for one in self._links
            if _quoted(one.url) not in shown and escape(_quoted(one.url)) not in shown
        ]
        whole = [*head, *body, *self._tail(others)] or [section_block(NOTHING)]
        name = f"{self._message.token or 'card'}.{self._card.revision}"
        return [
            {**block, "block_id": f"{name}.{number}"}
            if "accessory" in block or block["type"] == "actions"
            else block
            for number, block in enumerate(whole)
        ]

    # --- above and below ----------------------------------------------------------------------------------------

    @property
    def _is_collapsed(self) -> bool:
        """Then ⋯ stands beside the title."""
        return bool(self._card.title) and not self._card.parts and not self._message.choices

    def _head(self) -> list[Block]:
        title = shortened(one_line(self._card.title), TITLE_CHARS)
        shown = self._label + (f"*{escape(title)}*" if title else "")
        menus = self._menus() if self._is_collapsed else []
        return [
            *([_with_accessory(section_block(shown.strip()), menus)] if shown.strip() else []),
            *self._small(self._card.subtitle),
            *actions_blocks(menus[1:]),
        ]

    def _tail(self, links: Sequence[Link]) -> list[Block]:
        choices: list[Choice] = []
        for choice in self._message.choices[:ACTIONS_ELEMENTS]:
            more = chars(_elements([*choices, choice], self._message.token))
            choices += [choice] if more <= BUTTONS_CHARS else []
        elements = [*_elements(choices, self._message.token), *([] if self._is_collapsed else self._menus())]
        return [
            *context_blocks(markup(link) for link in links),
            *self._small(self._message.note),
            *actions_blocks(elements),
            *self._small("\n".join(self._card.foot), CARD_FOOT_CHARS),
        ]

    def _menus(self) -> list[Block]:
        return _menus(self._card.more[:MORE_OPTIONS], self._message.token)

    def _small(self, text: str, limit: int = CARD_NOTE_CHARS) -> list[Block]:
        return [*context_blocks(filter(None, [self._mrkdwn(text, limit)]))]

    # --- parts --------------------------------------------------------------------------------------------------

    def _body(self, room: int, most: int) -> list[Block]:
        found: list[Block] = []
        left = 0
        room, most = room - chars(_left_out(0)), most - 1
        for part in self._card.parts:
            blocks, missing = self._fitted(part, room - chars(found), most - len(found))
            found += blocks
            left += missing
        return [*found, *(_left_out(left) if left else [])]

    def _fitted(self, part: CardPart, room: int, most: int) -> tuple[list[Block], int]:
        """As much of *part* as fits, and of how many lines and rows nothing is shown."""
        lines = part.prose.split("\n") if part.prose else []
        units = len(lines) + len(part.rows)

        def shown(count: int) -> list[Block]:
            kept = part.but(prose="\n".join(lines[:count]), rows=part.rows[: max(0, count - len(lines))])
            if count < units:
                kept = kept.but(rows=(*kept.rows, CardRow(text="", aside=f"and {units - count} more")))
            return self._part(kept)

        def fits(blocks: list[Block]) -> bool:
            return chars(blocks) <= room and len(blocks) <= most

        if units <= UNITS and fits(whole := shown(units)):
            return whole, 0
        low, high = -1, min(units, UNITS)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if fits(shown(middle)) else (low, middle - 1)
        return (shown(low), 0) if low >= 0 else ([], max(1, units))

    def _part(self, part: CardPart) -> list[Block]:
        menus = [
            *button_elements([part.button] if part.button else [], self._message.token),
            *_menus(part.options, self._message.token),
        ]
        title = f"*{escape(shortened(one_line(part.title), TITLE_CHARS))}*" if part.title else ""
        in_text = part.numbered or not self._rich or bool(menus and not title and not part.prose)
        above = [Piece(title)] if title and (in_text or menus or part.prose) else []
        texts = [
            *above,
            *self._prose(part.prose),
            *([Piece(self._line(row, part)) for row in part.rows] if in_text else []),
        ]
        found = [section_block(text) for text in sections(texts)]
        if found:
            found[0] = _with_accessory(found[0], menus)
            menus = menus[1:]
        if part.rows and not in_text:
            found.append(self._list(part, title="" if above else part.title))
        below = button_elements(part.buttons, self._message.token)
        return [*found, *actions_blocks(menus), *actions_blocks(list(below))]

    def _prose(self, text: str) -> Sequence[Piece]:
        linked = [piece._replace(text=self._linked(piece.text)) for piece in pieces(self._marked(text))]
        if all(size(piece.text) <= SECTION_CHARS - LABEL_CHARS for piece in linked):
            return linked
        return pieces(text)

    def _line(self, row: CardRow, part: CardPart) -> str:
        """A row in a section."""
        mark = "" if part.numbered else "◦ " if row.level else "• "
        between = "\n" if part.numbered and len(part.rows) == 1 else "  "
        name = escape(shortened(one_line(row.id), LABEL_CHARS))
        if part.struck:
            words = escape("".join(run.text for run in runs(row.text)).replace("~", ""))
            said = f"~{'  '.join(filter(None, [name, shortened(words, ROW_CHARS)]))}~"
        else:
            text = self._mrkdwn(shortened(one_line(row.text), ROW_CHARS), SECTION_CHARS - ROW_CHARS)
            said = "  ".join(filter(None, [f"*{name}*" if name else "", text]))
        small = "".join(run.text for run in runs(self._marked(shortened(row.aside, CARD_NOTE_CHARS))))
        aside = f"_{self._linked(escape(small))}_" if small else ""
        return "    " * min(row.level, LIST_LEVELS) + mark + between.join(filter(None, [said, aside]))

    def _list(self, part: CardPart, *, title: str) -> Block:
        """Text in `rich_text` is inert: it needs no escaping."""
        levels = groupby(part.rows, key=lambda row: max(0, min(row.level, LIST_LEVELS)))
        elements: list[Block] = (
            [_rich_section([_rich_text(Run(one_line(title), frozenset({"bold"})))])] if title else []
        )
        elements += [
            {
                "type": "rich_text_list",
                "style": "bullet",
                "indent": level,
                "elements": [self._item(row, struck=part.struck) for row in rows],
            }
            for level, rows in levels
        ]
        return {"type": "rich_text", "elements": elements}

    def _item(self, row: CardRow, *, struck: bool) -> Block:
        both = frozenset({"strike"}) if struck else frozenset[str]()
        name = shortened(one_line(row.id), LABEL_CHARS)
        said = runs(self._marked(shortened(row.text, ROW_CHARS))) if row.text.strip() else []
        small = runs(self._marked(shortened(row.aside, CARD_NOTE_CHARS))) if row.aside.strip() else []
        spaced = [Run("  ")] if small and (said or name) else []
        found = [
            *([Run(f"{name}  ", both | {"bold"})] if name else []),
            *(run._replace(styles=run.styles | both) for run in said),
            *spaced,
            *(run._replace(styles=run.styles | {"italic"}) for run in small),
        ]
        return _rich_section(
            [one for run in found for one in self._rich_texts(run)] or [_rich_text(Run(NOTHING))]
        )

    def _rich_texts(self, run: Run) -> Iterator[Block]:
        for number, text in enumerate(_NUMBERED.split(run.text)):
            if number % 2:
                link = self._found[int(text)]
                yield {"type": "link", "url": _quoted(link.url), "text": link.label, **_style(run.styles)}
            elif text:
                yield _rich_text(run._replace(text=text))

    # --- links in a text: only to where the message links ---------------------------------------------------------

    def _marked(self, text: str) -> str:
        """*text* with the number of a link in place of each `[label](url)` that may be one."""

        def numbered(found: re.Match[str]) -> str:
            if found[2] not in self._inline:
                return found[0]
            label = shortened(one_line(found[1]), LABEL_CHARS)
            self._found.append(Link(label=label or found[2], url=found[2]))
            return f"{_OPEN}{len(self._found) - 1}{_CLOSE}"

        return _INLINE_LINK.sub(numbered, text.replace(_OPEN, "").replace(_CLOSE, ""))

    def _linked(self, text: str) -> str:
        return _NUMBERED.sub(lambda found: markup(self._found[int(found[1])]), text)

    def _mrkdwn(self, text: str, limit: int) -> str:
        linked = self._linked(mrkdwn(self._marked(text)))
        return linked if size(linked) <= limit else shortened(mrkdwn(text), limit)


def _left_out(count: int) -> list[Block]:
    return [*context_blocks([f"and {count} more"])]


def _elements(choices: Sequence[Choice], token: str) -> list[Block]:
    """Buttons; the choices of where one stands are one select, and so are those of what a decision changes."""
    stands = [choice for choice in choices if _control(choice) is Control.SELECT]
    several = [choice for choice in choices if _control(choice) is Control.SEVERAL]
    buttons = button_elements((choice for choice in choices if choice not in (*stands, *several)), token)
    selects: list[Block] = []
    if stands:
        options = [_option(one, value_of(one, token)) for one in stands]
        selects.append(_select("static_select", stands[0].action, STAND_PROMPT, options=options))
    if several:
        headings = dict.fromkeys(one.group for one in several)
        groups = [
            {
                "label": plain_text(heading, LABEL_CHARS),
                "options": [_option(one, value_of(one, token)) for one in several if one.group == heading],
            }
            for heading in headings
        ]
        action = several[0].action
        selects.append(_select("multi_static_select", action, SEVERAL_PROMPT, option_groups=groups))
    return [*selects, *buttons]


def _select(kind: str, action: str, prompt: str, **options: list[Block]) -> Block:
    placeholder = plain_text(prompt, LABEL_CHARS)
    return {"type": kind, "action_id": action_id(action), "placeholder": placeholder, **options}


def _option(choice: Choice, value: str) -> Block:
    return {"text": plain_text(_label(choice), LABEL_CHARS), "value": value}


def _menus(choices: Sequence[Choice], token: str) -> list[Block]:
    """
    Overflow menus of two to five options. A choice that is alone, asks first or carries too much is a button: one
    question cannot be for one option only.
    """
    listed = [one for one in choices if _fits_in_menu(one, token)]
    groups = [listed[start : start + OVERFLOW_OPTIONS] for start in range(0, len(listed), OVERFLOW_OPTIONS)]
    alone = groups.pop() if groups and len(groups[-1]) == 1 else []
    single = [*(one for one in choices if not _fits_in_menu(one, token)), *alone]
    return [*button_elements(single, token), *(_overflow(group, token) for group in groups)]


def _fits_in_menu(choice: Choice, token: str) -> bool:
    return not choice.confirm and len(_option_value(choice, token)) <= OPTION_VALUE_CHARS


def _overflow(choices: Sequence[Choice], token: str) -> Block:
    actions = {choice.action for choice in choices}
    own = actions.pop() if len(actions) == 1 and _control(choices[0]) is Control.MENU else None
    carry = value_of if own else _option_value
    options = [_option(choice, carry(choice, token)) for choice in choices]
    return {"type": "overflow", "action_id": action_id(own) if own else MORE, "options": options}


def _option_value(choice: Choice, token: str) -> str:
    return "/".join(filter(None, [f"{token}/{choice.action}", choice.value]))


def _control(choice: Choice) -> Control:
    action = ACTIONS.get(choice.action)
    return action.control if action else Control.BUTTON


def chosen(value: str) -> tuple[str, ButtonValue]:
    """What an option of `roundtable.more` carries."""
    token, rest = carried(value)
    name, _, own = rest.partition("/")
    return name, ButtonValue(token, own)


def _with_accessory(section: Block, elements: Sequence[Block]) -> Block:
    return {**section, "accessory": elements[0]} if elements else section


def _rich_section(elements: Sequence[Block]) -> Block:
    return {"type": "rich_text_section", "elements": list(elements)}


def _rich_text(run: Run) -> Block:
    return {"type": "text", "text": run.text, **_style(run.styles)}


def _style(styles: frozenset[str]) -> Block:
    return {"style": dict.fromkeys(sorted(styles), True)} if styles else {}
