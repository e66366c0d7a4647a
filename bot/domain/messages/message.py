"""What we say, without saying where: the one thing that crosses from the domain to a chat."""

from collections.abc import Iterator
from enum import StrEnum

from bot.domain.values.text import paragraphs
from bot.domain.values.value import Stored

ITEM = "item"
"""
The token of buttons that belong to no menu: they do what their typed word does, for as long as the message stands. The
tokens of menus are hexadecimal.
"""
NO_STEP = "none"
"""A menu or a discussion: what people say below it answers no step's question."""


class Action(StrEnum):
    """What people can press. The names are public: Slack sees them as `roundtable.<value>`."""

    FINISH_STEP = "finish_step"
    CONTINUE = "continue"
    ELABORATE = "elaborate"
    SKIP = "skip"
    END_ELABORATION = "end_elaboration"
    GO_ON = "go_on"
    DECIDE = "decide"
    STOP = "stop"
    RESUME = "resume"
    RETRY = "retry"
    RESTORE = "restore"
    START_OVER = "start_over"
    DEPTH_BRIEF = "depth_brief"
    DEPTH_STANDARD = "depth_standard"
    DEPTH_DEEP = "depth_deep"
    REANALYSE = "reanalyse"
    CANCEL = "cancel"
    ALLOW_MORE = "allow_more"
    LINE = "line"
    ACCEPT_ALL = "accept_all"
    REOPEN = "reopen"
    AMEND = "amend"
    SORT = "sort"
    INCLUDE = "include"
    CARRY = "carry"
    """What was said and stands in no entry. The value is `NUMBER/WHAT`."""
    READ = "read"
    """For one person: all of the card of the step that is its value, or with `so far ITEM` what an item has."""
    KEEP = "keep"
    WITHDRAW = "withdraw"
    CATCH_UP = "catch_up"
    EXPORT = "export"
    FINDINGS = "findings"
    TAKE_UP = "take_up"
    TAKE_OVER = "take_over"
    """Lines that an earlier version wrote, or that were sealed by keys that are lost."""
    PLAN = "plan"
    PLAN_GO = "plan_go"
    PLAN_CLARIFY = "plan_clarify"
    PLAN_HOLD = "plan_hold"
    PLAN_REDO = "plan_redo"
    PLAN_ROUND = "plan_round"
    PLAN_SKIP = "plan_skip"
    PLAN_SKIP_REST = "plan_skip_rest"
    PLAN_STRAIGHT = "plan_straight"
    PLAN_LEAVE = "plan_leave"
    """On one line of a card. The value is `NUMBER/WHAT`."""
    SETTINGS = "settings"
    NUDGE = "nudge"
    NOTHING_TO_ADD = "pass"
    LATER = "later"
    EXTEND = "extend"
    WITHOUT = "without"
    """The value is the person who is no longer waited for."""
    UNTIL = "until"
    """Another time for answers, by a form."""
    NO_LIMIT = "until_off"
    """Answers are not due at any time."""
    SNOOZE = "snooze"
    DIGEST_TIME = "digest_time"
    START_FORM = "start_form"
    WAITING = "waiting"
    """What waits for who presses, in a direct message."""
    ANSWER_FORM = "answer_form"
    """In a direct message. The value is `ITEM/STEP`, or `ITEM/Q-001` for a recorded question."""
    STAND = "stand"
    """The value is the letter of an option, UNDECIDED or SOMETHING_ELSE. All of one message are one select."""
    OPTION = "option"
    """Names an option in a form."""
    RECORD = "record"
    OBJECT = "object"
    OBJECTION = "objection"
    """The value is `NUMBER/FATE`."""
    AGREED = "agreed"
    NOT_AGREED = "not_agreed"
    """To a message that was marked as a decision, with the mark as value; or to what a discussion holds."""
    ASK_ALL = "ask_all"
    MORE_TURNS = "more_turns"
    SEALED = "sealed"
    REVEAL = "reveal"


FORMS = frozenset({
    Action.AMEND, Action.SORT, Action.SETTINGS, Action.START_FORM, Action.RECORD, Action.OBJECT, Action.SEALED,
    Action.ANSWER_FORM, Action.UNTIL, Action.OPTION,
})  # fmt: skip
"""
These open a form. The value is an entry, a step (the current one by default), the item of the settings, or the option
that is to be recorded.
"""
UNDECIDED = "none"
"""In place of the letter of an option."""
SOMETHING_ELSE = "other"
"""In place of a letter: an option of one's own, which a form asks for."""
WITH_A_REASON = frozenset({"rejected", "risk"})
"""What becomes of an objection for a reason, which a form asks for."""


def opens_form(action: Action, value: str) -> bool:
    if action is Action.OBJECTION:
        return value.rpartition("/")[2] in WITH_A_REASON
    if action is Action.STAND:
        return value == SOMETHING_ELSE
    return action in FORMS


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
    of one menu that share an action. `confirm` is asked before it counts.
    """

    action: Action
    label: str
    emphasis: Emphasis = Emphasis.PLAIN
    value: str = ""
    confirm: Confirm | None = None


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
    they never come from a text.
    """

    text: str
    speaker: str = ""
    choices: tuple[Choice, ...] = ()
    token: str = ""
    note: str = ""
    links: tuple[Link, ...] = ()
    about: str = ""
    last_line: str = ""
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
