"""Many items: what a commit and a list cost does not grow with them."""

from pathlib import Path

import pytest

from bot.storage.git.workspace import GitWorkspace
from tests.sealing import SEAL
from tests.storage.checkout import Git
from tests.storage.samples import NOW, SLUG, a_commit

MANY = 1000
META = '{"description": "One of many", "steps_completed": ["00-01"]}\n'


@pytest.fixture
def many(git: Git) -> Git:
    git.begin()
    for number in range(MANY):
        git.write(f"docs/requirements/item-{number:04}/meta.json", META)
    git.commit_all("many")
    return git


def objects(git: Git) -> int:
    return int(git("count-objects").split()[0])


async def test_a_commit_among_many_items_writes_as_little_as_the_first(many: Git, tmp_path: Path) -> None:
    """The same number of objects: its files, the folders above them, and the commit."""
    few = Git(tmp_path / "few")
    written = []
    for git in (few, many):
        async with GitWorkspace(git.root, seal=SEAL) as workspace:
            await workspace.commit(SLUG, a_commit(), now=NOW)
            before = objects(git)
            await workspace.commit(SLUG, a_commit(2), now=NOW)
            written.append(objects(git) - before)

    assert written[0] == written[1]
    assert many.status == []


async def test_all_are_listed(many: Git) -> None:
    """Again and again, with what became of one of them."""
    async with GitWorkspace(many.root, seal=SEAL) as workspace:
        first = await workspace.items()
        assert len(first) == MANY
        assert first[7].known.slug == "item-0007"
        assert (first[7].known.title, first[7].steps_completed) == ("One of many", 1)

        await workspace.commit("item-0007", a_commit(), now=NOW)
        again = await workspace.items()

    assert again[7].steps_completed == 2
    assert again[:7] + again[8:] == first[:7] + first[8:]
