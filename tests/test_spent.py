"""What `roundtable show` says about money."""

import json
from pathlib import Path

from bot.cli import items
from bot.settings import Settings
from tests.storage.checkout import commit_all

LINE = {
    "ts": "2026-01-01T10:00:00.000Z", "round": 1, "actor": "BusinessAnalyst", "phase": "clarifying",
    "role": "planning", "source": "model", "content_type": "markdown", "content": "Noted.",
}  # fmt: skip


async def test_show_adds_up_what_models_took(tmp_path: Path) -> None:
    """In all and by step for people, and by turn for scripts, where an unknown price is null."""
    folder = tmp_path / "docs" / "requirements" / "offline-sync"
    (folder / "planning").mkdir(parents=True)
    (folder / "meta.json").write_text(json.dumps({"description": "Offline sync", "slug": "offline-sync"}))
    facts = (
        {"step_id": "00-01", "model": "m", "tokens_in": 1000, "tokens_out": 200, "cost": "0.02"},
        {"step_id": "00-02", "turn_id": "t01", "model": "m", "tokens_in": 10, "tokens_out": 5},
    )
    rows = [json.dumps({**LINE, "meta": fact}) for fact in facts]
    (folder / "planning" / "meeting.jsonl").write_text("\n".join(rows) + "\n")
    commit_all(tmp_path)

    found = await items.show(Settings(workspace=tmp_path), "offline-sync")

    told = items.show_as_text(found)
    assert "models     1,215 tokens, at least $0.02 (1 of 2 calls without a price)" in told
    assert "00-02: 15 tokens, cost unknown" in told
    assert found["spent"]["turns"]["00-02 t01"]["cost"] is None
    assert found["spent"]["steps"]["00-01"]["cost"] == "0.02"
