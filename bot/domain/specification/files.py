"""The files of an item as edits: every section is a function of the entries, and so is how each file ends."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.schema import NOTE, SectionView, ViewForm
from bot.domain.catalog.steps import SHARED
from bot.domain.item.artifacts import (
    SINCE_THEN,
    CheckedEdit,
    FollowUpEdit,
    ItemsEdit,
    RowsEdit,
    SectionEdit,
    applies_to,
    marker,
)
from bot.domain.messages import specification_wording
from bot.domain.specification import adr, discussions
from bot.domain.specification.discussions import DISCUSSION
from bot.domain.specification.entries import Specification
from bot.domain.specification.not_settled import Unsettled, concerning, not_settled
from bot.domain.specification.projection import NOTHING, Projection
from bot.domain.values.markdown import LAST_SECTION, inert
from bot.domain.values.text import clean

NOTES_PAGE = "notes.md"
"""In the item's folder: what was said in steps whose own files have no room for prose, or in no step."""
PLANNING, ELSEWHERE = "Planning", "In no other section"
UPPER = {"Nfr": "NFR", "Api": "API", "Adr": "ADR", "Ux": "UX"}


class ItemFacts(NamedTuple):
    title: str
    slug: str


def sections(
    playbook: Playbook,
    specification: Specification,
    item: ItemFacts,
    written: Mapping[str, str],
    steps: Collection[str] = (),
) -> Iterator[tuple[str, CheckedEdit]]:
    """
    Every section of ours, by its key: those that were *written* before, with the digests of that, those of *steps* also
    when they are empty, and those that show what was said. Others are left until their step is led.
    """
    written = dict(written)
    projection = Projection(playbook.schema, specification)
    rows = not_settled(playbook.schema, specification)
    ends: dict[str, tuple[Unsettled, ...]] = {}
    due = _due(playbook, projection, specification, written, steps)
    for view in due:
        yield view.key, _edit(view, specification, item, projection, replaces=written.get(view.key, ""))
        if view.is_page and view.file not in SHARED:
            ends[view.file] = _of_file(view.file, playbook, rows)
    noted = {
        one.step: f"{NOTES_PAGE}#{one.step}" for one in specification.entries.values() if one.kind == NOTE
    }
    for step_id, key in sorted(noted.items()):
        if body := projection.homeless(step_id) or (NOTHING if key in written else ""):
            step = playbook.agenda.get(step_id)
            heading = f"{step_id} {step.title}" if step else step_id or PLANNING
            yield key, _section(NOTES_PAGE, heading, body, item.title, written.get(key, ""))
            about = concerning(rows, playbook.schema, {NOTE}, {step_id})
            ends[NOTES_PAGE] = tuple(dict.fromkeys((*ends.get(NOTES_PAGE, ()), *about)))
    decisions = tuple(adr.sections(playbook.schema, specification, _architecture(playbook), written))
    for one in decisions:
        edit = SectionEdit(
            path=one.path,
            heading=one.heading,
            title=one.title,
            body=one.body,
            replaces=written.get(one.key, ""),
        )
        yield one.key, edit
        ends[one.path] = tuple(row for row in rows if row.id == one.id or not row.of)
    more, key = projection.elsewhere(due, but={one.id for one in decisions}), f"{NOTES_PAGE}#{ELSEWHERE}"
    if more or key in written:
        body = "\n".join(more.values()) or NOTHING
        yield key, _section(NOTES_PAGE, ELSEWHERE, body, item.title, written.get(key, ""))
        ends[NOTES_PAGE] = (*ends.get(NOTES_PAGE, ()), *(row for row in rows if row.id in more))
    for path, found in ends.items():
        key = f"{path}#{LAST_SECTION}"
        listed = "\n".join(
            f"- {inert(clean(specification_wording.unsettled_row(row, playbook.schema)))}" for row in found
        )
        if listed or key in written:
            edit = _section(path, LAST_SECTION, listed, item.title, None)
            yield key, edit.but(last=True)


def follow_ups(
    playbook: Playbook, specification: Specification
) -> Iterator[tuple[str, tuple[FollowUpEdit, ...]]]:
    """What became of what the block of each discussion shows, in every file that has the block; by a key."""
    for held in specification.active(DISCUSSION):
        if step := playbook.agenda.get(str(held["step"] or "")):
            block, rows = (
                marker(step.step_id, str(held["ended"])),
                discussions.since_then(specification, held),
            )
            paths = filter(applies_to, step.outputs)
            if edits := tuple(FollowUpEdit(path=path, marker=block, rows=rows) for path in paths):
                yield f"{held.id}#{SINCE_THEN}", edits


def _due(
    playbook: Playbook,
    projection: Projection,
    specification: Specification,
    written: Collection[str],
    steps: Collection[str],
) -> list[SectionView]:
    living = [one for one in specification.entries.values() if specification.lives(one.id)]
    said = {one.step for one in living}.union(steps)
    pages = (view for view in playbook.schema.views if view.is_data or view.is_page)
    views = [view for view in pages if view.steps or view.always]
    due = {
        view.key
        for view in views
        if view.key in written
        or not said.isdisjoint(view.steps)
        or (view.always and any(projection.chosen(one, view) for one in view.show))
    }
    listing = [view for view in views if view.key in due]
    for one in living:
        if one.kind != NOTE and not any(projection.shows(view, one) for view in listing):
            listing += [view for view in views if view.is_page and projection.shows(view, one)][:1]
    return [view for view in views if view in listing]


def heading_of(view: SectionView, title: str, slug: str) -> str:
    """In the file that items share, each has a section of its own."""
    return view.heading or view.section or f"{title} ({slug})"


def document_title(path: str, title: str) -> str:
    """For `requirements-spec.md`: "Requirements Spec: Dark mode"."""
    stem = path.rpartition("/")[2].rpartition(".")[0].replace("-", " ").replace("_", " ").title()
    return f"{' '.join(UPPER.get(word, word) for word in stem.split())}: {title}"


def _of_file(path: str, playbook: Playbook, rows: Iterable[Unsettled]) -> tuple[Unsettled, ...]:
    views = [view for view in playbook.schema.views if view.file == path]
    kinds = {kind for view in views for kind in playbook.schema.kinds_in(view)}
    return concerning(rows, playbook.schema, kinds, {step for view in views for step in view.steps})


def _architecture(playbook: Playbook) -> frozenset[str]:
    """The steps of the phases in which an architecture is selected."""
    selecting = adr.selecting(playbook.schema)
    phases = {step.phase_key for step in playbook.agenda.steps if step.step_id in selecting}
    return frozenset(step.step_id for step in playbook.agenda.steps if step.phase_key in phases)


def _section(path: str, heading: str, body: str, title: str, replaces: str | None) -> SectionEdit:
    return SectionEdit(
        path=path, heading=heading, title=document_title(path, title), body=body, replaces=replaces
    )


def _edit(
    view: SectionView, specification: Specification, item: ItemFacts, projection: Projection, *, replaces: str
) -> CheckedEdit:
    path = SHARED.get(view.file, view.file)
    if not view.is_data:
        heading = heading_of(view, item.title, item.slug)
        return _section(path, heading, projection.view(view), item.title, replaces)
    show, entries = view.show[0], specification.entries.values()
    shown = {one.id for one in projection.chosen(show, view)}
    gone = tuple(one.id for one in entries if one.kind == show.kind and one.id not in shown)
    if show.form is ViewForm.JSON:
        key = next((name for name, field in show.fields.items() if field == "id"), "id")
        return ItemsEdit(
            path=path,
            items=tuple(projection.items(view)),
            key=key,
            gone=gone,
            fields=tuple(show.fields),
            replaces=replaces,
        )
    columns, *rows = projection.rows(view)
    return RowsEdit(
        path=path, columns=tuple(columns), rows=tuple(map(tuple, rows)), gone=gone, replaces=replaces
    )
