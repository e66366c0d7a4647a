from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.e2e.meeting import Meeting, sandbox


@pytest.fixture
async def meeting(tmp_path: Path) -> AsyncIterator[Meeting]:
    """An empty workspace and a Slack to talk in; the bot is not running yet."""
    async with sandbox() as slack:
        yield Meeting(slack, tmp_path / "workspace")
