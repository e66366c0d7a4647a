"""Quality requirements: what people gave a number, as rows of the matrix that all items share."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from bot.voices.offline.pages import author, plain, table
from bot.voices.offline.phrases import key
from bot.voices.offline.reading import Kind, Said

FILE = "nfr-matrix.md"
COLUMNS = ("NFR ID", "Category", "Description", "Threshold", "Priority")
UNSET = "to be set"
NOTHING_MEASURED = "_Nothing measurable was said yet._"

OTHER = "Quality"
_CATEGORIES = {
    "Performance": (
        r"performance|response|latency|\bfast|\bspeed|quick|slow|load|throughput|\bms\b|\bsec(?:ond)?s?\b|p9[059]"
    ),
    "Reliability": r"reliab|uptime|availab|outage|downtime|errors?\b|fail|crash|recover|\bloss\b|\blost?\b",
    "Security": r"secur|encrypt|password|breach|attack|permission|auth|token|safety|\bsafe",
    "Privacy": r"privacy|personal data|gdpr|dsgvo|retention|delet",
    "Accessibility": r"accessib|wcag|screen reader|contrast|keyboard",
    "Usability": r"usab|\bease\b|easy|clicks?\b|learn|understand|first[- ]time|onboard",
    "Scalability": r"scal|concurren|at once|users?\b|tenants?\b|growth|per (?:second|minute|hour|day)",
    "Maintainability": r"maintain|coverage|upkeep|deploy|test suite",
    "Cost": r"\bcosts?\b|budget|€|\$|£|\beuros?\b|dollars?\b",
}
_CATEGORY = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in _CATEGORIES.items()}
_UNIT = (
    r"(?:\s*(?:%|‰|percent|per\s*cent|ms|milliseconds?|s|secs?|seconds?|mins?|minutes?|h|hours?|days?|weeks?|months?"
    r"|users?|requests?|clicks?|errors?|kb|mb|gb|tb|rps|x|times|€|\$|AA+)\b|\s*[%‰€])?"
)
_PER_WHAT = r"\d[\d.,]*|s|second|minute|hour|day|week|month|year|hundred|thousand|request|user"
_PER = rf"(?:\s*(?:/|per|a|in\s+a|out\s+of)\s*(?:{_PER_WHAT})s?\b)?"
_BOUND = (
    r"(?:(?:[<>≤≥~]=?|under|below|less\s+than|fewer\s+than|at\s+most|no\s+more\s+than|at\s+least|more\s+than|over|above"
    r"|within|up\s+to|max(?:imum)?\.?|min(?:imum)?\.?)\s*)?"
)
_THRESHOLD = re.compile(rf"{_BOUND}[€$£]?\d[\d.,]*(?<![.,]){_UNIT}{_PER}", re.IGNORECASE)
_UNIT_OR_BOUND = re.compile(r"[^\d.,\s]")
_RISK = re.compile(r"\brisks?\b|\blikel(?:y|ihood)\b|\bimpact\b|\bcould go wrong\b|\bmitigat", re.IGNORECASE)
_LIST_NUMBER = re.compile(r"\bFR[-\s]?\d+|\b\d{4}-\d\d-\d\d\b|\bstep \d\d-\d\d\b", re.IGNORECASE)
_ROW = re.compile(r"\|\s*NFR-0*(?P<number>\d{1,6})\s*\|(?P<rest>.*)\|\s*$")


class Row(NamedTuple):
    """As it stands in the table: every cell is Markdown."""

    number: int
    cells: tuple[str, ...]

    @property
    def description(self) -> str:
        return self.cells[1].rpartition(" — ")[0] or self.cells[1]


def rows(said: Iterable[Said], mine: str, everybody: str) -> tuple[Row, ...]:
    """
    The rows of an item: those of its section *mine*, and what people measured now.

    Equal words keep their number; new ones go on after the highest of *everybody*, the whole page.
    """
    known = list(_read(mine))
    number = max((row.number for row in _read(everybody)), default=0)
    for piece in said:
        if not is_measured(piece) or key(plain(piece.text)) in {key(row.description) for row in known}:
            continue
        number += 1
        known.append(
            Row(
                number,
                (
                    category(piece.text),
                    f"{piece.text.rstrip('.')} — {author(piece.by)}",
                    threshold(piece.text),
                    UNSET,
                ),
            )
        )
    return tuple(known)


def matrix(found: Sequence[Row]) -> str:
    return table(COLUMNS, [(f"NFR-{row.number:03}", *row.cells) for row in found])


def is_measured(piece: Said) -> bool:
    """Whether a quality is given a number, with a unit or a bound or by name; a risk with one is a risk."""
    if piece.kind not in {Kind.STATEMENT, Kind.DECISION} or _RISK.search(piece.text):
        return False
    limit = threshold(piece.text)
    return bool(limit) and bool(_UNIT_OR_BOUND.search(limit) or category(piece.text) != OTHER)


def threshold(text: str) -> str:
    found = _THRESHOLD.search(_LIST_NUMBER.sub(" ", text))
    return found[0].strip() if found else ""


def category(text: str) -> str:
    return next((name for name, pattern in _CATEGORY.items() if pattern.search(text)), OTHER)


def _read(text: str) -> Iterator[Row]:
    for line in text.splitlines():
        if found := _ROW.match(line.strip()):
            cells = tuple(cell.strip() for cell in re.split(r"(?<!\\)\|", found["rest"]))
            if len(cells) == len(COLUMNS) - 1:
                yield Row(int(found["number"]), cells)
