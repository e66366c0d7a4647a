"""
`roundtable run`, as the benchmarks under load run it: by the command's own code, with two additions from here.

BENCH_SPEED=1 keeps Slack's limits, with a sandbox that has them. Without it, calls of the sandbox do not wait.

BENCH_SAMPLES=FILE samples the stacks of all threads every few milliseconds from one SIGUSR1 to the next, and then
writes them to FILE as JSON (`bench.profiled` reads it). That is wall time: a thread that waits for the disk, or for a
core, counts, too. With BENCH_BY_CPU, the process's CPU time decides when to sample.
"""

import json
import os
import signal
import sys
import threading
import time
from collections import Counter
from functools import partial
from pathlib import Path
from types import CodeType, FrameType

from bot import app
from bot.cli import main

EVERY_SECONDS = 0.005

Stack = tuple[tuple[CodeType, ...], int]
"""The innermost call first, and the line that it is at; 0 where there is none."""


class Sampler:
    """Handlers run in the main thread, between two of its instructions; a long call in C counts for its caller."""

    def __init__(self, path: Path, *, by_cpu: bool) -> None:
        self._path = path
        self._timer = signal.ITIMER_PROF if by_cpu else signal.ITIMER_REAL
        self._signal = signal.SIGPROF if by_cpu else signal.SIGALRM
        self._began = 0.0
        self._cpu = 0.0
        self._found: Counter[tuple[str, Stack]] = Counter()

    def listen(self) -> None:
        signal.signal(signal.SIGUSR1, self._turned)
        signal.signal(self._signal, self._sampled)
        signal.siginterrupt(self._signal, False)

    def _turned(self, _number: int, _frame: FrameType | None) -> None:
        if self._began:
            signal.setitimer(self._timer, 0)
            self._write()
            return
        self._began, self._cpu = time.perf_counter(), time.process_time()
        signal.setitimer(self._timer, EVERY_SECONDS, EVERY_SECONDS)

    def _sampled(self, _number: int, interrupted: FrameType | None) -> None:
        names = {thread.ident: thread.name for thread in threading.enumerate()}
        own = threading.get_ident()
        for ident, frame in sys._current_frames().items():  # noqa: SLF001 -- the documented way to see other threads
            innermost = interrupted if ident == own else frame
            if innermost:
                self._found[names.get(ident, "unknown"), _stack(innermost)] += 1

    def _write(self) -> None:
        samples = [
            {"thread": thread, "line": line, "frames": [_name(code) for code in codes], "count": count}
            for (thread, (codes, line)), count in self._found.items()
        ]
        took = {"seconds": time.perf_counter() - self._began, "cpu": time.process_time() - self._cpu}
        written = self._path.with_suffix(".part")
        written.write_text(json.dumps({**took, "samples": samples}), encoding="utf-8")
        written.rename(self._path)
        self._began = 0.0
        self._found.clear()


def _stack(frame: FrameType) -> Stack:
    line, codes = frame.f_lineno or 0, []
    outer: FrameType | None = frame
    while outer:
        codes.append(outer.f_code)
        outer = outer.f_back
    return tuple(codes), line


def _name(code: CodeType) -> list[str]:
    return [code.co_filename, code.co_qualname]


if __name__ == "__main__":
    if speed := os.environ.pop("BENCH_SPEED", ""):
        app.bot = partial(app.bot, how=app.Variations(speed=float(speed)))
    if samples := os.environ.pop("BENCH_SAMPLES", ""):
        Sampler(Path(samples), by_cpu=bool(os.environ.pop("BENCH_BY_CPU", ""))).listen()
    main.main()
