"""
Lists on the card of a step: the rows of a section of a file, and lists that are longer than their room, with a button
that shows all of it to one person.
"""

import re
from collections.abc import Iterator, Sequence

from bot.domain.catalog.schema import CANONICAL_ID
from bot.domain.messages import step_wording
from bot.domain.messages.message import Action, CardPart, CardRow, Choice
from bot.domain.messages.step_scene import StepScene
from bot.domain.specification.projection import SAID_BY

READ = Choice(action=Action.READ, label="Read all")
_MORE_PARTS = re.compile(r"and [0-9]+ more")


def cut(
    scene: StepScene, part: CardPart, blocks: Sequence[Sequence[CardRow]], most: int
) -> Iterator[CardPart]:
    """*part* with the first blocks of rows, and how many are left out; nothing where there are none."""
    shown = blocks if scene.is_whole else blocks[:most]
    if rows := tuple(row for block in shown for row in block):
        yield part.but(rows=rows)
    if left := len(blocks) - len(shown):
        yield rest(scene, more(left))
    elif any(_is_cut(row) for row in rows):
        yield rest(scene, step_wording.LONGER)


def rest(scene: StepScene, words: str) -> CardPart:
    return CardPart(prose=words, button=READ.but(value=scene.step_id))


def more(count: int) -> str:
    return f"and {count} more"


def _is_cut(row: CardRow) -> bool:
    """In place of the parts of one entry that are not shown."""
    return row.level > 0 and not row.id and bool(_MORE_PARTS.fullmatch(row.text))


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
        elif row.startswith(SAID_BY):
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
