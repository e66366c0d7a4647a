"""What an end is like, and a new beginning on the same workspace."""

from pathlib import Path

import pytest

from tests.e2e.meeting import CHANNEL, Meeting, sandbox
from tests.patience import time_stands_still
from tests.ports import free_port


@pytest.mark.parametrize("door", ["socket mode", "http"])
async def test_an_idle_bot_ends_at_once(tmp_path: Path, where: dict[str, str], door: str) -> None:
    """Nothing waits for a timer, not even for a bound. `bench/start.py` measures how long it takes."""
    async with sandbox() as slack:
        more, port = where, free_port()
        if door == "http":
            more |= {
                "SLACK_APP_TOKEN": "",
                "SLACK_SIGNING_SECRET": slack.signing_secret,
                "ROUNDTABLE_PORT": str(port),
            }
        meeting = Meeting(slack, tmp_path / "workspace", more=more)
        running = meeting.bot()
        await running.__aenter__()
        if door == "http":
            assert await slack.use_http(f"http://127.0.0.1:{port}/slack/events")
        await meeting.start("Offline sync")
        await meeting.finish_step()
        await slack.settled()

        with time_stands_still():
            await running.__aexit__(None, None, None)


@pytest.mark.parametrize("reference", ["", " offline-sync"])
async def test_what_was_tried_out_goes_on_with_the_first_resume(tmp_path: Path, reference: str) -> None:
    """The sandbox of `try` forgets its threads, the workspace does not: there is a new thread, and it is said."""
    async with sandbox() as slack:
        before = Meeting(slack, tmp_path / "workspace")
        async with before.bot():
            await before.start("Offline sync")
            await before.finish_step()
    async with sandbox() as slack:
        meeting, ada = Meeting(slack, tmp_path / "workspace"), slack.person("ada")
        async with meeting.bot():
            await ada.slash(CHANNEL, f"/roundtable resume{reference}")
            if not reference:
                picker = await meeting.until(lambda: ada.ephemerals)
                await ada.press(picker[-1], "roundtable.resume")
            [root] = await meeting.until(
                lambda: [one for one in slack.messages(CHANNEL) if "*Roundtable: Offline sync*" in one.text]
            )
            meeting.root, meeting.slug = root.ts, "offline-sync"
            await meeting.go_on()

        assert [one.ts for one in slack.messages(CHANNEL)] == [root.ts]
        assert any("It goes on in a new one." in one.text for one in ada.ephemerals)
        assert meeting.meta["steps_completed"] == ["00-01"]
        assert meeting.meta["slack"]["thread_ts"] == root.ts
