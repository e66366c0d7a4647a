"""
Where the time of a busy process goes: its threads' stacks, sampled while people keep it busy.

`bench/run profiled words` says 16 words at once in one thread, with the embedded store; `bench/run profiled presses`
works through the steps of 16 items at once, with Redis. `--beside DIR` profiles the bot of another checkout. It prints
Markdown: shares of the samples in which a thread of the bot was not waiting for work.
"""

import argparse
import asyncio
import json
import re
import signal
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import AsyncExitStack
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from bench.children import ROOT
from bench.first_sign import signs
from bench.rooms import Room, bots
from bench.throughput import worked
from tests.durability.processes import wait_until
from tests.redis_server import running_redis_server

AT_ONCE = 16
MOST_ROWS = 25
WRITING_SECONDS = 30.0
WORDS, PRESSES = "words", "presses"

# What a call means, by where it is: the innermost frame that one of these describes decides. Each is a part of the
# path, and the beginning of the function's qualified name.
MEANINGS: tuple[tuple[str, str, str], ...] = (
    ("/json/", "", "JSON of the standard library"),
    ("bot/storage/serialization.py", "decoded", "decode the aggregate"),
    ("bot/storage/serialization.py", "parsed", "decode the aggregate"),
    ("bot/storage/serialization.py", "saving", "encode the aggregate"),
    ("bot/engine/audit.py", "", "logging and audit"),
    ("/logging/", "", "logging and audit"),
    ("structlog/", "", "logging and audit"),
    ("bot/log.py", "", "logging and audit"),
    ("bot/telemetry.py", "", "logging and audit"),
    ("bot/server/metrics.py", "", "metrics"),
    ("prometheus_client/", "", "metrics"),
    ("bot/domain/messages/", "", "write messages and cards"),
    ("bot/domain/roundtable/cards.py", "", "write messages and cards"),
    ("bot/domain/roundtable/root.py", "", "write messages and cards"),
    ("bot/domain/values/markdown.py", "", "write messages and cards"),
    ("bot/slack/render.py", "", "render blocks"),
    ("bot/slack/markdown.py", "", "render blocks"),
    ("markdown_it/", "", "render blocks"),
    ("bot/domain/privacy/", "", "hide secrets"),
    ("bot/domain/actions/", "", "decide: typed wishes"),
    ("bot/domain/roundtable/words.py", "", "decide: typed wishes"),
    ("bot/domain/roundtable/wishes.py", "", "decide: typed wishes"),
    ("bot/domain/catalog/personas.py", "", "decide: whom a word addresses"),
    ("bot/domain/specification/", "", "decide: specification"),
    ("bot/domain/transcript/", "", "decide: lines of the record"),
    ("bot/domain/", "", "decide: the rest"),
    ("bot/files.py", "", "files"),
    ("bot/storage/git/", "", "git"),
    ("bot/record/", "", "git"),
    ("pygit2/", "", "git"),
    ("bot/storage/embedded.py", "", "embedded store"),
    ("bot/storage/redis", "", "Redis: the store"),
    ("bot/storage/ownership.py", "", "ownership of the team"),
    ("bot/slack/handing_over.py", "", "ownership of the team"),
    ("redis/", "", "Redis: its client"),
    ("slack_bolt/", "", "take in (Bolt, Socket Mode)"),
    ("slack_sdk/socket_mode/", "", "take in (Bolt, Socket Mode)"),
    ("bot/slack/transport.py", "", "take in (Bolt, Socket Mode)"),
    ("bot/slack/parse.py", "", "take in (Bolt, Socket Mode)"),
    ("bot/slack/reception.py", "", "take in (Bolt, Socket Mode)"),
    ("bot/slack/app.py", "", "take in (Bolt, Socket Mode)"),
    ("slack_sdk/", "", "calls of Slack"),
    ("bot/slack/", "", "calls of Slack"),
    ("aiohttp/client", "", "calls of Slack"),
    ("aiohttp/connector", "", "calls of Slack"),
    ("aiohttp/", "", "HTTP and websockets (aiohttp)"),
    ("bot/voices/", "", "voices"),
    ("bot/engine/", "", "engine"),
    ("asyncio/", "", "event loop"),
    ("selectors.py", "", "event loop"),
)
# Where a thread waits for work, and for nothing else.
IDLE = (
    ("selectors.py", "EpollSelector.select"),
    ("concurrent/futures/thread.py", "_worker"),
    ("threading.py", "Condition.wait"),
    ("threading.py", "wait"),
    ("queue.py", ""),
)
LOOP = "MainThread"
FSYNC = "wait for the disk (fsync)"


class Sample(NamedTuple):
    thread: str
    frames: tuple[tuple[str, str], ...]
    line: int
    times: int

    @property
    def is_idle(self) -> bool:
        path, name = self.frames[0]
        return any(path.endswith(where) and name.startswith(what) for where, what in IDLE)

    @property
    def meaning(self) -> str:
        if "fsync" in _source(self.frames[0][0], self.line):
            return FSYNC
        for path, name in self.frames:
            for where, what, meaning in MEANINGS:
                if where in path and name.startswith(what):
                    return meaning
        return "other"


@cache
def _source(path: str, line: int) -> str:
    try:
        return Path(path).read_text(encoding="utf-8").splitlines()[line - 1]
    except (OSError, IndexError):
        return ""


async def sampled(what: str, folder: Path, *, checkout: Path, seconds: float, by_cpu: bool) -> Any:
    written = folder / "samples.json"
    more = {
        "BENCH_SAMPLES": str(written),
        "BENCH_BY_CPU": "yes" if by_cpu else "",
    }
    async with AsyncExitStack() as stack:
        redis = stack.enter_context(running_redis_server()) if what == PRESSES else None
        url = redis.url if redis else ""
        place = await stack.enter_async_context(
            bots(folder / "bots", checkout=checkout, redis_url=url, more=more)
        )
        [bot] = place.bots
        items = [await place.item() for _ in range(1 if what == WORDS else AT_ONCE)]
        await place.quiet()
        bot.send_signal(signal.SIGUSR1)
        told = await (_words(place, items[0].root, seconds) if what == WORDS else _presses(place, items))
        bot.send_signal(signal.SIGUSR1)
        await wait_until(written.exists, seconds=WRITING_SECONDS, what="the samples")
        told += f" (sampled by {'CPU' if by_cpu else 'wall'} time)"
        return {**json.loads(written.read_text(encoding="utf-8")), "told": told}


async def _words(place: Room, root: str, seconds: float) -> str:
    until = asyncio.get_running_loop().time() + seconds
    waited: list[float] = []
    while asyncio.get_running_loop().time() < until:
        waited += await signs(place, root, number=AT_ONCE, at_once=AT_ONCE)
    return f"{len(waited)} words, {AT_ONCE} at once in one thread, embedded store"


async def _presses(place: Room, items: list[Any]) -> str:
    done = await worked(place, items, steps=8)
    return f"{done['presses']:.1f} presses a second, {AT_ONCE} threads, Redis; finish p95 {done['finish p95']:.0f} ms"


def samples_in(document: Any) -> list[Sample]:
    return [
        Sample(one["thread"], tuple((path, name) for path, name in one["frames"]), one["line"], one["count"])
        for one in document["samples"]
    ]


def report(document: Any) -> Iterator[str]:
    samples = samples_in(document)
    busy = [one for one in samples if not one.is_idle]
    total = sum(one.times for one in busy)
    main = sum(one.times for one in samples if one.thread == LOOP)
    main_busy = sum(one.times for one in busy if one.thread == LOOP)
    seconds = document["seconds"]
    yield f"{document['told']}. {seconds:.1f} s, {document['cpu']:.1f} s of CPU; {main} samples."
    yield f"The event loop's thread was busy in {main_busy / main:.0%} of them. Shares are of {total} busy samples:"
    yield ""
    threads = _counted((re.sub(r"[\d_-]+$", "", one.thread), one.times) for one in busy)
    yield from _meanings(busy, total)
    yield from _table("thread", threads, total)
    yield from _table("own time", _counted((_short(one.frames[0]), one.times) for one in busy), total)
    cumulative = (
        (name, one.times)
        for one in busy
        for name in {_short(frame) for frame in one.frames if not _carries(frame)}
    )
    yield from _table("cumulative", _counted(cumulative), total)


def _carries(frame: tuple[str, str]) -> bool:
    """It is on nearly every stack of the event loop's thread, and says nothing."""
    return any(
        part in frame[0] for part in ("typer/", "runpy", "/asyncio/", "bot/cli/", "/bench/", "threading.py")
    )


def _meanings(busy: Iterable[Sample], total: int) -> Iterator[str]:
    """In the event loop's thread, and in all others."""
    found = _counted((one.meaning, one.times) for one in busy)
    in_loop = _counted((one.meaning, one.times) for one in busy if one.thread == LOOP)
    yield "| what | share | event loop's thread | others |\n|---|--:|--:|--:|"
    for what, count in found.most_common():
        here = in_loop[what]
        yield f"| {what} | {count / total:.1%} | {here / total:.1%} | {(count - here) / total:.1%} |"
    yield ""


def _counted(pairs: Iterable[tuple[str, int]]) -> Counter[str]:
    found: Counter[str] = Counter()
    for name, count in pairs:
        found[name] += count
    return found


def _table(title: str, found: Counter[str], total: int, rows: int = MOST_ROWS) -> Iterator[str]:
    yield f"| {title} | share |\n|---|--:|"
    for name, count in found.most_common(rows):
        yield f"| {name} | {count / total:.1%} |"
    yield ""


def _short(frame: tuple[str, str]) -> str:
    path, name = frame
    for root in ("/site-packages/", "/lib/python3"):
        if root in path:
            path = path.rpartition(root)[2]
    if "/bot/" in path:
        path = f"bot/{path.rpartition('/bot/')[2]}"
    return f"`{path}` {name}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.profiled")
    parser.add_argument("what", choices=(WORDS, PRESSES))
    parser.add_argument("--beside", type=Path, default=ROOT, metavar="DIR")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--cpu", action="store_true", help="sample by CPU time instead of wall time")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="the samples, to be read again by --read")
    parser.add_argument("--read", type=Path, metavar="FILE")
    given = parser.parse_args()
    if given.read:
        print("\n".join(report(json.loads(given.read.read_text(encoding="utf-8")))))
        return
    with TemporaryDirectory(prefix="roundtable-bench-profiled-", ignore_cleanup_errors=True) as folder:
        work = sampled(
            given.what, Path(folder), checkout=given.beside.resolve(), seconds=given.seconds, by_cpu=given.cpu
        )
        found = asyncio.run(work)
        if given.keep:
            given.keep.write_text(json.dumps(found), encoding="utf-8")
        print("\n".join(report(found)))


if __name__ == "__main__":
    main()
