"""
Which question a persona asks next.

Chosen, never drawn: the one that has most words in common with what was said, else the next of the persona's
question bank, which is begun at another place for every item and step. No question is asked twice in one
elaboration, by whomever, while others remain.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from bot.domain.catalog.agenda import Step
from bot.domain.catalog.personas import Persona
from bot.voices.offline.lexicon import TOO_COMMON
from bot.voices.offline.phrases import STEM_LETTERS, is_question, sentences, words

QUESTION_CHARS = 200

BY_ANYBODY = (
    "Which part of this do we know, and which part do we assume?",
    "What would you need to see before you agree?",
    "Who is missing here who would see this differently?",
    "What have we not talked about yet that belongs here?",
    "What would change your mind about this?",
    "What is the next thing we have to find out?",
)
"""For a persona without a question bank, or when it is used up."""

_PLACEHOLDER = re.compile(r'"?\{(\w+)\}"?')
_FOCUS = re.compile(r"\bperspectives on: (?P<focus>.+[?.!]\"?\.?) \S+, what is your take\b", re.DOTALL)
_GIVES_FLOOR = re.compile(r"\bwhat is your take\b|\bwho here\b", re.IGNORECASE)
_QUOTATION = re.compile(r'"[^"]*"')


class Ground(NamedTuple):
    """
    What a question can be about: the words *about*, their short form *quote* with its quotation marks, and *topic*, a
    thing that people named. Where one of these is empty, no question is asked that needs it.

    *place* is where the bank is begun; *asked* are the texts in which a question may stand already.
    """

    place: str
    about: str
    quote: str
    topic: str
    asked: Sequence[str] = ()


def next_question(persona: Persona, step: Step | None, ground: Ground) -> str:
    """Empty if none is left."""
    heard = [_plain(text) for text in ground.asked]
    bank = _turned(persona.questions, _seed(persona, ground))
    own = [one for one in bank if _is_open(one, heard, ground)]
    others = [one for one in (*step_questions(step), *BY_ANYBODY) if _is_open(one, heard, ground)]
    chosen = max(own or others, key=lambda one: _fit(one, ground), default="")
    return filled(chosen, ground)


def filled(question: str, ground: Ground) -> str:
    given = {"quote": ground.quote}
    return _PLACEHOLDER.sub(lambda found: given.get(found[1], ground.topic), question)


def step_questions(step: Step | None) -> tuple[str, ...]:
    """The follow-ups that a step's Validation bullets name."""
    bullets = step.validation if step else ()
    after = (bullet.rpartition(" -- ")[2].strip() for bullet in bullets if " -- " in bullet)
    return tuple(question for question in after if question.endswith("?") and len(question) <= QUESTION_CHARS)


def asked_in(text: str) -> str:
    """What a persona's *text* wants to know: its last question, not one that gives somebody the floor."""
    if framing := _FOCUS.search(text):
        return framing["focus"]
    own = [
        one
        for one in sentences(text)
        if is_question(_QUOTATION.sub("", one)) and not _GIVES_FLOOR.search(one)
    ]
    return own[-1] if own else ""


def _is_open(question: str, heard: Sequence[str], ground: Ground) -> bool:
    """Whether it can be asked, and does not stand in what was *heard*, whatever was put in its places then."""
    if any(
        not (ground.quote if place == "quote" else ground.topic) for place in _PLACEHOLDER.findall(question)
    ):
        return False
    parts = [part for text in _PLACEHOLDER.split(question)[::2] if (part := _plain(text))]
    return not any(_in_order(parts, text) for text in heard)


def _in_order(parts: Sequence[str], text: str) -> bool:
    place = 0
    for part in parts:
        found = text.find(part, place)
        if found < 0:
            return False
        place = found + len(part)
    return True


def _plain(text: str) -> str:
    return " ".join(words(text))


def _seed(persona: Persona, ground: Ground) -> int:
    digest = hashlib.sha256(f"{ground.place}/{persona.key}".encode("utf-8", "replace")).digest()
    return int.from_bytes(digest[:4], "big")


def _turned(questions: Sequence[str], seed: int) -> Iterator[str]:
    start = seed % len(questions) if questions else 0
    yield from questions[start:]
    yield from questions[:start]


def _fit(question: str, ground: Ground) -> int:
    """Words in common with what was said; and what people gave a name is worth asking about by that name."""
    shared = _stems(_PLACEHOLDER.sub(" ", question)) & _stems(ground.about)
    return len(shared) + ("{topic}" in question)


def _stems(text: str) -> set[str]:
    found = (word for word in words(text) if len(word) >= STEM_LETTERS - 1 and word not in TOO_COMMON)
    return {word[:STEM_LETTERS] for word in found}
