"""
What must not get lost between a discussion and its synthesis: who stands against it, and what people decided.

Both are known from the record (stances, buttons, and lines that people marked), so that a synthesis can be held against
them without reading it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from bot.domain.catalog.schema import BUILT_IN_LABELS
from bot.domain.discussion import normalizing, positions
from bot.domain.discussion.elaboration import Decided, Elaboration, Fate, RaisedObjection
from bot.domain.discussion.synthesis import Decision, Objection, ObjectionOutcome, OpenQuestion, Synthesis
from bot.domain.values.markdown import outline
from bot.domain.values.text import one_line

# People mark what must reach the synthesis: a line that begins with one of a few words and a colon
# ("decision: …", "I object: …"). No other words are read as a decision or an objection.
# The same words open an entry, so that what stands on the board is in the record.
DECISION, OBJECTION = ("|".join(map(re.escape, BUILT_IN_LABELS[kind])) for kind in ("decision", "objection"))
MARKED_CHARS = 1_000


def _labelled(label: str) -> re.Pattern[str]:
    return re.compile(
        rf"[ \t]{{0,8}}(?:(?:[-*+•]|\d{{1,3}}[.)])[ \t]{{1,4}})?[*_]{{0,2}}(?:{label})s?[*_]{{0,2}}[ \t]{{0,4}}[:：]"
        r"[*_]{0,2}[ \t]*(?P<what>\S.*)",
        re.IGNORECASE,
    )


_DECIDES, _OBJECTS = _labelled(DECISION), _labelled(OBJECTION)


_FIELDS = re.compile(r"(?<!\s)\s*+;\s*+(?=[^\W\d][\w ]{1,24}:)")
_REASON = re.compile(r"(?:because|reason|why)\s*:\s*(?P<why>\S.*)", re.IGNORECASE)
"""What may stand behind a decision: `…; because: …; replaces: DEC-001`."""


def decisions(text: str) -> tuple[str, ...]:
    """Verbatim, each once, without fields behind it, and without lines in quotes and in code."""
    return tuple(text for text, _ in _decided(text))


def without_fields(decision: str) -> str:
    return _FIELDS.split(decision, maxsplit=1)[0]


def _decided(text: str) -> tuple[tuple[str, str], ...]:
    """With the reason that is given in a field."""
    found: dict[str, str] = {}
    for row in _marked(text, _DECIDES):
        what, *fields = _FIELDS.split(row)
        given = filter(None, map(_REASON.fullmatch, fields))
        found.setdefault(what, next((one["why"] for one in given), ""))
    return tuple(found.items())


def objections(text: str) -> tuple[str, ...]:
    return _marked(text, _OBJECTS)


def marked(text: str, labels: Iterable[str]) -> tuple[str, ...]:
    """What stands behind one of *labels* at the beginning of a line, each once."""
    return _marked(text, _labelled("|".join(map(re.escape, labels))))


def unmarked(text: str, labels: Iterable[str]) -> str:
    """The lines without a mark, and without what is quoted or code."""
    page, label = outline(text), _labelled("|".join((DECISION, OBJECTION, *map(re.escape, labels))))
    said = (
        row
        for number, row in enumerate(page.lines)
        if number not in page.hidden and not row.lstrip().startswith(">") and not label.match(row)
    )
    return "\n".join(said).strip()


def _marked(text: str, label: re.Pattern[str]) -> tuple[str, ...]:
    page = outline(text)
    found = (label.match(row) for number, row in enumerate(page.lines) if number not in page.hidden)
    texts = (one_line(one["what"], MARKED_CHARS) for one in found if one)
    return tuple(dict.fromkeys(filter(None, texts)))


QUOTE_CHARS = 300
MOST_QUOTED = 4
BROUGHT_UP = "it is brought up again"

_SIGNS = re.compile(r"[\W_]+")


def open_objections(debate: Elaboration) -> tuple[Objection, ...]:
    """
    Every position that is neither what people decided nor what most personas hold (all positions, if no side has
    more holders than the others), and what people marked as an objection. None of these is weighed yet.
    """
    return (*_of_positions(debate), *marked_objections(debate))


def marked_objections(debate: Elaboration) -> tuple[Objection, ...]:
    """What people marked or entered as an objection, if no person has said yet what becomes of it."""
    known = {(one.turn, one.text) for one in debate.objections}
    said = (
        Objection(text=text, by=(turn.name,), turns=(turn.id,), outcome=ObjectionOutcome.OPEN)
        for turn in debate.turns
        if turn.human
        for text in objections(turn.text)
        if (turn.id, text) not in known
    )
    return (*said, *(_raised(one) for one in debate.objections if one.fate is Fate.OPEN))


def settled_objections(debate: Elaboration) -> tuple[Objection, ...]:
    """Those with an answer of a person, in the words of both. What was taken back is none any more."""
    found = (_raised(one) for one in debate.objections if one.fate in _OUTCOMES)
    return tuple(found)


_OUTCOMES = {
    Fate.ACCEPTED: ObjectionOutcome.ACCEPTED,
    Fate.REJECTED: ObjectionOutcome.REJECTED,
    Fate.RISK: ObjectionOutcome.DEFERRED,
}


def _raised(one: RaisedObjection) -> Objection:
    turns = (one.turn,) if one.turn else ()
    raised = Objection(text=one.text, by=(one.name,), turns=turns, outcome=ObjectionOutcome.OPEN)
    if one.fate not in _OUTCOMES:
        return raised
    said = f"{one.settled_by}: {one.because}" if one.because else f"{one.settled_by} said so"
    if one.fate is Fate.RISK:
        return raised.but(outcome=ObjectionOutcome.DEFERRED, risk=said, reopen_if=BROUGHT_UP)
    return raised.but(outcome=_OUTCOMES[one.fate], because=said)


def pressed(debate: Elaboration) -> tuple[Decided, ...]:
    """Decisions of people that no turn has in words, and that still count."""
    return tuple(one for one in debate.decided if not one.typed and not one.replaced_by)


def marked_decisions(debate: Elaboration) -> tuple[Decision, ...]:
    """Without those that another one replaced, or that were reworded by their id."""
    gone = {(one.text, one.by) for one in debate.decided if one.typed and one.replaced_by}
    gone |= {(one.said, one.by) for one in debate.decided if one.said}
    return tuple(
        Decision(text=text, rationale=why, by=turn.name, turns=(turn.id,))
        for turn in debate.turns
        if turn.human
        for text, why in _decided(turn.text)
        if (text, turn.by) not in gone
    )


def missing(synthesis: Synthesis, debate: Elaboration) -> tuple[Objection, ...]:
    """
    The open objections that the synthesis does not weigh. An objection of the synthesis stands for one of them: one
    that names a turn in which it was made, and where that leaves several issues, which.
    """
    against = open_objections(debate)
    weighed = [one for one in synthesis.objections if one.is_weighed]
    answered = _answered(against, weighed)
    return tuple(one for number, one in enumerate(against) if number not in answered)


def half_said(synthesis: Synthesis, debate: Elaboration) -> tuple[Objection, ...]:
    """Objections that only the synthesis knows of, and says nothing of what became of them."""
    known = {turn for one in open_objections(debate) for turn in one.turns}
    return tuple(one for one in synthesis.objections if not one.is_weighed and known.isdisjoint(one.turns))


def restored(synthesis: Synthesis, debate: Elaboration) -> Synthesis:
    """
    With every objection in the words of who made it, and open: a model can only suggest what becomes of one. One that
    only the synthesis knows of is quoted from the turns that it names; without such turns it is left out.
    """
    against = open_objections(debate)
    weighed = [one for one in synthesis.objections if one.is_weighed]
    answers = _answered(against, weighed)
    on_record = (
        _suggesting(one, weighed[answers[number]]) if number in answers else one
        for number, one in enumerate(against)
    )
    places = set(answers.values())
    others = (
        *(one for place, one in enumerate(weighed) if place not in places),
        *half_said(synthesis, debate),
    )
    quoted = (found for one in others for found in _quoted(one, debate))
    answered = {words(one.text) for one in debate.objections if one.fate is not Fate.OPEN}
    still_open = (one for one in (*on_record, *quoted) if words(one.text) not in answered)
    return synthesis.but(
        objections=(*still_open, *settled_objections(debate)),
        decisions=(*_attributed(synthesis, debate), *_undecided(synthesis, debate)),
        questions=(*synthesis.questions, *_marked_questions(synthesis, debate)),
    )


def _marked_questions(synthesis: Synthesis, debate: Elaboration) -> Iterator[OpenQuestion]:
    """Those that the synthesis does not have."""
    known = {words(one.text) for one in synthesis.questions}
    for one in debate.questions:
        if words(one.text) not in known:
            yield OpenQuestion(text=one.text, why=f"marked by {one.by}")


def _of_positions(debate: Elaboration) -> Iterator[Objection]:
    decided = {positions.name(one.issue): positions.name(one.position) for one in debate.decided}
    for one in debate.decided:
        if one.typed and (option := normalizing.meant(debate.options, one.position)) and option.issue:
            decided[positions.name(option.issue)] = positions.name(option.text)
    for issue, held in positions.sides(debate).items():
        prevails = decided.get(issue) or _plurality(held)
        if len(held) == 1 and issue not in decided:
            continue
        against = [side for side in held if positions.name(side.position) != prevails]
        yield from (_objection(debate, issue, side) for side in against)


def _answered(against: Sequence[Objection], answers: Sequence[Objection]) -> Mapping[int, int]:
    """Which of the *answers* is for which objection: each for one, and as many of them as can be."""
    fitting: dict[int, list[int]] = {}
    for place, answer in enumerate(answers):
        for number in _meant(answer, against):
            fitting.setdefault(number, []).append(place)
    given: dict[int, int] = {}

    def find(number: int, tried: set[int]) -> bool:
        same = sorted(
            fitting.get(number, ()), key=lambda place: not _is_in_its_words(answers[place], against[number])
        )
        for place in same:
            if place in tried:
                continue
            tried.add(place)
            if place not in given or find(given[place], tried):
                given[place] = number
                return True
        return False

    for number in range(len(against)):
        find(number, set())
    return {number: place for place, number in given.items()}


def _meant(answer: Objection, against: Sequence[Objection]) -> list[int]:
    """Those made in a turn that the *answer* names; if these are about several issues, it has to say about which."""
    there = [n for n, one in enumerate(against) if not set(one.turns).isdisjoint(answer.turns)]
    called = [n for n in there if positions.name(against[n].issue) == positions.name(answer.issue)]
    if answer.issue and called:
        return called
    return there if len({positions.name(against[n].issue) for n in there}) == 1 else []


def _is_in_its_words(answer: Objection, one: Objection) -> bool:
    return words(answer.text) == words(one.text)


def _suggesting(one: Objection, answer: Objection) -> Objection:
    """The objection of the record, with what the answer suggests."""
    if answer.outcome is ObjectionOutcome.OPEN:
        return one
    return one.but(
        suggested=answer.outcome, because=answer.because, risk=answer.risk, reopen_if=answer.reopen_if
    )


def _quoted(one: Objection, debate: Elaboration) -> Iterator[Objection]:
    """What was said in the turns that it names, in place of its words."""
    for turn in debate.turns:
        if turn.id in one.turns:
            said = Objection(text=one_line(turn.text, QUOTE_CHARS), by=(turn.name,), turns=(turn.id,))
            said = said.but(outcome=ObjectionOutcome.OPEN)
            yield _suggesting(said, one) if one.is_weighed else said


def _attributed(synthesis: Synthesis, debate: Elaboration) -> Iterator[Decision]:
    """Naming who recorded it: who is said to have decided may not have seen it."""
    known = {(one.text, one.decider): one.attribution for one in pressed(debate)}
    for one in synthesis.decisions:
        yield one.but(by=known.get((one.text, one.by), one.by))


def _undecided(synthesis: Synthesis, debate: Elaboration) -> Iterable[Decision]:
    """People's decisions that the synthesis does not have word by word."""
    known = {(one.text, one.by) for one in synthesis.decisions}
    for one in pressed(debate):
        if (one.text, one.decider) not in known:
            yield Decision(text=one.text, rationale=one.reason, by=one.attribution)
    said = {(words(text), one.by) for one in synthesis.decisions for text in (one.text, _whole(one))}
    yield from (one for one in marked_decisions(debate) if (words(one.text), one.by) not in said)


def _whole(decision: Decision) -> str:
    """The words of a line that gave the reason, too."""
    return f"{decision.text} because {decision.rationale}"


def words(text: str) -> str:
    """For comparison: without punctuation, spacing and case."""
    return " ".join(_SIGNS.sub(" ", text).split()).casefold()


def _words_beside(debate: Elaboration, side: positions.Side) -> str:
    """What was said each time that the position was taken, the last time first; no words twice."""
    found: list[str] = []
    for turn in reversed(debate.turns):
        said = one_line(turn.text, QUOTE_CHARS)
        if turn.id in side.turns and not any(words(said) in words(one) for one in found):
            found.append(said)
    return " … ".join(found[:MOST_QUOTED])


def _plurality(held: Iterable[positions.Side]) -> str:
    most, *others = sorted(held, key=lambda side: -len(side.holders))
    tied = bool(others) and len(others[0].holders) == len(most.holders)
    return "" if tied else positions.name(most.position)


def _objection(debate: Elaboration, issue: str, side: positions.Side) -> Objection:
    names, title = {turn.by: turn.name for turn in debate.turns}, positions.title(debate, issue)
    return Objection(
        text=f"{title}: {side.position}",
        issue=title,
        by=tuple(names[key] for key in side.holders),
        turns=side.turns,
        outcome=ObjectionOutcome.OPEN,
        quote=_words_beside(debate, side),
    )
