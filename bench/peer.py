"""slack-machine, with one plugin that answers every message in its thread. `bench.replies` runs it."""

import asyncio
import os
import sys
from functools import partial
from types import ModuleType

from machine import Machine, core
from machine.plugins.base import MachineBasePlugin
from machine.plugins.decorators import listen_to
from machine.plugins.message import Message
from machine.utils.collections import CaseInsensitiveDict
from slack_sdk.web.async_client import AsyncWebClient

from bench.children import PEER_APP

PLUGINS = "bench_peer_plugins"


class Answer(MachineBasePlugin):
    @listen_to(r".*")
    async def answer(self, message: Message) -> None:
        heard = message._msg_event  # noqa: SLF001 -- it tells plugins of a message, but not of its thread
        await self.say(heard["channel"], "I see.", thread_ts=heard["thread_ts"])


def settings() -> CaseInsensitiveDict:
    return CaseInsensitiveDict({
        "SLACK_APP_TOKEN": PEER_APP,
        "SLACK_BOT_TOKEN": "xoxb-bench",
        "PLUGINS": [PLUGINS],
        "STORAGE_BACKEND": "machine.storage.backends.memory.MemoryStorage",
        "HTTP_PROXY": None,
        "TZ": "UTC",
        "LOG_HANDLED_MESSAGES": False,
    })  # fmt: skip


if __name__ == "__main__":
    core.AsyncWebClient = partial(AsyncWebClient, base_url=os.environ["SLACK_API_URL"])
    plugins = sys.modules[PLUGINS] = ModuleType(PLUGINS)
    plugins.Answer = Answer
    asyncio.run(Machine(settings()).run())
