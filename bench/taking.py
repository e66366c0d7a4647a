"""
`roundtable run` as a process that owns its team, takes in and saves, and performs no effect.

That isolates the acknowledgement: the effects of the message before would compete with it.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from bot import app
from bot.cli import main
from bot.engine.engine import Engine
from bot.engine.ports import Wake


@asynccontextmanager
async def _owning(
    wake: Wake,
    *engines: Engine[Any, Any],  # noqa: ARG001 -- as in the app
    is_shared: bool,  # noqa: ARG001
) -> AsyncIterator[None]:
    async def pay(slug: str) -> None:
        """What is to be done of *slug* stays in its outbox."""

    owning = asyncio.create_task(wake.run(pay))
    try:
        yield
    finally:
        owning.cancel()
        await asyncio.wait({owning})


if __name__ == "__main__":
    app._running = _owning  # noqa: SLF001 -- the one difference, and no reason for a setting
    main.main()
