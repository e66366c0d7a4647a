"""
Which code names entries of the record: by git's command line, in the files of the working tree that git tracks, in
messages of commits, and for one line by blame.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from bot.domain.specification.citations import CitingCommit, CitingRow
from bot.errors import WorkspaceError
from bot.storage.git.command import Git, printable

ID = "[A-Z]{1,4}-[0-9]{3,4}"
"""For git: what seems to be an id of an entry. The domain looks closer."""
PATHS_AT_ONCE = 500
_BLAMED = re.compile(r"(?m)^([0-9a-f]{40,64}) \d")
_AS_EVERYWHERE = ("-c", "log.follow=false", "-c", "log.showSignature=false", "-c", "diff.relative=false")
"""Settings of a user that would change what is read below."""


class BranchChanges(NamedTuple):
    """The paths that a branch changed, and the ids of its commits."""

    paths: frozenset[str] = frozenset()
    commits: frozenset[str] = frozenset()


class CitingCode:
    """A clone of the code. Every method raises WorkspaceError with one sentence."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._git = Git(root)

    async def top(self) -> Path:
        """The folder at the top of the clone."""
        found = await self._said("rev-parse", "--show-toplevel", ok=(0, 128))
        if not found:
            raise WorkspaceError(f"There is no git repository with files at {self.root}.", reason="git")
        return Path(found.removesuffix("\n"))

    async def is_shallow(self) -> bool:
        return (await self._said("rev-parse", "--is-shallow-repository")).strip() == "true"

    async def rows(self, *, without: Sequence[str] = (), within: str = "") -> Sequence[CitingRow]:
        """Of the file or folder *within*, without those below *without*. Binary files have none."""
        found = await self._said(
            "grep", "-I", "-n", "-z", "-E", "--full-name", "--no-color", "--no-column", "-e", ID, "--",
            f":(top,literal){within}" if within else ".",
            *(f":(exclude,top,literal){path}" for path in without),
            ok=(0, 1),
        )  # fmt: skip
        return tuple(_rows(found))

    async def commits(self) -> Sequence[CitingCommit]:
        """Merges too: the text of a pull request is often there."""
        if not await self._has_commits():
            return ()
        found = await self._log("-z", "-E", f"--grep={ID}", "--format=%H%x00%ct%x00%B")
        fields = found.split("\0")
        rows = zip(fields[0::3], fields[1::3], fields[2::3], strict=False)
        return tuple(CitingCommit(sha, float(at), message) for sha, at, message in rows)

    async def files(self) -> frozenset[str]:
        """The paths that git tracks."""
        return frozenset(filter(None, (await self._said("ls-files", "-z")).split("\0")))

    async def since(self, base: str) -> BranchChanges:
        """What this branch added to the commit *base*."""
        given = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{base}^{{commit}}")
        if not (sha := (await self._said(*given, ok=(0, 1, 128))).strip()):
            raise WorkspaceError(f"There is no commit {base!r} in this clone.", reason="git")
        commits = await self._said("rev-list", f"{sha}..HEAD")
        paths = await self._said(
            *_AS_EVERYWHERE, "diff", "--name-only", "--no-renames", "-z", f"{sha}...HEAD"
        )
        return BranchChanges(frozenset(filter(None, paths.split("\0"))), frozenset(commits.split()))

    async def last_changed(self, paths: Sequence[str]) -> Mapping[str, float]:
        """When each of *paths* was last committed, in seconds since 1970; nothing for one that never was."""
        found: dict[str, float] = {}
        if not paths or not await self._has_commits():
            return found
        for begin in range(0, len(paths), PATHS_AT_ONCE):
            at, some = 0.0, paths[begin : begin + PATHS_AT_ONCE]
            printed = await self._log("-z", "--format=%x01%ct", "--name-only", "--no-renames", "--", *some)
            for row in printed.split("\0"):
                name = row.removeprefix("\n")
                if name.startswith("\x01"):
                    at = float(name[1:])
                elif name:
                    found.setdefault(name, at)
        return found

    async def blamed(self, path: str, line: int = 0) -> tuple[str, ...]:
        """The commits that the file, or its *line*, is from."""
        lines = (f"-L{line},{line}",) if line else ()
        printed = await self._said("--literal-pathspecs", "blame", "--porcelain", *lines, "--", path)
        return tuple(dict.fromkeys(_BLAMED.findall(printed)))

    async def _has_commits(self) -> bool:
        return bool(await self._said("rev-parse", "--verify", "--quiet", "HEAD", ok=(0, 1)))

    async def _log(self, *words: str) -> str:
        return await self._said("--literal-pathspecs", *_AS_EVERYWHERE, "log", "--no-color", *words)

    async def _said(self, *words: str, ok: Sequence[int] = (0,)) -> str:
        try:
            ran = await self._git(*words)
        except TimeoutError:
            raise WorkspaceError("Git did not answer in time.", reason="git", again=True) from None
        except OSError as error:
            raise WorkspaceError(f"Git cannot be run: {error.strerror}.", reason="git") from error
        if ran.code not in ok:
            told = printable(ran.error).strip().splitlines() or [f"git ended with {ran.code}"]
            raise WorkspaceError(f"{told[-1].removeprefix('fatal: ')}.", reason="git")
        return printable(ran.out)


def _rows(printed: str) -> Iterator[CitingRow]:
    """A path, a number and a text each. A path may have line ends in it, a text may have zeros."""
    begun: list[str] = []
    for row in printed.split("\n"):
        path, *rest = row.split("\0", 2)
        if len(rest) == 2 and rest[0].isdigit():
            yield CitingRow("\n".join((*begun, path)), int(rest[0]), rest[1])
            begun.clear()
        else:
            begun.append(row)
