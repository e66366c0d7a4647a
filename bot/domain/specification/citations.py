"""Lines of code that an entry rests on, cited as `src/sync.py:40-58@1a2b3c4`: the path, the lines, and the commit."""

import re
from collections.abc import Mapping
from typing import NamedTuple, Self

_CITATION = re.compile(r"([^\s:@][^:@\x00-\x1f]{0,399}):(\d{1,7})(?:-(\d{1,7}))?@([0-9a-f]{7,40})")
MOST_LINES = 1_000
"""Of one citation."""
_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")
"""What may stand in the path of an address."""
_NUMBERED = re.compile(r"(\d+)(?: (.*))?")
AT_A_COMMIT = {"/blob/": "/blob/", "/src/branch/": "/src/commit/"}
"""What stands before a branch in the addresses of code hosts, and before a commit."""


class CodeCitation(NamedTuple):
    path: str
    first: int
    last: int
    sha: str

    @classmethod
    def read(cls, text: str) -> Self | None:
        found = _CITATION.fullmatch(text)
        if found is None:
            return None
        path, first, last, sha = found.groups()
        return cls(path, int(first), int(last or first), sha)

    @property
    def label(self) -> str:
        """For people: without the commit."""
        return f"{self.path}:{self.first}" + (f"-{self.last}" if self.last > self.first else "")

    def url(self, template: str) -> str:
        """*template* is an address with `{path}` in it. Lines and the commit are named as code hosts do."""
        lines = f"L{self.first}" + (f"-L{self.last}" if self.last > self.first else "")
        address = _at_commit(template, self.sha).replace("{path}", _quoted(self.path))
        return address if "#" in address else f"{address}#{lines}"


class CitingRow(NamedTuple):
    """A line of a file that seems to name entries."""

    path: str
    line: int
    text: str


class CitingCommit(NamedTuple):
    """`at` is when it was made, in seconds since 1970."""

    sha: str
    at: float
    message: str


def cited_text(source: str, shown: Mapping[str, str]) -> str | None:
    """
    What *source* says, of the texts that were *shown*, by their ids; also a part of lines that were shown together.
    None when it was not shown.
    """
    if source in shown:
        return "\n".join(_lines(source, shown[source]).values()) or shown[source]
    asked = CodeCitation.read(source)
    if asked is None or not asked.first <= asked.last < asked.first + MOST_LINES:
        return None
    for id, text in shown.items():
        whole = CodeCitation.read(id)
        if whole and (whole.path, whole.sha) == (asked.path, asked.sha):
            lines = _lines(id, text)
            wanted = range(asked.first, asked.last + 1)
            if all(number in lines for number in wanted):
                return "\n".join(lines[number] for number in wanted)
    return None


def _lines(id: str, text: str) -> dict[int, str]:
    """Without their numbers: a number of a line is no word of the code. Nothing for what is not code."""
    found = _CITATION.fullmatch(id)
    if found is None:
        return {}
    if not found[3]:
        return {int(found[2]): text}
    rows = (_NUMBERED.fullmatch(row) for row in text.split("\n"))
    return {int(row[1]): row[2] or "" for row in rows if row}


def _at_commit(template: str, sha: str) -> str:
    before, path, after = template.partition("{path}")
    for branch, commit in AT_A_COMMIT.items():
        host, found, _ = before.rpartition(branch)
        if found:
            return f"{host}{commit}{sha}/{path}{after}"
    return template


def _quoted(path: str) -> str:
    return "".join(chr(one) if one in _PLAIN else f"%{one:02X}" for one in path.encode("utf-8", "replace"))
