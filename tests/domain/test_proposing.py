"""What a search of the code base found is proposed for the keywords that people gave, and for nothing else."""

from bot.domain.roundtable.outcomes import CodeSurvey, KeywordHits, RelatedFile
from bot.domain.specification.claims import EntryState
from tests.domain.books import searching_steps
from tests.domain.table import Table, played_once

FOUND = CodeSurvey(
    tracked_files=812,
    hits=(
        KeywordHits(keyword="SyncQueue", count=3, files=("sync/queue.py",), file_count=1),
        KeywordHits(keyword="Nobody", count=0),
    ),
    files_found=700,
    related=(RelatedFile(path="sync/queue.py", why="has SyncQueue"),),
)


@played_once
def searched() -> Table:
    table = Table(searching_steps())
    table.world.survey = FOUND
    return table.start().do_step("Keywords: syncqueue")


def test_a_keyword_of_people_gets_its_hits() -> None:
    """It stays theirs; what was found is proposed by the host, so that nobody has said it."""
    [entry] = searched().rt.specification.active("keyword")

    assert (entry.state, entry["word"], entry["hits"]) == (EntryState.ACCEPTED, "syncqueue", 3)
    hits = entry.claim("hits")
    assert hits
    assert hits.accepted is None


def test_no_keyword_and_no_file_is_guessed() -> None:
    """A word that was searched for by nobody is no entry, nor is a file that only has the word."""
    kinds = [one.kind for one in searched().rt.specification.entries.values()]

    assert kinds == ["keyword"]


def test_the_same_search_proposes_nothing_twice() -> None:
    """It is made again when the next step opens."""
    table = searched()
    [before] = table.rt.specification.active("keyword")
    table.press_continue()

    assert table.order("survey") == ["survey", "survey"]
    assert list(table.rt.specification.active("keyword")) == [before]
