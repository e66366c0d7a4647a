"""What a pushed line says breaks no view of the item, whatever it is."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.content.playbook import load
from bot.domain.discussion.board import board_of_step
from bot.domain.planning.plan_review import plan_edits
from bot.domain.roundtable.digest import StateChange, digest
from bot.domain.specification.brief import brief
from bot.domain.specification.coverage import coverage
from bot.domain.specification.entries import Patch, Specification
from bot.domain.specification.files import ItemFacts, follow_ups, sections
from bot.domain.specification.not_settled import lacking
from bot.domain.specification.snapshot import folded, text_of
from bot.domain.specification.snapshot import read as read_snapshot
from bot.domain.transcript import scrubbing
from bot.domain.transcript.forgetting import Eraser, Forgetting
from bot.domain.transcript.lines import Line, LinePhase, Source, append
from bot.record.brief import read_record
from bot.record.page import as_html
from bot.record.reading import InMemory
from bot.record.rewritten import is_text_in
from bot.record.words_kept import unkept
from bot.shipped import personas_dir, steps_dir

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
    assert "</html>" in "".join(as_html(read_record(InMemory(content)), title="A"))
    whom = Forgetting("p-aaaaaaaaaa", "Ada", on="2026-03-01", words=True)
    eraser = Eraser(whom, lines, is_text_in(PLAYBOOK.schema))
    assert scrubbing.transcript(content, eraser.text, eraser.change).content.count(b"\n") == len(lines)
