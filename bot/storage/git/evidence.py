"""
What personas may look at, out of the newest commit: the code base by libgit2 and git's command line, the items by their
files. What is in a working tree and in no commit is not shown, so that each result can be cited and checked later.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TypeVar

import pygit2
from pygit2.enums import FileMode

from bot.domain.catalog.personas import Persona
from bot.domain.item.artifacts import SHARED
from bot.domain.item.item import KnownItem
from bot.domain.specification import snapshot
from bot.domain.specification.entries import Specification
from bot.domain.values.places import Place
from bot.engine.evidence_ports import LookRefused, Passage
from bot.storage.git.items import Items
from bot.storage.git.repository import existing_repository, tip
from bot.storage.git.seal import Seal
from bot.storage.git.survey import LARGEST_BYTES, CodeSearch, is_ours

SHA_CHARS = 7
MOST_LINES = 200
READ_CHARS = 5_500
LINE_CHARS = 300
MOST_HITS = 40
HITS_A_FILE = 6
HIT_CHARS = 200
MOST_FILES = 100
MOST_STARS = 8
MOST_COMMITS = 15
MOST_RELATED = 15
OUTPUT_BYTES = 256 * 1024
PATTERN_CHARS = 200
PATH_CHARS = 400
SECRET_NAME = re.compile(
    r"(?:.*/)?(?:\.env(?!\.(?:example|sample|template)$)[^/]*|\.netrc|\.npmrc|\.pypirc|\.pgpass|\.htpasswd|id_[a-z0-9]+"
    r"|[^/]*\.(?:pem|key|p12|pfx|jks|keystore|kdbx|asc|gpg)|credentials[^/]*|secrets?\.[^/]*)",
    re.IGNORECASE,
)
"""Files that are made to hold keys: they are not shown at all."""
PLAIN = (FileMode.BLOB, FileMode.BLOB_EXECUTABLE)
T = TypeVar("T")


class CodeFile(NamedTuple):
    path: str
    text: str
    sha: str


class GitEvidence:
    """*root* is the workspace."""

    def __init__(self, root: Path, items_dir: str, *, seal: Seal | None = None) -> None:
        self._root = root.absolute()
        self._ours = (items_dir, SHARED)
        self._items = Items(self._root, items_dir, seal)
        self._listing = asyncio.Lock()

    async def search_code(self, pattern: str, *, within: Sequence[str] = ()) -> tuple[Passage, ...]:
        if not pattern.strip() or not pattern.isprintable() or len(pattern) > PATTERN_CHARS:
            raise LookRefused(f"A pattern is one line of at most {PATTERN_CHARS} characters.")
        search = self._search()
        where = search.within(await self._printed(search.sizes()))
        words = ("grep", "-I", "-i", "-n", "-z", "-E", "-e", pattern, "HEAD", "--", *where)
        found = await self._printed(search.git(*words, most=OUTPUT_BYTES))
        if not found:  # no match, or no regular expression
            found = await self._printed(
                search.git(*(word if word != "-E" else "-F" for word in words), most=OUTPUT_BYTES)
            )
        sha = await self._in_thread(self._sha)
        return tuple(_hits(found, sha, within))

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
        if not glob or len(glob) > PATTERN_CHARS or glob.count("*") > MOST_STARS:
            raise LookRefused("A glob is such as src/**/*.py.")
        paths = await self._printed(self._search().sizes())
        return tuple(path for path in sorted(paths) if matches(path, [glob]))[: MOST_FILES + 1]

    async def git_log(self, path: str) -> tuple[Passage, ...]:
        file = _checked(path, self._ours)
        form = "--format=%h%x00%as%x00%an%x00%s%x01"
        words = ("log", f"-n{MOST_COMMITS}", "--no-merges", f"--abbrev={SHA_CHARS}", form, "HEAD", "--")
        found = await self._printed(self._search().git(*words, f":(top,literal){file}", most=OUTPUT_BYTES))
        return tuple(_commits(found.decode("utf-8", "replace"), file))

    async def related_files(self, path: str) -> tuple[Passage, ...]:
        file, search = _checked(path, self._ours), self._search()
        sizes = await self._printed(search.sizes())
        if file not in sizes:
            raise LookRefused(f"{path} is not tracked at the newest commit.")
        sha = await self._in_thread(self._sha)
        importing = await self._printed(search.importing(file, search.within(sizes)))
        why = dict.fromkeys(importing, f"imports {file}")
        for other, commits in await self._printed(search.changed_with(file)):
            if other in sizes:
                why.setdefault(other, f"changed together with {file} in {commits} commits")
        return tuple(Passage(f"{other}@{sha}", reason) for other, reason in why.items())[:MOST_RELATED]

    async def items(self, place: Place) -> tuple[KnownItem, ...]:
        async with self._listing:
            found = await self._in_thread(self._items.listing)
        return tuple(one.known for one in found if not one.hidden or one.is_in(place))

    async def specification(self, slug: str) -> Specification:
        content = await self._in_thread(lambda: self._items.content(self._items.specification_file(slug)))
        try:
            return snapshot.read((content or b"").decode()).specification
        except ValueError:
            return Specification()

    # --- the repository ---------------------------------------------------------------------------------------------

    def _search(self) -> CodeSearch:
        return CodeSearch(self._root, self._ours)

    async def _printed(self, asked: Awaitable[T]) -> T:
        try:
            return await asked
        except FileNotFoundError:
            raise LookRefused("There is no git on this machine.") from None

    async def _in_thread(self, work: Callable[[], T]) -> T:
        try:
            return await asyncio.to_thread(work)
        except (OSError, pygit2.GitError, KeyError):
            raise LookRefused("The workspace could not be read.") from None

    def _sha(self) -> str:
        repository = existing_repository(self._root)
        newest = tip(repository) if repository else None
        return str(newest.id)[:SHA_CHARS] if newest else ""

    def _file(self, path: str) -> CodeFile:
        """A tracked file of text. Raises LookRefused."""
        path = _checked(path, self._ours)
        repository = existing_repository(self._root)
        newest = tip(repository) if repository else None
        found: pygit2.Object | None = newest.tree if newest else None
        for name in path.split("/"):
            found = _entry(found, name)
            if found is None:
                raise LookRefused(f"{path} is not tracked at the newest commit.")
            if found.filemode == FileMode.LINK:
                raise LookRefused(f"{path} is a symbolic link, which is not followed.")
        if not isinstance(found, pygit2.Blob) or found.filemode not in PLAIN:
            raise LookRefused(f"{path} is no file.")
        if found.size > LARGEST_BYTES:
            raise LookRefused(f"{path} is larger than {LARGEST_BYTES // 1_000_000} MB.")
        if found.is_binary:
            raise LookRefused(f"{path} is not a text.")
        assert newest
        return CodeFile(path, found.data.decode("utf-8", "replace"), str(newest.id)[:SHA_CHARS])


def matches(path: str, globs: Sequence[str]) -> bool:
    return any(Persona.is_at(path, glob) for glob in globs)


def _entry(found: pygit2.Object | None, name: str) -> pygit2.Object | None:
    with suppress(KeyError):
        return found[name] if isinstance(found, pygit2.Tree) else None
    return None


def _checked(path: str, ours: Sequence[str]) -> str:
    """A plain path of the code base. Raises LookRefused."""
    path = path.removeprefix("./")
    names = path.split("/")
    if not path.isprintable() or len(path) > PATH_CHARS or not {"", ".", ".."}.isdisjoint(names):
        raise LookRefused("A path is relative to the top of the repository, without `..`.")
    if is_ours(path, ours):
        raise LookRefused(f"{path} belongs to the items: use search_items, read_item or read_entry.")
    if SECRET_NAME.fullmatch(path):
        raise LookRefused(f"{path} may hold secrets, and is not shown.")
    return path


def _hits(found: bytes, sha: str, within: Sequence[str]) -> Iterator[Passage]:
    """Of `HEAD:path`, number and text, apart by zeros; a line that was not read to its end is left away."""
    counts: dict[str, int] = {}
    total = 0
    for row in found.split(b"\n"):
        parts = row.decode("utf-8", "replace").split("\0", 2)
        if len(parts) != 3 or total >= MOST_HITS:
            continue
        path, number, text = parts[0].removeprefix("HEAD:"), parts[1], parts[2]
        counts[path] = counts.get(path, 0) + 1
        wanted = not within or matches(path, within)
        if counts[path] <= HITS_A_FILE and wanted and not SECRET_NAME.fullmatch(path):
            total += 1
            yield Passage(f"{path}:{number}@{sha}", _short(text.strip(), HIT_CHARS))


def _commits(found: str, path: str) -> Iterator[Passage]:
    for row in found.split("\x01"):
        parts = row.strip("\n").split("\0")
        if len(parts) == 4:
            sha, day, author, subject = parts
            yield Passage(f"{path}@{sha}", f"{day} {_short(author, 60)}: {_short(subject, HIT_CHARS)}")


def _short(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]} … [{len(text) - limit} more characters]"
