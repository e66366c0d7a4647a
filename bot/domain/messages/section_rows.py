"""A section of a file as rows of a card: its words stay, its marks become rows. Diagrams stay in the file."""

import re
from collections.abc import Sequence

from bot.domain.catalog.schema import CANONICAL_ID
from bot.domain.messages.message import CardRow
from bot.domain.specification.projection import NOTHING, SAID_BY

_ENTRY_ROW = re.compile(
    rf"(?:[-*+] |\d{{1,3}}\. )?\**(?P<id>{CANONICAL_ID.pattern})(?!\w)\**:?\s*(?P<text>.*)"
)
_CELL = re.compile(r"(?<!\\)\|")
_TABLE_MARKS = frozenset("|-: ")


def rows_of(body: str) -> list[list[CardRow]]:
    """Each row with those below it. Who said an entry is not repeated where the section says it in a row of its own."""
    blocks: list[list[CardRow]] = []
    head: list[str] = []
    is_below = is_code = is_diagram = False
    for raw in body.splitlines():
        row = raw.strip()
        if not row.startswith("|"):
            head = []
        if row.startswith("```"):
            is_code, is_diagram = not is_code, row == "```mermaid"
        elif not row or (is_code and is_diagram):
            continue
        elif is_code or (blocks and (raw.startswith(" ") or (is_below and row.startswith("- ")))):
            below = _row(row, level=1)
            blocks[-1:] = [[*blocks[-1], below]] if blocks else [[below.but(level=0)]]
        elif row.startswith(SAID_BY) or row == NOTHING:
            continue
        elif row.startswith("|"):
            cells = [cell.strip().replace("\\|", "|") for cell in _CELL.split(row)[1:-1]]
            if head and not set(row) <= _TABLE_MARKS:
                blocks.append([_table_row(head, cells)])
            head = head or cells
        elif row.startswith("#"):
            blocks.append([_row(row.lstrip("#").strip())])
            is_below = True
        else:
            blocks.append([_row(row)])
            is_below = row.startswith("**") and row.endswith("**")
    return blocks


def _row(text: str, *, level: int = 0) -> CardRow:
    if entry := _ENTRY_ROW.fullmatch(text):
        return CardRow(id=entry["id"], text=entry["text"], level=level)
    return CardRow(text=text.removeprefix("- "), level=level)


def _table_row(head: Sequence[str], cells: Sequence[str]) -> CardRow:
    """What stands in the first column is the row's; the others are named."""
    first, *rest = cells or [""]
    row = _row(first)
    told = [f"{name}: {cell}" for name, cell in zip(head[1:], rest, strict=False) if cell]
    return row.but(text=" · ".join(filter(None, (row.text, *told))))
