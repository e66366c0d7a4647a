"""
Of the file that all items share, a model is shown only the part of its item, because other items may be discussed in
private channels: a model cannot repeat there what it has not read. The file itself is not changed.
"""

from collections.abc import Iterator

from bot.domain.item.item_paths import shared
from bot.domain.values.markdown import Outline, outline

OF_AN_ITEM = 2
"""The level of a heading that ends with an item's name in brackets."""


def own_turns(path: str, text: str, *, slug: str) -> str:
    if not shared(path):
        return text
    page = outline(text)
    return "".join("".join(page.lines[begin:end]) for begin, end in _parts(page, slug))


def _parts(page: Outline, slug: str) -> Iterator[tuple[int, int]]:
    """What stands before the first item, and the parts of this one."""
    items = [one for one in page.headings if one.level <= OF_AN_ITEM and one.text.endswith(")")]
    yield 0, items[0].line if items else len(page.lines)
    for one in items:
        if one.text.endswith(f"({slug})"):
            yield one.line, page.end(one, level=OF_AN_ITEM)
