"""
The full run: `scripts/durability`. A summary in JSON on stdout, stories of what failed beside it.

    scripts/durability                    all pairs of fates, and 200 kills
    scripts/durability --seed 7           the same with other chances
    scripts/durability --planted          each planted bug, and what catches it
    scripts/durability --only kills       or: scenarios
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import redis

from tests.durability import planted
from tests.durability.campaign import Found, tried
from tests.durability.ordeal import Ordeal
from tests.durability.plan import KINDS_OF_TWO, KINDS_WITH_REMOTE, Plan, Verdict
from tests.durability.simulator import STRETCHES, undisturbed
from tests.redis_server import RedisServer, running_redis_server

KILLS = 200
FEWEST_SCENARIOS = 100_000
FRESH = (4, 6)
"""The runs whose bots are begun from nothing each time, which takes most of their time."""


def main() -> int:
    wishes = argparse.ArgumentParser(prog="scripts/durability")
    wishes.add_argument("--seed", type=int, default=int(time.time()) % 100_000)
    wishes.add_argument("--kills", type=int, default=KILLS)
    wishes.add_argument("--only", choices=("kills", "scenarios"))
    wishes.add_argument("--planted", action="store_true")
    wish = wishes.parse_args()
    _tell(f"seed {wish.seed}")
    if wish.planted:
        found = planted.caught()
        return _summed_up({"planted": found}, wrong=[name for name, by in found.items() if not by])
    summary: dict[str, Any] = {"seed": wish.seed}
    wrong: list[str] = []
    if wish.only != "kills":
        summary["scenarios"] = _scenarios(wrong)
    if wish.only != "scenarios":
        summary["kills"] = _kills(wish.seed, wish.kills, wrong)
    return _summed_up(summary, wrong=wrong)


def _scenarios(wrong: list[str]) -> dict[str, Any]:
    began = time.monotonic()
    longest_first = sorted(STRETCHES, key=lambda stretch: -len(undisturbed(stretch)[-1].seen))
    with ProcessPoolExecutor() as processes:
        found: list[Found] = list(processes.map(tried, longest_first))
    for one in found:
        wrong += one.story.splitlines()
    count = sum(one.scenarios for one in found)
    if count < FEWEST_SCENARIOS:
        wrong.append(f"only {count} scenarios")
    return {
        "count": count,
        "processes_that_died": sum(one.crashes for one in found),
        "by_stretch": {one.stretch: one.scenarios for one in found},
        "seconds": round(time.monotonic() - began),
    }


def _kills(seed: int, kills: int, wrong: list[str]) -> dict[str, Any]:
    began, verdicts = time.monotonic(), []
    with running_redis_server() as server:
        for plan in _plans(seed, kills, server):
            with redis.Redis.from_url(server.url) as client:
                client.flushall()
            verdicts.append(asyncio.run(_lived_through(plan)))
            _tell(f"{_named(plan)}: {verdicts[-1].kills} kills, {verdicts[-1].seconds:.0f} s")
            wrong += [f"{_named(plan)}: {sentence}" for sentence in verdicts[-1].wrong]
    kinds: Counter[str] = sum((verdict.kinds for verdict in verdicts), Counter())
    return {
        "count": sum(verdict.kills for verdict in verdicts),
        "by_kind": dict(kinds),
        "steps_finished": sum(verdict.steps for verdict in verdicts),
        "messages_said": sum(verdict.said for verdict in verdicts),
        "runs": len(verdicts),
        "seconds": round(time.monotonic() - began),
    }


def _plans(seed: int, kills: int, server: RedisServer) -> Iterator[Plan]:
    """
    One process, one with Redis, two with Redis, one whose store forgets, two with a clone each; some of them begun
    from nothing.
    """
    each = 25
    for number in range(-(-kills // each)):
        where = Plan(seed=seed + number, kills=each, meetings=2, fresh=number in FRESH)
        two = replace(where, redis_url=server.url, replicas=2, kinds=KINDS_OF_TWO)
        match number % 5:
            case 0:
                yield where
            case 1:
                yield two
            case 2:
                yield replace(where, redis_url=server.url)
            case 3:
                yield replace(two, flushes=2)
            case _:
                yield replace(two, remote=True, kinds=KINDS_WITH_REMOTE)


async def _lived_through(plan: Plan) -> Verdict:
    with tempfile.TemporaryDirectory(prefix="roundtable-ordeal-") as folder:
        verdict = await Ordeal(plan, Path(folder)).run()
    if verdict.wrong:
        story = Path(tempfile.gettempdir()) / f"roundtable-ordeal-{plan.seed}.txt"
        story.write_text(verdict.story, encoding="utf-8")
        _tell(f"its story is in {story}")
    return verdict


def _named(plan: Plan) -> str:
    store = f"redis, {plan.replicas} processes" if plan.redis_url else "embedded"
    more = {"flushed": plan.flushes, "a clone each": plan.remote, "fresh": plan.fresh}
    return f"seed {plan.seed} ({', '.join((store, *(name for name, is_so in more.items() if is_so)))})"


def _summed_up(summary: dict[str, Any], *, wrong: list[str]) -> int:
    sys.stdout.write(json.dumps({**summary, "wrong": wrong}, indent=2) + "\n")
    return 1 if wrong else 0


def _tell(sentence: str) -> None:
    sys.stderr.write(f"{sentence}\n")


if __name__ == "__main__":
    sys.exit(main())
