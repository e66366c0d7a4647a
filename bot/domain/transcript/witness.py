"""
What a commit of ours left of a transcript: so many lines, and a hash in which each of them has part.

`hash(n) = SHA-256(hash(n - 1) + row n)`, over the bytes of each row as they stand in the file, without the end of the
line. So a row that is written again byte by byte keeps its hash, with every field that only another tool understands.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator
from itertools import islice

from bot.domain.transcript.lines import MOMENT
from bot.domain.values.value import Stored

TRAILER = "Roundtable-Witness"
SHORT = 12
"""Characters of a hash that are enough where space is scarce."""
PADDING = b"\x00 \t\r"
BRIEF = re.compile(rf"(\d{{1,9}}) ([0-9a-f]{{{SHORT}}}) ([0-9a-f]{{40,64}}) (\S{{1,200}}) ({MOMENT})")
WRITTEN = re.compile(r"(\d{1,9}) ([0-9a-f]{12,64})")


class Witness(Stored):
    """
    `chain` may be the beginning of the hash. `last` is the message id of the last line that was committed, `commit` the
    commit, `effect` what it was made for, `at` the time of it. `shared`: a remote has it, or there is none.
    """

    lines: int = 0
    chain: str = ""
    last: str = ""
    commit: str = ""
    effect: str = ""
    at: str = ""
    shared: bool = True

    def __bool__(self) -> bool:
        return self != Witness()

    @property
    def trailer(self) -> str:
        return f"{TRAILER}: {self.lines} {self.chain}"

    @property
    def brief(self) -> str:
        """Ids only, for the metadata of a post; empty when nothing is committed."""
        parts = (self.lines, self.chain[:SHORT], self.commit, self.effect, self.at)
        return " ".join(map(str, parts)) if all(parts) else ""

    def fits(self, content: bytes) -> bool:
        """Whether *content* begins with the lines that were committed."""
        found = list(islice(chain(content), self.lines))
        return len(found) == self.lines and (not found or found[-1].startswith(self.chain))


class WentBack(Stored):
    """
    A workspace that lacks what was committed. `steps` and `commits` are what it had lost; when it is not `whole` again,
    they are as far as anybody knows, and `heard` are the stamps of people's newest messages that were left. `now` is
    the transcript as it stands since. `person` and `edit` name a commit of somebody else's in which our lines were
    changed: that one stands.
    """

    commits: int = 0
    steps: tuple[str, ...] = ()
    whole: bool = False
    heard: tuple[str, ...] = ()
    now: Witness = Witness()
    person: str = ""
    edit: str = ""


def chain(content: bytes) -> Iterator[str]:
    """The hash after each row; an empty row is none."""
    return chained(content.split(b"\n"))


def chained(rows: Iterable[bytes]) -> Iterator[str]:
    last = b""
    for row in rows:
        if kept := row.rstrip(PADDING):
            last = hashlib.sha256(last + kept).digest()
            yield last.hex()


def witness(content: bytes) -> Witness:
    lines, last = 0, ""
    for lines, last in enumerate(chain(content), start=1):  # noqa: B007 -- the last ones count
        pass
    return Witness(lines=lines, chain=last)


def read_brief(text: str) -> Witness:
    """What a post of ours says; nothing, when it says nothing that can be read."""
    if not (found := BRIEF.fullmatch(text)):
        return Witness()
    return Witness(lines=int(found[1]), chain=found[2], commit=found[3], effect=found[4], at=found[5])


def read_trailer(text: str) -> Witness | None:
    """What stands behind the name of the trailer."""
    found = WRITTEN.fullmatch(text.strip())
    return Witness(lines=int(found[1]), chain=found[2]) if found else None
