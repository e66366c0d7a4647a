"""
The size and shape of the code as one Markdown table.

It counts files, reads imports and class names, and runs the bot in the sandbox to see which files one message and
one press pass; what the bot does in the background meanwhile counts, too, so these numbers vary a little.
"""

import argparse
import ast
import asyncio
import sys
import tempfile
import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.e2e.meeting import Meeting, sandbox  # noqa: E402

BOT = ROOT / "bot"
OFFLINE = "bot/voices/offline.py"


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def modules(folder: str = "bot") -> list[Path]:
    """Without an empty `__init__.py`, which only marks a folder as a package."""
    return [path for path in sorted((ROOT / folder).rglob("*.py")) if path.read_bytes().strip()]


def lines(folder: str) -> int:
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in modules(folder))


def largest_folder(paths: Iterable[Path]) -> str:
    ((folder, files),) = Counter(name_of(path.parent) for path in paths).most_common(1)
    return f"{folder}: {files} files"


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def ambiguous_classes() -> dict[str, list[str]]:
    """Public class names that more than one module defines, with these modules."""
    places = defaultdict(list)
    for path in modules():
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(name_of(path))
    return {name: found for name, found in sorted(places.items()) if len(found) > 1}


def imports_of(path: Path, known: Mapping[str, Path]) -> set[Path]:
    """The modules of ours that *path* imports; `from bot.room import thing` may name a module or what is in one."""
    names: set[str] = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= {name if name in known else node.module for name in inner}
    return {known[name] for name in names if name in known} - {path}


def longest_chain() -> list[str]:
    known = {
        name_of(path).removesuffix(".py").removesuffix("/__init__").replace("/", "."): path
        for path in modules()
    }
    imports = {path: imports_of(path, known) for path in known.values()}
    longest: dict[Path, list[str]] = {}

    def chain(path: Path, above: frozenset[Path]) -> list[str]:
        if path not in longest:
            below = [chain(other, above | {path}) for other in sorted(imports[path] - above)]
            longest[path] = [name_of(path), *max(below, key=len, default=[])]
        return longest[path]

    return max((chain(path, frozenset()) for path in imports), key=len)


@dataclass
class Trace:
    """What one input passed. A move is a call from one file into another; resuming a coroutine is none."""

    files: set[str] = field(default_factory=set)
    moves: int = 0
    _seen: set[FrameType] = field(default_factory=set)

    @property
    def rooms(self) -> set[str]:
        return {Path(name).parent.as_posix() for name in self.files}

    def called(self, frame: FrameType) -> None:
        if frame in self._seen or not (here := file_of(frame)):
            return
        self._seen.add(frame)
        self.files.add(here)
        caller = frame.f_back
        while caller and not file_of(caller):
            caller = caller.f_back
        self.moves += caller is not None and file_of(caller) != here


def file_of(frame: FrameType) -> str:
    return bot_file(frame.f_code.co_filename)


@cache
def bot_file(filename: str) -> str:
    """Empty for what is not part of the bot, such as the sandbox."""
    path = Path(filename)
    return name_of(path) if path.is_relative_to(BOT) else ""


@contextmanager
def tracing(current: list[Trace]) -> Iterator[None]:
    """Calls in all threads that begin meanwhile count for the trace in *current*, if there is one."""

    def called(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and current:
            current[-1].called(frame)

    threading.setprofile(called)
    sys.setprofile(called)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


async def traces(folder: Path) -> dict[str, Trace]:
    """An answer to a step, until its reaction; and *Finish step*, until the step is committed and the menu is there."""
    message, press = Trace(), Trace()
    current: list[Trace] = []
    with tracing(current):
        async with sandbox() as slack:
            meeting = Meeting(slack, folder)
            async with meeting.bot():
                await meeting.start("Offline sync")
                await slack.settled()
                current.append(message)
                ts = await meeting.say("Field workers edit without a network.")
                await meeting.until(lambda: slack.message(ts).reactions)
                await slack.settled()
                current.append(press)
                await meeting.press("finish_step")
                await meeting.menu("continue")
                current.clear()
    return {"a message": message, "a press of *Finish step*": press}


def rows(seconds: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    everywhere, counted = modules(), [path for path in modules() if not name_of(path).startswith(OFFLINE)]
    yield "modules", str(len(everywhere))
    yield "modules without voices/offline", str(len(counted))
    yield "lines of bot", str(lines("bot"))
    for beside in ("roundtable_eval", "slack_sandbox"):
        yield f"lines of {beside}", str(lines(beside))
    yield "lines of tests", str(lines("tests"))
    yield "largest folder", largest_folder(everywhere)
    yield "largest folder without voices/offline", largest_folder(counted)
    twice = ambiguous_classes()
    yield "public class names with more than one meaning", " ".join([str(len(twice)), *twice])
    chain = [module.removeprefix("bot/").removesuffix(".py") for module in longest_chain()]
    yield "longest import chain", f"{len(chain)}: {' → '.join(chain)}"
    with tempfile.TemporaryDirectory() as folder:
        for what, trace in asyncio.run(traces(Path(folder))).items():
            told = f"{len(trace.rooms)} rooms, {len(trace.files)} files, {trace.moves} moves between files"
            yield f"passed by {what}", told
    for what, took in seconds.items():
        yield f"seconds of {what}", took


def main() -> None:
    parser = argparse.ArgumentParser(description="Prints the size and shape of the code as a Markdown table.")
    parser.add_argument(
        "--seconds", action="append", default=[], metavar="NAME=SECONDS", help="a time to add"
    )
    timed = parser.parse_args().seconds
    print("| measured | value |\n|---|---|")
    for what, value in rows(dict(one.split("=", 1) for one in timed)):
        print(f"| {what} | {value} |")


if __name__ == "__main__":
    main()
