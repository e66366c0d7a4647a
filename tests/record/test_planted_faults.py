"""Faults that were planted on purpose: verifying finds each of them."""

import ast
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bot.cli import replay
from bot.domain.messages.message import Action
from bot.domain.specification import fold
from bot.domain.specification.projection import Projection
from bot.record import words_kept
from bot.record.verify import RecordedItem, differences
from bot.record.words_kept import unkept
from bot.storage.git.history import versions
from tests.domain.table import Table, shipped
from tests.domain.test_cards import NO_PDF, ROWS, feature_step
from tests.record import kept
from tests.record.kept import committed, copied
from tests.storage.checkout import Git

SPEC = "requirements-spec.md"
SAID = "requirement: Filter by date\nAC: two dates give the days between\nrequirement: Sort by name"


def played() -> Table:
    table = Table().start().through("01-05").press_continue().say(SAID, who="grace")
    return table.say("FR-001 detail: from midnight to midnight", who="ada").stop()


@pytest.fixture
def item(tmp_path: Path) -> RecordedItem:
    return copied(played, tmp_path)


def found(item: RecordedItem) -> list[str]:
    return kept.found(item, shipped())


def changed(item: RecordedItem, old: str, new: str, name: str = SPEC) -> None:
    file = item.folder / name
    before = file.read_text()
    assert old in before
    file.write_text(before.replace(old, new, 1))


def test_a_sound_record_has_no_difference(item: RecordedItem) -> None:
    assert found(item) == []


def discussed() -> Table:
    """Options, an objection, an action, and a decision that reads otherwise afterwards."""
    table = Table().start().say("Edits get lost.").press(Action.FINISH_STEP).press(Action.ELABORATE)
    table.say("objection: the phone gets lost", who="linus").say("action: build the dashboards -> Grace")
    table.say("decision: Use a queue; because: it is known")
    return table.say("done").say("DEC-001: Use a log", who="grace").press_continue().stop()


def test_what_was_said_in_a_discussion_is_kept(tmp_path: Path) -> None:
    """References to a discussion or a person are no words."""
    item = copied(discussed, tmp_path)

    assert found(item) == []
    for page in item.folder.glob("*.md"):
        page.write_text(page.read_text().replace("the phone gets lost", "the phone"))
    assert any("“the phone gets lost” (OBJ-001) is in no file" in one for one in found(item))


def test_a_decision_is_in_a_file_wherever_it_is_made(tmp_path: Path) -> None:
    """The section of the selected architecture lists what was decided there alone."""
    item = committed(Table().start().say("decision: no second server").stop(), tmp_path)

    assert found(item) == []
    assert "**DEC-001** no second server" in (item.folder / "architecture-overview.md").read_text()


def test_where_people_stood_is_kept_whatever_a_model_sums_up(tmp_path: Path) -> None:
    table = Table().start().say("Edits get lost.").press(Action.FINISH_STEP).press(Action.ELABORATE)
    table.say("option: a queue on the phone").say("option: one log for all", who="linus")
    table.say("for A", who="grace").say("B works for me if it fails open", who="linus")
    item = committed(table.say("done").press_continue().stop(), tmp_path)

    assert found(item) == []
    kept = "\n".join(page.read_text() for page in item.folder.glob("*.md"))
    assert "#### Positions\n- A: a queue on the phone – Grace\n" in kept
    assert "- B: one log for all – Linus (if it fails open)" in kept


@pytest.mark.parametrize(
    ("old", "new"), [("DEC-001 was replaced by DEC-002", "DEC-001 was withdrawn"), ("Since then:", "")]
)
def test_what_became_of_a_decision_since_is_made_again(tmp_path: Path, old: str, new: str) -> None:
    item = copied(discussed, tmp_path)
    page = next(one for one in item.folder.glob("*.md") if old in one.read_text())

    changed(item, old, new, page.name)
    assert any(
        one.startswith(f"{page.name}:") and f"\n-{old}" in one.replace("- DEC", "DEC") for one in found(item)
    )


@pytest.mark.parametrize(
    "row", ["Sort by name", "two dates give the days between", "from midnight to midnight"]
)
def test_a_lost_row_is_shown_in_a_diff(item: RecordedItem, row: str) -> None:
    text = (item.folder / SPEC).read_text()
    (item.folder / SPEC).write_text("\n".join(one for one in text.split("\n") if row not in one))

    first = found(item)[0]
    assert first.startswith(f"{SPEC}:")
    assert re.search(rf"\n-.*{row}", first)


def test_a_wrong_author_is_found(item: RecordedItem) -> None:
    changed(item, "Said by Grace", "Said by Linus")
    assert "\n+_Said by Linus" in found(item)[0]


def test_exchanged_names_are_found(item: RecordedItem) -> None:
    """In the file of names and on every page alike: specification.json, whose hash is sealed, has the old ones."""
    for file in (*item.folder.glob("*.md"), item.folder.parent / "people.json"):
        text = file.read_text().replace("Grace", "\0").replace("Ada", "Grace").replace("\0", "Ada")
        file.write_text(text)

    assert "people.json:1: calls grace Ada, and specification.json Grace" in found(item)


@pytest.mark.parametrize("row", ["### FR-009: Drop the logs", "- **FR-009** Drop the logs"])
def test_an_entry_that_no_line_has_is_found(item: RecordedItem, row: str) -> None:
    """Below what we write a page may have anything else."""
    page = item.folder / SPEC
    page.write_text(f"{page.read_text()}\n## 99. More\n\nOur own words.\n\n{row}\n\n_Said by Ada._\n")
    number = page.read_text().split("\n").index(row) + 1

    assert found(item) == [f"{SPEC}:{number}: FR-009 is in no line"]


def test_a_sorted_file_holds(item: RecordedItem) -> None:
    """What counts is the number in the seal."""
    rows = item.transcript.read_text().splitlines(keepends=True)
    item.transcript.write_text("".join(sorted(rows)))

    assert sorted(rows) != rows
    assert found(item) == []


def test_another_entries_yaml_makes_no_difference(item: RecordedItem) -> None:
    """A team that changes it cannot have the old files made again; the words of people still have to be there."""
    playbook = shipped()
    requirement = playbook.schema.kinds["requirement"].but(name="promise", plural="promises")
    kinds = {**playbook.schema.kinds, "requirement": requirement}
    other = replace(playbook, schema=playbook.schema.but(kinds=kinds))
    newest = tuple(versions(item.folder))

    assert list(differences(item, newest, playbook=other)) == []
    assert ["not made again" in one for one in replay.made_with(item, other)] == [True]
    assert list(replay.made_with(item, playbook)) == []
    for page in item.folder.glob("*.md"):
        page.write_text(page.read_text().replace("Sort by name", "Sort"))
    assert ["is in no file" in one.sentence for one in differences(item, newest, playbook=other)] == [True]


def test_a_pushed_line_is_named_until_it_is_read(item: RecordedItem) -> None:
    """Whatever it says of who wrote it."""
    rows = item.transcript.read_text().splitlines(keepends=True)
    for person in ({"person": "p-aaaaaaaaaa"}, {}):
        entries = [{"id": "FR-001", "set": {"title": "Drop the logs"}}]
        line = {**json.loads(rows[-1]), "meta": {"message_id": "x", "entries": entries, **person}}
        item.transcript.write_text(f"{''.join(rows)}{json.dumps(line)}\n")

        sentence = "was pushed without a seal: it only proposes, and is not read yet"
        assert f"planning/meeting.jsonl:{len(rows) + 1}: {sentence}" in found(item)


def test_a_pushed_line_excuses_nothing(item: RecordedItem) -> None:
    """For the second check neither: words that it withdraws or gives anew still have to stand in a file."""
    transcript = item.transcript.read_text()
    files = {SPEC: (item.folder / SPEC).read_text().replace("Sort by name", "Sort")}
    for patch in ({"state": "withdrawn"}, {"set": {"title": "Sort"}}):
        pushed = {"source": "user", "meta": {"person": "p-x", "entries": [{"id": "FR-002", **patch}]}}
        sentences = [sentence for _, sentence in unkept(f"{transcript}{json.dumps(pushed)}\n", files)]

        assert any("Sort by name" in one and "is in no file" in one for one in sentences)


def test_who_gave_a_value_again_is_named_in_whichever_order_the_lines_stand() -> None:
    """Two people said the same at once; the file names who was heard last."""
    new = {"id": "EST-001", "kind": "estimate", "new": True, "set": {"scope": "medium"}}
    lines = [
        json.dumps({"source": "user", "meta": {"message_id": who, "person": who, "entries": [patch]}})
        for who, patch in (("Ada", {"id": "EST-001", "set": {"scope": "medium"}}), ("Linus", new))
    ]
    files = {"notes.md": "## Notes\n\n- **EST-001** Scope: medium — Ada\n"}

    assert unkept("\n".join(lines), files) == []
    assert unkept("\n".join(reversed(lines)), files) == []
    assert unkept(lines[1], files) == [(1, "“medium” (EST-001) stands there without Linus")]


def test_a_renamed_file_is_missing_and_a_forged_decision_is_no_file_of_ours(item: RecordedItem) -> None:
    (item.folder / SPEC).rename(item.folder / "spec.md")
    (item.folder / "adr").mkdir()
    (item.folder / "adr/0007-drop-the-logs.md").write_text("# ADR-0007: Drop the logs\n")

    assert f"{SPEC}:1: is missing" in found(item)
    assert "adr/0007-drop-the-logs.md:1: is no file of this record" in found(item)


def test_an_edit_that_is_not_read_yet_has_its_author(item: RecordedItem) -> None:
    git = Git(item.folder.parents[2])
    changed(item, "Sort by name", "Sort by date")
    path = f"docs/requirements/{item.slug}/{SPEC}"
    git.commit(path, (item.folder / SPEC).read_text())

    assert re.search(rf"^{SPEC}:\d+: edited by .+ in [0-9a-f]{{7,}}, read at the next save", found(item)[0])


FAULTS: dict[str, Callable[[str], str]] = {
    "the last row of each section is missing": lambda text: "\n".join(text.split("\n")[:-1]),
    "every row is under another name": lambda text: text.replace("Grace", "Linus").replace("Ada", "Linus"),
    "an entry is left out": lambda text: re.sub(r"### FR-002:[^#]*", "", text),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_the_projection_itself_is_found_by_the_second_check(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files and what they are compared with have the same fault: only the words tell."""
    view = Projection.view
    monkeypatch.setattr(Projection, "view", lambda self, one: FAULTS[fault](view(self, one)))
    item = committed(played(), tmp_path)

    assert any("is in no file" in one or "stands there without" in one for one in found(item))


def test_what_is_wrong_with_the_lines_is_the_first_thing_that_is_not_settled(tmp_path: Path) -> None:
    """As the last commit found it, so that the files are still what the lines give."""
    table = played().resume()
    damage = ("1 sealed line is missing before C1.17",)
    table.rt = table.rt.but(specification=table.rt.specification.but(damage=damage))
    item = committed(table.say("requirement: Export as CSV").stop(), tmp_path)

    assert found(item) == []
    text = (item.folder / SPEC).read_text()
    assert re.search(rf"Not settled \(\d+\)\n\n- {damage[0]}\n", text)


def test_an_ignored_line_is_found(item: RecordedItem) -> None:
    """A line of a person that nothing came of."""
    row = next(one for one in item.transcript.read_text().splitlines() if "Sort by name" in one)
    more = (
        row.replace("FR-001", "FR-008").replace("FR-002", "FR-009").replace("Sort by name", "Export as CSV")
    )
    files = {SPEC: (item.folder / SPEC).read_text()}

    sentences = [sentence for _, sentence in unkept(f"{item.transcript.read_text()}{more}\n", files)]
    assert any("Export as CSV" in one and "is in no file" in one for one in sentences)


@pytest.mark.parametrize("is_ignored", [False, True])
def test_an_ignored_press_is_found_by_the_second_check(
    *, is_ignored: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The line by which Grace accepted is there, and neither the fold nor a file knows of it."""
    if is_ignored:
        accepting = fold.Fold.take
        monkeypatch.setattr(
            fold.Fold,
            "take",
            lambda self, line, *, is_ours: (
                None if '"accept"' in line.as_json() else accepting(self, line, is_ours=is_ours)
            ),
        )
    item = committed(
        feature_step(NO_PDF, ROWS).say("accept 1\naccept 2", who="grace").press_continue().stop(), tmp_path
    )

    assert [one.partition(": ")[2] for one in found(item)] == [
        f"{id} was accepted here, and stands there as not accepted"
        for id in (("FR-001", "OUT-001") if is_ignored else ())
    ]


def test_the_second_check_shares_nothing_with_the_first() -> None:
    tree = ast.parse(Path(words_kept.__file__).read_text())
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]

    assert {alias.name for node in imports for alias in node.names} == {"json", "re"}
