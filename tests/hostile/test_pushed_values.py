"""What a pushed line says breaks no view of the item, whatever it is."""

import itertools
from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.content.playbook import load
from bot.domain.discussion.board import board_of_step
from bot.domain.planning.plan_review import plan_edits
from bot.domain.roundtable.digest import StateChange, digest
from bot.domain.specification.brief import brief
from bot.domain.specification.claims import EntryState
from bot.domain.specification.coverage import coverage
from bot.domain.specification.entries import Specification
from bot.domain.specification.files import ItemFacts, follow_ups, sections
from bot.domain.specification.fold import MOST_CLAIMS, MOST_ENTRIES, Patch
from bot.domain.specification.not_settled import lacking
from bot.domain.specification.snapshot import folded, folded_content, text_of
from bot.domain.specification.snapshot import read as read_snapshot
from bot.domain.transcript import scrubbing
from bot.domain.transcript.forgetting import Eraser, Forgetting
from bot.domain.transcript.lines import Line, LinePhase, Source, append
from bot.record.brief import read_record
from bot.record.page import as_html
from bot.record.reading import Transcript
from bot.record.rewritten import is_text_in
from bot.record.words_kept import unkept
from bot.shipped import personas_dir, steps_dir
from tests.sealing import TRUSTED, sealed
from tests.specification.meeting import Meeting

PLAYBOOK = load(personas_dir(), steps_dir())
ITEM = ItemFacts("Offline sync", "offline-sync")
STEPS = [step.step_id for step in PLAYBOOK.agenda.steps]


def said(id: str, *entries: dict[str, Any]) -> Line:
    meta = {"message_id": id, "person": "p-aaaaaaaaaa", "step_id": "01-06", "entries": [*entries]}
    return Line(
        ts="2026-03-01T10:00:00.000Z",
        round=1,
        actor="User",
        phase=LinePhase.CLARIFYING,
        role="user",
        source=Source.USER,
        content="words",
        meta=meta,
    )


@pytest.mark.parametrize("value", [["x"], [], {"a": 1}, [["x"]], [{}], 3.5, True, None], ids=str)
def test_every_field_of_every_kind_may_get_it(value: object) -> None:
    """In an entry that people accepted, and in one of its own. What is nested is refused with a sentence."""
    for key, kind in PLAYBOOK.schema.kinds.items():
        first, second = (f"{kind.prefix}-{number}" for number in ("001", "002"))
        ours = said("ours", {"id": first, "kind": key, "new": True, "set": {kind.text: "words"}})
        given = dict.fromkeys(kind.fields, value)
        pushed = said("pushed", {"id": first, "set": given}, {"id": second, "kind": key, "set": given})
        known = Specification().folding([ours, pushed], foreign={"pushed"})

        assert brief(PLAYBOOK.schema, known).counts
        assert lacking(PLAYBOOK.schema, known)
        assert coverage(PLAYBOOK.schema, known, STEPS)
        assert plan_edits(ITEM, PLAYBOOK.agenda.plan.step_id, PLAYBOOK.schema, known)
        assert board_of_step("01-06", (), known).debate.step_id == "01-06"
        assert all(edit.path for _, edit in sections(PLAYBOOK, known, ITEM, {}))
        assert all(edits for _, edits in follow_ups(PLAYBOOK, known))
        is_nested = isinstance(value, dict) or value in ([["x"]], [{}])
        assert bool(known.refused) is is_nested


WORDS = st.sampled_from(
    ["words", "FR-001", "FR-002", "DIS-001", "DEC-001", "must", "open", "01-06", "m1", "p-aaaaaaaaaa"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | WORDS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=2),
    max_leaves=3,
)
KINDS = {kind.prefix: kind for kind in PLAYBOOK.schema.kinds.values()}
FIELDS = sorted({name for kind in KINDS.values() for name in kind.fields})


def patch(prefix: str, given: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    kind = KINDS[prefix]
    fields = {kind.text: "words", **given}
    return {"id": f"{prefix}-001", "kind": kind.key, "new": True, "set": fields, **more}


PATCHES = st.builds(
    patch,
    st.sampled_from(sorted(KINDS)),
    st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=4),
    st.dictionaries(st.sampled_from(sorted(Patch.model_fields)), VALUES, max_size=1),
)
FACTS = st.sampled_from([
    "agent", "amends", "attachments", "change", "channel_id", "decision", "depth", "entries", "git_author", "how",
    "mark", "message_ts", "permalink", "person", "persona_name", "phase_key", "position", "question", "quoted",
    "retracts", "sections", "specification", "stances", "step_id", "turn", "turn_id", "user_id", "user_name", "verdict",
])  # fmt: skip
PUSHED = st.lists(
    st.tuples(st.lists(PATCHES, max_size=3), st.dictionaries(FACTS, VALUES, max_size=3)), max_size=4
)


@given(PUSHED, st.booleans())
def test_any_facts_of_pushed_lines_end_nothing(
    pushed: list[tuple[list[dict[str, Any]], dict[str, Any]]],
    is_ours: bool,  # noqa: FBT001 -- hypothesis gives it
) -> None:
    """Neither the files nor the page of the record, a second check of it, or the erasing of a person."""
    rows = [said(f"m{at}", *patches) for at, (patches, _) in enumerate(pushed)]
    lines = [row.but(meta={**row.meta, **facts}) for row, (_, facts) in zip(rows, pushed, strict=True)]
    content = append(b"", lines)
    snapshot = folded(lines, foreign=() if is_ours else {line.message_id for line in lines})
    known = snapshot.specification

    assert read_snapshot(text_of(known, snapshot.written)).specification.count == known.count
    assert brief(PLAYBOOK.schema, known).counts
    assert board_of_step("01-06", (), known).debate.step_id == "01-06"
    assert isinstance(coverage(PLAYBOOK.schema, known, STEPS), tuple)
    news = StateChange(is_said=True, people={"words": "Ada"}, specification=known)
    assert not digest(news, PLAYBOOK).away
    texts: dict[str, str] = {}
    for _, edit in sections(PLAYBOOK, known, ITEM, snapshot.written):
        texts[edit.path] = edit.apply(texts.get(edit.path))
    assert isinstance(unkept(content.decode(), texts), list)
    assert "</html>" in "".join(as_html(read_record(Transcript(content)), title="A"))
    whom = Forgetting("p-aaaaaaaaaa", ("Ada",), on="2026-03-01", words=True)
    eraser = Eraser(whom, lines, is_text_in(PLAYBOOK.schema))
    assert scrubbing.transcript(content, eraser.text, eraser.change).content.count(b"\n") == len(lines)


# --- what our lines say stays as it is --------------------------------------------------------------------------------

THEIRS = said(
    "theirs", {"id": "FR-009", "kind": "requirement", "set": {"title": "Print", "priority": "must"}}
)
BESIDE = said("beside", {"id": "FR-001", "set": {"reason": "They asked", "remark": "a remark"}})


@cache
def played() -> Meeting:
    """With what people took over of pushed lines, corrected, replaced, withdrew, edited and deleted."""
    meeting = Meeting()
    first = meeting.say("Ada", "01-06", "requirement: Edit offline\nAC: the edit is kept\nrisk: it is late")
    meeting.say("Grace", "01-06", "decision: Use SQLite\nrequirement: Show conflicts\nIt is slow.")
    quotes = {"text": [{"line": first, "words": "it is late"}]}
    risk = {
        "id": "RSK-002",
        "kind": "risk",
        "new": True,
        "set": {"text": "it is late"},
        "sources": ["FR-001"],
    }
    meeting.propose(
        {**risk, "quotes": quotes}, {"id": "FR-001", "set": {"title": "Edit", "reason": "tunnels"}}
    )
    meeting.push_line(THEIRS)
    meeting.push_line(BESIDE)
    meeting.press("Ada", {"id": "FR-009", "accept": True}, {"id": "FR-001", "accept": ["remark"]})
    meeting.press("Ada", {"id": "RSK-002", "accept": True}, how="everything")
    meeting.press("Grace", {"id": "FR-001", "add": {"depends": ["FR-002"]}, "sources": ["DEC-001"]})
    meeting.press("Grace", {"id": "Q-001", "kind": "question", "new": True, "set": {"text": "who?"}})
    meeting.say("Grace", "01-08", "DEC-001: Use files")
    meeting.say("Linus", "01-08", "decision: No tablets; changes: FR-002, AC-001-01")
    meeting.say("Ada", "01-06", "requirement: Edit anywhere\nAC: the edit is kept", amends=first)
    meeting.propose({"id": "FR-002", "set": {"title": "Show both"}})
    meeting.delete("Grace", meeting.say("Grace", "01-08", "Must: FR-001, FR-002"))
    meeting.press("Linus", {"id": "Q-001", "state": "withdrawn"})
    return meeting


def ours_in(known: Specification) -> Mapping[str, Any]:
    """All that lines of ours say, and what follows from it."""
    return {
        id: (
            (one.kind, one.step, one.part_of, one.state, one.withdrawn, one.superseded, one.replaced_by),
            known.lives(id),
            {field: claims for field in one.claims if (claims := one.sealed(field))},
        )
        for id, one in known.entries.items()
        if not one.is_pushed
    }


def plain(found: Mapping[str, Any]) -> list[Any]:
    """In the order of the fields, too: the first one says whether an entry counts."""
    return [(id, told[:2], list(told[2].items())) for id, told in sorted(found.items())]


IDS = st.sampled_from([*played().specification.entries, "FR-004", "FR-999", "AC-001-02", "DEC-009"])
ANY_WORDS = st.sampled_from([*played().specification.entries, "Edit anywhere", "z", "must", "open", "m1"])
ANY_VALUE = st.none() | ANY_WORDS | st.lists(ANY_WORDS, max_size=2)
ANY_PATCH = st.fixed_dictionaries(
    {"id": IDS},
    optional={
        "kind": st.sampled_from([*PLAYBOOK.schema.kinds, "other"]),
        "part_of": IDS,
        "new": st.booleans(),
        "set": st.dictionaries(st.sampled_from(FIELDS), ANY_VALUE, max_size=3),
        "add": st.dictionaries(st.sampled_from(FIELDS), st.lists(ANY_WORDS, max_size=2), max_size=1),
        "state": st.sampled_from(EntryState),
        "accept": st.booleans() | st.lists(st.sampled_from(FIELDS), max_size=2),
        "sources": st.lists(IDS | st.sampled_from(["m1", "m2"]), max_size=2),
        "replaced_by": st.lists(IDS, max_size=1),
        "pushed": st.booleans(),
    },
)
PUSHED_FACTS = st.dictionaries(
    st.sampled_from(["amends", "retracts"]), st.sampled_from(["m1", "m2", "m3"])
) | st.dictionaries(FACTS, VALUES, max_size=2)
PLACES = st.lists(
    st.tuples(st.integers(0, 30), st.lists(ANY_PATCH, max_size=3), PUSHED_FACTS), min_size=1, max_size=4
)
SEALED_ROWS = sealed(played().lines).splitlines(keepends=True)
OURS = ours_in(played().specification)


def with_rows(*places: tuple[int, Line]) -> Specification:
    """Folded out of the file with pushed lines in it."""
    rows = [*SEALED_ROWS]
    for at, line in reversed(places):
        rows.insert(at, line.as_json().encode() + b"\n")
    return folded_content(b"".join(rows), TRUSTED).specification


def test_what_was_taken_over_of_a_pushed_line_holds_without_it() -> None:
    known = with_rows()
    print_of = known.entries["FR-009"].claim("title")

    assert plain(ours_in(known)) == plain(OURS)
    assert print_of
    assert (print_of.value, print_of.author.name) == ("Print", "a pushed line")
    assert print_of.accepted
    assert known.entries["FR-001"]["remark"] == "a remark"


@given(PLACES)
def test_no_pushed_line_changes_what_ours_say(
    pushed: list[tuple[int, list[dict[str, Any]], dict[str, Any]]],
) -> None:
    """Kinds, parents, states, values, authors and doubts, wherever in the file it is."""
    lines = [(at, said(f"pushed{n}", *patches)) for n, (at, patches, _) in enumerate(pushed)]
    told = [
        (at, line.but(meta={**line.meta, **facts}))
        for (at, line), (_, _, facts) in zip(lines, pushed, strict=True)
    ]
    assert plain(ours_in(with_rows(*told))) == plain(OURS)


@pytest.mark.parametrize("at", range(len(SEALED_ROWS) + 1))
def test_the_lines_that_a_person_took_over_may_stand_anywhere(at: int) -> None:
    known = with_rows((at, THEIRS), (at, BESIDE))

    assert plain(ours_in(known)) == plain(OURS)
    assert known.entries["FR-009"].pending("title") is None
    pending = known.entries["FR-001"].pending("reason")
    assert pending
    assert pending.value == "tunnels", "what a persona proposes is hidden by no pushed line"


def test_pushed_lines_use_up_no_limit_of_ours() -> None:
    """Neither of the entries, nor of the values of a field."""
    meeting = Meeting()
    meeting.say("Ada", "01-06", "requirement: Edit offline")
    risks = ({"id": f"RSK-{n:04}", "kind": "risk", "set": {"text": "x"}} for n in range(MOST_ENTRIES + 1))
    values = ({"id": "FR-001", "set": {"title": f"{n}"}} for n in range(MOST_CLAIMS + 1))
    meeting.push_line(said("p1", *itertools.chain(risks, values)))

    assert len(meeting.specification.refused) == 2
    meeting.say("Grace", "01-06", "FR-001: Edit anywhere\nrequirement: Show conflicts")
    assert (meeting["FR-001.title"], meeting["FR-002.title"]) == ("Edit anywhere", "Show conflicts")
    assert len(meeting.specification.refused) == 2
