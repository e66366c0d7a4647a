"""What was committed last of a transcript: the newest seal of its chain, and the commit that has it (ADR 45)."""

import re

from bot.domain.transcript.lines import MOMENT
from bot.domain.transcript.seal import TrustedKeys, read_chain
from bot.domain.values.value import Stored

SHORT = 12
"""Characters of a shortened digest."""
BRIEF = re.compile(rf"(\d{{1,9}}) ([0-9a-f]{{{SHORT}}}) ([0-9a-f]{{40,64}}) (\S{{1,200}}) ({MOMENT})")


class Witness(Stored):
    """
    The sealed line number `n` of `chain`; its `digest` may be shortened. `last` is the message id of the last committed
    line, `effect` the id of the effect that made the commit, `at` its time. `shared`: the remote has the commit, or
    there is no remote.
    """

    chain: str = ""
    n: int = 0
    digest: str = ""
    last: str = ""
    commit: str = ""
    effect: str = ""
    at: str = ""
    shared: bool = True

    def __bool__(self) -> bool:
        return self != Witness()

    @property
    def brief(self) -> str:
        """For the metadata of a post; empty before the first commit."""
        parts = (self.n, self.digest[:SHORT], self.commit, self.effect, self.at)
        return " ".join(map(str, parts)) if all(parts) else ""

    def fits(self, content: bytes, trusted: TrustedKeys | None = None) -> bool:
        """Whether *content* has the line."""
        rows = read_chain(content, trusted, chain=self.chain).rows
        return not self.n or any(row.n == self.n and row.digest.startswith(self.digest) for row in rows)


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


def witness(content: bytes, trusted: TrustedKeys | None = None) -> Witness:
    end = read_chain(content, trusted)
    return Witness(chain=end.chain, n=end.n, digest=end.last)


def read_brief(text: str) -> Witness:
    """The witness in the metadata of a post; an empty one if it cannot be read."""
    if not (found := BRIEF.fullmatch(text)):
        return Witness()
    return Witness(n=int(found[1]), digest=found[2], commit=found[3], effect=found[4], at=found[5])
