"""Transcripts written by hand to the schema, with whatever files go through: each flaw is told by its line."""

from pathlib import Path

from bot.domain.transcript.state import State
from bot.record.brief import read_record
from bot.record.page import as_html
from bot.record.reading import replay
from bot.record.text import as_markdown
from bot.record.verify import RecordedItem, differences
from tests.record.kept import record_at

GOLDEN = Path(__file__).parent / "golden"
DAMAGED = GOLDEN / "damaged.jsonl"
FLAWS = [
    (4, "is earlier (2025-03-01T10:15:30.900Z) than the line before it (2025-03-01T10:15:31.000Z)"),
    (5, "goes back from round 1 to 0"),
    (5, "is clarifying in round 0, which was draft before it"),
    (6, "is not JSON"),
    (7, "has no whole number as round"),
    (8, "has no valid actor, content, phase, source, ts"),
    (9, "is not a JSON object"),
    (11, "has a meta that is not an object"),
    (12, "is not UTF-8"),
    (14, "was cut off in the middle of being written"),
]


def state() -> State:
    return replay(record_at(DAMAGED))


def test_each_flaw_has_its_line_and_one_sentence() -> None:
    """A clock and a round that go back, torn and foreign rows, wrong types; and nothing more than that."""
    assert [(flaw.number, flaw.sentence) for flaw in state().flaws] == FLAWS


def test_what_is_sound_is_replayed() -> None:
    """Lines that are only out of order count; a mark of the byte order, CR LF and empty rows are no flaws."""
    found = state()

    assert (found.lines, found.line) == (6, 14)
    assert (found.round, found.part) == (4, "formalizing")
    assert [one.name for one in found.personas] == ["TestPlanner", "LegalReviewer"]
    assert found.totals.by_provider["local"].tokens_in == 10
    assert (found.totals.all.tokens_out, found.totals.all.cost) == (0, 0)


def test_every_form_shows_all_of_it() -> None:
    """Bad lines stand where they are, with what is wrong with them."""
    record = read_record(record_at(DAMAGED))
    text = "\n".join(as_markdown(record, title="Damaged"))
    page = "".join(as_html(record, title="Damaged"))

    for number in (6, 7, 8, 9, 11, 12, 14):
        assert f"*Line {number} " in text
        assert f'id="L{number}" class="flaw"' in page
    assert "An actor of the project" in text


def test_without_a_meta_json_only_the_lines_are_verified() -> None:
    """Nobody else has said how far it is."""
    found = list(differences(RecordedItem(GOLDEN, DAMAGED)))

    assert [(one.file, one.line) for one in found] == [("damaged.jsonl", number) for number, _ in FLAWS]
