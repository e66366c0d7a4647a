"""Bots of several Slack workspaces (teams): what they may share, and what each has for itself."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import redis

from bot.cli import check
from bot.errors import ConfigError
from bot.storage.team import FILE
from slack_sandbox import Sandbox
from tests import stored
from tests.e2e.meeting import CHANNEL, Meeting, sandbox, settings

OURS, ELSEWHERE = "T1OURS", "T2ELSEWHERE"
SAID = "Field workers lose their edits"


@pytest.fixture
async def slack() -> AsyncIterator[Sandbox]:
    async with sandbox() as one:
        yield one


@pytest.fixture
async def elsewhere() -> AsyncIterator[Sandbox]:
    """Another Slack workspace, whose channels and people have the same ids."""
    async with sandbox() as other:
        other.workspace.team_id = ELSEWHERE
        yield other


async def test_two_bots_on_one_redis_hold_items_of_the_same_name(
    slack: Sandbox, elsewhere: Sandbox, tmp_path: Path, redis_url: str
) -> None:
    """Each hears, keeps and posts only what is said in its own Slack workspace."""
    ours = Meeting(slack, tmp_path / "ours", more={"REDIS_URL": redis_url})
    theirs = Meeting(elsewhere, tmp_path / "theirs", more={"REDIS_URL": redis_url})
    async with ours.bot(), theirs.bot():
        await ours.start("Offline sync")
        await theirs.start("Offline sync")
        await ours.do_step(SAID)
        await theirs.do_step("Customers wait for their invoices")
        await ours.start("Dark mode")
        await slack.settled()
        await elsewhere.settled()

    ours.slug = theirs.slug
    assert [line.content for line in ours.lines("User")] == [SAID]
    assert [line.content for line in theirs.lines("User")] == ["Customers wait for their invoices"]
    assert not any("invoices" in one.text for one in slack.messages(CHANNEL))
    assert not any("Dark mode" in one.text for one in elsewhere.messages(CHANNEL))
    with redis.Redis.from_url(redis_url) as client:
        assert client.exists(stored.key("offline-sync"), stored.key("offline-sync", team=ELSEWHERE)) == 2
        assert not client.exists(stored.key("dark-mode", team=ELSEWHERE))


async def test_check_says_whose_state_it_looks_at(slack: Sandbox, tmp_path: Path, redis_url: str) -> None:
    """And that a bot with this token would not start in a workspace of another team."""
    slack.workspace.team_id = OURS
    meeting = Meeting(slack, tmp_path / "workspace", more={"REDIS_URL": redis_url})
    chosen = settings(slack, meeting.workspace, REDIS_URL=redis_url)
    async with meeting.bot():
        await meeting.start("Offline sync")
        await slack.settled()
        here = {one.name: one for one in await check.everything(chosen)}
    slack.workspace.team_id = ELSEWHERE
    there = {one.name: one for one in await check.everything(chosen)}

    assert here["workspace"].found.endswith(f"for Slack workspace {OURS}")
    assert here["slack"].found.startswith(f"bot U0ROUNDTABLE in workspace {OURS}")
    assert not here["slack"].stops
    assert [one.text.partition(",")[0] for one in there["slack"].problems] == [
        f"The workspace {str(meeting.workspace)!r} belongs to {OURS!r}"
    ]
    assert there["slack"].stops


async def test_a_workspace_is_for_one_team(
    slack: Sandbox, elsewhere: Sandbox, tmp_path: Path, where: dict[str, str]
) -> None:
    """Also after it was restored from git alone, if both bots know the key that seals its items."""
    slack.workspace.team_id = OURS
    ours = Meeting(slack, tmp_path / "workspace", more=where)
    theirs = Meeting(elsewhere, tmp_path / "workspace", more=where)
    belongs = f"belongs to {OURS!r}, another Slack workspace than {ELSEWHERE}"
    async with ours.bot():
        await ours.start("Offline sync")
        await ours.do_step(SAID)

    with pytest.raises(ConfigError, match=belongs):
        async with theirs.bot():
            pass
    (tmp_path / "workspace" / ".roundtable" / FILE).unlink()
    with pytest.raises(ConfigError, match=belongs):
        async with theirs.bot():
            pass
    async with ours.bot():
        await ours.menu("continue")
