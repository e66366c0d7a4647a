"""
5,000 open roundtables in one process: what each costs in memory, and what an acknowledgement takes then.

Floor of the memory: the stored JSON of one. A roundtable counts as open once the process has taken a message for it;
its effects are left undone, as in `bench.taking`. Goal: ≤ 3×. Beside it, acknowledgements as in
`bench.acknowledge`, by the process that has taken all of these.
"""

from pathlib import Path

from bench import seeds
from bench.acknowledge import KINDS, acknowledged, beside, first_messages
from bench.canned import CannedSlack
from bench.children import BOT_APP
from bench.harness import Goal, Plan, Row, main, share
from bench.load import closed_loop
from tests.redis_server import running_redis_server

OPEN = 5_000
WARM = 500
AT_ONCE = 16
KIB = 1024


async def measure(plan: Plan) -> list[Row]:
    number, warm = plan.size(OPEN, 20), plan.size(WARM, 5)
    what = f"{number:,} open roundtables"
    with running_redis_server() as redis:
        async with (
            CannedSlack() as slack,
            beside(plan, slack, redis.url, http=True, module="bench.taking") as both,
        ):
            async with both.people(BOT_APP, AT_ONCE) as send:
                await closed_loop(send, (await first_messages(both.store, warm)).payloads)
                before = resident(both.bot_process)
                await closed_loop(send, (await first_messages(both.store, number)).payloads)
                grown = resident(both.bot_process) - before
            one = len(seeds.discussing().model_dump_json().encode())
            rows = [
                share(
                    f"{what}: memory of each",
                    "RSS",
                    "KiB",
                    "its stored JSON",
                    ours=grown / number / KIB,
                    floor=one / KIB,
                    goal=Goal(at_most=3.0),
                )
            ]
            return rows + await acknowledged(plan, both, f"{what}, HTTP", kinds=KINDS[:1])


def resident(process: int) -> int:
    """Bytes in memory, as Linux tells."""
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    line = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) * KIB


if __name__ == "__main__":
    main("memory", measure)
