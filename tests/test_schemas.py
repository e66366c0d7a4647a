"""The JSON Schemas that are shipped: made from the models, and true of every file that there is."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from bot.content.entries import FILE
from bot.domain.specification import snapshot
from bot.integrations.agreed import AgreedItems
from bot.integrations.trace import CodeEvidence, FindingLevel, Level, Rule, Trace, TracedEntry, TraceFinding
from bot.record.verify import RecordedItem
from bot.shipped import SCHEMA, personas_dir, schema_names, schema_text, steps_dir
from bot.storage.git.tree import files_at_tip
from scripts import schemas
from tests.domain.table import Table, shipped
from tests.record.kept import ITEMS, committed, evening_in
from tests.sealing import TRUSTED

FRONT_MATTER = "---"


def flaws(name: str, value: Any) -> list[str]:
    found = Draft202012Validator(json.loads(schema_text(name))).iter_errors(value)
    return [f"{name}: {one.json_path}: {one.message[:200]}" for one in found]


class AsInEditors(yaml.SafeLoader):
    """YAML 1.2, in which `no` is a word."""

    yaml_implicit_resolvers = {  # noqa: RUF012 -- as in the class above
        first: [(tag, pattern) for tag, pattern in known if first in "tTfF" or not tag.endswith(":bool")]
        for first, known in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


def loaded(text: str) -> Any:
    return yaml.load(text, AsInEditors)  # noqa: S506 -- it is a safe one


def front(path: Path) -> Any:
    return loaded(path.read_text("utf-8").split(FRONT_MATTER)[1])


@pytest.fixture(scope="module", params=["evening", "planned"])
def item(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> RecordedItem:
    """In a commit, which no test changes."""
    root = tmp_path_factory.mktemp(request.param)
    if request.param == "evening":
        return evening_in(root)
    table = (
        Table().start().through("01-05").press_continue().say("requirement: Filter by date\nAC: it filters")
    )
    table.say("decision: Use a queue; because: it is known", who="grace").say("FR-001 priority: must")
    return committed(table.say("decision: Use a file; replaces: DEC-001").stop(), root)


def test_every_schema_is_as_generated() -> None:
    """After a change of a model, `scripts/schemas` has to be run."""
    kept = {f"{name}{SCHEMA}": schema_text(name) for name in schema_names()}

    assert kept == schemas.texts()


@pytest.mark.parametrize("name", schema_names())
def test_every_schema_is_one_and_has_a_name_of_its_own(name: str) -> None:
    found = json.loads(schema_text(name))

    Draft202012Validator.check_schema(found)
    assert found["$id"] == f"urn:roundtable:schema:{name}:1"


def test_every_file_of_an_item_is_what_its_schema_says(item: RecordedItem) -> None:
    text = (item.folder / "specification.json").read_text()
    rows = item.transcript.read_bytes().splitlines()

    assert rows
    assert [flaw for row in rows for flaw in flaws("transcript-line", json.loads(row))] == []
    assert flaws("specification", json.loads(text)) == []
    assert flaws("meta", json.loads((item.folder / "meta.json").read_text())) == []


def entries_of(item: RecordedItem) -> list[Any]:
    """As commands print them."""
    files = files_at_tip(item.folder.parents[2])
    known = AgreedItems(files, items_dir=ITEMS, schema=shipped().schema, trusted=TRUSTED)
    return [one.model_dump(mode="json") for one in known.item(item.slug).shown.entries()]


def test_what_commands_print_is_what_its_schema_says(item: RecordedItem) -> None:
    shown = entries_of(item)

    assert shown
    assert [flaw for one in shown for flaw in flaws("entry", one)] == []
    assert flaws("decisions", [{**one, "link": ""} for one in shown]) == []


def test_a_trace_is_what_its_schema_says() -> None:
    evidence = CodeEvidence(level=Level.TESTED, path="tests/a.py", line=1)
    entry = TracedEntry(address="limits/FR-001", kind="requirement", text="x", evidence=(evidence,))
    finding = TraceFinding(rule=Rule.STALE, level=FindingLevel.ERROR, address="limits/FR-001", message="x")
    told = Trace(entries=(entry,), findings=(finding,)).model_dump(mode="json")

    assert flaws("trace", told) == []
    assert flaws("trace", {**told, "colour": "red"}) != []


def test_the_content_that_is_shipped_is_what_its_schema_says() -> None:
    personas, steps = list(personas_dir().glob("*.md")), list(steps_dir().glob("*/*.md"))

    assert personas
    assert steps
    assert [flaw for path in personas for flaw in flaws("persona", front(path))] == []
    assert [flaw for path in steps for flaw in flaws("step", front(path))] == []
    assert flaws("entries", loaded((steps_dir() / FILE).read_text("utf-8"))) == []


@pytest.mark.parametrize("name", ["specification", "transcript-line"])
def test_what_we_write_has_no_other_fields(name: str, item: RecordedItem) -> None:
    path = item.folder / "specification.json" if name == "specification" else item.transcript
    value = json.loads(path.read_text().splitlines()[0] if name == "transcript-line" else path.read_text())

    assert flaws(name, {**value, "colour": "red"}) != []


def test_an_entry_is_said_or_proposed_and_never_both(item: RecordedItem) -> None:
    told = entries_of(item)[0]
    ((_, (claim, *_)), *_) = told["claims"].items()
    other = {"said_by": "proposed_by", "proposed_by": "said_by"}
    (first,) = other.keys() & claim.keys()

    assert flaws("entry", told) == []
    claim[other[first]] = claim[first]
    assert flaws("entry", told) != []
    del claim[first], claim[other[first]]
    assert flaws("entry", told) != []


def test_a_specification_says_its_version_and_an_unknown_one_is_refused() -> None:
    text = snapshot.text_of(Table().start().say("decision: Use a queue").rt.specification, {})
    told = json.loads(text)

    assert list(told)[:2] == ["$schema", "version"]
    earlier = {name: value for name, value in told.items() if name not in {"$schema", "version"}}
    assert snapshot.read(json.dumps(earlier)) == snapshot.read(text)
    assert snapshot.read(json.dumps({**told, "$schema": "urn:another"})) == snapshot.read(text)
    with pytest.raises(
        ValueError, match=r"^specification\.json is of version 2; this Roundtable reads 1\. Update it\.$"
    ):
        snapshot.read(json.dumps({**told, "version": 2}))
