"""A full, large item: entries of every kind, 66 KB of sections that show them, and sections that people wrote."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from bot.domain.catalog.schema import NOTE, REMARK, FieldType, Kind, KindField
from bot.domain.item.artifacts import SectionEdit, digest_of
from bot.domain.roundtable.outcomes import CodeSurvey, KeywordHits, RelatedFile
from bot.domain.roundtable.state import Roundtable
from bot.domain.specification.projection import Projection
from tests.specification.meeting import SCHEMA, Meeting
from tests.voices.prompts.kept import ROUNDTABLE, SHIPPED

OF_A_KIND = 6
SECTIONS_BYTES = 66_000
BY_HAND = "Written by hand, and in no entry: the depot in Graz has no network on Mondays."
VALUES: Mapping[FieldType, str] = {
    FieldType.AMOUNT: "60 s",
    FieldType.DATE: "Friday",
    FieldType.PERSON: "Ada",
    FieldType.PATH: "src/sync.py",
    FieldType.CODE: "sync()",
}


@cache
def large() -> tuple[Roundtable, Mapping[str, str]]:
    """The roundtable, and the item's files."""
    meeting = _meeting()
    files: dict[str, str] = {"draft.md": f"# Offline sync\n\n{BY_HAND}\n"}
    written = {}
    teller = Projection(SCHEMA, meeting.specification)
    for view in SCHEMA.views:
        if view.steps and view.is_page and view.section:
            body = teller.view(view)
            edit = SectionEdit(path=view.file, heading=view.heading, title="Offline sync", body=body)
            files[view.file] = edit.apply(files.get(view.file, ""))
            written[view.key] = digest_of(body)
    long = "\n\n".join(f"Paragraph {number}: {'the van loses its network. ' * 12}" for number in range(200))
    said = SectionEdit(path="quick-scan.md", heading="9. Interviews", title="Offline sync", body=long)
    files["quick-scan.md"] = said.apply(files.get("quick-scan.md", ""))
    survey = CodeSurvey(
        tracked_files=80,
        hits=(KeywordHits(keyword="sync", count=12, files=("src/sync.py",), file_count=3),),
        related=(RelatedFile(path="src/queue.py", why="imports src/sync.py"),),
    )
    rt = ROUNDTABLE.but(specification=meeting.specification, written=written, survey=survey)
    return rt, files


def _meeting() -> Meeting:
    meeting = Meeting()
    steps = [step.step_id for step in SHIPPED.agenda.steps]
    owners = {kind.part_of for kind in SCHEMA.kinds.values()}
    kinds = [kind for kind in SCHEMA.kinds.values() if kind.key != NOTE]
    for kind in sorted(kinds, key=lambda kind: (bool(kind.part_of), kind.key not in owners)):
        home = next((step for step in steps if kind in SCHEMA.shown_in(step)), "01-01")
        for number in range(1, OF_A_KIND + 1):
            owner = meeting.specification.active(kind.part_of)[0].id if kind.part_of else ""
            patch = {
                "id": meeting.specification.next_id(kind, owner),
                "kind": kind.key,
                "part_of": owner,
                "new": True,
                "set": dict(_fields(kind, number)),
            }
            meeting.press("Ada", patch, step=home)
    return meeting


def _fields(kind: Kind, number: int) -> Iterator[tuple[str, Any]]:
    for name, field in kind.fields.items():
        if name != REMARK and field.type is not FieldType.REF:
            value = _value(kind, name, field, number)
            yield name, [value] if field.many else value


def _value(kind: Kind, name: str, field: KindField, number: int) -> Any:
    if field.type is FieldType.NUMBER:
        return number
    if field.type is FieldType.CHOICE:
        return field.of[number % len(field.of)]
    if field.type in VALUES:
        return VALUES[field.type]
    words = f"{kind.name} {number}, its {name}: " + "edits that were made without a network arrive " * 2
    return words.strip()
