"""
`roundtable run` as a replica that takes in and saves, and leaves all effects to other replicas.

That isolates the acknowledgement: in one process, the effects of the message before would compete with it.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from bot import app
from bot.cli import main
from bot.engine.engine import Engine
from bot.engine.ports import Wake


@asynccontextmanager
async def _others_pay(
    wake: Wake,  # noqa: ARG001 -- as in the app
    *engines: Engine[Any, Any],  # noqa: ARG001
    is_shared: bool,  # noqa: ARG001
) -> AsyncIterator[None]:
    yield


if __name__ == "__main__":
    app._running = _others_pay  # noqa: SLF001 -- the one difference, and no reason for a setting
    main.main()
