"""What the engine may rely on in every workspace, whatever it is made of."""

import pytest

from bot.domain.item.artifacts import FileEdit, InsightEdit, ItemsEdit
from bot.domain.item.meta import MetaChange, Record, SlackPlace
from bot.domain.planning.projections import BRIEF
from bot.domain.roundtable.outcomes import ChangedFile, LoadedItem
from bot.domain.transcript.last_line import LastLine
from bot.domain.transcript.lines import Source
from bot.engine.ports import Workspace
from tests.storage.samples import NOW, SLUG, a_commit, a_line, a_section, state_of

SPEC = "requirements-spec.md"
LATER = "2026-11-21T11:00:00.000Z"


def an_insight(path: str = SPEC, *, number: int = 1) -> InsightEdit:
    marker = f"<!-- Elaboration: step 01-03, 2026-11-21T10:0{number}:00Z -->"
    return InsightEdit(path=path, keywords=("Scope",), marker=marker, body=f"- [Maya] insight {number}")


async def test_an_item_begins_with_its_folder(workspace: Workspace) -> None:
    """Before the first commit there is nothing, and that is no trouble."""
    assert await workspace.read(SLUG, now=NOW) == LoadedItem()
    assert await workspace.items() == ()

    receipt = await workspace.commit(SLUG, a_commit(), now=NOW)

    assert receipt.troubles == ()
    assert receipt.state.artifacts == (SPEC,)
    assert [listing.known.slug for listing in await workspace.items()] == [SLUG]


async def test_a_folder_that_somebody_removed_is_made_again(workspace: Workspace) -> None:
    """ERR-ART-001, and meta.json with it."""
    work = a_commit(2, change=MetaChange(steps=("01-02",)))

    receipt = await workspace.commit(SLUG, work, now=NOW)

    assert [one.code for one in receipt.troubles] == ["ERR-ART-001", "ERR-META-001"]
    assert receipt.state.meta.steps_completed == ("01-02",)


async def test_a_receipt_says_what_is_saved(workspace: Workspace) -> None:
    """The state in it is read from the folder, as the next reader reads it."""
    receipt = await workspace.commit(SLUG, a_commit(), now=NOW)

    assert receipt.state.meta.steps_completed == ("01-01",)
    assert (receipt.state.last_round, receipt.state.last_ts) == (1, NOW)
    assert receipt.touched == (ChangedFile(path=SPEC, heading="1. Scope"),)
    assert (await workspace.read(SLUG, now=NOW)).state == receipt.state


async def test_what_was_committed_is_not_committed_again(workspace: Workspace) -> None:
    """The engine calls again when it did not hear the answer: same commit, same receipt."""
    first = await workspace.commit(SLUG, a_commit(), now=NOW)

    again = await workspace.commit(SLUG, a_commit(), now=LATER)

    assert again == first.but(troubles=())


async def test_a_step_that_runs_again_writes_its_section_anew(workspace: Workspace) -> None:
    """Other sections of the file stay byte for byte."""
    await workspace.commit(SLUG, a_commit(edits=(a_section("first"),)), now=NOW)
    other = a_commit(2, edits=(a_section("other", heading="2. Users"),))
    await workspace.commit(SLUG, other, now=NOW)
    await workspace.commit(SLUG, a_commit(3, edits=(a_section("second"),)), now=NOW)

    text = (await workspace.files(SLUG, (SPEC,)))[SPEC]

    assert text == "# Requirements\n\n## 1. Scope\n\nsecond\n\n## 2. Users\n\nother\n"


async def test_several_edits_of_one_file_are_one_write(workspace: Workspace) -> None:
    """And each of them is reported."""
    edits = (a_section("one"), a_section("two", heading="2. Users"))

    receipt = await workspace.commit(SLUG, a_commit(edits=edits), now=NOW)

    assert [touched.heading for touched in receipt.touched] == ["1. Scope", "2. Users"]


async def test_an_edit_that_changes_nothing_touches_nothing(workspace: Workspace) -> None:
    """People are not told of an update that is none."""
    await workspace.commit(SLUG, a_commit(edits=(a_section("same"),)), now=NOW)

    receipt = await workspace.commit(SLUG, a_commit(2, edits=(a_section("same"),)), now=NOW)

    assert receipt.touched == ()


async def test_insights_are_added_where_they_belong(workspace: Workspace) -> None:
    """The heading in the receipt is the one of the section they went to."""
    await workspace.commit(SLUG, a_commit(), now=NOW)

    receipt = await workspace.commit(SLUG, a_commit(2, edits=(an_insight(),)), now=NOW)

    assert receipt.touched == (ChangedFile(path=SPEC, heading="1. Scope"),)
    text = (await workspace.files(SLUG, (SPEC,)))[SPEC]
    assert "What we know after step 1." in text
    assert "- [Maya] insight 1" in text


async def test_insights_for_a_file_that_is_not_there_are_reported(workspace: Workspace) -> None:
    """The others are still written."""
    edits = (an_insight("gone.md"), a_section("written"))

    receipt = await workspace.commit(SLUG, a_commit(edits=edits), now=NOW)

    assert [(one.code, dict(one.facts)) for one in receipt.troubles] == [
        ("ERR-ELAB-013", {"filename": "gone.md"})
    ]
    assert [touched.path for touched in receipt.touched] == [SPEC]


async def test_a_whole_file_is_written_only_where_there_is_none(workspace: Workspace) -> None:
    """What people made of the draft is theirs."""
    await workspace.commit(SLUG, a_commit(edits=(FileEdit(path="draft.md", text="ours\n"),)), now=NOW)
    await workspace.commit(SLUG, a_commit(2, edits=(FileEdit(path="draft.md", text="again\n"),)), now=NOW)

    assert await workspace.files(SLUG, ("draft.md",)) == {"draft.md": "ours\n"}


@pytest.mark.parametrize("name", ["nfr-matrix.md", "docs/common/nfr-matrix.md"])
async def test_the_shared_file_is_shared(workspace: Workspace, name: str) -> None:
    """However a step calls it, there is one for all items."""
    shared = (a_section("fast", path=name, heading="1. Speed"),)
    await workspace.commit(SLUG, a_commit(edits=shared), now=NOW)

    assert "fast" in (await workspace.files("another-item", ("nfr-matrix.md",)))["nfr-matrix.md"]


NO_ARTIFACT = (
    "../other/draft.md", "/etc/passwd", "a/../../b.md", "meta.json", "Specification.json", "planning/meeting.jsonl",
    BRIEF, ".git/config", "",
)  # fmt: skip


async def test_no_artifact_leaves_its_folder(workspace: Workspace) -> None:
    """Nor is it one of the files that say how far the item is."""
    evil = tuple(FileEdit(path=path, text="evil") for path in NO_ARTIFACT)

    receipt = await workspace.commit(SLUG, a_commit(edits=(*evil, a_section("good"))), now=NOW)

    assert [one.code for one in receipt.troubles] == ["ERR-ART-002"] * len(NO_ARTIFACT)
    assert receipt.unwritten == evil
    assert [touched.path for touched in receipt.touched] == [SPEC]
    assert await workspace.files(SLUG, NO_ARTIFACT) == {}


async def test_data_that_cannot_be_read_is_begun_anew(workspace: Workspace) -> None:
    """A fresh version is written, and people are told."""
    path = "user-stories.json"
    await workspace.commit(SLUG, a_commit(edits=(FileEdit(path=path, text="{broken"),)), now=NOW)

    edits = (ItemsEdit(path=path, items=({"id": "US-001"},)),)
    receipt = await workspace.commit(SLUG, a_commit(2, edits=edits), now=NOW)

    assert [(one.code, dict(one.facts)) for one in receipt.troubles] == [
        ("ERR-ART-003", {"artifact_name": path})
    ]
    assert "US-001" in (await workspace.files(SLUG, (path,)))[path]


async def test_progress_adds_up(workspace: Workspace) -> None:
    """Steps, phases, elaborations and the thread: what was there stays."""
    record = Record(
        step_id="01-01", turn_count=4, personas_active=(), timestamp=NOW, synthesis_summary="Found it"
    )
    slack = SlackPlace(team_id="T1", channel_id="C1", thread_ts="1.1")
    await workspace.commit(SLUG, a_commit(change=MetaChange(steps=("01-01",), slack=slack)), now=NOW)
    await workspace.commit(SLUG, a_commit(2, change=MetaChange(elaborations=(record,))), now=NOW)
    receipt = await workspace.commit(SLUG, a_commit(3, change=MetaChange(phases=("00-quick-scan",))), now=NOW)

    progress = receipt.state.meta
    assert progress.steps_completed == ("01-01",)
    assert progress.elaborations == (record,)
    assert progress.derived_status == "partial"
    assert progress.slack
    assert progress.slack.seal
    assert progress.slack.but(seal="") == slack


async def test_a_listing_says_where_an_item_is_held(workspace: Workspace) -> None:
    """So that a thread can be found again when the store was lost."""
    slack = SlackPlace(team_id="T1", channel_id="C1", thread_ts="1.1")
    created = {"description": "Too bright", "source_id": "GH-7"}
    await workspace.commit(SLUG, a_commit(change=MetaChange(created=created, slack=slack)), now=NOW)

    (listing,) = await workspace.items()

    assert (listing.known.title, listing.known.source_id) == ("Too bright", "GH-7")
    assert (listing.team, listing.channel, listing.thread) == ("T1", "C1", "1.1")
    assert (listing.status, listing.steps_completed) == ("raw", 0)


async def test_a_listing_is_never_old(workspace: Workspace) -> None:
    """However quick the second look is, it sees what was saved before."""
    for number in range(1, 4):
        await workspace.commit(SLUG, a_commit(number), now=NOW)

        assert [listing.steps_completed for listing in await workspace.items()] == [number]


async def test_no_line_is_written_twice(workspace: Workspace) -> None:
    """A line is known by its id, whichever commit brings it."""
    await workspace.commit(SLUG, a_commit(lines=(a_line("m1"), a_line("m2", round=2))), now=NOW)
    receipt = await workspace.commit(SLUG, a_commit(2, lines=(a_line("m2"), a_line("m3", round=3))), now=NOW)

    assert receipt.state.last_round == 3


async def test_only_files_that_exist_are_given(workspace: Workspace) -> None:
    """In the words they were asked for."""
    await workspace.commit(SLUG, a_commit(), now=NOW)

    assert set(await workspace.files(SLUG, (SPEC, "gone.md"))) == {SPEC}


async def test_a_state_says_what_answers_the_open_step(workspace: Workspace) -> None:
    """Who goes on from git alone has it, with the name of who said it; of a step that is done there is none."""
    facts = {"message_id": "m1", "message_ts": "1700000001.000100", "user_id": "U1", "user_name": "Ada"}
    line = a_line("m1", phase="clarifying", meta={**facts, "step_id": "01-02"})

    await workspace.commit(SLUG, a_commit(lines=(line,)), now=NOW)
    begun = await state_of(workspace)
    [heard] = begun.said
    await workspace.commit(SLUG, a_commit(2), now=NOW)
    done = await state_of(workspace)

    assert (heard.person.id, heard.person.name, heard.text) == ("U1", "Ada", line.content)
    assert (heard.ts, heard.about) == ("1700000001.000100", "01-02")
    assert done.said == ()


async def test_a_state_says_what_was_last_heard(workspace: Workspace) -> None:
    """Slack's time of the newest thing a person said, however much the personas said since then."""
    facts = [{"message_id": f"m{n}", "message_ts": f"17000000{n:02}.000100"} for n in range(1, 40)]
    heard, *said = (
        a_line(meta["message_id"], "x" * 5000, source=Source.MODEL if n else Source.USER, meta=meta)
        for n, meta in enumerate(facts)
    )

    receipt = await workspace.commit(SLUG, a_commit(lines=(heard, *said)), now=NOW)

    assert receipt.state.heard[-1] == "1700000001.000100"


async def test_edits_that_were_not_written_come_back(workspace: Workspace) -> None:
    """So that their text can be shown, and tried again; all edits of one file, and of no other."""
    bad = tuple(FileEdit(path="meta.json", text=text) for text in ("one", "two"))

    receipt = await workspace.commit(SLUG, a_commit(edits=(bad[0], a_section("good"), bad[1])), now=NOW)

    assert receipt.unwritten == bad


async def test_a_sound_item_needs_no_restoring(workspace: Workspace) -> None:
    """It is only read."""
    receipt = await workspace.commit(SLUG, a_commit(), now=NOW)

    assert await workspace.restore(SLUG, now=NOW) == LoadedItem(state=receipt.state)
    assert await workspace.restore("unknown", now=NOW) == LoadedItem()


async def test_a_transcript_that_lacks_a_line_is_behind(workspace: Workspace) -> None:
    """Whoever knows of a commit that this clone has not heard of can tell, before and after the next one."""
    await workspace.commit(SLUG, a_commit(1), now=NOW)
    for after, behind in (("", False), ("C1.1", False), ("C1.9", True), ("C1", True)):
        state = await state_of(workspace, after=LastLine(id=after))
        assert state.behind is behind

    assert not (await workspace.commit(SLUG, a_commit(2), now=NOW, after=LastLine(id="C1.1"))).state.behind
    assert (await workspace.commit(SLUG, a_commit(3), now=NOW, after=LastLine(id="C1.9"))).state.behind
