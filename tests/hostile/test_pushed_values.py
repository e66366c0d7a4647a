"""What a pushed line gives as a value breaks no view of the item, whatever it is."""

from typing import Any

import pytest

from bot.content.playbook import load
from bot.domain.discussion.board import board_of_step
from bot.domain.planning.plan_review import plan_edits
from bot.domain.specification.brief import brief
from bot.domain.specification.coverage import coverage
from bot.domain.specification.entries import Specification
from bot.domain.specification.files import ItemFacts, follow_ups, sections
from bot.domain.specification.not_settled import lacking
from bot.domain.transcript.lines import Line, LinePhase, Source
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
