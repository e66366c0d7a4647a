"""`roundtable review`: the line of a review, and its place among the reviews of an item."""

import json
import os
from functools import partial
from pathlib import Path

import pytest

from tests.command_line import Cli, CommandLine, python_m_bot
from tests.storage.checkout import commit_all

PASSED = """@@@REVIEW_META
verdict: PASS
issues_total: 3
issues_critical: 0
missing_inputs: 1
@@@

Three small things.
"""
LINE = "REVIEW: PASS | issues=3 (critical=0) | missing_inputs=1\n"
UNAVAILABLE = "REVIEW: metadata unavailable\n"
ITEM = "workspace/docs/requirements/offline-sync"


@pytest.fixture
def cli(loaded: CommandLine, tmp_path: Path) -> Cli:
    """Commands are run in a folder with a review and a workspace with one item."""
    (tmp_path / "review.md").write_text(PASSED, encoding="utf-8")
    (tmp_path / ITEM).mkdir(parents=True)
    (tmp_path / ITEM / "meta.json").write_text(json.dumps({"description": "Offline sync"}))
    commit_all(tmp_path / "workspace")
    return partial(loaded.run, tmp_path)


async def test_a_review_is_one_line(cli: Cli) -> None:
    """Nothing else is printed, so that scripts can use it; no setting is needed."""
    assert await cli("review", "review.md", ROUNDTABLE_NONSENSE="yes") == (0, LINE, "")


async def test_whatever_it_says_is_fine(cli: Cli, tmp_path: Path) -> None:
    """A verdict is no error, and neither is a review that has none."""
    for content, line in {
        PASSED.replace("\n", "\r\n").encode("utf-8-sig"): LINE,
        b"Looks good to me.\n": UNAVAILABLE,
        b"\xff\xfe\0 no text \x80": UNAVAILABLE,
        PASSED.encode() + b"\xff\x80": LINE,
    }.items():
        (tmp_path / "review.md").write_bytes(content)
        assert await cli("review", "review.md") == (0, line, ""), content


async def test_a_file_that_cannot_be_read_is_one_sentence(cli: Cli) -> None:
    """With the reason, on stderr; one without end is refused before the memory is full."""
    for name, why in (
        ("nowhere.md", "cannot be read: "),
        ("workspace", "cannot be read: "),
        ("a\nb.md", "cannot be read: "),
        ("/dev/zero", "has more than 67108864 bytes, which no review needs.\n"),
    ):
        ran = await cli("review", name)
        assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1)
        assert f"{name!r} {why}" in ran.err


async def test_a_file_that_we_may_not_read_is_one_sentence(tmp_path: Path) -> None:
    """As a person without privileges meets it."""
    (tmp_path / "review.md").touch(mode=0)
    ran = await python_m_bot(tmp_path, "review", "review.md", privileged=os.geteuid() != 0)

    assert ran == (1, "", "'review.md' cannot be read: Permission denied.\n")


async def test_what_powershell_wrote_is_a_review_too(cli: Cli, tmp_path: Path) -> None:
    """UTF-16 with its mark; it is kept as it is, but for a secret."""
    secret = "xoxb-" + "1234567890-" * 2 + "abcdefghijklmnopqrstuvwx"
    (tmp_path / "review.md").write_bytes(f"{PASSED}\n{secret}\n".encode("utf-16"))

    ran = await cli("review", "review.md", "--item", "offline-sync")

    assert ran.out.startswith(LINE)
    kept = (tmp_path / ITEM / "reviews/review-001.md").read_bytes().decode("utf-16")
    assert kept.startswith(PASSED)
    assert secret not in kept


async def test_a_review_is_kept_with_its_item(cli: Cli, tmp_path: Path) -> None:
    """Byte for byte, under the next number, and where it is comes after the line."""
    before = (tmp_path / ITEM / "meta.json").read_bytes()
    first = await cli("review", "review.md", "--item", "offline-sync")
    (tmp_path / "review.md").write_bytes(b"\xff second")
    second = await cli("review", "review.md", "--item", "offline-sync")

    assert first == (0, f"{LINE}Kept as docs/requirements/offline-sync/reviews/review-001.md\n", "")
    assert second == (0, f"{UNAVAILABLE}Kept as docs/requirements/offline-sync/reviews/review-002.md\n", "")
    assert (tmp_path / ITEM / "reviews/review-001.md").read_bytes() == PASSED.encode()
    assert (tmp_path / ITEM / "reviews/review-002.md").read_bytes() == b"\xff second"
    assert (tmp_path / ITEM / "meta.json").read_bytes() == before


async def test_only_an_item_can_keep_it(cli: Cli, tmp_path: Path) -> None:
    """The line is shown all the same; a name that leads elsewhere is no item, and one that is nearly right is told."""
    for slug in ("nobody", "", "..", "../offline-sync", "offline-sync/reviews", "offline-snc"):
        ran = await cli("review", "review.md", "--item", slug)
        assert (ran.code, ran.out) == (1, LINE)
        assert f"There is no item {slug!r}." in ran.err
    assert "Did you mean offline-sync?" in ran.err
    assert not (tmp_path / ITEM / "reviews").exists()
    assert not (tmp_path / ITEM / "../reviews").exists()


async def test_a_bad_setting_is_one_sentence(cli: Cli) -> None:
    """To keep a review, it has to be known where items are."""
    ran = await cli("review", "review.md", "--item", "offline-sync", ROUNDTABLE_NONSENSE="yes")

    assert (ran.code, ran.out) == (1, LINE)
    assert "ROUNDTABLE_NONSENSE" in ran.err


async def test_a_link_in_the_place_of_the_reviews_is_not_followed(cli: Cli, tmp_path: Path) -> None:
    """Nothing is written to where it leads: the folder is one again in the commit."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (tmp_path / ITEM / "reviews").symlink_to(outside)
    commit_all(tmp_path / "workspace")
    ran = await cli("review", "review.md", "--item", "offline-sync")

    assert ran.code == 0
    assert list(outside.iterdir()) == []
