"""
slack-machine, with one plugin that answers every message in its thread. `bench.replies` runs it, by a Python that has
slack-machine and need not have what the bot runs on.
"""

import asyncio
import os
import sys
from functools import partial
from types import ModuleType

from machine import Machine, core  # type: ignore[import-not-found, unused-ignore]
from machine.plugins.base import MachineBasePlugin  # type: ignore[import-not-found, unused-ignore]
from machine.plugins.decorators import listen_to  # type: ignore[import-not-found, unused-ignore]
from machine.plugins.message import Message  # type: ignore[import-not-found, unused-ignore]
from machine.utils.collections import CaseInsensitiveDict  # type: ignore[import-not-found, unused-ignore]
from slack_sdk.web.async_client import AsyncWebClient

PLUGINS = "bench_peer_plugins"


class Answer(MachineBasePlugin):  # type: ignore[misc, unused-ignore]
    @listen_to(r".*")  # type: ignore[untyped-decorator, unused-ignore]
    async def answer(self, message: Message) -> None:
        heard = message._msg_event  # noqa: SLF001 -- it tells plugins of a message, but not of its thread
        await self.say(heard["channel"], "I see.", thread_ts=heard["thread_ts"])


def settings() -> CaseInsensitiveDict:
    return CaseInsensitiveDict({
        "SLACK_APP_TOKEN": os.environ["SLACK_APP_TOKEN"],
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
    vars(plugins).update(Answer=Answer)
    asyncio.run(Machine(settings()).run())
