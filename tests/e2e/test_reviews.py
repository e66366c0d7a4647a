"""Reviews in Slack: asked for in words, made by personas side by side, kept in git, shown in one message."""

import re

from bot.sandbox import Message
from tests.e2e.meeting import CHANNEL, Meeting

LINE = re.compile(r"REVIEW: (PASS|FAIL) \| issues=\d+ \(critical=\d+\) \| missing_inputs=\d+")


def notices(meeting: Meeting, channel: str = CHANNEL) -> list[Message]:
    return [one for one in meeting.slack.messages(channel) if one.text.startswith("REVIEW: ")]


async def held(meeting: Meeting) -> None:
    """An item with one finished step."""
    await meeting.start("Offline sync")
    await meeting.do_step("Edits get lost. Scope: small")


async def test_a_review_is_asked_for_kept_and_shown(meeting: Meeting) -> None:
    """The line comes to the channel, the details to the thread, and the review itself to git, in a commit."""
    async with meeting.bot():
        await held(meeting)
        asked = await meeting.slack.person("ada").slash(CHANNEL, "/roundtable review offline-sync")
        details = await meeting.seen("*Review 1*")
        (notice,) = await meeting.until(lambda: notices(meeting))

    kept = (meeting.folder / "reviews" / "review-001.md").read_text()
    first, *_ = notice.text.splitlines()
    assert "Maya Chen (Business Analyst), Alex Rivera" in asked.response["text"]
    assert LINE.fullmatch(first)
    assert first in details.text
    assert "Maya Chen (Business Analyst), Alex Rivera (Solutions Architect) and Jordan Park" in notice.text
    assert "Asked for by ada" in kept
    assert meeting.subjects()[-1] == "roundtable(offline-sync): review 001"
    assert meeting.git("status", "--porcelain") == ""
