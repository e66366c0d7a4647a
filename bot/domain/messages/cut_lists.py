"""Lists on the card of a step that are longer than their room, with a button that shows all of it to one person."""

import re
from collections.abc import Callable, Iterator, Sequence

from bot.domain.messages import step_wording
from bot.domain.messages.message import Action, CardPart, CardRow, Choice
from bot.domain.messages.step_scene import StepScene

Block = Callable[[], Sequence[CardRow]]
"""Makes rows that stand or are left out together; of a long list only those that are shown are made."""
READ = Choice(action=Action.READ, label="Read all")
_MORE_PARTS = re.compile(r"and [0-9]+ more")


def cut(scene: StepScene, part: CardPart, blocks: Sequence[Block], most: int) -> Iterator[CardPart]:
    """*part* with the first blocks of rows, and how many are left out; nothing where there are none."""
    shown = blocks if scene.is_whole else blocks[:most]
    if rows := tuple(row for block in shown for row in block()):
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
