"""Bot processes, as an operating system sees them: started, killed, asked to stop, and how they ended."""

import asyncio
import atexit
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.patience import PATIENCE_SECONDS

ROOT = Path(__file__).parents[2]
POLL_SECONDS = 0.005
SOON = "soon"
"""Among what is planted: what a bot waits for after a death is shorter, see `nursery`."""
KEPT_FROM_HERE = (
    "PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "PYTHONPATH", "PYTHONPYCACHEPREFIX", "VIRTUAL_ENV",
)  # fmt: skip


async def wait_until(
    met: Callable[[], object], *, seconds: float, what: str, every: float = POLL_SECONDS
) -> None:
    """Looks at the outside world until it is so. TimeoutError says what did not come."""
    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
    while not met():
        if loop.time() >= until:
            raise TimeoutError(f"not within {seconds:g} s: {what}")
        await asyncio.sleep(every)


@dataclass(eq=False)
class Process:
    """`ended` is its exit code, negative for the signal that ended it, as in `subprocess`."""

    pid: int
    log: Path
    ended: asyncio.Future[int]

    def __post_init__(self) -> None:
        self._handle: int | None = None
        if hasattr(os, "pidfd_open"):
            with suppress(ProcessLookupError):
                self._handle = os.pidfd_open(self.pid)
                self.ended.add_done_callback(self._let_go)

    @property
    def alive(self) -> bool:
        return not self.ended.done()

    def kill(self) -> None:
        """Returns at once; nothing runs in it any more."""
        self._signal(signal.SIGKILL)

    async def confess(self) -> None:
        """Of one that hangs: it says in its log where, and ends."""
        self._signal(signal.SIGABRT)
        await self.ended

    def freeze(self) -> None:
        """It stands still, as when a machine is moved; its connections stay open."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """It goes on, and does not know that time has passed."""
        self._signal(signal.SIGCONT)

    def terminate(self) -> None:
        self._signal(signal.SIGTERM)

    async def stop(self) -> int:
        """As an orchestrator does: SIGTERM, and some patience. The exit code."""
        self.terminate()
        try:
            return await asyncio.wait_for(asyncio.shield(self.ended), PATIENCE_SECONDS)
        except TimeoutError:
            self.kill()
            raise TimeoutError(f"SIGTERM was not enough within {PATIENCE_SECONDS:g} s") from None

    def _let_go(self, _ended: object) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def _signal(self, number: signal.Signals) -> None:
        """By a handle on the process, where there are any: its number may be somebody else's when it is dead."""
        if not self.alive:
            return
        with suppress(ProcessLookupError):
            if self._handle is None:
                os.kill(self.pid, number)
            else:
                signal.pidfd_send_signal(self._handle, number)


@cache
def _first_nursery() -> socket.socket:
    """It has imported everything, and ends with this process."""
    ours, theirs = socket.socketpair()
    with theirs:
        running = subprocess.Popen(
            [sys.executable, "-m", "tests.durability.nursery"], cwd=ROOT, stdin=theirs.fileno()
        )
    atexit.register(running.wait)
    atexit.register(ours.close)  # comes before the wait
    return ours


@dataclass
class Nursery:
    """Use it as a context manager. No process outlives it."""

    planted: tuple[str, ...] = ()
    _processes: dict[int, Process] = field(default_factory=dict)
    _orders: dict[int, asyncio.Future[int]] = field(default_factory=dict)
    _early: dict[int, int] = field(default_factory=dict)

    async def __aenter__(self) -> Self:
        ours, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(_first_nursery(), [json.dumps(self.planted).encode()], [theirs.fileno()])
        self._told, self._asked = await asyncio.open_unix_connection(sock=ours)
        self._reading = asyncio.create_task(self._read())
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        for process in self._processes.values():
            process.kill()
        self._asked.write_eof()
        await self._reading
        self._asked.close()

    async def bear(
        self, env: Mapping[str, str], *, log: Path, fresh: bool = False, root: Path = ROOT
    ) -> Process:
        """A new bot process; *fresh* is `python -m bot run` to the letter, of the code in *root*."""
        number = len(self._orders) + 1
        self._orders[number] = asyncio.get_running_loop().create_future()
        kept = {name: os.environ[name] for name in KEPT_FROM_HERE if name in os.environ}
        order = {"number": number, "env": {**kept, **env}, "log": str(log), "fresh": fresh, "root": str(root)}
        self._asked.write(f"{json.dumps(order)}\n".encode())
        pid = await self._orders[number]
        process = Process(pid, log, asyncio.get_running_loop().create_future())
        self._processes[pid] = process
        if pid in self._early:
            process.ended.set_result(self._early.pop(pid))
        return process

    async def _read(self) -> None:
        async for line in self._told:
            told = json.loads(line)
            if "born" in told:
                self._orders[told["born"]].set_result(told["pid"])
            elif process := self._processes.pop(told["died"], None):
                process.ended.set_result(told["code"])
            else:
                self._early[told["died"]] = told["code"]
        for unborn in self._orders.values():
            if not unborn.done():
                unborn.set_exception(ChildProcessError("the nursery ended; its traceback is above"))
