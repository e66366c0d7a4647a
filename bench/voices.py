"""
CPU of one thought of a model that answers at once.

Floor: the same call by the provider's own client, with the same prompt, bare. Goal: ≤ 1.5×. Ours is on top of it what
the bot needs: chain, circuit, a place among the calls at once, a deadline, the mapping of prompt, usage and price.

And what does not depend on a model at all: how long prompts become, what a meeting takes, and what a bot loads
without a model.
"""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from anthropic import AsyncAnthropic
from anthropic.types import TextBlockParam
from openai import AsyncOpenAI

from bench import offline_start, prompt_size
from bench.children import ROOT
from bench.harness import Figures, Goal, Plan, Row, main
from bot.settings import Settings
from bot.voices.llm.models import model_registry
from bot.voices.model import Prompt

TOKENS = 600
KEY = "bench"
PROMPT = Prompt(
    ("You are Maya Chen. " * 60, "The rules of the table. " * 100, "The step and its files. " * 120),
    "Sam said: it is slow. " * 20,
)
CLAUDE, OWN = "anthropic:claude-sonnet-5", "openai:instant"

Call = Callable[[], Awaitable[object]]


async def measure(plan: Plan) -> list[Row]:
    calls = plan.size(300, 20)
    rows = [
        *prompt_size.rows(),
        *await prompt_size.meeting_rows(plan.folder),
        *await offline_start.rows(plan),
    ]
    async with _instant_model() as url:
        openai = AsyncOpenAI(api_key=KEY, base_url=f"{url}/v1", max_retries=0)
        anthropic = AsyncAnthropic(api_key=KEY, base_url=url, max_retries=0)
        async with openai, anthropic:
            for model, bare in ((OWN, _bare_openai(openai)), (CLAUDE, _bare_anthropic(anthropic))):
                rows += await _compared(plan, model, bare, url=url, calls=calls)
    return rows


async def _compared(plan: Plan, model: str, bare: Call, *, url: str, calls: int) -> list[Row]:
    keys = Settings.from_env({
        "OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{url}/v1", "ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": url
    })  # fmt: skip
    async with model_registry(model, keys, seconds=60, calls=8) as found:
        mind = found.of()
        assert mind

        async def ours() -> object:
            return await mind.think(PROMPT, seconds=30, tokens=TOKENS)

        await ours()  # which waits for the libraries
        provider = model.partition(":")[0]
        return await plan.compare(
            f"a thought, {provider}",
            floor_is=f"{provider}'s own client",
            floor=lambda: _cpu(bare, calls),
            ours=lambda: _cpu(ours, calls),
            goals={"cpu": Goal(at_most=1.5)},
        )


async def _cpu(call: Call, times: int) -> Figures:
    """Milliseconds a call, of this process; the model is in another one."""
    began = time.process_time()
    for _ in range(times):
        await call()
    return {"cpu": (time.process_time() - began) * 1000 / times}


def _bare_openai(client: AsyncOpenAI) -> Call:
    async def call() -> object:
        return await client.chat.completions.create(
            model="instant",
            messages=[
                {"role": "system", "content": PROMPT.stable[0]},
                {"role": "user", "content": "\n\n".join((*PROMPT.stable[1:], PROMPT.moving))},
            ],
            max_completion_tokens=TOKENS,
        )

    return call


def _bare_anthropic(client: AsyncAnthropic) -> Call:
    stable: list[TextBlockParam] = [
        {"type": "text", "text": text, "cache_control": {"type": "ephemeral"}} for text in PROMPT.stable
    ]
    content: list[TextBlockParam] = [*stable[1:], {"type": "text", "text": PROMPT.moving}]

    async def call() -> object:
        return await client.messages.create(
            model="claude-sonnet-5",
            system=stable[:1],
            messages=[{"role": "user", "content": content}],
            max_tokens=TOKENS,
        )

    return call


@asynccontextmanager
async def _instant_model() -> AsyncIterator[str]:
    running = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.instant_model", cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    try:
        assert running.stdout
        yield f"http://127.0.0.1:{int(await running.stdout.readline())}"
    finally:
        running.kill()
        await running.wait()


if __name__ == "__main__":
    main("voices", measure)
