from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.all_steps import all_steps
from tests.e2e.meeting import Meeting, sandbox
from tests.oracle import unlike
from tests.other.published import unlike_published


@pytest.fixture(autouse=True)
def every_record_holds(tmp_path: Path, steps: str) -> Iterator[None]:
    """Of every item that a test leaves behind, whatever it was about."""
    yield
    assert unlike(tmp_path, steps) == []


@pytest.fixture
def steps() -> str:
    """The folder of steps that the bot of a test has."""
    return all_steps()


@pytest.fixture
async def meeting(tmp_path: Path) -> AsyncIterator[Meeting]:
    """An empty workspace and a Slack to talk in, which is asked only what it documents; the bot is not running yet."""
    async with sandbox() as slack:
        yield Meeting(slack, tmp_path / "workspace")
        assert unlike_published(slack.calls) == []
