"""
What personas may look at, out of the newest commit: the code base by libgit2 and git's command line, the items by their
files. What is in a working tree and in no commit is not shown, so that each result can be cited and checked later.
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pygit2
import re2
from pygit2.enums import FileMode

from bot.domain.catalog.personas import Persona
from bot.domain.item.artifacts import SHARED
from bot.domain.specification import snapshot
from bot.domain.specification.entries import Specification
from bot.engine.evidence_ports import LookRefused, Passage
from bot.files import TRANSCRIPT_BYTES, TooLarge
from bot.storage.git.survey import LARGEST_BYTES, SHA_CHARS, CodeSearch, code_files, is_ours, is_secret
from bot.storage.git.tree import PLAIN, Files, Places, TreeEntry, files_at_tip, graft

ITEMS_DIR = "docs/requirements"
MOST_LINES = 200
READ_CHARS = 5_500
LINE_CHARS = 300
MOST_HITS = 40
HITS_A_FILE = 6
HIT_CHARS = 200
MOST_FILES = 100
MOST_COMMITS = 15
COMMITS_READ = 100
MOST_RELATED = 15
PATTERN_CHARS = 200
PATTERN_BYTES = 256 * 1024
"""Of memory, for the program of a pattern and for its search."""
PATH_CHARS = 400
T = TypeVar("T")


class CodeFile(NamedTuple):
    path: str
    text: str
    sha: str


class GitEvidence:
    """*root* is the workspace."""

    def __init__(self, root: Path, items_dir: str) -> None:
        self._root = root.absolute()
        self._ours = (items_dir, SHARED)
        self._places = Places(items_dir)

    async def search_code(self, pattern: str, *, within: Sequence[str] = ()) -> tuple[Passage, ...]:
        if not pattern.strip() or not pattern.isprintable() or len(pattern) > PATTERN_CHARS:
            raise LookRefused(f"A pattern is one line of at most {PATTERN_CHARS} characters.")
        searched, flaw = _compiled(pattern)
        ended = threading.Event()
        try:
            hits = await self._in_thread(
                lambda: tuple(islice(self._hits(searched, within, ended), MOST_HITS))
            )
        finally:
            ended.set()  # also when it took too long: a thread is not cancelled
        if flaw and not hits:
            raise LookRefused(
                f"No line has these words, and as a regular expression they are refused: {flaw}."
            )
        return hits

    async def read_file(self, path: str, first: int, last: int) -> Passage:
        file = await self._in_thread(lambda: self._file(path))
        rows = file.text.splitlines()
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
        text = "\n".join(shown)
        more = f"\n({path} has {len(rows)} lines.)" if end < len(rows) else ""
        return Passage(f"{file.path}:{first}-{end}@{file.sha}", text + more)

    async def list_files(self, glob: str) -> tuple[str, ...]:
        if not glob or len(glob) > PATTERN_CHARS:
            raise LookRefused("A glob is such as src/**/*.py.")
        paths = await self._look(self._search().sizes())
        found = (path for path in sorted(paths) if path.isprintable() and matches(path, [glob]))
        return await self._in_thread(lambda: tuple(islice(found, MOST_FILES + 1)))

    async def git_log(self, path: str, *, sees: Callable[[str], Awaitable[bool]]) -> tuple[Passage, ...]:
        """A commit may change items beside the code, and its title may be about them."""
        file = _checked(path, self._ours)
        shown: list[Passage] = []
        for commit in await self._look(self._search().log(file, COMMITS_READ)):
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
        file, search = _checked(path, self._ours), self._search()
        sizes = await self._look(search.sizes())
        if file not in sizes:
            raise LookRefused(f"{path} is not tracked at the newest commit.")
        sha = await self._in_thread(lambda: _sha_of(files_at_tip(self._root)))
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

    # --- the repository ---------------------------------------------------------------------------------------------

    def _search(self) -> CodeSearch:
        return CodeSearch(self._root, self._ours)

    async def _look(self, asked: Awaitable[T]) -> T:
        try:
            return await asked
        except FileNotFoundError:
            raise LookRefused("There is no git on this machine.") from None
        except (OSError, pygit2.GitError, KeyError):
            raise LookRefused("The workspace could not be read.") from None

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await self._look(asyncio.to_thread(work))

    def _hits(self, searched: Any, within: Sequence[str], ended: threading.Event) -> Iterator[Passage]:
        """In texts that are not too large; nothing more when *ended*."""
        files = files_at_tip(self._root)
        for path, id in code_files(files.folder(""), self._ours):
            if ended.is_set():
                return
            if not path.isprintable() or (within and not matches(path, within)):
                continue
            with suppress(TooLarge):
                text = files.content(path, id, LARGEST_BYTES)
                if text is None or b"\0" in text:
                    continue
                for number, row in islice(_rows_with(searched, text), HITS_A_FILE):
                    shown = _short(row.decode("utf-8", "replace").strip(), HIT_CHARS)
                    yield Passage(f"{path}:{number}@{_sha_of(files)}", shown)

    def _file(self, path: str) -> CodeFile:
        """A tracked file of text. Raises LookRefused."""
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
        return CodeFile(path, content.decode("utf-8", "replace"), _sha_of(files))


def evidence_of(files: Mapping[str, str], root: Path) -> GitEvidence:
    """*files* in a new repository at *root*, committed. Their paths are such as git takes."""
    repository = pygit2.init_repository(str(root), bare=True, initial_head="main")
    entries = {
        path: TreeEntry(repository.create_blob(text.encode()), FileMode.BLOB) for path, text in files.items()
    }
    author = pygit2.Signature("Roundtable", "roundtable@localhost", 0, 0)
    repository.create_commit("HEAD", author, author, "Evidence", graft(repository, None, entries), [])
    return GitEvidence(root, ITEMS_DIR)


def _sha_of(files: Files) -> str:
    return str(files.commit.id)[:SHA_CHARS] if files.commit else ""


def matches(path: str, globs: Sequence[str]) -> bool:
    return any(Persona.is_at(path, glob) for glob in globs)


def _checked(path: str, ours: Sequence[str]) -> str:
    """A plain path of the code base. Raises LookRefused."""
    path = path.removeprefix("./")
    names = path.split("/")
    if not path.isprintable() or len(path) > PATH_CHARS or not {"", ".", ".."}.isdisjoint(names):
        raise LookRefused("A path is relative to the top of the repository, without `..`.")
    if is_ours(path, ours):
        raise LookRefused(f"{path} belongs to the items: use search_items, read_item or read_entry.")
    if is_secret(path):
        raise LookRefused(f"{path} may hold secrets, and is not shown.")
    return path


def _compiled(pattern: str) -> tuple[Any, str]:
    """
    For RE2, which takes time in proportion to the text and limited memory. *pattern* is looked for as words, too; alone
    where it is no regular expression, or too large a one: then with the reason.
    """
    options = re2.Options()
    options.max_mem, options.case_sensitive = PATTERN_BYTES, False
    options.never_nl, options.log_errors = True, False
    words = re2.escape(pattern)
    try:
        re2.compile(pattern, options)
        return re2.compile(f"(?m:{pattern})|{words}", options), ""
    except re2.error as error:
        return re2.compile(words, options), error.args[0].decode("utf-8", "replace")


def _rows_with(searched: Any, text: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines that *searched* finds something in, with their numbers."""
    number, at = 1, 0
    while at < len(text) and (found := searched.search(text, at)) and found.start() < len(text):
        begin = text.rfind(b"\n", 0, found.start()) + 1
        end = (text.find(b"\n", begin) + 1) or len(text)
        number += text.count(b"\n", at, begin)
        yield number, text[begin:end]
        number, at = number + 1, end


def _short(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]} … [{len(text) - limit} more characters]"
