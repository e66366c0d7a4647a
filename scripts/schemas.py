"""
Writes bot/schemas/: the JSON Schemas of the files that Roundtable keeps, of what its commands print, and of what teams
write themselves. They are made from the models that write and read these; a test compares them.

What we write is closed: a field that a schema does not have is a mistake. `meta.json`, where others may keep fields of
their own, is open.
"""

import argparse
import json
import sys
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bot.content import entries as entries_file  # noqa: E402
from bot.content import personas as persona_file  # noqa: E402
from bot.content import steps as step_file  # noqa: E402
from bot.domain.catalog.personas import Persona  # noqa: E402
from bot.domain.catalog.schema import Schema  # noqa: E402
from bot.domain.catalog.steps import Step  # noqa: E402
from bot.domain.item.meta import SEATS, Meta  # noqa: E402
from bot.domain.specification.shown import ShownClaim, ShownEntry  # noqa: E402
from bot.domain.specification.snapshot import URN, VERSION, SpecificationFile  # noqa: E402
from bot.domain.transcript.lines import Line  # noqa: E402
from bot.integrations.trace import Trace  # noqa: E402
from bot.shipped import SCHEMA  # noqa: E402

FOLDER = ROOT / "bot" / "schemas"
DRAFT = "https://json-schema.org/draft/2020-12/schema"
Node = dict[str, Any]


def of_model(model: type[BaseModel]) -> Node:
    found: Node = TypeAdapter(model).json_schema(by_alias=True, mode="validation")
    return found


def closed_node(node: Node) -> Node:
    """Objects with named fields have no others."""
    told = {name: _closed(one) for name, one in node.items()}
    is_named = told.get("type") == "object" and "properties" in told
    return {**told, "additionalProperties": False} if is_named else told


def _closed(node: Any) -> Any:
    if isinstance(node, list):
        return [_closed(one) for one in node]
    return closed_node(node) if isinstance(node, dict) else node


def only(model: type[BaseModel], names: Collection[str], required: Collection[str] = ()) -> Node:
    found = of_model(model)
    properties = {name: found["properties"][name] for name in names}
    return {**found, "properties": properties, "required": list(required)}


# --- what we write ------------------------------------------------------------------------------------------------


def specification() -> Node:
    found = of_model(SpecificationFile)
    found["properties"]["version"] = {"const": VERSION}
    found["properties"]["$schema"] = {"const": URN}
    found["required"] = ["$schema", "version", "through", "count", "sections", "entries"]
    return closed_node(found)


def transcript_line() -> Node:
    """`meta` is open: later versions say more."""
    return closed_node(of_model(Line))


def meta() -> Node:
    found = of_model(Meta)
    properties = found["properties"]
    limit = properties.pop("max_turns")
    properties[SEATS] = properties.pop("seats")
    properties["elaboration_config"] = {"type": "object", "properties": {"max_turns": limit}}
    return found


def entry() -> Node:
    """Without the fields that only our own views need."""
    found = of_model(ShownEntry)
    claim = found["$defs"]["ShownClaim"]
    for node, model in ((found, ShownEntry), (claim, ShownClaim)):
        for name, field in model.model_fields.items():
            if field.exclude:
                del node["properties"][name]
        node["required"] = [name for name in node["properties"] if name not in {"said_by", "proposed_by"}]
    for name in ("said_by", "proposed_by"):
        claim["properties"][name] = {"$ref": "#/$defs/ShownParty"}
    claim["oneOf"] = [{"required": ["said_by"]}, {"required": ["proposed_by"]}]
    return closed_node(found)


def decisions() -> Node:
    """Rows of `roundtable decisions --json`."""
    row = entry()
    definitions = row.pop("$defs")
    row["properties"]["link"] = {"type": "string"}
    row["required"] = [*row["required"], "link"]
    return {"type": "array", "items": row, "$defs": definitions}


def trace() -> Node:
    """What `roundtable trace --json` prints."""
    found = TypeAdapter(Trace).json_schema(mode="serialization")
    for node in (found, *found["$defs"].values()):
        if "properties" in node:
            node["required"] = [*node["properties"]]
    found["properties"]["version"] = {"const": 1}
    return closed_node(found)


# --- what teams write ---------------------------------------------------------------------------------------------


def persona() -> Node:
    """The front matter of personas/*.md."""
    found = only(Persona, persona_file.FIELDS, required=("key", "name", "role"))
    for name in ("phases", "looks_at"):
        found["properties"][name] = one_or_many(found["properties"][name])
    return closed_node(found)


def step() -> Node:
    """The front matter of analysis-steps/<phase>/NN-slug.md; other fields are ignored."""
    return only(Step, (*step_file.REQUIRED, "depends_on", "skip_if"), required=step_file.REQUIRED)


def entries() -> Node:
    """A team's entries.yaml: a kind that is shipped needs only what is changed."""
    found = of_model(Schema)
    definitions = found["$defs"]
    definitions["Kind"]["required"] = []
    fields = definitions["Kind"]["properties"]["fields"]
    fields["additionalProperties"] = {
        "anyOf": [{"$ref": "#/$defs/FieldType"}, fields["additionalProperties"]]
    }
    show = definitions["Show"]
    show["properties"]["as"] = show["properties"].pop("form")
    show["properties"]["from"] = {"const": "here"}
    show["properties"]["fields"] = one_or_named(show["properties"]["fields"])
    show["required"] = ["as"]
    rule = definitions["PlanRule"]["properties"]
    rule["or"] = rule.pop("otherwise")
    for where in (show["properties"]["where"], rule["where"]):
        where["additionalProperties"] = one_or_many(where["additionalProperties"])
    names = {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "string"}}}
    words = dict.fromkeys(entries_file.BY_NAME, names)
    properties = {**{name: found["properties"].get(name) for name in entries_file.PARTS}, **words}
    return closed_node({**found, "properties": properties, "required": []})


def one_or_many(node: Node) -> Node:
    return {"anyOf": [node["items"], node]}


def one_or_named(node: Node) -> Node:
    """`[title, priority]` is short for fields that are shown under their own names."""
    return {"anyOf": [node, {"type": "array", "items": {"type": "string"}}]}


# --- files --------------------------------------------------------------------------------------------------------

MADE: Mapping[str, Callable[[], Node]] = {
    "decisions": decisions,
    "entries": entries,
    "entry": entry,
    "meta": meta,
    "persona": persona,
    "specification": specification,
    "step": step,
    "trace": trace,
    "transcript-line": transcript_line,
}


def texts() -> dict[str, str]:
    """By the name of the file."""
    return {f"{name}{SCHEMA}": text_of(name, make()) for name, make in MADE.items()}


def text_of(name: str, made: Node) -> str:
    head = {"$schema": DRAFT, "$id": f"urn:roundtable:schema:{name}:1"}
    return json.dumps({**head, **made}, indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(prog="scripts/schemas")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit with 1 if one is not as generated"
    )
    check = parser.parse_args().check
    made = texts()
    there = {one.name: one.read_text("utf-8") for one in FOLDER.glob(f"*{SCHEMA}")}
    stale = sorted(name for name in {*made, *there} if made.get(name) != there.get(name))
    if check:
        sys.exit(f"run scripts/schemas: {', '.join(stale)}" if stale else 0)
    FOLDER.mkdir(exist_ok=True)
    for name in stale:
        if name in made:
            (FOLDER / name).write_text(made[name], "utf-8")
        else:
            (FOLDER / name).unlink()


if __name__ == "__main__":
    main()
