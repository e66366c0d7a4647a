"""Seals: who wrote a line stands in the line, whatever happens to the file."""

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.transcript import seal
from bot.domain.transcript.last_line import LastLine, last_line
from bot.domain.transcript.lines import Line, LinePhase, Source, append
from bot.domain.transcript.seal import Sealer, foreign_ids, read_chain, restore_lines
from tests.growth import grows_no_faster
from tests.transcripts import read

US, OTHERS, NEWER = b"our secret", b"their secret", b"our newer secret"


def said(number: int = 1, content: str = "", **facts: Any) -> Line:
    return Line(
        ts=f"2026-03-01T10:{number // 60:02}:{number % 60:02}.000Z",
        round=number,
        actor="User",
        phase=LinePhase.CLARIFYING,
        role="user",
        source=Source.USER,
        content=content or f"Answer {number}",
        meta={"message_id": f"C1.{number}", "cost": 2.0, "entries": [{"id": f"FR-{number:03}"}], **facts},
    )


def sealed(*numbers: int, by: bytes = US) -> bytes:
    return Sealer(by).append(b"", map(said, numbers or range(1, 6)))


def rows_of(content: bytes) -> list[bytes]:
    return content.split(b"\n")[:-1]


def changed(row: bytes, change: Callable[[dict[str, Any]], None]) -> bytes:
    fields = json.loads(row)
    change(fields)
    return json.dumps(fields).encode()


RECORD = sealed()
ROWS = rows_of(RECORD)
TRUSTED = Sealer(US).trusted


def ours(content: bytes, trusted: seal.TrustedKeys | None = TRUSTED) -> list[str]:
    return [row.line.content for row in read_chain(content, trusted).rows if row.is_sealed]


WORDS = [f"Answer {number}" for number in range(1, 6)]


@pytest.mark.parametrize(
    ("content", "n", "id"),
    [
        (b"", 0, ""),
        (RECORD, 5, "C1.5"),
        (RECORD[: -len(ROWS[-1]) - 1], 4, "C1.4"),
        (RECORD + sealed(9, by=OTHERS), 5, "C1.5"),
        (append(b"", [said(1), said(2)]), 2, "C1.2"),
    ],
    ids=["no line", "all ours", "a line less", "a line of others after ours", "nothing is sealed"],
)
def test_where_a_transcript_ends(content: bytes, n: int, id: str) -> None:
    """At the last line of ours, whatever stands behind it."""
    assert last_line(content, TRUSTED) == LastLine(n=n, id=id)


class TestSealing:
    def test_each_line_has_its_number_and_the_line_before_it(self) -> None:
        """The first carries the public key."""
        chain = read_chain(RECORD, TRUSTED)
        seals = [row.line.meta["seal"] for row in chain.rows]

        assert [one["n"] for one in seals] == [1, 2, 3, 4, 5]
        assert [one["after"] for one in seals] == ["", *(row.digest for row in chain.rows[:-1])]
        assert ["seal_key" in row.line.meta for row in chain.rows] == [True, False, False, False, False]
        assert (chain.n, chain.last, chain.flaws) == (5, chain.rows[-1].digest, ())

    def test_the_same_lines_give_the_same_bytes(self) -> None:
        """A commit that is made again after a crash is the same."""
        assert Sealer(US).append(b"", map(said, range(1, 6))) == RECORD

    def test_a_line_is_not_sealed_twice(self) -> None:
        """By its id."""
        assert Sealer(US).append(RECORD, [said(3), said(6)]).count(b"\n") == 6

    def test_a_pushed_line_does_not_keep_ours_out(self) -> None:
        """Whoever guesses the id of our next line cannot stop it."""
        pushed = RECORD + said(6, "forged").as_json().encode() + b"\n"

        assert ours(Sealer(US).append(pushed, [said(6)])) == [*WORDS, "Answer 6"]

    def test_a_torn_tail_is_cut_off(self) -> None:
        """As `lines.append` does."""
        torn = RECORD + b'{"ts": "2026-03-01T'

        assert Sealer(US).append(torn, [said(6)]) == Sealer(US).append(RECORD, [said(6)])

    def test_rounds_and_times_never_go_back(self) -> None:
        """And the seal is of the line as it is written."""
        content = Sealer(US).append(RECORD, [said(2, "late", message_id="late")])

        assert read(content).flaws == ()
        assert ours(content) == [*WORDS, "late"]

    def test_without_keys_nothing_is_sealed(self) -> None:
        """A tool that has no secrets can still write lines. Beside sealed ones they only propose."""
        assert Sealer().append(b"", [said(1)]) == append(b"", [said(1)])
        assert foreign_ids(Sealer().append(RECORD, [said(6)])) == {"", "C1.6"}

    def test_a_record_without_any_seal_is_shown_as_it_is(self) -> None:
        """To a reader without keys. The bot has keys: for it, such lines only propose."""
        old = append(b"", [said(1)])

        assert foreign_ids(old) == {""}
        assert foreign_ids(old, TRUSTED) == {"", "C1.1"}

    def test_what_python_says_otherwise_than_json(self) -> None:
        """Numbers as names, tuples and half a character are sealed as they are read later."""
        odd = said(1, numbers={10: "a", 2: "b"}, pair=(1, 2), name="Ada \ud83d", many=1e22)

        assert ours(Sealer(US).append(b"", [odd])) == ["Answer 1"]


class TestReading:
    def test_without_keys_the_first_lines_key_counts(self) -> None:
        """CI, an agent and a fresh clone know what people accepted."""
        assert ours(RECORD, None) == WORDS
        assert read_chain(RECORD).key in TRUSTED

    def test_other_keys_are_not_trusted(self) -> None:
        """The bot believes only its own."""
        assert ours(RECORD, Sealer(OTHERS).trusted) == []
        assert foreign_ids(RECORD, Sealer(OTHERS).trusted) == {"", *(f"C1.{n}" for n in range(1, 6))}

    @pytest.mark.parametrize(
        "form",
        [
            lambda row: json.dumps(json.loads(row), indent=None, sort_keys=True).encode(),
            lambda row: json.dumps(json.loads(row), ensure_ascii=True, separators=(",", ":")).encode(),
            lambda row: row + b"\r",
            lambda row: row.replace(b'"cost": 2.0', b'"cost": 2'),
            lambda row: row.replace(b'000Z"', b'000+00:00"', 1),
            lambda row: changed(row, lambda fields: fields.update(note="of another tool")),
        ],
    )
    def test_another_notation_changes_nothing(self, form: Callable[[bytes], bytes]) -> None:
        """Formatters, editors and checkouts with Windows line ends."""
        content = b"".join(form(row) + b"\n" for row in ROWS)

        assert content != RECORD
        assert (ours(content), read_chain(content, TRUSTED).flaws) == (WORDS, ())

    @given(st.permutations(ROWS), st.lists(st.sampled_from(ROWS)))
    def test_order_and_repetition_change_nothing(self, order: list[bytes], again: list[bytes]) -> None:
        """The order is that of the seals."""
        chain = read_chain(b"\n".join([*order, *again]), TRUSTED)

        assert [row.line.content for row in chain.rows] == WORDS
        assert (chain.n, chain.flaws) == (5, ())

    @given(st.sets(st.sampled_from(range(5)), max_size=4))
    def test_missing_lines_are_found(self, gone: set[int]) -> None:
        """All but a cut-off end, which only the store can know."""
        left = [row for at, row in enumerate(ROWS) if at not in gone]
        chain = read_chain(b"\n".join(left), TRUSTED)
        inner = {at for at in gone if any(at < other < 5 and other not in gone for other in range(5))}

        assert [row.line.content for row in chain.rows] == [w for at, w in enumerate(WORDS) if at not in gone]
        assert bool(chain.flaws) == bool(inner)
        assert chain.n == max(at + 1 for at in range(5) if at not in gone)

    @given(st.data())
    def test_no_byte_can_be_changed_unseen(self, data: st.DataObject) -> None:
        """An edited line is no longer ours, and the others are."""
        at = data.draw(st.integers(0, len(RECORD) - 1))
        content = bytearray(RECORD)
        content[at] = data.draw(st.integers(0, 255))
        originals = {row.line.content: row.line for row in read_chain(RECORD, TRUSTED).rows}

        for row in read_chain(bytes(content), TRUSTED).rows:
            if row.is_sealed:
                facts = {name: fact for name, fact in row.line.meta.items() if name != "seal"}
                wanted = {n: f for n, f in originals[row.line.content].meta.items() if n != "seal"}
                assert row.line.but(meta=facts) == originals[row.line.content].but(meta=wanted)

    @given(st.lists(st.sampled_from(ROWS) | st.binary(max_size=40), max_size=8).map(b"\n".join))
    def test_nothing_stops_a_reader(self, content: bytes) -> None:
        """Rows of others may be anything."""
        read_chain(content, TRUSTED)
        read_chain(content)
        restore_lines(content, RECORD, TRUSTED)
        Sealer(US).append(content, [said(9)])

    @pytest.mark.parametrize(
        "change",
        [
            lambda fields: fields.update(content="forged"),
            lambda fields: fields["meta"].update(entries=[]),
            lambda fields: fields["meta"].update(user_name="Grace"),
            lambda fields: fields["meta"].update(message_id="C1.99"),
            lambda fields: fields.update(ts="2026-03-01T09:00:00.000Z"),
            lambda fields: fields.update(source="system"),
            lambda fields: fields["meta"]["seal"].update(n=9),
            lambda fields: fields["meta"]["seal"].update(chain="0" * 16),
            lambda fields: fields["meta"]["seal"].update(by="0" * 16),
            lambda fields: fields["meta"]["seal"].update(sig="AAAA"),
            lambda fields: fields["meta"].update(seal=None),
            lambda fields: fields["meta"].update(seal={"n": True}),
            lambda fields: fields["meta"].update(digest=["", ""]),
            lambda fields: fields["meta"].update(digest=7),
        ],
    )
    def test_a_changed_newest_line_is_not_ours(self, change: Callable[[dict[str, Any]], None]) -> None:
        """No later line vouches for it."""
        content = b"\n".join([*ROWS[:-1], changed(ROWS[-1], change)])

        assert ours(content) == WORDS[:-1]

    def test_an_edit_beside_the_sealed_line_is_void(self) -> None:
        """It has the id of a line that we sealed."""
        edited = changed(ROWS[1], lambda fields: fields.update(content="forged"))
        chain = read_chain(edited + b"\n" + RECORD, TRUSTED)

        assert [row.line.content for row in chain.rows] == WORDS
        assert chain.flaws == (
            "C1.2 stands here a second time, not as it was sealed",
            "the seal of C1.2 does not hold",
        )

    def test_a_line_of_another_item_is_foreign(self) -> None:
        """It has a good seal, of another chain."""
        other = rows_of(sealed(11, 12))
        chain = read_chain(b"\n".join([*other, *ROWS]), TRUSTED)

        assert [row.is_sealed for row in chain.rows] == [False] * 2 + [True] * 5

    def test_two_copies_of_the_bot_that_wrote_at_once(self) -> None:
        """Both lines count, and the flaw is named."""
        one, other = (rows_of(Sealer(US).append(RECORD, [said(number)])) for number in (6, 7))
        content = b"\n".join([*one, *other])
        chain = read_chain(content, TRUSTED)

        assert ours(content) == [*WORDS, "Answer 6", "Answer 7"]
        assert chain.flaws == ("two lines have the number 6: two copies of the bot wrote at once",)
        assert read_chain(Sealer(US).append(content, [said(8)]), TRUSTED).flaws == chain.flaws

    def test_the_time_grows_with_the_file(self) -> None:
        """Also for rows that are made to be slow."""
        hostile = changed(ROWS[0], lambda fields: fields["meta"]["seal"].update(sig="A" * 86))

        grows_no_faster(
            lambda text: read_chain(text, TRUSTED), lambda count: b"\n".join([hostile] * count), 50
        )


class TestKeys:
    def test_a_change_of_key_is_sealed_by_the_key_before(self) -> None:
        """So a reader without keys follows it, and the newer key alone vouches for what is older."""
        content = Sealer(NEWER, US).append(RECORD, [said(6), said(7)])
        content = Sealer(NEWER).append(content, [said(8)])
        words = [*WORDS, "Answer 6", "Answer 7", "Answer 8"]

        assert ours(content, None) == words
        assert ours(content, Sealer(NEWER).trusted) == words
        assert ours(content, Sealer(US).trusted) == words
        assert read_chain(content).key in Sealer(NEWER).trusted

    def test_nobody_else_can_change_the_key(self) -> None:
        """A line that brings a key has to be sealed by a key that counts."""
        forged = Sealer(OTHERS).append(RECORD, [said(6)])

        assert ours(forged, None) == WORDS
        assert ours(forged) == WORDS

    def test_lost_keys_begin_another_chain(self) -> None:
        """What was sealed before only proposes, until a person takes it over."""
        content = Sealer(OTHERS).append(RECORD, [said(6)])

        assert ours(content, Sealer(OTHERS).trusted) == ["Answer 6"]


def asked(content: bytes) -> dict[str, object]:
    return seal.old_lines(content, TRUSTED).model_dump()


class TestTakingOver:
    OLD = b"".join(said(number).as_json().encode() + b"\n" for number in range(1, 4))

    def taken(self, old: bytes = OLD) -> bytes:
        return Sealer(US).append(old, [said(9, "taken", takes_over=asked(old))])

    def test_old_lines_count_as_sealed(self) -> None:
        """From then on, for every reader."""
        assert ours(self.OLD) == []
        assert ours(self.taken()) == [*WORDS[:3], "taken"]
        assert ours(self.taken(), None) == [*WORDS[:3], "taken"]
        assert foreign_ids(self.taken(), TRUSTED) == {""}

    def test_changed_and_later_lines_do_not(self) -> None:
        """Each line counts by its own words."""
        pushed = self.taken().replace(b"Answer 2", b"forged") + said(4).as_json().encode() + b"\n"

        assert ours(pushed) == ["Answer 1", "Answer 3", "taken"]
        assert foreign_ids(pushed, TRUSTED) == {"", "C1.2", "C1.4"}

    def test_nothing_is_taken_that_nobody_saw(self) -> None:
        """Whether a line came to it, went, or was changed since it was offered."""
        more = self.OLD + said(4).as_json().encode() + b"\n"
        for now in (more, self.OLD.replace(b"Answer 2", b"forged"), self.OLD.split(b"\n", 1)[1]):
            taken = Sealer(US).append(now, [said(9, "taken", takes_over=asked(self.OLD))])

            assert ours(taken) == ["taken"]

    def test_a_pushed_line_takes_nothing_over(self) -> None:
        """It has no seal itself."""
        forged = (
            said(9, takes_over=seal.take_over(self.OLD, TRUSTED, asked(self.OLD))).as_json().encode() + b"\n"
        )

        assert ours(self.OLD + forged) == []

    def test_lost_ones_are_put_back(self) -> None:
        """Like sealed lines."""
        record = self.taken()
        cut = b"\n".join(rows_of(record)[1:])

        assert ours(restore_lines(cut, record, TRUSTED)) == ours(record)


class TestErasing:
    def erased(self, number: int, *, told: bool = True) -> bytes:
        line = read_chain(RECORD, TRUSTED).rows[number - 1].line
        kept = {name: line.meta[name] for name in ("message_id", "seal", "seal_key") if name in line.meta}
        gone = seal.keep_digest(line, line.but(content="", meta=kept))
        content = RECORD.replace(ROWS[number - 1], gone.as_json().encode())
        reads = [{"message_id": line.message_id, "reads": seal.reading_of(gone)}]
        note = [said(9, "note", scrubbed=reads)] if told else []
        return Sealer(US).append(content, note)

    @given(st.integers(1, 5))
    def test_the_chain_holds(self, number: int) -> None:
        """Every other line still counts, also when the first or the newest was erased."""
        words = ["" if word == f"Answer {number}" else word for word in WORDS]

        assert ours(self.erased(number)) == [*words, "note"]
        assert ours(self.erased(number), None) == [*words, "note"]
        assert read_chain(self.erased(number), TRUSTED).flaws == ()
        assert restore_lines(self.erased(number), RECORD, TRUSTED) == self.erased(number)

    def test_only_a_sealed_line_erases(self) -> None:
        """Else a push could take words away."""
        assert ours(self.erased(2, told=False)) == [word for word in WORDS if word != "Answer 2"]

    def test_what_is_written_into_an_erased_line_is_not_read(self) -> None:
        """Nothing vouches for it."""
        filled = self.erased(2).replace(b'"content": ""', b'"content": "forged"')

        assert ours(filled) == ["Answer 1", *WORDS[2:], "note"]

    def test_the_name_of_somebody_with_an_id_is_no_part_of_it(self) -> None:
        """Names can be forgotten without a change of seals."""
        content = Sealer(US).append(b"", [said(1, person="p-7hq3", user_name="Ada")])

        assert ours(content.replace(b'"Ada"', b'""')) == ["Answer 1"]
        assert ours(content.replace(b"p-7hq3", b"p-xxxx")) == []

    def test_a_scrubbed_line_counts_as_the_note_says_it_reads(self) -> None:
        """And with no other words."""
        line = read_chain(RECORD, TRUSTED).rows[1].line
        after = seal.keep_digest(line, line.but(content="Answer [secret]"))
        scrubbed = [{"message_id": line.message_id, "reads": seal.reading_of(after)}]
        content = RECORD.replace(ROWS[1], after.as_json().encode())
        content = Sealer(US).append(content, [said(9, "note", scrubbed=scrubbed)])

        assert ours(content) == ["Answer 1", "Answer [secret]", *WORDS[2:], "note"]
        assert ours(content.replace(b"[secret]", b"forged")) == ["Answer 1", *WORDS[2:], "note"]


class TestRestoring:
    @given(st.data())
    def test_whatever_was_lost_is_put_back_in_its_place(self, data: st.DataObject) -> None:
        """Deleted, cut off, edited, reordered or torn."""
        rows = data.draw(st.lists(st.sampled_from(ROWS), unique=True))
        edited = data.draw(st.sampled_from([None, *range(len(rows))])) if rows else None
        if edited is not None:
            rows[edited] = rows[edited].replace(b"Answer", b"Forged")
        torn = data.draw(st.sampled_from([b"", ROWS[0][:30]]))
        content = restore_lines(b"\n".join([*rows, torn]), RECORD, TRUSTED)

        assert [row.line.content for row in read_chain(content, TRUSTED).rows] == WORDS
        assert b"Forged" not in content

    def test_the_file_is_as_it_was(self) -> None:
        """Where only lines were deleted, byte for byte."""
        rng = random.Random(7)
        for _ in range(20):
            kept = [row for row in ROWS if rng.random() < 0.5]
            assert restore_lines(b"".join(row + b"\n" for row in kept), RECORD, TRUSTED) == RECORD

    def test_what_is_whole_is_not_touched(self) -> None:
        """Notes of others, unreadable rows and Windows line ends stay."""
        content = RECORD.replace(b"\n", b"\r\n") + said(7, "theirs").as_json().encode() + b"\nnot a line"

        assert restore_lines(content, RECORD, TRUSTED) == content

    def test_lines_of_others_and_unreadable_rows_stay(self) -> None:
        """Beside the restored ones."""
        theirs = said(7, "theirs").as_json().encode()
        content = restore_lines(b"\n".join([ROWS[0], theirs, b"not a line", b""]), RECORD, TRUSTED)

        assert [theirs in content, b"not a line\n" in content] == [True, True]
        assert ours(content) == WORDS

    def test_without_seals_there_is_nothing_to_put_back(self) -> None:
        """An older record stays as it is."""
        old = TestTakingOver.OLD

        assert restore_lines(b"", old, TRUSTED) == b""
