"""
The files of a commit, made from the files of the tip: artifacts first, then meta.json, specification.json, transcript.

Pure but for reading git, so the same work is applied again on another tip when a remote was quicker: edits are
functions of a text, lines have ids, and changes of meta.json are additions.
"""

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Self
from urllib.parse import quote

import pygit2
from pygit2 import Commit as GitCommit

from bot.domain.catalog.taxonomy import Trouble, trouble
from bot.domain.item import artifacts, meta
from bot.domain.item.artifacts import (
    CheckedEdit,
    DerivedEdit,
    Edit,
    FileEdit,
    FollowUpEdit,
    InsightEdit,
    Missing,
    UnreadableArtifact,
)
from bot.domain.item.item_paths import SHARED, shared
from bot.domain.item.meta import SlackPlace
from bot.domain.roundtable.effects import Commit
from bot.domain.roundtable.outcomes import ExportNote
from bot.domain.specification import snapshot
from bot.domain.transcript import people
from bot.domain.transcript.lines import PERSON, Line
from bot.domain.transcript.people import Names
from bot.domain.transcript.scrubbing import Redacting, redacted
from bot.domain.transcript.seal import chain_in, lost_rows, read_chain, restore_lines
from bot.domain.values.value import Value
from bot.files import ARTIFACT_BYTES, META_BYTES, TRANSCRIPT_BYTES, FileRefused
from bot.storage.git.branch import Branch, CommitDraft
from bot.storage.git.history import changes, due_exports
from bot.storage.git.seal import Seal
from bot.storage.git.tree import EFFECT, ITEM, STEP, Files, message_of, trailer

FOLDER_LOST, META_LOST, LINES_LOST = "folder", "meta.json", "transcript"
LFS_POINTER = b"version https://git-lfs.github.com/spec/"
"""Stands in a commit for the content of a large file."""
UNPUSHED = "refs/roundtable/unpushed/"
CODEBASE = "HEAD"
"""Stands for the current code base as the `codebase_hash` of a change."""

log = logging.getLogger(__name__)


class ItemWork(Value):
    """A commit of an item as it was asked for."""

    slug: str
    work: Commit
    now: str
    home: SlackPlace | None = None

    @property
    def is_begun(self) -> bool:
        """Whether the item is there already: then what is missing of it was deleted."""
        return self.work.change.created is None or self.work.change.restart


class Worker:
    """Applies work. Raises FileRefused where a submodule is in the way."""

    def __init__(self, branch: Branch, seal: Seal) -> None:
        self.branch = branch
        self._seal = seal
        self.lines = seal.lines
        self.places = branch.places

    def settle(self, due: ItemWork) -> ItemWork:
        """With the code base of now in place of CODEBASE."""
        if due.work.change.codebase_hash != CODEBASE:
            return due
        change = due.work.change.but(codebase_hash=self.branch.codebase())
        return due.but(work=due.work.but(change=change))

    def apply(self, due: ItemWork, parent: GitCommit | None, *, again: bool = False) -> "AppliedWork":
        """The commit that *due* is on top of *parent*. *again*: it was made for another one."""
        return AppliedWork(due, self.branch.at(parent), self, again=again).run()

    def sign(self, slug: str, spoken: bytes) -> Callable[[SlackPlace], str]:
        """For the chain of the transcript *spoken*."""
        chain = chain_in(reversed(spoken.split(b"\n")), self.lines.trusted)
        return lambda home: self._seal.sign(slug, home, chain=chain)

    def before(self, slug: str, at: Files) -> GitCommit | None:
        """Our newest commit of the item that *at* is built on."""
        newest = (id for id in self.branch.commits_of(slug) if self.branch.has(at.commit, id))
        found = next(newest, None)
        return self.branch.repository[found].peel(GitCommit) if found else None

    def committed(self, slug: str, at: Files) -> bytes:
        """The transcript in that commit: lines that are missing since then are put back."""
        return self.branch.content(self.before(slug, at), self.places.transcript(slug)) or b""

    def edit_of_lines(self, slug: str, at: GitCommit | None) -> str:
        """The newest commit of others, in the history of *at*, that changed the transcript."""
        path = self.places.transcript(slug)
        found = changes(at, lambda commit: self.branch.at(commit).entry(path)) if at else ()
        by = next((commit for commit in found if not trailer(commit, ITEM)), at)
        return str(by.short_id) if by else ""

    def put_back(self, parent: GitCommit, lost: GitCommit, now: str) -> GitCommit:
        """
        What *lost*, a commit of ours that *parent* is not built on, holds of the items, on top of *parent*: a commit
        for each item. A file that people changed since stays theirs, but our lines and our progress come back.
        """
        base = self.branch.repository.merge_base(parent.id, lost.id)
        before = self.branch.at(self.branch.repository[base].peel(GitCommit)) if base else None
        found, tip = self.branch.at(lost), parent
        for slug, folder in found.folders(self.places.items_dir):
            present = self.branch.at(tip)
            there = present.folder(self.places.item(slug))
            if there is None or there.id != folder.id:
                files = dict(self._lost_files(slug, before, present, found))
                steps = self._steps_back(slug, present, found)
                trailers = (f"{ITEM}: {slug}", *(f"{STEP}: {step}" for step in steps))
                message = message_of(f"roundtable({slug}): put back what the branch lost", trailers)
                tip = self.branch.build(tip, CommitDraft(files, message, now)) if files else tip
        return tip

    def _lost_files(
        self, slug: str, before: Files | None, present: Files, lost: Files
    ) -> Iterator[tuple[str, bytes | None]]:
        for path in (*lost.below(self.places.item(slug)), *lost.below(SHARED)):
            was, now, ours = before and before.entry(path), present.entry(path), lost.entry(path)
            if now == ours:
                continue
            content = lost.read(path, TRANSCRIPT_BYTES)
            if now is None or now == was:
                yield path, content
            elif path == self.places.transcript(slug):
                yield path, self._with_lines(present.read(path, TRANSCRIPT_BYTES) or b"", content or b"")
            elif path == self.places.meta(slug):
                yield path, _with_progress(present.read(path, META_BYTES), content)
        known, gone = (
            people.read_people(one.read(self.places.people, META_BYTES)) for one in (present, lost)
        )
        if not known.flaw and (both := people.with_new(known, gone.names)) is not known:
            yield self.places.people, people.text_of(both)

    def _steps_back(self, slug: str, present: Files, lost: Files) -> Iterator[str]:
        """The steps that only *lost* knows as finished."""
        ours, theirs = (
            _steps_in(files.read(self.places.meta(slug), META_BYTES)) for files in (lost, present)
        )
        yield from (step for step in ours if step not in theirs)

    def _with_lines(self, present: bytes, lost: bytes) -> bytes:
        """Sealed anew, after those of *present*, where another clone wrote lines in their place."""
        missing = lost_rows(present, lost, self.lines.trusted)
        taken = {row.n for row in read_chain(present, self.lines.trusted).rows if row.n}
        if taken.isdisjoint(row.n for row in missing):
            return restore_lines(present, lost, self.lines.trusted)
        return self.lines.append(present, (row.line for row in missing))


class AppliedWork:
    """
    Work on top of *at*. *unwritten* are the edits of files that could not be written, *stopped* the edits that a change
    by hand is in the way of. *lost_lines* and *restored* say what came back of our last commit.
    """

    def __init__(self, due: ItemWork, at: Files, worker: Worker, *, again: bool) -> None:
        self._due = due
        self._again = again
        self._slug = due.slug
        self._at, self.parent = at, at.commit
        self._worker = worker
        self._places = worker.places
        self._last = worker.before(self._slug, at)
        self._names: Names = {}
        self._called: Names = {}
        self.files: dict[str, bytes | None] = {}
        self.troubles: list[Trouble] = []
        self.unwritten: list[Edit] = []
        self.stopped: list[CheckedEdit] = []
        self.lost_lines = 0
        self.restored = ""
        self.exports: tuple[ExportNote, ...] = ()

    @property
    def draft(self) -> CommitDraft:
        return CommitDraft(self.files, self._message(), self._due.now)

    def run(self) -> Self:
        for path in (self._places.transcript(self._slug), self._places.meta(self._slug)):
            self._at.refuse_submodule(path)
        if self._due.is_begun or self._again:
            self._restore_deleted()
        if self._due.work.change.created is None and not self._has_folder():
            self.troubles.append(trouble("ERR-ART-001"))
        for path, edits in _by_path(self._due.work.edits):
            self._edit(path, edits)
        self._write_people()
        spoken = self._transcript()
        after = self._write_lines(spoken, self._due.work.lines)
        if self._due.work.snapshot:
            after = self._write_specification(self._due.work.snapshot, spoken, after)
        self._write_meta(after)
        if self._due.work.snapshot:
            due = due_exports(self._worker.branch, self._slug, self._at, self.files)
            self.files |= {path: text.encode("utf-8", "replace") for path, text in due.files.items()}
            self.exports = due.notes
        return self

    def _read(self, path: str, most: int = ARTIFACT_BYTES) -> bytes | None:
        """As this commit leaves the file so far."""
        return self.files[path] if path in self.files else self._at.read(path, most)

    def _has_folder(self) -> bool:
        return bool(self.files) or self._at.folder(self._places.item(self._slug)) is not None

    def _restore_deleted(self) -> None:
        """What people deleted while the item is live, as the newest commit has it that has it."""
        item, ours = self._places.item(self._slug), self._worker.branch.at(self._last)
        record, lines = self._places.meta(self._slug), self._places.transcript(self._slug)
        lost = [path for path in (record, lines) if self._at.entry(path) is None and ours.entry(path)]
        held = next(self._worker.branch.files().versions(lost[0]), None) if lost else None
        if held is None:
            return
        self.restored = FOLDER_LOST if len(lost) > 1 else META_LOST if record in lost else LINES_LOST
        if self.restored == FOLDER_LOST:
            lost = [path for path in held.below(item) if self._at.entry(path) is None]
        self.files |= {path: held.read(path, TRANSCRIPT_BYTES) for path in lost}
        log.warning("the %s of %s was deleted; it is restored from git", self.restored, self._slug)

    # --- artifacts ----------------------------------------------------------------------------------------------------

    def _edit(self, path: str, edits: tuple[Edit, ...]) -> None:
        place = self._places.edit(self._slug, edits[0])
        if place is None or self._at.folder(place) is not None:
            self._leave_unwritten(path, edits)
            return
        try:
            before = self._read(place)
            after, stopped = edited(_without_pointer(place, before), edits)
        except FileRefused:
            self._leave_unwritten(path, edits)
        except Missing:
            self.troubles.append(trouble("ERR-ELAB-013", filename=path))
        except NotAdditive:
            self.troubles.append(trouble("ERR-ELAB-008"))
        except (UnicodeDecodeError, UnreadableArtifact):
            self.files[place] = edited(None, edits)[0]  # what stood there is in the history
            self.troubles.append(trouble("ERR-ART-003", artifact_name=path))
        else:
            if before is None and self._at.entry(place) is not None:  # a symbolic link
                self.troubles.append(trouble("ERR-ART-003", artifact_name=path))
            self.stopped += stopped
            if len(stopped) < len(edits):
                self.files[place] = after

    def _leave_unwritten(self, path: str, edits: tuple[Edit, ...]) -> None:
        self.troubles.append(trouble("ERR-ART-002", artifact_name=path))
        self.unwritten += edits

    # --- the record ---------------------------------------------------------------------------------------------------

    def _write_meta(self, spoken: bytes) -> None:
        place, change, now = self._places.meta(self._slug), self._due.work.change, self._due.now
        before = self._read(place, META_BYTES)
        raw: Mapping[str, Any] | None = None
        if before is not None:
            try:
                reading = meta.read(before, now=now)
            except meta.Corrupt as error:
                self.files[free_name(self._at, place)] = before
                self.troubles.append(trouble("ERR-META-002", reason=str(error)))
            else:
                raw = reading.raw
                self.troubles += reading.troubles
        content = self._worker.branch.good_meta(self._slug, now) if raw is None else None
        good = meta.read(content, now=now).raw if content else None
        if change.created is None or change.restart:
            raw = raw or good
        if raw is None:
            created = change.created or {"source": "manual", "slug": self._slug, "created_at": now}
            since = {"created_at": good["created_at"]} if good else {}
            raw = meta.apply({}, meta.MetaChange(created={**created, **since}))
        elif (
            self._again
            and change.created
            and str(change.created.get("created_at")) < str(raw.get("created_at"))
        ):
            raw = {**raw, **change.created}  # two clones began the item, and the earlier one knows how
        if before is None and change.created is None:
            self.troubles.append(trouble("ERR-META-001"))
        after = meta.apply(raw, change)
        home = self._due.home or change.slack
        if home and home.thread_ts:
            after = meta.held_at(after, home, self._worker.sign(self._slug, spoken))
        self.files[place] = meta.write(after).encode("utf-8", "replace")

    def _write_people(self) -> None:
        """Names that are there stay. A file that cannot be read is set aside, and the last good one goes on."""
        place, work = self._places.people, self._due.work
        try:
            self._at.refuse_submodule(place)
            content = self._at.read(place, META_BYTES)
        except FileRefused as error:
            log.warning("%s%s", people.UNREADABLE, error)
            return
        if self._at.folder(place) is not None:
            log.warning("%sit is a folder", people.UNREADABLE)
            return
        before = found = people.read_people(content)
        if found.flaw:
            aside = free_name(self._at, place)
            self.files[aside] = content
            log.warning("%s (set aside as %s)", found.flaw, aside)
            earlier = (one.read(place, META_BYTES) for one in self._worker.branch.files().versions(place))
            found = next(
                (one for one in map(people.read_people, earlier) if not one.flaw), people.PeopleFile()
            )
        new = {line.person: line.person_name for line in work.lines if PERSON in line.meta} | {**work.people}
        found = people.with_new(found, new)
        if found is not before:
            self.files[place] = people.text_of(found)
        self._names = found.names
        self._called = {id: found.names[id] for id in new if id in found.names}

    def _transcript(self) -> bytes:
        """Without the new lines, and with the sealed ones that our last commit had."""
        place, lines = self._places.transcript(self._slug), self._worker.lines
        content = self._read(place, TRANSCRIPT_BYTES)
        committed = self._worker.branch.at(self._last).read(place, TRANSCRIPT_BYTES) or b""
        if content is not None:
            self.lost_lines = len(lost_rows(content, committed, lines.trusted))
        if content is not None and self.lost_lines:
            content = restore_lines(content, committed, lines.trusted)
            log.warning("%s lacked lines that were committed; they are put back: %d", place, self.lost_lines)
        return content or b""

    def _write_lines(self, spoken: bytes, lines: Iterable[Line]) -> bytes:
        place = self._places.transcript(self._slug)
        written = (people.without_names(line, self._called) for line in lines)
        after = self._worker.lines.append(spoken, written)
        if after or self._at.entry(place) is not None:
            self.files[place] = after
        return after

    def _write_specification(self, text: str, spoken: bytes, after: bytes) -> bytes:
        """On top of the lines of others it is made anew, out of all of them, and ours have its new hash."""
        if self._again:
            with suppress(ValueError):
                made = snapshot.folded_content(after, self._worker.lines.trusted, self._names)
                if snapshot.first_difference(snapshot.read(text).specification, made.specification)[0]:
                    self._leave_derived()
                    text = snapshot.text_of(made.specification, made.written)
                    ours = (_with_hash(line, snapshot.hash_of(text)) for line in self._due.work.lines)
                    after = self._write_lines(spoken, ours)
        self.files[self._places.specification(self._slug)] = text.encode()
        return after

    def _leave_derived(self) -> None:
        """What others wrote out of the entries stays: ours follows from some of the lines only."""
        for edit in self._due.work.edits:
            place = self._places.edit(self._slug, edit)
            if isinstance(edit, DerivedEdit) and place and self._at.entry(place) is not None:
                self.files.pop(place, None)

    def _message(self) -> str:
        work = self._due.work
        known = {ITEM: self._slug, STEP: work.step, EFFECT: work.id}
        return message_of(work.subject, (f"{name}: {value}" for name, value in known.items() if value))


def _with_hash(line: Line, digest: str) -> Line:
    return line.but(meta={**line.meta, snapshot.HASH: digest}) if snapshot.HASH in line.meta else line


class NotAdditive(ValueError):
    pass


def edited(before: bytes | None, edits: tuple[Edit, ...]) -> tuple[bytes | None, tuple[CheckedEdit, ...]]:
    """The file as it is afterwards, and the edits that were left out because of a change by hand."""
    if before is not None and all(isinstance(edit, FileEdit) for edit in edits):
        return before, ()  # such an edit never changes a file that exists
    if isinstance(edits[-1], DerivedEdit):  # replaces the whole file
        return edits[-1].text.encode("utf-8", "replace") or None, ()
    if before is None and all(isinstance(edit, FollowUpEdit) for edit in edits):
        return None, ()
    text = None if before is None else before.decode()
    left_out: list[CheckedEdit] = []
    for edit in edits:
        if isinstance(edit, CheckedEdit) and artifacts.changed_by_hand(edit, text):
            left_out.append(edit)
            continue
        after = edit.apply(text)
        if isinstance(edit, InsightEdit) and not artifacts.additive(text or "", after):
            raise NotAdditive(edit.path)
        text = after
    return (text or "").encode("utf-8", "replace") or None, tuple(left_out)


def _by_path(edits: Iterable[Edit]) -> Iterable[tuple[str, tuple[Edit, ...]]]:
    """Several edits of one file are one write."""
    grouped: dict[str, list[Edit]] = {}
    for edit in edits:
        path = SHARED if shared(edit.path) else edit.path
        grouped.setdefault(path, []).append(edit)
    return ((path, tuple(several)) for path, several in grouped.items())


def _without_pointer(path: str, content: bytes | None) -> bytes | None:
    if content is not None and content.startswith(LFS_POINTER):
        raise FileRefused(path, "is a pointer to a large file")
    return content


def free_name(at: Files, path: str) -> str:
    """A free name for a copy of what stood at *path*."""
    number = 1
    while at.entry(f"{path}.corrupt-{number}") is not None:
        number += 1
    return f"{path}.corrupt-{number}"


def _steps_in(content: bytes | None) -> tuple[str, ...]:
    with suppress(meta.Corrupt):
        return meta.read(content, now="").meta.steps_completed if content else ()
    return ()


def _with_progress(theirs: bytes | None, ours: bytes | None) -> bytes | None:
    """*theirs*, with the progress that only *ours* knows of."""
    try:
        known, lost = meta.read(theirs or b"", now=""), meta.read(ours or b"", now="").meta
    except meta.Corrupt:
        return ours if theirs is None else theirs
    change = meta.MetaChange(
        steps=lost.steps_completed, phases=lost.phases_completed, elaborations=lost.elaborations
    )
    return meta.write(meta.apply(known.raw, change)).encode("utf-8", "replace")


# --- what is not pushed yet, as the work it was -----------------------------------------------------------------------
#
# When a remote was quicker, it is applied again on the remote's tip.


def keep_unpushed(branch: Branch, due: ItemWork) -> None:
    branch.refer(_name(due.work.id), branch.repository.create_blob(due.model_dump_json().encode()))


def unpushed(repository: pygit2.Repository, effect: str) -> ItemWork | None:
    found = repository.references.get(_name(effect)) if effect else None
    kept = repository.get(found.target) if found else None
    with suppress(ValueError):
        return ItemWork.model_validate_json(kept.data) if isinstance(kept, pygit2.Blob) else None
    log.warning("what was to be committed as %s cannot be read", effect)
    return None


def scrub_unpushed(branch: Branch, redact: Redacting) -> None:
    """Secrets go from it, too: it may be applied again."""
    for name, kept in _all_unpushed(branch.repository):
        kinds, value = redacted(kept, redact)
        if kinds:
            branch.refer(name, branch.repository.create_blob(json.dumps(value).encode()))


def drop_unpushed_of(branch: Branch, slug: str) -> None:
    """Of an item that is forgotten."""
    for name, kept in _all_unpushed(branch.repository):
        if kept.get("slug") == slug:
            branch.refer(name, None)


def _all_unpushed(repository: pygit2.Repository) -> Iterator[tuple[str, dict[str, Any]]]:
    for name in [found for found in repository.references if found.startswith(UNPUSHED)]:
        kept = repository.get(repository.references[name].target)
        if isinstance(kept, pygit2.Blob):
            yield name, json.loads(kept.data)


def drop_unpushed(branch: Branch, effects: Iterable[str]) -> None:
    """Those that are at the remote."""
    for effect in filter(None, effects):
        branch.refer(_name(effect), None)


def _name(effect: str) -> str:
    return UNPUSHED + quote(effect, safe="").replace(".", "%2E")
