"""Ids are unique and stay what they are, however a mind numbers what it writes anew."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.item.artifacts import SectionEdit
from bot.voices.answers import stories
from bot.voices.offline.numbering import read_spec
from bot.voices.settling import merged_sections, numbers_for

HEADING = "6. Functional Requirements"
FILE = f"""# Spec

## {HEADING}

### FR-001: Keep edits made offline

- AC-001-01: an edit is there after a restart — Ada
- AC-001-02: nothing is asked twice — Ada
- Priority: Must
- Traces: step 01-06 (Ada)

### FR-002: Send edits when the network is back

- AC-002-01: all edits are sent within 60 seconds — Ben
- Priority: Should

### A table of somebody's

Kept by hand.

## 7. Out of Scope

- photos
"""


def requirements(body: str | None) -> dict[str, list[str]]:
    assert body is not None
    spec = read_spec(SectionEdit(path="x.md", heading=HEADING, title="x", body=body).apply(FILE), HEADING)
    return {
        f"{one.id} {one.title}": [f"{number} {text}" for number, text in sorted(one.criteria.items())]
        for one in spec.requirements
    }


def test_equal_words_keep_their_number() -> None:
    """Also when a mind has sorted them differently, or counted anew."""
    body = (
        "### FR-001: Send edits when the network is back\n- AC-001-01: all edits are sent within 60 seconds\n\n"
        "### FR-002: Keep edits made offline\n- AC-002-01: nothing is asked twice — Ada\n"
    )

    assert list(requirements(merged_sections(FILE, body, HEADING))) == [
        "FR-001 Keep edits made offline",
        "FR-002 Send edits when the network is back",
    ]


def test_changed_words_keep_it_if_they_are_about_the_same() -> None:
    """What it was called before stays on record."""
    body = merged_sections(
        FILE, "### FR-001: Keep all edits made without a network\n- AC-001-01: kept\n", HEADING
    )

    assert "FR-001 Keep all edits made without a network" in requirements(body)
    assert body
    assert "- Earlier: Keep edits made offline" in body


def test_a_number_is_never_used_for_something_else() -> None:
    """A new requirement under an old number is counted on."""
    body = merged_sections(FILE, "### FR-001: Show a map of depots\n- AC-001-01: a map is shown\n", HEADING)

    assert list(requirements(body)) == [
        "FR-001 Keep edits made offline",
        "FR-002 Send edits when the network is back",
        "FR-003 Show a map of depots",
    ]
    assert requirements(body)["FR-003 Show a map of depots"] == ["1 a map is shown"]


def test_nothing_with_a_number_disappears() -> None:
    """Requirements, criteria, priorities, traces, and what somebody put between them by hand."""
    body = merged_sections(FILE, "### FR-003: Show a map\n- AC-003-01: a map is shown\n", HEADING)

    assert body
    assert set(re.findall(r"(?:FR-\d{3}|AC-\d{3}-\d{2})", body)) >= {
        "FR-001",
        "FR-002",
        "AC-001-02",
        "AC-002-01",
    }
    assert "- Priority: Must" in body
    assert "- Traces: step 01-06 (Ada)" in body
    assert "Kept by hand." in body


def test_numbers_given_twice_are_told_apart() -> None:
    """Of requirements, and of criteria below one; a criterion is numbered after the requirement it stands below."""
    body = (
        "### FR-003: Show a map\n- AC-003-01: a map is shown\n- AC-003-01: it can be moved\n- AC-009-02: it is dark\n"
        "### FR-003: Print a map\n- AC-003-01: paper comes out\n"
    )
    found = requirements(merged_sections(FILE, body, HEADING))

    assert found["FR-003 Show a map"] == ["1 a map is shown", "2 it is dark", "3 it can be moved"]
    assert found["FR-004 Print a map"] == ["1 paper comes out"]


def test_criteria_are_settled_like_requirements() -> None:
    """Equal words keep their number, new ones get the next."""
    body = (
        "### FR-001: Keep edits made offline\n"
        "- AC-001-01: photos survive, too\n- AC-001-05: nothing is asked twice — Ada\n"
    )
    found = requirements(merged_sections(FILE, body, HEADING))["FR-001 Keep edits made offline"]

    assert found == [
        "1 an edit is there after a restart — Ada",
        "2 nothing is asked twice — Ada",
        "6 photos survive, too",
    ]


def test_settling_again_changes_nothing() -> None:
    """A step may be written down again, and again."""
    once = merged_sections(FILE, "### FR-003: Show a map\n- AC-003-01: a map is shown\n", HEADING)
    assert once
    page = SectionEdit(path="x.md", heading=HEADING, title="x", body=once).apply(FILE)

    assert merged_sections(page, once, HEADING) == once


@pytest.mark.parametrize("body", ["", "We need a map.", "**FR-001** Show a map", "| FR-001 | Show a map |"])
def test_a_text_without_requirements_is_none(body: str) -> None:
    """Then what people said is written as they said it."""
    assert merged_sections(FILE, body, HEADING) is None


WORDS = st.sampled_from(["keep edits", "send edits", "show map", "print map", "move map", "count", "sum"])


@given(
    known=st.dictionaries(st.integers(1, 9), WORDS, max_size=6),
    written=st.lists(st.tuples(st.integers(0, 12), WORDS), max_size=8),
)
def test_any_numbers_are_unique_and_stable(known: dict[int, str], written: list[tuple[int, str]]) -> None:
    """No number twice; and a known number goes to the same words, or to words about the same."""
    numbers = numbers_for(known, written)

    assert len(set(numbers)) == len(numbers)
    for number, (_, text) in zip(numbers, written, strict=True):
        assert number not in known or set(known[number].split()) & set(text.split())


@given(body=st.text(alphabet="#FRAC-0129: \nxyz*", max_size=300))
def test_any_text_is_settled_without_losing_a_requirement(body: str) -> None:
    """Whatever a mind writes."""
    found = merged_sections(FILE, body, HEADING)

    assert found is None or {"FR-001", "FR-002"} <= set(
        re.findall(r"^### (FR-\d{3,4}):", found, re.MULTILINE)
    )


# --- stories ----------------------------------------------------------------------------------------------------------

STORIES = '[{"id": "US-001", "role": "Driver", "want": "edit in a tunnel"}]'


def test_stories_keep_their_ids_and_trace_to_what_exists() -> None:
    """Under new ids where they are new; a trace to nothing is left out."""
    text = """```json
[{"id": "US-001", "role": "Planner", "want": "see a map", "traces": ["FR-001", "FR-404"]},
 {"id": "US-002", "role": "Driver", "want": "edit in a tunnel", "acceptance_criteria": ["kept"], "traces": "FR-002"}]
```"""
    found = stories(text, STORIES, FILE)

    assert [(one["id"], one["want"], one["traces"]) for one in found] == [
        ("US-003", "see a map", ["FR-001"]),
        ("US-001", "edit in a tunnel", ["FR-002"]),
    ]


def test_a_story_keeps_its_id_as_it_is_spelled() -> None:
    """It is merged by that; another spelling would be another story."""
    file = '[{"id": "US-1", "role": "Driver", "want": "edit in a tunnel"}]'
    (found,) = stories('[{"id": "US-001", "role": "Driver", "want": "edit in a tunnel"}]', file, FILE)

    assert found["id"] == "US-1"


def test_of_two_stories_with_one_id_only_the_first_is_known_by_it() -> None:
    """That is the one which is written over; the other stays as people wrote it."""
    file = '[{"id": "US-001", "want": "see a map"}, {"id": "US-001", "want": "edit in a tunnel"}]'
    seen, edited = stories('[{"want": "see a map"}, {"want": "edit in a tunnel"}]', file, FILE)

    assert (seen["id"], edited["id"] != "US-001") == ("US-001", True)


@pytest.mark.parametrize(
    "text",
    ["", "none", "{}", "[]", "[1, null]", '[{"id": "US-001"}]', '{"stories": 3}', "[" * 5_000],
    ids=lambda text: text[:10],
)
def test_what_holds_no_story_gives_none(text: str) -> None:
    """Then what people said is written as they said it."""
    assert stories(text, STORIES, FILE) == ()


def test_stories_are_salvaged_from_an_array_that_broke_off() -> None:
    """Those that are whole."""
    found = stories('Here:\n[{"id": "US-009", "role": "A", "want": "x"}, {"id": "US-010", "wa', "", "")

    assert [one["id"] for one in found] == ["US-009"]
