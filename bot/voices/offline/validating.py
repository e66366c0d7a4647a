"""
What a step's Validation asks for and people plainly have not said: at most one question, never a refusal.

Only what can be told by looking counts: a number, a named choice, a line that begins with `AC:`. Whether an answer
is good is for people.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from bot.domain.catalog.agenda import QuickScan, Step
from bot.domain.catalog.personas import Persona
from bot.domain.catalog.steps import Depth
from bot.domain.roundtable.state import Roundtable
from bot.voices.offline.phrases import gist, has_number, key, words
from bot.voices.offline.reading import said_in
from bot.voices.offline.requirements import is_criterion, is_out_of_scope
from bot.voices.offline.sizes import UNKNOWN, read_scan

TERSE_WORDS = 4
"""Fewer words than this, on the whole step, are a beginning."""

_QUOTED = re.compile(r"[\"“”„]([^\"“”„]{2,60})[\"“”]")
_CHOICES = re.compile(r":\s*(\w[\w-]*(?:,\s*\w[\w-]*)*),?\s+or\s+(\w[\w-]*)\s*$")
_SHORT_FORM = re.compile(r"\w\s*[:=]\s*\S|\d|`|^\s*[-*+•]\s", re.MULTILINE)


class Bullet(NamedTuple):
    """A line of a step's Validation: what should be there, and what to ask when it is not."""

    criterion: str
    follow_up: str
    is_edge_case: bool
    trigger: str = ""


class Evidence(NamedTuple):
    """What was said on the step, the newest last, and the sizes that can be read out of it."""

    answers: tuple[str, ...]
    scan: QuickScan

    @property
    def text(self) -> str:
        return "\n".join(self.answers)

    def has_line(self, test: Callable[[str], bool]) -> bool:
        return any(map(test, self.text.splitlines()))


def missing(rt: Roundtable, step: Step, persona: Persona, *, depth: Depth) -> str:
    """The first question for what is missing that *persona* has not asked on this step yet; empty if there is none."""
    said = said_in(rt, rt.answers)
    evidence = Evidence(
        tuple(answer.text for answer in rt.answers), read_scan(said, step.questions_at(depth))
    )
    asked = [
        key(line.content) for line in rt.lines if line.actor == persona.actor and _is_of(line.meta, step)
    ]
    questions = _questions(tuple(map(_bullet, step.validation)), evidence, depth)
    return next((one for one in questions if not any(key(one) in text for text in asked)), "")


def _bullet(text: str) -> Bullet:
    """Where a bullet names no question, as in files of the original format, its own words make one."""
    criterion, _, follow_up = (part.strip() for part in text.partition(" -- "))
    is_edge_case = criterion.casefold().startswith("edge case")
    quoted = _QUOTED.search(criterion) if is_edge_case else None
    trigger = quoted[1] if quoted else ""
    if not follow_up.endswith("?"):
        wanted = criterion.rstrip(".")
        follow_up = (
            f'What is behind "{trigger}", in your own words?'
            if trigger
            else f'One thing I am still listening for is "{wanted}". What can you tell me about that?'
        )
    return Bullet(criterion, follow_up, is_edge_case, trigger)


def _questions(bullets: Sequence[Bullet], evidence: Evidence, depth: Depth) -> Iterator[str]:
    for answer in reversed(evidence.answers):
        yield from (one.follow_up for one in bullets if one.trigger and _says(answer, one.trigger))
    ordinary = [one for one in bullets if not one.is_edge_case]
    if depth is not Depth.BRIEF and _is_terse(evidence.text):
        yield from (one.follow_up for one in ordinary)
    yield from (one.follow_up for one in ordinary if _is_plainly_unmet(one.criterion, evidence))


def _is_plainly_unmet(criterion: str, evidence: Evidence) -> bool:
    if choices := _CHOICES.search(criterion):
        return not _has_chosen(frozenset(map(key, (*choices[1].split(","), choices[2]))), evidence)
    return any(asks.search(criterion) and not is_met(evidence) for asks, is_met in CHECKS)


def _has_chosen(choices: frozenset[str], evidence: Evidence) -> bool:
    """A "medium" can be a size or a complexity: these two are read with care."""
    if choices == SIZES:
        return evidence.scan.scope != UNKNOWN
    if choices == LEVELS:
        return evidence.scan.complexity != UNKNOWN
    return not choices.isdisjoint(words(evidence.text))


SIZES = frozenset({"small", "medium", "large"})
LEVELS = frozenset({"low", "medium", "high"})
CHECKS: tuple[tuple[re.Pattern[str], Callable[[Evidence], bool]], ...] = (
    (
        re.compile(r"\bmeasurable\b|\bat least one number\b|\bmetrics?\b|\bthresholds?\b", re.IGNORECASE),
        lambda evidence: has_number(evidence.text),
    ),
    (re.compile(r"\bacceptance criteri", re.IGNORECASE), lambda evidence: evidence.has_line(is_criterion)),
    (
        re.compile(r"^out of scope\b|\bout-of-scope\b", re.IGNORECASE),
        lambda evidence: evidence.has_line(is_out_of_scope),
    ),
)
"""What a criterion may ask for, and whether the words plainly hold it."""


def _says(text: str, trigger: str) -> bool:
    return f" {key(trigger)} " in f" {key(text)} "


def _is_terse(said: str) -> bool:
    """A short form ("Files: 8"), a list or code is an answer, not a terse one."""
    return (
        len(words(said)) < TERSE_WORDS and not _SHORT_FORM.search(said) and bool(gist(said) or said.strip())
    )


def _is_of(meta: Mapping[str, object], step: Step) -> bool:
    return meta.get("step_id") == step.step_id
