"""
What personas may look at, out of the newest commit: the code base by libgit2 and git's command line, the items by their
files. What is in a working tree and in no commit is not shown, so that each result can be cited and checked later.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TypeVar

import pygit2
from pygit2.enums import FileMode

from bot.domain.item.item_paths import SHARED
from bot.domain.specification import snapshot
from bot.domain.specification.entries import Specification
from bot.domain.values.file_names import is_at
from bot.domain.values.text import counted
from bot.engine.evidence_ports import LookRefused, Passage
from bot.files import TRANSCRIPT_BYTES, TooLarge
from bot.storage.git.places import Places
from bot.storage.git.ranking import RankedLines, ranked
from bot.storage.git.survey import LARGEST_BYTES, SHA_CHARS, CodeSearch, is_ours, is_secret
from bot.storage.git.tree import PLAIN, Files, TreeEntry, files_at_tip, graft

ITEMS_DIR = "docs/requirements"
MOST_LINES = 200
READ_CHARS = 5_500
LINE_CHARS = 300
HIT_CHARS = 200
MOST_COMMITS = 15
COMMITS_READ = 100
MOST_RELATED = 15
PATH_CHARS = 400
T = TypeVar("T")


class GitEvidence:
    """*root* is the workspace."""

    def __init__(self, root: Path, items_dir: str) -> None:
        self._root = root.absolute()
        self._ours = (items_dir, SHARED)
        self._places = Places(items_dir)
        self._search = CodeSearch(self._root, self._ours)

    async def search_code(self, words: Sequence[str], *, within: Sequence[str] = ()) -> tuple[Passage, ...]:
        commit = await self._in_thread(lambda: _commit_of(files_at_tip(self._root)))
        reading = self._search.lines_with(words, commit, await self._look(self._search.sizes()))
        lines, is_whole = await self._look(reading)
        mine = (one for one in lines if not within or is_at(one.path, *within))
        found = await asyncio.to_thread(lambda: ranked(mine, words))
        best = (
            Passage(f"{path}:{number}@{commit[:SHA_CHARS]}", _short(text, HIT_CHARS))
            for path, number, text in found.best
        )
        return (*_left_out(found, is_whole=is_whole), *best)

    async def read_file(self, path: str, first: int, last: int) -> Passage:
        path, text, commit = await self._in_thread(lambda: self._file(path))
        rows = text.splitlines()
        first = max(1, first)
        if first > max(1, len(rows)):
            raise LookRefused(f"{path} has {len(rows)} lines.")
        shown: list[str] = []
        room = READ_CHARS
        for number, row in enumerate(rows[first - 1 : min(last, first + MOST_LINES - 1)], start=first):
            shown.append(f"{number} {_short(row, LINE_CHARS)}")
            room -= len(shown[-1]) + 1
            if room < LINE_CHARS:
                break
        end = first + max(0, len(shown) - 1)
        shown += [f"({path} has {len(rows)} lines.)"] if end < len(rows) else []
        return Passage(f"{path}:{first}-{end}@{commit[:SHA_CHARS]}", "\n".join(shown))

    async def git_log(self, path: str, *, sees: Callable[[str], Awaitable[bool]]) -> tuple[Passage, ...]:
        """A commit may change items beside the code, and its title may be about them."""
        file = _checked(path, self._ours)
        shown: list[Passage] = []
        for commit in await self._look(self._search.log(file, COMMITS_READ)):
            slugs = self._slugs_in(commit.paths)
            if len(shown) < MOST_COMMITS and all([await sees(slug) for slug in slugs]):
                about = f"{commit.day} {_short(commit.author, 60)}: {_short(commit.subject, HIT_CHARS)}"
                shown.append(Passage(f"{file}@{commit.sha}", about))
        return tuple(shown)

    def _slugs_in(self, paths: Sequence[str]) -> frozenset[str]:
        """Empty, which is no item's, for a commit of nothing but what all items share."""
        within = f"{self._ours[0]}/"
        of_items = (path for path in paths if path.startswith(within) and path != self._places.people)
        found = {path.removeprefix(within).partition("/")[0] for path in of_items}
        return frozenset(found or ({""} if all(is_ours(path, self._ours) for path in paths) else ()))

    async def related_files(self, path: str) -> tuple[Passage, ...]:
        file, search = _checked(path, self._ours), self._search
        sizes = await self._look(search.sizes())
        if file not in sizes:
            return ()
        sha = (await self._in_thread(lambda: _commit_of(files_at_tip(self._root))))[:SHA_CHARS]
        importing = await self._look(search.importing(file, search.within(sizes)))
        why = dict.fromkeys(importing, f"imports {file}")
        for other, commits in await self._look(search.changed_with(file)):
            if other in sizes:
                why.setdefault(other, f"changed together with {file} in {commits} commits")
        found = (Passage(f"{other}@{sha}", reason) for other, reason in why.items() if other.isprintable())
        return tuple(islice(found, MOST_RELATED))

    async def specification(self, slug: str) -> Specification:
        place = self._places.specification(slug)
        content = await self._in_thread(lambda: files_at_tip(self._root).read(place, TRANSCRIPT_BYTES))
        try:
            return snapshot.read((content or b"").decode()).specification
        except ValueError:
            return Specification()

    async def _look(self, asked: Awaitable[T]) -> T:
        try:
            return await asked
        except FileNotFoundError:
            raise LookRefused("There is no git on this machine.") from None
        except (OSError, pygit2.GitError, KeyError):
            raise LookRefused("The workspace could not be read.") from None

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await self._look(asyncio.to_thread(work))

    def _file(self, path: str) -> tuple[str, str, str]:
        """The path, text and commit of a tracked file. Raises LookRefused."""
        path, files = _checked(path, self._ours), files_at_tip(self._root)
        if any(entry.mode == FileMode.LINK for _, entry in files.along(path)):
            raise LookRefused(f"{path} is a symbolic link, which is not followed.")
        if (entry := files.entry(path)) is None:
            raise LookRefused(f"{path} is not tracked at the newest commit.")
        if entry.mode not in PLAIN:
            raise LookRefused(f"{path} is no file.")
        try:
            content = files.content(path, entry.id, LARGEST_BYTES)
        except TooLarge:
            raise LookRefused(f"{path} is larger than {LARGEST_BYTES // 1_000_000} MB.") from None
        if content is None or b"\0" in content:
            raise LookRefused(f"{path} is not a text.")
        return path, content.decode("utf-8", "replace"), _commit_of(files)


def evidence_of(files: Mapping[str, str], root: Path) -> GitEvidence:
    """*files* in a new repository at *root*, committed. Their paths are such as git takes."""
    repository = pygit2.init_repository(str(root), bare=True, initial_head="main")
    entries = {
        path: TreeEntry(repository.create_blob(text.encode()), FileMode.BLOB) for path, text in files.items()
    }
    author = pygit2.Signature("Roundtable", "roundtable@localhost", 0, 0)
    repository.create_commit("HEAD", author, author, "Evidence", graft(repository, None, entries), [])
    return GitEvidence(root, ITEMS_DIR)


def _commit_of(files: Files) -> str:
    return str(files.commit.id) if files.commit else ""


def _checked(path: str, ours: Sequence[str]) -> str:
    """A plain path of the code base. Raises LookRefused."""
    path = path.removeprefix("./")
    names = path.split("/")
    if not path.isprintable() or len(path) > PATH_CHARS or not {"", ".", ".."}.isdisjoint(names):
        raise LookRefused("A path is relative to the top of the repository, without `..`.")
    if is_ours(path, ours):
        raise LookRefused(f"{path} belongs to the items: use search_items or read_entry.")
    if is_secret(path):
        raise LookRefused(f"{path} may hold secrets, and is not shown.")
    return path


def _left_out(found: RankedLines, *, is_whole: bool) -> Iterator[Passage]:
    left = [] if is_whole else ["only a part of the lines with these words was read"]
    if found.more_lines:
        files = f" in {counted(found.more_files, 'more file')}" if found.more_files else ""
        lines = counted(found.more_lines, f"more line{files} is", f"more lines{files} are")
        left.append(f"{lines} not shown")
    if left:
        yield Passage("", f"({'; '.join((*left, 'ask with a rarer word'))})")


def _short(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]} … [{len(text) - limit} more characters]"
