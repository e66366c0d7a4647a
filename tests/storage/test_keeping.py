"""Reviews in git: each is written once and committed, also after a kill, and nothing else is changed."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest

from bot.errors import WorkspaceError
from bot.storage.git.workspace import GitWorkspace
from tests.sealing import SEAL
from tests.storage.checkout import Git
from tests.storage.clones import ITEM
from tests.storage.samples import NOW, SLUG, a_commit


@pytest.fixture
async def kept(git: Git) -> AsyncIterator[GitWorkspace]:
    """A workspace with an item, and a file that a person has staged."""
    git.begin()
    git.commit(f"{ITEM}/meta.json", json.dumps({"description": "Too bright at night"}))
    git.write("src/app.py", "print()\n")
    git("add", "src/app.py")
    async with GitWorkspace(git.root, seal=SEAL) as opened:
        yield opened


async def test_a_review_is_a_commit(kept: GitWorkspace, git: Git) -> None:
    """Of one file, with the item in its trailer; what is staged stays as it is."""
    review = await kept.keep(SLUG, b"Fine.\n", now=NOW)

    assert review.path == f"{ITEM}/reviews/review-001.md"
    assert git.subjects[0] == f"roundtable({SLUG}): review 001"
    assert git(
        "show", "--name-only", "--format=%(trailers:key=Roundtable-Item,valueonly)", "HEAD"
    ).split() == [SLUG, review.path]
    assert git.status == ["A  src/app.py"]


async def test_the_same_text_is_the_same_review(kept: GitWorkspace, git: Git) -> None:
    """Kept again it is found again, also by a process that did not write it; nothing is committed."""
    first = await kept.keep(SLUG, b"Fine.\n", now=NOW)
    await kept.keep(SLUG, b"Not fine.\n", now=NOW)
    commits = git.subjects
    async with GitWorkspace(git.root, seal=SEAL) as other:
        again = await other.keep(SLUG, b"Fine.\n", now=NOW)

    assert (again.number, again.is_new) == (first.number, False)
    assert git.subjects == commits


async def test_reviews_that_come_together_have_numbers_and_commits_of_their_own(
    kept: GitWorkspace, git: Git
) -> None:
    """However many there are; a commit of the meeting goes in between."""
    reviews, _ = await asyncio.gather(
        asyncio.gather(*(kept.keep(SLUG, b"%d" % number, now=NOW) for number in range(40))),
        kept.commit(SLUG, a_commit(), now=NOW),
    )

    assert sorted(one.number for one in reviews) == list(range(1, 41))
    assert len([subject for subject in git.subjects if "): review " in subject]) == 40
    assert git.status == ["A  src/app.py"]
    git("fsck", "--strict")


async def test_two_processes_keep_both(kept: GitWorkspace, git: Git) -> None:
    """In one workspace: each gets a number that the other does not have."""
    async with GitWorkspace(git.root, seal=SEAL) as other:
        reviews = await asyncio.gather(
            *(one.keep(SLUG, b"%d" % number, now=NOW) for number, one in enumerate([kept, other] * 5))
        )

    assert sorted(one.number for one in reviews) == list(range(1, 11))
    assert git.status == ["A  src/app.py"]


@pytest.mark.parametrize(
    ("there", "number"),
    [
        (("review-002.md",), 3),
        (("review-999.md",), 1000),
        (("notes.md", "review-7.md", "review-0008.md", "review-009.md.bak", "review-00x.md"), 1),
        (("review-001.md/notes.md",), 2),
    ],
)
async def test_a_review_has_the_next_free_number(
    kept: GitWorkspace, git: Git, there: tuple[str, ...], number: int
) -> None:
    """A gap stays a gap, the name grows, and other files are no reviews."""
    for name in there:
        git.commit(f"{ITEM}/reviews/{name}", "somebody's\n")

    review = await kept.keep(SLUG, b"\xff\0 no text at all\r\n", now=NOW)

    assert review.path == f"{ITEM}/reviews/review-{number:03}.md"
    assert (await kept.newest(SLUG, 1))[0].content == review.content


async def test_a_link_in_the_place_of_a_review_is_passed_over(kept: GitWorkspace, git: Git) -> None:
    """What it points to is neither read nor written."""
    (git.root / ITEM / "reviews").mkdir()
    (git.root / ITEM / "reviews/review-001.md").symlink_to("../meta.json")
    git("add", f"{ITEM}/reviews")
    git("commit", "--quiet", "-m", "a link")

    assert await kept.newest(SLUG, 5) == ()
    assert (await kept.keep(SLUG, b"Fine.\n", now=NOW)).number == 2


async def test_only_an_item_has_reviews(kept: GitWorkspace, git: Git) -> None:
    """No folder is made for one that is not there, and others that are kept at the same time are."""
    unknown, review = await asyncio.gather(
        kept.keep("nobody", b"Fine.\n", now=NOW), kept.keep(SLUG, b"Fine.\n", now=NOW), return_exceptions=True
    )

    assert isinstance(unknown, WorkspaceError)
    assert unknown.reason == "no_item"
    assert not isinstance(review, BaseException)
    assert not (git.root / "docs/requirements/nobody").exists()


async def test_the_newest_are_read_in_order(kept: GitWorkspace) -> None:
    """So many as are wanted."""
    assert await kept.newest(SLUG, 5) == ()
    for number in range(4):
        await kept.keep(SLUG, b"%d" % number, now=NOW)

    assert [one.number for one in await kept.newest(SLUG, 3)] == [2, 3, 4]
    assert [one.content for one in await kept.newest(SLUG, 1)] == [b"3"]
