"""Requirements, stories, priorities and qualities, out of people's lines."""

import csv
import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.voices.people import ADA, BEN, FEATURES, PRIORITIES, QUALITY, STORIES, roundtable, written

SPEC = "requirements-spec.md"
LIST = """Hi, here we go :wave:
- Filter the list by date
  AC: choosing May shows only entries from May
- Export as CSV.
Accepted when Excel opens it
Out of scope: saved filters"""


def features(*said: tuple[str, str], before: dict[str, str] | None = None, **more: Any) -> str:
    return written(roundtable(FEATURES, *said, **more), before)[SPEC]


def test_every_line_of_a_list_is_a_requirement() -> None:
    """With its criteria below it, by whom, and numbers for both."""
    assert features((ADA, LIST)) == (
        "# Requirements Spec: Exports lose rows\n\n"
        "## 6. Functional Requirements\n\n"
        "### FR-001: Filter the list by date\n\n"
        "- AC-001-01: choosing May shows only entries from May — Ada\n"
        "- Priority: to be set\n"
        "- Traces: step 01-06 (Ada)\n\n"
        "### FR-002: Export as CSV\n\n"
        "- AC-002-01: Excel opens it — Ada\n"
        "- Priority: to be set\n"
        "- Traces: step 01-06 (Ada)\n\n"
        "## 7. Out of Scope\n\n"
        "- saved filters — Ada\n"
    )


@pytest.mark.parametrize(
    ("text", "titles"),
    [
        ("Filter by date\nExport as CSV", ["FR-001: Filter by date", "FR-002: Export as CSV"]),
        ("1. Filter by date\n2) Export as CSV", ["FR-001: Filter by date", "FR-002: Export as CSV"]),
        ("FR-007: Filter by date\n• Export as CSV", ["FR-001: Export as CSV", "FR-007: Filter by date"]),
        (
            "People filter by date. They export CSV.",
            ["FR-001: People filter by date", "FR-002: They export CSV"],
        ),
        (
            "Nach Datum filtern 📅\n日付で絞り込む",
            ["FR-001: Nach Datum filtern 📅", "FR-002: 日付で絞り込む"],
        ),
        ("- filter by date\n- Filter by date!", ["FR-001: filter by date"]),
    ],
)
def test_lists_are_read_in_many_forms(text: str, titles: list[str]) -> None:
    """Lines, bullets, numbers, sentences, other languages, and numbers that people gave themselves."""
    page = features((ADA, text))

    assert [line[4:] for line in page.splitlines() if line.startswith("### ")] == titles


def test_talk_about_requirements_is_none() -> None:
    """Remarks, questions and feedback in plain words are kept, but are no capability."""
    page = features(
        (ADA, "- Filter by date"),
        (BEN, "I think that is all. Who tests it?"),
        after=((BEN, "Looks thin to me"),),
    )

    assert page.count("### FR-") == 1
    for words in ("I think that is all. — Ben", "Who tests it? — Ben", "Looks thin to me — Ben"):
        assert f"- {words}" in page


def test_what_is_said_about_a_number_is_noted_there() -> None:
    """A number that nothing has leads nowhere, so the words stand below."""
    page = features(
        (ADA, "- Filter by date"), after=((BEN, "FR-001 should work by month, and FR-009 is missing"),)
    )

    assert (
        "- Note: FR-001 should work by month, and FR-009 is missing — Ben"
        in page.partition("### What else")[0]
    )
    assert "- FR-001 should work by month" in page.partition("### What else")[2]


def test_numbers_stay_when_a_step_is_written_again() -> None:
    """By equal words, in the file; new ones go on after them, and the same draft changes nothing."""
    first = written(roundtable(FEATURES, (ADA, LIST)))
    rt = roundtable(FEATURES, (BEN, "- Print it\n- export as csv\nAC: the total is there"), (ADA, LIST))
    second = written(rt, first)

    titles = [line for line in second[SPEC].splitlines() if line.startswith("### FR")]
    assert titles == [
        "### FR-001: Filter the list by date",
        "### FR-002: Export as CSV",
        "### FR-003: Print it",
    ]
    assert "- AC-002-01: Excel opens it — Ada\n- AC-002-02: the total is there — Ben" in second[SPEC]
    assert "- Traces: step 01-06 (Ada, Ben)" in second[SPEC]
    assert written(rt, second) == second


def test_a_number_given_by_people_renames_its_requirement() -> None:
    """The earlier words stay below it, so that they find their way back."""
    answers = ((ADA, "- Export as CSV"),)
    first = written(roundtable(FEATURES, *answers))
    rt = roundtable(FEATURES, *answers, after=((BEN, "FR-001: Export as CSV and PDF"),))

    second = written(rt, first)
    assert "### FR-001: Export as CSV and PDF\n" in second[SPEC]
    assert "- Earlier: Export as CSV\n" in second[SPEC]
    assert second[SPEC].count("### FR-") == 1
    assert written(rt, second) == second


def test_what_people_wrote_into_the_file_stays() -> None:
    """A priority, a paragraph, a criterion, a block of their own, and requirements nobody mentions any more."""
    before = written(roundtable(FEATURES, (ADA, LIST)))
    edited = (
        before[SPEC]
        .replace(
            "- Priority: to be set\n- Traces: step 01-06 (Ada)\n\n### FR-002",
            "- Priority: Must\n- Traces: ours\n\n### FR-002",
        )
        .replace(
            "### FR-001: Filter the list by date\n",
            "### FR-001: Filter the list by date\n\nBy hand.\n\n```\n# x\n\ny\n```\n",
        )
        .replace("## 7.", "### A block of ours\n\nText.\n\n## 7.")
    )

    after = written(roundtable(FEATURES, (BEN, "- Print it")), {SPEC: edited})[SPEC]
    for kept in (
        "By hand.\n\n```\n# x\n\ny\n```\n",
        "- Priority: Must\n- Traces: ours\n",
        "### A block of ours\n\nText.",
        "- saved filters — Ada",
    ):
        assert kept in after
    assert "### FR-003: Print it" in after


def test_a_long_capability_has_a_short_title() -> None:
    """The whole of it stands below."""
    page = features((ADA, "- " + "Export the whole list " * 10))

    title = next(line for line in page.splitlines() if line.startswith("### FR"))
    assert len(title) < 110
    assert title.endswith("…")
    assert ("Export the whole list " * 10).strip() in page


# --- stories ------------------------------------------------------------------------------------------------------


def stories(*said: tuple[str, str], before: dict[str, str] | None = None) -> list[dict[str, Any]]:
    found = json.loads(written(roundtable(STORIES, *said), before)["user-stories.json"])
    assert isinstance(found, list)
    return found


@pytest.mark.parametrize(
    "text",
    [
        "As a shift lead I want to filter by date so that I find the fault (FR-001)",
        "- *Story 1*: As a shift lead, I want to be able to filter by date, so that I find the fault. [FR-1]",
        "As a shift lead,\nI want to filter by date\nso that I find the fault (FR 001).",
        "as the shift lead I'd like to filter by date so I find the fault -> FR-001",
        "As a shift lead I want to filter by date so that I find the fault. FR-001",
        "1. shift lead\n2. to filter by date (FR-001)\n3. I find the fault",
    ],
)
def test_a_story_is_read_however_it_is_written(text: str) -> None:
    """Role, wish and reason, over lines, with labels, with references, or as three numbered answers."""
    (story,) = stories((ADA, text.replace("*Story 1*: ", "")))

    assert story == {
        "id": "US-001",
        "role": "shift lead",
        "want": "filter by date",
        "so_that": "I find the fault",
        "acceptance_criteria": [],
        "traces": ["FR-001"],
        "by": "Ada",
    }


def test_two_stories_in_a_line_are_two_and_criteria_belong_to_the_one_above() -> None:
    """A new "As a … I" begins a new story."""
    found = stories((ADA, "As a lead I want X. As an auditor I want Y so that Z.\nAC: Y is there"))

    assert [(story["role"], story["want"], story["acceptance_criteria"]) for story in found] == [
        ("lead", "X", []),
        ("auditor", "Y", ["Y is there"]),
    ]


def test_what_is_no_story_is_a_note() -> None:
    """Not lost, and not dressed up as a story of somebody."""
    (note,) = stories((BEN, "Thanks!\nIt gets slower as the file grows, see FR-002"))

    assert note["id"] == "NOTE-001"
    assert (note["role"], note["note"], note["by"]) == (
        "",
        "It gets slower as the file grows, see FR-002",
        "Ben",
    )
    assert note["traces"] == ["FR-002"]


def test_a_story_traces_by_its_words_only_when_that_is_plain() -> None:
    """Otherwise it traces to nothing, and says nothing."""
    spec = written(
        roundtable(
            FEATURES, (ADA, "- Filter entries by date\n- Export entries as CSV\n- Export invoices as PDF")
        )
    )

    plain, unsure = stories(
        (ADA, "As a lead I want to filter old entries by date\nAs a clerk I want to export things"),
        before=spec,
    )
    assert plain["traces"] == ["FR-001"]
    assert unsure["traces"] == []


def test_stories_keep_their_ids_and_what_was_added_by_hand() -> None:
    """By equal words; new ones go on after them."""
    before = written(roundtable(STORIES, (ADA, "As a lead I want X (FR-002)")))
    known = json.loads(before["user-stories.json"])
    known[0]["acceptance_criteria"] = ["by hand"]
    file = {"user-stories.json": json.dumps(known)}

    found = stories((BEN, "As a clerk I want Y (FR-001)"), (ADA, "as a LEAD I want x"), before=file)
    assert [(story["id"], story["role"]) for story in found] == [("US-001", "LEAD"), ("US-002", "clerk")]
    assert found[0]["acceptance_criteria"] == ["by hand"]
    assert found[0]["traces"] == ["FR-002"]


def test_a_new_story_takes_nobody_s_id() -> None:
    """Whatever people have in the file: stories without words, ids of another spelling, and things that are no ids."""
    others = [
        {"id": "US-005", "title": "by hand"},
        {"id": "us-06", "title": "by hand, too"},
        {"id": 7, "role": "lead", "want": "X"},
        {"role": "lead", "want": "Y"},
        {"id": "US-006-draft"},
    ]
    file = {"user-stories.json": json.dumps(others)}
    after = json.loads(
        written(roundtable(STORIES, (ADA, "As a lead I want X (FR-001)")), file)["user-stories.json"]
    )

    assert after[:-1] == others
    assert (after[-1]["id"], after[-1]["want"]) == ("US-007", "X")


@given(
    ids=st.lists(
        st.sampled_from(["US-001", "US-002", "US-2", "us-003", "US-0009", 4, None, "NOTE-001", "x"]),
        max_size=5,
    ),
    wants=st.lists(st.sampled_from(["", "X", "Y", "Z"]), min_size=5, max_size=5),
    said=st.lists(st.sampled_from(["X", "Y", "Z", "W"]), min_size=1, max_size=3),
)
def test_any_stories_have_ids_of_their_own_and_keep_them(
    ids: list[object], wants: list[str], said: list[str]
) -> None:
    """Written over whatever stands in the file, and written again: what had an id has it, and new ones are new."""
    before = [{"id": one, "role": "lead", "want": want} for one, want in zip(ids, wants, strict=False)]
    file = {"user-stories.json": json.dumps(before)}
    rt = roundtable(STORIES, (ADA, "\n".join(f"As a lead I want {want}" for want in said)))
    once = written(rt, file)
    after = json.loads(once["user-stories.json"])

    assert [(one["id"], one["want"]) for one in after[: len(before)]] == [
        (one["id"], one["want"]) for one in before
    ]
    new = [one["id"] for one in after[len(before) :]]
    assert len(set(new)) == len(new)
    assert not set(new) & {one["id"] for one in before}
    assert written(rt, once) == once


def test_what_people_numbered_twice_stays_twice() -> None:
    """Under a requirement that they wrote: no criterion of theirs is lost, or is another's."""
    before = written(roundtable(FEATURES, (ADA, LIST)))
    by_hand = before["requirements-spec.md"].replace(
        "- Priority",
        "- AC-001-01: by hand\n- AC-001-01: by hand, too\n- AC-002-01: of another\n- Priority: Must\n- Priority",
        1,
    )
    after = written(roundtable(FEATURES, (BEN, "AC: FR-001 is fast")), {"requirements-spec.md": by_hand})
    text = after["requirements-spec.md"]

    for line in ("- AC-001-01: by hand\n", "- AC-001-01: by hand, too\n", "- AC-002-01: of another\n"):
        assert text.count(line) == 1


# --- priorities ---------------------------------------------------------------------------------------------------


def test_priorities_are_sorted_and_traced() -> None:
    """Must first, with reasons; the matrix counts criteria and names the stories."""
    files = written(roundtable(FEATURES, (ADA, LIST + "\n- Print it\n- Share | it")))
    files = written(
        roundtable(STORIES, (ADA, "As a lead I want to filter (FR-001)\nAs a boss I want dates (FR-001)")),
        files,
    )
    said = (
        (ADA, "Should: FR-001, Must: FR-002 because Excel is all we have"),
        (BEN, "FR-3 could come later. Not all must."),
    )

    after = written(roundtable(PRIORITIES, *said), files)
    table = after[SPEC].partition("## 8. MoSCoW Prioritization")[2]
    assert (
        "| FR-002 | Export as CSV | Must | Excel is all we have — Ada |\n"
        "| FR-001 | Filter the list by date | Should | — Ada |\n"
        "| FR-003 | Print it | Could | — Ben |\n"
        "| FR-004 | Share \\| it | to be set |  |\n"
    ) in table
    rows = list(csv.reader(io.StringIO(after["traceability-matrix.csv"])))
    assert rows == [
        ["FR_ID", "Title", "AC_Count", "Priority", "User_Stories"],
        ["FR-001", "Filter the list by date", "1", "Should", "US-001;US-002"],
        ["FR-002", "Export as CSV", "1", "Must", ""],
        ["FR-003", "Print it", "0", "Could", ""],
        ["FR-004", "Share | it", "0", "to be set", ""],
    ]
    assert written(roundtable(PRIORITIES, *said), after) == after


@pytest.mark.parametrize(
    ("text", "priorities"),
    [
        ("Must: FR-001 to FR-002", ["Must", "Must", "to be set"]),
        ("must have: filter, export", ["Must", "Must", "to be set"]),
        ("All of them are a must", ["Must", "Must", "Must"]),
        ("*Must*: FR-001\n*Could*: FR-002\nWon't: FR-003", ["Must", "Could", "Won't"]),
        ("Must: FR-001. Sorry, FR-001 should wait", ["Should", "to be set", "to be set"]),
        ("What must be there? FR-001?", ["to be set"] * 3),
        ("we must talk about FR-001 and what it should be", ["to be set"] * 3),
        ("must: FR-001, FR-002. FR-003 could, if time", ["Must", "Must", "Could"]),
        ("FR-001 must be there if we ship at all", ["to be set"] * 3),
    ],
)
def test_priorities_are_read_in_many_forms(text: str, priorities: list[str]) -> None:
    """Lists, ranges, titles, sentences; not questions, and not sentences with two lists in them."""
    files = written(roundtable(FEATURES, (ADA, "- Filter by date\n- Export as CSV\n- Print it")))

    after = written(roundtable(PRIORITIES, (BEN, text)), files)["traceability-matrix.csv"]
    assert [row[3] for row in csv.reader(io.StringIO(after))][1:] == priorities


def test_priorities_set_before_stay() -> None:
    """What nobody mentions now is as it was in the table."""
    files = written(roundtable(FEATURES, (ADA, "- Filter by date\n- Export as CSV")))
    files = written(roundtable(PRIORITIES, (ADA, "Must: FR-001 because of audits, Could: FR-002")), files)

    after = written(roundtable(PRIORITIES, after=((BEN, "FR-002 should come sooner"),)), files)
    assert "| FR-001 | Filter by date | Must |" in after[SPEC]
    assert "| FR-002 | Export as CSV | Should |" in after[SPEC]


# --- qualities ----------------------------------------------------------------------------------------------------


def test_what_is_measured_goes_into_the_shared_matrix() -> None:
    """In a section of the item, with a category and a threshold; risks and mere wishes stay in the spec."""
    rt = roundtable(
        QUALITY,
        (ADA, "- Exports finish in under 2 seconds\n- 99.9 % uptime\n- must be fast"),
        (BEN, "Risk: losing rows, likelihood 3 of 5\nErrors below 1 in 1000 exports?"),
    )

    page = written(rt)["nfr-matrix.md"]
    assert page.startswith("# NFR Matrix\n\n## Exports lose rows (lost-rows)\n\n| NFR ID |")
    assert (
        "| NFR-001 | Performance | Exports finish in under 2 seconds — Ada | under 2 seconds | to be set |"
        in page
    )
    assert "| NFR-002 | Reliability | 99.9 % uptime — Ada | 99.9 % | to be set |" in page
    assert "NFR-003" not in page


@pytest.mark.parametrize(
    "text", ["", "It has to be fast", "that's number 1", "Risk: 2 people edit one record"]
)
def test_the_matrix_is_there_when_nothing_was_measured(text: str) -> None:
    """Its section says so above an empty table, and gets its rows as soon as somebody names a number."""
    said = [(ADA, text)] if text else []
    files = written(roundtable(QUALITY, *said))

    assert files["nfr-matrix.md"] == (
        "# NFR Matrix\n\n## Exports lose rows (lost-rows)\n\n_Nothing measurable was said yet._\n\n"
        "| NFR ID | Category | Description | Threshold | Priority |\n| --- | --- | --- | --- | --- |\n"
    )
    later = written(roundtable(QUALITY, *said, (BEN, "sync within 60 sec, for 99% of forms")), files)
    assert "_Nothing" not in later["nfr-matrix.md"]
    assert (
        "| NFR-001 | Performance | sync within 60 sec, for 99% of forms — Ben | within 60 sec |"
        in (later["nfr-matrix.md"])
    )


def test_rows_of_other_items_are_not_touched() -> None:
    """Numbers go on after theirs, and equal words keep their own."""
    theirs = (
        "# NFR Matrix\n\n## Dark mode (dark-mode)\n\n"
        "| NFR ID | Category | Description | Threshold | Priority |\n| --- | --- | --- | --- | --- |\n"
        "| NFR-007 | Usability | 2 clicks — Eve | 2 clicks | Must |\n"
    )
    first = written(roundtable(QUALITY, (ADA, "99.9 % uptime")), {"nfr-matrix.md": theirs})
    second = written(
        roundtable(QUALITY, (ADA, "99.9 % uptime"), (BEN, "exports < 2 s load time | p95")), first
    )

    assert second["nfr-matrix.md"].startswith(theirs)
    assert "| NFR-008 | Reliability | 99.9 % uptime — Ada |" in second["nfr-matrix.md"]
    assert (
        "| NFR-009 | Performance | exports < 2 s load time \\| p95 — Ben | < 2 s | to be set |"
        in second["nfr-matrix.md"]
    )
    assert written(roundtable(QUALITY, (ADA, "99.9 % uptime")), second) == second | {
        SPEC: written(roundtable(QUALITY, (ADA, "99.9 % uptime")))[SPEC]
    }
