"""Two versions of an item's record as one: no line, no field and no progress of either is lost."""

import json
from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from bot.domain.transcript.lines import append, read
from bot.domain.transcript.merging import metas, transcripts
from bot.domain.transcript.seal import Sealer
from bot.domain.transcript.witness import Witness
from tests.domain.test_transcript import FOREIGN, line

ENDS = (Witness(n=2, digest="ab" * 32), Witness(n=3, digest="cd" * 32))
BEFORE = append(b"", [line(1), line(2)])
sides = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2), st.booleans()), max_size=6)


def written(name: str, said: list[tuple[int, int, bool]]) -> bytes:
    """What one side added: lines whose times and rounds never decrease, some of another tool without an id."""
    content, rounds = BEFORE, accumulate((step for _, step, _ in said), initial=2)
    for number, ((second, _, known), round_) in enumerate(zip(sorted(said), list(rounds)[1:], strict=True)):
        meta = {"message_id": f"{name}.{number}"} if known else {"tool": f"{name}.{number}"}
        one = line(3, ts=f"2026-03-01T10:01:0{second}.000Z", round=round_, meta=meta)
        content = append(content, [one])
    return content


def names(content: bytes, prefix: str) -> list[str]:
    found = [str(one.meta.get("message_id") or one.meta.get("tool")) for one in read(content).lines]
    return [name for name in found if name.startswith(prefix)]


@given(sides, sides)
def test_every_line_of_both_is_there_once_and_in_order(
    theirs: list[tuple[int, int, bool]], ours: list[tuple[int, int, bool]]
) -> None:
    """The lines of each side keep their order, times and rounds never decrease; our next commit is merged as well."""
    one, other = written("T", theirs), written("O", ours)

    merged = transcripts(BEFORE, one, other, ends=ENDS, sealer=Sealer())

    assert names(merged, "T") == names(one, "T")
    assert names(merged, "O") == names(other, "O")
    assert names(merged, "C1.") == ["C1.1", "C1.2"]
    assert read(merged).flaws == ()
    assert len(names(merged, "merge-")) == bool(ours)
    after = transcripts(other, merged, append(other, [line(59)]), ends=ENDS, sealer=Sealer())
    assert names(after, "T") + names(after, "O") == names(one, "T") + names(other, "O")
    assert names(after, "C1.") == ["C1.1", "C1.2", "C1.59"]
    assert len(names(after, "merge-")) == 1


def test_the_line_of_a_merge_names_both_ends() -> None:
    """It comes last, and the meeting goes on where it was."""
    theirs, ours = append(BEFORE, [line(3)]), append(BEFORE, [line(4)])

    last = read(transcripts(BEFORE, theirs, ours, ends=ENDS, sealer=Sealer())).lines[-1]

    assert last.meta["merged"] == [f"{end.n} {end.digest}" for end in ENDS]
    assert (last.ts, last.round, last.phase) == (line(4).ts, 4, line(4).phase)


def test_a_line_that_only_we_changed_stays_changed() -> None:
    """A secret was taken out of it while others went on."""
    ours = BEFORE.replace(b"Answer 2", b"[hidden]")
    theirs = append(BEFORE, [line(3)])

    merged = transcripts(BEFORE, theirs, ours, ends=ENDS, sealer=Sealer())

    assert b"Answer 2" not in merged
    assert names(merged, "C1.") == ["C1.1", "C1.2", "C1.3"]


def test_what_another_tool_wrote_stays_byte_for_byte() -> None:
    """Also where it is no line of ours."""
    merged = transcripts(b"", BEFORE + FOREIGN, FOREIGN + append(b"", [line(3)]), ends=ENDS, sealer=Sealer())

    assert merged.count(FOREIGN) == 1
    assert merged.startswith(BEFORE + FOREIGN)


def test_fields_are_merged_one_by_one() -> None:
    """Progress of both counts, a field of another tool stays, and what nobody changed is as it was."""
    before = {"slug": "x", "steps_completed": ["01-01"], "elaboration_config": {"max_turns": 10}, "mood": 1}
    theirs = before | {"steps_completed": ["01-01", "01-03"], "mood": {"good": 1e-7}}
    ours = before | {
        "steps_completed": ["01-01", "01-02"],
        "elaboration_config": {"max_turns": 5},
        "new": None,
        "analysis_status": "raw",
    }

    merged = metas(*(json.dumps(side).encode() for side in (before, theirs, ours)))

    assert json.loads(merged or b"") == {
        "slug": "x",
        "steps_completed": ["01-01", "01-02", "01-03"],
        "elaboration_config": {"max_turns": 5},
        "mood": {"good": 1e-7},
        "new": None,
        "analysis_status": "raw",
    }


def test_a_line_that_they_deleted_stays_deleted() -> None:
    """A person's edit of the record stands, as it does when nothing else happened."""
    theirs, ours = append(b"", [line(1)]), append(BEFORE, [line(3)])

    assert names(transcripts(BEFORE, theirs, ours, ends=ENDS, sealer=Sealer()), "C1.") == ["C1.1", "C1.3"]


def test_a_meta_json_that_cannot_be_read_is_not_merged() -> None:
    """If theirs is damaged, it is kept beside ours; if ours is, theirs is used."""
    assert metas(b"{}", b"{", b'{"a": 1}') is None
    assert metas(b"{}", b'{"a": 1}', b"{") == b'{"a": 1}'
