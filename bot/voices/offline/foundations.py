"""What architecture and design leave unsaid: risks that nothing softens, calls that never fail."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from bot.domain.reviews.text import Finding, FindingSeverity
from bot.voices.offline.dossier import Dossier, is_unset, noted
from bot.voices.offline.references import INTERFACES

_FAILURE = re.compile(
    r"\berr|\bfail|\brais|\bthrow|\breject|\brefus|\binvalid|\btimeout|\b[45]\d\d\b", re.IGNORECASE
)


class Rule(NamedTuple):
    """In a table with both columns, whoever names the *one* owes the *other*."""

    one: str
    other: str
    severity: FindingSeverity
    way_out: str


RISKS = (
    Rule("risk", "mitigation", FindingSeverity.MAJOR, "write what softens it, or who accepts it as it is"),
    Rule("risk", "likelihood", FindingSeverity.MINOR, "say how likely it is"),
    Rule("risk", "impact", FindingSeverity.MINOR, "say how bad that day would be"),
)
CHOICES = (
    Rule("technology", "rationale", FindingSeverity.MAJOR, "write why this one"),
    Rule("technology", "alternatives considered", FindingSeverity.MINOR, "write what else was possible"),
)
CONTRACTS = (
    Rule("interface", "error handling", FindingSeverity.MAJOR, "write what the caller gets when it fails"),
    Rule("error code", "trigger", FindingSeverity.MAJOR, "write what makes it happen"),
    Rule("error code", "recovery", FindingSeverity.MAJOR, "write what happens then"),
    Rule("field", "type", FindingSeverity.MAJOR, "write what may stand in it"),
)


def risks(item: Dossier) -> Iterator[Finding]:
    return _owing(item, RISKS)


def choices(item: Dossier) -> Iterator[Finding]:
    return _owing(item, CHOICES)


def contracts(item: Dossier) -> Iterator[Finding]:
    yield from _owing(item, CONTRACTS)
    for part in item.sections(INTERFACES) if INTERFACES in item.pages else ():
        said = item.said(part)
        text = "".join(item.pages[INTERFACES].lines[said.start : said.stop])
        if "interface" in part.heading.casefold() and text.strip() and not _FAILURE.search(text):
            sentence = (
                f'"{part.heading}" says nothing of failure: write what a caller gets when a call fails.'
            )
            yield noted(FindingSeverity.MAJOR, INTERFACES, part.line + 1, text=sentence)


def _owing(item: Dossier, rules: tuple[Rule, ...]) -> Iterator[Finding]:
    for row in item.rows():
        for rule in rules:
            name = row.cells.get(rule.one, "")
            if not is_unset(name) and rule.other in row.cells and is_unset(row.cells[rule.other]):
                text = f'"{name}" has no {rule.other}: {rule.way_out}.'
                yield noted(rule.severity, row.file, row.line, text=text)
