"""
The start of a bot without a model: its cast is made, and no library for models is imported.

Floor: the same where none of them is installed. So the modules are the same ones, and their number is: ≤ 1×.
"""

import asyncio
import json
import sys

from bench.children import ROOT
from bench.harness import NO_GOAL, Figures, Goal, Plan, Row, share

LIBRARIES = (
    "anthropic",
    "boto3",
    "botocore",
    "genai_prices",
    "google.genai",
    "httpx2",
    "openai",
    "pydantic_ai",
)
SCRIPT = """
import asyncio, json, sys, time

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name in {absent}:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Absent())
from bot import app
from bot.cli import check, main as cli
from bot.cast import opened_speakers
from bot.settings import Settings

async def main():
    settings = Settings.from_env({{"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k"}})
    async with opened_speakers(settings, app.playbook(settings), str, evidence=app.evidence(settings)):
        pass

asyncio.run(main())
found = [name for name in {libraries} if name in sys.modules]
print(json.dumps({{"cpu": time.process_time() * 1000, "modules": len(sys.modules), "of models": len(found)}}))
"""
WHAT, FLOOR = "start of an offline bot", "the same without any library for models"


async def rows(plan: Plan) -> list[Row]:
    started, bare = await _started(()), await _started(LIBRARIES)
    assert not started["of models"], "a bot without a model has no use for them"
    ours, floor, goal = started["modules"], bare["modules"], Goal(at_most=1.0)
    modules = share(WHAT, "modules", "loaded", FLOOR, ours=ours, floor=floor, goal=goal)

    async def ours_again() -> Figures:
        return await _started(())

    async def floor_again() -> Figures:
        return await _started(LIBRARIES)

    timed = await plan.compare(
        WHAT, floor_is=FLOOR, floor=floor_again, ours=ours_again, goals={"cpu": NO_GOAL}
    )
    return [modules, *timed]


async def _started(absent: tuple[str, ...]) -> Figures:
    script = SCRIPT.format(absent=absent, libraries=LIBRARIES)
    running = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    said, _ = await running.communicate()
    assert running.returncode == 0, "it starts where none of them is installed"
    figures: Figures = json.loads(said)
    return figures
