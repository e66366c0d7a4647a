"""
The commit of a finished step, with few and with many items in the workspace.

Floors, in the same repository: the bare pygit2 tree update of the same bytes, with fsync, on a branch of its own; and
the git command line, `add` and `commit` of the same files. Goal: ≤ 3× the first with 1,000 items. Then how `.git`
grows with the transcript, before and after `git gc`; how long a commit keeps every other thread of the process waiting
(what the event loop feels of it); and what it costs when many items finish together.
"""

import asyncio
import statistics
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from threading import Thread
from time import perf_counter, process_time, sleep
from typing import Self

import pygit2
from pygit2 import Oid, Signature, Tree
from pygit2.enums import FileMode

from bench import seeds
from bench.harness import NO_GOAL, Figures, Goal, Plan, Row, Run, main, share, timings
from bench.workspaces import ITEMS_DIR, git, workspace
from bot.domain.item.artifacts import SectionEdit
from bot.domain.item.meta import MetaChange
from bot.domain.roundtable.effects import Commit
from bot.domain.transcript.lines import Line
from bot.engine.ports import now
from bot.storage.git.seal import Seal
from bot.storage.git.workspace import GitWorkspace

SIZES = (10, 1_000, 20_000)
QUICK_SIZES = (10,)
USUAL = 1_000
BARE = "bare pygit2 tree update with fsync"
COMMAND_LINE = "git add, git commit"
FLOOR_BRANCH = "refs/heads/floor"
FLOOR_ITEM = "floor-item"
LINES_A_STEP = 12
STEPS_AN_ITEM = 24
TOGETHER = 16
TICK_SECONDS = 0.001

Blobs = Mapping[str, bytes]


async def measure(plan: Plan) -> list[Row]:
    rows: list[Row] = []
    for size in QUICK_SIZES if plan.quick else SIZES:
        root = workspace(plan.folder / str(size), size)
        async with GitWorkspace(root, seal=Seal()) as files:
            ours = Ours(files, root)
            rows += await grown(plan, ours, root, size=size)
            rows += await compared(plan, ours, root, size=size)
    return rows


async def compared(plan: Plan, ours: "Ours", root: Path, *, size: int) -> list[Row]:
    number = plan.size(12, 2)
    what, mine = f"commit, {size:,} items", timed(ours.commit, number)
    goals = {"p50": Goal(at_most=3.0) if size == USUAL else NO_GOAL, "p99": NO_GOAL, "cpu": NO_GOAL}
    repository = Bare(root)

    async def bare() -> None:
        await asyncio.to_thread(repository.commit, ours.written())

    async def by_hand() -> None:
        await asyncio.to_thread(CommandLine(root).commit, ours.written())

    rows = await plan.compare(what, floor_is=BARE, floor=timed(bare, number), ours=mine, goals=goals)
    floor, goals_by_hand = timed(by_hand, number), {"p50": NO_GOAL}
    rows += await plan.compare(what, floor_is=COMMAND_LINE, floor=floor, ours=mine, goals=goals_by_hand)
    stalled = {"others wait": NO_GOAL}
    floor, mine = stalling(bare, number), stalling(ours.commit, number)
    rows += await plan.compare(what, floor_is=BARE, floor=floor, ours=mine, goals=stalled)
    together = timed(ours.commit_together, plan.size(3, 2))
    each = f"{TOGETHER} commits at once, {size:,} items"
    several = timed(lambda: repeated(bare), plan.size(3, 2))
    goals = {"p50": NO_GOAL, "cpu": NO_GOAL}
    floor_is = f"{TOGETHER} times the {BARE}"
    return rows + await plan.compare(each, floor_is=floor_is, floor=several, ours=together, goals=goals)


async def repeated(commit: Callable[[], Awaitable[None]]) -> None:
    for _ in range(TOGETHER):
        await commit()


async def grown(plan: Plan, ours: "Ours", root: Path, *, size: int) -> list[Row]:
    """`.git` for each byte of transcript, over one item from its first step to its last."""
    git(root, "gc", "--quiet")
    before = bytes_in(root / ".git")
    for _ in range(plan.size(STEPS_AN_ITEM, 2)):
        await ours.commit()
    transcript = len(ours.written()["planning/meeting.jsonl"])
    loose = bytes_in(root / ".git") - before
    git(root, "gc", "--quiet")
    packed = bytes_in(root / ".git") - before
    what, floor_is = f".git growth, {size:,} items", "bytes of transcript"
    kib = 1 / 1024
    return [
        share(what, "without gc", "KiB", floor_is, ours=loose * kib, floor=transcript * kib),
        share(
            what,
            "after gc",
            "KiB",
            floor_is,
            ours=packed * kib,
            floor=transcript * kib,
            goal=Goal(at_most=10),
        ),
    ]


def timed(commit: Callable[[], Awaitable[None]], number: int) -> Run:
    async def run() -> Figures:
        seconds, busy = [], process_time()
        for _ in range(number):
            began = perf_counter()
            await commit()
            seconds.append(perf_counter() - began)
        return {**timings(seconds), "cpu": (process_time() - busy) / number * 1000}

    return run


def stalling(commit: Callable[[], Awaitable[None]], number: int) -> Run:
    """The longest that a thread which wants to run each millisecond could not, in the middle one of the commits."""

    async def run() -> Figures:
        longest = []
        for _ in range(number):
            with Ticking() as ticking:
                await commit()
            longest.append(ticking.longest)
        return {"others wait": statistics.median(longest) * 1000}

    return run


class Ticking(Thread):
    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.longest = 0.0
        self._ended = False

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended = True
        self.join()

    def run(self) -> None:
        last = perf_counter()
        while not self._ended:
            sleep(TICK_SECONDS)
            ticked = perf_counter()
            self.longest, last = max(self.longest, ticked - last), ticked


def bytes_in(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


class Ours:
    """Each commit finishes a step; after the last one a new item begins."""

    def __init__(self, files: GitWorkspace, root: Path) -> None:
        self._files = files
        self._items = root / ITEMS_DIR
        self._done = 0
        self._together = 0

    async def commit(self) -> None:
        work = finished_step(self._slug, self._done)
        await self._files.commit(self._slug, work, now=now())
        self._done += 1

    async def commit_together(self) -> None:
        """Of as many items."""
        done, self._together = self._together, self._together + 1
        await asyncio.gather(
            *(
                self._files.commit(slug, finished_step(slug, done), now=now())
                for slug in (f"together-{number}" for number in range(TOGETHER))
            )
        )

    def written(self) -> Blobs:
        """What the newest commit wrote, by its path in the item's folder."""
        folder = self._items / f"measured-item-{(self._done - 1) // STEPS_AN_ITEM}"
        names = ("quick-scan.md", "meta.json", "planning/meeting.jsonl")
        return {name: (folder / name).read_bytes() for name in names}

    @property
    def _slug(self) -> str:
        return f"measured-item-{self._done // STEPS_AN_ITEM}"


class Bare:
    """Blobs, the trees above them, a commit: what no commit into this repository can do without."""

    def __init__(self, root: Path) -> None:
        self._repository = pygit2.Repository(str(root))
        pygit2.settings.enable_fsync_gitdir(True)

    def commit(self, written: Blobs) -> None:
        files = in_folder(written)
        repository, who = self._repository, Signature("Bench", "bench@localhost")
        known = repository.references.get(FLOOR_BRANCH)
        tip = (known or repository.head).peel(pygit2.Commit)
        blobs = {tuple(path.split("/")): repository.create_blob(content) for path, content in files.items()}
        tree = self._tree(tip.tree, blobs)
        repository.create_commit(FLOOR_BRANCH, who, who, "step", tree, [tip.id] if known else [])

    def _tree(self, tree: Tree | None, blobs: Mapping[tuple[str, ...], Oid]) -> Oid:
        builder = self._repository.TreeBuilder(tree) if tree is not None else self._repository.TreeBuilder()
        below: dict[str, dict[tuple[str, ...], Oid]] = {}
        for (name, *rest), oid in blobs.items():
            if rest:
                below.setdefault(name, {})[tuple(rest)] = oid
            else:
                builder.insert(name, oid, FileMode.BLOB)
        for name, inner in below.items():
            present = tree[name] if tree is not None and name in tree else None
            builder.insert(
                name, self._tree(present if isinstance(present, Tree) else None, inner), FileMode.TREE
            )
        return builder.write()


class CommandLine:
    def __init__(self, root: Path) -> None:
        self._root = root

    def commit(self, written: Blobs) -> None:
        files = in_folder(written)
        for path, content in files.items():
            file = self._root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        git(self._root, "add", "--", *files)
        git(self._root, "commit", "--quiet", "-m", "step", "--", *files)


def in_folder(files: Blobs) -> Blobs:
    """The same bytes as ours, in a folder of the floors' own, and never the same twice."""
    again = str(perf_counter()).encode() + b"\n"
    return {f"{ITEMS_DIR}/{FLOOR_ITEM}/{name}": content + again for name, content in files.items()}


def finished_step(slug: str, number: int) -> Commit:
    """As the engine commits it: a section of an artifact, the progress, and the lines since the last step."""
    part = f"Part {number % STEPS_AN_ITEM}"
    body = seeds.prose(seeds.chance(number), words=120)
    return Commit(
        id=f"{slug}.1.{number}",
        subject=f"roundtable({slug}): step {number}",
        step="00-01",
        edits=(SectionEdit(path="quick-scan.md", heading=part, title="Quick scan", body=body),),
        change=MetaChange(steps=("00-01",), created={"source": "manual", "slug": slug}),
        lines=tuple(_lines(number)),
    )


def _lines(number: int) -> Iterable[Line]:
    spoken, chance = seeds.elaborating().lines, seeds.chance(number)
    for each in range(LINES_A_STEP):
        line = spoken[each % len(spoken)]
        meta = {**line.meta, "message_id": f"m.{number}.{each}"}
        yield line.but(ts=now(), content=seeds.prose(chance, words=30), meta=meta)


if __name__ == "__main__":
    main("commit", measure)
