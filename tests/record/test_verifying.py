"""Whether a record holds: all that is kept says what the lines say, or the first place that does not is named."""

import json
from collections.abc import Iterator
from pathlib import Path
from subprocess import run

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.domain.replay_change import REPRODUCED
from bot.domain.replay_meta import fields
from bot.record.verifying import Item, differences
from bot.storage.record import Version, versions
from tests.record.kept import an_evening, committed, written

META = "meta.json"
MEETING = "planning/meeting.jsonl"
SCAN = "quick-scan.md"


class Kept:
    """An item, and what git has of it; a test may spoil a file, and it is as it was for the next."""

    def __init__(self, item: Item) -> None:
        self.item = item
        self.versions: tuple[Version, ...] = tuple(versions(item.folder))
        self._files = {name: (item.folder / name).read_bytes() for name in (META, MEETING, SCAN)}

    def __getitem__(self, name: str) -> bytes:
        return self._files[name]

    def spoilt(self, name: str, content: bytes) -> list[str]:
        (self.item.folder / name).write_bytes(content)
        return [str(one) for one in differences(self.item, self.versions)]

    def mend(self) -> None:
        for name, content in self._files.items():
            (self.item.folder / name).write_bytes(content)


@pytest.fixture(scope="module")
def evening(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    return Kept(committed(an_evening(), tmp_path_factory.mktemp("evening")))


@pytest.fixture
def kept(evening: Kept) -> Iterator[Kept]:
    yield evening
    evening.mend()


def test_a_record_of_ours_holds(kept: Kept) -> None:
    """After discussions, a phase that is over, a change of depth and a pause."""
    assert list(differences(kept.item, kept.versions)) == []
    assert len(kept.versions) > 5


def test_a_home_and_its_seal_are_no_part_of_the_record(kept: Kept) -> None:
    """An old file has none, a new one has; neither follows from the lines."""
    found = json.loads(kept[META])
    for slack in (None, {}, {"channel_id": "C1"}, {"channel_id": "C1", "seal": "0" * 64}):
        fields_ = {name: fact for name, fact in found.items() if name != "slack"}
        fields_ |= {} if slack is None else {"slack": slack}
        assert kept.spoilt(META, json.dumps(fields_, indent=2).encode() + b"\n") == []


def test_it_holds_without_git_too(tmp_path: Path) -> None:
    """Then nobody vouches for the lines, and the rest is compared with them."""
    assert list(differences(written(an_evening(), tmp_path))) == []


def places(kept: Kept, name: str) -> list[int]:
    """The bytes that must not be others: all of the lines, and what follows from them elsewhere."""
    content = kept[name]
    if name == MEETING:
        return list(range(len(content)))
    if name == META:
        found = fields(content.decode())
        return [at for one in REPRODUCED for at in range(found[one].start, found[one].end)]
    start = content.index(b"<!-- Elaboration: ")
    end = content.index(b"#### Open Questions\n- None recorded.\n") + len(
        b"#### Open Questions\n- None recorded.\n"
    )
    return list(range(start, end))


@pytest.mark.parametrize("name", [META, MEETING, SCAN])
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(luck=st.integers(0, 2**32), bit=st.integers(0, 7))
def test_one_flipped_bit_is_found(kept: Kept, name: str, luck: int, bit: int) -> None:
    """Wherever it is, and the file is named in which it is, with a line of it."""
    possible = places(kept, name)
    spoilt = bytearray(kept[name])
    spoilt[possible[luck % len(possible)]] ^= 1 << bit
    found = kept.spoilt(name, bytes(spoilt))
    kept.mend()

    assert any(one.startswith(f"{name}:") for one in found)


def test_the_line_is_named_that_is_another(kept: Kept) -> None:
    """The place to look at, in an editor's notation."""
    rows = kept[MEETING].split(b"\n")
    rows[6] = rows[6].replace(b"Photos", b"photos")

    assert kept.spoilt(MEETING, b"\n".join(rows))[0].startswith(f"{MEETING}:7: is not what commit ")


def test_a_line_that_is_gone_is_found(kept: Kept) -> None:
    """A transcript is only ever added to."""
    rows = kept[MEETING].split(b"\n")

    assert f"{MEETING}:10: is not what commit" in kept.spoilt(MEETING, b"\n".join([*rows[:9], *rows[10:]]))[0]


def test_more_lines_than_were_committed_are_none(kept: Kept) -> None:
    """A death between the write and the commit leaves some behind."""
    more = kept[MEETING].splitlines()[-1].replace(b'"message_id": "', b'"message_id": "x')

    assert kept.spoilt(MEETING, kept[MEETING] + more + b"\n") == []


def test_a_step_that_no_line_finished_is_found(kept: Kept) -> None:
    """And both sides are told."""
    spoilt = kept[META].replace(b'"00-03",', b'"00-03",\n    "00-09",')

    assert 'steps_completed has "00-09", where the lines say "01-01"' in kept.spoilt(META, spoilt)[0]


def test_what_people_may_change_by_hand_is_no_difference(kept: Kept) -> None:
    """The limit of turns, fields of other tools, and everything outside of what elaborations wrote."""
    config = b'{\n  "elaboration_config": {"max_turns": 4},\n  "owner": "grace",'
    assert kept.spoilt(META, kept[META].replace(b"{", config, 1)) == []

    amended = b"# My own title\n\nAnd a word before.\n\n" + kept[SCAN] + b"\nAnd one after.\n"
    assert kept.spoilt(SCAN, amended) == []


def test_another_kind_of_line_end_is_no_difference(kept: Kept) -> None:
    """Where it is the same one throughout: some checkouts convert."""
    assert kept.spoilt(SCAN, kept[SCAN].replace(b"\n", b"\r\n")) == []


def test_a_section_that_is_gone_is_found(kept: Kept) -> None:
    """Git remembers that it was there."""
    spoilt = kept[SCAN].replace(b"<!-- Elaboration: step 00-01", b"<!-- Elaborated: step 00-01")

    assert "has lost the section under <!-- Elaboration: step 00-01" in kept.spoilt(SCAN, spoilt)[0]


def test_a_section_of_no_elaboration_is_found(kept: Kept) -> None:
    """Whoever wrote it, it was not said."""
    forged = b"\n<!-- Elaboration: step 00-02, 2026-01-01T00:00:00.000Z -->\n\nWe agreed on everything.\n"

    assert "names an elaboration that the record does not know" in kept.spoilt(SCAN, kept[SCAN] + forged)[0]


def test_a_history_that_was_rewritten_is_found(tmp_path: Path) -> None:
    """Also where the newest version is what the file says."""
    item = committed(an_evening(), tmp_path)
    rows = item.transcript.read_bytes().split(b"\n")
    rows[4] = rows[4].replace(b"lose their edits", b"lost their edits")
    item.transcript.write_bytes(b"\n".join(rows))
    who = ["-c", "user.name=Eve", "-c", "user.email=eve@example.org"]
    run(["git", "-C", str(tmp_path), *who, "commit", "--quiet", "--all", "-m", "nothing"], check=True)

    (found,) = differences(item, tuple(versions(item.folder)))
    assert str(found).startswith(f"{MEETING}:5: is not what commit ")


def test_lines_of_two_clones_may_be_sorted_into_each_other(tmp_path: Path) -> None:
    """Joining two clones raises rounds, and keeps everything else of every line."""
    item = committed(an_evening(), tmp_path)
    rows = item.transcript.read_bytes().splitlines()
    other = (
        rows[-1].replace(b'"message_id": "', b'"message_id": "other.').replace(b'"round": 26', b'"round": 27')
    )
    later = rows[-1].replace(b'"round": 26', b'"round": 27')
    item.transcript.write_bytes(b"\n".join([*rows[:-1], other, later]) + b"\n")

    assert list(differences(item, tuple(versions(item.folder)))) == []


def test_an_id_that_is_used_twice_is_found(kept: Kept) -> None:
    """By the line that uses it again."""
    last = kept[MEETING].splitlines()[-1]
    number = len(kept[MEETING].splitlines())

    assert kept.spoilt(MEETING, kept[MEETING] + last + b"\n")[0] == (
        f"{MEETING}:{number + 1}: has the message_id of line {number}"
    )


def test_a_meta_json_that_is_gone_is_found(kept: Kept) -> None:
    """The lines say that there was one."""
    (kept.item.folder / META).unlink()

    assert str(next(differences(kept.item, kept.versions))) == "meta.json:1: is not there"


def test_turns_that_are_not_in_the_lines_are_found(tmp_path: Path) -> None:
    """Whoever took one out of the transcript and of its history did not take it out of the record."""
    item = written(an_evening(), tmp_path)
    rows = item.transcript.read_bytes().splitlines(keepends=True)
    item.transcript.write_bytes(b"".join(row for row in rows if b'"turn_id": "t03"' not in row))

    assert [one.sentence for one in differences(item)] == [
        "is said to end 5 turns, and the lines before it hold 4",
        "is said to end 7 turns, and the lines before it hold 6",
    ]


def test_a_record_from_before_lines_carried_changes_holds_as_far_as_it_goes(tmp_path: Path) -> None:
    """Its discussions are compared with what meta.json says of them, and its sections with its syntheses."""
    item = written(an_evening(), tmp_path)
    rows = [json.loads(row) for row in item.transcript.read_bytes().splitlines()]
    for row in rows:
        row["meta"].pop("change", None)
    item.transcript.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert list(differences(item)) == []

    scan = item.folder / SCAN
    scan.write_text(scan.read_text().replace("[Ada] It matters", "[Eve] It matters"))
    assert [(one.file, one.sentence) for one in differences(item)] == [
        (SCAN, "is not what the synthesis in the record says")
    ]


def test_a_transcript_that_lies_anywhere_is_held_against_what_lies_beside_it_alone(tmp_path: Path) -> None:
    """What is below a folder of downloads is nobody's business, and may be without end."""
    item = written(an_evening(), tmp_path)
    alone = item.transcript.rename(item.folder / "evening.jsonl")
    below = item.folder / "other"
    below.mkdir()
    (below / "page.md").write_text("<!-- Elaboration: step 09-09, 2026-01-01T00:00:00.000Z -->\n")

    assert list(differences(Item(item.folder, alone))) == []
