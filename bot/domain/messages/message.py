"""What we say, without saying where: the one thing that crosses from the domain to a chat."""

from collections.abc import Iterator
from enum import StrEnum

from bot.domain.actions import table
from bot.domain.values.text import paragraphs
from bot.domain.values.value import Stored

ITEM = "item"
"""
The token of buttons that belong to no menu: they do what their typed word does, for as long as the message stands. The
tokens of menus are hexadecimal.
"""
NO_STEP = "none"
"""A menu or a discussion: what people say below it answers no step's question."""


Action = table.Action
"""What people can press: the rows of the table."""


class Emphasis(StrEnum):
    PLAIN = ""
    PRIMARY = "primary"


class Confirm(Stored):
    """A question before a press counts. `yes` and `no` are labels of buttons."""

    title: str
    text: str
    yes: str
    no: str = "Go back"


class Choice(Stored):
    """
    One button. `value` is for choices that stand outside a menu, such as the picker of `resume`, and for those
    of one menu that share an action. `confirm` is asked before it counts. `group` is the heading that it stands under
    in a list.
    """

    action: str
    label: str
    emphasis: Emphasis = Emphasis.PLAIN
    value: str = ""
    confirm: Confirm | None = None
    group: str = ""


class Link(Stored):
    label: str
    url: str


# A card is a message that is edited while its subject changes, such as the open step. `bot/slack/render.py` makes
# blocks of it, and the message's `text` says the same in words.


class CardRow(Stored):
    """
    One row of a list: `id` is bold in front, `text` is Markdown on one line, `aside` is small print behind it
    ("no test yet", "suggested by Maya, not confirmed"). `level` 1 is below the row before it.
    """

    text: str
    id: str = ""
    aside: str = ""
    level: int = 0


class CardPart(Stored):
    """
    A part of the body: a bold `title`, then `prose` (Markdown, may have several lines), then the rows. A
    `button`, or an overflow menu of `options`, stands beside it, a row of `buttons` below it. `numbered` rows
    show their `id` as a number or letter and no bullet. `struck`: a person left it out; it is shown crossed out.
    """

    title: str = ""
    prose: str = ""
    rows: tuple[CardRow, ...] = ()
    numbered: bool = False
    struck: bool = False
    button: Choice | None = None
    options: tuple[Choice, ...] = ()
    buttons: tuple[Choice, ...] = ()


class Card(Stored):
    """
    `title` is bold, `subtitle` small print below it. `more` are the choices behind ⋯. `foot` is small print
    below the buttons. `revision` grows with each edit, so that selects do not keep an old choice.
    """

    title: str
    subtitle: str = ""
    parts: tuple[CardPart, ...] = ()
    more: tuple[Choice, ...] = ()
    foot: tuple[str, ...] = ()
    revision: int = 0


class Message(Stored):
    """
    `text` is Markdown and untrusted throughout: it is shown, and nothing in it acts, pings or links.

    `card` is shown in place of `text` where there is room for blocks. `speaker` is a persona's key; empty means
    the host. `token` names the menu that the choices belong to, and comes back with a press. `note` is the
    small print below. `about` is the step that what people say below it is about, or NO_STEP. `last_line` is
    the newest that was committed when it was posted. `pings` are ids of people whom it calls, which Slack tells them;
    they never come from a text. A question at the bottom and a card that is posted again are not `recorded`: no line
    of the transcript is about that post.
    """

    text: str
    speaker: str = ""
    choices: tuple[Choice, ...] = ()
    token: str = ""
    note: str = ""
    links: tuple[Link, ...] = ()
    about: str = ""
    last_line: str = ""
    recorded: bool = True
    card: Card | None = None
    pings: tuple[str, ...] = ()

    @property
    def offered(self) -> tuple[Choice, ...]:
        """Everything that can be pressed in it, also on its card."""
        if self.card is None:
            return self.choices
        beside = (
            choice
            for part in self.card.parts
            for choice in (*((part.button,) if part.button else ()), *part.options, *part.buttons)
        )
        return (*self.choices, *beside, *self.card.more)

    def spent(self) -> "Message":
        """What it says, with nothing to press any more."""
        card = self.card
        if card:
            parts = tuple(part.but(button=None, options=(), buttons=()) for part in card.parts)
            card = card.but(more=(), parts=parts)
        return self.but(choices=(), token="", card=card)


def card_in_words(card: Card) -> str:
    """All that *card* says, but the title; for the `text` of its message."""
    parts = ("\n".join(_part_in_words(part)) for part in card.parts)
    below = "\n".join(filter(None, (*card.foot, card.subtitle)))
    return paragraphs(*parts, below)


def _part_in_words(part: CardPart) -> Iterator[str]:
    if part.title:
        yield f"**{part.title}**"
    if part.prose:
        yield part.prose
    for row in part.rows:
        sign = "" if part.numbered else "- "
        words = " ".join(filter(None, (row.id, row.text, f"({row.aside})" if row.aside else "")))
        yield f"{'  ' * row.level}{sign}{words}"
