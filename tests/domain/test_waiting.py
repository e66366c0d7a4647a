"""What waits for one person: the open step, questions, and objections, theirs and to what they decided."""

import pytest

from bot.domain.roundtable.waiting import Wait, WaitKind, question, waits_for
from bot.domain.specification.fold import Patch
from tests.domain.table import Table, person, shipped


def table_with(*patches: tuple[str, dict[str, object]]) -> Table:
    """Each patch is said by a person, and recorded."""
    table = Table(shipped()).start()
    for who, patch in patches:
        made = Patch.model_validate({"new": True, **patch})
        said = table.rt.meeting(person(who))
        table.rt = said.heard(person(who), "…", ts=table.ts(), part=said.part, entries=[made])
    return table


DECISION: dict[str, object] = {"id": "DEC-001", "kind": "decision", "set": {"text": "Keep the last edit"}}


def objection(**fields: object) -> dict[str, object]:
    return {"id": "OBJ-001", "kind": "objection", "set": {"text": "The phone gets lost", **fields}}


def waits(table: Table, who: str) -> list[Wait]:
    return [one for one in waits_for(table.rt, who, table.playbook) if one.kind is not WaitKind.STEP]


@pytest.mark.parametrize("about", [["DEC-001"], "DEC-001", ["FR-009", "DEC-001"]])
def test_an_objection_waits_for_its_owner_and_for_who_decided(about: object) -> None:
    table = table_with(("ada", DECISION), ("grace", objection(about=about)))

    assert waits(table, "grace") == [Wait(WaitKind.OWN_OBJECTION, "The phone gets lost")]
    assert waits(table, "ada") == [Wait(WaitKind.OBJECTION, "The phone gets lost", "Grace", "OBJ-001")]
    assert waits(table, "linus") == []


@pytest.mark.parametrize("about", [[], ["FR-009"], None])
def test_an_objection_to_nothing_that_was_decided_waits_for_its_owner_alone(about: object) -> None:
    table = table_with(("ada", DECISION), ("grace", objection(**({"about": about} if about else {}))))

    assert waits(table, "ada") == []
    assert [one.kind for one in waits(table, "grace")] == [WaitKind.OWN_OBJECTION]


@pytest.mark.parametrize("fields", [{"outcome": "rejected"}, {"outcome_text": "rare"}])
def test_an_objection_with_an_answer_waits_for_nobody(fields: dict[str, object]) -> None:
    table = table_with(("ada", DECISION), ("grace", objection(about=["DEC-001"], **fields)))

    assert waits(table, "ada") + waits(table, "grace") == []


def test_a_step_that_is_gone_asks_nothing() -> None:
    """Its file was removed while it was open."""
    table = Table(shipped()).start()

    assert question(table.rt.but(step_id="99-99"), table.playbook) == ""
    assert question(table.rt, table.playbook)
