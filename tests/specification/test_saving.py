"""What a commit takes of the specification, and what a roundtable that lost its store takes from git."""

from bot.domain.item.artifacts import SectionEdit, changed_by_hand, digest_of
from bot.domain.roundtable.effects import Commit
from bot.domain.roundtable.outcomes import CommitResult, HandEdit, ItemRead, ItemState, LoadedItem
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import opening, specifying, trouble
from bot.domain.roundtable.transitions.saving import queue_commit
from bot.domain.specification import snapshot
from bot.domain.specification.snapshot import HASH, SECTIONS, folded, hash_of
from bot.domain.transcript.lines import LinePhase, Source
from bot.domain.values.places import Person
from tests.domain.books import few_steps, step
from tests.domain.table import Table
from tests.specification.meeting import PLAYBOOK, Meeting

ADA = Person(id="UADA", name="Ada")
TWO = few_steps(step("00-01", "Scope"), step("00-02", "Words"))


def told(rt: Roundtable, text: str, *, step_id: str = "01-06") -> Roundtable:
    """What Ada says in a message of its own."""
    patches = specifying.said(rt, text, ADA, PLAYBOOK, step_id=step_id)
    ts = f"17000{len(rt.lines):05}.000100"
    return rt.heard(ADA, text, ts=ts, part=LinePhase.CLARIFYING, step_id=step_id, entries=patches)


def a_roundtable() -> Roundtable:
    return told(Table(TWO).start().rt, "requirement: Filter by date")


def committed(rt: Roundtable) -> Commit:
    commit = rt.outbox[-1]
    assert isinstance(commit, Commit)
    return commit


# --- sections -----------------------------------------------------------------------------------------------------


def test_a_section_says_what_it_replaces() -> None:
    """Nothing at first; then what was written before. What did not change is not written again."""
    rt, first = specifying.written(a_roundtable(), PLAYBOOK, ["01-06"])
    assert {edit.replaces for edit in first if isinstance(edit, SectionEdit) and not edit.last} == {""}
    assert specifying.written(rt, PLAYBOOK)[1] == ()

    rt = told(rt, "requirement: Sort by name")
    _, second = specifying.written(rt, PLAYBOOK)

    assert second
    for edit in (one for one in second if isinstance(one, SectionEdit) and not one.last):
        before = next(one for one in first if one.path == edit.path)
        text = before.apply(None)
        assert not changed_by_hand(edit, text)
        assert changed_by_hand(edit, text.replace("Filter", "Search"))


def by_hand(rt: Roundtable, old: str, new: str) -> HandEdit:
    """Linus changed the requirements, and no commit has our text any more."""
    _, edits = specifying.written(rt, PLAYBOOK, ["01-06"])
    edit = next(
        one for one in edits if isinstance(one, SectionEdit) and "Functional Requirements" in one.heading
    )
    found = edit.body.replace(old, new)
    assert found != edit.body
    return by_hand_in(edit, found)


def by_hand_in(edit: SectionEdit, found: str) -> HandEdit:
    who = {"author": "Linus", "commit": "4b29257", "written": None, "replaces": edit.digest}
    return HandEdit(path=edit.path, heading=edit.heading, found=found, digest=digest_of(found), **who)


def test_a_row_that_does_not_fit_is_told_once_and_the_others_stay_theirs() -> None:
    """
    Until it is corrected, the section is compared with the text that we wrote. What no commit has is compared with what
    the entries gave: only what a person changed is theirs, and what changed in the thread since stays.
    """
    before = told(told(a_roundtable(), "AC: it shows"), "FR-001 priority: must")
    before = told(before, "requirement: Sort by name")
    edit = by_hand(before, "Sort by name", "Sort by size")
    wrong = edit.but(found=edit.found.replace("must", "very"), digest="wrong")
    queued = queue_commit(before, "step")
    commit = committed(queued)
    receipt = CommitResult(
        sha="",
        state=ItemState(meta=Table(TWO).start().meta),
        hand_edits=(wrong,),
        before=before.specification,
    )

    rt = trouble.committed(queued, commit, PLAYBOOK, told=receipt)
    again = trouble.committed(rt.but(outbox=(), unsaved=()), commit, PLAYBOOK, told=receipt)
    assert len(again.lines) == len(rt.lines) == 1
    assert not again.has_pending(Commit)
    assert edit.replaces in {*rt.written.values()}

    rt = told(again, "FR-001: Filter by month")
    rt = specifying.read_back(rt, [edit], PLAYBOOK, before=before.specification)
    titles = {id: rt.specification.entries[id].claim("title") for id in ("FR-001", "FR-002")}
    assert {id: (one.value, one.author.name) for id, one in titles.items() if one} == {
        "FR-001": ("Filter by month", "UADA"), "FR-002": ("Sort by size", "Linus"),
    }  # fmt: skip


def test_every_section_of_ours_is_read_back() -> None:
    """Also those of notes.md, which no step names: else a change there would keep our rows out for ever."""
    rt = told(a_roundtable(), "decision: Use a queue; because: it is known")
    rt = told(rt, "DEC-001: Use a log")
    for at, step_id in enumerate(("00-01", "01-07"), start=4):
        rt = told(rt, f"Ask depot {at} for it.", step_id=step_id)
    rt, edits = specifying.written(rt, PLAYBOOK, ["01-06", "01-07"])
    sections = [one for one in edits if isinstance(one, SectionEdit) and one.body and not one.last]
    assert sum(one.path == "notes.md" for one in sections) > 1

    for edit in sections:
        found = edit.body.replace(" — ", " today — ").replace(": ", ": today ", 1)
        change = by_hand_in(edit, found)
        after = specifying.read_back(rt, [change], PLAYBOOK, before=rt.specification)
        again = specifying.read_back(rt, [change.but(found=edit.body)], PLAYBOOK, before=rt.specification)

        assert f"Linus changed `{edit.path}` > {edit.heading} by hand" in after.lines[-1].content
        assert "today" in str(after.lines[-1].meta["entries"])
        assert "entries" not in again.lines[-1].meta


# --- commits ------------------------------------------------------------------------------------------------------


def test_a_commit_carries_the_specification_and_its_last_line_the_hash() -> None:
    """With the digests of the sections in it; the line is ours, since people's may be in the file already."""
    rt, edits = specifying.written(a_roundtable(), PLAYBOOK, ["01-06"])
    commit = committed(queue_commit(rt, "step 01-06", edits=edits))
    last = commit.lines[-1]

    assert snapshot.read(commit.snapshot) == (rt.specification.but(heard={}), rt.written)
    assert last.source is Source.SYSTEM
    assert last.meta[HASH] == hash_of(commit.snapshot)
    assert last.meta[SECTIONS] == rt.written
    assert folded(commit.lines).specification.entries == rt.specification.entries


def test_a_commit_without_sections_names_none() -> None:
    commit = committed(queue_commit(a_roundtable(), "stopped"))
    assert HASH in commit.lines[-1].meta
    assert SECTIONS not in commit.lines[-1].meta


def test_a_roundtable_without_entries_commits_no_specification() -> None:
    """As every item that was begun before there were any."""
    commit = committed(queue_commit(Table(TWO).start().rt, "stopped"))
    assert commit.snapshot == ""
    assert all(HASH not in line.meta for line in commit.lines)


# --- from git -----------------------------------------------------------------------------------------------------


def in_git(table: Table, effect: str) -> ItemRead:
    meeting = Meeting()
    meeting.say("Ada", "01-06", "requirement: Filter by date")
    state = ItemState(meta=table.meta, specification=meeting.specification, written={"a.md#1": "0"})
    return ItemRead(
        key="r", at="2026-11-22T10:00:00.000Z", effect=effect, item=LoadedItem(state=state), recovering=True
    )


def test_a_roundtable_that_lost_its_store_has_what_git_has() -> None:
    table = Table(TWO).start().do_step().stop_paying().forget()
    read = in_git(table, table.rt.outbox[0].id)
    assert read.item.state

    rt = opening.item_read(table.rt, read, TWO)

    assert rt.specification.entries == read.item.state.specification.entries
    assert rt.written == {"a.md#1": "0"}


def test_a_roundtable_that_has_its_store_keeps_what_it_knows() -> None:
    """Its newest entries are in no commit yet."""
    table = Table(TWO).start().do_step()
    rt = told(table.rt, "requirement: Sort by name")
    assert rt.last_line

    assert opening.item_read(rt, in_git(table, "e"), TWO).specification == rt.specification
