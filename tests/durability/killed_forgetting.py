"""
Kills `roundtable forget` before each of its steps in turn, and runs it again: what is then still wrong, as JSON.

`python -m tests.durability.killed_forgetting WORKSPACE COPIES USER NEEDLES`, with the settings in the environment. USER
is whom to forget, by Slack's id, with words and name; empty: the item `offline-sync`. Every folder `COPIES/n` is a copy
of WORKSPACE (and REDIS_URL, if it is set, has what it had) in which the n-th call that changes something was killed.
Those that leave the same behind are looked at once.
"""

import asyncio
import json
import logging
import os
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from datetime import datetime
from hashlib import sha256
from io import BytesIO, StringIO
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any

import redis

from bot import app
from bot.cli import forget as forgetting
from bot.cli import replay
from bot.errors import BotError
from bot.settings import Settings
from tests.storage.checkout import Git
from tests.storage.killed import CALLS
from tests.stored import whole

ITEM = "offline-sync"
OF_STORES = {"execute", "executemany", "executescript", "send"}
"""Of SQLite, and of a socket to Redis."""
IN_MEMORY = (str, bytes, datetime, StringIO, BytesIO)
"""What has methods of these names, and changes nothing outside."""
DONE, REFUSED = 0, 7


def main(workspace: Path, copies: Path, user: str, needles: list[str]) -> None:
    logging.disable()
    settings = Settings.from_env(os.environ)
    playbook = app.playbook(settings)
    app.playbook = lambda settings: playbook  # noqa: ARG005 -- read once, and not in each fork
    kept = _dumped(settings)
    seen: set[str] = set()
    wrong: list[str] = []
    for number in count(1):
        own = settings.model_copy(update={"workspace": copies / str(number)})
        shutil.copytree(workspace, own.workspace)
        _restore(settings, kept)
        if (found := _child(own, user, kill_at=number)) != -signal.SIGKILL:
            assert found == DONE, "undisturbed, it forgets"
            wrong += _wrong(own, number, user, needles)
            break
        state = _state(own)
        if state not in seen:
            seen.add(state)
            again = _child(own, user)
            # of an item that is gone already, a second run says so
            wrong += (
                [f"{number}: exit code {again}"] if again not in {DONE, DONE if user else REFUSED} else []
            )
            wrong += _wrong(own, number, user, needles)
        shutil.rmtree(own.workspace)
    sys.stdout.write(json.dumps({"killed": number - 1, "unlike": len(seen), "wrong": wrong}))


async def _forget(settings: Settings, user: str) -> None:
    async with forgetting.opened_store(settings) as store:
        if user:
            options = forgetting.PersonOptions(words=True, typed=True)
            await forgetting.PersonForgetting(settings, store, options).run(user)
        else:
            await forgetting.forget_item(settings, store, ITEM, live=True, slack=False)


def _child(settings: Settings, user: str, *, kill_at: int = 0) -> int:
    """A fork, so that a hundred of them take seconds. Its exit code, or the signal that ended it, negative."""
    child = os.fork()
    if child == 0:
        if kill_at:
            _kill_at(kill_at)
        try:
            asyncio.run(_forget(settings, user))
        except BotError:
            os._exit(REFUSED)
        os._exit(DONE)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _kill_at(number: int) -> None:
    calls = count(1)

    def kill(_frame: FrameType, event: str, called: Any) -> None:
        if event != "c_call" or called.__name__ not in CALLS | OF_STORES:
            return
        if not isinstance(getattr(called, "__self__", None), IN_MEMORY) and next(calls) == number:
            os.kill(os.getpid(), signal.SIGKILL)

    threading.setprofile(kill)
    sys.setprofile(kill)


def _wrong(settings: Settings, number: int, user: str, needles: list[str]) -> Iterator[str]:
    text = b"\n".join(_everything(settings))
    yield from (f"{number}: {one!r} is left" for one in needles if one.encode() in text)
    git = Git(settings.workspace)
    if git("status", "--porcelain"):
        yield f"{number}: the checkout is not what the branch says"
    if user:
        item = replay.item(settings, ITEM)
        found = replay.verified(item, replay.keys_for(item, settings, ""), replay.playbook(settings))
        yield from (f"{number}: {one}" for one in found)


def _everything(settings: Settings) -> Iterator[bytes]:
    """Every byte of the checkout and the store, of the newest commit, and of what may be applied again."""
    git = Git(settings.workspace)
    yield git("archive", "HEAD").encode()
    for kept in git("for-each-ref", "--format=%(refname)", "refs/roundtable/unpushed").splitlines():
        yield git("show", kept).encode()
    yield from _outside_git(settings)


def _outside_git(settings: Settings) -> Iterator[bytes]:
    for file in sorted(settings.workspace.rglob("*")):
        if file.is_file() and ".git" not in file.parts:
            yield file.read_bytes()
    if settings.redis_url:
        with redis.Redis.from_url(settings.redis_url.get_secret_value()) as client:
            yield from (whole(client, key) for key in sorted(client.scan_iter()))


def _state(settings: Settings) -> str:
    """The refs say what git has."""
    refs = Git(settings.workspace)("for-each-ref").encode()
    return sha256(b"\0".join([refs, *_outside_git(settings)])).hexdigest()


def _dumped(settings: Settings) -> dict[bytes, bytes]:
    if not settings.redis_url:
        return {}
    with redis.Redis.from_url(settings.redis_url.get_secret_value()) as client:
        return {key: client.dump(key) or b"" for key in client.scan_iter()}


def _restore(settings: Settings, kept: dict[bytes, bytes]) -> None:
    if settings.redis_url:
        with redis.Redis.from_url(settings.redis_url.get_secret_value()) as client:
            client.flushall()
            for key, content in kept.items():
                client.restore(key, 0, content)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], sys.argv[4:])
