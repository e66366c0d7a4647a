"""Secrets that are in an item's files already: taken out in a commit of their own, and named where they stay."""

import json
from pathlib import Path

import pytest

from bot.domain.privacy.redaction import Redactor
from bot.domain.transcript.seal import SCRUBBED, foreign_ids
from bot.record.reading import replay
from bot.record.verify import RecordedItem
from bot.storage.git.erasing import Scrubber
from tests.domain.table import Table
from tests.record.kept import ITEMS, copied, evening_in, found, hold_an_evening
from tests.sealing import SEAL, TRUSTED
from tests.storage.checkout import Git

TOKEN = "gh" + "p_" + "aB3dE6gH9jK2mN5p" * 3
OTHER = "xo" + "xb-123456789012-" + "aB3dE6gH9jK2mN5p" * 2
NOW = "2026-11-22T22:00:00.000Z"
MEETING = "planning/meeting.jsonl"


def leaky() -> Table:
    """An evening in which somebody pasted a token, kept by a bot that did not know its form."""
    return hold_an_evening(Table().start().say(f"Use `{TOKEN}` for now.", who="grace"))


def scrubber(root: Path) -> Scrubber:
    return Scrubber(root, items_dir=ITEMS, redact=Redactor(), seal=SEAL)


def lines(item: RecordedItem) -> list[dict[str, object]]:
    return [json.loads(row) for row in item.transcript.read_text().splitlines()]


def holding(root: Path, secret: str = TOKEN) -> list[str]:
    files = (path for path in root.rglob("*") if path.is_file() and ".git" not in path.parts)
    return [path.relative_to(root).as_posix() for path in files if secret in path.read_text()]


def test_no_file_has_the_secret_any_more(tmp_path: Path) -> None:
    """There is one commit more, with nothing else in it, and a line that says which lines were changed."""
    item = copied(leaky, tmp_path)
    before, old = Git(tmp_path)("rev-parse", "HEAD").strip(), lines(item)
    where = holding(tmp_path)
    assert f"{ITEMS}/{item.slug}/{MEETING}" in where
    result = scrubber(tmp_path).scrub(item.slug, now=NOW)

    assert holding(tmp_path) == []
    assert sorted(result.files) == sorted(where)
    assert Git(tmp_path)("rev-parse", "HEAD~1").strip() == before
    assert Git(tmp_path)("log", "-1", "--format=%s").strip() == f"roundtable({item.slug}): scrub secrets"
    assert Git(tmp_path)("status", "--porcelain") == ""
    assert sorted(Git(tmp_path)("diff", "--name-only", "HEAD~1").split()) == sorted(where)

    *rest, note = lines(item)
    changed = [(one, two) for one, two in zip(old, rest, strict=True) if one != two]
    assert len(rest) == len(old)
    assert changed
    assert note["source"] == "system"
    told = note["meta"][SCRUBBED]  # type: ignore[index]
    assert [(one["message_id"], one["kinds"]) for one in told] == [
        (two["meta"]["message_id"], ["github-token"])  # type: ignore[index]
        for _, two in changed
    ]
    content = (tmp_path / ITEMS / item.slug / MEETING).read_bytes()
    assert foreign_ids(content, TRUSTED) == {""}
    assert TOKEN not in json.dumps(note)


def test_the_record_still_holds(tmp_path: Path) -> None:
    """It is replayed to the same state, and verified against what git has of it, scrubbed lines and all."""
    item = copied(leaky, tmp_path)
    before = replay(item.read_transcript())
    scrubber(tmp_path).scrub(item.slug, now=NOW)
    after = replay(item.read_transcript())

    assert found(item) == []
    assert (after.progress, after.step_id, after.part) == (before.progress, before.step_id, before.part)
    assert after.flaw_count == 0


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[redacted:github-token]` for now", "[redacted:github-token]` for ever"),
        ("[redacted:github-token]", "a word"),
        ("Photos, too.", "[redacted:github-token]"),
    ],
)
def test_a_scrub_hides_no_other_change(tmp_path: Path, old: str, new: str) -> None:
    """In a line that was scrubbed or in another one: the note vouches for what it reads."""
    item = copied(leaky, tmp_path)
    scrubber(tmp_path).scrub(item.slug, now=NOW)
    content = item.transcript.read_text()
    assert old in content
    item.transcript.write_text(content.replace(old, new))

    assert any("does not hold" in one for one in found(item))


def test_git_is_asked_where_else_it_is(tmp_path: Path) -> None:
    """A remote has some of the commits; done again, nothing is changed, and it is said again."""
    item = copied(leaky, tmp_path)
    commits = Git(tmp_path)("rev-list", "HEAD").split()
    Git(tmp_path)("update-ref", "refs/remotes/origin/main", commits[2])
    result = scrubber(tmp_path).scrub(item.slug, now=NOW)
    again = scrubber(tmp_path).scrub(item.slug, now=NOW)

    assert result.here == tuple(sha[:7] for sha in commits[:2])
    assert set(result.pushed) <= {sha[:7] for sha in commits[2:]}
    assert commits[2][:7] in result.pushed
    assert (again.files, again.sha, again.here, again.pushed) == ({}, "", result.here, result.pushed)


def test_every_file_of_the_item_is_looked_at(tmp_path: Path) -> None:
    """Reviews too, which nothing else ever changes. What is in no commit is not looked at."""
    item = copied(leaky, tmp_path)
    review, notes = item.folder / "reviews/review-001.md", item.folder / "notes.txt"
    review.parent.mkdir()
    review.write_text(f"It logs {OTHER}.\n")
    raw = json.loads((item.folder / "meta.json").read_text())
    (item.folder / "meta.json").write_text(
        json.dumps({**raw, "theirs": {"db_password": "hunter2", "n": 1.50}})
    )
    Git(tmp_path).commit_all("more")
    notes.write_bytes(b"\xff " + OTHER.encode())
    outside = tmp_path.parent / f"{tmp_path.name}-outside.md"
    outside.write_text(OTHER)
    (item.folder / "link.md").symlink_to(outside)
    result = scrubber(tmp_path).scrub(item.slug, now=NOW)

    folder = f"{ITEMS}/{item.slug}"
    assert result.files[f"{folder}/reviews/review-001.md"] == ("slack-token",)
    assert review.read_text() == "It logs [redacted:slack-token].\n"
    assert json.loads((item.folder / "meta.json").read_text()) == {
        **raw,
        "theirs": {"db_password": "[redacted:password]", "n": 1.5},
    }
    assert notes.read_bytes() == b"\xff " + OTHER.encode()
    assert f"{folder}/notes.txt" in Git(tmp_path)("status", "--porcelain", "--untracked-files=all")
    assert outside.read_text() == OTHER


def test_an_item_without_secrets_stays_as_it_is(tmp_path: Path) -> None:
    """Byte for byte, and without a commit."""
    item = evening_in(tmp_path)
    before = Git(tmp_path)("rev-parse", "HEAD")
    result = scrubber(tmp_path).scrub(item.slug, now=NOW)

    assert (result.files, result.sha, result.here, result.pushed) == ({}, "", (), ())
    assert Git(tmp_path)("rev-parse", "HEAD") == before
    assert Git(tmp_path)("status", "--porcelain") == ""
