"""What a search of the code base found becomes entries that people accept, or not."""

from dataclasses import replace

from bot.domain.roundtable.outcomes import CodeSurvey, KeywordHits, RelatedFile
from bot.domain.roundtable.state import Roundtable
from bot.domain.specification.entries import EntryState
from bot.domain.transcript.lines import LinePhase
from tests.domain.books import few_steps, step
from tests.domain.table import Table, person, shipped

FOUND = CodeSurvey(
    tracked_files=812,
    hits=(
        KeywordHits(keyword="SyncQueue", count=3, files=("sync/queue.py",), file_count=1),
        KeywordHits(keyword="the", count=9000, files=("a.py",), file_count=700),
        KeywordHits(keyword="Nobody", count=0),
    ),
    files_found=700,
    related=(RelatedFile(path="sync/queue.py", why="has SyncQueue"),),
)


def searched(survey: CodeSurvey = FOUND) -> Table:
    playbook = replace(few_steps(step("00-02"), step("01-01")), schema=shipped().schema)
    table = Table(playbook)
    table.world.survey = survey
    return table.start()


def entries(rt: Roundtable) -> dict[str, tuple[object, ...]]:
    found = rt.specification.entries.values()
    return {one.id: (one.state, *(claim.value for _, claim in one.current())) for one in found}


def test_what_was_found_is_proposed() -> None:
    """With hits and files; a word that is nowhere, or everywhere, is shown and not proposed."""
    table = searched()

    assert entries(table.rt) == {
        "KEY-001": (EntryState.PROPOSED, "SyncQueue", 3, ["sync/queue.py"]),
        "FILE-001": (EntryState.PROPOSED, "sync/queue.py", "has SyncQueue"),
    }
    assert "- `SyncQueue`: 3 hits in 1 file: `sync/queue.py`" in table.last.text
    assert "- `the`: 9,000 hits in 700 files: `a.py`" in table.last.text


def test_nothing_is_accepted() -> None:
    """The host has found it, and no person has said it."""
    table = searched()

    claims = [claim for one in table.rt.specification.entries.values() for _, claim in one.current()]
    assert claims
    assert not any(claim.accepted for claim in claims)


def test_the_same_search_proposes_nothing_twice() -> None:
    """It is made again when the step is finished."""
    table = searched().say("SyncQueue").finish()

    assert [key for key in entries(table.rt) if not key.startswith("NOTE-")] == ["KEY-001", "FILE-001"]


def test_a_keyword_of_people_gets_its_hits() -> None:
    """It stays theirs, and it is searched as they said it."""
    table = searched(CodeSurvey())
    patch = {"id": "KEY-001", "kind": "keyword", "new": True, "set": {"word": "syncqueue"}}
    ts, part = table.ts(), LinePhase.CLARIFYING
    table.rt = table.rt.heard(person("ada"), "Keywords: syncqueue", ts=ts, part=part, entries=[patch])
    table.world.survey = FOUND
    table.say("That is all.").finish()

    entry = table.rt.specification.entries["KEY-001"]
    assert (entry.state, entry["word"], entry["hits"]) == (EntryState.ACCEPTED, "syncqueue", 3)
    surveys = [one for one in table.completing if one.kind == "survey"]
    assert surveys[-1].keywords[0] == "syncqueue"
