"""`roundtable mcp`: the record for coding agents, from git alone, over standard input and output."""

import asyncio
import os
import signal
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli import trace
from bot.cli.environment import read_settings
from bot.cli.options import RecordFolder
from bot.content import mcp
from bot.errors import ConfigError, lacks_extra
from bot.integrations.agreed import AgreedItems, NewestItems
from bot.integrations.trace import ShownReason
from bot.settings import Settings
from bot.shipped import release
from bot.storage.git.tree import files_at_tip

if TYPE_CHECKING:
    from bot.integrations.agent_server import CloneServer

commands = typer.Typer()

NOT_INSTALLED = f"roundtable mcp cannot run: {lacks_extra('mcp')}"


@commands.command("mcp")
def serve_agents(
    *,
    record: RecordFolder = None,
    at: Annotated[str, typer.Option(metavar="REV", help="All of it as of this commit.")] = "",
) -> None:
    # A thread waits for the next request; there is nothing to save.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    asyncio.run(serve(read_settings(os.environ, level="ERROR"), record, at))


async def serve(settings: Settings, record: Path | None, revision: str) -> None:
    """Until the client leaves. Raises BotError."""
    await (await open_server(settings, record, revision)).run_stdio_async()


async def open_server(settings: Settings, record: Path | None, revision: str) -> "CloneServer":
    """Without *revision*, a new commit is seen by the next call. Raises BotError."""
    if not mcp.is_installed():
        raise ConfigError(NOT_INSTALLED)
    from bot.integrations.agent_server import clone_server  # noqa: PLC0415 -- only where it is installed

    place = trace.record_folder(record) if record else (await trace.opened(settings, None)).record
    fixed = trace.items_at(settings, place, revision)
    newest = NewestItems(partial(files_at_tip, place), lambda _: trace.items_at(settings, place))

    def items() -> AgreedItems:
        return fixed if revision else newest()

    async def reasons(path: str, line: int) -> Sequence[ShownReason]:
        clone = await trace.opened(settings, place)
        return await trace.reasons(clone._replace(items=items()), f"{path}:{line}" if line else path)

    return clone_server(items, reasons, version=release().version)
