"""Plans when a record is verified: each file is made again from the lines, and compared."""

from pathlib import Path

import pytest

from bot.domain.catalog.schema import PLAN_PAGE
from bot.domain.messages.message import Action
from bot.domain.planning.projections import BRIEF, PLAN, PLAN_FILES, REVIEW
from bot.record.verify import differences
from bot.storage.git.history import versions
from tests.domain.table import Table, shipped
from tests.record.kept import copied


def planned() -> Table:
    table = Table().start().plan().say("problem: Edit in a tunnel.\nTest Planner: go")
    return table.press(Action.FINISH_STEP)


@pytest.mark.parametrize("path", [PLAN, PLAN_PAGE, PLAN_FILES, REVIEW, BRIEF])
def test_a_plan_is_what_the_lines_say(tmp_path: Path, path: str) -> None:
    """Each file of it is made again from the entries, so that none can say something else."""
    item = copied(planned, tmp_path)
    file, newest = item.folder / path, tuple(versions(item.folder))
    assert list(differences(item, newest, playbook=shipped())) == []
    for spoil in (lambda: file.write_text(file.read_text().replace("\n", "!\n", 1)), file.unlink):
        spoil()
        assert (path, "is not what the lines say") in {
            (one.file, one.sentence) for one in differences(item, newest, playbook=shipped())
        }
