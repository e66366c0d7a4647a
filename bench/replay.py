"""
Replaying a record of 100,000 lines, and its page in a browser.

The floor reads the file and decodes every line with the standard library. The goal is at least half of its lines
per second. The page of 10,000 lines is compared with an empty page of the same size.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter, process_time

from playwright.async_api import Browser, async_playwright

from bench import seeds
from bench.harness import NO_GOAL, Figures, Goal, Plan, Row, Run, main
from bot.cli.replay import written
from bot.domain.messages.message import Action
from bot.domain.roundtable.stage import Stage
from bot.domain.transcript.lines import Line
from bot.record.reading import Transcript, replay
from bot.record.verify import RecordedItem
from tests.domain.table import Table

LINES, QUICK_LINES = 100_000, 2_000
PAGE_LINES, QUICK_PAGE_LINES = 10_000, 200
STEPS_PLAYED = 9
KEPT = "reading and decoding it with the standard library"
EMPTY = "a page of the same size with nothing in it"
CALL = {
    "provider": "acme",
    "model": "m-1",
    "tokens_in": 1200,
    "tokens_out": 300,
    "cost": 0.01,
    "seconds": 2.5,
}
QUIET = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update")
FILTER = """async () => {
    const began = performance.now();
    document.querySelector('[name=who]').click();
    await new Promise(requestAnimationFrame);
    return performance.now() - began;
}"""


async def measure(plan: Plan) -> list[Row]:
    file = plan.folder / "meeting.jsonl"
    number = plan.size(LINES, QUICK_LINES)
    write(file, number)
    rows = await plan.compare(
        f"replay of {number:,} lines",
        floor_is=KEPT,
        floor=speed(kept, file, number),
        ours=speed(replayed, file, number),
        goals={"speed": Goal(at_least=0.5)},
        unit="lines/ms",
    )
    return [*rows, *await page(plan)]


def speed(work: Callable[[Path], object], file: Path, number: int) -> Run:
    """By the processor's time: reading waits for nothing else."""

    async def run() -> Figures:
        began = process_time()
        work(file)
        return {"speed": number / (process_time() - began) / 1000}

    return run


def kept(file: Path) -> object:
    return [json.loads(row) for row in file.read_bytes().splitlines()]


def replayed(file: Path) -> object:
    return replay(Transcript(file.read_bytes()))


# --- the page -----------------------------------------------------------------------------------------------------


async def page(plan: Plan) -> list[Row]:
    number = plan.size(PAGE_LINES, QUICK_PAGE_LINES)
    record, full, empty = (plan.folder / name for name in ("page.jsonl", "full.html", "empty.html"))
    write(record, number)
    written(RecordedItem(plan.folder, record), full)
    padding = "x" * (full.stat().st_size - 100)
    empty.write_text(f"<!doctype html><title>Empty</title><button name=who></button><!-- {padding} -->")
    async with async_playwright() as playwright:
        command = os.environ.get("CHROMIUM") or shutil.which("chromium")
        browser = await playwright.chromium.launch(executable_path=command, args=QUIET)
        ours, floor = opened(browser, full), opened(browser, empty)
        rows = await plan.compare(
            f"page of {number:,} lines",
            floor_is=EMPTY,
            floor=floor,
            ours=ours,
            goals={"opened": NO_GOAL, "filtered": NO_GOAL},
        )
        await browser.close()
    return rows


def opened(browser: Browser, file: Path) -> Run:
    """Until it can be used, and from a press of a filter to the next frame."""

    async def run() -> Figures:
        tab = await browser.new_page()
        began = perf_counter()
        await tab.goto(file.as_uri())
        seconds = perf_counter() - began
        filtered: float = await tab.evaluate(FILTER)
        await tab.close()
        return {"opened": seconds * 1000, "filtered": filtered}

    return run


# --- records ------------------------------------------------------------------------------------------------------


def write(file: Path, number: int) -> None:
    """A meeting like ours, again and again: rounds and times go on, and nothing is said twice."""
    with file.open("w", encoding="utf-8") as rows:
        rows.writelines(f"{line.as_json()}\n" for line in meeting(number))


def meeting(number: int) -> Iterator[Line]:
    played, chance = spoken(), seeds.chance(1)
    for at in range(number):
        line, again = played[at % len(played)], at // len(played)
        yield line.but(
            ts=f"2026-01-{1 + at // 86400:02}T{at // 3600 % 24:02}:{at // 60 % 60:02}:{at % 60:02}.000Z",
            round=line.round + again * (played[-1].round + 1),
            content=f"{line.content[:40]} {seeds.prose(chance, words=30)}",
            meta={**line.meta, "message_id": f"{line.message_id}.{again}"},
        )


def spoken() -> tuple[Line, ...]:
    """Nine steps, every other one discussed, answered by three people, with the calls of a model recorded."""
    table = Table().start()
    table.world.facts = CALL
    for step in range(STEPS_PLAYED):
        for who, answer in zip(("ada", "grace", "linus"), seeds.ANSWERS, strict=True):
            table.wait(200).say(answer, who=who)
        table.press(Action.FINISH_STEP)
        if step % 2:
            table.press(Action.ELABORATE).say(seeds.TO_ONE_PERSONA).press(Action.GO_ON).say("done")
        table.press_continue()
        if table.rt.stage is Stage.AT_BOUNDARY:
            table.press_continue()
    return table.lines


if __name__ == "__main__":
    main("replay", measure)
