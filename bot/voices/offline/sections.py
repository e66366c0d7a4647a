"""An ordinary section: who said what, under the question it answers; what was decided, and what is still open."""

from collections.abc import Iterable, Sequence

from bot.domain.catalog.agenda import OwnedSection, Step
from bot.domain.catalog.steps import Depth
from bot.voices.offline.pages import NOTHING_SAID, SKIPPED, inline, joined, part, plain, spoken
from bot.voices.offline.phrases import STEM_LETTERS, words
from bot.voices.offline.reading import Kind, Said, told

SAID = "What was said"
DECISIONS = "Decisions"
OPEN_QUESTIONS = "Open questions"
ACTIONS = "Action items"
CHOSEN = frozenset({"selec", "decis", "final", "chose", "recom"})
"""Beginnings of the words in a heading that say: here stands what was decided."""


def ordinary(said: Sequence[Said], questions: Sequence[str]) -> str:
    """Everything in *said*; *questions* are the step's, which numbered answers belong to."""
    return joined(
        *_answers(said, questions),
        part(DECISIONS, spoken(told(said, Kind.DECISION))),
        part(OPEN_QUESTIONS, spoken(told(said, Kind.QUESTION))),
        part(ACTIONS, spoken(told(said, Kind.ACTION))),
    )


def nothing_said(questions: Sequence[str], *, skipped: bool) -> str:
    asked = "\n".join(f"- {plain(question)}" for question in questions)
    return joined(SKIPPED if skipped else NOTHING_SAID, part(OPEN_QUESTIONS, asked))


def elsewhere(heading: str) -> str:
    return f'_What was said on this step stands in "{inline(heading)}"._'


def questions_of(step: Step, depth: Depth) -> tuple[str, ...]:
    """Those of *depth*; where it asks none, as brief does, the standard ones."""
    return step.questions_at(depth) or step.questions_at(Depth.STANDARD)


def sorted_into(
    sections: Sequence[OwnedSection], said: Iterable[Said], questions: Sequence[str]
) -> tuple[list[Said], ...]:
    """
    What belongs to which of a step's *sections*: by the words of the heading, or of the question answered.

    The first takes whatever is not plainly another's.
    """
    shares: tuple[list[Said], ...] = tuple([] for _ in sections)
    for piece in said:
        shares[_home_of(piece, sections, questions)].append(piece)
    return shares


def _answers(said: Sequence[Said], questions: Sequence[str]) -> Iterable[str]:
    nods_only = all(one.kind is Kind.SMALL_TALK for one in said)
    statements = said if nods_only else told(said, Kind.STATEMENT, Kind.CODE)
    for number, question in enumerate(questions, start=1):
        yield part(plain(question), spoken(one for one in statements if one.number == number))
    rest = [one for one in statements if one.number is None or not 0 < one.number <= len(questions)]
    yield part(SAID, spoken(rest))


def _home_of(piece: Said, sections: Sequence[OwnedSection], questions: Sequence[str]) -> int:
    headings = [_stems(section.heading) for section in sections]
    hints = [_stems(" ".join(section.hints)) for section in sections]
    if piece.kind is Kind.DECISION:
        return next((place for place, stems in enumerate(headings) if stems & CHOSEN), 0)
    answered = questions[piece.number - 1] if piece.number and 0 < piece.number <= len(questions) else ""
    wanted = _stems(answered) or _stems(piece.text)
    shared = [
        2 * len(wanted & heading) + len(wanted & hint) for heading, hint in zip(headings, hints, strict=True)
    ]
    best = max(shared)
    return shared.index(best) if shared.count(best) == 1 else 0


def _stems(text: str) -> frozenset[str]:
    return frozenset(word[:STEM_LETTERS] for word in words(text) if len(word) >= STEM_LETTERS - 1)
