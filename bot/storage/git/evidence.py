"""
What personas may look at, out of the newest commit: the code base by libgit2 and git's command line, the items by their
files. What is in a working tree and in no commit is not shown, so that each result can be cited and checked later.
"""

import asyncio
import math
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from heapq import nlargest
from itertools import islice
from pathlib import Path
from typing import NamedTuple, TypeVar

import pygit2
from pygit2.enums import FileMode

from bot.domain.item.item_paths import SHARED
from bot.domain.messages import tracker_wording as wording
from bot.domain.specification import snapshot
from bot.domain.specification.entries import Specification
from bot.domain.values.file_names import is_at
from bot.domain.values.text import counted
from bot.engine.evidence_ports import LookRefused, Passage
from bot.engine.source_ports import CommittedTexts
from bot.files import TRANSCRIPT_BYTES, TooLarge
from bot.storage.git.places import Places, is_ours
from bot.storage.git.survey import LARGEST_BYTES, SHA_CHARS, CodeLine, CodeSearch, is_secret
from bot.storage.git.tree import PLAIN, Files, TreeEntry, files_at_tip, graft

ITEMS_DIR = "docs/requirements"
LINES_OF_A_FILE = 200
READ_CHARS = 5_500
LINE_CHARS = 300
HIT_CHARS = 200
MOST_COMMITS = 15
COMMITS_READ = 100
MOST_RELATED = 15
PATH_CHARS = 400
MOST_LINES = 20
LINES_A_FILE = 3
OF_ITS_FILE, OF_A_DEFINITION, OF_LESS = 0.5, 1.3, 0.6
"""What a word elsewhere in the file counts, what a definition of it does, and what a line of tests or prose does."""
DEFINES = re.compile(
    r"\b(?:class|const|def|enum|fn|fun|func|function|interface|macro|struct|trait|type)\s++(?:\([^)]{0,80}\)\s*+)?(\w++)"
)
"""The name that a line defines, in most languages."""
LESS = re.compile(
    r"(?:^|[/_.-])(?:tests?|specs?|testing|fixtures?|mocks?|docs?|examples?|vendor|changelog|license)(?:[/_.-]|$)"
    r"|test\.\w+$|-lock\.\w+$|\.(?:md|rst|txt|adoc|lock|csv|jsonl|svg|snap|map)$|\.min\.\w+$",
    re.IGNORECASE,
)

T = TypeVar("T")


class RankedLines(NamedTuple):
    """The *best*, best first, and how many more lines, in how many more files, have the words."""

    best: tuple[CodeLine, ...]
    more_lines: int
    more_files: int


def ranked(lines: Iterable[CodeLine], words: Sequence[str]) -> RankedLines:
    """By the words in the line, in its path and, for less, elsewhere in its file. The order of *lines* breaks ties."""
    asked = [word.lower() for word in words]
    files: dict[str, list[tuple[CodeLine, list[str]]]] = {}
    for line in lines:
        text = line.text.lower()
        files.setdefault(line.path, []).append((line, [word for word in asked if word in text]))
    in_path = {path: [word for word in asked if word in path.lower()] for path in files}
    of_file = {path: set(in_path[path]).union(*(has for _, has in rows)) for path, rows in files.items()}
    having = Counter(word for has in of_file.values() for word in has)
    rarity = {word: math.log(1 + len(files) / count) for word, count in having.items()}

    def worth(row: tuple[CodeLine, list[str]]) -> float:
        (path, _, text), has = row
        value = sum(rarity[word] for word in (*has, *in_path[path]))
        value += OF_ITS_FILE * sum(rarity[word] for word in of_file[path])
        name = DEFINES.search(text)
        is_defined = name is not None and any(word in name[1].lower() for word in has)
        return value * (OF_A_DEFINITION if is_defined else 1) * (OF_LESS if LESS.search(path) else 1)

    of_files = [row for rows in files.values() for row in nlargest(LINES_A_FILE, rows, key=worth)]
    best = tuple(line for line, _ in nlargest(MOST_LINES, of_files, key=worth))
    more_files = len(files) - len({line.path for line in best})
    return RankedLines(best, sum(map(len, files.values())) - len(best), more_files)


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
        for number, row in enumerate(rows[first - 1 : min(last, first + LINES_OF_A_FILE - 1)], start=first):
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
        why = await self._look(search.related(file, sizes))
        found = (Passage(f"{other}@{sha}", reason) for other, reason in why.items() if other.isprintable())
        return tuple(islice(found, MOST_RELATED))

    async def specification(self, slug: str) -> Specification:
        place = self._places.specification(slug)
        content = await self._in_thread(lambda: files_at_tip(self._root).read(place, TRANSCRIPT_BYTES))
        known = snapshot.read_known(content)
        return known.specification if known else Specification()

    async def texts(self, path: str, wanted: re.Pattern[str], *, most: int) -> CommittedTexts:
        """Of the file, or of the files of a folder whose paths in it are *wanted*, with *most* bytes together."""
        return await self._in_thread(lambda: self._texts(path.rstrip("/"), wanted, most))

    def _texts(self, path: str, wanted: re.Pattern[str], most: int) -> CommittedTexts:
        if is_ours(path, self._ours):
            raise LookRefused(wording.of_items(path))
        _checked(path, self._ours)
        files = files_at_tip(self._root)
        below = files.below(path, depth=2) if files.folder(path) else (path,)
        found: dict[str, str] = {}
        for place in below:
            if place == path or wanted.fullmatch(place.removeprefix(f"{path}/")):
                found[place] = self._text(files, _checked(place, self._ours), most)
                most -= len(found[place].encode())
        return CommittedTexts(files, _commit_of(files)[:SHA_CHARS], found)

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
        return path, self._text(files, path, LARGEST_BYTES), _commit_of(files)

    @staticmethod
    def _text(files: Files, path: str, most: int) -> str:
        if any(entry.mode == FileMode.LINK for _, entry in files.along(path)):
            raise LookRefused(wording.symbolic_link(path))
        if (entry := files.entry(path)) is None:
            raise LookRefused(wording.not_committed(path))
        if entry.mode not in PLAIN:
            raise LookRefused(wording.no_file(path))
        try:
            content = files.content(path, entry.id, most)
        except TooLarge:
            raise LookRefused(wording.too_large(path, most)) from None
        if content is None or b"\0" in content:
            raise LookRefused(wording.no_text(path))
        return content.decode("utf-8", "replace")


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
        raise LookRefused(wording.NO_PATH)
    if is_ours(path, ours):
        raise LookRefused(f"{path} belongs to the items: use search_items or read_entry.")
    if is_secret(path):
        raise LookRefused(wording.secret(path))
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
