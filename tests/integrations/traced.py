"""A code base with the record of an item in it, as the bot commits it: `roundtable trace` needs nothing else."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

from bot.domain.specification import snapshot
from bot.domain.specification.snapshot import HASH
from bot.domain.transcript.lines import append
from tests.sealing import sealed
from tests.specification.meeting import Meeting, make_entry
from tests.storage.checkout import Git

CHANNEL = "C0LIMITS00"
THREAD = f"https://acme.slack.com/archives/{CHANNEL}/p1795471275903720"
BEFORE, AFTER = "2026-11-22T09:00:00Z", "2026-11-22T12:00:00Z"
"""The meeting is at ten."""
TESTS = (
    "def test_refused():  # limits/AC-001-01\n    ...\n\n\ndef test_others():  # limits/AC-001-02\n    ...\n"
)
"""Of both criteria."""


class LimitsMeeting(Meeting):
    """What people agreed about rate limits. Every line is a message of the thread."""

    def __init__(self) -> None:
        super().__init__()
        self.say("Grace", "01-06", "requirement: Each tenant gets at most 100 requests a second")
        self.say("Grace", "01-06", "AC: when a tenant sends the 101st request, then it gets 429 (FR-001)")
        self.say("Linus", "01-06", "requirement: Operators can raise a limit without a deploy")
        self.say("Ada", "01-06", "decision: A token bucket in Redis")
        self.press("Grace", {"id": "FR-001", "set": {"priority": "must"}})
        self.new("Linus", "AC-001-02", part_of="FR-001", text="other tenants are not slowed")
        self.press("Linus", {"id": "FR-002", "set": {"priority": "should"}})

    def new(self, who: str, id: str, *, part_of: str = "", **fields: Any) -> None:
        self.press(who, make_entry(id, fields, part_of=part_of))

    def change(self, who: str, id: str, *sources: str, **fields: Any) -> None:
        self.press(who, {"id": id, "set": fields, "sources": list(sources)})


class TracedCode:
    """*root* is the top of the clone."""

    def __init__(self, root: Path) -> None:
        self.git = Git(root)
        self.git.begin()

    def record(self, meeting: Meeting, slug: str = "limits", *, pushed: int = 0, **slack: Any) -> None:
        """The record of an item, in a commit; somebody else *pushed* so many of its lines. Its place is in *slack*."""
        lines = [
            line.but(
                meta={
                    **line.meta,
                    "channel_id": CHANNEL,
                    "message_ts": f"{1795471300 + number}.000000",
                    **({} if number else {"permalink": THREAD}),
                }
            )
            for number, line in enumerate(meeting.lines)
        ]
        text = snapshot.text_of(meeting.specification, {})
        ours = lines[: len(lines) - pushed]
        ours[-1] = ours[-1].but(meta={**ours[-1].meta, HASH: snapshot.hash_of(text)})
        content = append(sealed(ours), lines[len(ours) :])
        folder = f"docs/requirements/{slug}"
        self.commit(
            {
                f"{folder}/planning/meeting.jsonl": content.decode(),
                f"{folder}/specification.json": text,
                f"{folder}/meta.json": json.dumps(
                    {"description": "Rate limits", "slug": slug, "slack": slack}
                ),
            },
            "The record",
        )

    def commit(self, files: Mapping[str, str], message: str = "Work", *, at: str = AFTER) -> str:
        with patch.dict(os.environ, {"GIT_COMMITTER_DATE": at, "GIT_AUTHOR_DATE": at}):
            for path, content in files.items():
                self.git.write(path, content)
                self.git("add", "--", path)
            self.git("commit", "--quiet", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD").strip()
