"""
The synthesis of a discussion without a model: only what people said explicitly, in their words, with their names.

No stance is made up, and no objection is weighed.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from bot.domain.catalog.schema import Schema
from bot.domain.discussion import board, dissent
from bot.domain.discussion.elaboration import Elaboration, Turn
from bot.domain.discussion.synthesis import (
    SUMMARY_CHARS,
    Decision,
    Insight,
    Objection,
    ObjectionOutcome,
    OpenQuestion,
    Synthesis,
)
from bot.domain.messages.step_wording import listed
from bot.domain.values.text import counted, one_line
from bot.voices.offline.discussing import own_question

MOST_INSIGHTS = 20
INSIGHT_CHARS = 300
SHORT_WORDS, SHORT_LETTERS = 3, 6
"""A remark as short as this has no content of its own ("lol ok"); letters count in scripts without spaces."""
NO_REPLY = "asked by {name}, no reply yet"

_SENTENCE_END = re.compile(r"[.!?](?=\s)|[。！？]")
_TELLING = re.compile(r"[\d:/#]")


def synthesize(debate: Elaboration, schema: Schema) -> Synthesis:
    decision, objection, question, action = (
        schema.kinds[key].labels if key in schema.kinds else ()
        for key in ("decision", "objection", "question", "action")
    )
    people = [turn for turn in debate.turns if turn.human]
    remarks = _remarks(debate, people, (*decision, *objection, *question, *action, *board.OPTION_LABELS))
    found = Synthesis(
        insights=tuple(
            Insight(text=_shortened(text), by=(turn.name,), turns=(turn.id,))
            for turn, text in [one for one in remarks if not _is_question(one[1])][:MOST_INSIGHTS]
        ),
        decisions=(*_pressed(debate), *_decisions(debate, people, decision)),
        questions=(
            *_questions(people, question),
            *(
                OpenQuestion(text=_shortened(text), why=f"asked by {turn.name}", turns=(turn.id,))
                for turn, text in remarks[:MOST_INSIGHTS]
                if _is_question(text)
            ),
            *_unheard(debate),
        ),
        actions=tuple(f"{text} ({turn.name})" for turn, text in _marked(people, action)),
        objections=tuple(_objections(debate, people, objection)),
        summary="",
    )
    return found.but(summary=_summary(found, [turn.name for turn, _ in remarks]))


def _pressed(debate: Elaboration) -> Iterator[Decision]:
    return (Decision(text=one.text, rationale=one.reason, by=one.decider) for one in dissent.pressed(debate))


def _decisions(debate: Elaboration, people: Sequence[Turn], labels: Sequence[str]) -> Iterator[Decision]:
    known = dissent.marked_decisions(debate)
    yield from known
    said = {(one.text, one.by) for one in known} | {(one.text, one.name) for one in debate.decided}
    for turn, text in _marked(people, labels):
        if (dissent.without_fields(text), turn.name) not in said:
            yield Decision(text=text, by=turn.name, turns=(turn.id,))


def _objections(debate: Elaboration, people: Sequence[Turn], labels: Sequence[str]) -> Iterator[Objection]:
    known = dissent.marked_objections(debate)
    said = {(one.text, one.by) for one in known} | {(one.text, (one.name,)) for one in debate.objections}
    others = (
        Objection(text=text, by=(turn.name,), turns=(turn.id,)) for turn, text in _marked(people, labels)
    )
    for one in (*known, *(one for one in others if (one.text, one.by) not in said)):
        yield one.but(outcome=ObjectionOutcome.OPEN)


def _questions(people: Sequence[Turn], labels: Sequence[str]) -> Iterator[OpenQuestion]:
    for turn, text in _marked(people, labels):
        yield OpenQuestion(text=text, why=f"asked by {turn.name}", turns=(turn.id,))


def _unheard(debate: Elaboration) -> Iterator[OpenQuestion]:
    """The prepared questions that personas asked after the last word of a person."""
    last = max((at for at, turn in enumerate(debate.turns) if turn.human), default=0)  # turn 0 is the framing
    for turn in debate.turns[last + 1 :]:
        if turn.by_rule and turn.text.endswith("?"):
            text = own_question(turn.text)
            yield OpenQuestion(text=text, why=NO_REPLY.format(name=turn.name), turns=(turn.id,))


def _marked(people: Iterable[Turn], labels: Sequence[str]) -> Iterator[tuple[Turn, str]]:
    if labels:
        yield from ((turn, text) for turn in people for text in dissent.marked(turn.text, labels))


def _remarks(debate: Elaboration, people: Sequence[Turn], labels: Sequence[str]) -> list[tuple[Turn, str]]:
    """What was said without a mark, and is no mere position; short remarks only where nothing else was said."""
    said = [(turn, " ".join(dissent.unmarked(turn.text, labels).split())) for turn in people]
    rests = [(turn, "" if board.is_only_position(debate, turn, rest) else rest) for turn, rest in said]
    if long := [(turn, rest) for turn, rest in rests if rest and not _is_short(rest)]:
        return long
    is_marked = any(not rest and turn.text.strip() for turn, rest in rests)
    return [] if is_marked else [(turn, text) for turn in people if (text := " ".join(turn.text.split()))]


def _is_question(text: str) -> bool:
    return text.rstrip().endswith(("?", "？"))


def _is_short(text: str) -> bool:
    letters = [one for one in text if one.isalpha()]
    without_spaces = [one for one in letters if unicodedata.category(one) == "Lo"]
    return (
        not _TELLING.search(text)
        and len(text.split()) <= SHORT_WORDS
        and len(without_spaces) <= SHORT_LETTERS
    )


def _shortened(text: str) -> str:
    """Whole, or up to the last sentence that ends within the limit."""
    if len(text) <= INSIGHT_CHARS:
        return text
    ends = [found.end() for found in _SENTENCE_END.finditer(text, 0, INSIGHT_CHARS)]
    return text[: ends[-1]] if ends else one_line(text, INSIGHT_CHARS)


def _summary(found: Synthesis, names: Sequence[str]) -> str:
    """Counts what is there: "1 decision, 2 objections and 4 remarks by Ada and Grace"."""
    counts = (
        (len(found.decisions), "decision"),
        (len(found.objections), "objection"),
        (len(found.questions), "open question"),
        (len(found.actions), "action"),
        (len(names), "remark"),
    )
    said = listed([counted(number, thing) for number, thing in counts if number])
    by = f" by {listed(list(dict.fromkeys(names)))}" if names else ""
    return one_line(f"{said}{by}" if said else "No remark is on record", SUMMARY_CHARS)
