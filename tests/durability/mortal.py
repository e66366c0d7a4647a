"""One bot process in a sandbox that a test kills at a moment of its choice, and what a team does with it meanwhile."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from tests import stored
from tests.durability.processes import SOON, Nursery, Process, wait_until
from tests.durability.trap import Order, Trap, When
from tests.e2e.meeting import Meeting, environment
from tests.patience import PATIENCE_SECONDS
from tests.ports import free_port


@dataclass
class Mortal:
    """`live` begins a process, also in place of one that died; *env* is what its settings have beside the usual."""

    trap: Trap
    meeting: Meeting
    nursery: Nursery
    folder: Path
    process: Process | None = None
    births: int = 0

    async def live(self, **env: str) -> None:
        self.births += 1
        log = self.folder / f"bot-{self.births}.log"
        ports = {name: str(free_port()) for name in ("ROUNDTABLE_PORT", "ROUNDTABLE_HEALTH_PORT")}
        env = environment(self.trap.slack, self.meeting.workspace, **{**ports, **env})
        self.process = await self.nursery.bear(env, log=log)
        await wait_until(
            lambda: log.exists() and "is listening" in log.read_text(),
            seconds=PATIENCE_SECONDS,
            what=f"a bot that listens ({log})",
        )

    async def at_rest(self) -> None:
        """It has saved what came of all that it did."""
        await wait_until(
            lambda: not stored.in_file(self.meeting.workspace, self.meeting.slug)["outbox"],
            seconds=PATIENCE_SECONDS,
            what="an empty outbox",
        )

    async def die(self) -> None:
        """By SIGKILL, now."""
        assert self.process
        self.process.kill()
        await self.dead()

    def dies_at(self, method: str, *, when: When = When.BEFORE, text: str = "") -> None:
        """It will be killed at its next call of *method*, with *text* in it; `dead` waits for that."""

        def strike(_host: str) -> None:
            assert self.process
            self.process.kill()

        self.trap.arm(Order(when=when, nth=0, strike=strike, methods=frozenset({method}), text=text))

    async def dead(self) -> None:
        assert self.process
        assert await asyncio.wait_for(asyncio.shield(self.process.ended), PATIENCE_SECONDS) == -signal.SIGKILL


@asynccontextmanager
async def mortal(folder: Path, *planted: str) -> AsyncIterator[Mortal]:
    trap = Trap()
    # in this order no bot is left that connects to a Slack that ends
    async with trap.slack as slack, Nursery((SOON, *planted)) as nursery:
        yield Mortal(trap, Meeting(slack, folder / "workspace"), nursery, folder)
