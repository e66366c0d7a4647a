"""
The oracle: whatever a test did to a bot, the records it left behind hold.

Nothing of the bot is asked: what is on the disk and in git is replayed, as `roundtable replay --verify` does it.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from bot.cli.replay import made_with, verified
from bot.domain.item.item_paths import META, SHARED, TRANSCRIPT
from bot.domain.transcript import verify
from bot.domain.transcript.fold import fold
from bot.domain.transcript.lines import parse
from bot.domain.transcript.state import State
from bot.record.verify import RecordedItem
from tests.all_steps import shipped_playbook

ITEMS = "docs/requirements"


def items(root: Path) -> list[RecordedItem]:
    """Every item of every workspace that is anywhere in *root*."""
    found = sorted(root.glob(f"**/{ITEMS}/*/{TRANSCRIPT}"))
    folders = [transcript.parents[1] for transcript in found]
    return [RecordedItem(folder, folder / TRANSCRIPT, folder.parents[2] / SHARED) for folder in folders]


def unlike(root: Path, steps: str = "") -> list[str]:
    """
    What is not as the records have it, or was not compared, with the item before it. The bot had the shipped steps, or
    those in the folder *steps*: what a section shows follows from them.
    """
    known = (shipped_playbook(steps=steps), shipped_playbook())
    found = list[str]()
    for one in items(root):
        playbook = next((playbook for playbook in known if not any(made_with(one, playbook))), known[0])
        wrong = (*verified(one, playbook=playbook), *made_with(one, playbook))
        found += [f"{one.slug}: {sentence}" for sentence in wrong]
    return found


def apart(files: Mapping[str, bytes]) -> Iterator[str]:
    """The same for an item that is in no folder, and in no git."""
    if TRANSCRIPT not in files or META not in files:
        return
    state = replayed(files[TRANSCRIPT])
    yield from (f"replayed, line {flaw.number} {flaw.sentence}" for flaw in state.flaws)
    yield from (f"meta.json: {wrong.sentence}" for wrong in verify.meta_compared(files[META], state.progress))
    known = {one.marker: one.text for one in state.concluded if one.marker}
    for name, content in files.items():
        if name.endswith(".md"):
            for wrong in verify.sections_compared(name, content.decode(), known, foreign=False):
                yield f"{name}: {wrong.sentence}"


@lru_cache(maxsize=2_000)
def replayed(content: bytes) -> State:
    return fold(enumerate(map(parse, content.splitlines()), start=1))
