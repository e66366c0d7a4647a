import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.catalog.phases import PHASE_KEYS
from bot.domain.item.meta import (
    DEFAULT_MAX_TURNS,
    Corrupt,
    Meta,
    MetaChange,
    ParsedMeta,
    Record,
    Seats,
    SlackPlace,
    apply,
    read,
    status,
    write,
)

NOW = "2026-03-01T10:00:00.000Z"
RECORD = Record(
    step_id="01-03",
    turn_count=7,
    personas_active=("business-analyst", "solutions-architect", "system-designer"),
    timestamp="2026-02-20T14:30:00.000Z",
    synthesis_summary="Identified 3 additional acceptance criteria for offline sync",
)
SEED: dict[str, Any] = {
    "source": "github",
    "source_id": "GH-21",
    "slug": "gh-21-elaboration-mode",
    "created_at": "2026-02-20T12:00:00.000Z",
    "analysis_status": "partial",
    "phases_completed": ["00-quick-scan", "01-requirements"],
    "codebase_hash": "c02145b",
    "steps_completed": ["01-01", "01-02", "01-03"],
    "depth_overrides": {"01-requirements": "brief"},
    "elaborations": [RECORD.model_dump(mode="json")],
    "elaboration_config": {"max_turns": 12},
}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
ours = (
    "steps_completed",
    "phases_completed",
    "depth_overrides",
    "elaborations",
    "elaboration_config",
    "slack",
)
files = st.dictionaries(st.text() | st.sampled_from(ours), json_values, max_size=8)
changes = st.builds(
    MetaChange,
    steps=st.lists(st.sampled_from(["00-01", "00-02", "01-01"]), max_size=4).map(tuple),
    phases=st.lists(st.sampled_from(PHASE_KEYS), max_size=4).map(tuple),
    depth_overrides=st.dictionaries(
        st.sampled_from(PHASE_KEYS), st.sampled_from(["brief", "deep"]), max_size=2
    ),
    elaborations=st.lists(st.just(RECORD), max_size=2).map(tuple),
    slack=st.none() | st.just(SlackPlace(team_id="T1", channel_id="C1", thread_ts="1.2")),
    codebase_hash=st.sampled_from(["", "c02145b"]),
    restart=st.booleans(),
    created=st.none() | st.just({"slug": "dark-mode", "created_at": NOW}),
)


def reading(**fields: Any) -> ParsedMeta:
    return read(json.dumps(fields).encode(), now=NOW)


def codes(reading: ParsedMeta) -> list[str]:
    return [trouble.code for trouble in reading.troubles]


OTHER = {**RECORD.model_dump(mode="json"), "turn_count": True}
KEPT: list[tuple[dict[str, Any], str, object]] = [
    *(({"analysis_status": falsy}, "analysis_status", "raw") for falsy in (None, "", 0, False)),
    *(({"source": falsy}, "source", "manual") for falsy in (None, "", 0, False)),
    *(({"created_at": falsy}, "created_at", NOW) for falsy in (None, "", 0, False)),
    *(({"steps_completed": bad}, "steps_completed", []) for bad in ("01-01", None, 7, {"a": 1})),
    *(({"depth_overrides": bad}, "depth_overrides", {}) for bad in ("brief", None, 7, ["brief"])),
    ({"phases_completed": "00-quick-scan"}, "phases_completed", []),
    ({"elaborations": {"step_id": "01-03"}}, "elaborations", []),
    ({"steps_completed": ["01-01", 7, "1-1", None]}, "steps_completed", ["01-01", 7, "1-1", None]),
    ({"elaborations": [None, "x", {}, OTHER]}, "elaborations", [None, "x", {}, OTHER]),
    ({"elaboration_config": None}, "elaboration_config", None),
    ({"elaboration_config": []}, "elaboration_config", []),
    ({"elaboration_config": "x"}, "elaboration_config", "x"),
    # `phase_a_completed` was all there was before phases were counted, and means nothing beside a status.
    ({"phase_a_completed": True}, "analysis_status", "analyzed"),
    ({"phase_a_completed": True}, "phases_completed", list(PHASE_KEYS)),
    *(({"phase_a_completed": no}, "analysis_status", "raw") for no in (False, 1)),
    *(({"phase_a_completed": no}, "phases_completed", []) for no in (False, 1)),
    (
        {"phase_a_completed": True, "analysis_status": "partial", "phases_completed": ["00-quick-scan"]},
        "phases_completed",
        ["00-quick-scan"],
    ),
]
UNDERSTOOD: list[tuple[dict[str, Any], str, object]] = [
    ({"source": "linear"}, "source", "linear"),
    ({"steps_completed": ["01-01", 7, "1-1", "01-01\n", "01-01", None]}, "steps_completed", ("01-01",)),
    (
        {"depth_overrides": {"01-requirements": "brief", "02-impact-analysis": "huge", "x": 7}},
        "depth_overrides",
        {"01-requirements": "brief", "02-impact-analysis": "huge", "x": "7"},
    ),
    *(
        ({"elaborations": [bad, RECORD.model_dump()]}, "elaborations", (RECORD,))
        for bad in (None, "x", {}, OTHER)
    ),
    *(({"elaboration_config": {"max_turns": turns}}, "max_turns", turns) for turns in (3, 10, 21)),
    *(
        ({"elaboration_config": {"max_turns": turns}}, "max_turns", DEFAULT_MAX_TURNS)
        for turns in (2, 0, -1, True, "12", 10.5, None)
    ),
    (
        {"slack": {"team_id": "T1", "channel_id": "C1", "thread_ts": 7, "colour": "red"}},
        "slack",
        SlackPlace(team_id="T1", channel_id="C1"),
    ),
    ({"slack": "C1"}, "slack", None),
]
TROUBLES: list[tuple[str, list[Any], str]] = [
    ("steps_completed", ["01-01", None, 7, {"a": 1}], "ERR-META-004"),
    ("depth_overrides", ["brief", None, 7, ["brief"]], "ERR-META-005"),
    (
        "elaborations",
        [[None], ["x"], [{}], [OTHER, RECORD.model_dump()], {"step_id": "01-03"}],
        "ERR-ELAB-010",
    ),
    ("elaboration_config", [None, [], "x"], "ERR-ELAB-003"),
    (
        "elaboration_config",
        [{"max_turns": turns} for turns in (2, 0, -1, True, "12", 10.5, None)],
        "ERR-ELAB-003",
    ),
    ("elaboration_config", [{}, {"max_turns": 3}], ""),
    ("phases_completed", ["00-quick-scan"], ""),
]


class TestReading:
    def test_the_seed_s_example_is_understood_whole(self) -> None:
        """Every field of seed 001 §2.2 arrives in the typed view."""
        found = read(json.dumps(SEED).encode(), now=NOW)

        assert found.raw == SEED
        assert found.troubles == ()
        assert found.meta == Meta(
            source="github",
            source_id="GH-21",
            slug="gh-21-elaboration-mode",
            created_at="2026-02-20T12:00:00.000Z",
            analysis_status="partial",
            phases_completed=("00-quick-scan", "01-requirements"),
            codebase_hash="c02145b",
            steps_completed=("01-01", "01-02", "01-03"),
            depth_overrides={"01-requirements": "brief"},
            elaborations=(RECORD,),
            max_turns=12,
        )

    def test_an_empty_object_gets_the_defaults(self) -> None:
        """Nothing but an object is required of a meta.json, and what is absent is no trouble."""
        found = reading()

        assert found.troubles == ()
        assert found.raw == {
            "analysis_status": "raw",
            "source": "manual",
            "created_at": NOW,
            "phases_completed": [],
            "steps_completed": [],
            "elaborations": [],
            "depth_overrides": {},
        }

    @pytest.mark.parametrize(("given", "field", "kept"), KEPT, ids=str)
    def test_what_the_file_keeps(self, given: dict[str, Any], field: str, kept: object) -> None:
        """Defaults where nothing was said or nothing can be understood; else what somebody wrote."""
        assert reading(**given).raw[field] == kept

    @pytest.mark.parametrize(("given", "field", "understood"), UNDERSTOOD, ids=str)
    def test_what_is_understood(self, given: dict[str, Any], field: str, understood: object) -> None:
        """The file may keep more than that."""
        assert getattr(reading(**given).meta, field) == understood

    @pytest.mark.parametrize(("field", "values", "code"), TROUBLES)
    def test_what_cannot_be_understood_is_a_trouble(self, field: str, values: list[Any], code: str) -> None:
        """One, whatever is wrong with it; without a code it is none."""
        for value in values:
            assert codes(reading(**{field: value})) == ([code] if code else []), value

    def test_a_byte_order_mark_is_tolerated(self) -> None:
        """Some editors write one."""
        assert read(b"\xef\xbb\xbf{}", now=NOW).meta.created_at == NOW

    def test_the_last_of_duplicate_keys_counts(self) -> None:
        """As in every other reader of JSON that people use."""
        assert read(b'{"slug": "a", "slug": "b"}', now=NOW).meta.slug == "b"

    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"[]",
            b"null",
            b'"x"',
            b'{"a": 1',
            b"{'a': 1}",
            b"\xff\xfe{}",
            b'{"a": NaN}',
            b'{"a": -Infinity}',
            b'{"a": ' + b"[" * 200 + b"]" * 200 + b"}",
            b'{"a": ' + b"[" * 100_000,
        ],
        ids=range(11),
    )
    def test_anything_but_a_json_object_is_corrupt(self, content: bytes) -> None:
        """ERR-META-002 is the caller's to tell."""
        with pytest.raises(Corrupt, match=r"^meta\.json is not "):
            read(content, now=NOW)

    @pytest.mark.parametrize(
        ("content", "where"),
        [
            (b'{\n  "a": 1,\n}', "line 3 column 1"),
            (b"{\n// why\n}", "line 2 column 1"),
            (b'{\n<<<<<<< HEAD\n"a": 1\n}', "line 2 column 1"),
            (b'{"a": ' + b"[" * 200 + b"]" * 200 + b"}", "nested too deeply"),
        ],
    )
    def test_what_is_wrong_is_said_with_its_place(self, content: bytes, where: str) -> None:
        """Whoever edited it by hand finds the comma."""
        with pytest.raises(Corrupt, match=where):
            read(content, now=NOW)

    @pytest.mark.parametrize(
        "number",
        ["1.10", "1.0", "-0", "-0.0", "1E5", "1e-7", "0.1234567890123456789", "1e999", "9" * 30, "9" * 5000],
        ids=range(10),
    )
    def test_numbers_stay_as_somebody_wrote_them(self, number: str) -> None:
        """A version, an amount or an id that Python would write in another way, or could not hold."""
        content = f'{{"theirs": [{number}, {{"deep": {number}}}]}}'.encode()

        written = write(apply(read(content, now=NOW).raw, MetaChange(steps=("01-01",))))

        assert f'    {number},\n    {{\n      "deep": {number}\n    }}' in written

    def test_a_whole_number_may_have_a_point(self) -> None:
        """12.0 is 12 in JSON; some tools write every number so."""
        record = {**RECORD.model_dump(mode="json"), "turn_count": 7.0}
        found = read(
            json.dumps({"elaboration_config": {"max_turns": 12.0}, "elaborations": [record]}).encode(),
            now=NOW,
        )

        assert (found.meta.max_turns, found.meta.elaborations, found.troubles) == (12, (RECORD,), ())

    @given(st.binary())
    def test_any_bytes_are_read_or_corrupt(self, content: bytes) -> None:
        """There is no third outcome."""
        try:
            found = read(content, now=NOW)
        except Corrupt:
            return
        assert write(found.raw).encode()

    def test_half_a_character_does_no_harm(self) -> None:
        """JSON can hold a lone surrogate; it is shown as a replacement and written back as it was."""
        found = read(b'{"description": "a\\ud83d", "\\udc00": ["\\ud800"]}', now=NOW)

        assert found.meta.description == "a\ufffd"
        assert b'"a\\ud83d"' in write(found.raw).encode()
        assert read(write(found.raw).encode(), now=NOW).raw["\udc00"] == ["\ud800"]


class TestApplying:
    def test_a_new_file_starts_with_what_it_was_created_with(self) -> None:
        """Without a file, the first change makes one (ERR-META-001)."""
        created = {
            "codebase_hash": "c02145b",
            "description": "Dark mode",
            "slug": "dark-mode",
            "created_at": NOW,
        }
        meta = apply({}, MetaChange(created=created, slack=SlackPlace(channel_id="C1")))

        assert list(meta) == [
            "description",
            "slug",
            "created_at",
            "analysis_status",
            "phases_completed",
            "codebase_hash",
            "steps_completed",
            "depth_overrides",
            "elaborations",
            "slack",
        ]

    def test_a_file_that_exists_is_not_created_again(self) -> None:
        """What it was created with stays, whoever starts the item once more."""
        assert apply(SEED, MetaChange(created={"slug": "other"})) == SEED

    def test_steps_and_phases_are_added_once_in_order(self) -> None:
        """Behind those that are there, which keep their places."""
        meta = apply(
            SEED, MetaChange(steps=("01-03", "01-04"), phases=("02-impact-analysis", "01-requirements"))
        )

        assert meta["steps_completed"] == ["01-01", "01-02", "01-03", "01-04"]
        assert meta["phases_completed"] == ["00-quick-scan", "01-requirements", "02-impact-analysis"]

    def test_an_elaboration_is_recorded_once(self) -> None:
        """The same step at the same time is the same elaboration; at another time it is a further one."""
        again = RECORD.but(timestamp="2026-02-20T15:00:00.000Z")
        meta = apply(SEED, MetaChange(elaborations=(RECORD, again, again)))

        assert [record["timestamp"] for record in meta["elaborations"]] == [RECORD.timestamp, again.timestamp]

    def test_what_others_left_among_the_records_stays(self) -> None:
        """A record with fields of somebody else counts as the same, and a stranger is not touched."""
        foreign = ["x", {**RECORD.model_dump(mode="json"), "mood": "good"}]
        meta = apply({**SEED, "elaborations": foreign}, MetaChange(elaborations=(RECORD,)))

        assert meta["elaborations"] == foreign

    def test_overrides_hash_and_thread_are_set(self) -> None:
        """Only the fields that a change names; their neighbours stay."""
        change = MetaChange(
            depth_overrides={"02-impact-analysis": "deep"},
            codebase_hash="1111111",
            slack=SlackPlace(team_id="T1", thread_ts="1.2"),
        )
        meta = apply({**SEED, "slack": {"thread_ts": "0.1", "started_by": "U1", "colour": "red"}}, change)

        assert meta["depth_overrides"] == {"01-requirements": "brief", "02-impact-analysis": "deep"}
        assert meta["codebase_hash"] == "1111111"
        assert meta["slack"] == {"thread_ts": "1.2", "started_by": "U1", "colour": "red", "team_id": "T1"}

    def test_a_restart_forgets_progress_and_keeps_elaborations(self) -> None:
        """Otherwise every step would be skipped as done."""
        meta = apply(SEED, MetaChange(restart=True, steps=("00-01",)))

        assert (meta["phases_completed"], meta["steps_completed"]) == ([], ["00-01"])
        assert meta["elaborations"] == SEED["elaborations"]

    @given(st.just({}) | files.map(lambda fields: reading(**fields).raw), changes)
    def test_a_change_applied_again_changes_nothing(self, raw: dict[str, Any], change: MetaChange) -> None:
        """A commit that is repeated after a crash writes the same file, also a new one."""
        once = apply(raw, change)

        assert apply(once, change) == once

    @given(files, changes)
    def test_what_we_do_not_know_survives_in_its_order(
        self, fields: dict[str, Any], change: MetaChange
    ) -> None:
        """Reading, changing, writing and reading again keeps every foreign field and its place."""
        known = {*ours, *Meta.model_fields, "phase_a_completed"}
        foreign = [(name, value) for name, value in fields.items() if name not in known]

        text = write(apply(reading(**fields).raw, change))

        assert [(name, value) for name, value in json.loads(text).items() if name not in known] == foreign

    @given(files, changes)
    def test_the_original_is_not_touched(self, fields: dict[str, Any], change: MetaChange) -> None:
        """A change makes a new value; whoever holds the old one can compare."""
        raw = reading(**fields).raw
        before = json.dumps(raw)
        apply(raw, change)

        assert json.dumps(raw) == before


class TestWriting:
    def test_two_spaces_real_characters_and_a_final_line_end(self) -> None:
        """The format of the original, so that diffs show what changed and nothing else."""
        assert (
            write({"description": "Größe"}) == '{\n  "description": "Größe",\n  "analysis_status": "raw"\n}\n'
        )

    def test_the_old_flag_is_dropped(self) -> None:
        """Its meaning moved into the phases."""
        assert "phase_a_completed" not in write(reading(phase_a_completed=True).raw)

    @pytest.mark.parametrize(
        ("phases", "expected"),
        [
            ([], "raw"),
            (["05-test-strategy", {}], "raw"),
            (["00-quick-scan"], "partial"),
            (["00-quick-scan"] * 5, "partial"),
            (list(PHASE_KEYS[:4]), "partial"),
            (list(PHASE_KEYS), "analyzed"),
        ],
    )
    def test_the_status_is_what_the_phases_say(self, phases: list[Any], expected: str) -> None:
        """Whatever the file says, and however many steps there are."""
        text = write(
            {"analysis_status": "analyzed", "phases_completed": phases, "steps_completed": ["01-01"]}
        )

        assert json.loads(text)["analysis_status"] == expected == status(phases)

    def test_meta_derives_the_same_status(self) -> None:
        """The typed view and the file agree, whatever the file said before."""
        assert Meta(analysis_status="raw", phases_completed=PHASE_KEYS).derived_status == "analyzed"

    @given(files)
    def test_what_is_written_reads_the_same(self, fields: dict[str, Any]) -> None:
        """Reading and writing settle after one round."""
        first = write(reading(**fields).raw)

        assert write(read(first.encode(), now=NOW).raw) == first


def test_a_time_limit_is_added_and_removed_and_nothing_else_is() -> None:
    """A file may say anything about it; what is no offset is none."""
    raw: dict[str, Any] = {"roundtable": {"theirs": 1, "due": "2026-01-01", "due_offset": "soon"}}
    assert read_seats(raw) == Seats(due="2026-01-01")
    seats = Seats(participants=("U1",), due="2026-02-03T14:00:00.000Z", due_offset=-18_000)
    with_due = apply(raw, MetaChange(seats=seats))
    assert read_seats(with_due) == seats
    same_clock = apply(with_due, MetaChange(seats=seats.but(due_offset=0)))
    assert read_seats(same_clock) == seats.but(due_offset=0)

    assert apply(with_due, MetaChange(seats=Seats(participants=("U2",))))["roundtable"]["due"] == seats.due
    without = apply(with_due, MetaChange(seats=Seats(participants=("U1",)), no_due=True))
    assert without["roundtable"] == {"theirs": 1, "participants": ["U1"]}
    assert apply(with_due, MetaChange(no_due=True))["roundtable"] == without["roundtable"]


def read_seats(raw: dict[str, Any]) -> Seats:
    return read(json.dumps(raw).encode(), now="2026-01-01T00:00:00.000Z").meta.seats
