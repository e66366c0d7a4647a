"""Explicit forms become entries; anything else is a note, word for word. Nothing is guessed."""

import pytest

from bot.domain.specification.claims import EntryState
from bot.domain.specification.entries import Specification
from bot.domain.specification.reader import read
from bot.domain.specification.said_entries import Here
from tests.specification.meeting import Meeting, make_entry

GIVEN = """requirement: Filter by date
AC: May shows May
requirement: Export a list
risk: the disk fills"""
SORT = make_entry("FR-003", {"title": "Sort"})


@pytest.fixture
def meeting() -> Meeting:
    """FR-001 with AC-001-01, FR-002 and RSK-001 are known."""
    meeting = Meeting()
    meeting.say("Ada", "01-06", GIVEN)
    return meeting


FORMS = [
    # step, words, what is known afterwards; each label by itself is in the test below
    ("00-01", "Scope: medium", {"EST-001.scope": "medium"}),
    ("00-01", "**Complexity:** low", {"EST-001.complexity": "low"}),
    ("00-01", "Scope: medium\nComplexity: high", {"EST-001.scope": "medium", "EST-001.complexity": "high"}),
    ("00-02", "Keywords: filter, date, list", {"KEY-001.word": "filter", "KEY-003.word": "list"}),
    ("00-03", "Files: 8", {"EST-001.files": 8}),
    ("00-03", "File count: 8\nNew: 3", {"EST-001.files": 8, "EST-001.files_new": 3}),
    ("00-03", "Confidence: fair", {"EST-001.confidence": "fair"}),
    ("01-01", "metric: conflicts from 11 to 2", {"MET-001.before": "11", "MET-001.target": "2"}),
    ("01-01", "metric: Conflicts -> from 11 to 2", {"MET-001.text": "Conflicts", "MET-001.target": "2"}),
    (
        "01-01",
        "2) 503s per night, from 4000 to 50",
        {"MET-001.text": "503s per night", "MET-001.target": "50"},
    ),
    ("01-01", "driver: the fair; when: in May", {"DRV-001.text": "the fair", "DRV-001.when": "in May"}),
    (
        "01-02",
        "user: shift lead; pains: slow; loud",
        {"USR-001.role": "shift lead", "USR-001.pains": ["slow", "loud"]},
    ),
    ("04-01", "action: call the clinic -> me; by: Friday\nACT-001 owner: I", {"ACT-001.owner": "Ada"}),
    ("01-03", "journey: Morning; trigger: the bell rings", {"JRN-001.trigger": "the bell rings"}),
    ("01-04", "limit: no new servers", {"CON-001.category": "limit"}),
    ("01-04", "runs on: Windows tablets", {"CON-001.category": "environment"}),
    ("01-05", "quality: sync -> 5 s p95", {"NFR-001.threshold": "5 s p95"}),
    ("01-05", "nfr: nobody loses an edit; category: reliability", {"NFR-001.category": "reliability"}),
    ("01-05", "risk: rows collide; likelihood: high; impact: low -> merge", {"RSK-002.mitigation": "merge"}),
    ("01-06", "FR-002: Export a list as CSV", {"FR-002.title": "Export a list as CSV"}),
    ("01-06", "FR-2: Export", {"FR-002.title": "Export"}),
    ("01-06", "FR–002: typed on a phone", {"FR-002.title": "typed on a phone"}),
    ("01-06", "FR-007: my own number", {"FR-007.title": "my own number"}),
    ("01-06", "FR-002 depends: FR-001", {"FR-002.depends": ["FR-001"]}),
    ("01-06", "FR-002 depends on: FR-001", {"FR-002.depends": ["FR-001"]}),
    ("01-06", "AC: the file opens in a spreadsheet", {"AC-002-01.text": "the file opens in a spreadsheet"}),
    ("01-06", "AC-001-01: May shows only May", {"AC-001-01.text": "May shows only May"}),
    ("01-06", "AC-002-01: it opens", {"AC-002-01.text": "it opens"}),
    (
        "01-06",
        "Out of scope: tablets -> no demand",
        {"OUT-001.text": "tablets", "OUT-001.reason": "no demand"},
    ),
    (
        "01-06",
        "Sort the list\nAC: newest first",
        {"FR-003.title": "Sort the list", "AC-003-01.text": "newest first"},
    ),
    ("01-06", "1. Sort the list\nAC: newest first", {"FR-003.title": "Sort the list"}),
    (
        "01-07",
        "As a lead I want to sort so that I see it (FR-001)",
        {"US-001.role": "lead", "US-001.traces": ["FR-001"]},
    ),
    ("01-07", "Als Leiter möchte ich sortieren, damit ich es sehe", {"US-001.want": "sortieren"}),
    ("01-08", "Must: FR-001, FR-2", {"FR-001.priority": "must", "FR-002.priority": "must"}),
    ("01-08", "FR-001, FR-002 priority: could", {"FR-001.priority": "could", "FR-002.priority": "could"}),
    ("01-08", "FR-001 priority: Must.", {"FR-001.priority": "must"}),
    ("01-08", "FR-001 reason: the law", {"FR-001.reason": "the law"}),
    (
        "01-08",
        "| FR | Title | Priority |\n|---|---|---|\n| FR-001 | Filter | should |",
        {"FR-001.title": "Filter"},
    ),
    ("02-01", "tier 1: src/a.py (FR-001)", {"FILE-001.tier": "1", "FILE-001.traces": ["FR-001"]}),
    ("02-01", "file: `src/b.py`; tier: 2; change: modify", {"FILE-001.path": "src/b.py"}),
    ("02-01", "| File | Impact tier |\n|---|---|\n| src/c.py | 3 |", {"FILE-001.tier": "3"}),
    ("02-02", "start: the parser -> it knows", {"ENT-001.reason": "it knows"}),
    ("02-02", "task: write it (FR-001)\ntask: show it -> WRK-001", {"WRK-002.waits": ["WRK-001"]}),
    ("02-03", "RSK-001 mitigation: rotate logs", {"RSK-001.mitigation": "rotate logs"}),
    ("02-04", "verdict: go with a condition; condition: a test", {"APP-001.condition": "a test"}),
    ("03-01", "decision: one process; because: simple", {"DEC-001.reason": "simple"}),
    ("03-02", "technology: Redis; version: 7.4; rationale: known", {"TEC-001.version": "7.4"}),
    ("03-03", "connection: app; target: server", {"CNX-001.target": "server"}),
    ("04-01", "module: Sync -> keeps rows", {"MOD-001.responsibility": "keeps rows"}),
    ("04-02", "find(day) -> entries | NotFound", {"IF-001.name": "find", "IF-001.errors": "NotFound"}),
    ("04-03", "phone => server: edits", {"HOP-001.target": "server", "HOP-001.data": "edits"}),
    ("04-04", "error: full; code: ERR-SYNC-001; severity: fatal -> stop", {"ERR-001.code": "ERR-SYNC-001"}),
    ("04-05", "open question: which disk? -> Linus", {"Q-001.owner": "Linus"}),
    ("00-01", "requirement: Sort\nMust: FR-003", {"FR-003.title": "Sort", "FR-003.priority": "must"}),
]


def test_a_known_label_opens_its_kind_in_every_step(meeting: Meeting) -> None:
    """Each label of each kind, in a step that collects other things; also where no step is open."""
    kinds = [kind for kind in meeting.schema.kinds.values() if not kind.part_of]
    labels = {label: kind for kind in kinds for label in kind.own_labels()}
    wrong = {}
    for step in ("00-01", "04-05", ""):
        for label, kind in labels.items():
            value = next(iter(kind.fields[kind.text].of), "the words")
            here = Here(schema=meeting.schema, specification=Specification(), step_id=step, person="Ada")
            patches = read(f"{label}: {value}", here).patches
            if [(one.kind, one.set.get(kind.text)) for one in patches] != [(kind.key, value)]:
                wrong[step, label] = patches
    assert wrong == {}


NOT_TAKEN = [
    ("Must: FR-009", "There is no FR-009."),
    ("Must: FR-001, FR-009", "There is no FR-009."),
    ("FR-009: a new title", "There is no FR-009."),
    ("FR-009 priority: must", "There is no FR-009."),
    ("FR-001 priority: very", "“very” does not fit as priority, so nothing was changed."),
    ("verdict: maybe", "“maybe” does not fit as approval, so nothing was changed."),
    (
        "AC: it opens",
        (
            "It is not clear to which functional requirement this acceptance criterion belongs. "
            "Write `requirement: …` first."
        ),
    ),
]


@pytest.mark.parametrize(("words", "why"), NOT_TAKEN)
def test_a_form_that_cannot_be_taken_is_explained_in_one_sentence(
    meeting: Meeting, words: str, why: str
) -> None:
    """The words stay as a note. What is read, quoted or no form gets none."""
    here = Here(schema=meeting.schema, specification=meeting.specification, step_id="02-01", person="Grace")

    def explained(words: str) -> tuple[str, ...]:
        return read(words, here).problems

    assert explained(words) == (why,)
    for fine in (
        "Must: FR-001",
        "requirement: Sort",
        f"> {words}",
        "RFC-2119: of 1997",
        "FR-001 is good: yes",
    ):
        assert explained(fine) == ()


@pytest.mark.parametrize(
    ("step", "words", "known"), FORMS, ids=[words.splitlines()[0][:40] for _, words, _ in FORMS]
)
def test_a_form_becomes_an_entry_or_a_value(
    meeting: Meeting, step: str, words: str, known: dict[str, object]
) -> None:
    meeting.say("Ada", step, words)

    entries = meeting.specification.entries
    found = {path: meeting[path] if path.partition(".")[0] in entries else None for path in known}
    assert found == known


NO_FORMS = [
    ("01-08", "FR-001 priority: very", "a value that does not fit stays as it was said"),
    ("01-06", "FR-009 priority: must", "no such entry"),
    ("01-08", "Must: FR-009", "no such entry"),
    ("01-06", "see https://example.com/a: nice", "an address is no label"),
    ("01-06", "> requirement: quoted", "a quotation was not said now"),
    ("01-06", "```\nrequirement: code\n```", "nor was code"),
    ("01-06", "sounds good to me", "plain words"),
    ("05-01", "verdict=PASS", "code has no spaces around its sign"),
    ("03-03", "I think we should talk", "plain words"),
    ("01-06", "We leave out offline maps", "nothing is guessed"),
    ("02-01", "| a | b |\n|---|---|\n| 1 | 2 |", "a table of something else"),
    ("01-06", "12. is not a question here", "more than the step asks"),
    ("01-06", "AC-009-01: newest first", "a part of what is not there"),
    ("01-06", "FR-009-01: newest first", "an id that no requirement can have"),
    ("02-01", "| Risk | File |\n|---|---|\n| FR-001 | |", "a row that names nothing of its kind"),
]


@pytest.mark.parametrize(("step", "words", "why"), NO_FORMS, ids=[why for _, _, why in NO_FORMS])
def test_anything_else_is_a_note_word_for_word(meeting: Meeting, step: str, words: str, why: str) -> None:
    meeting.say("Grace", step, words)

    (note,) = meeting.specification.active("note")
    assert note["text"] == words, why


def test_a_list_is_its_persons_own_words_and_small_words_in_it_are_none(meeting: Meeting) -> None:
    meeting.say("Grace", "01-06", "- Sort\n- sounds good")

    assert meeting.specification.entries["FR-003"].state is EntryState.ACCEPTED
    assert "FR-004" not in meeting.specification.entries


def test_an_arrow_alone_only_proposes(meeting: Meeting) -> None:
    meeting.say("Grace", "03-03", "I think -> we: should not")

    assert meeting.specification.entries["CNX-001"].state is EntryState.PROPOSED


def test_a_number_says_which_question_is_answered(meeting: Meeting) -> None:
    meeting.say("Grace", "01-01", "2. We lose an hour.\nEvery day.\n1. The night shift.")

    notes = {one["question"]: one["text"] for one in meeting.specification.active("note")}
    assert notes == {2: "We lose an hour.\nEvery day.", 1: "The night shift."}


def test_words_without_a_number_answer_the_only_open_question(meeting: Meeting) -> None:
    meeting.say("Grace", "01-01", "We lose an hour.", open_questions=[3])

    (note,) = meeting.specification.active("note")
    assert note["question"] == 3


def test_a_criterion_below_another_persons_requirement_is_not_taken_for_it(meeting: Meeting) -> None:
    meeting.say("Grace", "01-06", "AC: it opens")

    (note,) = meeting.specification.active("note")
    assert note["text"] == "AC: it opens"


def test_a_criterion_below_a_story_belongs_to_its_requirement_and_to_the_story(meeting: Meeting) -> None:
    meeting.say("Ada", "01-07", "As a lead I want May so that it is short (FR-001)\nAC: no June")

    assert meeting["AC-001-02.text"] == "no June"
    assert meeting["US-001.criteria"] == ["AC-001-02"]


def test_a_proposed_entry_is_accepted_by_whoever_says_it_in_a_form(meeting: Meeting) -> None:
    meeting.propose(SORT)
    meeting.say("Ada", "01-06", "requirement: Sort")

    assert meeting.specification.entries["FR-003"].state is EntryState.ACCEPTED


def test_a_priority_does_not_accept_a_proposed_requirement(meeting: Meeting) -> None:
    meeting.propose(SORT)
    meeting.say("Ada", "01-08", "FR-003 priority: must")

    assert meeting.specification.entries["FR-003"].state is EntryState.PROPOSED


def test_words_about_a_withdrawn_entry_are_kept_as_a_note(meeting: Meeting) -> None:
    meeting.press("Ada", {"id": "FR-002", "state": "withdrawn"})
    meeting.say("Grace", "01-06", "FR-002: Export it all")

    (note,) = meeting.specification.active("note")
    assert note["text"] == "FR-002: Export it all"


def test_a_row_of_a_table_with_a_bad_cell_stays_as_it_was_said(meeting: Meeting) -> None:
    row = "| FR-001 | Filter | very |"
    meeting.say("Ada", "01-08", f"| FR | Title | Priority |\n|---|---|---|\n{row}\n| FR-002 | Out | could |")

    assert meeting["FR-001.title"] == "Filter by date"
    assert meeting["FR-002.priority"] == "could"
    assert [one["text"] for one in meeting.specification.active("note")] == [row]
