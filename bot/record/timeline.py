"""
The picture of a discussion: who spoke when, where it was decided, and where somebody took another position.

Lines that are too many for a pixel each share one, so a picture of a million lines is as large as one of a thousand.
"""

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import pairwise

from bot.domain.replay_state import Move, Point, Speaker, State
from bot.domain.text import counted, one_line
from bot.record.entries import Entry

WIDTH, LEFT, RIGHT, TOP, LANE = 1000, 150, 12, 26, 24
COLUMNS = 700
WIDEST = 14
LANES = 12
NAME_CHARS = 20
COLOURS = 8


class Timeline:
    def __init__(self, state: State) -> None:
        self._state = state
        ours = sorted(
            state.speakers, key=lambda one: (one.kind != "persona", one.kind != "person", one.first)
        )
        self.speakers: Sequence[Speaker] = ours[:LANES]
        self._lane = {(one.kind, one.key): lane for lane, one in enumerate(self.speakers)}
        self._spoken: list[set[int]] = [set() for _ in self.speakers]
        self._turns: list[set[int]] = [set() for _ in self.speakers]
        self._phases: list[tuple[int, str]] = []

    def take(self, entry: Entry) -> None:
        lane = self._lane.get((entry.kind, entry.who))
        if lane is not None:
            (self._turns if entry.turn else self._spoken)[lane].add(self._column(entry.number))
        phase = entry.phase_key or entry.part.replace("_", " ")
        if phase and (not self._phases or self._phases[-1][1] != phase):
            self._phases.append((entry.number, phase))

    def svg(self) -> Iterator[str]:
        height = TOP + LANE * (len(self.speakers) + 1) + 10
        yield f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-labelledby="pt" aria-describedby="pd">'
        yield f'<title id="pt">Timeline of {counted(self._state.lines, "line")}</title>'
        yield f'<desc id="pd">{escape(self.told())}</desc>'
        yield from self._bands(height)
        for lane, speaker in enumerate(self.speakers):
            yield from self._row(lane, speaker)
        yield from self._marks()
        yield "</svg>"

    def told(self) -> str:
        """The same in words."""
        state = self._state
        spoke = ", ".join(f"{one.name} {one.lines}" for one in self.speakers)
        sentences = [
            f"{counted(state.lines, 'line')} in {counted(state.round, 'round')}. Lines by speaker: {spoke}."
        ]
        if state.decisions:
            sentences.append(f"{counted(len(state.decisions), 'decision')} at {_at(state.decisions)}.")
        if state.questions:
            sentences.append(f"{counted(len(state.questions), 'open question')} at {_at(state.questions)}.")
        changed = [one for one in state.moves if one.was]
        if changed:
            sentences.append(f"{counted(len(changed), 'change')} of position at {_at(changed)}.")
        return one_line(" ".join(sentences), 2_000)

    def _row(self, lane: int, speaker: Speaker) -> Iterator[str]:
        top = TOP + LANE * lane
        name = escape(one_line(speaker.name, NAME_CHARS))
        yield f'<text class="name" x="{LEFT - 10}" y="{top + 15}" text-anchor="end">{name}</text>'
        yield f'<path class="rail" d="M{LEFT} {top + 11}H{WIDTH - RIGHT}"/>'
        colour = self._state.speakers.index(speaker) % COLOURS
        yield f'<path class="said k{colour}" d="{self._path(self._spoken[lane], top + 7, 8)}"/>'
        yield f'<path class="turn k{colour}" d="{self._path(self._turns[lane], top + 2, 18)}"/>'

    def _path(self, columns: Iterable[int], top: int, height: int) -> str:
        wide = min(max(self._wide - 0.6, 1.2), WIDEST)
        return "".join(f"M{self._x(at):.1f} {top}h{wide:.1f}v{height}h-{wide:.1f}z" for at in sorted(columns))

    def _bands(self, height: int) -> Iterator[str]:
        """The phases, every other one shaded, each named where there is room."""
        over = (self._state.line + 1, "")
        for number, ((start, phase), (end, _)) in enumerate(pairwise([*self._phases, over])):
            x, after = self._x(self._column(start)), self._x(self._column(end))
            shade = " even" if number % 2 else ""
            yield f'<rect class="band{shade}" x="{x:.1f}" y="0" width="{max(after - x, 1):.1f}" height="{height}"/>'
            if after - x > 7 * len(phase):
                yield f'<text class="phase" x="{x + 6:.1f}" y="15">{escape(phase)}</text>'

    def _marks(self) -> Iterator[str]:
        """Decisions are diamonds and questions rings on a lane of their own, new positions triangles on a speaker's."""
        lane = TOP + LANE * len(self.speakers) + 12
        if self._state.decisions or self._state.questions:
            yield f'<text class="name" x="{LEFT - 10}" y="{lane + 4}" text-anchor="end">decided, open</text>'
        for question in self._state.questions:
            yield f'<circle class="question" cx="{self._middle(question)}" cy="{lane}" r="4"/>'
        for decision in self._state.decisions:
            yield f'<path class="decision" d="M{self._middle(decision)} {lane - 7}l6 7l-6 7l-6 -7z"/>'
        lanes = {one.name: number for number, one in enumerate(self.speakers)}
        for move in self._state.moves:
            if move.was and move.by in lanes:
                top = TOP + LANE * lanes[move.by]
                yield f'<path class="move" d="M{self._middle(move)} {top}l5 9h-10z"/>'

    def _middle(self, one: Point | Move) -> str:
        return f"{self._x(self._column(one.line)) + min(self._wide, WIDEST) / 2:.1f}"

    @property
    def _columns(self) -> int:
        return max(min(self._state.line, COLUMNS), 1)

    @property
    def _wide(self) -> float:
        return (WIDTH - LEFT - RIGHT) / self._columns

    def _column(self, number: int) -> int:
        return (number - 1) * self._columns // max(self._state.line, 1)

    def _x(self, column: int) -> float:
        return LEFT + column * self._wide


def _at(found: Sequence[Point | Move]) -> str:
    shown = ", ".join(str(one.line) for one in found[:20])
    return f"line{'s' if len(found) > 1 else ''} {shown}{' and others' if len(found) > 20 else ''}"
