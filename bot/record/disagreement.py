"""
The disagreement map: for each issue a picture of its positions, who holds them, and who moved from one to another.

It is drawn for the width of a phone, so that its text is readable there, and says the same in words for screen readers.
"""

from collections.abc import Iterator, Sequence
from html import escape
from itertools import count
from typing import NamedTuple
from unicodedata import east_asian_width

from bot.domain.values.text import one_line
from bot.record.brief import Holder, Issue

WIDTH = 340
TRACKS = 30
"""On the right, for the arrows."""
ROW_CHARS, MOST_ROWS = 46, 3
NAME_CHARS = 22
ROW, CHIP, GAP, PAD = 17, 22, 6, 8
LETTER = 7.2
POSITIONS_SHOWN, HOLDERS_SHOWN = 8, 16
MOVES_DRAWN = 6


class _Chip(NamedTuple):
    holder: Holder
    name: str
    x: float
    y: float
    wide: float


def picture(issue: Issue, number: int) -> Iterator[str]:
    """*number* tells the pictures of a page apart."""
    boxes: list[str] = []
    chips: dict[tuple[str, str], _Chip] = {}
    top = 1.0
    for position, holders in list(issue.positions.items())[:POSITIONS_SHOWN]:
        begun, rows = top, _rows(position)
        top += PAD + ROW * len(rows)
        placed, top = _placed(holders[:HOLDERS_SHOWN], top)
        chips |= {(position, one.holder.name): one for one in placed}
        height = top - begun
        boxes.append(
            f'<rect class="box" x="1" y="{begun:.0f}" width="{WIDTH - TRACKS}" height="{height:.0f}" rx="8"/>'
        )
        boxes += [
            f'<text class="stand" x="{PAD + 2}" y="{begun + PAD + ROW * at + 10:.0f}">{escape(row)}</text>'
            for at, row in enumerate(rows)
        ]
        top += GAP
    names = f'aria-labelledby="m{number}t" aria-describedby="m{number}d"'
    yield f'<svg class="map" viewBox="0 0 {WIDTH} {top:.0f}" role="img" {names}>'
    yield f'<title id="m{number}t">Positions on {escape(one_line(issue.title, 120))}</title>'
    yield f'<desc id="m{number}d">{escape(in_words(issue))}</desc>'
    yield from boxes
    yield from _arrows(issue, chips)
    for chip in chips.values():
        yield from _drawn(chip)
    yield "</svg>"


def in_words(issue: Issue) -> str:
    sentences = []
    for position, holders in issue.positions.items():
        now = ", ".join(one.name for one in holders if not one.left)
        sentences.append(f"{position}: {now or 'no one now'}.")
    sentences += [f"{one.by} moved from {one.was} to {one.position}." for one in issue.moves]
    return one_line(" ".join(sentences), 2_000)


def _rows(text: str) -> Sequence[str]:
    """*text*, broken at spaces, in at most `MOST_ROWS` rows."""
    rows = [""]
    for word in one_line(text, ROW_CHARS * MOST_ROWS).split():
        for piece in (word[at : at + ROW_CHARS] for at in range(0, len(word), ROW_CHARS)):
            if rows[-1] and _columns(f"{rows[-1]} {piece}") > ROW_CHARS:
                rows.append("")
            rows[-1] = f"{rows[-1]} {piece}".strip()
    if len(rows) > MOST_ROWS:
        rows = [*rows[: MOST_ROWS - 1], f"{rows[MOST_ROWS - 1]} …"]
    return rows


def _columns(text: str) -> int:
    """Wide letters take two."""
    return sum(2 if east_asian_width(one) in "WF" else 1 for one in text)


def _placed(holders: Sequence[Holder], top: float) -> tuple[list[_Chip], float]:
    """In rows, from the left; and where the next thing begins."""
    placed: list[_Chip] = []
    x = PAD + 2.0
    for one in holders:
        name = one_line(one.name, NAME_CHARS)
        wide = _columns(name) * LETTER + 16
        if x > PAD + 2 and x + wide > WIDTH - TRACKS - PAD:
            x, top = PAD + 2.0, top + CHIP + GAP
        placed.append(_Chip(one, name, x, top, wide))
        x += wide + GAP
    return placed, top + (CHIP + PAD if placed else 0)


def _drawn(chip: _Chip) -> Iterator[str]:
    kind = f"{'person' if chip.holder.is_person else 'persona'}{' left' if chip.holder.left else ''}"
    corner = CHIP // 2 if chip.holder.is_person else 3
    size = f'width="{chip.wide:.1f}" height="{CHIP}" rx="{corner}"'
    yield f'<rect class="chip {kind}" x="{chip.x:.1f}" y="{chip.y:.1f}" {size}/>'
    middle = chip.x + chip.wide / 2
    shade = ' class="gone"' if chip.holder.left else ""
    yield f'<text{shade} x="{middle:.1f}" y="{chip.y + 15:.1f}" text-anchor="middle">{escape(chip.name)}</text>'


def _arrows(issue: Issue, chips: dict[tuple[str, str], _Chip]) -> Iterator[str]:
    """From where somebody stood to where they went, along the right side."""
    track = count(WIDTH - TRACKS + 7, 4)
    for move in issue.moves[:MOVES_DRAWN]:
        was, now = chips.get((move.was, move.by)), chips.get((move.position, move.by))
        if was is None or now is None:
            continue
        x = next(track)
        begin, end, to_y = was.x + was.wide, now.x + now.wide + 6, now.y + CHIP / 2
        yield f'<path class="arrow" d="M{begin:.1f} {was.y + CHIP / 2:.1f}H{x}V{to_y:.1f}H{end:.1f}"/>'
        yield f'<path class="tip" d="M{now.x + now.wide + 1:.1f} {to_y:.1f}l7 -4v8z"/>'
