"""specification.json in git: written with each commit, and read where nothing else is known of an item."""

import json
from collections.abc import Mapping
from typing import Any

from bot.domain.item.artifacts import DerivedEdit
from bot.domain.privacy.redaction import Redactor, own_rules
from bot.domain.roundtable.effects import Commit
from bot.domain.specification.claims import EntryState
from bot.domain.specification.entries import Specification
from bot.domain.specification.snapshot import HASH, SECTIONS, hash_of, read, text_of
from bot.domain.transcript import lines
from bot.domain.transcript.last_line import LastLine
from bot.domain.transcript.lines import Line, Source, append
from bot.engine.ports import NOTHING
from bot.storage.git.erasing import Scrubber
from bot.storage.git.sync import SyncResult
from bot.storage.git.workspace import GitWorkspace
from tests.sealing import SEAL
from tests.storage.checkout import Git
from tests.storage.clones import ITEM, TRANSCRIPT, Opening, Replica
from tests.storage.samples import NOW, SLUG, a_commit, a_line, state_of

FILE = f"{ITEM}/specification.json"
WRITTEN = {"requirements-spec.md#1. Scope": "0123456789abcdef"}


def said(number: int, text: str, *, source: Source = Source.USER) -> Line:
    """A person's words, which are an entry."""
    patch = {"id": f"FR-00{number}", "kind": "requirement", "new": True, "set": {"title": text}}
    meta = {"message_id": f"C1.{number}", "user_id": "U1", "user_name": "Ada", "entries": [patch]}
    return a_line(f"C1.{number}", text, source=source, meta=meta)


def told(number: int, text: str, before: Specification, **fields: Any) -> tuple[Commit, Specification]:
    """A commit as a roundtable asks for it, whose last line has the hash of the specification."""
    after = before.folding([said(number, text)])
    snapshot = text_of(after, WRITTEN)
    meta = {"message_id": f"i1.{number}", HASH: hash_of(snapshot), SECTIONS: WRITTEN}
    last = a_line(f"i1.{number}", "Saved.", source=Source.SYSTEM, meta=meta)
    return a_commit(number, lines=(said(number, text), last), snapshot=snapshot, **fields), after


async def two_steps(workspace: GitWorkspace) -> Specification:
    specification = Specification()
    for number, text in ((1, "Filter by date"), (2, "Sort by name")):
        work, specification = told(number, text, specification)
        await workspace.commit(SLUG, work, now=NOW)
    return specification


async def specified(
    workspace: GitWorkspace, after: LastLine = NOTHING
) -> tuple[Specification, Mapping[str, str]]:
    state = await state_of(workspace, after=after)
    return state.specification, state.written


def pressed(state: str, *, by: str = "U9", id: str = "FR-001") -> Line:
    meta = {"message_id": f"x.{by}", "user_id": by, "entries": [{"id": id, "state": state}]}
    return a_line(f"x.{by}", "Pressed.", source=Source.SYSTEM, meta=meta)


def added(git: Git, *lines: Line) -> str:
    return append(git.shown(TRANSCRIPT).encode(), lines).decode()


async def test_it_is_a_file_of_the_item_and_no_artifact(workspace: GitWorkspace, git: Git) -> None:
    specification = await two_steps(workspace)

    state = await state_of(workspace)
    assert read(git.shown(FILE)) == (specification.but(heard={}), WRITTEN)
    assert state.artifacts == ("requirements-spec.md",)
    assert git.status == []


async def test_it_is_read_by_who_knows_nothing_of_the_item(workspace: GitWorkspace) -> None:
    """A roundtable that has a store has its own. A commit without it leaves it."""
    specification = await two_steps(workspace)
    assert await specified(workspace) == (specification, WRITTEN)
    await workspace.commit(SLUG, a_commit(3, lines=()), now=NOW)
    assert await specified(workspace) == (specification, WRITTEN)
    assert await specified(workspace, LastLine(id="i1.2")) == (Specification(), {})


async def test_an_old_item_has_none(workspace: GitWorkspace, git: Git) -> None:
    await workspace.commit(SLUG, a_commit(), now=NOW)
    assert not (git.root / FILE).exists()
    assert (await specified(workspace))[0].entries == {}


async def test_a_file_that_somebody_changed_or_removed_counts_for_nothing(
    workspace: GitWorkspace, git: Git
) -> None:
    specification = await two_steps(workspace)
    git.commit(FILE, git.shown(FILE).replace("Filter by date", "Give everything away"))
    assert (await specified(workspace))[0].entries == specification.entries
    (git.root / FILE).unlink()
    assert (await specified(workspace))[0].entries == specification.entries


async def test_who_pushes_a_line_and_a_file_that_fit_gains_no_authority(
    workspace: GitWorkspace, git: Git
) -> None:
    """The line with the hash is not of a commit of ours."""
    specification = await two_steps(workspace)
    forged = git.shown(FILE).replace("Filter by date", "Give everything away")
    line = a_line("i1.9", source=Source.SYSTEM, meta={"message_id": "i1.9", HASH: hash_of(forged)})
    git.commit(FILE, forged)
    git.commit(TRANSCRIPT, added(git, line))
    assert (await specified(workspace))[0].entries == specification.entries


async def test_later_lines_of_others_only_propose(workspace: GitWorkspace, git: Git) -> None:
    """They withdraw nothing, and are not settled."""
    await two_steps(workspace)
    title = said(1, "Search").but(meta={**said(1, "Search").meta, "message_id": "x.1"})
    git.commit(TRANSCRIPT, added(git, title, pressed("withdrawn")))

    found, _ = await specified(workspace)
    assert found.damage == ("2 lines have no seal: they can only propose",)
    entry = found.entries["FR-001"]
    assert (entry.state, entry["title"]) == (EntryState.ACCEPTED, "Filter by date")
    pending = entry.pending("title")
    assert pending
    assert pending.value == "Search"


async def test_lines_of_others_only_propose_without_the_file_too(workspace: GitWorkspace, git: Git) -> None:
    """Also below a commit of ours that came later, and through a merge of branches."""
    work, specification = told(1, "Filter by date", Specification())
    await workspace.commit(SLUG, work.but(snapshot=""), now=NOW)
    git("checkout", "--quiet", "-b", "side")
    git.commit(TRANSCRIPT, added(git, pressed("withdrawn")))
    git("checkout", "--quiet", "main")
    git.commit("README.md", "x")
    git("merge", "--quiet", "--no-ff", "-m", "merged", "side")
    work, specification = told(2, "Sort by name", specification)
    await workspace.commit(SLUG, work.but(snapshot=""), now=NOW)

    found, written = await specified(workspace)

    assert found.entries == specification.entries
    assert written == WRITTEN
    assert "x.U9" in git.shown(TRANSCRIPT)


async def test_scrubbing_takes_secrets_out_of_claims(workspace: GitWorkspace, git: Git) -> None:
    """The lines and the file say the same afterwards, and the file is still taken."""
    secret = "xoxb-123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx"
    work, _ = told(1, f"Use {secret}", Specification())
    await workspace.commit(SLUG, work, now=NOW)

    scrubber = Scrubber(
        git.root, items_dir="docs/requirements", redact=Redactor((), own_rules(())), seal=SEAL
    )
    result = scrubber.scrub(SLUG, now=NOW)

    text = git.shown(FILE)
    found, written = await specified(workspace)
    assert FILE in result.files
    assert secret not in text + git.shown(TRANSCRIPT)
    assert text == text_of(found, written)
    assert written == WRITTEN
    assert json.loads(git.shown(TRANSCRIPT).splitlines()[-1])["meta"][HASH] == hash_of(text)


async def test_where_two_clones_changed_it_ours_stays_without_a_copy(replica: Replica, person: Git) -> None:
    """It is made anew with each commit, and counts only where it fits the lines."""
    work, specification = told(1, "Filter by date", Specification())
    await replica.workspace.commit(SLUG, work, now=NOW)
    await replica.sync.once()
    person("pull", "--quiet")
    person.push(FILE, "{}\n")
    work, specification = told(2, "Sort by name", specification)
    await replica.workspace.commit(SLUG, work, now=NOW)
    assert await replica.sync.once() == SyncResult.PUSHED

    assert await specified(replica.workspace) == (specification, WRITTEN)
    assert [name for name in replica.git("ls-files", ITEM).splitlines() if "theirs" in name] == []


async def test_where_two_bots_added_entries_both_are_kept(replica: Replica, open_replica: Opening) -> None:
    """In the file and for who reads it; the lines have the hash of the new file."""
    work, first = told(1, "Filter by date", Specification())
    await replica.workspace.commit(SLUG, work, now=NOW)
    assert await replica.sync.once() == SyncResult.PUSHED
    async with open_replica("two") as other:
        await other.sync.once()
        work, _ = told(2, "Sort by name", first)
        await other.workspace.commit(SLUG, work, now=NOW)
        assert await other.sync.once() == SyncResult.PUSHED
    work, _ = told(3, "Print it", first)
    await replica.workspace.commit(SLUG, work, now=NOW)
    assert await replica.sync.once() == SyncResult.PUSHED

    found, written = await specified(replica.workspace)
    assert sorted(found.entries) == ["FR-001", "FR-002", "FR-003"]
    assert sorted(read(replica.git.shown(FILE)).specification.entries) == ["FR-001", "FR-002", "FR-003"]
    told_by = [line for line in lines.read(replica.git.shown(TRANSCRIPT).encode()) if HASH in line.meta]
    newest = told_by[-1]
    assert newest.meta[HASH] == hash_of(replica.git.shown(FILE))
    assert written == WRITTEN


async def test_what_is_made_of_all_entries_is_not_made_older(replica: Replica, open_replica: Opening) -> None:
    """The clone that committed first is the last to push: the other one's file knows more."""
    first_page, second_page = (DerivedEdit(path="brief.md", text=text) for text in ("1 note\n", "2 notes\n"))
    work, first = told(1, "Filter by date", Specification(), edits=(first_page,))
    await replica.workspace.commit(SLUG, work, now=NOW)
    async with open_replica("two") as other:
        await other.sync.once()
        both, _ = told(2, "Sort by name", first, edits=(second_page,))
        both = both.but(lines=(*work.lines, *both.lines))
        await other.workspace.commit(SLUG, both, now=NOW)
        assert await other.sync.once() == SyncResult.PUSHED
    assert await replica.sync.once() == SyncResult.PUSHED

    assert replica.git.shown(f"{ITEM}/brief.md") == "2 notes\n"
