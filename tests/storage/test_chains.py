"""The chain of a transcript in the workspace: whose lines count, and which folder is the item's."""

import json
import shutil
from pathlib import Path

import pytest

from bot.domain.roundtable.effects import Commit
from bot.domain.specification.claims import EntryState
from bot.domain.specification.entries import Specification
from bot.domain.transcript.lines import Source, append
from bot.domain.transcript.seal import TAKES_OVER, OldLines, read_chain
from bot.errors import WorkspaceError
from bot.storage.git.seal import Seal
from bot.storage.git.workspace import GitWorkspace
from tests.sealing import SEAL, TRUSTED
from tests.storage.checkout import Git, commit_all
from tests.storage.samples import NOW, SLUG, a_commit, a_line, state_of
from tests.storage.test_seal import HOME
from tests.storage.test_specification import said, two_steps

ITEMS = Path("docs/requirements")
ITEM = ITEMS / SLUG
MEETING = f"{ITEM}/planning/meeting.jsonl"


async def read(workspace: GitWorkspace, slug: str = SLUG) -> tuple[Specification, OldLines]:
    state = await state_of(workspace, slug)
    return state.specification, state.old_lines


def taking_over(number: int, asked: OldLines) -> Commit:
    meta = {"message_id": f"t.{number}", "user_id": "U1", TAKES_OVER: asked.model_dump()}
    return a_commit(
        number, lines=(a_line(f"t.{number}", "Taken over.", source=Source.SYSTEM, meta=meta),), edits=()
    )


async def test_squash_rename_and_reformatting_change_nothing(workspace: GitWorkspace, git: Git) -> None:
    """What people accepted stays accepted, and the renamed folder keeps its thread."""
    specification = await two_steps(workspace)
    await workspace.commit(SLUG, a_commit(3, lines=(a_line("C1.3"),)), now=NOW, home=HOME)
    git("reset", "--quiet", "--soft", "HEAD~2")
    git("commit", "--quiet", "--amend", "-m", "squashed")
    rows = [json.dumps(json.loads(row), sort_keys=True) for row in git.shown(MEETING).splitlines()]
    git.commit(MEETING, "\r\n".join(reversed(rows)) + "\r\n")
    git("mv", str(ITEM), str(ITEMS / "renamed"))
    git("commit", "--quiet", "-m", "renamed")

    found, unsealed = await read(workspace, "renamed")
    (listed,) = await workspace.items()

    assert found.entries == specification.entries
    assert unsealed.lines == 0
    assert (listed.known.slug, listed.sealed, listed.thread) == ("renamed", True, HOME.thread_ts)


async def test_the_thread_of_one_item_is_not_that_of_another(workspace: GitWorkspace, git: Git) -> None:
    """A copied meta.json has a seal for another chain."""
    await workspace.commit(SLUG, a_commit(), now=NOW, home=HOME)
    await workspace.commit("other", a_commit(id="other.i1.1"), now=NOW)
    git.commit(f"{ITEMS}/other/meta.json", git.shown(f"{ITEM}/meta.json"))

    listed = {one.known.slug: one.sealed for one in await workspace.items()}
    assert listed == {SLUG: True, "other": False}


async def test_of_two_folders_with_one_chain_neither_is_written(workspace: GitWorkspace, git: Git) -> None:
    """Until one of them is removed."""
    await workspace.commit(SLUG, a_commit(), now=NOW)
    shutil.copytree(git.root / ITEM, git.root / ITEMS / "copy")
    commit_all(git.root)

    for slug in (SLUG, "copy"):
        with pytest.raises(WorkspaceError, match=f"{SLUG} and copy hold the same record. Remove one"):
            await workspace.commit(slug, a_commit(2, id=f"{slug}.i1.2"), now=NOW)
    shutil.rmtree(git.root / ITEMS / "copy")
    commit_all(git.root)
    await workspace.commit(SLUG, a_commit(2), now=NOW)


async def test_an_older_record_proposes_until_it_is_taken_over(workspace: GitWorkspace, git: Git) -> None:
    """As it stands: a line that is changed afterwards proposes again."""
    old = append(b"", [said(1, "Filter by date"), said(2, "Sort by name")])
    git.commit(MEETING, old.decode())
    git.commit(f"{ITEM}/meta.json", json.dumps({"slug": SLUG, "source": "manual", "created_at": NOW}))
    before, unsealed = await read(workspace)

    receipt = await workspace.commit(SLUG, taking_over(3, unsealed), now=NOW)
    after, rest = await read(workspace)
    git.commit(MEETING, git.shown(MEETING).replace("Sort by name", "Sell it"))
    forged, _ = await read(workspace)

    states = [{id: one.state for id, one in known.entries.items()} for known in (before, after, forged)]
    accepted, proposed = EntryState.ACCEPTED, EntryState.PROPOSED
    assert states[0] == {"FR-001": proposed, "FR-002": proposed}
    assert states[1] == {"FR-001": accepted, "FR-002": accepted}
    assert states[2] == {"FR-001": accepted, "FR-002": proposed}
    assert receipt.state.specification.entries == after.entries
    assert (unsealed.lines, rest.lines) == (2, 0)


async def test_lines_that_were_pushed_cannot_be_taken_over(workspace: GitWorkspace, git: Git) -> None:
    """The record began with a seal."""
    await two_steps(workspace)
    pushed = append(b"", [said(7, "Sell it")]).decode()
    git.commit(MEETING, pushed + git.shown(MEETING))

    await workspace.commit(SLUG, taking_over(3, OldLines(lines=1, digest="d")), now=NOW)
    found, unsealed = await read(workspace)

    assert unsealed.lines == 0
    assert found.entries["FR-007"].state is EntryState.PROPOSED


async def test_lost_keys_are_like_an_older_record(workspace: GitWorkspace, git: Git) -> None:
    """A new chain begins, and a person takes over what stood before it."""
    await two_steps(workspace)
    async with GitWorkspace(git.root, seal=Seal([b"other secrets of Slack"])) as other:
        before, unsealed = await read(other)
        await other.commit(SLUG, taking_over(3, unsealed), now=NOW)
        after, rest = await read(other)

    assert {one.state for one in before.entries.values()} == {EntryState.PROPOSED}
    assert {one.state for one in after.entries.values()} == {EntryState.ACCEPTED}
    assert (unsealed.lines > 0, rest.lines) == (True, 0)


async def test_every_line_that_is_committed_is_sealed(workspace: GitWorkspace, git: Git) -> None:
    """And the chain has no gap."""
    for number in range(1, 6):
        await workspace.commit(SLUG, a_commit(number), now=NOW)
    chain = read_chain(git.shown(MEETING).encode(), TRUSTED)

    assert [(row.n, row.is_sealed) for row in chain.rows] == [(number, True) for number in range(1, 6)]
    assert chain.flaws == ()
    assert SEAL.lines.trusted.keys() == {chain.key}
