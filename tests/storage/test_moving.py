"""A roundtable that moves between clones: any process takes any event, and each has its own copy of the files."""

import asyncio
from pathlib import Path

import pytest

from bot.domain.item.artifacts import ItemsEdit
from bot.domain.item.meta import MetaChange
from bot.domain.roundtable.outcomes import CommitResult
from bot.storage.git.sync import Sync, SyncResult
from tests import transcripts
from tests.patience import PATIENCE_SECONDS
from tests.sealing import SEAL
from tests.storage.checkout import Git
from tests.storage.clones import TRANSCRIPT, Opening, Replica, assert_at_one, at_work, subjects
from tests.storage.samples import NOW, SLUG, a_commit, a_line, a_section, state_of

CREATED = {
    "source": "github",
    "source_id": "42",
    "slug": SLUG,
    "created_at": NOW,
    "description": "Too bright",
}
STEPS = 4


def a_step(number: int, **fields: object) -> dict[str, object]:
    """What is committed of one step: its section, its story, its two lines."""
    at = f"2026-11-21T10:0{number}:00.000Z"
    lines = tuple(a_line(f"{number}.{part}", ts=at, round=number) for part in ("a", "b"))
    edits = (
        a_section(f"about {number}", heading=f"{number}. Topic"),
        ItemsEdit(path="user-stories.json", items=({"id": f"US-{number}", "title": f"story {number}"},)),
    )
    change = MetaChange(steps=(f"01-{number:02}",), created=CREATED if number == 1 else None)
    return {"lines": lines, "edits": edits, "change": change} | fields


async def step(replica: Replica, number: int) -> CommitResult:
    now = f"2026-11-21T10:0{number}:30.000Z"
    return await replica.workspace.commit(SLUG, a_commit(number, **a_step(number)), now=now)


async def assert_whole(replica: Replica, steps: int, *, apart: bool = False) -> None:
    """All of it is there, and the record in the order in which it happened, unless clones went on *apart*."""
    numbers = range(1, steps + 1)
    state = await state_of(replica.workspace)
    assert sorted(state.meta.steps_completed) == [f"01-{number:02}" for number in numbers]
    assert (state.meta.source, state.meta.source_id, state.meta.created_at) == ("github", "42", NOW)
    assert state.meta.description == "Too bright"
    read = transcripts.read((replica.git.root / TRANSCRIPT).read_bytes())
    found, wanted = (
        [line.message_id for line in read.lines],
        [f"{n}.{p}" for n in numbers for p in ("a", "b")],
    )
    assert (sorted(found) if apart else found) == wanted
    rounds = [line.round for line in read.lines]
    assert rounds == sorted(rounds)
    assert apart or rounds == [number for number in numbers for _ in range(2)]
    assert read.flaws == ()
    folder = replica.git.root / "docs/requirements" / SLUG
    specification, stories = (
        (folder / name).read_text() for name in ("requirements-spec.md", "user-stories.json")
    )
    for number in numbers:
        assert f"## {number}. Topic" in specification
        assert f'"US-{number}"' in stories


@pytest.fixture
def roots(tmp_path: Path) -> tuple[Path, Path]:
    return tmp_path / "one", tmp_path / "two"


@pytest.mark.usefixtures("person")
async def test_who_goes_on_has_what_the_other_did(remote: Git, roots: tuple[Path, Path]) -> None:
    """A step that is done is at the remote, and the remote is looked at before the next one is worked on."""
    async with (
        at_work(roots[0], str(remote.root)) as one,
        at_work(roots[1], str(remote.root)) as two,
    ):
        for number in range(1, STEPS + 1):
            receipt = await step((one, two)[number % 2], number)
            assert len(receipt.state.meta.steps_completed) == number
            assert receipt.troubles == () or number == 1

        await assert_whole(one, STEPS)
        await assert_whole(two, STEPS)
    assert len(subjects(remote)) == STEPS + 1


@pytest.mark.usefixtures("person")
@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("known", [0, 2], ids=["new to the other", "known to both"])
async def test_steps_that_went_on_without_each_other_are_one_item_in_the_end(
    remote: Git, open_replica: Opening, first: int, known: int
) -> None:
    """The remote was away meanwhile, and whoever came last to it put it together, whatever the order."""
    async with open_replica("one") as one, open_replica("two") as two:
        await one.sync.once()
        for number in range(1, known + 1):
            await step(one, number)
        await one.sync.once()
        await two.sync.once()
        for number in range(known + 1, STEPS + 1):
            await step((one, two)[number > known + 1], number)

        order = (one, two) if first == 0 else (two, one)
        for replica in (*order, order[0]):
            assert await replica.sync.once() in {SyncResult.PUSHED, SyncResult.NOTHING}

        await assert_whole(one, STEPS, apart=True)
        await assert_whole(two, STEPS, apart=True)
        assert len(subjects(remote)) == STEPS + 1
        assert_at_one(remote, one.git, two.git)


async def test_nobody_waits_for_a_remote_that_is_away(remote: Git, roots: tuple[Path, Path]) -> None:
    """Once is enough to know; work goes on, and is pushed later."""
    async with at_work(roots[0], str(remote.root.with_name("away"))) as replica:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await replica.sync.abreast(seconds=600)
        await replica.commit()

        assert len(replica.git.subjects) == 1


async def test_a_remote_that_is_slow_is_not_waited_for_long(
    roots: tuple[Path, Path], silent_redis_url: str
) -> None:
    """It accepts a connection, and says nothing."""
    sync = Sync(roots[0], remote=silent_redis_url.replace("redis://", "git://"), seal=SEAL)
    async with asyncio.timeout(PATIENCE_SECONDS):
        running = asyncio.create_task(sync.run())
        await sync.abreast(seconds=0.1)
        running.cancel()
        await asyncio.wait({running})


@pytest.mark.usefixtures("person")
async def test_all_who_ask_at_once_are_answered_by_one_look(remote: Git, roots: tuple[Path, Path]) -> None:
    """Many items that go on together cost no more than one."""
    program, log = roots[0].with_name("upload-pack"), roots[0].with_name("log")
    program.write_text(f'#!/bin/sh\necho >> {log}\nexec git-upload-pack "$@"\n')
    program.chmod(0o755)
    git = Git(roots[0])
    git.begin()
    git("remote", "add", "hub", str(remote.root))
    git("config", "remote.hub.uploadpack", str(program))
    async with at_work(roots[0], "hub") as replica:
        before = len(log.read_text())

        await asyncio.gather(*(replica.sync.abreast(seconds=600) for _ in range(50)))

        assert len(log.read_text()) - before <= 2


@pytest.mark.usefixtures("person")
@pytest.mark.parametrize("known", [0, 1])
@pytest.mark.parametrize("further", [0, 1])
async def test_what_a_kill_left_here_and_another_has_committed_is_in_nobodys_way(
    remote: Git, roots: tuple[Path, Path], known: int, further: int
) -> None:
    """Of a new item or an old one, and whether the other went on after it; what a person is writing stays."""
    for root in roots:
        async with at_work(root, str(remote.root)) as replica:
            for number in range(1, known + 1):
                await step(replica, number)
    async with at_work(roots[1], str(remote.root)) as other:
        await step(other, known + 1)
        left = {path: (other.git.root / path).read_bytes() for path in other.git("ls-files", "docs").split()}
        for number in range(known + 2, known + 2 + further):
            await step(other, number)
    here = Git(roots[0])
    for path, content in left.items():
        (here.root / path).parent.mkdir(parents=True, exist_ok=True)
        (here.root / path).write_bytes(content)
    here.write("src/app.py", "mine()\n")

    async with at_work(roots[0], str(remote.root)) as one:
        await assert_whole(one, known + 1 + further)
        assert here("rev-parse", "HEAD") == remote("rev-parse", "main")
        assert here.status == [" M src/app.py"]
