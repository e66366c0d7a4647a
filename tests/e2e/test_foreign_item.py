"""An item that another tool began: the meeting goes on where it was, and everything of theirs is still there."""

import json
from typing import Any

from tests.e2e.meeting import CHANNEL, Meeting
from tests.storage.checkout import commit_all

SLUG = "REQ-0027-gh-20-Roundtable Analyst"
THEIRS: dict[str, Any] = {
    "topics_covered": [{"id": 1, "confidence": None}],
    "source_id": "GH-20",
    "description": "Roundtable analyst",
    "phases_completed": ["00-quick-scan", "99-of-theirs"],
    "steps_completed": ["00-01", "00-02", "00-03", "01-01", "77-77"],
    "depth_overrides": {"01-requirements": "huge"},
    "elaborations": [None, {"step_id": "00-01", "mood": "good"}],
    "elaboration_config": {"max_turns": 4.0, "theme": "dark"},
}
LINE = {
    "score": 0.5,
    "ts": "2025-03-01T10:15:30.123+00:00",
    "round": 7,
    "actor": "Coach",
    "phase": "workshop",
    "role": "planning",
    "source": "model",
    "content": "As they wrote it.",
}
SPEC = "\ufeff# Spec\r\n\r\n## 1. Business Context\r\n\r\nBy hand.\r\n\r\n## 9. Mine\r\n\r\nkeep\r\n"


def left_behind(meeting: Meeting) -> bytes:
    """With a byte order mark, Windows' line ends, tabs and a number that Python writes otherwise; the transcript."""
    meeting.slug = SLUG
    (meeting.folder / "planning").mkdir(parents=True)
    meta = json.dumps(THEIRS, indent="\t").removesuffix("\n}") + ',\n\t"version": 1.10\n}'
    (meeting.folder / "meta.json").write_bytes(b"\xef\xbb\xbf" + meta.replace("\n", "\r\n").encode())
    transcript = json.dumps(LINE).encode() + b"\r\n\r\n"
    (meeting.folder / "planning" / "meeting.jsonl").write_bytes(transcript)
    (meeting.folder / "requirements-spec.md").write_bytes(SPEC.encode())
    (meeting.workspace / "BACKLOG.md").write_text("- 3.2 [~] Roundtable analyst\n")
    commit_all(meeting.workspace)
    return transcript


async def test_the_meeting_goes_on_and_what_is_theirs_stays(meeting: Meeting) -> None:
    """Found by its number in the backlog; one step later every field, line and section of theirs is as it was."""
    transcript = left_behind(meeting)
    async with meeting.bot():
        await meeting.slack.person("ada").slash(CHANNEL, "/roundtable resume 3.2")
        welcome = await meeting.until(
            lambda: [one for one in meeting.slack.messages(CHANNEL) if "Roundtable analyst" in one.text]
        )
        meeting.root = welcome[-1].ts
        await meeting.seen("Step 01-02")
        await meeting.do_step("Field workers lose their edits.")

    after = meeting.meta
    known = {"steps_completed", "analysis_status", "slack", "source", "created_at", "version"}
    assert {name: fact for name, fact in after.items() if name not in known} == {
        name: fact for name, fact in THEIRS.items() if name not in known
    }
    assert after["steps_completed"] == [*THEIRS["steps_completed"], "01-02"]
    assert after["analysis_status"] == "partial"
    assert '"version": 1.10,' in (meeting.folder / "meta.json").read_text()
    assert (meeting.folder / "planning" / "meeting.jsonl").read_bytes().startswith(transcript)
    assert [line.round for line in meeting.transcript.lines][:2] == [7, 7]
    spec = (meeting.folder / "requirements-spec.md").read_bytes().decode()
    assert spec.startswith(SPEC[: SPEC.index("## 9")])
    assert SPEC[SPEC.index("## 9") :] in spec
    assert spec.endswith("## 9. Not settled (0)\r\n\r\n- Nothing.\r\n")
    assert "## 2. Stakeholders and Personas\r\n" in spec
