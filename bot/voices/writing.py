"""
What a mind writes of a step's files: the parts that the offline voice would write, and no others.

That voice says which parts there are, and under which headings; a part that the mind did not write, or that cannot be
used, is as that voice wrote it. So a file is whole and valid whatever a mind answers.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from bot.domain.catalog.agenda import Step, quick_scan_lines, read_quick_scan
from bot.domain.catalog.quick_scan import QuickScan
from bot.domain.item.artifacts import Edit, ItemsEdit, RowsEdit, SectionEdit
from bot.voices.answers import stories, tidied
from bot.voices.model import Prompt
from bot.voices.offline import numbering, story_file
from bot.voices.offline.pages import is_placeholder, joined, section_of
from bot.voices.offline.phrases import key
from bot.voices.prompts import tasks
from bot.voices.prompts.scene import Scene
from bot.voices.prompts.tasks import DraftPart
from bot.voices.settling import merged_sections

MARK = "==="
SECTION_CHARS = 20_000
QUICK_SCAN = "quick-scan.md"
STORY_FORM = (
    "one JSON array, and nothing else, of objects with the fields id, role, want, so_that, acceptance_criteria, traces",
    "acceptance_criteria is a list of texts, traces a list of FR ids",
)

_SLOT = re.compile(r"^[ \t>*_`#]*={3,}[ \t]*(?P<name>[^\s=][^\n]{0,300}?)[ \t]*=*[*_`]*[ \t]*$", re.MULTILINE)
_WHOLE_FENCE = re.compile(r"\A```(?:markdown|md)?[ \t]*\n(?P<inside>.*)\n```\Z", re.DOTALL | re.IGNORECASE)
_OWN_HEADING = re.compile(r"\A#{1,6}[ \t]+(?P<text>[^\n]*?)[ \t#]*\n")
_DEFINES = re.compile(
    r"^[ \t]*#{1,6}[ \t]+(?P<title>FR-\d{1,4}\b[^\n]*?)[ \t#]*$", re.IGNORECASE | re.MULTILINE
)
"""A requirement is defined in one section; anywhere else it is mentioned."""

_SCAN_LINE = re.compile(
    r"^[ \t>*_+#-]*(?:(?:estimated |final |total )?(?:scope|complexity|file count|files)(?: estimate)?)[ \t*_]*:.*$\n?",
    re.IGNORECASE | re.MULTILINE,
)


class Slot(NamedTuple):
    """A part that can be written, and the edit that writes it without a mind."""

    edit: SectionEdit | ItemsEdit
    part: DraftPart


class Writer:
    """*plain* are the edits of the offline voice for *steps*."""

    def __init__(self, scene: Scene, steps: tuple[Step, ...], plain: tuple[Edit, ...]) -> None:
        self._scene = scene
        self._plain = plain
        self._hints = {
            (output, owned.heading): owned.hints
            for step in steps
            for output in step.outputs
            for owned in step.owned(output)
        }
        self._slots = {_called(slot.part.line): slot for edit in plain if (slot := self._slot(edit))}
        self._written: dict[str, Edit] = {}

    def prompt(self) -> Prompt | None:
        """None where nothing is left to a mind."""
        parts = [slot.part for slot in self._slots.values()]
        return tasks.draft(self._scene, self._scene.rt.answers, parts) if parts else None

    def take(self, answer: str) -> bool:
        """What can be used of *answer*, if nothing was before; whether every part is there now."""
        for name, text in _parts(answer):
            slot = self._slots.get(name)
            if slot and name not in self._written and (edit := self._edit(slot.edit, text)):
                self._written[name] = edit
        return self._written.keys() == self._slots.keys()

    def files(self) -> dict[str, str]:
        """As they will be, for what is worked out from them."""
        after = dict(self._scene.files)
        for edit in self._written.values():
            path = edit.path if edit.path in after else f"docs/common/{edit.path}"
            place = path if path in after else edit.path
            after[place] = edit.apply(after.get(place))
        return after

    def edits(self, again: tuple[Edit, ...]) -> tuple[Edit, ...]:
        """*again* are the offline voice's edits with `files`: tables follow from what is written now."""
        tables = {edit.path: edit for edit in again if isinstance(edit, RowsEdit)}
        written = {id(self._slots[name].edit): edit for name, edit in self._written.items()}
        return tuple(written.get(id(edit)) or tables.get(edit.path) or edit for edit in self._plain)

    def _slot(self, edit: Edit) -> Slot | None:
        if isinstance(edit, SectionEdit):
            text = section_of(self._file(edit.path), edit.heading)
            hints = self._hints.get((edit.path, edit.heading), ())
            said = "" if is_placeholder(text) else text
            if len(said) > tasks.PART_CHARS:
                return None
            return Slot(edit, DraftPart(f"{MARK} {edit.path} | {edit.heading}", hints, said))
        if isinstance(edit, ItemsEdit) and edit.path == story_file.FILE and not self._is_long(edit.path):
            return Slot(edit, DraftPart(f"{MARK} {edit.path}", STORY_FORM, self._file(edit.path)))
        return None

    def _is_long(self, path: str) -> bool:
        return len(self._file(path)) > tasks.PART_CHARS

    def _edit(self, plain: SectionEdit | ItemsEdit, text: str) -> Edit | None:
        if isinstance(plain, ItemsEdit):
            found = stories(text, self._file(plain.path), self.files().get(numbering.FILE, ""))
            return plain.but(items=found) if found else None
        body = self._body(plain, _unwrapped(text, plain.heading))
        return plain.but(body=body) if body else None

    def _body(self, plain: SectionEdit, text: str) -> str:
        if not text or is_placeholder(text):
            return ""
        if plain.path.rpartition("/")[2] == QUICK_SCAN:
            return _with_scan(text, read_quick_scan(plain.body))
        if numbering.HEADING in plain.heading.casefold():
            return merged_sections(self._file(plain.path), text, plain.heading) or ""
        return _DEFINES.sub(r"**\g<title>**", text)

    def _file(self, path: str) -> str:
        files = self._scene.files
        return files.get(path) or files.get(f"docs/common/{path}") or ""


def _parts(answer: str) -> Iterator[tuple[str, str]]:
    """Whatever stands below a line that could be one of a part's, by the name of that line."""
    marks = list(_SLOT.finditer(answer))
    ends = [*(mark.start() for mark in marks[1:]), len(answer)]
    for mark, end in zip(marks, ends, strict=False):
        yield _called(mark["name"]), answer[mark.end() : end].strip()


def _called(line: str) -> str:
    return key(line.replace(MARK, ""))


def _unwrapped(text: str, heading: str) -> str:
    """Without a fence around the whole of it, and without its own heading."""
    bare = tidied(text)[:SECTION_CHARS].strip()
    if whole := _WHOLE_FENCE.match(bare):
        bare = whole["inside"].strip()
    own = _OWN_HEADING.match(f"{bare}\n")
    return bare[own.end() :].strip() if own and key(own["text"]) == key(heading) else bare


def _with_scan(text: str, said: QuickScan) -> str:
    """The lines that the depth follows from are people's where people named a size, whatever stands around them."""
    scan = said if said.known else read_quick_scan(text)
    if scan == QuickScan():
        return text
    return joined(_SCAN_LINE.sub("", text).strip(), quick_scan_lines(scan))


def steps_of(scene: Scene, ids: tuple[str, ...]) -> tuple[Step, ...]:
    return tuple(step for step_id in ids if (step := scene.playbook.agenda.get(step_id)))
