"""Meetings that were held at the table of the domain's tests, in a real folder and a real repository."""

import asyncio
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.steps import Depth
from bot.domain.item.item_paths import TRANSCRIPT
from bot.domain.messages.message import Action
from bot.record.reading import Transcript
from bot.record.verify import RecordedItem, differences
from bot.storage.git.history import versions
from bot.storage.git.workspace import GitWorkspace
from tests.domain.books import thinking
from tests.domain.table import Table, played_once, shipped
from tests.sealing import SEAL

ITEMS = "docs/requirements"
_FOLDER = TemporaryDirectory()
Play = Callable[[], Table]
CALL = {
    "provider": "acme",
    "model": "m-1",
    "tokens_in": 1200,
    "tokens_out": 300,
    "cost": 0.01,
    "seconds": 2.5,
}


def record_at(path: Path) -> Transcript:
    return Transcript(path.read_bytes())


@played_once
def an_evening() -> Table:
    """Two discussions, a phase that is over, a depth that was changed."""
    return hold_an_evening(Table(thinking(shipped())))


def hold_an_evening(table: Table) -> Table:
    table.start()
    table.world.facts = CALL
    table.say("Field workers lose their edits.").say("Photos, too.", who="grace").press(Action.FINISH_STEP)
    table.press(Action.ELABORATE).say("Jordan, what does one see?", who="grace").say("done")
    table.press_continue().through("00-03").press_continue().depth(Depth.DEEP)
    table.elaborate().press(Action.GO_ON).say("We keep it.").say("done").press_continue()
    return table.say("An answer to the next question.").stop()


def written(table: Table, root: Path) -> RecordedItem:
    """What the meeting left behind, without git."""
    folder = root / ITEMS / table.rt.slug
    assert table.world.meta
    snapshots = [work.snapshot for work in table.world.commits if work.snapshot]
    files = dict(table.world.files)
    if snapshots:
        files["specification.json"] = snapshots[-1]
    for name, text in {**files, "meta.json": table.world.meta.decode()}.items():
        path = root / name if name.startswith("docs/") else folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    transcript = folder / TRANSCRIPT
    transcript.parent.mkdir(parents=True, exist_ok=True)
    transcript.write_bytes(table.world.meeting)
    return RecordedItem(folder, transcript)


def committed(table: Table, root: Path) -> RecordedItem:
    """The same commits that the meeting made, by the workspace."""

    async def commit_all() -> None:
        async with GitWorkspace(root, seal=SEAL) as workspace:
            for work in table.world.commits:
                await workspace.commit(table.rt.slug, work, now=table.rt.now)

    with ThreadPoolExecutor(1) as thread:  # a test may have a loop of its own
        thread.submit(asyncio.run, commit_all()).result()
    return _item(root, table.rt.slug)


def evening_in(root: Path) -> RecordedItem:
    return copied(an_evening, root)


def copied(play: Play, root: Path) -> RecordedItem:
    """What a meeting left in a repository. It is held once in a test process, and then copied."""
    made, slug = _held(play)
    shutil.copytree(made, root, dirs_exist_ok=True)
    return _item(root, slug)


@cache
def _held(play: Play) -> tuple[Path, str]:
    root, table = Path(mkdtemp(dir=_FOLDER.name)), play()
    committed(table, root)
    return root, table.rt.slug


def found(item: RecordedItem, playbook: Playbook | None = None) -> list[str]:
    """In which its files and its history differ from what its lines say."""
    return [str(one) for one in differences(item, tuple(versions(item.folder)), playbook=playbook)]


def _item(root: Path, slug: str) -> RecordedItem:
    folder = root / ITEMS / slug
    return RecordedItem(folder, folder / TRANSCRIPT, root / "docs/common/nfr-matrix.md")
