"""A process that pays, prints whom, and never ends: `python -m tests.storage.payer URL REDELIVERY_SECONDS`."""

import asyncio
import sys

from bot.storage.tasks import DocketWake


async def pay(slug: str) -> None:
    sys.stdout.write(f"{slug}\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


async def work(url: str, redelivery_seconds: float) -> None:
    async with DocketWake(url, redelivery_seconds=redelivery_seconds, team="T1") as wake:
        await wake.run(pay)


if __name__ == "__main__":
    asyncio.run(work(sys.argv[1], float(sys.argv[2])))
