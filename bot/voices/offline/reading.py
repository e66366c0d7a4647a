"""
What people said, in pieces: who, which words, and what kind of thing it is.

Only plain signs count ("decision: …", "we decided …", a question mark, a number at the start of a line). What
carries none is a statement, whatever it means.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from bot.domain.discussion import dissent
from bot.domain.roundtable.state import Answer, Roundtable
from bot.domain.values.text import clean
from bot.voices.offline.phrases import is_question, is_small_talk, sentences, without_mark


class Kind(StrEnum):
    STATEMENT = "statement"
    DECISION = "decision"
    QUESTION = "question"
    ACTION = "action"
    SMALL_TALK = "small_talk"
    CODE = "code"


class Said(NamedTuple):
    """
    `number` is that of the list item the words stand in, `listed` whether they stand in any; `because` is a
    decision's reason. The words of code keep their lines.
    """

    by: str
    text: str
    kind: Kind = Kind.STATEMENT
    number: int | None = None
    listed: bool = False
    indented: bool = False
    because: str = ""

    @property
    def whole(self) -> str:
        return f"{self.text.rstrip('.')}, because {self.because}" if self.because else self.text


class Row(NamedTuple):
    """A line of a message, without its list mark; or a block of code."""

    text: str
    number: int | None = None
    listed: bool = False
    indented: bool = False
    code: bool = False


_NUMBERED = re.compile(
    r"\s*(?:[*_]{0,2}(?:Q|A|question\s)?\(?(\d{1,3})[.):][*_]{0,2})(?:\s+|$)", re.IGNORECASE
)
_BULLET = re.compile(r"(\s*)[-*+•◦▪‣–—]\s+(?=\S)")
_FENCE = re.compile(r"```(?:\w*\n)?(.*?)(?:```|\Z)", re.DOTALL)

_LABELS = {
    Kind.DECISION: dissent.DECISION,
    Kind.ACTION: r"action|action item|todo|to do|to-do|next step|aufgabe",
    Kind.QUESTION: r"question|open question|offene frage|frage",
}
_LABELLED = {
    kind: re.compile(
        rf"(?:[*_]{{0,2}})(?:{label})s?[*_]{{0,2}}\s*[:：]\s*[*_]{{0,2}}\s*(?P<what>\S.*)", re.IGNORECASE
    )
    for kind, label in _LABELS.items()
}
_TASK = re.compile(r"\[ ?\]\s+(?P<what>\S.*)")
_DECIDES = re.compile(
    r"""(?P<before>.{0,60}?)\b(?:
        we(?:['’]ve|\s+have)?\s+(?:just\s+|all\s+|now\s+)?(?:decided|agreed)\b
      | we(?:['’]ll|\s+will|['’]re|\s+are)\s+(?:go|going)\s+with\b
      | let['’]?s\s+(?:just\s+)?go\s+with\b
      | wir\s+(?:haben\s+(?:uns\s+)?(?:beschlossen|entschieden)|nehmen)\b
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_DECIDED = re.compile(
    r"""(?:(?:ok(?:ay)?|so|then|good|great|fine|alright|well|yes|yeah|right|and)\W+){0,3}+
    (?: we(?:['’]ve|\s+have)?\s+(?:just\s+|all\s+|now\s+)?(?:decided|agreed)
      | we(?:['’]ll|\s+will|['’]re|\s+are)\s+(?:go|going)\s+with
      | let['’]?s\s+(?:just\s+)?go\s+with
      | wir\s+(?:haben\s+(?:uns\s+)?(?:beschlossen|entschieden)|nehmen)
    )\b[\s:：,–—-]*+(?:(?:to|on|upon|that)\b[\s:：,–—-]*+)?""",
    re.IGNORECASE | re.VERBOSE,
)
"""What people begin a decision with; what comes after it is what they decided."""
_NOT_YET = re.compile(
    r"\b(?:if|unless|until|till|before|when|once|whether|not|should|could|might|wenn|falls)\b", re.IGNORECASE
)
_WORD = re.compile(r"\w")
_BECAUSE = re.compile(
    r"(?<![\s,;–—-])[\s,;–—-]*+\b(?:because(?!\s+of\b)|cuz|weil|parce que|porque)\b[\s,:]*", re.IGNORECASE
)


def said_in(rt: Roundtable, answers: Iterable[Answer]) -> tuple[Said, ...]:
    """The pieces of *answers*, in order."""
    return tuple(piece for one in answers for piece in pieces(one.text, by=rt.name_of(one.person)))


def pieces(text: str, *, by: str) -> tuple[Said, ...]:
    return tuple(piece for row in rows(text) for piece in _pieces_of(row, by))


def rows(text: str) -> Iterator[Row]:
    """The lines of a message: in a chat each was ended on purpose. What stands below a number belongs to it."""
    number: int | None = None
    for part, is_code in _around_code(clean(text)):
        if is_code:
            yield Row(part, number=number, code=True)
            continue
        for line in part.splitlines():
            row = _row(line, number)
            number = row.number
            if row.text:
                yield row


def because(text: str) -> tuple[str, str]:
    """*text* up to its "because", and what comes after it."""
    found = _BECAUSE.search(text)
    if not found or not found.start():
        return text.strip(), ""
    return text[: found.start()].strip(), text[found.end() :].strip().rstrip(".")


def told(found: Sequence[Said], *kinds: Kind) -> tuple[Said, ...]:
    return tuple(piece for piece in found if piece.kind in kinds)


def _around_code(text: str) -> Iterator[tuple[str, bool]]:
    start = 0
    for fence in _FENCE.finditer(text):
        yield text[start : fence.start()], False
        if fence[1].strip():
            yield fence[1].strip("\n"), True
        start = fence.end()
    yield text[start:], False


def _row(line: str, number: int | None) -> Row:
    indented = line[:1].isspace()
    if numbered := _NUMBERED.match(line):
        return Row(line[numbered.end() :].strip(), int(numbered[1]), listed=True, indented=indented)
    if bullet := _BULLET.match(line):
        return Row(line[bullet.end() :].strip(), number, listed=True, indented=bool(bullet[1]))
    text = without_mark(line).strip()
    return Row(text, number if text else None, indented=indented)


def _pieces_of(row: Row, by: str) -> Iterator[Said]:
    if row.code:
        yield Said(by, row.text, Kind.CODE, row.number)
        return
    held = ""
    for sentence in sentences(row.text):
        kind, what = _kind_of(sentence)
        if kind is Kind.STATEMENT:
            held = f"{held} {what}".strip()
            continue
        if held:
            yield Said(by, held, Kind.STATEMENT, row.number, row.listed, row.indented)
            held = ""
        yield _piece(Said(by, what, kind, row.number, row.listed, row.indented))
    if held:
        yield Said(by, held, Kind.STATEMENT, row.number, row.listed, row.indented)


def _piece(piece: Said) -> Said:
    if piece.kind is not Kind.DECISION:
        return piece
    what, why = because(piece.text)
    return piece._replace(text=what, because=why)


def _kind_of(sentence: str) -> tuple[Kind, str]:
    for kind, label in _LABELLED.items():
        if found := label.match(sentence):
            return kind, found["what"]
    if task := _TASK.match(sentence):
        return Kind.ACTION, task["what"]
    if is_question(sentence):
        return Kind.QUESTION, sentence
    if is_small_talk(sentence):
        return Kind.SMALL_TALK, sentence
    if (decides := _DECIDES.match(sentence)) and not _NOT_YET.search(decides["before"]):
        return Kind.DECISION, _without_lead_in(sentence)
    return Kind.STATEMENT, sentence


def _without_lead_in(sentence: str) -> str:
    lead_in = _DECIDED.match(sentence)
    rest = sentence[lead_in.end() :] if lead_in else ""
    return rest if _WORD.search(rest) else sentence
