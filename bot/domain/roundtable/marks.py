"""What people mark a message as. A mark decides nothing: it stands on the card, and a press decides."""

from collections.abc import Mapping
from enum import StrEnum

from bot.domain.values.value import Stored


class MarkKind(StrEnum):
    """The names are public: the form sends them."""

    DECISION = "decision"
    OBJECTION = "objection"
    QUESTION = "question"
    ANSWER = "answer"
    OUT = "out"
    """Not for the record. Only the author and the person who started the roundtable may say so."""


REACTIONS: Mapping[str, MarkKind] = {
    "pushpin": MarkKind.DECISION,
    "raised_hand": MarkKind.OBJECTION,
    "hand": MarkKind.OBJECTION,
    "question": MarkKind.QUESTION,
    "no_entry_sign": MarkKind.OUT,
}
"""By the name of the emoji, without a skin tone."""


class MessageMark(Stored):
    """
    The message *ts* of *author*, marked *by* a person. `quote` is what the message said, `words` what the person who
    marked it wrote, if anything. `entry` is what came of it. `settled` is what people pressed: "agreed" or
    "not_agreed".
    """

    id: str
    ts: str
    kind: MarkKind
    by: str
    author: str
    quote: str
    words: str = ""
    step_id: str = ""
    entry: str = ""
    settled: str = ""

    @property
    def text(self) -> str:
        return self.words or self.quote

    @property
    def is_open(self) -> bool:
        """Whether people are asked if they agree."""
        return self.kind is MarkKind.DECISION and not self.settled
