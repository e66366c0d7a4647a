"""
An action is one row: what people press, what they type instead, where that counts, and the transition that does it.

Everything that has to know an action asks a table of rows: the machine, the reader of words, and Slack's side. A reader
of typed words says what stands behind the words, or None for other words.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from typing import Any, NamedTuple, Self

from bot.domain.roundtable.stage import Stage

Reader = Callable[[str], str | None]

LONGEST = 200
"""A longer message asks for nothing."""
SMALL_WORDS_MAX = 5
SMALL_WORD = (
    r"(?:ok(?:ay)?|please|let'?s|let us|can we|could we|be|go|make it|do|in|a|the|more|mode|bit|now|thanks)"
)

CLOSERS = r"(?:done|exit|back|wrap(?:ping)?(?: \w+)? ?up|go back)"
POLITE = r"(?:ok(?:ay)?|thanks|thank you|great|cool|alright|all right|right|good|so|and|well|yes|yep|now|please|hey)"
WE = (
    r"(?:i'?m|i am|we'?re|we are|let'?s|let us|i think(?: we'?re| we are| i'?m)?|we can|can we|shall we|could we|"
    r"time to|we should|i want to|i'?d like to|all)"
)
TALK = r"(?:(?:our|the|this|that) (?:discussion|conversation|elaboration|roundtable|talk|topic|session|debate)\b.*)"
AFTER = (
    rf"(?:now|here|for now|please|thanks|thank you|then|everyone|folks|team|all|with this|with that|{TALK})"
)
EXIT = re.compile(rf"^(?:{POLITE} )*+(?:{WE} )*+{CLOSERS}(?: {AFTER})*$")
NOT_YET = re.compile(r"\b(?:not|isn'?t|aren'?t|never|don'?t|hardly|before|until|when|once|if|after)\b")
PERHAPS = re.compile(r"\b(?:done|exit$|wrap(?:ping)? (?:\w+ )?up)\b")
PERHAPS_WORDS_MAX = 6


def alone(*phrases: str) -> Reader:
    """One of *phrases* and nothing else, apart from punctuation."""
    return lambda text: "" if len(text) <= LONGEST and plain(text) in phrases else None


def among_small_words(*phrases: str) -> Reader:
    """One of *phrases*, with words such as "please": anything longer is an answer that happens to hold it."""
    known = "|".join(map(re.escape, phrases))
    pattern = re.compile(rf"(?:{SMALL_WORD} )*(?:{known})(?: {SMALL_WORD})*")

    def read_phrase(text: str) -> str | None:
        said = plain(text) if len(text) <= LONGEST else ""
        return "" if len(said.split()) <= SMALL_WORDS_MAX and pattern.fullmatch(said) else None

    return read_phrase


def matching(pattern: str) -> Reader:
    """The whole message; the group `value` stands behind the words."""
    compiled = re.compile(pattern, re.IGNORECASE | re.ASCII)

    def read_value(text: str) -> str | None:
        found = compiled.fullmatch(" ".join(text.split())) if len(text) <= LONGEST else None
        return (found.groupdict().get("value") or "") if found else None

    return read_value


class EndIntent(StrEnum):
    """Whether a text asks to end the discussion."""

    YES = "yes"
    UNSURE = "unsure"
    NO = "no"


def exit_wish(text: str) -> EndIntent:
    """
    Whether ending the discussion is what *text* is about: "let's wrap up our discussion of errors" is,
    "when the task is done, what happens?" and "back to the API" are not.
    """
    said = plain(text)
    if EXIT.match(said) and not text.rstrip().endswith("?"):
        return EndIntent.YES
    if NOT_YET.search(said) or not PERHAPS.search(said):
        return EndIntent.NO
    return EndIntent.UNSURE if len(said.split()) <= PERHAPS_WORDS_MAX else EndIntent.NO


def plain(text: str) -> str:
    """Lower case, straight apostrophes, without punctuation around words."""
    straight = text.lower().replace("\u2019", "'")
    return " ".join(re.sub(r"[^\w' ]+", " ", straight).split())


TRANSITIONS = "bot.domain.roundtable.transitions"

Bound = str | Callable[..., Any]
"""A function of the transitions, as `module.function`: they import the table, and not the other way round."""


class Who(StrEnum):
    MAY_PRESS = "may_press"
    """As the policy says."""
    ANYBODY = "anybody"
    """In words. A button is always for those who may press."""


class Elsewhere(StrEnum):
    """What typed words are where they do nothing."""

    NOTHING = "nothing"
    """They were meant for us all the same."""
    FEEDBACK = "feedback"
    """They answer no question, and may be about a step that is finished."""
    CONTENT = "content"


class Control(StrEnum):
    BUTTON = "button"
    MENU = "menu"
    """All of one line are an overflow menu of their own."""
    SELECT = "select"
    """All of one message are a list to choose from."""
    SEVERAL = "several"
    """All of one message are a list to choose several from, in groups."""


class Typed(NamedTuple):
    """
    What does the same without the button, in these stages. *is_said*: it is a turn or an answer, too, so that the
    transition of what is said carries it out. *noted*: a reaction says that it was understood.
    """

    read: Reader
    stages: frozenset[Stage]
    elsewhere: Elsewhere = Elsewhere.NOTHING
    is_said: bool = False
    noted: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class ActionRow(str):
    """
    It is its own name, which is public: Slack sees it as `roundtable.<name>`. `do` is the transition of a press, and of
    what is typed for it; `when` says whether typed words count, beside their stages.

    `verb` is the verb that a press stands for, and `form` the form that it opens, with `form_for` only where the value
    ends so. `outside`: it also stands on messages that belong to no menu. `personal`: it is pressed where there is no
    channel, and may carry a time.
    """

    __slots__ = ("__dict__",)

    name: str
    do: Bound = ""
    typed: tuple[Typed, ...] = ()
    when: Bound = ""
    who: Who = Who.MAY_PRESS
    verb: str = ""
    form: str = ""
    form_for: frozenset[str] = frozenset()
    control: Control = Control.BUTTON
    outside: bool = False
    personal: bool = False

    def __new__(cls, name: str, *_: object, **_facts: object) -> Self:
        return super().__new__(cls, name)

    def opens_form(self, value: str) -> bool:
        return bool(self.form) and (not self.form_for or value.rpartition("/")[2] in self.form_for)

    def read_words(self, text: str) -> str | None:
        """The value that *text* gives this action, in any stage; None if *text* is not one of its words."""
        found = (typed.read(text) for typed in self.typed)
        return next((value for value in found if value is not None), None)


class ReadWords(NamedTuple):
    """*value* is what the button would carry."""

    action: ActionRow
    typed: Typed
    value: str


class Actions:
    """The table."""

    def __init__(self, rows: Iterable[ActionRow]) -> None:
        self.rows = tuple(rows)
        self._of = {row.name: row for row in self.rows}

    def __iter__(self) -> Iterator[ActionRow]:
        return iter(self.rows)

    def __getitem__(self, name: str) -> ActionRow:
        return self._of[name]

    def get(self, name: str) -> ActionRow | None:
        """None for an action of another version."""
        return self._of.get(name)

    def read_words(self, text: str, stage: Stage | None = None) -> Iterator[ReadWords]:
        """What *text* may ask for, in *stage* or in any."""
        for row in self.rows:
            for typed in row.typed:
                if stage in {None, *typed.stages} and (value := typed.read(text)) is not None:
                    yield ReadWords(row, typed, value)


def bound(function: Bound) -> Callable[..., Any]:
    if not isinstance(function, str):
        return function
    module, _, name = function.partition(".")
    found: Callable[..., Any] = getattr(import_module(f"{TRANSITIONS}.{module}"), name)
    return found
