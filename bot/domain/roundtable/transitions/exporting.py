"""Exported files: changes by hand become proposals, and people hear of what is not written."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from bot.domain.catalog.agenda import Playbook
from bot.domain.messages import step_wording
from bot.domain.messages.message import Message
from bot.domain.roundtable.outcomes import ExportNote
from bot.domain.roundtable.state import Roundtable
from bot.domain.specification.exported import (
    ExportEdit,
    Heard,
    HeardBefore,
    ProposalPatches,
    patches_for,
)
from bot.domain.specification.fold import GIT_AUTHOR, Patch


def read_edits(rt: Roundtable, edits: Iterable[ExportEdit], playbook: Playbook) -> Roundtable:
    """Each text once, also where it stands in the files of several formats. Nobody has accepted it."""
    for (path, author, commit), found in groupby(edits, lambda one: (one.path, one.author, one.commit)):
        proposals = _proposals(rt, found, playbook)
        if proposals.patches or proposals.left_out:
            text = step_wording.changed_in_export(author, path, commit, *_name_proposals(proposals))
            rt = _proposed(rt, proposals, text, by=f"git:{author}@{commit}", playbook=playbook)
    return rt


def read_sources(rt: Roundtable, *, is_new: bool, playbook: Playbook) -> Roundtable:
    """What the item begins with; none of its proposals is kept in the state. No person proposes it."""
    files, issue = rt.files, rt.issue
    rt = rt.but(files=None, issue=issue.but(edits=()) if issue else None)
    if files:
        rt = begun_with(rt, files.path, files.commit, files.edits, is_new=is_new, playbook=playbook)
    if issue and issue.edits:
        at = issue.updated
        rt = begun_with(rt, rt.source_id or issue.url, at, issue.edits, is_new=is_new, playbook=playbook)
    return rt


def begun_with(
    rt: Roundtable, name: str, at: str, edits: Iterable[ExportEdit], *, is_new: bool, playbook: Playbook
) -> Roundtable:
    """*at* is a commit, or a time. The same value where there is nothing new."""
    proposals = _proposals(rt, edits, playbook)
    if not (is_new or proposals.patches or proposals.left_out):
        return rt
    text = step_wording.begun_with(name, at, *_name_proposals(proposals), is_new=is_new)
    return _proposed(rt, proposals, text, by=f"git:{name}@{at}", playbook=playbook)


def _proposals(rt: Roundtable, found: Iterable[ExportEdit], playbook: Playbook) -> ProposalPatches:
    heard = HeardBefore(rt.specification, playbook.schema)
    new = (one for one in found if heard.state(one) is Heard.NEW)
    return patches_for(new, rt.specification, playbook.schema)


def _name_proposals(proposals: ProposalPatches) -> tuple[Sequence[str], int]:
    return [patch.id for patch in proposals.patches], proposals.left_out


def _proposed(
    rt: Roundtable, proposals: ProposalPatches, text: str, *, by: str, playbook: Playbook
) -> Roundtable:
    """New entries belong to the card that asks for their kind, where people accept them."""
    placed = _by_step(rt, proposals.patches, playbook)
    about: dict[str, Any] = {GIT_AUTHOR: by}
    rt = rt.telling(Message(text=text), part=rt.part, **about, entries=placed.pop("", ()))
    for step_id, patches in placed.items():
        sentence = step_wording.entries_proposed([patch.id for patch in patches])
        rt = rt.recording(sentence, **about, step_id=step_id, entries=patches)
    return rt


def _by_step(rt: Roundtable, patches: Iterable[Patch], playbook: Playbook) -> dict[str, list[Patch]]:
    """By the first step that is not done and shows the kind; a part is where the whole is."""
    ahead = [step.step_id for step in playbook.agenda.steps if not rt.has_finished(step.step_id)]
    shown = {id: {kind.key for kind in playbook.schema.shown_in(id)} for id in ahead}
    found: dict[str, list[Patch]] = {}
    step_of: dict[str, str] = {}
    for patch in patches:
        kind_step = next((id for id in ahead if patch.kind in shown[id]), "") if patch.new else ""
        step_of[patch.id] = step_of.get(patch.part_of, kind_step)
        found.setdefault(step_of[patch.id], []).append(patch)
    return found


def told_once(rt: Roundtable, notes: Iterable[ExportNote]) -> Roundtable:
    for note in notes:
        if note.path not in rt.exports_told:
            rt = rt.telling(Message(text=step_wording.not_exported(note)), part=rt.part)
            rt = rt.but(exports_told=(*rt.exports_told, note.path))
    return rt
