"""Exported files: changes by hand become proposals, and people hear of what is not written."""

from collections.abc import Iterable
from itertools import groupby
from typing import Any

from bot.domain.catalog.agenda import Playbook
from bot.domain.messages import step_wording
from bot.domain.messages.message import Message
from bot.domain.roundtable.outcomes import ExportEdit, ExportNote
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import specifying
from bot.domain.specification.entries import GIT_AUTHOR
from bot.domain.specification.exported import Heard, heard, patches_for


def read_edits(rt: Roundtable, edits: Iterable[ExportEdit], playbook: Playbook) -> Roundtable:
    """Each text once, also where it stands in the files of several formats. Nobody has accepted it."""
    for (path, author, commit), found in groupby(edits, lambda one: (one.path, one.author, one.commit)):
        new = [one for one in found if heard(one, rt.specification, playbook.schema) is Heard.NEW]
        if not new:
            continue
        placed = [(one, f"{one.path}:{one.line}@{one.commit}") for one in new]
        proposals = patches_for(placed, rt.specification, playbook.schema)
        ids = [patch.id for patch in proposals.patches]
        text = step_wording.changed_in_export(author, path, commit, ids, proposals.left_out)
        by = f"git:{author}@{commit}"
        facts: dict[str, Any] = {GIT_AUTHOR: by, **specifying.facts_of(proposals.patches)}
        rt = rt.telling(Message(text=text), part=rt.part, **facts)
    return rt


def told_once(rt: Roundtable, notes: Iterable[ExportNote]) -> Roundtable:
    for note in notes:
        if note.path not in rt.exports_told:
            rt = rt.telling(Message(text=step_wording.not_exported(note)), part=rt.part)
            rt = rt.but(exports_told=(*rt.exports_told, note.path))
    return rt
