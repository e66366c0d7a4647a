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
from bot.domain.messages import step_wording
from bot.domain.roundtable.crosscheck import undefined_ids
from tests.domain.books import few_steps
from tests.domain.table import Table

SPEC = "# Spec\n\n## 6. Functional Requirements\n\n### FR-001: Keep edits\n\n- AC-001-01: kept\n- Priority: Must\n"
STORIES = '[{"id": "US-001", "traces": ["FR-001"]}]'
FILES = {"requirements-spec.md": SPEC, "user-stories.json": STORIES}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Must: FR-001, see AC-001-01 and US-001.", ()),
        ("Must: FR-001, FR-002. See AC-001-09, US-004.", ("AC-001-09", "FR-002", "US-004")),
        ("`FR-0019`, XFR-002, FR-002-1, fr-002", ()),
        ("FR-1, FR-02 and US-1; AC-1-1, AC-1-9.", ("AC-001-09", "FR-002")),
        ("FR-1000 and FR-00\u0661", ("FR-1000",)),
    ],
)
def test_what_is_mentioned_and_not_defined_is_found(text: str, found: tuple[str, ...]) -> None:
    """In full, however it was written."""
    assert undefined_ids(FILES, [text]) == found


def test_ids_of_a_kind_that_is_not_used_here_are_let_be() -> None:
    """People may mention the numbers of another document, before there are any of ours."""
    assert undefined_ids({}, ["As FR-017 of the old specification says."]) == ()
    assert undefined_ids({"requirements-spec.md": SPEC}, ["As in US-004."]) == ()


def test_a_file_that_cannot_be_read_defines_nothing() -> None:
    """The others are looked at all the same."""
    assert undefined_ids({**FILES, "user-stories.json": "{"}, ["US-002, FR-009"]) == ("FR-009",)


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
        objections=(Objection(text="FR-006"),),
        summary="FR-001",
    )

    assert undefined_ids(FILES, claims(synthesis)) == tuple(f"FR-00{number}" for number in range(2, 7))


def test_the_line_stays_one_line() -> None:
    """However many there are."""
    told = step_wording.dangling([f"FR-{number:03}" for number in range(50)])

    assert told.endswith("`FR-007` and 42 more are mentioned in the new text, but not defined.")
