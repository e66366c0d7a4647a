"""The file that all items share: an item's minds read its own part, and nobody else's."""

import pytest

from bot.voices.prompts import tasks
from bot.voices.prompts.shown_files import own_turns
from bot.voices.reviewing import asking_for_findings
from tests.voices.minds import whole
from tests.voices.prompts.kept import scene
from tests.voices.test_judging import SHIPPED

MATRIX = """# Quality

Numbers that hold for all of us.

## Takeover of Acme (takeover)

| NFR ID | Description |
|---|---|
| NFR-001 | Closes before the board meets |

### Open questions

- Who knows?

## Offline sync (offline-sync)

| NFR-002 | Edits are there within 2 s |

## Takeover of Acme again (not-offline-sync)

- NFR-003
"""
PATHS = ("nfr-matrix.md", "docs/common/nfr-matrix.md")


@pytest.mark.parametrize("path", PATHS)
def test_an_items_part_is_what_stands_under_its_name(path: str) -> None:
    """With what stands above all of them; a file of the item's own is shown whole."""
    shown = own_turns(path, MATRIX, slug="offline-sync")

    assert shown.startswith("# Quality\n\nNumbers that hold for all of us.\n")
    assert shown.endswith("## Offline sync (offline-sync)\n\n| NFR-002 | Edits are there within 2 s |\n\n")
    assert "Acme" not in shown
    assert own_turns("draft.md", MATRIX, slug="offline-sync") == MATRIX


@pytest.mark.parametrize("path", PATHS)
def test_no_prompt_tells_of_another_item(path: str) -> None:
    """A model that read it could say it in a channel that is open to everybody."""
    files = {path: MATRIX}
    roster = SHIPPED.roster
    prompts = [
        tasks.draft(scene()._replace(files=files)),
        asking_for_findings("offline-sync", next(iter(roster)), roster, files=files),
    ]

    assert all("NFR-002" in whole(one) for one in prompts)
    assert not [one for one in prompts if "Acme" in whole(one) or "NFR-001" in whole(one)]
