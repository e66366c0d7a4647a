"""
The review without a model: what code can tell of an item's files by looking, and nothing that only sounds like it.

Each check belongs to the persona whose lens it fits, else to whoever leads the step that writes the file. The same
files get the same review, always.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from bot.domain.catalog.personas import Persona, Roster
from bot.domain.catalog.steps import SHARED
from bot.domain.reviews.text import Finding, Review, ReviewerOpinion
from bot.voices.offline import completeness, foundations, measuring, references
from bot.voices.offline.dossier import LONGEST_CHARS, Dossier
from bot.voices.offline.phrases import STEM_LETTERS, words

__all__ = ["Dossier", "opinion", "review", "together"]

METHOD = "Made with a checklist, without a model: it finds what is missing, and cannot tell whether the rest is right."


class Check(NamedTuple):
    """*lens* is what a persona who looks for this may say it looks at; without one, it is about any file."""

    about: str
    look: Callable[[Dossier], Iterable[Finding]]
    lens: str = ""


NEEDS = "user needs value requirements"
CHECKS = (
    Check("files", completeness.files),
    Check("sections", completeness.sections),
    Check("open questions", completeness.open_questions),
    Check("ids that are not defined", references.undefined),
    Check("ids that are defined twice", references.defined_twice),
    Check("ids that nobody names", references.unused),
    Check("acceptance criteria", measuring.criteria, f"{NEEDS} acceptance testing quality"),
    Check("stories", measuring.stories, f"{NEEDS} stories"),
    Check("words that cannot be measured", measuring.vague_words, f"{NEEDS} acceptance testing quality"),
    Check("qualities", measuring.quality_rows, f"{NEEDS} quality testing performance reliability operations"),
    Check("risks", foundations.risks, "risks security safety feasibility"),
    Check("choices of technology", foundations.choices, "feasibility architecture technology options"),
    Check("contracts", foundations.contracts, "interfaces specifications errors contracts design"),
)
MOST_FINDINGS = 50
"""Of one check: who has mended these asks again."""

INPUTS: Mapping[str, tuple[str, ...]] = {
    "code": ("impact-analysis.md", "quick-scan.md"),
    "standards": ("nfr-matrix.md",),
    "plan": ("planning/plan.md", "requirements-spec.md"),
    "schema": ("interface-spec.md",),
}
"""The categories of what a review needs beside the text it reviews, and the files of ours that tell it."""


def review(item: Dossier, roster: Roster, *, asked: Collection[str] = ()) -> Review:
    """By the personas with the keys *asked*; by all of them when nobody in particular is."""
    reviewers = [persona for persona in roster if not asked or persona.key in asked]
    return together(item, roster, [opinion(item, persona, roster) for persona in reviewers])


def opinion(item: Dossier, persona: Persona, roster: Roster) -> ReviewerOpinion:
    """What one persona found; each finding is one persona's, so that asking all of them says everything once."""
    found = dict.fromkeys(one for one, whose in _findings(item, roster) if whose == persona.key)
    return ReviewerOpinion(by=persona.label, lens=persona.lens, findings=tuple(sorted(found, key=_in_order)))


def together(
    item: Dossier, roster: Roster, opinions: Iterable[ReviewerOpinion], *, unseen: tuple[str, ...] = ()
) -> Review:
    """One review of what came in; *unseen* says why somebody who was asked is not among them."""
    given = tuple(opinions)
    known = {one.by for one in given}
    absent = (persona for persona in roster if persona.label not in known)
    not_looked_at = (
        *unseen,
        *(f"Nobody looked through the lens of {one.label}: {one.lens}." for one in absent),
        *(f"{path} is longer than {LONGEST_CHARS} characters, so nothing in it." for path in item.too_long),
        *_cut_short(item),
        completeness.unfinished(item),
    )
    return Review(
        title=item.title,
        method=METHOD,
        opinions=given,
        missing=tuple(_missing(item)),
        unseen=tuple(filter(None, not_looked_at)),
    )


def _missing(item: Dossier) -> Iterator[str]:
    for category, paths in INPUTS.items():
        if not any(completeness.has_something(item, path) for path in paths):
            yield f"{category}: there is nothing in {' or '.join(paths)}."


def _findings(item: Dossier, roster: Roster) -> Iterator[tuple[Finding, str]]:
    """Each with the key of the persona whose it is."""
    authors = _authors(item, roster)
    first = next((persona.key for persona in roster), "")
    for check, found in _raised(item):
        through = _looking_through(check.lens, roster)
        for one in found[:MOST_FINDINGS]:
            yield one, through or authors.get(one.file, first)


def _cut_short(item: Dossier) -> Iterator[str]:
    for check, found in _raised(item):
        if (left := len(found) - MOST_FINDINGS) > 0:
            yield f"{left} more findings about {check.about}: {MOST_FINDINGS} are listed at most."


@lru_cache(maxsize=1)  # each persona of one review asks for it
def _raised(item: Dossier) -> tuple[tuple[Check, list[Finding]], ...]:
    """The worst first, so that what is cut off decides nothing."""
    return tuple((check, sorted(check.look(item), key=lambda one: one.severity.rank)) for check in CHECKS)


def _looking_through(lens: str, roster: Roster) -> str:
    """The persona whose lens shares most words with *lens*, the first of several; empty if none has any."""
    wanted = _stems(lens)
    shared = {persona.key: len(wanted & _stems(persona.lens)) for persona in roster}
    best = max(shared, key=lambda key: shared[key], default="")
    return best if shared.get(best) else ""


def _authors(item: Dossier, roster: Roster) -> Mapping[str, str]:
    """By file, the persona who leads the first step that writes it."""
    return {
        SHARED.get(output, output): step.persona
        for step in reversed(item.agenda.steps)
        for output in step.outputs
        if step.persona in roster
    }


def _stems(text: str) -> frozenset[str]:
    return frozenset(word[:STEM_LETTERS].rstrip("s") for word in words(text) if len(word) >= STEM_LETTERS - 1)


def _in_order(finding: Finding) -> tuple[str, int, str]:
    return finding.file, finding.line, finding.text
