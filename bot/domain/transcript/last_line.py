"""
Where the committed transcript ends. A workspace without that line has less than it had.

By the line's id, because its seal changes when it is applied again after the lines of another clone.
"""

import re

from bot.domain.transcript.seal import SEAL, TrustedKeys, last_sealed, read_chain
from bot.domain.values.value import Stored

BRIEF = re.compile(r"(\d{1,9}) ([!-~]{1,200})")


class LastLine(Stored):
    """The newest line of ours of `n`. `unpushed` is the time of its commit, if the remote may lack that."""

    n: int = 0
    id: str = ""
    unpushed: str = ""

    def __bool__(self) -> bool:
        return bool(self.id)

    @property
    def brief(self) -> str:
        """For the metadata of a post; empty before the first commit."""
        return f"{self.n} {self.id}" if self else ""

    def is_in(self, content: bytes) -> bool:
        return not self or f'"{self.id}"'.encode() in content


def last_line(content: bytes, trusted: TrustedKeys | None = None) -> LastLine:
    """Of the transcript *content*; where nothing is sealed, any line counts."""
    if (last := last_sealed(content, trusted)) and last.message_id:
        return LastLine(n=last.meta[SEAL]["n"], id=last.message_id)
    chain = read_chain(content, trusted)
    lines = chain.sealed_lines or tuple(row.line for row in chain.rows)
    ids = (line.message_id for line in reversed(lines) if line.message_id)
    return LastLine(n=len(lines), id=next(ids, ""))


def read_brief(text: str) -> LastLine:
    """An empty one if *text* cannot be read."""
    found = BRIEF.fullmatch(text)
    return LastLine(n=int(found[1]), id=found[2]) if found else LastLine()
