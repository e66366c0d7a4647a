"""
Where bot processes are born: they are forked from one that has imported everything, or begun from nothing.

A real process each time, with a pid of its own that can be killed; only the seconds of importing are spent once, for
all tests of a process: each has a copy of this one. Orders come to a copy as lines of JSON on stdin, and every birth
and death goes out as one on stdout.
"""

import ctypes
import faulthandler
import json
import os
import signal
import socket
import sys
from types import FrameType
from typing import Any, NoReturn
from unittest.mock import patch

from bot.cli import main as cli
from tests.durability import plants
from tests.durability.processes import SOON

PR_SET_PDEATHSIG = 1
MOST_BYTES = 10_000
RUN = ("-X", "faulthandler", "-m", "bot", "run")
SOONER = {
    "bot.integrations.github.CALL_SECONDS": 1.0,
    "bot.slack.chat.SlackChat.lands_within": 0.5,
    "bot.storage.ownership.EXTEND_SECONDS": 0.5,
    "bot.storage.ownership.LEASE_SECONDS": 3.0,
}
"""Where nothing lands late: for so long a successor waits for what its dead predecessor may have under way."""


def main() -> None:
    """Each message on stdin is what to plant, and brings the socket of a test, for the copy that serves it."""
    faulthandler.enable()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    door = socket.socket(fileno=0)
    while True:
        given, sockets, _, _ = socket.recv_fds(door, MOST_BYTES, 1)
        if not given:
            return
        (opened,) = sockets
        if not os.fork():
            os.dup2(opened, 0)
            os.dup2(opened, 1)
            os.close(opened)
            _serve(json.loads(given))
            os._exit(0)
        os.close(opened)


def _serve(planted: list[str]) -> None:
    """*planted* are bugs, and `SOON`."""
    for name in planted:
        if name == SOON:
            for what, seconds in SOONER.items():
                patch(what, seconds).start()
        else:
            plants.PROCESS[name].put().__enter__()
    signal.signal(signal.SIGCHLD, _mourn)
    with open(0, encoding="utf-8", closefd=False) as orders:
        for line in orders:
            order = json.loads(line)
            if not (pid := os.fork()):
                _live(order)
            _say(born=order["number"], pid=pid)


def _mourn(_number: int, _frame: FrameType | None) -> None:
    """Several deaths may come as one signal."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not pid:
            return
        _say(died=pid, code=os.waitstatus_to_exitcode(status))


def _say(**what: Any) -> None:
    os.write(1, f"{json.dumps(what)}\n".encode())


def _live(order: dict[str, Any]) -> NoReturn:
    """Whatever happens in here ends here: this is a copy of the nursery, and must not go on as one."""
    code = 70
    try:
        _die_with_the_nursery()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        log = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        for standard, replaced in ((0, os.open(os.devnull, os.O_RDONLY)), (1, log), (2, log)):
            os.dup2(replaced, standard)
        if order["fresh"]:
            os.chdir(order["root"])
            os.execve(sys.executable, (sys.executable, *RUN), order["env"])  # noqa: S606 -- there is no shell
        os.environ.clear()
        os.environ.update(order["env"])
        sys.argv = ["roundtable", "run"]
        cli.main()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(bool(ended.code))
    except BaseException:  # noqa: BLE001 -- it goes to the log as the interpreter would have put it there
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _die_with_the_nursery() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    main()
