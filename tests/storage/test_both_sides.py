"""A file that was changed here and at the remote: nothing of either side is lost, and whom it concerns hears of it."""

import json
import logging

import pytest

from bot.domain.item.artifacts import SHARED, Edit, ItemsEdit, RowsEdit
from bot.storage.git.sync import Result
from tests.storage.checkout import Git
from tests.storage.clones import ITEM, SPEC, Opening, Replica, Told, assert_at_one, pushed_by_hand
from tests.storage.samples import SLUG, a_commit, a_section

STORIES = f"{ITEM}/user-stories.json"
RISKS = f"{ITEM}/risks.csv"
OTHER = "quiet-morning"


def stories(**titles: str) -> ItemsEdit:
    items = tuple({"id": name, "title": title, "priority": "must"} for name, title in titles.items())
    return ItemsEdit(path="user-stories.json", items=items)


def risks(*rows: tuple[str, ...], columns: tuple[str, ...] = ("Risk", "Impact")) -> RowsEdit:
    return RowsEdit(path="risks.csv", columns=columns, rows=rows)


def quality(item: str, text: str) -> Edit:
    return a_section(text, path="nfr-matrix.md", heading=item)


async def begun(replica: Replica, *edits: Edit) -> None:
    await replica.commit(edits=edits)
    await replica.sync.once()


# --- rows ---------------------------------------------------------------------------------------------------------


async def test_stories_of_two_hands_are_one_list(replica: Replica, person: Git, remote: Git) -> None:
    """Each story by its id: what only one side added, changed or took away is what becomes of it."""
    await begun(replica, stories(A="one", B="two", C="three"))
    theirs = [{"id": "A", "title": "by hand"}, {"id": "C", "title": "three", "priority": "must"}, {"id": "P"}]
    pushed_by_hand(person, {STORIES: json.dumps(theirs)})
    await replica.commit(2, edits=(stories(C="changed", D="four"),))

    assert await replica.sync.once() == Result.PUSHED

    assert json.loads(replica.git.shown(STORIES)) == [
        {"id": "A", "title": "by hand"},
        {"id": "C", "title": "changed", "priority": "must"},
        {"id": "P"},
        {"id": "D", "title": "four", "priority": "must"},
    ]
    assert_at_one(remote, replica.git)


@pytest.mark.parametrize("theirs", ["by hand", None], ids=["changed", "taken away"])
async def test_a_story_that_both_changed_is_for_people(
    replica: Replica, person: Git, theirs: str | None
) -> None:
    """Also when they changed another field of it: half of each is nobody's story. Theirs is the file."""
    await begun(replica, stories(A="one", B="two"))
    others = [{"id": "B", "title": "two", "priority": "must"}]
    text = json.dumps([*([{"id": "A", "title": "one", "priority": theirs}] if theirs else []), *others])
    pushed_by_hand(person, {STORIES: text})
    await replica.commit(2, edits=(stories(A="ours"),))
    told = Told()

    assert await replica.sync.once(on_conflict=told) == Result.PUSHED

    assert told.all == [(SLUG, (f"{STORIES}.roundtable-conflict",))]
    assert replica.git.shown(STORIES) == text
    assert '"ours"' in replica.git.shown(f"{STORIES}.roundtable-conflict")


async def test_stories_that_two_bots_began_are_one_list(
    replica: Replica, remote: Git, open_replica: Opening
) -> None:
    """Neither clone had the file yet."""
    async with open_replica("two") as other:
        await other.sync.once()
        await replica.commit(1, edits=(stories(A="one", B="two"),))
        await other.commit(2, edits=(stories(B="two", C="three"),))
        for one in (replica, other, replica):
            await one.sync.once()

        assert [one["id"] for one in json.loads(replica.git.shown(STORIES))] == ["A", "B", "C"]
        assert_at_one(remote, replica.git, other.git)


async def test_json_that_is_no_list_stays_json(replica: Replica, person: Git) -> None:
    """Lines that git would put together may not be JSON any more: then both are kept."""
    await begun(replica, stories(A="one"))
    before = '{\n  "a": 1,\n  "b": 2,\n  "c": 3,\n  "d": 4\n}\n'
    pushed_by_hand(person, {STORIES: before})
    await replica.sync.once()
    pushed_by_hand(person, {STORIES: before.replace(',\n  "d": 4', "")})
    replica.git.commit(STORIES, before.replace('"a": 1,\n', ""))

    await replica.sync.once()

    assert json.loads(replica.git.shown(STORIES)) == {"a": 1, "b": 2, "c": 3}
    assert (replica.git.root / f"{STORIES}.roundtable-conflict").exists()


async def test_rows_of_two_hands_are_one_table(replica: Replica, person: Git, remote: Git) -> None:
    """Each by its first column, also when one side added a column."""
    await begun(replica, risks(("fire", "high"), ("flood", "low")))
    pushed_by_hand(person, {RISKS: 'Risk,Impact\r\nfire,"very\nhigh"\r\nflood,low\r\nfog,low\r\n'})
    wider = risks(("flood", "low", "pump"), ("frost", "low", "coat"), columns=("Risk", "Impact", "Plan"))
    await replica.commit(2, edits=(wider,))

    assert await replica.sync.once() == Result.PUSHED

    assert replica.git.shown(RISKS).splitlines() == [
        "Risk,Impact,Plan",
        'fire,"very',
        'high"',
        "flood,low,pump",
        "fog,low",
        "frost,low,coat",
    ]
    assert_at_one(remote, replica.git)


@pytest.mark.parametrize(
    "theirs", ["Risk,Impact\r\nfire,low\r\n", "Nr,Risk,Impact\r\n1,fire,high\r\n"], ids=["row", "columns"]
)
async def test_a_row_that_both_changed_is_for_people(replica: Replica, person: Git, theirs: str) -> None:
    """And so are columns that moved: a row of ours would say something else below them."""
    await begun(replica, risks(("fire", "high")))
    pushed_by_hand(person, {RISKS: theirs})
    await replica.commit(2, edits=(risks(("fire", "none"), ("fog", "low")),))
    told = Told()

    await replica.sync.once(on_conflict=told)

    assert told.all == [(SLUG, (f"{RISKS}.roundtable-conflict",))]
    assert (replica.git.root / RISKS).read_bytes().decode() == theirs


# --- the file that all items share --------------------------------------------------------------------------------


async def test_the_shared_file_is_put_together_by_section(
    replica: Replica, remote: Git, open_replica: Opening
) -> None:
    """Items on two clones write their sections at the same time."""
    async with open_replica("two") as other:
        await other.sync.once()
        await replica.commit(1, edits=(quality("Bright night", "dark"),))
        await other.commit(1, slug=OTHER, edits=(quality("Quiet morning", "still"),))
        told = Told()
        for one in (replica, other, replica):
            await one.sync.once(on_conflict=told)

        assert "dark" in replica.git.shown(SHARED)
        assert "still" in replica.git.shown(SHARED)
        assert told.all == []
        assert_at_one(remote, replica.git, other.git)


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

    assert await replica.sync.once(on_conflict=told) == Result.PUSHED

    copy = f"{SHARED}.roundtable-conflict"
    assert sorted(told.all) == sorted([(SLUG, (copy,)), (OTHER, (copy,))])
    assert "by hand" in replica.git.shown(SHARED)
    assert "second" in replica.git.shown(copy)
    assert not (replica.git.root / f"{copy}-2").exists()
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

        assert told.all == [(OTHER, (f"{SHARED}.roundtable-conflict",))]
        assert "by hand" in replica.git.shown(f"{SHARED}.roundtable-conflict")


async def test_a_conflict_of_people_with_people_is_in_the_log(
    replica: Replica, person: Git, caplog: pytest.LogCaptureFixture
) -> None:
    """No item has to do with it, so there is no thread to say it in."""
    await begun(replica)
    pushed_by_hand(person, {SHARED: "theirs\n"})
    replica.git.commit(SHARED, "ours\n")

    await replica.sync.once()

    warned = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert [f"{SHARED}.roundtable-conflict" in line for line in warned] == [True]


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

    assert await replica.sync.once(on_conflict=told) == Result.PUSHED

    assert told.all == []
    assert replica.git.subjects == [a_commit(4).subject, "all at once", "by hand"]
    assert "step 4" in replica.git.shown(SPEC)
    assert_at_one(remote, replica.git)
