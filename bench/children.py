"""The programs that are measured, each in a process of its own, with its output in a file."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from pathlib import Path

from aiohttp import ClientSession

from bench.canned import HOST, CannedSlack
from bench.payloads import SIGNING_SECRET
from tests.ports import free_port

ROOT = Path(__file__).parent.parent
READY_SECONDS = 60
LOOK_SECONDS = 0.02
READY_LOOK_SECONDS = 0.1
"""Longer: the bot's CPU is what is measured."""
STOP_SECONDS = 15
TAIL = 2000
BOT_APP, BARE_APP = "xapp-bot", "xapp-bare"


class Ended(Exception):
    """A program ended before it should; the end of what it said explains it."""

    def __init__(self, arguments: tuple[str, ...], log: Path, code: int | None = None) -> None:
        how = f" with {code}" if code is not None else ""
        super().__init__(f"{' '.join(arguments)} ended{how}: {log.read_text(errors='replace')[-TAIL:]}")


@asynccontextmanager
async def child(
    *arguments: str, env: Mapping[str, str], log: Path, python: str = sys.executable
) -> AsyncIterator[subprocess.Popen[bytes]]:
    """The program is ended at the end, also after an exception."""
    with log.open("ab") as said:
        running = subprocess.Popen(  # noqa: ASYNC220 -- its pipes are files, and it is not waited for
            [python, *arguments], cwd=ROOT, env=_environment(env), stdout=said, stderr=said
        )
        try:
            yield running
        except Exception as error:
            if running.poll() is not None:
                raise Ended(arguments, log, running.returncode) from error
            raise
        finally:
            running.terminate()
            try:
                await asyncio.to_thread(running.wait, STOP_SECONDS)
            except subprocess.TimeoutExpired:
                running.kill()
                running.wait()


def bot_settings(slack: CannedSlack, workspace: Path, redis_url: str, *, http: bool) -> dict[str, str]:
    """Of `roundtable run`; all others have their defaults."""
    app = {"SLACK_SIGNING_SECRET": SIGNING_SECRET} if http else {"SLACK_APP_TOKEN": BOT_APP}
    return {
        "SLACK_API_URL": slack.api_url,
        "SLACK_BOT_TOKEN": "xoxb-bench",
        "REDIS_URL": redis_url,
        "ROUNDTABLE_WORKSPACE": str(workspace),
        "ROUNDTABLE_PORT": str(free_port()),
        "ROUNDTABLE_HEALTH_PORT": str(free_port()),
        **app,
    }


def bare_settings(slack: CannedSlack, *, http: bool) -> dict[str, str]:
    return {"SLACK_API_URL": slack.api_url, "PORT": str(free_port()) if http else ""}


async def accepting(port: int, running: subprocess.Popen[bytes], log: Path) -> None:
    """Returns when a program listens on *port*."""
    async with asyncio.timeout(READY_SECONDS):
        while True:
            if running.poll() is not None:
                raise Ended((), log)
            try:
                _, writer = await asyncio.open_connection(HOST, port)
            except OSError:
                await asyncio.sleep(LOOK_SECONDS)
                continue
            writer.close()
            return


async def ready(port: int, running: subprocess.Popen[bytes], log: Path) -> None:
    """Returns when a bot, with its health at *port*, takes events."""
    await accepting(port, running, log)
    async with asyncio.timeout(READY_SECONDS), ClientSession() as http:
        while True:
            async with http.get(f"http://{HOST}:{port}/readyz") as answer:
                if answer.status == HTTPStatus.OK:
                    return
            await asyncio.sleep(READY_LOOK_SECONDS)


def cpu_seconds(process: int) -> float:
    """So far, of all threads that still run; Linux counts in nanoseconds."""
    threads = Path(f"/proc/{process}/task").glob("*/schedstat")
    return sum(int(thread.read_text(encoding="ascii").split()[0]) for thread in threads) / 1e9


def _environment(env: Mapping[str, str]) -> dict[str, str]:
    """Ours, without the settings of another bot, which a child must not inherit."""
    others = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("SLACK_", "REDIS_", "ROUNDTABLE_"))
    }
    return {**others, "PYTHONPATH": str(ROOT), **env}
