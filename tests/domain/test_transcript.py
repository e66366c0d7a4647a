import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from bot.domain.transcript.fold import fold
from bot.domain.transcript.lines import (
    HOST,
    Flaw,
    Line,
    LinePhase,
    Source,
    append,
    no_valid,
    parse,
    whole_rows,
)
from bot.record.reading import TORN
from tests.transcripts import read

SEED = b"""{"ts": "2025-03-01T10:15:30.123Z", "round": 3, "actor": "SystemDesigner", "phase": "workshop", \
"role": "planning", "source": "model", "content_type": "markdown", "content": "Proposed tasks", \
"meta": {"task_id": "TASK-001", "message_id": "uuid-or-provider-id", "tokens_in": 123}}
"""
FOREIGN = b'{"kind": "note", "text": "not ours"}\n'


def line(number: int = 1, **fields: Any) -> Line:
    standard: dict[str, Any] = {
        "ts": f"2026-03-01T10:00:{number:02}.000Z",
        "round": number,
        "actor": "User",
        "phase": LinePhase.CLARIFYING,
        "role": "user",
        "source": Source.USER,
        "content": f"Answer {number}",
        "meta": {"message_id": f"C1.{number}"},
    }
    return Line(**standard | fields)


timestamps = st.datetimes().map(lambda at: at.strftime("%Y").zfill(4) + at.strftime("-%m-%dT%H:%M:%S.000Z"))
texts = st.text()
our_lines = st.lists(
    st.builds(
        line,
        st.integers(1, 9),
        ts=timestamps,
        content=texts,
        meta=st.fixed_dictionaries(
            {}, optional={"message_id": st.sampled_from("abcdef"), "user_name": texts}
        ),
    ),
    max_size=6,
)
rows = st.sampled_from(
    [SEED, FOREIGN, b"\n", b"{}\n", b"\xff\n", b"[1]\n", line(2).as_json().encode() + b"\r\n"]
)
file_contents = st.lists(rows | st.binary(max_size=8), max_size=5).map(b"".join)


class TestLines:
    def test_the_seed_s_example_is_a_line(self) -> None:
        """Every field of seed 004 §1, and what it may add in meta."""
        (found,) = read(SEED).lines

        assert json.loads(found.as_json()) == json.loads(SEED)
        assert found.message_id == "uuid-or-provider-id"

    def test_what_the_schema_lets_be_absent_has_a_default(self) -> None:
        """Content is Markdown unless somebody says otherwise."""
        required = {
            name: value for name, value in json.loads(SEED).items() if name not in {"content_type", "meta"}
        }
        (found,) = read(json.dumps(required).encode() + b"\n").lines

        assert (found.content_type, found.meta, found.message_id) == ("markdown", {}, "")

    @pytest.mark.parametrize(
        "wrong",
        [
            {"ts": "2026-03-01T10:00:00Z"},
            {"ts": "2026-03-01 10:00:00.000"},
            {"ts": "٢٠٢٦-03-01T10:00:00.000Z"},
            {"round": -1},
            {"actor": ""},
            {"phase": "lunch"},
            {"source": "robot"},
            {"content_type": "html"},
        ],
    )
    def test_a_line_against_the_schema_cannot_be_made(self, wrong: dict[str, Any]) -> None:
        """Writing is strict."""
        with pytest.raises(ValidationError):
            line(**wrong)

    @given(texts, st.dictionaries(st.text(), texts, max_size=3))
    def test_a_line_is_one_line_for_every_reader(self, content: str, meta: dict[str, str]) -> None:
        """Not only for those who know that JSON Lines end with a line feed."""
        text = line(content=content, meta=meta).as_json()

        assert len(text.splitlines()) == 1
        assert Line.model_validate_json(text) == line(content=content, meta=meta)

    def test_half_a_character_can_be_written(self) -> None:
        """A name that an app cut in the middle of an emoji."""
        text = line(meta={"user_name": "Ada \ud83d"}).as_json()

        assert b"\\ud83d" in text.encode()


class TestReading:
    @pytest.mark.parametrize(
        ("row", "sentence"),
        [
            (b"\xff", "is not UTF-8"),
            (b"{", "is not JSON"),
            (b"[" * 100_000, "is not JSON"),
            (b"\x00\x00" + SEED.strip(), "is not JSON"),
            (SEED.strip() + b"," + SEED.strip(), "is not JSON"),
            (b"[]", "is not a JSON object"),
            (b"{}", "has no whole number as round"),
            (SEED.strip().replace(b'"round": 3', b'"round": true'), "has no whole number as round"),
            (SEED.strip().replace(b'"round": 3', b'"round": 3.0'), "has no whole number as round"),
            (SEED.strip().replace(b'"round": 3', b'"round": 9007199254740993'), no_valid(["round"])),
            (SEED.strip().replace(b"03-01T10", b"13-01T10"), no_valid(["ts"])),
            (SEED.strip().replace(b"10:15:30", b"10:15:61"), no_valid(["ts"])),
            (SEED.strip().replace(b"30.123Z", b"30Z"), no_valid(["ts"])),
            (b'{"round": 1, "meta": []}', "has a meta that is not an object"),
            (b'{"round": 1}', "has no valid actor, content, phase, role, source, ts"),
            (SEED.strip().replace(b"workshop", b"lunch"), no_valid(["phase"])),
        ],
    )
    def test_a_bad_line_is_reported_by_its_number(self, row: bytes, sentence: str) -> None:
        """And the rest is still read."""
        found = read(SEED + b"\n" + row + b"\n" + SEED)

        assert found.flaws == (Flaw(number=3, sentence=sentence),)
        assert len(found.lines) == 2

    def test_the_last_line_is_held_to_the_same_without_its_line_end(self) -> None:
        """An editor may have dropped it; the invariants hold for it too."""
        content = append(b"", [line(3)]) + line(2, ts=line(4).ts).as_json().encode()

        assert [flaw.number for flaw in read(content).flaws] == [2]

    @given(file_contents | st.binary())
    def test_any_bytes_can_be_read(self, content: bytes) -> None:
        """As what stands there, up to what was cut off."""
        assert content.startswith(whole_rows(content).removesuffix(b"\n"))
        read(content)


class TestOtherNotations:
    def test_what_means_the_same_is_the_same_line(self) -> None:
        """Python says `+00:00` for UTC."""
        found = read(SEED.replace(b".123Z", b".123+00:00"))

        assert (found.lines, found.flaws) == (read(SEED).lines, ())


class TestTornTails:
    content = append(b"", [line(1), line(2, content="Größe 🎉"), line(3)])

    def test_a_file_cut_anywhere_loses_no_whole_line(self) -> None:
        """F4: the tail is repaired by the next append, and what was lost can be written again."""
        lines = (line(1), line(2, content="Größe 🎉"), line(3))
        ends = [end.start() for end in re.finditer(b"\n", self.content)]

        for cut in range(len(self.content) + 1):
            torn, whole = self.content[:cut], sum(end <= cut for end in ends)
            assert read(torn).lines == lines[:whole], f"cut after byte {cut}"
            assert append(torn, lines) == self.content, f"cut after byte {cut}"

    def test_a_torn_tail_is_named(self) -> None:
        """The whole rows end before it."""
        (flaw,) = read(self.content[:-5]).flaws

        assert flaw == Flaw(number=3, sentence=TORN)
        assert whole_rows(self.content[:-5]) == self.content[: self.content.rindex(b"\n", 0, -1) + 1]

    def test_a_last_line_without_its_line_end_is_whole(self) -> None:
        """An editor did that, not a crash."""
        found = read(self.content[:-1])

        assert (len(found.lines), found.flaws) == (3, ())

    def test_zeros_at_the_end_are_cut(self) -> None:
        """What a file system leaves of a write that it never finished."""
        assert append(self.content + b"\x00" * 100, []) == self.content
        assert append(self.content[:-1] + b"\x00" * 100, []) == self.content

    @pytest.mark.parametrize(
        "theirs",
        [
            FOREIGN.rstrip(b"\n"),
            b"a note of somebody's",
            b"42",
            b"}",
            b'{"ts": "2025", oops}',
            line(2).as_json().encode() * 2,
            b"\r".join([line(2).as_json().encode()] * 3),
            line(2, content="é").as_json().encode("latin-1"),
        ],
        ids=["unknown", "note", "number", "indented", "mistake", "two-on-a-row", "old-mac", "latin-1"],
    )
    def test_somebody_else_s_last_line_is_not_a_torn_one(self, theirs: bytes) -> None:
        """Only the beginning of an object and nothing more was cut off: whatever else stands there stays."""
        before = self.content + theirs

        after = append(before, [line(4)])

        assert after == before + b"\n" + line(4).as_json().encode() + b"\n"
        assert TORN not in {flaw.sentence for flaw in read(before).flaws}


class TestAppending:
    def test_no_line_is_written_twice(self) -> None:
        """A commit that is made again after a crash brings the same lines."""
        once = append(b"", [line(1), line(2)])

        assert append(once, [line(1), line(2), line(3)]) == once + line(3).as_json().encode() + b"\n"

    def test_lines_without_an_id_are_all_written(self) -> None:
        """Equal words can be said twice."""
        assert len(read(append(b"", [line(1, meta={}), line(1, meta={})])).lines) == 2

    def test_a_line_that_would_go_back_is_brought_up(self) -> None:
        """A clock that was set back, a store that was lost: the invariants hold for whoever reads the file."""
        found = read(append(append(b"", [line(5)]), [line(2)]))

        assert found.flaws == ()
        assert (found.lines[1].round, found.lines[1].ts) == (5, line(5).ts)

    @given(
        st.lists(
            st.tuples(
                st.sampled_from(LinePhase),
                st.sampled_from(Source),
                st.sampled_from((HOST, "BusinessAnalyst")),
                st.booleans(),
            ),
            max_size=12,
        )
    )
    def test_a_round_has_one_phase_wherever_lines_are_written(
        self, spoken: list[tuple[LinePhase, Source, str, bool]]
    ) -> None:
        """Two clones went on apart: the lines of one come after those of the other."""
        lines: tuple[list[Line], list[Line]] = [], []
        for number, (phase, source, actor, elsewhere) in enumerate(spoken, start=1):
            told = {"phase": phase, "source": source, "role": "review", "actor": actor}
            lines[elsewhere].append(line(number, ts=line(1).ts, **told))
        content = append(append(b"", lines[0]), lines[1])

        assert fold(enumerate(map(parse, content.splitlines()), start=1)).flaws == ()

    @given(file_contents, our_lines)
    def test_what_others_wrote_stays_byte_for_byte(self, content: bytes, lines: list[Line]) -> None:
        """Up to the last whole line; what follows is the line end it lacked, and our lines."""
        assert append(content, lines).startswith(whole_rows(content))

    @given(file_contents, our_lines)
    def test_appending_again_changes_nothing_for_lines_with_an_id(
        self, content: bytes, lines: list[Line]
    ) -> None:
        """Whatever the file held before, and however often one id comes."""
        named = [each for each in lines if each.message_id]
        once = append(content, named)

        assert append(once, named) == once

    @given(file_contents, our_lines)
    def test_appending_adds_no_flaw(self, content: bytes, lines: list[Line]) -> None:
        """The invariants hold for everything that we write, whatever was there."""
        before = read(whole_rows(content))
        after = read(append(content, lines))

        assert after.flaws == before.flaws
        assert after.lines[: len(before.lines)] == before.lines
