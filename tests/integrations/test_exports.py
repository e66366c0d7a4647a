"""What is agreed as files for other tools, and their changes read back as proposals."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.cli.check import CheckProblem, check_exports
from bot.domain.catalog.schema import FieldType, Kind
from bot.domain.item.export_places import read_places, usual_places
from bot.domain.item.item import item_from
from bot.domain.roundtable.outcomes import ExportFlaw, ExportNote
from bot.domain.specification.claims import EntryState
from bot.domain.specification.exported import MOST_ROWS, ExportEdit, found_mark, item_of
from bot.domain.specification.shown import ShownItem
from bot.domain.values.text import clean, visible
from bot.engine.ports import FoundFile, FoundFolder
from bot.errors import ConfigError
from bot.integrations.agreed import AgreedItem, AgreedItems
from bot.integrations.committed_exports import CommittedExports, edits_in, is_tasks, sections_of
from bot.integrations.exported_edits import SECTIONS, other_rows, read_back
from bot.integrations.exports import (
    FORMATS,
    OF_THE_MEETING,
    Agreed,
    Clauses,
    _plugged_in,
    exported,
    format_names,
    shall,
)
from bot.settings import Settings
from tests.domain.table import Table, shipped
from tests.growth import grows_no_faster
from tests.specification.meeting import SCHEMA, Meeting, make_entry

SLUG = "rate-limiting"
NEW_REQUIREMENT = """
### Requirement: Refusals are counted
They SHALL be.

#### Scenario: x
- **WHEN** one is refused
- **THEN** a counter grows
"""
HOSTILE = (
    "### Requirement: fake", "--> <script>alert(1)</script>", "<!-- rate-limiting/FR-001 00000000 -->",
    "`code` and ```fence", "```", "~~~", "# Title", "- bullet", "1. one", "2) two", "* star", "+ plus", "> quote",
    "## ADDED Requirements", "## REMOVED Requirements", "#### Scenario: fake", "- **WHEN** x", "a | b | c", "===",
    "[NEEDS CLARIFICATION: x]", "\\[NEEDS", "\\# no title", "1\\. one", "[link](http://x)", "FR-999: other",
    "**FR-999** other", "**bold**", "must MUST shall", "$(rm -rf /)", "${{ github.token }}", "R&D &lt; &amp;",
    "one\ntwo\n## Why", "\u2028 separator", "emoji 🚀 and ü", "--", "---", "@everyone closes #1", "<T> where T: Send",
    "when a, then b", "given a, when b, then c", "then", "when then", "x" * 400, "word " * 700, "(owner: Ada)",
    "FR-001 is exercised", "It SHALL hold that: x",
)  # fmt: skip
"""Texts that mean something in one of the formats, or are at a limit of one."""


def item(meeting: Meeting, *, slug: str = SLUG, title: str = "Rate limiting") -> AgreedItem:
    shown = ShownItem(slug, meeting.specification, lambda: meeting.lines, schema=SCHEMA)
    return AgreedItem(slug, title, private=False, shown=shown)


def agreed() -> Meeting:
    """Something of every kind that is exported, and what is not settled."""
    meeting = Meeting()
    meeting.say("Grace", "01-01", "problem: one client can take the whole API down")
    meeting.say(
        "Ada",
        "01-06",
        "requirement: Each client has a limit\nAC: when the 101st call comes, then it gets 429",
    )
    meeting.say("Ada", "01-06", "requirement: Operators can raise a limit")
    meeting.say("Grace", "01-08", "Must: FR-001, FR-002")
    story = make_entry("US-001", {"want": "calls to be counted", "role": "operator"})
    meeting.press("Linus", story)
    meeting.press("Linus", {"id": "US-001", "set": {"traces": ["FR-001"]}})
    meeting.say("Grace", "01-05", "quality: counting -> 5 ms p95\nconstraint: Redis 7")
    meeting.say("Linus", "03-02", "decision: Count in Redis; because: it is there")
    meeting.say(
        "Linus", "01-05", "out of scope: billing -> another team\nrisk: Redis is away -> let calls pass"
    )
    meeting.say("Linus", "04-05", "open question: who is told?")
    meeting.propose(make_entry("FR-003", {"title": "Count by hand"}))
    meeting.propose({"id": "FR-002", "set": {"priority": "won't"}})
    return meeting


def everything(slug: str = SLUG) -> AgreedItem:
    """Of each kind two entries that somebody accepted, with all fields; and what is excluded or contested."""
    meeting = agreed()
    for kind in SCHEMA.kinds.values():
        for number in ("901", "902"):
            part_of = {"criterion": "FR-901", "attribute": "STR-901"}.get(kind.key, "")
            id = f"{kind.prefix}-{number}" + ("-01" if part_of else "")
            meeting.press("Ada", make_entry(id, filled(kind), part_of=part_of))
    meeting.press("Ada", {"id": "FR-902", "set": {"priority": "won't"}})
    for part_of in ("FR-902", "FR-903"):
        id = part_of.replace("FR", "AC") + "-01"
        meeting.press("Ada", make_entry(id, {"text": "it"}, part_of=part_of))
    meeting.press("Grace", {"id": "ASM-901", "set": {"status": "wrong"}})
    return item(meeting, slug=slug)


def filled(kind: Kind) -> Mapping[str, object]:
    """References and names of people are left out."""
    told = dict[str, object]()
    for name, field in kind.fields.items():
        words = field.of[0] if field.of else f"The {name} of this {kind.key}, 5 of them"
        if field.type not in {FieldType.REF, FieldType.PERSON, FieldType.NUMBER, FieldType.COUNT}:
            told[name] = [words] if field.many else words
    return told


def hostile() -> AgreedItem:
    meeting = Meeting()
    for number, text in enumerate(HOSTILE, 1):
        meeting.press(
            "Ada",
            make_entry(f"FR-{number:03}", {"title": text, "priority": "must"}),
            make_entry(f"AC-{number:03}-01", {"text": text}, part_of=f"FR-{number:03}"),
            make_entry(f"DEC-{number:03}", {"text": text, "reason": text}),
            make_entry(f"OUT-{number:03}", {"text": text}),
            make_entry(f"Q-{number:03}", {"text": text}),
        )
    return item(meeting, slug="hostile-words", title="Hostile ### words --> in `titles`")


def played() -> AgreedItem:
    table = (
        Table().start().through("01-05").press_continue().say("requirement: Filter by date\nAC: it filters")
    )
    table.say("decision: Use a queue; because: it is known", who="grace").stop()
    shown = ShownItem(table.rt.slug, table.rt.specification, lambda: table.lines, schema=shipped().schema)
    return AgreedItem(table.rt.slug, "Offline sync", private=False, shown=shown)


def file_of(target: str, name: str, found: AgreedItem | None = None) -> str:
    files = exported(found or item(agreed()), target)
    return next(text for path, text in files.items() if path.endswith(name))


def known(found: AgreedItem) -> Mapping[str, str]:
    return {one.id: one.text for one in found.shown.entries()}


# --- what is written ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", FORMATS)
def test_the_issues_of_the_work_on_a_requirement_stand_below_it(target: str) -> None:
    meeting = agreed()
    work = {
        "title": "Count the calls",
        "traces": ["FR-001"],
        "issue": "https://github.com/acme/api/issues/57",
    }
    meeting.press("Ada", make_entry("WRK-001", work))
    texts = exported(item(meeting), target).values()

    assert [text.count("Issues: acme/api#57") for text in texts if "Issues: " in text] == [1]
    assert [read_back(text) for text in texts if not text.startswith(("# Tasks", "# Impl"))] == [()] * (
        len(texts) - (target != "speckit")
    )


@pytest.mark.parametrize("target", FORMATS)
def test_every_accepted_entry_is_in_every_export(target: str) -> None:
    """With its id and its words, also where its requirement won't be, or people disagree."""
    made = everything()
    blocks = dict[str, str]()
    for text in exported(made, target).values():
        first, rows = 0, text.splitlines()
        for at, row in enumerate(rows):
            if mark := found_mark(row):
                blocks[mark["id"]] = " ".join(rows[first : at + 1]).casefold()
                first = at + 1

    entries = [
        one for one in made.shown.entries(states=[EntryState.ACCEPTED]) if one.kind not in OF_THE_MEETING
    ]
    assert {one.kind for one in entries} == SCHEMA.kinds.keys() - OF_THE_MEETING
    missing = {
        one.id: word
        for one in entries
        for word in (one.id, *one.text.replace(",", "").split())
        if word.casefold() not in blocks.get(one.id, "")
    }
    assert missing == {}


def test_a_requirement_stands_with_its_criteria_and_who_said_it() -> None:
    assert """\
### Requirement: FR-001 Each client has a limit
It SHALL hold that: Each client has a limit <!-- rate-limiting/FR-001 b8adb801: said by Ada -->

#### Scenario: AC-001-01
- **WHEN** the 101st call comes
- **THEN** it gets 429 <!-- rate-limiting/AC-001-01 """ in file_of("openspec", "spec.md")


def test_a_requirement_without_criteria_says_so() -> None:
    """In its scenario, because OpenSpec asks for one; and at its place in the other formats."""
    for target, name in (("openspec", "spec.md"), ("kiro", "requirements.md")):
        assert "[NEEDS CLARIFICATION: no acceptance criteria]" in file_of(target, name)


def test_a_story_leads_to_its_requirements() -> None:
    spec = file_of("speckit", "spec.md")

    assert "### User Story 1 - calls to be counted (Priority: P1)" in spec
    assert "As an operator, I want calls to be counted <!-- rate-limiting/US-001 " in spec
    assert "1. **AC-001-01**: **When** the 101st call comes, **Then** it gets 429 <!-- " in spec


def test_what_is_not_agreed_is_an_open_point_and_nothing_else() -> None:
    for target, name in (("speckit", "spec.md"), ("openspec", "design.md"), ("kiro", "design.md")):
        files = exported(item(agreed()), target)
        rows = [row for text in files.values() for row in text.splitlines() if "FR-003" in row]
        assert [row.partition(" <!-- ")[0] for row in rows] == [
            "- [NEEDS CLARIFICATION: **FR-003** Count by hand: proposed, not accepted]"
        ]
        assert "**Q-001** who is told?]" in file_of(target, name)


def test_a_priority_that_nobody_accepted_moves_no_requirement() -> None:
    assert "### Requirement 2: FR-002" in file_of("kiro", "requirements.md")


def test_kiro_gets_tasks_that_name_criteria_which_exist() -> None:
    tasks = file_of("kiro", "tasks.md")

    assert "- [ ] 1. FR-001 Each client has a limit\n  - _Requirements: 1.1_" in tasks
    assert (
        "1. WHEN the 101st call comes THEN THE SYSTEM SHALL ensure that it gets 429 (AC-001-01)"
        in file_of("kiro", "requirements.md")
    )


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("when a, then b", ("", "a", "b")),
        ("When a then b", ("", "a", "b")),
        ("given x, when a, then b", ("x", "a", "b")),
        ("Given x when a then b, then c", ("x", "a", "b, then c")),
        ("a when b then c", ("", "", "a when b then c")),
        ("then b", ("", "", "then b")),
    ],
)
def test_a_criterion_is_split_where_people_said_when_and_then(
    text: str, clauses: tuple[str, str, str]
) -> None:
    assert Clauses.of(text) == clauses


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Calls must be counted", "Calls MUST be counted"),
        ("It shall hold", "It SHALL hold"),
        ("Count calls", "It SHALL hold that: Count calls"),
        ("mustard", "It SHALL hold that: mustard"),
    ],
)
def test_a_must_or_shall_of_the_words_counts(text: str, sentence: str) -> None:
    assert shall(text) == sentence


# --- read back ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", FORMATS)
@pytest.mark.parametrize(
    "made",
    [lambda: item(agreed()), hostile, played, everything],
    ids=["agreed", "hostile", "played", "everything"],
)
def test_what_nobody_changed_proposes_nothing(target: str, made: Callable[[], AgreedItem]) -> None:
    files = exported(made(), target)

    assert len(files) > 0
    for path, text in files.items():
        assert read_back(text) == (), path
        assert read_back(text.replace("\n", "\r\n")) == (), path


@given(st.text(max_size=200), st.sampled_from(sorted(FORMATS)))
def test_any_text_survives_the_export_and_the_way_back(text: str, target: str) -> None:
    """As it stands nothing is proposed; what is proposed after a change is the very words that people see."""
    meeting = Meeting()
    meeting.press("Ada", make_entry("FR-001", {"title": text}))
    part = make_entry("AC-001-01", {"text": text}, part_of="FR-001")
    meeting.press("Ada", part, make_entry("DEC-001", {"text": text}))
    made = item(meeting)

    mark, changed = " <!-- rate-limiting/DEC-001 ", list[ExportEdit]()
    for name, written in exported(made, target).items():
        assert read_back(written) == (), name
        changed += read_back(written.replace(mark, f" and more{mark}"))
    assert [(one.id, one.text) for one in changed] == [
        ("DEC-001", f"{' '.join(clean(visible(text)).split())} and more".strip())
    ]


@pytest.mark.parametrize(
    ("target", "name", "old", "new", "proposal"),
    [
        ("openspec", "spec.md", "it gets 429", "it gets 429 and Retry-After",
         ("AC-001-01", "when the 101st call comes, then it gets 429 and Retry-After")),
        ("openspec", "spec.md", "FR-001 Each client has", "FR-001 Each paying client has",
         ("FR-001", "Each paying client has a limit")),
        ("openspec", "spec.md", "that: Each client", "that: Each tenant", ("FR-001", "Each tenant has a limit")),
        ("openspec", "design.md", "Count in Redis", "Count in memory", ("DEC-001", "Count in memory")),
        ("openspec", "design.md", "who is told?", "who is told first?", ("Q-001", "who is told first?")),
        ("openspec", "design.md", "billing", "invoices", ("OUT-001", "invoices")),
        ("speckit", "spec.md", "it gets 429", "it gets 503",
         ("AC-001-01", "when the 101st call comes, then it gets 503")),
        ("speckit", "spec.md", "that: Each client", "that: Each tenant", ("FR-001", "Each tenant has a limit")),
        ("speckit", "spec.md", "I want calls to be counted", "I want calls to be seen",
         ("US-001", "As an operator, I want calls to be seen")),
        ("kiro", "requirements.md", "it gets 429", "it gets 503",
         ("AC-001-01", "when the 101st call comes, then it gets 503")),
        ("kiro", "requirements.md", "that: Each client", "that: Each tenant", ("FR-001", "Each tenant has a limit")),
        ("kiro", "design.md", "Redis 7", "Redis 8", ("CON-001", "Redis 8")),
    ],
)  # fmt: skip
def test_a_changed_block_proposes_its_words_for_its_entry(
    target: str, name: str, old: str, new: str, proposal: tuple[str, str]
) -> None:
    made = item(agreed())
    text = file_of(target, name, made)
    assert old in text

    found = read_back(text.replace(old, new, 1), known(made))

    assert [(one.id, one.text) for one in found] == [proposal]


@pytest.mark.parametrize(
    ("target", "name", "below", "added", "proposals"),
    [
        ("openspec", "spec.md", "## ADDED Requirements\n",
         NEW_REQUIREMENT,
         [("requirement", "Refusals are counted: They SHALL be.", ""),
          ("criterion", "when one is refused, then a counter grows", "")]),
        ("openspec", "spec.md", "has a limit <!-- rate-limiting/FR-001 b8adb801: said by Ada -->\n",
         "\n#### Scenario: more\n- **THEN** it is logged\n", [("criterion", "it is logged", "FR-001")]),
        ("openspec", "design.md", "## Decisions\n\n", "- Log it\n", [("decision", "Log it", "")]),
        ("speckit", "spec.md", "### Functional Requirements\n\n", "- **FR-010**: System MUST count refusals\n",
         [("requirement", "System MUST count refusals", "")]),
        ("kiro", "requirements.md", "#### Acceptance Criteria\n\n", "1. THE SYSTEM SHALL ensure that it logs\n",
         [("criterion", "it logs", "FR-001")]),
    ],
)  # fmt: skip
def test_a_new_block_is_proposed_as_the_kind_of_its_place(
    target: str, name: str, below: str, added: str, proposals: list[tuple[str, str, str]]
) -> None:
    made = item(agreed())
    text = file_of(target, name, made)
    assert below in text

    found = read_back(text.replace(below, below + added, 1), known(made))

    assert [(one.kind, one.text, one.part_of) for one in found] == proposals


@pytest.mark.parametrize("target", FORMATS)
def test_no_row_that_a_person_wrote_is_lost(target: str) -> None:
    """Wherever it stands, it is proposed, or it is known to be of no entry; so is each change of a row of ours."""
    made = everything()
    for path, text in exported(made, target).items():
        rows = [] if is_tasks(path) else text.splitlines()
        for at, row in enumerate(rows):
            changed = ["We drew it on a train.", row], [row.replace("The ", "Not the ", 1)]
            for mine in (one for one in changed if one != [row]):
                found = "\n".join((*rows[:at], *mine, *rows[at + 1 :]))
                assert read_back(found, known(made)) or other_rows(found, SECTIONS, text), (path, mine)
        assert not other_rows(text, SECTIONS, text)


def test_what_was_taken_out_or_moved_proposes_nothing() -> None:
    text = file_of("openspec", "spec.md")
    head, first, second = text.partition("### Requirement: FR-002")[0], text, text
    moved = text.replace(head, "") + "\n" + head

    assert read_back(first.partition("#### Scenario")[0]) == ()
    assert read_back(second.replace("It SHALL hold that: Each", "It SHALL hold\n  that: Each")) == ()
    assert read_back(moved) == ()


def test_what_stands_in_code_is_not_read() -> None:
    assert read_back("## Decisions\n\n```\n- an example\n```\n\n- Real") == (
        ExportEdit(line=7, text="Real", kind="decision", last=7),
    )


@pytest.mark.parametrize(
    ("written", "items_dir", "read"),
    [
        ("", "docs/requirements", {"specs", "openspec/changes", ".kiro/specs"}),
        ("openspec:docs/os/{slug}", "docs/requirements", {"specs", ".kiro/specs"}),
        ("openspec:specs/{slug}", "docs/requirements", {".kiro/specs"}),
        ("", "specs/items", {"openspec/changes", ".kiro/specs"}),
    ],
)
def test_exports_of_the_command_are_read_where_nothing_else_is(
    written: str, items_dir: str, read: set[str]
) -> None:
    places = read_places(written) if written else ()

    assert {one.above for one in usual_places(places, items_dir)} == read


# --- what others wrote, in commits ------------------------------------------------------------------------------------


class OneItem:
    """The files of a commit that has nothing but the folder of an item."""

    def folders(self, _: str) -> Iterator[tuple[str, object]]:
        yield SLUG, None

    def read(self, *_: object) -> bytes | None:
        return None


def committed(found: AgreedItem, places: str = "") -> CommittedExports:
    items = AgreedItems(OneItem(), items_dir="items", schema=SCHEMA)
    items._known[SLUG] = found
    written = read_places(places) if places else ()
    return CommittedExports(written, tuple(usual_places(written, "items")), lambda _: items, SCHEMA)


def decided(number: int) -> AgreedItem:
    meeting = Meeting()
    ids = (f"DEC-{at:04}" for at in range(1, number + 1))
    meeting.press("Ada", *(make_entry(id, {"text": f"Do {id}"}) for id in ids))
    return item(meeting)


def repeated(row: str, times: int) -> str:
    return f"# Design\n\n<!-- {SLUG} written by Roundtable -->\n\n## Decisions\n\n" + f"{row}\n" * times


DESIGN = f"openspec/changes/{SLUG}/design.md"


def by_others(text: str, *paths: str) -> Callable[[str], Mapping[str, FoundFile]]:
    """Where a folder has files of others."""
    files = {path: FoundFile(text, None, is_ours=False) for path in paths}
    return lambda folder: {path: one for path, one in files.items() if path.startswith(f"{folder}/")}


def test_words_in_a_file_that_only_the_command_has_written_stay() -> None:
    found = item(agreed())
    there = {path: FoundFile(text, None, is_ours=False) for path, text in exported(found, "openspec").items()}
    there[DESIGN] = FoundFile(f"{there[DESIGN].text}\nWe drew it first.\n", None, is_ours=False)
    due = committed(found, "openspec").due(SLUG, OneItem(), lambda _: FoundFolder(there, is_gone=False))

    assert due.notes == (ExportNote(path=DESIGN, flaw=ExportFlaw.CHANGED),)
    assert DESIGN not in due.files


def test_known_words_that_stand_often_take_time_in_proportion_to_the_file() -> None:
    """However many entries there are, at every commit: also where no setting writes such files."""

    def read(given: tuple[AgreedItem, str]) -> None:
        found, text = given
        look = by_others(text, DESIGN)
        assert not [*committed(found).edits(SLUG, OneItem(), look).edits]
        due = committed(found, "openspec").due(
            SLUG, OneItem(), lambda path: FoundFolder(look(path), is_gone=False)
        )
        assert DESIGN in due.files

    grows_no_faster(read, lambda size: (decided(size), repeated("- Do DEC-0001", size)), 400)


def test_a_file_of_more_rows_than_an_export_has_is_not_read(caplog: pytest.LogCaptureFixture) -> None:
    """It is not ours any more: it stays as it is. So it is with many that have as many rows together."""
    found = item(agreed())

    def read(text: str, *paths: str) -> tuple[int, Sequence[ExportNote]]:
        look = by_others(text, *paths)
        edits = [*committed(found).edits(SLUG, OneItem(), look).edits]
        due = committed(found, "openspec").due(
            SLUG, OneItem(), lambda path: FoundFolder(look(path), is_gone=False)
        )
        return len(edits), due.notes

    rows = MOST_ROWS // 2
    assert read(repeated("- New", rows), DESIGN) == (rows, ())
    assert not caplog.messages
    others = [DESIGN.replace("design", name) for name in ("a", "b")]
    assert read(repeated("- New", rows), *others)[0] == rows
    assert caplog.messages == [
        f"{SLUG} has more than {MOST_ROWS} changed rows: {others[1]} and what follows is not read"
    ]
    assert read(repeated("- New", MOST_ROWS), DESIGN) == (
        0,
        (ExportNote(path=DESIGN, flaw=ExportFlaw.FOREIGN),),
    )


# --- formats of others ------------------------------------------------------------------------------------------------

PAGE = Path(__file__).parents[2] / "docs" / "exports.md"
ACME = PAGE.read_text("utf-8").partition("```python\n")[2].partition("```")[0]
"""As it is documented."""


@pytest.fixture
def plugged_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Nothing is installed: the metadata of a package stand beside a module."""

    def plug_in(text: str) -> None:
        (tmp_path / "acme_export.py").write_text(text)
        info = tmp_path / "acme_export-1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Name: acme-export\nVersion: 1\n")
        (info / "entry_points.txt").write_text("[roundtable.exports]\nacme = acme_export:FORMAT\n")
        monkeypatch.syspath_prepend(tmp_path)

    yield plug_in
    _plugged_in.cache_clear()
    sys.modules.pop("acme_export", None)


def test_a_plug_in_adds_a_format(plugged_in: Callable[[str], None]) -> None:
    """It is loaded when it is used. Its blocks have marks, and what is new below its headings is read back."""
    plugged_in(ACME)
    assert format_names() == (*FORMATS, "acme")
    assert "acme_export" not in sys.modules

    ((path, text),) = exported(item(agreed()), "acme").items()
    assert path == f"docs/acme/{SLUG}/agreed.md"
    assert text.startswith("# Rate limiting\n\n- **FR-001** ")
    assert item_of(text) == SLUG
    changed = {path: f"{text}\n## Risks of Acme\n\n- The clock may be wrong\n"}
    ((_, (edit,)),) = edits_in(changed, {}, sections_of(["acme"]))
    assert (edit.kind, edit.text) == ("risk", "The clock may be wrong")


def test_what_is_new_in_a_section_of_a_plug_in_waits_as_all_other_proposals(
    plugged_in: Callable[[str], None],
) -> None:
    """The file stays until people decide, and nobody is told that it has words of no entry."""
    plugged_in(ACME)
    found = item(agreed())
    ((path, text),) = exported(found, "acme").items()
    changed = f"{text}\n## Risks of Acme\n\n- The clock may be wrong\n"
    there = {path: FoundFile(changed, text, is_ours=False)}
    exports = committed(found, "acme:docs/acme/{slug}")

    (edit,) = exports.edits(SLUG, OneItem(), lambda folder: there if "acme" in folder else {}).edits
    assert (edit.kind, edit.text) == ("risk", "The clock may be wrong")
    due = exports.due(SLUG, OneItem(), lambda _: FoundFolder(there, is_gone=False))
    assert (due.files, due.notes) == ({}, ())


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("import no_such_module", "No module named 'no_such_module'"),
        ("raise SystemError('a' * 5_000)", "aaaa"),
        ("FORMAT = 1", "acme_export:FORMAT is no ExportFormat"),
        (ACME.replace("docs/acme", "../acme"), "../acme/{slug}"),
        (ACME.replace("agreed.requirements", "agreed.no_such"), "'Agreed' object has no attribute 'no_such'"),
        ("", "module 'acme_export' has no attribute 'FORMAT'"),
    ],
)
def test_a_broken_plug_in_is_one_sentence(plugged_in: Callable[[str], None], text: str, why: str) -> None:
    plugged_in(text)
    with pytest.raises(ConfigError) as error:
        exported(item(agreed()), "acme")

    assert str(error.value).startswith(f"The export format acme cannot be used: {why}")
    assert len(str(error.value)) < 300


def test_the_preflight_names_a_format_that_is_not_installed() -> None:
    """It stops nothing. A plug-in that is set says where its files stand."""
    places = read_places("openspec, acme:docs/acme/{slug}")
    (problem,) = check_exports(Settings(exports=places)).problems
    assert problem == CheckProblem("The export format acme cannot be used: it is not installed.")
    with pytest.raises(ValueError, match="acme"):
        read_places("acme")


def unsettled() -> AgreedItem:
    """Nothing is agreed that somebody could build; some of it was before."""
    meeting = agreed()
    meeting.press("Ada", *({"id": id, "state": "withdrawn"} for id in ("FR-001", "AC-001-01", "US-001")))
    meeting.press("Ada", {"id": "FR-002", "set": {"priority": "won't"}})
    return item(meeting, slug="unsettled")


@pytest.mark.parametrize("made", [unsettled, lambda: item(Meeting())], ids=["unsettled", "nothing"])
def test_of_an_item_without_anything_agreed_there_are_files_all_the_same(
    made: Callable[[], AgreedItem],
) -> None:
    """Those of OpenSpec say so. They propose nothing."""
    found = made()

    assert not Agreed(found).requirements()
    assert "[NEEDS CLARIFICATION: no requirement is agreed]" in file_of("openspec", "spec.md", found)
    assert all(read_back(text) == () for target in FORMATS for text in exported(found, target).values())


@pytest.mark.parametrize("slug", ["archive", "Archive"])
def test_where_openspec_keeps_what_it_archived_nothing_is_written(slug: str) -> None:
    """No new item has that name; one that other tools made, or an older version, is written for the other formats."""
    found = item(agreed(), slug=slug)

    assert item_from("Archive!").slug == "item-archive"
    with pytest.raises(
        ConfigError, match=f"^{slug} cannot be exported: openspec keeps this name for itself.$"
    ):
        exported(found, "openspec")
    assert exported(found, "kiro")
    exports = committed(found._replace(slug=SLUG), "openspec,kiro")
    assert exports.due(SLUG, OneItem(), lambda _: FoundFolder({}, is_gone=False)).notes == ()
    exports.agreed(OneItem())._known[SLUG] = found
    due = exports.due(SLUG, OneItem(), lambda _: FoundFolder({}, is_gone=False))
    assert [one.flaw for one in due.notes] == [ExportFlaw.BROKEN]
    assert {path.partition("/")[0] for path in due.files} == {".kiro"}
