"""The reviews of an item: each is written once, whole, in its place, and never again."""

import asyncio
import hashlib
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.domain.reviews.review import ReviewMeta, triage_line
from bot.errors import WorkspaceError
from bot.storage.git.reviews import Reviews
from bot.storage.git.workspace import GitWorkspace
from tests.storage.checkout import Git
from tests.storage.samples import NOW, SLUG, a_commit

ROOT = Path(__file__).parents[2]
ITEMS = "docs/requirements"
ITEM = f"{ITEMS}/{SLUG}"
FIRST, SECOND = b"# The first\n", b"# The second\n"

WRITER = """
import sys
from pathlib import Path
from bot.storage.git.reviews import Reviews

root, slug, name = sys.argv[1:]
reviews = Reviews(Path(root), "docs/requirements")
sys.stdin.readline()
for n in range(20):
    reviews.add(slug, f"{name} {n}\\n".encode() * 1000)
"""

ON_A_FULL_DISK = """
import errno, resource, signal, sys
from pathlib import Path
from bot.storage.git.reviews import Reviews

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
try:
    Reviews(Path(sys.argv[1]), "docs/requirements").add(sys.argv[2], bytes(9000))
except OSError as error:
    print(errno.errorcode[error.errno])
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace with one item in it."""
    (tmp_path / ITEM).mkdir(parents=True)
    (tmp_path / ITEM / "meta.json").write_text("{}\n")
    return tmp_path


@pytest.fixture
def reviews(root: Path) -> Reviews:
    return Reviews(root, ITEMS)


def in_folder(root: Path) -> list[str]:
    return sorted(file.name for file in (root / ITEM / "reviews").iterdir())


# --- numbers and contents -----------------------------------------------------------------------------------------


def test_reviews_are_numbered_from_one(reviews: Reviews, root: Path) -> None:
    """Each iteration stays beside the ones before it."""
    kept = [reviews.add(SLUG, content) for content in (FIRST, SECOND)]

    assert [one.path for one in kept] == [f"{ITEM}/reviews/review-001.md", f"{ITEM}/reviews/review-002.md"]
    assert [(root / one.path).read_bytes() for one in kept] == [FIRST, SECOND]
    assert reviews.numbers(SLUG) == (1, 2)
    assert in_folder(root) == ["review-001.md", "review-002.md"]


def test_an_item_without_reviews_has_none(reviews: Reviews) -> None:
    """Looking makes no folder and is no error."""
    assert reviews.numbers(SLUG) == ()
    assert reviews.read(SLUG, 1) is None


def test_a_review_is_read_as_it_was_written(reviews: Reviews) -> None:
    """Byte for byte, whatever the bytes are."""
    content = b"\xff\xfe\0\r\n\x80 no text at all"

    assert reviews.read(SLUG, reviews.add(SLUG, content).number) == (
        1,
        f"{ITEM}/reviews/review-001.md",
        content,
    )


def test_a_commit_can_hold_it(reviews: Reviews) -> None:
    """By the path below the top of the workspace, as it holds artifacts."""
    assert reviews.add(SLUG, FIRST).files == {f"{ITEM}/reviews/review-001.md": FIRST}


def test_a_gap_stays_a_gap(reviews: Reviews, root: Path) -> None:
    """What somebody took away is not there again with other words."""
    for content in (FIRST, SECOND):
        reviews.add(SLUG, content)
    (root / ITEM / "reviews/review-001.md").unlink()

    assert reviews.add(SLUG, FIRST).number == 3


def test_after_999_come_more(reviews: Reviews) -> None:
    """The name grows."""
    reviews.write(SLUG, 999, FIRST)

    assert reviews.add(SLUG, SECOND).path == f"{ITEM}/reviews/review-1000.md"
    assert reviews.numbers(SLUG) == (999, 1000)


def test_other_files_are_no_reviews(reviews: Reviews, root: Path) -> None:
    """Whatever people put beside them."""
    reviews.add(SLUG, FIRST)
    for name in ("notes.md", "review-7.md", "review-0008.md", "review-009.md.bak", "review-00x.md"):
        (root / ITEM / "reviews" / name).write_text("mine\n")

    assert reviews.numbers(SLUG) == (1,)
    assert reviews.add(SLUG, SECOND).number == 2


# --- written once -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", [FIRST, SECOND])
def test_a_second_write_is_refused(reviews: Reviews, content: bytes) -> None:
    """Even of the very same words; what is there stays."""
    reviews.write(SLUG, 1, FIRST)

    with pytest.raises(
        WorkspaceError, match=r"review-001.md is written already, and a review is never changed"
    ):
        reviews.write(SLUG, 1, content)
    found = reviews.read(SLUG, 1)
    assert found
    assert found.content == FIRST


@pytest.mark.parametrize("number", [0, -1])
def test_there_is_no_number_below_one(reviews: Reviews, root: Path, number: int) -> None:
    """A wrong number makes no file."""
    with pytest.raises(WorkspaceError):
        reviews.write(SLUG, number, FIRST)

    assert not (root / ITEM / "reviews").exists()


async def test_processes_that_write_at_the_same_time_get_numbers_of_their_own(
    root: Path, reviews: Reviews
) -> None:
    """No review is lost, none is torn, none is written twice."""
    writers = [
        await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", WRITER, str(root), SLUG, name),
            cwd=ROOT,
            stdin=asyncio.subprocess.PIPE,
        )
        for name in ("one", "two", "three")
    ]
    await asyncio.gather(*(writer.communicate(b"go\n") for writer in writers))

    assert [writer.returncode for writer in writers] == [0, 0, 0]
    assert reviews.numbers(SLUG) == tuple(range(1, 61))
    found = [(root / ITEM / "reviews" / name).read_text().splitlines() for name in in_folder(root)]
    assert all(len(lines) == 1000 and len(set(lines)) == 1 for lines in found)
    assert len({lines[0] for lines in found}) == 60


def test_of_several_who_want_one_number_one_gets_it(reviews: Reviews) -> None:
    """The others are told."""

    def write(content: bytes) -> bool:
        try:
            reviews.write(SLUG, 1, content)
        except WorkspaceError:
            return False
        return True

    contents = [bytes([n]) * 100_000 for n in range(8)]
    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(write, contents))

    found = reviews.read(SLUG, 1)
    assert found
    assert won.count(True) == 1
    assert found.content == contents[won.index(True)]


def test_what_a_kill_left_behind_is_tidied_up_later(reviews: Reviews, root: Path) -> None:
    """But not what another process may be writing just now."""
    reviews.add(SLUG, FIRST)
    old, new = (root / ITEM / "reviews" / f".roundtable-{digit * 16}.tmp" for digit in "ab")
    for file in (old, new):
        file.write_bytes(b"half of a rev")
    os.utime(old, (1, 1))

    assert reviews.add(SLUG, SECOND).number == 2
    assert in_folder(root) == [new.name, "review-001.md", "review-002.md"]


def test_a_disk_that_is_full_leaves_nothing(reviews: Reviews, root: Path) -> None:
    """Not half a review that nobody could ever replace; a limit on the size of files stands in for the disk."""
    full = subprocess.run(
        [sys.executable, "-c", ON_A_FULL_DISK, str(root), SLUG],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )

    assert full.stdout.strip() == "EFBIG"
    assert in_folder(root) == []
    assert reviews.add(SLUG, FIRST).number == 1


# --- in their place -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "slug", ["nobody", "", ".", "..", "../..", f"../{SLUG}", f"{SLUG}/..", "/etc", "a\0b"]
)
def test_only_items_have_reviews(reviews: Reviews, root: Path, slug: str) -> None:
    """No name makes a folder, and none leads anywhere else."""
    before = tree(root)

    with pytest.raises((WorkspaceError, OSError)):
        reviews.add(slug, FIRST)
    assert tree(root) == before


@pytest.mark.parametrize("linked", ["docs", ITEMS, ITEM, f"{ITEM}/reviews"])
def test_no_link_leads_out_of_the_workspace(tmp_path: Path, linked: str) -> None:
    """Whichever folder on the way is one: nothing is written where it points to."""
    outside, root = tmp_path / "outside", tmp_path / "workspace"
    rest = Path(f"{ITEM}/reviews").relative_to(linked)
    (outside / rest).mkdir(parents=True)
    (root / linked).parent.mkdir(parents=True)
    (root / linked).symlink_to(outside)

    with pytest.raises(OSError, match=r"review|docs|symbolic|directory"):
        Reviews(root, ITEMS).add(SLUG, FIRST)
    assert [path for path in outside.rglob("*") if not path.is_dir()] == []


@pytest.mark.parametrize("points_to", ["elsewhere.md", "nowhere.md"])
def test_a_link_in_the_place_of_a_review_is_passed_over(reviews: Reviews, root: Path, points_to: str) -> None:
    """What it points to is neither read nor written, whether it is there or not."""
    (root / "elsewhere.md").write_bytes(b"somebody's\n")
    (root / ITEM / "reviews").mkdir()
    (root / ITEM / "reviews/review-001.md").symlink_to(root / points_to)

    assert reviews.numbers(SLUG) == ()
    assert reviews.add(SLUG, FIRST).number == 2
    assert (root / "elsewhere.md").read_bytes() == b"somebody's\n"
    assert not (root / "nowhere.md").exists()
    with pytest.raises(OSError, match=r"review-001\.md"):
        reviews.read(SLUG, 1)


# --- display only -------------------------------------------------------------------------------------------------


def tree(root: Path) -> dict[str, str]:
    """Every file but the reviews, by its content."""
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file() and path.parent.name != "reviews"
    }


PIECES = st.sampled_from(
    ["@@@REVIEW_META", "\n", "@@@", "verdict: FAIL", "../meta.json", "\0", "{}", "# Done"]
)
TEXTS = st.one_of(
    st.builds(ReviewMeta).map(lambda meta: meta.block), st.lists(PIECES).map("".join), st.text()
)


async def test_no_review_changes_anything_but_its_own_file(workspace: GitWorkspace, git: Git) -> None:
    """Neither meta.json, nor a stage in it, nor git: whatever the review says of itself."""
    await workspace.commit(SLUG, a_commit(), now=NOW)
    reviews = Reviews(git.root, ITEMS)
    before, head = tree(git.root), git("rev-parse", "HEAD", "HEAD^{tree}")

    @settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(TEXTS)
    def kept(text: str) -> None:
        content = text.encode("utf-8", "replace")
        found = reviews.read(SLUG, reviews.add(SLUG, content).number)
        assert found
        assert found.content == content
        assert triage_line(found.content.decode()) == triage_line(content.decode())

    kept()
    assert tree(git.root) == before
    assert git("rev-parse", "HEAD", "HEAD^{tree}") == head
    assert git("diff", "HEAD") == ""
    assert git.status == [f"?? {ITEM}/reviews/"]
