"""A file that was changed here and at the remote: nothing of either side is lost, and those concerned are told."""

import json
import logging

import pytest

from bot.cli import replay
from bot.domain.item.artifacts import SHARED, Edit, ItemsEdit, RowsEdit
from bot.domain.transcript.lines import read
from bot.domain.transcript.witness import witness
from bot.record.verify import RecordedItem
from bot.storage.git.sync import SyncResult
from tests.storage.checkout import Git
from tests.storage.clones import (
    ITEM,
    SPEC,
    TRANSCRIPT,
    Opening,
    Replica,
    Told,
    assert_at_one,
    copied,
    pushed_by_hand,
)
from tests.storage.samples import SLUG, a_commit, a_section

STORIES = f"{ITEM}/user-stories.json"
RISKS = f"{ITEM}/risks.csv"
OTHER = "quiet-morning"


def stories(**titles: str) -> ItemsEdit:
    items = tuple({"id": name, "title": title, "priority": "must"} for name, title in titles.items())
    return ItemsEdit(path="user-stories.json", items=items)


def risks(*rows: tuple[str, ...]) -> RowsEdit:
    return RowsEdit(path="risks.csv", columns=("Risk", "Impact"), rows=rows)


def quality(item: str, text: str) -> Edit:
    return a_section(text, path="nfr-matrix.md", heading=item)


async def begun(replica: Replica, *edits: Edit) -> None:
    await replica.commit(edits=edits)
    await replica.sync.once()


# --- stories, tables and text --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "before", "after", "theirs"),
    [
        (STORIES, stories(A="one", B="two"), stories(A="ours"), '[{"id": "A", "title": "by hand"}]\n'),
        (RISKS, risks(("fire", "high")), risks(("fire", "ours")), "Risk,Impact\nfire,low\n"),
        (SPEC, a_section("as it was"), a_section("ours"), "# Requirements\n\n## 1. Scope\n\nby hand\n"),
    ],
    ids=["stories", "table", "text"],
)
async def test_ours_is_the_file_and_theirs_is_kept_beside_it(
    replica: Replica, person: Git, remote: Git, path: str, before: Edit, after: Edit, theirs: str
) -> None:
    """Exactly as it was pushed, under a name that says in which commit; and the thread is told."""
    await begun(replica, before)
    pushed_by_hand(person, {path: theirs})
    await replica.commit(2, edits=(after,))
    told = Told()

    assert await replica.sync.once(on_conflict=told) == SyncResult.PUSHED

    assert told.all == [(SLUG, (copied(path, person),))]
    assert replica.git.shown(copied(path, person)) == theirs
    assert "ours" in replica.git.shown(path)
    assert_at_one(remote, replica.git)


async def test_a_file_that_two_bots_began_is_kept_twice(
    replica: Replica, remote: Git, open_replica: Opening
) -> None:
    """Neither clone had it before; what the first one pushed is beside it."""
    async with open_replica("two") as other:
        await other.sync.once()
        await replica.commit(1, edits=(stories(A="one"),))
        await other.commit(2, edits=(stories(B="two"),))
        await replica.sync.once()
        copy = copied(STORIES, replica.git)
        for one in (other, replica):
            await one.sync.once()

        assert [one["id"] for one in json.loads(replica.git.shown(STORIES))] == ["B"]
        assert [one["id"] for one in json.loads(replica.git.shown(copy))] == ["A"]
        assert_at_one(remote, replica.git, other.git)


async def test_a_link_in_the_place_of_a_file_is_not_followed(
    replica: Replica, person: Git, remote: Git
) -> None:
    """It is kept as the link that it is."""
    await begun(replica, stories(A="one"))
    person("pull", "--quiet", "--rebase")
    (person.root / STORIES).unlink()
    (person.root / STORIES).symlink_to("/etc/passwd")
    person("commit", "--quiet", "-am", "a link")
    person("push", "--quiet")
    await replica.commit(2, edits=(stories(A="ours"),))

    assert await replica.sync.once() == SyncResult.PUSHED

    assert "ours" in replica.git.shown(STORIES)
    assert replica.git("ls-tree", "HEAD", copied(STORIES, person)).startswith("120000 ")
    assert_at_one(remote, replica.git)


# --- the transcript ------------------------------------------------------------------------------------------------


async def test_a_merge_is_a_line_that_names_both_ends(
    replica: Replica, remote: Git, open_replica: Opening
) -> None:
    """One line, however many commits there were; the record verifies before and after."""
    async with open_replica("two") as other:
        await begun(replica)
        await other.sync.once()
        await replica.commit(2, edits=())
        for number in (3, 4):
            await other.commit(number, edits=())
        ends = [witness(one.git.shown(TRANSCRIPT).encode()) for one in (replica, other)]
        for one in (replica, other, replica):
            await one.sync.once()

        lines = read(replica.git.shown(TRANSCRIPT).encode()).lines
        told = [line.meta["merged"] for line in lines if "merged" in line.meta]
        assert told == [[f"{end.n} {end.digest}" for end in ends]]
        assert sorted(line.message_id for line in lines)[:4] == ["C1.1", "C1.2", "C1.3", "C1.4"]
        folder = replica.git.root / ITEM
        item = RecordedItem(folder, folder / "planning/meeting.jsonl")
        assert replay.verified(item) == []
        assert_at_one(remote, replica.git, other.git)


# --- the file that all items share --------------------------------------------------------------------------------


async def test_every_item_that_wrote_to_the_shared_file_hears_of_a_conflict(
    replica: Replica, person: Git, remote: Git
) -> None:
    """One copy holds what all of them wrote; an item that did not is left alone."""
    await begun(replica, quality("All", "as it was"))
    pushed_by_hand(person, {SHARED: replica.git.shown(SHARED).replace("as it was", "by hand")})
    await replica.commit(2, slug=OTHER, edits=(quality("All", "first"),))
    await replica.commit(3, edits=(quality("All", "second"),))
    await replica.commit(4, slug="another", edits=())
    told = Told()

    assert await replica.sync.once(on_conflict=told) == SyncResult.PUSHED

    copy = copied(SHARED, person)
    assert sorted(told.all) == sorted([(SLUG, (copy,)), (OTHER, (copy,))])
    assert "second" in replica.git.shown(SHARED)
    assert "by hand" in replica.git.shown(copy)
    assert_at_one(remote, replica.git)


async def test_a_persons_own_commit_to_the_shared_file_is_no_secret_either(
    replica: Replica, open_replica: Opening
) -> None:
    """Somebody commits in the workspace, while an item's text comes from the remote: its thread is told."""
    await begun(replica, quality("All", "as it was"))
    async with open_replica("two") as other:
        await other.sync.once()
        await other.commit(2, slug=OTHER, edits=(quality("All", "the item's"),))
        await other.sync.once()
        replica.git.commit(SHARED, replica.git.shown(SHARED).replace("as it was", "by hand"))
        told = Told()
        await replica.sync.once(on_conflict=told)

        copy = copied(SHARED, other.git)
        assert told.all == [(OTHER, (copy,))]
        assert "by hand" in replica.git.shown(SHARED)
        assert "the item's" in replica.git.shown(copy)


async def test_a_conflict_of_people_with_people_is_in_the_log(
    replica: Replica, person: Git, caplog: pytest.LogCaptureFixture
) -> None:
    """No item has to do with it, so there is no thread to say it in."""
    await begun(replica)
    pushed_by_hand(person, {SHARED: "theirs\n"})
    replica.git.commit(SHARED, "ours\n")

    await replica.sync.once()

    warned = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert [copied(SHARED, person) in line for line in warned] == [True]


# --- history that somebody wrote anew -----------------------------------------------------------------------------


async def test_a_history_written_anew_is_no_conflict(replica: Replica, person: Git, remote: Git) -> None:
    """Somebody made one commit of our three: the files are the same in the end, so there is nothing to decide."""
    for number in (1, 2, 3):
        await replica.commit(number)
    await replica.sync.once()
    person("pull", "--quiet", "--rebase")
    person("reset", "--quiet", "--soft", "HEAD~3")
    person("commit", "--quiet", "-m", "all at once")
    person("push", "--quiet", "--force")
    await replica.commit(4)
    told = Told()

    assert await replica.sync.once(on_conflict=told) == SyncResult.PUSHED

    assert told.all == []
    assert replica.git.subjects == [a_commit(4).subject, "all at once", "by hand"]
    assert "step 4" in replica.git.shown(SPEC)
    assert_at_one(remote, replica.git)
