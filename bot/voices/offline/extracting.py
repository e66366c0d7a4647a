"""
The synthesis of a discussion without a model: people's own sentences, sorted.

An insight is a statement of a person; what offline personas say are questions, and count only as such.
"""

from collections.abc import Iterator, Sequence

from bot.domain.discussion import dissent
from bot.domain.discussion import dissent as markers
from bot.domain.discussion.elaboration import Elaboration, Turn
from bot.domain.discussion.synthesis import SUMMARY_CHARS, Decision, Insight, OpenQuestion, Synthesis
from bot.domain.values.text import one_line
from bot.voices.offline.asking import asked_in
from bot.voices.offline.disagreeing import dispute, has_position
from bot.voices.offline.phrases import capital, gist, key, sentences, without_filler, words
from bot.voices.offline.reading import Kind, Said, pieces

INSIGHTS = 8
INSIGHT_CHARS = 400
SUBSTANTIAL_WORDS = 3
UNANSWERED, ANSWERED = "nobody has answered it here", "somebody answers it"

Heard = tuple[Turn, Said]


def synthesize(debate: Elaboration) -> Synthesis:
    heard = [
        (turn, piece) for turn in debate.turns if turn.human for piece in pieces(turn.text, by=turn.name)
    ]
    decided = _once(heard, Kind.DECISION)
    insights = _insights(heard, decided) or _raised(debate.turns)
    decisions = tuple(_decision(turn, said) for turn, said in decided)
    return Synthesis(
        insights=insights,
        decisions=decisions,
        questions=tuple(_open_questions(debate.turns)),
        actions=tuple(f"{said.text} ({said.by})" for _, said in _once(heard, Kind.ACTION)),
        objections=tuple(
            one.but(risk=UNANSWERED, reopen_if=ANSWERED) for one in dissent.marked_objections(debate)
        ),
        summary=_summary(debate, insights, decided),
    )


def _insights(heard: Sequence[Heard], decided: Sequence[Heard]) -> tuple[Insight, ...]:
    """
    The most substantial ones, in the order of speaking; a decision, and then an objection, only where it is all that
    was said: they have lists of their own.
    """
    known = {key(said.text) for _, said in decided}
    objecting = [(turn, said, what) for turn, said in heard for what in markers.objections(said.text)]
    told = [
        one
        for one in _once([(turn, _pointed(said)) for turn, said in heard], Kind.STATEMENT)
        if len(words(one[1].text)) >= SUBSTANTIAL_WORDS and key(one[1].text) not in known
        if not markers.objections(one[1].text)
    ]
    told = told or [(turn, said._replace(text=capital(said.text))) for turn, said in decided]
    told = told or [(turn, said._replace(text=capital(what))) for turn, said, what in objecting]
    weightiest = sorted(told, key=lambda one: -_weight(one[1].text))[:INSIGHTS]
    return tuple(
        Insight(text=one_line(said.text, INSIGHT_CHARS), by=(said.by,), turns=(turn.id,))
        for turn, said in told
        if (turn, said) in weightiest
    )


def _pointed(said: Said) -> Said:
    """Without the "hm no, I disagree." in front of the point."""
    if said.kind is not Kind.STATEMENT:
        return said
    parts = list(sentences(said.text))
    while len(parts) > 1 and not has_position(parts[0]):
        parts.pop(0)
    parts[:1] = [without_filler(one) for one in parts[:1]]
    return said._replace(text=" ".join(parts))


def _weight(text: str) -> int:
    return len(set(words(text)))


def _raised(turns: Sequence[Turn]) -> tuple[Insight, ...]:
    """Where no person said anything to keep, the honest finding is what was asked, by people if any of them did."""
    asked = [(turn, question) for turn in turns if (question := asked_in(turn.text))]
    by_people = [(turn, question) for turn, question in asked if turn.human]
    return tuple(
        Insight(text=f"Raised: {question}", by=(turn.name,), turns=(turn.id,))
        for turn, question in (by_people or asked)[:INSIGHTS]
    )


def _decision(turn: Turn, said: Said) -> Decision:
    return Decision(text=capital(said.text.rstrip(".")), rationale=said.because, by=said.by, turns=(turn.id,))


def _open_questions(turns: Sequence[Turn]) -> Iterator[OpenQuestion]:
    known: set[str] = set()
    for place, turn in enumerate(turns):
        for question in _questions_of(turn):
            if key(question) in known or _answered(turn, turns[place + 1 :]):
                continue
            known.add(key(question))
            yield OpenQuestion(
                text=one_line(question, INSIGHT_CHARS),
                why=f"asked by {turn.name}, not answered yet",
                turns=(turn.id,),
            )


def _questions_of(turn: Turn) -> tuple[str, ...]:
    if not turn.human:
        return (asked_in(turn.text),) if asked_in(turn.text) else ()
    return tuple(piece.text for piece in pieces(turn.text, by=turn.name) if piece.kind is Kind.QUESTION)


def _answered(asking: Turn, later: Sequence[Turn]) -> bool:
    """Somebody else, a person, spoke after it and did more than ask back or nod."""
    return any(
        turn.human
        and turn.by != asking.by
        and any(_is_told(piece) for piece in pieces(turn.text, by=turn.name))
        for turn in later
    )


def _is_told(piece: Said) -> bool:
    return piece.kind in {Kind.STATEMENT, Kind.DECISION, Kind.ACTION, Kind.CODE}


def _once(heard: Sequence[Heard], kind: Kind) -> list[Heard]:
    """Those of *kind*, each in the words of whoever said it first."""
    first: dict[str, Heard] = {}
    for turn, said in heard:
        if said.kind is kind:
            first.setdefault(key(said.text), (turn, said))
    return list(first.values())


def _summary(debate: Elaboration, insights: Sequence[Insight], decided: Sequence[Heard]) -> str:
    if debate.turn_count <= 1:
        return f"Discussion ended early. The framing identified {debate.topic} as a discussion point."
    if decided:
        return one_line(f"Decided: {'; '.join(said.text.rstrip('.') for _, said in decided)}", SUMMARY_CHARS)
    if found := dispute(debate.turns):
        sides = f"{found.proposed.name} and {found.against.name} see this differently"
        return one_line(f"{sides}; nothing is decided yet.", SUMMARY_CHARS)
    if insights and not insights[0].text.startswith("Raised: "):
        return one_line(f"{insights[0].by[0]} said: {gist(insights[0].text, SUMMARY_CHARS)}", SUMMARY_CHARS)
    return one_line(
        f"Questions were raised about {debate.topic}, and nobody has answered yet.", SUMMARY_CHARS
    )
