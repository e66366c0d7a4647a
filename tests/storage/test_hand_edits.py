"""What people changed by hand where a commit would write: it stays, and is reported with what we wrote there."""

import json

import pytest

from bot.domain.item.artifacts import InsightEdit, ItemsEdit, RowsEdit, SectionEdit
from bot.domain.roundtable.outcomes import CommitResult, HandEdit
from bot.domain.specification.entries import Specification
from bot.storage.git.sync import SyncResult
from bot.storage.git.workspace import GitWorkspace
from tests.storage.checkout import Git
from tests.storage.clones import ITEM, SPEC, TRANSCRIPT, Replica
from tests.storage.samples import NOW, SLUG, a_commit, a_section
from tests.storage.test_specification import told

STORIES = f"{ITEM}/stories.json"
MATRIX = f"{ITEM}/matrix.csv"


def a_checked_section(body: str, *, replaces: str | None, heading: str = "1. Scope") -> SectionEdit:
    return a_section(body, heading=heading).but(replaces=replaces)


def stories(*titles: str, replaces: str, gone: tuple[str, ...] = ()) -> ItemsEdit:
    items = tuple({"id": f"US-00{n}", "title": title} for n, title in enumerate(titles, start=1))
    return ItemsEdit(path="stories.json", items=items, fields=("id", "title"), gone=gone, replaces=replaces)


def matrix(*names: str, replaces: str, gone: tuple[str, ...] = ()) -> RowsEdit:
    rows = tuple((f"FR-00{n}", name) for n, name in enumerate(names, start=1))
    return RowsEdit(path="matrix.csv", columns=("id", "name"), rows=rows, gone=gone, replaces=replaces)


async def commit(
    workspace: GitWorkspace, number: int, *edits: SectionEdit | ItemsEdit | RowsEdit | InsightEdit
) -> CommitResult:
    return await workspace.commit(SLUG, a_commit(number, edits=edits), now=NOW)


FIRST = a_checked_section("- **FR-001** Filter", replaces="")
SECOND = a_checked_section("- **FR-001** Filter by date", replaces=FIRST.digest)


# --- sections -----------------------------------------------------------------------------------------------------


async def test_what_nobody_changed_is_replaced(workspace: GitWorkspace, git: Git) -> None:
    """Also with other line ends, and below what elaborations added."""
    await commit(workspace, 1, FIRST)
    marker = "<!-- Elaboration: 01-01 · 2026-11-21 -->"
    await commit(workspace, 2, InsightEdit(path=FIRST.path, keywords=("scope",), marker=marker, body="More."))
    git.commit(SPEC, git.shown(SPEC).replace("\n", "\r\n"))

    receipt = await commit(workspace, 3, SECOND)

    assert receipt.hand_edits == ()
    assert "Filter by date" in git.shown(SPEC)
    assert marker in git.shown(SPEC)


async def test_what_a_person_committed_stays_and_is_reported(workspace: GitWorkspace, git: Git) -> None:
    """With who it was, and what we had written; the other section, meta.json and the lines are saved."""
    await commit(workspace, 1, FIRST)
    sha = git.commit(SPEC, git.shown(SPEC).replace("Filter", "Search"))
    other = a_checked_section("Nothing recorded yet.", replaces="", heading="2. Out")
    await commit(workspace, 2, other)  # a commit of ours that has the person's words

    again = other.but(body="Maps.", replaces=other.digest)
    receipt = await commit(workspace, 3, SECOND, again)

    found = a_checked_section("- **FR-001** Search", replaces="")
    assert receipt.hand_edits == (
        HandEdit(
            path="requirements-spec.md",
            heading="1. Scope",
            found="- **FR-001** Search",
            digest=found.digest,
            written="- **FR-001** Filter",
            replaces=FIRST.digest,
            author="Ada",
            commit=sha[:7],
        ),
    )
    assert [one.heading for one in receipt.touched] == ["2. Out"]
    assert "Search" in git.shown(SPEC)
    assert "Maps." in git.shown(SPEC)
    assert "01-03" in git.shown(f"{ITEM}/meta.json")
    assert "C1.3" in git.shown(TRANSCRIPT)
    assert git.status == []


async def test_once_the_change_is_known_the_section_is_written_again(
    workspace: GitWorkspace, git: Git
) -> None:
    await commit(workspace, 1, FIRST)
    git.commit(SPEC, git.shown(SPEC).replace("Filter", "Search"))
    (edit,) = (await commit(workspace, 2, SECOND)).hand_edits

    receipt = await commit(workspace, 3, SECOND.but(body="- **FR-001** Search by date", replaces=edit.digest))

    assert receipt.hand_edits == ()
    assert "Search by date" in git.shown(SPEC)


async def test_a_section_of_an_old_item_is_not_overwritten(workspace: GitWorkspace) -> None:
    """We never wrote it by entries, and it has content."""
    await workspace.commit(SLUG, a_commit(1, edits=(a_section("What an older version wrote."),)), now=NOW)

    (edit,) = (await commit(workspace, 2, FIRST)).hand_edits

    assert (edit.found, edit.written, edit.author) == ("What an older version wrote.", "", "Roundtable")


@pytest.mark.parametrize("text", ["# Requirements\n", "# Requirements\n\n## 1. Scope\n\n## 2. Out\n"])
async def test_an_empty_or_missing_section_is_written(workspace: GitWorkspace, git: Git, text: str) -> None:
    git.commit(SPEC, text)
    assert (await commit(workspace, 1, FIRST)).hand_edits == ()
    assert "FR-001" in git.shown(SPEC)


async def test_edits_of_older_states_are_not_checked(workspace: GitWorkspace, git: Git) -> None:
    git.commit(SPEC, "## 1. Scope\n\nBy hand.\n")
    receipt = await commit(workspace, 1, a_checked_section("Ours.", replaces=None))
    assert receipt.hand_edits == ()
    assert "Ours." in git.shown(SPEC)


async def test_what_stands_there_already_is_no_change(workspace: GitWorkspace, git: Git) -> None:
    """A kill may have come between the files and the commit."""
    await commit(workspace, 1, FIRST)
    git.write(SPEC, SECOND.apply(git.shown(SPEC)))
    assert (await commit(workspace, 2, SECOND)).hand_edits == ()
    assert git.status == []


async def test_a_commit_that_is_made_twice_reports_the_same(workspace: GitWorkspace, git: Git) -> None:
    """After a kill nobody knows what the first attempt reported."""
    await commit(workspace, 1, FIRST)
    git.commit(SPEC, git.shown(SPEC).replace("Filter", "Search"))
    first = await commit(workspace, 2, SECOND)

    assert (await commit(workspace, 2, SECOND)).hand_edits == first.hand_edits
    assert len(first.hand_edits) == 1


async def test_what_a_merge_brought_is_compared_with_what_we_wrote(replica: Replica, person: Git) -> None:
    """The person changed one row, we another: the section is left as the person wrote it."""
    rows = [f"- **FR-00{n}** Thing {n}\n" for n in range(1, 8)]
    first = a_checked_section("\n".join(rows), replaces="")
    await replica.workspace.commit(SLUG, a_commit(1, edits=(first,)), now=NOW)
    await replica.sync.once()
    person("pull", "--quiet")
    person.push(SPEC, person.shown(SPEC).replace("Thing 1", "Theirs 1"))
    second = a_checked_section("\n".join(rows).replace("Thing 7", "Ours 7"), replaces=first.digest)
    await replica.workspace.commit(SLUG, a_commit(2, edits=(second,)), now=NOW)
    assert await replica.sync.once() == SyncResult.PUSHED

    third = second.but(body=second.body.replace("Thing 4", "Ours 4"), replaces=second.digest)
    receipt = await replica.workspace.commit(SLUG, a_commit(3, edits=(third,)), now=NOW)

    (edit,) = receipt.hand_edits
    assert edit.author == "Ada"
    assert edit.written is None, "what we wrote is on no branch"
    assert edit.found == first.body.replace("Thing 1", "Theirs 1").strip()


async def test_where_no_commit_has_what_we_wrote_the_entries_of_the_commit_before_are_told(
    workspace: GitWorkspace, git: Git
) -> None:
    """After a squash that has the change by hand, too."""
    git.commit("README.md", "ours\n")
    work, specification = told(1, "Filter", Specification(), edits=(FIRST,))
    await workspace.commit(SLUG, work, now=NOW)
    git.commit(SPEC, git.shown(SPEC).replace("Filter", "Search"))
    git("reset", "--quiet", "--soft", "HEAD~2")
    git("commit", "--quiet", "-m", "squashed")
    git("update-ref", "-d", "refs/roundtable/last/main")

    work, _ = told(2, "Sort", specification, edits=(SECOND,))
    receipt = await workspace.commit(SLUG, work, now=NOW)

    (edit,) = receipt.hand_edits
    assert (edit.written, edit.replaces, edit.author) == (None, FIRST.digest, "Ada")
    assert receipt.before.entries == specification.entries


# --- data ---------------------------------------------------------------------------------------------------------


async def test_records_and_fields_of_others_are_no_change_of_ours(workspace: GitWorkspace, git: Git) -> None:
    """Whatever their order and their form."""
    first, table = stories("Filter", "Sort", replaces=""), matrix("Filter", "Sort", replaces="")
    await commit(workspace, 1, first, table)
    mine = [
        {"title": "Sort", "id": "US-002", "estimate": 5},
        {"id": "X-1"},
        {"id": "US-001", "title": "Filter"},
    ]
    git.commit(STORIES, json.dumps(mine))
    git.commit(MATRIX, "id,owner,name\nFR-002,Ada,Sort\nX-1,,theirs\nFR-001,,Filter\n")

    receipt = await commit(
        workspace,
        2,
        stories("Filter by date", replaces=first.digest, gone=("US-002",)),
        matrix("Filter by date", replaces=table.digest, gone=("FR-002",)),
    )

    assert receipt.hand_edits == ()
    assert [one["id"] for one in json.loads(git.shown(STORIES))] == ["X-1", "US-001"]
    assert git.shown(MATRIX) == "id,owner,name\nX-1,,theirs\nFR-001,,Filter by date\n"


async def test_a_changed_or_removed_record_of_ours_is_reported(workspace: GitWorkspace, git: Git) -> None:
    """With the whole file, now and as we wrote it."""
    first, table = stories("Filter", "Sort", replaces=""), matrix("Filter", "Sort", replaces="")
    await commit(workspace, 1, first, table)
    ours = tuple((git.root / path).read_bytes().decode() for path in (STORIES, MATRIX))
    git.commit(STORIES, ours[0].replace("Sort", "Order"))
    git.commit(MATRIX, ours[1].replace("FR-002,Sort\r\n", ""))

    receipt = await commit(
        workspace,
        2,
        stories("Filter", "Sort", "New", replaces=first.digest),
        matrix("Filter", "Sort", "New", replaces=table.digest),
    )

    by_path = {one.path: one for one in receipt.hand_edits}
    assert {path: one.written for path, one in by_path.items()} == {
        "stories.json": ours[0],
        "matrix.csv": ours[1],
    }
    assert "Order" in by_path["stories.json"].found
    assert "FR-002" not in by_path["matrix.csv"].found
    assert "New" not in git.shown(STORIES) + git.shown(MATRIX)
    assert {one.heading for one in receipt.hand_edits} == {""}


async def test_all_records_of_ours_may_go_away(workspace: GitWorkspace, git: Git) -> None:
    first = stories("Filter", replaces="")
    await commit(workspace, 1, first)
    receipt = await commit(workspace, 2, stories(replaces=first.digest, gone=("US-001",)))
    assert receipt.hand_edits == ()
    assert STORIES not in git("ls-tree", "-r", "--name-only", "HEAD")
