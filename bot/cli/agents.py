"""`roundtable mcp`: the record for coding agents, from git alone, over standard input and output."""

from collections.abc import Sequence
from pathlib import Path

from bot.cli import trace
from bot.content import mcp
from bot.errors import ConfigError
from bot.integrations.agreed import AgreedItems
from bot.integrations.trace import ShownReason
from bot.settings import Settings
from bot.shipped import release

NOT_INSTALLED = "roundtable mcp needs the extra mcp: pip install '.[mcp]'"


async def serve(settings: Settings, record: Path | None, revision: str) -> None:
    """Until the client leaves. Without *revision*, a new commit is seen by the next call. Raises BotError."""
    if not mcp.is_installed():
        raise ConfigError(NOT_INSTALLED)
    from bot.integrations.agent_server import clone_server  # noqa: PLC0415 -- only where it is installed

    place = trace.record_folder(record) if record else (await trace.opened(settings, None)).record
    first = trace.items_at(settings, place, revision)

    def items() -> AgreedItems:
        return first if revision else trace.items_at(settings, place)

    async def reasons(path: str, line: int) -> Sequence[ShownReason]:
        clone = await trace.opened(settings, place)
        return await trace.reasons(clone._replace(items=items()), f"{path}:{line}" if line else path)

    await clone_server(items, reasons, version=release().version).run_stdio_async()
