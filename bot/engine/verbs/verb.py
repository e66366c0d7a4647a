"""
A verb is one row: its word, its help, what may follow it, and what carries it out. A table of them reads what people
type behind the slash, in a mention, or in a direct message.
"""

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from bot.domain.messages import discussion_wording, verb_wording
from bot.domain.messages.message import Message
from bot.domain.values.places import ChannelKind, Person, Place
from bot.domain.values.text import one_line
from bot.engine.desk import Desk, Reply

HELP = "help"
SHOWN_CHARS = 60
ALIKE = 0.7

NOTHING = re.compile("")
ONE_WORD = re.compile(r"\S*")
ANYTHING = re.compile(".*", re.DOTALL)
_SEPARATED = re.compile(r"[:,\s]+")
_CODE = re.compile("`+")


@dataclass(frozen=True, slots=True, kw_only=True)
class VerbRequest:
    """
    A verb and the text after it. The answer goes to `place`. `adopts` is the thread that a start takes over, `ts` the
    message with the verb, if it is in a thread. `room` is what the payload says about the channel; Slack is asked only
    for verbs that open a thread. `called` are ids of people whom a start mentions.
    """

    verb: str
    rest: str
    place: Place
    person: Person
    key: str
    at: str
    adopts: str = ""
    reply_url: str = ""
    room: ChannelKind = ChannelKind.UNKNOWN
    ts: str = ""
    called: tuple[str, ...] = ()

    @property
    def sent(self) -> dict[str, Any]:
        """The fields that every input of a person has."""
        return {"key": self.key, "at": self.at, "person": self.person}

    @property
    def placed(self) -> dict[str, Any]:
        """Those, and the fields that say where the answer goes."""
        return {**self.sent, "place": self.place, "reply_url": self.reply_url}


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """
    `help` is its line there, `hint` what Slack shows while people type. `takes` is what may follow the word in a
    mention: a sentence that only begins like a command, such as "stop worrying about that", is none.

    `means` are sentences that stand for it: what follows the word then is the group `rest`, or the text beside it.
    `opens`: it may open a thread in the channel.

    A verb with `slash` and `direct` is one only where nobody else reads it, and is read by these patterns there: the
    group `rest` follows it.
    """

    word: str
    do: Callable[[Desk, VerbRequest], Awaitable[Reply]]
    help: str = ""
    hint: str = ""
    takes: re.Pattern[str] = ONE_WORD
    means: tuple[tuple[re.Pattern[str], str], ...] = ()
    opens: bool = False
    slash: re.Pattern[str] | None = None
    direct: re.Pattern[str] | None = None


class Verbs:
    """The table. `HELP` is no row, because it tells of all others."""

    def __init__(self, rows: Iterable[Verb]) -> None:
        self.rows = (*rows, Verb(word=HELP, do=self._help, help=verb_wording.HELP, hint=HELP, takes=NOTHING))
        self._of = {row.word: row for row in self.rows}

    def __iter__(self) -> Iterator[str]:
        return iter(self._of)

    def __getitem__(self, word: str) -> Verb:
        return self._of[word]

    @property
    def hint(self) -> str:
        return " | ".join(row.hint for row in self.rows if row.hint)

    @property
    def help_text(self) -> str:
        lines = (f"• {row.help}" for row in self.rows if row.help)
        return "\n".join((verb_wording.BEFORE, "", *lines, "", verb_wording.AFTER))

    async def ask(self, desk: Desk, asked: VerbRequest) -> Reply:
        return await self._of[asked.verb].do(desk, asked)

    def read_mention(self, text: str) -> tuple[str, str] | None:
        """The verb that *text* begins with, and the rest; None for other words."""
        meant = (
            f"{row.word} {found.groupdict().get('rest', rest)}"
            for row in self.rows
            for pattern, rest in row.means
            if (found := pattern.fullmatch(text.strip()))
        )
        text = next(meant, text)
        verb, _, rest = _SEPARATED.sub(" ", text.strip(), count=1).partition(" ")
        row = self._of.get(verb.lower())
        return (row.word, rest) if row and not row.slash and row.takes.fullmatch(rest) else None

    def read_command(self, text: str) -> tuple[str, str]:
        """As in a mention, but less strict: a slash command is always for us, so that any text belongs to its verb."""
        for row in self.rows:
            if row.slash and (found := row.slash.fullmatch(text)):
                return row.word, found["rest"]
        word, _, rest = text.strip().partition(" ")
        named = self._of.get(word.lower())
        if named and not named.slash and named.takes is ONE_WORD:
            return named.word, rest.strip()
        return self.read_mention(text) or (HELP, text)

    def read_direct(self, text: str) -> tuple[str, str] | None:
        """In a direct message."""
        if found := self.read_mention(text.rstrip(" ?!.")):
            return found
        private = ((row.word, row.direct.fullmatch(text)) for row in self.rows if row.direct)
        return next(((word, found["rest"]) for word, found in private if found), None)

    async def _help(self, _desk: Desk, asked: VerbRequest) -> Reply:
        """A word that was not understood is named first, with a similar verb."""
        first = asked.rest.strip().split(" ", 1)[0].lower()
        if first in {"", HELP}:
            return Message(text=self.help_text)
        named = self._of.get(first.rstrip(":"))
        if named and named.slash:
            return Message(text=discussion_wording.SAID_OPENLY)
        close = get_close_matches(first, self, n=1, cutoff=ALIKE)
        text = _CODE.sub("", one_line(asked.rest, SHOWN_CHARS))
        told = verb_wording.not_understood(text, meant="".join(close))
        return Message(text=f"{told}\n\n{self.help_text}")
