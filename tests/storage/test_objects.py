"""Objects as git reads them, whatever their size."""

import random

import pytest

from bot.storage.git.objects import PART_BYTES, Objects
from tests.storage.checkout import Git

WORDS = [
    "latency",
    "offline",
    "sync",
    "conflict",
    "merge",
    "photo",
    "field",
    "worker",
    "queue",
    "retry",
    "battery",
]


def text(size: int) -> bytes:
    chance = random.Random(size)
    return " ".join(chance.choices(WORDS, k=size // 4)).encode()[:size]


@pytest.mark.parametrize(
    "size", [0, 1, PART_BYTES - 100, PART_BYTES, PART_BYTES + 1, 2 * PART_BYTES, 5 * PART_BYTES + 7]
)
def test_git_reads_what_was_written(git: Git, size: int) -> None:
    """A long transcript is packed in parts; git sees one file, and finds nothing wrong with it."""
    git.begin()
    content = text(size)

    written = Objects(git.root / ".git" / "objects").write("blob", content)

    assert git("cat-file", "blob", str(written)).encode() == content
    assert git("fsck", "--strict", "--no-dangling") == ""


def test_what_is_packed_in_parts_is_packed_as_well(git: Git) -> None:
    """It may cost a little more than in one piece, not much."""
    git.begin()
    objects = git.root / ".git" / "objects"
    whole, parts = (Objects(objects).write("blob", text(size)) for size in (PART_BYTES - 100, 4 * PART_BYTES))
    sizes = [(objects / str(one)[:2] / str(one)[2:]).stat().st_size for one in (whole, parts)]

    assert sizes[1] < 4.2 * sizes[0]
