"""What people change in git is read back by id, cell by cell, against what was last written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.catalog.schema import ViewForm
from bot.domain.messages.attribution_wording import attributions
from bot.domain.specification.read_back import MOST_NOTES, ReadBack, read_back
from tests.specification.meeting import SCHEMA, Meeting, make_entry

REQUIREMENTS = "Edit offline\nAC: the edit is kept\nShow conflicts\nOut of scope: tablets"


@pytest.fixture
def meeting() -> Meeting:
    meeting = Meeting()
    meeting.say(
        "Ada", "01-06", "requirement: Edit offline\nAC: the edit is kept\nrequirement: Show conflicts"
    )
    meeting.say("Ada", "01-06", "Out of scope: tablets\nsounds good to me")
    meeting.say("Grace", "01-08", "Must: FR-001\nShould: FR-002")
    meeting.say("Grace", "01-05", "quality: sync -> 5 s p95\nrisk: rows collide; impact: high")
    meeting.say("Ada", "01-07", "As a driver I want tunnels so that it works (FR-001)")
    meeting.say("Ada", "00-01", "Scope: small")
    return meeting


def change(meeting: Meeting, section: str, *changes: tuple[str, str]) -> ReadBack:
    """Replaces texts in a section as somebody would in git, and takes in what that means."""
    written = meeting.section(section)
    found = written
    for old, new in changes:
        assert old in found, f"{old!r} is not in\n{found}"
        found = found.replace(old, new)
    view = next(view for view in SCHEMA.views if section in {view.section, view.file})
    back = read_back(view, SCHEMA, meeting.specification, written=written, found=found)
    meeting.push("Linus", *back.patches)
    return back


def test_what_nobody_changed_changes_nothing(meeting: Meeting) -> None:
    for view in SCHEMA.views:
        text = meeting.projection.view(view)
        assert not read_back(view, SCHEMA, meeting.specification, written=text, found=text).changed


def test_a_title_changed_in_a_heading_is_changed_in_every_file(meeting: Meeting) -> None:
    change(meeting, "Functional Requirements", ("FR-002: Show conflicts", "FR-002: Show both versions"))

    assert "| FR-002 | Show both versions |" in meeting.section("MoSCoW Prioritization")
    assert "FR-002,Show both versions" in meeting.section("traceability-matrix.csv")


def test_the_lines_of_code_behind_a_row_are_no_words_of_it(meeting: Meeting) -> None:
    """A file names them with the commit, behind who stands behind the row; a changed row is read without them."""
    code = "src/a — b/__init__.py:5-8@1a2b3c4"
    made = (("FR-003", "requirement", "title", ""), ("AC-003-01", "criterion", "text", "FR-003"))
    for id, kind, field, owner in made:
        claim = {"quotes": {field: [{"line": code, "words": "wait = 60"}]}, "sources": [code]}
        meeting.propose(make_entry(id, {field: f"{kind} of 60 s"}, part_of=owner, **claim), step="01-06")
        meeting.press("Ada", {"id": id, "accept": True})
    written = meeting.section("Functional Requirements")

    assert "accepted by Ada, from `src/a — b/__init__.py:5-8@1a2b3c4`._" in written
    assert "accepted by Ada, from `src/a, b/__init__.py:5-8@1a2b3c4`\n" in written
    change(meeting, "Functional Requirements", ("criterion of 60 s", "criterion of 30 s"))
    assert (meeting["AC-003-01.text"], meeting["FR-003.title"]) == (
        "criterion of 30 s",
        "requirement of 60 s",
    )


SPEC, QUALITY, OUT = "Functional Requirements", "Quality Attributes & Risks", "Out of Scope"
STORIES, MATRIX = "user-stories.json", "traceability-matrix.csv"
AFTER_RESTART = "the edit is there after a restart"
ASK = "Ask the works council first."
CHANGED: list[tuple[str, str, str, dict[str, object]]] = [
    (QUALITY, "5 s p95", "3 s p95", {"NFR-001.threshold": "3 s p95", "NFR-001.text": "sync"}),
    (QUALITY, "rows collide", r"rows collide \| badly", {"RSK-001.text": "rows collide | badly"}),
    (SPEC, "Priority: must", "Priority: could\n- Depends on: FR-002", {"FR-001.depends": ["FR-002"]}),
    (SPEC, "- Priority: must\n", "", {"FR-001.priority": None}),
    (SPEC, "AC-001-01: the edit is kept", f"AC-001-01: {AFTER_RESTART}", {"AC-001-01.text": AFTER_RESTART}),
    (SPEC, "- Priority: should", f"- Priority: should\n\n{ASK}", {"FR-002.remark": ASK}),
    (
        SPEC,
        "2: Show conflicts",
        f"2: Show both\n\n{ASK}",
        {"FR-002.title": "Show both", "FR-002.remark": ASK},
    ),
    (OUT, "tablets", "tablets and phones", {"OUT-001.text": "tablets and phones"}),
    (OUT, "tablets", "tablets -- for now", {"OUT-001.text": "tablets -- for now"}),
    ("Scope", "Scope: small", "Scope: large", {"EST-001.scope": "large"}),
    (STORIES, '"tunnels"', '"to edit in tunnels"', {"US-001.want": "to edit in tunnels"}),
    (STORIES, '"FR-001"', '"FR-001", "FR-002"', {"US-001.traces": ["FR-001", "FR-002"]}),
    (MATRIX, "FR-001,Edit offline", "FR-001,Edit at home", {"FR-001.title": "Edit at home"}),
]


@pytest.mark.parametrize(("section", "old", "new", "known"), CHANGED)
def test_a_value_is_changed_and_stands_there_when_it_is_written_again(
    meeting: Meeting, section: str, old: str, new: str, known: dict[str, object]
) -> None:
    """In a cell, a labelled row, a bullet, a record; lines below an entry are its remark."""
    change(meeting, section, (old, new))

    assert {path: meeting[path] for path in known} == known
    assert not change(meeting, section).changed


def test_an_untouched_cell_does_not_undo_what_changed_since_it_was_written(meeting: Meeting) -> None:
    """The row of section 8 was written before the title changed in section 6."""
    written = meeting.section("MoSCoW Prioritization")
    meeting.say("Ada", "01-06", "FR-002: Show both versions")
    view = next(view for view in SCHEMA.views if view.section == "MoSCoW Prioritization")
    back = read_back(
        view, SCHEMA, meeting.specification, written=written, found=written.replace("| should |", "| could |")
    )
    meeting.push("Linus", *back.patches)

    assert (meeting["FR-002.title"], meeting["FR-002.priority"]) == ("Show both versions", "could")


def test_an_id_that_is_gone_withdraws_its_entry(meeting: Meeting) -> None:
    change(meeting, "Out of Scope", ("- **OUT-001** tablets — Ada", ""))

    assert not meeting.specification.lives("OUT-001")


def test_other_lines_become_notes_with_the_name_of_their_author(meeting: Meeting) -> None:
    change(meeting, "Out of Scope", ("- **OUT-001**", "Check with sales.\n\n- **OUT-001**"))

    (note,) = [one for one in meeting.specification.active("note") if attributions(one) == "Linus"]
    assert note["text"] == "Check with sales."


def test_a_value_that_does_not_fit_leaves_the_section_alone(meeting: Meeting) -> None:
    back = change(meeting, "MoSCoW Prioritization", ("| should |", "| very |"))

    assert back.unread == ("| FR-002 | Show conflicts | very |  |",)
    assert meeting["FR-002.priority"] == "should"


@pytest.mark.parametrize(
    ("file", "found"),
    [
        ("user-stories.json", '[{"id": "US-001"'),
        ("traceability-matrix.csv", 'FR_ID,Title\nFR-001,"never closed'),
    ],
)
def test_data_that_cannot_be_read_is_left_alone(meeting: Meeting, file: str, found: str) -> None:
    view = next(view for view in SCHEMA.views if view.file == file)
    written = meeting.projection.view(view)

    back = read_back(view, SCHEMA, meeting.specification, written=written, found=found)
    assert back == ReadBack(unread=(f"{file} cannot be read",))


def test_what_a_file_only_counts_is_not_changed_there(meeting: Meeting) -> None:
    """How many criteria a requirement has follows from the criteria."""
    back = change(meeting, "traceability-matrix.csv", ("FR-001,Edit offline,1", "FR-001,Edit offline,7"))

    assert back.unread == ("FR-001 AC_Count: 7",)
    assert back.patches == ()


def test_a_record_that_is_gone_withdraws_its_entry(meeting: Meeting) -> None:
    rows = meeting.section("traceability-matrix.csv").splitlines(keepends=True)
    change(meeting, "traceability-matrix.csv", (next(row for row in rows if row.startswith("FR-002")), ""))

    assert not meeting.specification.lives("FR-002")


def test_our_own_marks_are_not_taken_for_values(meeting: Meeting) -> None:
    meeting.say("Linus", "01-08", "FR-002 priority: could")
    change(meeting, "MoSCoW Prioritization", ("Show conflicts", "Show both"))

    assert meeting["FR-002.title"] == "Show both"
    assert meeting["FR-002.priority"] == "could"


def test_rows_that_nobody_can_place_become_notes_or_remarks(meeting: Meeting) -> None:
    """A label that the kind does not have belongs to the entry above it; a row of its own is a note."""
    text = "### FR-002: Show conflicts"
    back = change(meeting, "Functional Requirements", (text, f"{text}\n\n- **Colour:** red"))
    assert "Colour" in str(meeting["FR-002.remark"])
    assert not back.unread


def test_words_written_in_another_way_are_the_same_words(meeting: Meeting) -> None:
    """Bold letters and spaces change nothing."""
    back = change(
        meeting, "Functional Requirements", ("FR-002: Show conflicts", "FR-002:  **Show conflicts**")
    )

    assert meeting["FR-002.title"].strip("*") == "Show conflicts"
    assert len(back.patches) <= 1


def test_a_note_that_was_taken_away_is_withdrawn_and_an_unknown_row_is_nothing(meeting: Meeting) -> None:
    view = next(view for view in SCHEMA.views if view.section == "Functional Requirements")
    written = meeting.section("Functional Requirements")
    (note,) = meeting.specification.active("note")
    shown = f"{written}\n- Ada: {note['text']}\n- Ada: never said\n- \n"
    found = "\n".join(row for row in written.splitlines() if str(note["text"]) not in row)
    back = read_back(view, SCHEMA, meeting.specification, written=shown, found=found)
    meeting.push("Linus", *back.patches)

    assert meeting.specification.entries[note.id].gone


def test_a_fact_of_a_step_without_its_entry_is_a_note() -> None:
    meeting = Meeting()
    view = next(view for view in SCHEMA.views if any(show.form is ViewForm.FACTS for show in view.show))
    back = read_back(
        view, SCHEMA, meeting.specification, written="", found="- **Scope:** small\n- Colour: red\n"
    )

    assert not [patch for patch in back.patches if patch.kind not in {"", "note"}]


# --- any notes and bullets --------------------------------------------------------------------------------------------

PROSE = next(view for view in SCHEMA.views if view.prose and view.steps and not view.is_data)
SAID = st.lists(
    st.tuples(
        st.sampled_from(["Ada", "Grace"]),
        st.sampled_from(["Offline is fine.", "It is slow.", "It is slow:\ntoo slow\nin tunnels", "a — b"]),
    ),
    min_size=1,
    max_size=5,
)
FATES = st.lists(st.sampled_from(["kept", "gone", "reworded"]), min_size=5, max_size=5)


@given(SAID, FATES, st.sampled_from(["01-06", PROSE.steps[0]]))
def test_only_the_notes_that_people_touched_are_others(
    said: list[tuple[str, str]], fates: list[str], step: str
) -> None:
    """By their place in the file, whoever says the same words elsewhere; a typo is no note of the committer."""
    meeting = Meeting()
    for who, text in said:
        meeting.say(who, step, text)
    notes = sorted(meeting.specification.active("note"), key=lambda one: one.id)
    view = next(view for view in SCHEMA.views if str(notes[0]["text"])[:5] in meeting.projection.view(view))
    written = meeting.projection.view(view)
    shown = [meeting.projection.note(one) for one in notes]
    found, at = "", 0
    for number, (text, fate) in enumerate(zip(shown, fates, strict=False)):
        place = written.index(text, at)
        now = {"kept": text, "gone": "", "reworded": f"{text} again {number}"}[fate]
        found, at = found + written[at:place] + now, place + len(text)
    back = read_back(view, SCHEMA, meeting.specification, written=written, found=found + written[at:])
    meeting.push("Linus", *back.patches)

    fated = list(zip(said, fates, strict=False))
    expected = [(who, text) for (who, text), fate in fated if fate == "kept"]
    expected += [
        ("Linus", f"{text} again {at}") for at, ((_, text), fate) in enumerate(fated) if fate == "reworded"
    ]
    after = meeting.specification.active("note")
    assert sorted((attributions(one), one["text"]) for one in after) == sorted(
        (who, "\n".join(row.strip() for row in text.splitlines())) for who, text in expected
    )
    assert {one.id for one in after} <= {one.id for one in notes}


@pytest.mark.parametrize("end", [" — Ada", ""])
@pytest.mark.parametrize("words", ["the disk — or the cache — fills", "the disk fills — Grace", "the disk —"])
def test_no_word_of_a_bullet_is_taken_for_its_author(words: str, end: str) -> None:
    meeting = Meeting()
    meeting.say("Ada", "01-05", "Out of scope: the disk")
    change(meeting, "Out of Scope", ("the disk — Ada", f"{words}{end}"))

    assert meeting["OUT-001.text"] == words


def test_a_change_of_very_many_rows_waits_until_it_is_shorter(meeting: Meeting) -> None:
    """The section stays as it was written, and nothing of it is lost."""
    view = next(view for view in SCHEMA.views if view.section == "Functional Requirements")
    written = meeting.section("Functional Requirements")
    rows = "\n".join(f"our own words {number}" for number in range(10_000))

    back = read_back(view, SCHEMA, meeting.specification, written=written, found=f"{rows}\n\n{written}")

    assert back.unread[0] == f"our own words {MOST_NOTES}"
