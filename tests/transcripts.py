"""A transcript with its flaws, as a replay finds them: a last line that was cut off is one."""

from typing import NamedTuple

from bot.domain.transcript import lines
from bot.domain.transcript.lines import Flaw, Line
from bot.record import reading


class Transcript(NamedTuple):
    lines: tuple[Line, ...]
    flaws: tuple[Flaw, ...]

    @property
    def last_round(self) -> int:
        return max((line.round for line in self.lines), default=0)

    @property
    def message_ids(self) -> frozenset[str]:
        return frozenset(line.message_id for line in self.lines)


def read(content: bytes) -> Transcript:
    return Transcript(lines.read(content), reading.replay(reading.Transcript(content)).flaws)
