"""Workspaces with many items, made in seconds: one pack by `git fast-import`, then one checkout."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

ITEMS_DIR = "docs/requirements"
LINE = (
    '{"ts": "2026-01-01T00:00:01.000Z", "round": 1, "actor": "User", "phase": "clarifying", "role": "user", '
    '"source": "user", "content_type": "markdown", "content": "Field workers lose their edits.", '
    '"meta": {"message_id": "C1.1", "step_id": "00-01"}}\n'
)


def workspace(root: Path, items: int) -> Path:
    """A checkout, clean, of *items* folders with three files each, in one commit."""
    root.mkdir(parents=True)
    git(root, "init", "--quiet", "--initial-branch=main")
    for name, value in (("user.name", "Bench"), ("user.email", "bench@localhost"), ("gc.auto", "0")):
        git(root, "config", name, value)
    git(root, "fast-import", "--quiet", given=b"".join(_stream(items)))
    git(root, "read-tree", "--reset", "-u", "HEAD")
    return root


def git(root: Path, *words: str, given: bytes | None = None) -> str:
    done = subprocess.run(["git", *words], cwd=root, input=given, stdout=subprocess.PIPE, check=True)
    return done.stdout.decode().strip()


def _stream(items: int) -> Iterator[bytes]:
    yield b"commit refs/heads/main\ncommitter Bench <bench@localhost> 1767225600 +0000\n" + _blob("Items")
    for number in range(items):
        folder = f"{ITEMS_DIR}/earlier-item-{number:05}"
        for name, content in _files(number):
            yield f"M 100644 inline {folder}/{name}\n".encode() + _blob(content)


def _files(number: int) -> Iterator[tuple[str, str]]:
    meta = {
        "description": f"Earlier item {number}",
        "source": "manual",
        "slug": f"earlier-item-{number:05}",
        "created_at": "2026-01-01T00:00:00.000Z",
        "steps_completed": ["00-01", "00-02"],
        "phases_completed": [],
    }
    yield "meta.json", json.dumps(meta, indent=2) + "\n"
    yield "quick-scan.md", f"# Quick scan\n\n## Scope\n\nItem {number} is small.\n"
    yield "planning/meeting.jsonl", LINE * 3


def _blob(text: str) -> bytes:
    content = text.encode()
    return b"data %d\n%s\n" % (len(content), content)
