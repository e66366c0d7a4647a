"""What one person sees on the Home tab and in the daily message, and how they want to be reminded."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from bot.domain.messages.message import Action, Choice
from bot.domain.values.text import counted, listed
from bot.domain.values.value import Stored

USUAL_TIME = "09:00"
OFF, ON = "off", "on"
SNOOZES = {"": 1, "1d": 1, "today": 1, "7d": 7, "week": 7, "this week": 7}
"""Days for which a person wants no message."""
_TIME = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)", re.ASCII)


class ReminderSettings(Stored):
    """
    `time` is by the person's own clock. `not_before` is the first day on which they want a message again. `home_at` is
    when they last opened Home.
    """

    time: str = USUAL_TIME
    off: bool = False
    not_before: str = ""
    home_at: str = ""


class WaitingRow(NamedTuple):
    """One thing that waits in *title*. *text* is untrusted, and so is *title*."""

    title: str
    text: str
    label: str
    url: str


class HeldRow(NamedTuple):
    """A roundtable that the person takes part in. *done* of *steps* are finished. *paused* is its slug if it is."""

    title: str
    channel: str
    done: int
    steps: int
    where: str
    state: str
    url: str
    paused: str = ""


class DecidedRow(NamedTuple):
    """*subject* is what the form to change it is about: `ITEM/DEC-001`."""

    text: str
    by: str
    url: str
    subject: str


class HomePage(NamedTuple):
    waiting: tuple[WaitingRow, ...] = ()
    held: tuple[HeldRow, ...] = ()
    decided: tuple[DecidedRow, ...] = ()
    settings: ReminderSettings = ReminderSettings()
    today: str = ""
    """By the person's clock."""
    notice: str = ""
    """What became of their last press there, if it did not do what they wanted."""


class DailyMessage(NamedTuple):
    """Posted once a day at most, and only if something waits."""

    name: str
    waiting: tuple[WaitingRow, ...]

    @property
    def greeting(self) -> str:
        return f"Good morning, {self.name}."

    @property
    def how_many(self) -> str:
        if len(self.waiting) == 1:
            return "One thing waits for you."
        return f"{counted(len(self.waiting), 'thing')} wait for you."


def time_in(text: str) -> str:
    """`9:00` as `09:00`; empty for what is no time."""
    found = _TIME.fullmatch(text.strip())
    return f"{int(found[1]):02}:{found[2]}" if found else ""


NOT_TODAY = Choice(action=Action.SNOOZE, label="Not today", value="1d")
NOT_THIS_WEEK = NOT_TODAY.but(label="Not this week", value="7d")
NO_REMINDERS = NOT_TODAY.but(label="No reminders", value=OFF)
OTHER_TIME = Choice(action=Action.DIGEST_TIME, label="Other time…")
RESUME = Choice(action=Action.RESUME, label="Resume")
CHANGE = Choice(action=Action.REVERSE, label="Change…")
"""A decision."""
AT = Choice(action=Action.DIGEST_TIME, label="Time")

# --- sentences ----------------------------------------------------------------------------------------------------

NOTHING_WAITS = "Nothing waits for you."
ABOUT = (
    "A roundtable takes an idea, an issue or a ticket through the questions a good team would ask, in one thread. You "
    "talk; it is written down, and you can read it as files in git."
)
OR_TYPE = (
    "Type `/roundtable start Offline sync` in a channel, or choose *Start a roundtable* from the menu of any "
    "message."
)
ONE_A_DAY = "One message a day, only when something waits for you."
NO_MORE = "No more reminders. Choose a time to turn them on again."
WHICH = "You see roundtables of channels that you are in."
GONE = "That roundtable is not there any more, or you are not in its channel."
NO_TIME = "I need a time, as in `remind 08:30`. `remind off` turns the messages off."
IN_QUIET_HOURS = "I send no messages at that time. Choose another time."


def paused(by: str) -> str:
    return f"Paused by {by}" if by else "Paused"


def set_to(settings: ReminderSettings) -> str:
    if settings.off:
        return "No more reminders. Home turns them on again, and so does `remind 09:00`."
    return f"You get one message a day at {settings.time} by your clock, only when something waits for you."


def snoozed(until: str, days: int) -> str:
    return "Not before tomorrow." if days == 1 else f"Not before {until}."


def asks(persona: str, question: str) -> str:
    return f"{persona} asks: {question}"


def yours_to_answer(question: str) -> str:
    return f"A question is yours to answer: {question}"


def objects(by: str, text: str) -> str:
    return f"{by} objects to what you decided: “{text}”"


def still_open(text: str) -> str:
    return f"Your objection is still open: “{text}”"


def why_object(text: str) -> str:
    return f"Why do you object to “{text}”? Write `objection: …` in the thread."


def did_you_agree(text: str, aside: str) -> str:
    return f"Did you agree on “{text}”? {aside}"


def others_answered(names: Sequence[str]) -> str:
    if not names:
        return ""
    return f"{listed(tuple(names))} {'has' if len(names) == 1 else 'have'} answered."
