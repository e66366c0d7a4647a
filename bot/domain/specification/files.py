"""The files of an item as edits: every section is a function of the entries, and so is how each file ends."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple, assert_never

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.schema import NOTE, PLAN_PAGE, SectionView, ViewForm
from bot.domain.catalog.steps import SHARED, Step
from bot.domain.item.artifacts import (
    SINCE_THEN,
    CheckedEdit,
    DerivedEdit,
    FollowUpEdit,
    ItemsEdit,
    RowsEdit,
    SectionEdit,
    applies_to,
    digest_of,
    marker,
)
from bot.domain.specification import adr, discussions
from bot.domain.specification.brief import PAGE, Brief, brief, listed, page
from bot.domain.specification.claims import Entry
from bot.domain.specification.entries import DISCUSSION, Specification
from bot.domain.specification.projection import Projection
from bot.domain.values.markdown import LAST_SECTION

NOTES_PAGE = "notes.md"
"""In the item's folder: what was said in steps whose own files have no room for prose, or in no step."""
PLANNING, ELSEWHERE = "Planning", "In no other section"
_NUMBER = re.compile(r"([0-9]{1,6})\. ")
UPPER = {"Nfr": "NFR", "Api": "API", "Adr": "ADR", "Ux": "UX"}


class ItemFacts(NamedTuple):
    title: str
    slug: str


def brief_edit(found: Brief, item: ItemFacts) -> DerivedEdit:
    """The brief as a file. Without anything to say there is none."""
    text = page(found, item.title)
    return DerivedEdit(path=PAGE, text=text, digest=digest_of(text) if text else "")


def sections(
    playbook: Playbook,
    specification: Specification,
    item: ItemFacts,
    written: Mapping[str, str],
    steps: Collection[str] = (),
    *,
    summary: Brief | None = None,
) -> Iterator[tuple[str, CheckedEdit]]:
    """
    Every section of ours that says something, and those that were *written* before, with the digests of that, to take
    them out. Sections of steps that were not led yet are left, but for those of *steps* and those that show what was
    said. *summary* is the brief of the specification.
    """
    found = tuple(_sections(playbook, specification, item, dict(written), steps))
    yield from found
    rows = (summary or brief(playbook.schema, specification)).not_settled
    pages: dict[str, str] = {}
    for edit in (one for _, one in found if isinstance(one, SectionEdit)):
        pages[edit.path] = pages.get(edit.path, "") + edit.body
    for path, has_text in pages.items():
        key = f"{path}#{LAST_SECTION}"
        if path not in SHARED.values() and (has_text or key in written):
            heading = f"{_next_number(path, playbook)}{LAST_SECTION} ({len(rows)})"
            edit = _section(path, heading, listed(rows) if has_text else "", item.title, None)
            yield key, edit.but(last=True)


def _sections(
    playbook: Playbook,
    specification: Specification,
    item: ItemFacts,
    written: Mapping[str, str],
    steps: Collection[str],
) -> Iterator[tuple[str, CheckedEdit]]:
    projection = Projection(playbook.schema, specification)
    due = _due(playbook, projection, specification, written, steps)
    for view in due:
        edit = _edit(view, specification, item, projection, replaces=written.get(view.key, ""))
        if view.key in written or _has_content(edit):
            yield view.key, edit
    noted = {
        one.step: f"{NOTES_PAGE}#{one.step}" for one in specification.entries.values() if one.kind == NOTE
    }
    for step_id, key in sorted(noted.items()):
        if (body := projection.homeless(step_id)) or key in written:
            step = playbook.own_step(step_id)
            heading = f"{step_id} {step.title}" if step else step_id or PLANNING
            yield key, _section(NOTES_PAGE, heading, body, item.title, written.get(key, ""))
    decisions = tuple(adr.sections(playbook.schema, specification, _architecture(playbook), written))
    for _, edit in decisions:
        key = f"{edit.path}#{edit.heading}"
        if edit.body or key in written:
            yield key, edit
    in_plan = (view for view in playbook.schema.views if view.file == PLAN_PAGE and view.key in written)
    in_blocks = {
        id for held, _, paths in _held(playbook, specification) if paths for id in discussions.shown_ids(held)
    }
    more = projection.elsewhere([*due, *in_plan], {id for id, _ in decisions}, in_blocks)
    key = f"{NOTES_PAGE}#{ELSEWHERE}"
    if more or key in written:
        body = "\n".join(more.values())
        yield key, _section(NOTES_PAGE, ELSEWHERE, body, item.title, written.get(key, ""))


def notes_view(heading: str) -> SectionView:
    """How a section of notes.md is read back: entries by their ids, and notes by their words."""
    step_id = {ELSEWHERE: ELSEWHERE, PLANNING: ""}.get(heading, heading.partition(" ")[0])
    return SectionView(file=NOTES_PAGE, section=step_id, steps=(step_id,))


def text_of(view: SectionView, playbook: Playbook, specification: Specification, item: ItemFacts) -> str:
    """What a section of ours says."""
    if view.file != NOTES_PAGE:
        return Projection(playbook.schema, specification).view(view)
    found = (edit for key, edit in sections(playbook, specification, item, {}) if key == view.key)
    return next((edit.body for edit in found if isinstance(edit, SectionEdit)), "")


def _has_content(edit: CheckedEdit) -> bool:
    match edit:
        case SectionEdit():
            return bool(edit.body)
        case ItemsEdit():
            return bool(edit.items)
        case RowsEdit():
            return bool(edit.rows)
        case _:
            assert_never(edit)


def _next_number(path: str, playbook: Playbook) -> str:
    """`9. ` in a file whose steps number its sections."""
    headings = (view.heading for view in playbook.schema.views if view.file == path)
    numbers = [int(found[1]) for one in headings if (found := _NUMBER.match(one))]
    return f"{max(numbers) + 1}. " if numbers else ""


def follow_ups(
    playbook: Playbook, specification: Specification
) -> Iterator[tuple[str, tuple[FollowUpEdit, ...]]]:
    """What became of what the block of each discussion shows, in every file that has the block; by a key."""
    for held, step, paths in _held(playbook, specification):
        block = marker(step.step_id, str(held["ended"]))
        rows = tuple(discussions.since_then(specification, held))
        if edits := tuple(FollowUpEdit(path=path, marker=block, rows=rows) for path in paths):
            yield f"{held.id}#{SINCE_THEN}", edits


def _held(playbook: Playbook, specification: Specification) -> Iterator[tuple[Entry, Step, tuple[str, ...]]]:
    """The discussions of steps, with the files that have their block."""
    for held in specification.active(DISCUSSION):
        if step := playbook.own_step(str(held["step"] or "")):
            yield held, step, tuple(filter(applies_to, step.outputs))


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
        or not said.isdisjoint(view.collecting)
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


def _architecture(playbook: Playbook) -> frozenset[str]:
    """The steps of the phases in which an architecture is selected."""
    selecting = adr.selecting(playbook.schema)
    phases = {step.phase_key for step in playbook.all_steps if step.step_id in selecting}
    return frozenset(step.step_id for step in playbook.all_steps if step.phase_key in phases)


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
        return ItemsEdit(
            path=path,
            items=tuple(projection.items(view)),
            key=show.key,
            gone=gone,
            fields=tuple(show.fields),
            replaces=replaces,
        )
    columns, *rows = projection.rows(view)
    return RowsEdit(
        path=path, columns=tuple(columns), rows=tuple(map(tuple, rows)), gone=gone, replaces=replaces
    )
