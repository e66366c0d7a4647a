"""Ids that are referred to exist: looked at before a commit, told in one line, and never in the way of saving."""

import pytest

from bot.domain.discussion.synthesis import (
    Decision,
    Insight,
    Objection,
    OpenQuestion,
    Synthesis,
    claims,
)
from bot.domain.item.artifacts import (
    Edit,
    FileEdit,
    InsightEdit,
    ItemsEdit,
    RowsEdit,
    SectionEdit,
)
from bot.domain.messages import step_wording
from bot.domain.roundtable.crosscheck import undefined_ids, undefined_ids_in
from tests.domain.books import few_steps
from tests.domain.table import Table

SPEC = "# Spec\n\n## 6. Functional Requirements\n\n### FR-001: Keep edits\n\n- AC-001-01: kept\n- Priority: Must\n"
STORIES = '[{"id": "US-001", "traces": ["FR-001"]}]'
FILES = {"requirements-spec.md": SPEC, "user-stories.json": STORIES}


def section(body: str, heading: str = "8. MoSCoW", path: str = "requirements-spec.md") -> SectionEdit:
    return SectionEdit(path=path, heading=heading, title="Spec", body=body)


@pytest.mark.parametrize(
    ("edit", "found"),
    [
        (section("Must: FR-001, see AC-001-01 and US-001."), ()),
        (section("Must: FR-001, FR-002. See AC-001-09, US-004."), ("AC-001-09", "FR-002", "US-004")),
        (section("### FR-002: More\n\n- AC-002-01: x, as FR-001", "9. More"), ()),
        (section("`FR-0019`, XFR-002, FR-002-1, fr-002", "9. More"), ()),
        (section("FR-1, FR-02 and US-1; AC-1-1, AC-1-9.", "9. More"), ("AC-001-09", "FR-002")),
        (section("FR-1000 and FR-00\u0661", "9. More"), ("FR-1000",)),
        (
            ItemsEdit(path="user-stories.json", items=({"id": "US-002", "traces": ["FR-001", "FR-007"]},)),
            ("FR-007",),
        ),
        (RowsEdit(path="t.csv", columns=("FR_ID",), rows=(("FR-001",), ("FR-003",))), ("FR-003",)),
        (FileEdit(path="x.yaml", text="FR-009"), ()),
    ],
)
def test_what_is_mentioned_and_not_defined_is_found(edit: Edit, found: tuple[str, ...]) -> None:
    """Wherever it is mentioned; what is defined in the same edit exists."""
    assert undefined_ids(FILES, (edit,)) == found


def test_ids_of_a_kind_that_is_not_used_here_are_let_be() -> None:
    """People may mention the numbers of another document, before there are any of ours."""
    assert undefined_ids({}, (section("As FR-017 of the old specification says."),)) == ()
    assert undefined_ids({"requirements-spec.md": SPEC}, (section("As in US-004."),)) == ()


def test_a_file_that_cannot_be_read_is_no_reason_not_to_save() -> None:
    """What is written now is looked at all the same."""
    edits = (ItemsEdit(path="user-stories.json", items=({"id": "US-001", "traces": ["US-002"]},)),)
    insight = InsightEdit(
        path="requirements-spec.md", keywords=("x",), marker="<!-- Elaboration: x -->", body="x"
    )

    assert undefined_ids({"user-stories.json": "{"}, edits) == ("US-002",)
    assert undefined_ids({}, (insight,)) == ()


def test_what_a_discussion_came_to_is_looked_at_too() -> None:
    """Its insights go into the same files."""
    table = Table(few_steps()).start()
    table.world.dangling = ("FR-009",)
    table.elaborate().say("As FR-009 says.").say("done")

    assert table.texts.count(step_wording.dangling(("FR-009",))) == 1
    assert table.meta.elaborations[0].step_id == "00-01"


def test_every_line_of_a_synthesis_is_looked_at() -> None:
    """Whatever kind of claim it is."""
    synthesis = Synthesis(
        insights=(Insight(text="FR-002"),),
        decisions=(Decision(text="x", rationale="FR-003"),),
        questions=(OpenQuestion(text="x", why="FR-004"),),
        actions=("FR-005",),
        objections=(Objection(text="FR-006", because="FR-007", risk="FR-008", reopen_if="FR-009"),),
        summary="FR-001",
    )

    assert undefined_ids_in(FILES, claims(synthesis)) == tuple(f"FR-00{number}" for number in range(2, 10))


def test_the_line_stays_one_line() -> None:
    """However many there are."""
    told = step_wording.dangling([f"FR-{number:03}" for number in range(50)])

    assert told.endswith(
        "`FR-007` and 42 more are mentioned in what was written just now, and defined nowhere."
    )
