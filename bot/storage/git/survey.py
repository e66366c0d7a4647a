"""
Searches the code base (all that git tracks outside the items) for keywords, by `git grep`.

The keywords come from people, so they are passed as fixed strings behind `-e`. Git changes nothing and asks nothing.
"""

import asyncio
import os
import re
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from bot.domain.roundtable.outcomes import CodeSurvey, KeywordHits
from bot.storage.git.command import without_ours

LARGEST_BYTES = 1_000_000
LARGE_FILES_NAMED = 1000
FILES_NAMED = 5
SEARCHES_AT_ONCE = 2
NO_CODE_ALONE = re.compile(r"\..*|(readme|licen[cs]e|changelog|backlog)[^/]*", re.IGNORECASE)
"""Files at the top of a repository that has no code yet."""
OPTIONS = ("--no-pager", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false")
QUIET = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C.UTF-8"}


async def survey(
    root: Path, ours: tuple[str, ...], keywords: tuple[str, ...], *, seconds: float
) -> CodeSurvey:
    """What is found within *seconds*; *ours* are the paths of the bot, which hold no code."""
    searching = _Survey(root, ours)
    try:
        async with asyncio.timeout(seconds):
            await searching.run(keywords)
    except TimeoutError:
        return searching.result(complete=False)
    except FileNotFoundError:  # there is no git on this machine
        return CodeSurvey(complete=False)
    return searching.result(complete=True)


class _Survey:
    def __init__(self, root: Path, ours: tuple[str, ...]) -> None:
        self._root = root
        self._ours = ours
        self._tracked = 0
        self._hits: list[KeywordHits] = []
        self._free = asyncio.Semaphore(SEARCHES_AT_ONCE)

    def result(self, *, complete: bool) -> CodeSurvey:
        hits = sorted(self._hits, key=lambda hits: -hits.count)
        return CodeSurvey(tracked_files=self._tracked, hits=tuple(hits), complete=complete)

    async def run(self, keywords: tuple[str, ...]) -> None:
        sizes = await self._sizes()
        if all(NO_CODE_ALONE.fullmatch(path) for path in sizes):
            return
        self._tracked = len(sizes)
        large = [path for path, size in sizes.items() if size > LARGEST_BYTES]
        within = [
            ".",
            *(f":(exclude,top,literal){path}" for path in (*self._ours, *large[:LARGE_FILES_NAMED])),
        ]
        async with asyncio.TaskGroup() as searches:
            for keyword in dict.fromkeys(keywords):
                if keyword.strip() and keyword.isprintable():
                    searches.create_task(self._search(keyword, within))

    async def _search(self, keyword: str, within: Iterable[str]) -> None:
        async with self._free:
            found = await self._git(
                "grep", "-I", "-i", "-F", "-c", "-z", "-e", keyword, "HEAD", "--", *within
            )
        self._hits.append(await asyncio.to_thread(_hits, keyword, found))

    async def _sizes(self) -> Mapping[str, int]:
        """Of every file but ours. Ours are not listed at all: there may be many more of them."""
        holding = {folder for path in self._ours for folder in _folders(path)}
        beside = [path for folder in sorted(holding) for path in await self._names(folder)]
        others = [path for path in beside if path not in holding and path not in self._ours]
        if not others:
            return {}
        listing = await self._git("ls-tree", "-r", "-l", "-z", "HEAD", "--", *others)
        return await asyncio.to_thread(lambda: dict(_sized(listing)))

    async def _names(self, folder: str) -> list[str]:
        within = f"{folder}/" if folder else ""
        listing = await self._git("ls-tree", "-z", "--name-only", f"HEAD:{folder}")
        return [within + os.fsdecode(name) for name in listing.split(b"\0") if name]

    async def _git(self, *words: str) -> bytes:
        """What git prints; nothing when it fails, as it does before the first commit."""
        env = {name: value for name, value in without_ours(os.environ) if not name.startswith("GIT_")}
        running = await asyncio.create_subprocess_exec(
            "git",
            *OPTIONS,
            *words,
            cwd=self._root,
            env=env | QUIET,
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=DEVNULL,
        )
        try:
            printed, _ = await running.communicate()
        finally:
            if running.returncode is None:
                running.kill()
                await running.wait()
        return printed


def _folders(path: str) -> Iterator[str]:
    """The folders above *path*, and the top."""
    while path:
        path = path.rpartition("/")[0]
        yield path


def _sized(listing: bytes) -> Iterator[tuple[str, int]]:
    for row in listing.split(b"\0"):
        about, _, name = row.partition(b"\t")
        size = about.split()[-1:]
        if name:
            yield _text(name), int(size[0]) if size[0].isdigit() else 0


def _hits(keyword: str, found: bytes) -> KeywordHits:
    rows = (row.rpartition(b"\0") for row in found.splitlines() if b"\0" in row)
    counts = {_text(path).removeprefix("HEAD:"): int(count) for path, _, count in rows}
    most = sorted(counts, key=lambda path: (-counts[path], path))
    return KeywordHits(keyword=keyword, count=sum(counts.values()), files=tuple(most[:FILES_NAMED]))


def _text(name: bytes) -> str:
    return name.decode("utf-8", "replace")
