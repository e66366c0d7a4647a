"""
Opening all items of a commit for other tools, and showing one entry after that.

The floor reads the same files from git and decodes each `specification.json`. The goals are four times as long, and
1.5 s of the processor for 200 items with 20,000 entries.
"""

import gc
import json
from collections.abc import Callable
from pathlib import Path
from time import process_time

from bench.harness import NO_GOAL, Figures, Goal, Plan, Row, Run, main, share
from bench.seals import SEALER, said
from bench.workspaces import ITEMS_DIR, git
from bot.cli.main import GARBAGE
from bot.domain.specification.snapshot import HASH, folded, hash_of, text_of
from bot.files import TRANSCRIPT_BYTES
from bot.integrations.agreed import AgreedItem, AgreedItems
from bot.storage.git.tree import files_at_tip
from tests.specification.meeting import SCHEMA

ITEMS, QUICK_ITEMS = 200, 3
ENTRIES = 100
"""Of an item, each in a line of its own."""
SECONDS, GOAL_IS = 1.5, "the seconds that it may take"
READ = "reading the files and decoding them"


async def measure(plan: Plan) -> list[Row]:
    gc.set_threshold(*GARBAGE)  # as the command does
    number, root = plan.size(ITEMS, QUICK_ITEMS), plan.folder / "workspace"
    slugs = [f"item-{at:03}" for at in range(number)]
    written(root, slugs)
    what = f"opening {number} items with {number * ENTRIES:,} entries"
    opening = await plan.compare(
        what,
        floor_is=READ,
        floor=timed(lambda: decoded(root, slugs)),
        ours=timed(lambda: opened(root)),
        goals={"time": Goal(at_most=4.0)},
        unit="s",
    )
    waited = (one.ours for one in opening)
    return [
        *opening,
        *(share(what, "time", "s", GOAL_IS, ours=one, floor=SECONDS, goal=Goal(at_most=1)) for one in waited),
        *await plan.compare(
            "opening an item and showing one entry",
            floor_is=READ,
            floor=timed(lambda: decoded(root, slugs[:1])),
            ours=timed(lambda: reader(root).show(f"{slugs[0]}/FR-001")),
            goals={"time": NO_GOAL},
            unit="s",
        ),
    ]


def timed(work: Callable[[], object]) -> Run:
    """By the processor's time: nothing is waited for."""

    async def run() -> Figures:
        began = process_time()
        work()
        return {"time": process_time() - began}

    return run


def opened(root: Path) -> list[AgreedItem]:
    known = reader(root)
    return [known.item(slug) for slug in known.slugs]


def reader(root: Path) -> AgreedItems:
    files = files_at_tip(root)
    return AgreedItems(files, items_dir=ITEMS_DIR, schema=SCHEMA, trusted=SEALER.trusted)


def decoded(root: Path, slugs: list[str]) -> list[object]:
    files = files_at_tip(root)
    found = []
    for slug in slugs:
        folder = f"{ITEMS_DIR}/{slug}"
        assert files.read(f"{folder}/planning/meeting.jsonl", TRANSCRIPT_BYTES)
        found.append(json.loads(files.read(f"{folder}/specification.json", TRANSCRIPT_BYTES) or b""))
    return found


def written(root: Path, slugs: list[str]) -> None:
    """Each item as the bot commits it: the last line has the digest of the file."""
    lines = [said(at) for at in range(1, ENTRIES + 1)]
    text = text_of(folded(lines).specification, {})
    last = lines[-1].but(meta={**lines[-1].meta, HASH: hash_of(text)})
    content = SEALER.append(b"", [*lines[:-1], last])
    for slug in slugs:
        folder = root / ITEMS_DIR / slug
        (folder / "planning").mkdir(parents=True)
        (folder / "planning/meeting.jsonl").write_bytes(content)
        (folder / "specification.json").write_text(text)
        (folder / "meta.json").write_text('{"description": "An item"}')
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "--all")
    git(root, "commit", "-q", "-m", "theirs")


if __name__ == "__main__":
    main("agreed", measure)
