"""Plans when a record is verified: what is made from a plan is made again, and compared."""

import shutil
from pathlib import Path

import pytest

from bot.domain.catalog.schema import PLAN_PAGE
from bot.domain.messages.message import Action
from bot.domain.planning.projections import BRIEF, PLAN, PLAN_FILES, REVIEW
from bot.record.verify import RecordedItem, differences
from bot.storage.git.history import versions
from tests.domain.table import Table, shipped
from tests.record.kept import committed


@pytest.fixture
def item(tmp_path: Path) -> RecordedItem:
    """A plan, and a version of it that an earlier version of the bot put aside."""
    table = (
        Table().start().plan().say("problem: Edit in a tunnel.\nTest Planner: go").press(Action.FINISH_STEP)
    )
    found = committed(table, tmp_path)
    folder = found.folder / "planning"
    aside = folder / "versions" / "v1"
    aside.mkdir(parents=True)
    for path in (PLAN, PLAN_PAGE, PLAN_FILES, REVIEW):
        shutil.copy(found.folder / path, aside)
    return found


def found(item: RecordedItem) -> list[str]:
    return [str(one) for one in differences(item, tuple(versions(item.folder)))]


def test_a_plan_of_ours_holds(item: RecordedItem) -> None:
    """Its lines, its files, and the version before."""
    assert found(item) == []


@pytest.mark.parametrize("path", [PLAN_FILES, f"planning/versions/v1/{PLAN_FILES.partition('/')[2]}"])
def test_a_list_that_is_not_what_the_plan_says_is_found(item: RecordedItem, path: str) -> None:
    """With file and line, also in a version that was put aside."""
    content = (item.folder / path).read_text()
    (item.folder / path).write_text(content.replace("\n", "!\n", 1))

    assert found(item) == [f"{path}:1: differs from the plan in line 1."]


def test_a_plan_that_was_changed_by_hand_is_found(item: RecordedItem) -> None:
    """By the review, which is of another plan."""
    path = item.folder / PLAN
    path.write_text(path.read_text().replace("Edit in a tunnel.", "Edit in a cave."))

    assert [one.partition(":")[0] for one in found(item)] == [REVIEW]


@pytest.mark.parametrize("path", [PLAN, PLAN_PAGE, PLAN_FILES, REVIEW, BRIEF])
def test_a_plan_is_what_the_lines_say(item: RecordedItem, path: str) -> None:
    """Each file of it is made again from the entries, so that none can say something else."""
    file, newest = item.folder / path, tuple(versions(item.folder))
    assert list(differences(item, newest, playbook=shipped())) == []
    file.write_text(file.read_text().replace("\n", "!\n", 1))

    assert (path, "is not what the lines say") in {
        (one.file, one.sentence) for one in differences(item, newest, playbook=shipped())
    }


@pytest.mark.parametrize("path", [PLAN, PLAN_FILES])
def test_a_file_that_is_gone_is_found(item: RecordedItem, path: str) -> None:
    """A plan is ready with all of them, or it is none."""
    (item.folder / path).unlink()

    assert f"{path}:1: is missing." in found(item)


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"\xff\xfe", b'{"meta": 7}', b"[" * 99_999])
def test_a_damaged_review_is_found(item: RecordedItem, content: bytes) -> None:
    """Whatever is in its place."""
    (item.folder / REVIEW).write_bytes(content)

    assert found(item) == [f"{REVIEW}:1: is the review of another plan."]
