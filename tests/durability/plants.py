"""
Bugs on purpose, each a small named patch of our own code, put in from here alone: production code has no hooks.

`scripts/durability --planted` shows that the suite catches every one, and by what.
"""

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot import files
from bot.domain.catalog.agenda import Playbook
from bot.domain.messages.message import Message
from bot.domain.roundtable import machine
from bot.domain.roundtable.inputs import Say
from bot.domain.roundtable.outcomes import Outcome, TurnTaken
from bot.domain.roundtable.state import Roundtable
from bot.domain.values.places import Place
from bot.engine import roundtables
from bot.engine.ports import Urgency
from bot.errors import SlackError
from bot.slack import client as slack_client
from bot.slack.chat import SlackChat
from bot.storage.git import tree
from bot.storage.git.workspace import GitWorkspace
from tests.durability import session
from tests.durability.campaign import quietly, told
from tests.durability.fates import Kind
from tests.durability.session import Session
from tests.durability.simulator import played, singles, undisturbed
from tests.durability.world import META, SimChat, SimStore, SimWorkspace

SLOW_DISK_SYNCS = 20


class Plant(NamedTuple):
    """`put` makes what is wrong, as a context. In the simulator it shows in *stretch*."""

    what: str
    put: Callable[[], AbstractContextManager[object]]
    stretch: str = "opening"


# --- in a bot process -------------------------------------------------------------------------------------------------


def _sdk_retries() -> AbstractContextManager[object]:
    def retrying(*args: Any, **kwargs: Any) -> AsyncWebClient:
        return AsyncWebClient(*args, **{**kwargs, "retry_handlers": None})

    return patch.object(slack_client, "AsyncWebClient", retrying)


def _ack_before_save() -> AbstractContextManager[object]:
    begin = AsyncApp.__init__

    def hasty(app: AsyncApp, **kwargs: Any) -> None:
        begin(app, **{**kwargs, "process_before_response": False})

    return patch.object(AsyncApp, "__init__", hasty)


def _never_again() -> AbstractContextManager[object]:
    post = SlackChat._post

    async def blind(chat: SlackChat, *args: Any, **kwargs: Any) -> Any:
        return await post(chat, *args, **{**kwargs, "again": False})

    return patch.object(SlackChat, "_post", blind)


def _commit_on_the_loop() -> AbstractContextManager[object]:
    async def here(_workspace: GitWorkspace, _thread: object, work: Callable[[], Any]) -> Any:
        return work()

    return patch.object(GitWorkspace, "_in_thread", here)


def _no_lock_cleanup() -> AbstractContextManager[object]:
    return patch.object(tree, "_remove_stale", lambda lock, _root: not lock.exists())


def _torn_files() -> AbstractContextManager[object]:
    def replace(path: Path, target: Path) -> None:
        """In place, on a slow disk."""
        content = path.read_bytes()
        opened = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        half = len(content) // 2
        for part in (content[:half], content[half:]):
            files._write(opened, part)
            for _ in range(SLOW_DISK_SYNCS):
                os.fsync(opened)
        os.close(opened)

    return patch.object(Path, "replace", replace)


PROCESS: Mapping[str, Plant] = {
    "sdk-retries": Plant("the SDK posts again when the connection breaks", _sdk_retries),
    "ack-before-save": Plant("Bolt acknowledges events before they are saved", _ack_before_save),
    "never-again": Plant("nobody looks whether a post stands there already", _never_again),
    "commit-on-the-loop": Plant("a commit keeps everything else waiting", _commit_on_the_loop),
    "no-lock-cleanup": Plant("git's locks stay where a kill left them", _no_lock_cleanup),
    "torn-files": Plant("files are written in place", _torn_files),
}


# --- in the simulator -------------------------------------------------------------------------------------------------


def _no_dedup() -> AbstractContextManager[object]:
    return patch.object(Roundtable, "knowing", lambda rt, *_keys: rt)


def _no_compare_and_set() -> AbstractContextManager[object]:
    def put(store: SimStore, roundtable: Roundtable, _expected: int) -> None:
        store._world.store[roundtable.slug] = roundtable

    return patch.object(SimStore, "_put", put)


def _post_before_save() -> AbstractContextManager[object]:
    return patch.object(roundtables, "NOT_REPEATABLE", ())


def _torn_meta() -> AbstractContextManager[object]:
    replace = SimWorkspace._replace

    def in_place(workspace: SimWorkspace, path: str, content: bytes) -> None:
        if path == META:
            workspace._world.files[path] = content[: len(content) // 2]
        replace(workspace, path, content)

    return patch.object(SimWorkspace, "_replace", in_place)


def _counted_twice() -> AbstractContextManager[object]:
    """Like INCR, when its answer gets lost and the client asks again."""
    settled = machine._settled

    def counting(rt: Roundtable, event: Outcome, playbook: Playbook) -> Roundtable:
        completing = all(one.id != event.effect for one in rt.outbox)
        if not (
            completing
            and isinstance(event, TurnTaken)
            and event.contributions
            and rt.elaboration
            and not rt.elaboration.exhausted
        ):
            return settled(rt, event, playbook)
        said = event.contributions[0]
        return rt.but(elaboration=rt.elaboration.spoken(said, name=said.persona))

    return patch.object(machine, "_settled", counting)


def _ack_first() -> AbstractContextManager[object]:
    delivered = Session._delivered
    acknowledged: set[tuple[int, str]] = set()

    def once(here: Session, said: Say) -> None:
        """Acknowledged, and then the process may die of it."""
        if (id(here), said.key) in acknowledged:
            return
        acknowledged.add((id(here), said.key))
        with patch.object(session, "TIMES", 1), suppress(session.Stuck):
            delivered(here, said)

    return patch.object(Session, "_delivered", once)


def _never_looks() -> AbstractContextManager[object]:
    return patch.object(SimChat, "_looked", lambda _chat, _key: ("", False))


def _looks_once() -> AbstractContextManager[object]:
    def looked(chat: SimChat, key: str) -> tuple[str, bool]:
        found = chat._called(Kind.LOOK, lambda: chat._stands(key))
        chat._world.fates.land()
        return found, False

    return patch.object(SimChat, "_looked", looked)


def _edits_forgotten() -> AbstractContextManager[object]:
    rewrite = SimChat.rewrite

    async def once(
        chat: SimChat, place: Place, ts: str, message: Message, *, urgency: Urgency = Urgency.ANSWER
    ) -> None:
        with suppress(SlackError):
            await rewrite(chat, place, ts, message, urgency=urgency)

    return patch.object(SimChat, "rewrite", once)


SIMULATED: Mapping[str, Plant] = {
    "no-dedup": Plant("the keys of inputs are not remembered", _no_dedup, "turn-limit"),
    "no-compare-and-set": Plant("whoever saves last wins", _no_compare_and_set),
    "post-before-save": Plant("an attempt to post is not written down first", _post_before_save),
    "torn-meta": Plant("meta.json is written in place", _torn_meta),
    "counted-twice": Plant("a turn counts again when its outcome comes again", _counted_twice, "discussion"),
    "ack-first": Plant("what people say is acknowledged before it is saved", _ack_first, "step"),
    "never-looks": Plant("nobody looks whether a post stands there already", _never_looks),
    "edits-forgotten": Plant("an edit that Slack refuses is not made again", _edits_forgotten, "step"),
    "looks-once": Plant("nobody waits for what may be on its way", _looks_once),
}


def caught_by_simulator(name: str) -> str:
    """The first scenario in which the bug shows; empty when it does not."""
    stretch = SIMULATED[name].stretch
    with SIMULATED[name].put(), quietly():
        undisturbed.cache_clear()
        try:
            for plan in singles(stretch):
                if wrong := played(stretch, plan).wrong:
                    return f"{wrong[0]}: {stretch}, {told(plan)}"
        finally:
            undisturbed.cache_clear()
    return ""
