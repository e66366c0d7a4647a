"""
Whether a search of code finds the right file, and how long it takes: twelve questions about this repository.

The floor of the time is `git grep` for the same words, which reads all that a search reads.
"""

import asyncio
import subprocess
from time import perf_counter

from bench.children import ROOT
from bench.harness import Figures, Goal, Plan, Row, main, share
from bot.content.playbook import load
from bot.domain.specification.keywords import words_in
from bot.shipped import personas_dir, steps_dir
from bot.storage.git.evidence import GitEvidence

QUESTIONS = {
    "Ed25519 signature of a sealed line": "bot/domain/transcript/seal.py",
    "circuit breaker for a model that fails": "bot/voices/llm/chain.py",
    "lua script that compares the version and saves": "bot/storage/redis.py",
    "hmac of a review that another program posts": "bot/server/review_webhook.py",
    "never follow a symbolic link when opening a file of the workspace": "bot/files.py",
    "convert mrkdwn to markdown": "bot/slack/markdown.py",
    "push rejected, fetch and apply again on the remote": "bot/storage/git/sync.py",
    "which persona is addressed by name": "bot/domain/catalog/personas.py",
    "architecture decision record in MADR form": "bot/domain/specification/adr.py",
    "token bucket burst per second": "bot/slack/pace.py",
    "random secrets patterns.toml rules": "bot/domain/privacy/rules.py",
    "who is a guest in the channel, cached members": "bot/slack/lookup.py",
}
FIRST = 4
WITHIN = ("bot/**", "slack_sandbox/**", "roundtable_eval/**", "tests/**", "docs/**")
"""Not this file, which has the words of every question."""
ITEMS_DIR = "docs/requirements"
FILLER = load(personas_dir(), steps_dir()).schema.operators.tables.filler
GREP = ("git", "grep", "-I", "-i", "-n", "-z", "-F")


async def measure(plan: Plan) -> list[Row]:
    found = sum([path in (await files(question))[:FIRST] for question, path in QUESTIONS.items()])
    timed = await plan.compare(
        f"a search for each of {len(QUESTIONS)} questions",
        floor_is="`git grep` for their words",
        floor=greps,
        ours=searches,
        goals={"mean": Goal(at_most=3)},
    )
    what, goal = f"right file among the first {FIRST} of a search", Goal(at_least=0.83)
    return [share(what, "questions", "", "all", ours=found, floor=len(QUESTIONS), goal=goal), *timed]


async def files(question: str) -> list[str]:
    """Those that lines are shown of, the best first."""
    evidence = GitEvidence(ROOT, ITEMS_DIR)
    found = await evidence.search_code(words_in(question, FILLER), within=WITHIN)
    return list(dict.fromkeys(one.id.partition(":")[0] for one in found if one.id))


async def searches() -> Figures:
    began = perf_counter()
    for question in QUESTIONS:
        await files(question)
    return _mean(began)


async def greps() -> Figures:
    began = perf_counter()
    for question in QUESTIONS:
        named = (part for word in words_in(question, FILLER) for part in ("-e", word))
        await asyncio.to_thread(
            subprocess.run, [*GREP, *named, "HEAD"], cwd=ROOT, stdout=subprocess.PIPE, check=True
        )
    return _mean(began)


def _mean(began: float) -> Figures:
    return {"mean": (perf_counter() - began) * 1000 / len(QUESTIONS)}


if __name__ == "__main__":
    main("code_search", measure)
