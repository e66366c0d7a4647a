"""
Runs `roundtable …` in processes of their own, without paying for its imports each time.

One interpreter loads the program and then forks for each command: what runs is `main()` of `bot/cli/main.py` with its
own arguments, environment, folder, standard streams and exit code. `python_m_bot` starts from scratch, for comparison.
"""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import IO, Any, NamedTuple, Protocol

from tests.patience import PATIENCE_SECONDS

ROOT = Path(__file__).parent.parent
OURS = ("ROUNDTABLE_", "SLACK_", "REDIS_")

FORKING = """
import json, os, sys, traceback
from importlib import import_module
from bot.cli.main import COMMANDS, main

for row in COMMANDS.values():
    import_module(f"bot.cli.{row.module}")

for line in sys.stdin:
    asked = json.loads(line)
    if child := os.fork():
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
        continue
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["env"])
    for number, path in enumerate((os.devnull, asked["out"], asked["err"])):
        os.dup2(os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), number)
    sys.argv = ["roundtable", *asked["words"]]
    code = 0
    try:
        main()
    except SystemExit as end:
        code = end.code or 0
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # taking the modules down would cost more than the command
"""

# Root may look everywhere, unless it lays that down before it becomes the program.
WITHOUT_PRIVILEGES = """
import ctypes, os, sys
for capability in (1, 2):  # to write and to read what the modes of a file forbid
    ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)
os.execv(sys.executable, [sys.executable, "-m", "bot", *sys.argv[1:]])
"""


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    def rows(self) -> dict[str, dict[str, Any]]:
        """Of `check --json`, by name."""
        return {row["name"]: row for row in self.json}


class Cli(Protocol):
    """Commands that are run in one folder."""

    async def __call__(self, *words: str, **env: str) -> Ran: ...


class CommandLine:
    """*files* is a folder for what the commands print."""

    def __init__(self, requests: IO[str], codes: IO[str], files: Path) -> None:
        self._requests = requests
        self._codes = codes
        self._files = files
        self._turn = Lock()

    async def run(self, folder: Path, *words: str, **env: str) -> Ran:
        """In *folder*, with nothing of ours in the environment but *env*. The event loop goes on meanwhile."""
        return await asyncio.to_thread(self._run, folder, words, env)

    def _run(self, folder: Path, words: tuple[str, ...], env: Mapping[str, str]) -> Ran:
        out, err = self._files / "out", self._files / "err"
        asked = {
            "folder": str(folder),
            "env": _environment(env),
            "words": words,
            "out": str(out),
            "err": str(err),
        }
        with self._turn:
            self._requests.write(json.dumps(asked) + "\n")
            self._requests.flush()
            code = int(self._codes.readline())
            return _without_traceback(Ran(code, out.read_text("utf-8"), err.read_text("utf-8")))


@contextmanager
def command_line(files: Path) -> Iterator[CommandLine]:
    with subprocess.Popen(
        [sys.executable, "-c", FORKING],
        cwd=ROOT,
        env=_environment({}),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    ) as running:
        assert running.stdin
        assert running.stdout
        yield CommandLine(running.stdin, running.stdout, files)


async def python_m_bot(folder: Path, *words: str, privileged: bool = True, **env: str) -> Ran:
    program = ("-m", "bot") if privileged else ("-c", WITHOUT_PRIVILEGES)
    running = await asyncio.create_subprocess_exec(
        sys.executable,
        *program,
        *words,
        cwd=folder,
        env=_environment(env),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await asyncio.wait_for(running.communicate(), PATIENCE_SECONDS)
    return _without_traceback(Ran(running.returncode or 0, out.decode(), err.decode()))


def _environment(env: Mapping[str, str]) -> dict[str, str]:
    """Wide enough for a sentence, in whatever the errors of wrong usage are framed."""
    clean = {name: text for name, text in os.environ.items() if not name.startswith(OURS)}
    return clean | {"PYTHONPATH": str(ROOT), "COLUMNS": "200", **env}


def _without_traceback(ran: Ran) -> Ran:
    assert "Traceback" not in ran.out + ran.err, ran.err
    return ran
