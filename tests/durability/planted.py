"""Every planted bug, and what catches it: the simulator, bots that are killed, or a clock."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.durability import plants
from tests.durability.ordeal import Ordeal
from tests.durability.plan import ACKED, API, LOCKS, WRITE, Plan
from tests.durability.stall import seconds_to_acknowledge
from tests.durability.trap import When

ACKNOWLEDGED_SECONDS = 1.0
SEEDS = (1, 2, 3, 4)

ORDEALS: Mapping[str, dict[str, Any]] = {
    "sdk-retries": {"kinds": (API,), "lost_answers": 1.0, "kills": 4},
    "ack-before-save": {"kinds": (ACKED,), "kills": 8},
    "never-again": {"kinds": (API,), "moments": (When.DURING,), "kills": 6},
    "no-lock-cleanup": {"kinds": (LOCKS,), "kills": 3},
    "torn-files": {"kinds": (WRITE,), "kills": 10},
}


def caught() -> dict[str, str]:
    """What was wrong first, for each; empty for a bug that nobody noticed."""
    found = {
        name: f"simulator: {wrong}" if (wrong := plants.caught_by_simulator(name)) else ""
        for name in plants.SIMULATED
    }
    for name in plants.PROCESS:
        found[name] = asyncio.run(_by_processes(name))
    return found


async def _by_processes(name: str) -> str:
    if name not in ORDEALS:
        return await _in_temporary(partial(_too_slow, name))
    for seed in SEEDS:
        plan = Plan(seed=seed, planted=(name,), **ORDEALS[name])
        if wrong := await _in_temporary(partial(_wrong, plan)):
            return wrong
    return ""


async def _wrong(plan: Plan, folder: Path) -> str:
    verdict = await Ordeal(plan, folder).run()
    return f"killed processes: {verdict.wrong[0]} (seed {plan.seed})" if verdict.wrong else ""


async def _too_slow(name: str, folder: Path) -> str:
    seconds = await seconds_to_acknowledge(folder, name)
    return f"stall: acknowledged after {seconds:.1f} s" if seconds > ACKNOWLEDGED_SECONDS else ""


async def _in_temporary(work: Callable[[Path], Coroutine[Any, Any, str]]) -> str:
    with TemporaryDirectory(prefix="roundtable-planted-") as folder:
        return await work(Path(folder))
