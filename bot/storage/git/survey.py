"""
Searches the code base (all that git tracks outside the items) for keywords, by `git grep`.

The keywords come from people, so they are passed as fixed strings behind `-e`. Git changes nothing and asks nothing.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pygit2
from pygit2 import Oid, Tree

from bot.domain.roundtable.outcomes import CodeSurvey, KeywordHits, RelatedFile
from bot.storage.git.command import Git, printable
from bot.storage.git.tree import DEEPEST_PUSHED, PLAIN, files_at_tip

LARGEST_BYTES = 1_000_000
LARGE_FILES_NAMED = 1000
FILES_NAMED = 5
SEARCHES_AT_ONCE = 2
SEEDS = 5
"""Files with the most of the words: what imports them, or changed with them, is looked for."""
RELATED = 15
COMMITS_READ = 300
LARGEST_COMMIT = 30
"""A commit of more files says nothing about what belongs together."""
CHANGED_TOGETHER = 2
IMPORTS = r"(^|[^[:alnum:]_])(import|from|require|include|use|using)([^[:alnum:]_].*)?[^[:alnum:]_]{0}([^[:alnum:]_]|$)"
STEM = re.compile(r"[A-Za-z_][\w-]{2,}", re.ASCII)
NO_CODE_ALONE = re.compile(r"\..*|(readme|licen[cs]e|changelog|backlog)[^/]*", re.IGNORECASE)
"""Files at the top of a repository that has no code yet."""
SECRET_ENDINGS = (
    ".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".asc", ".gpg", ".tfvars", ".tfvars.json",
    ".tfstate", ".tfstate.backup",
)  # fmt: skip
SECRET_NAME = re.compile(
    r"\.env(?!\.(?:example|sample|template)$).*|\.netrc|\.npmrc|\.pypirc|\.pgpass|\.htpasswd|\.git-credentials"
    r"|id_[a-z0-9]+|credentials.*|secrets?\..*",
    re.DOTALL,
)
LOG_BYTES = 1024 * 1024
FOUND_BYTES = 8 * 1024 * 1024
"""Of lines that have a word. Common words need a rarer one beside them."""
SHA_CHARS = 7
SHA, DAY = re.compile(r"[0-9a-f]{7,64}"), re.compile(r"[0-9]{4,}-[0-9]{2}-[0-9]{2}")


class CodeLine(NamedTuple):
    path: str
    number: int
    text: str


class LoggedCommit(NamedTuple):
    sha: str
    day: str
    author: str
    subject: str
    paths: Sequence[str]


async def survey(
    root: Path, ours: tuple[str, ...], keywords: tuple[str, ...], *, seconds: float
) -> CodeSurvey:
    """What is found within *seconds*; *ours* are the paths of the bot, which hold no code."""
    searching = CodeSearch(root, ours)
    try:
        async with asyncio.timeout(seconds):
            await searching.run(keywords)
    except TimeoutError:
        return searching.result(complete=False)
    except FileNotFoundError:  # there is no git on this machine
        return CodeSurvey(complete=False)
    return searching.result(complete=True)


class CodeSearch:
    """Of the code base of the repository at *root*; *ours* are the paths of the bot, which hold no code."""

    def __init__(self, root: Path, ours: tuple[str, ...]) -> None:
        self._root = root
        self._ours = ours
        self._git = Git(root)
        self._tracked = 0
        self._found: dict[str, Counter[str]] = {}
        self._related: dict[str, str] = {}
        self._free = asyncio.Semaphore(SEARCHES_AT_ONCE)

    def result(self, *, complete: bool) -> CodeSurvey:
        found = (_hits(keyword, counts) for keyword, counts in self._found.items())
        hits = sorted(found, key=lambda hits: -hits.count)
        related = [RelatedFile(path=path, why=why) for path, why in self._related.items()]
        return CodeSurvey(
            tracked_files=self._tracked,
            hits=tuple(hits),
            complete=complete,
            files_found=len({path for counts in self._found.values() for path in counts}),
            related=tuple(related[:RELATED]),
        )

    async def run(self, keywords: tuple[str, ...]) -> None:
        sizes = await self.sizes()
        if all(NO_CODE_ALONE.fullmatch(path) for path in sizes):
            return
        self._tracked = len(sizes)
        within = self.within(sizes)
        searched = (word for word in dict.fromkeys(keywords) if word.strip() and word.isprintable())
        await asyncio.gather(*(self._search(keyword, within) for keyword in searched))
        seeds = self._seeds()
        self._related = {path: f"has {', '.join(sorted(words))}" for path, words in seeds.items()}
        for path in seeds:
            for other, why in (await self.related(path, sizes)).items():
                self._related.setdefault(other, why)

    def _seeds(self) -> Mapping[str, list[str]]:
        words: dict[str, list[str]] = {}
        total: Counter[str] = Counter()
        found = self.result(complete=True)
        for hits in found.hits:
            if found.is_everywhere(hits):
                continue
            keyword, counts = hits.keyword, self._found[hits.keyword]
            total.update(counts)
            for path in counts:
                words.setdefault(path, []).append(keyword)
        most = sorted(words, key=lambda path: (-len(words[path]), -total[path], path))
        return {path: words[path] for path in most[:SEEDS]}

    async def related(self, path: str, sizes: Mapping[str, int]) -> Mapping[str, str]:
        """Why: first the files that import *path*, then those that changed together with it."""
        why = dict.fromkeys(await self._importing(path, self.within(sizes)), f"imports {path}")
        for other, commits in await self._changed_with(path):
            if other in sizes:
                why.setdefault(other, f"changed together with {path} in {commits} commits")
        return why

    async def _importing(self, path: str, within: Iterable[str]) -> list[str]:
        """By the name of the file without its suffix, on a line that imports."""
        stem = path.rpartition("/")[2].partition(".")[0]
        if not STEM.fullmatch(stem):
            return []
        pattern = IMPORTS.replace("{0}", stem)
        said = await self._git("grep", "-I", "-l", "-z", "-E", "-e", pattern, "HEAD", "--", *within)
        paths = [printable(name).removeprefix("HEAD:") for name in said.out.split("\0") if name]
        return sorted(other for other in paths if other != path and not is_secret(other))

    async def _changed_with(self, path: str) -> list[tuple[str, int]]:
        together: Counter[str] = Counter()
        for commit in await self.log(path, COMMITS_READ):
            if len(commit.paths) <= LARGEST_COMMIT:
                together.update({other for other in commit.paths if other != path and not is_secret(other)})
        often = [(other, count) for other, count in together.items() if count >= CHANGED_TOGETHER]
        return sorted(often, key=lambda one: (-one[1], one[0]))

    async def log(self, path: str, most: int) -> Sequence[LoggedCommit]:
        """The newest commits that changed *path*."""
        said = await self._git(
            "--literal-pathspecs", "log", f"-n{most}", "--no-merges", "--no-renames", "--full-diff", "--name-only",
            "-z", f"--abbrev={SHA_CHARS}", "--format=%x01%h%x00%as%x00%an%x00%s%x00", "HEAD", "--", path,
            most=LOG_BYTES,
        )  # fmt: skip
        whole = len(said.out.encode("utf-8", "surrogateescape")) < LOG_BYTES
        return _commits(printable(said.out if whole else said.out.rpartition("\x01")[0]))

    async def _search(self, keyword: str, within: Iterable[str]) -> None:
        async with self._free:
            said = await self._git("grep", "-I", "-i", "-F", "-c", "-z", "-e", keyword, "HEAD", "--", *within)
        self._found[keyword] = await asyncio.to_thread(_counts, printable(said.out))

    async def lines_with(
        self, words: Iterable[str], commit: str, sizes: Mapping[str, int]
    ) -> tuple[list[CodeLine], bool]:
        """The lines of *commit* that have one of *words*, in any case, file by file; and whether these are all."""
        options = ("-I", "-i", "-n", "-z", "-F", "--no-color", "--no-column")
        named = (part for word in words for part in ("-e", word))
        said = await self._git("grep", *options, *named, commit, "--", *self.within(sizes), most=FOUND_BYTES)
        is_whole = len(said.out.encode("utf-8", "surrogateescape")) < FOUND_BYTES
        return await asyncio.to_thread(lambda: list(_lines(said.out, f"{commit}:", sizes))), is_whole

    async def sizes(self) -> Mapping[str, int]:
        """Of every file of the code base at the newest commit."""
        return await asyncio.to_thread(self._sizes)

    def _sizes(self) -> Mapping[str, int]:
        with suppress(pygit2.GitError, KeyError):
            files = files_at_tip(self._root)
            return {path: files.size(id) for path, id in code_files(files.folder(""), self._ours)}
        return {}

    def within(self, sizes: Mapping[str, int]) -> list[str]:
        """The pathspecs of the code base, without large files."""
        large = [path for path, size in sizes.items() if size > LARGEST_BYTES]
        return [
            ".",
            *(f":(exclude,top,literal){path}" for path in (*self._ours, *large[:LARGE_FILES_NAMED])),
        ]


def code_files(
    tree: Tree | None, ours: Sequence[str], folder: str = "", *, depth: int = DEEPEST_PUSHED
) -> Iterator[tuple[str, Oid]]:
    """The plain files that may be shown. What is ours is not opened: there may be many more of them."""
    for entry in tree if tree is not None else ():
        path = folder + (entry.raw_name or b"").decode("utf-8", "replace")
        if path in ours:
            continue
        if entry.filemode in PLAIN and not is_secret(path):
            yield path, entry.id
        elif isinstance(entry, Tree) and depth:
            yield from code_files(entry, ours, f"{path}/", depth=depth - 1)


def is_secret(path: str) -> bool:
    """Whether *path* is of a file that is made to hold keys: those are not shown at all."""
    names = path.lower().split("/")
    return "secrets" in names or names[-1].endswith(SECRET_ENDINGS) or bool(SECRET_NAME.fullmatch(names[-1]))


def _commits(printed: str) -> list[LoggedCommit]:
    """A title may have any characters in it but zeros."""
    found = []
    for row in printed.split("\x01"):
        parts = row.split("\0")
        if len(parts) > 4 and SHA.fullmatch(parts[0]) and DAY.fullmatch(parts[1]):
            sha, day, author, subject, *paths = parts
            changed = [name for path in paths if (name := path.strip("\n"))]
            found.append(LoggedCommit(sha, day, author, subject, changed))
    return found


def _lines(found: str, commit: str, sizes: Mapping[str, int]) -> Iterator[CodeLine]:
    """
    Of the commit with the path, a zero, the number, a zero and the text each. A path may have line breaks in it: then
    its rows do not begin with the commit. The last row may be cut off.
    """
    for row in found.split("\n")[:-1]:
        path, _, rest = row.removeprefix(commit).partition("\0")
        number, _, text = rest.partition("\0")
        is_read = row.startswith(commit) and sizes.get(path, LARGEST_BYTES + 1) <= LARGEST_BYTES
        if is_read and path.isprintable() and number.isdecimal() and "\0" not in text:
            yield CodeLine(path, int(number), printable(text).strip())


def _counts(found: str) -> Counter[str]:
    """Of a path, a zero, its count and a line end each; a path may have line breaks in it."""
    counts: Counter[str] = Counter()
    path, *rest = found.split("\0")
    for one in rest:
        count, _, following = one.partition("\n")
        name = path.removeprefix("HEAD:")
        if not is_secret(name):
            counts[name] = int(count) if count.isdigit() else 0
        path = following
    return counts


def _hits(keyword: str, counts: Counter[str]) -> KeywordHits:
    most = sorted(counts, key=lambda path: (-counts[path], path))
    return KeywordHits(
        keyword=keyword,
        count=sum(counts.values()),
        files=tuple(most[:FILES_NAMED]),
        file_count=len(counts),
    )
