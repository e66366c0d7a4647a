"""
The witness of a transcript in a commit of the bot: the number of lines, and a hash chain over them (ADR 29).

`hash(n) = SHA-256(hash(n - 1) + row n)`, over the bytes of each row in the file, without the line end. Fields of other
tools are part of it.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator
from itertools import islice

from bot.domain.transcript.lines import MOMENT
from bot.domain.values.value import Stored

TRAILER = "Roundtable-Witness"
SHORT = 12
"""Characters of a shortened hash."""
PADDING = b"\x00 \t\r"
BRIEF = re.compile(rf"(\d{{1,9}}) ([0-9a-f]{{{SHORT}}}) ([0-9a-f]{{40,64}}) (\S{{1,200}}) ({MOMENT})")
WRITTEN = re.compile(r"(\d{1,9}) ([0-9a-f]{12,64})")


class Witness(Stored):
    """
    `chain` may be a shortened hash. `last` is the message id of the last committed line, `effect` the id of the effect
    that made the commit, `at` its time. `shared`: the remote has the commit, or there is no remote.
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
        """For the metadata of a post; empty before the first commit."""
        parts = (self.lines, self.chain[:SHORT], self.commit, self.effect, self.at)
        return " ".join(map(str, parts)) if all(parts) else ""

    def fits(self, content: bytes) -> bool:
        """Whether *content* begins with the committed lines."""
        found = list(islice(chain(content), self.lines))
        return len(found) == self.lines and (not found or found[-1].startswith(self.chain))


class RolledBack(Stored):
    """
    A workspace that went back behind committed lines. `steps` and `commits` were lost. If not all of it was restored
    (`whole`), they are only what is known, and `heard` has the timestamps of people's newest messages that are left.
    `now` is the transcript since then. `edit` names a commit of another person that changed or removed so many
    sealed `lines`; they are put back with the next commit.
    """

    commits: int = 0
    steps: tuple[str, ...] = ()
    whole: bool = False
    heard: tuple[str, ...] = ()
    now: Witness = Witness()
    edit: str = ""
    lines: int = 0


def chain(content: bytes) -> Iterator[str]:
    """The hash after each row; empty rows are skipped."""
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
    """The witness in the metadata of a post; an empty one if it cannot be read."""
    if not (found := BRIEF.fullmatch(text)):
        return Witness()
    return Witness(lines=int(found[1]), chain=found[2], commit=found[3], effect=found[4], at=found[5])


def read_trailer(text: str) -> Witness | None:
    """Reads the value of the trailer."""
    found = WRITTEN.fullmatch(text.strip())
    return Witness(lines=int(found[1]), chain=found[2]) if found else None
