"""
Applies a commit to the files: artifacts first, then meta.json, specification.json and the transcript.

The files on the disk are changed, not those of HEAD, so that edits which people have not committed yet are kept. When
one artifact cannot be written, or people changed what an edit would replace, the other files still are.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from bot.domain.catalog.taxonomy import Trouble, trouble
from bot.domain.item import artifacts, meta
from bot.domain.item.artifacts import (
    CheckedEdit,
    Edit,
    FileEdit,
    FollowUpEdit,
    InsightEdit,
    Missing,
    PlanEdit,
    UnreadableArtifact,
)
from bot.domain.item.meta import SlackPlace
from bot.domain.roundtable.effects import Commit
from bot.domain.transcript import lines as transcript
from bot.domain.transcript.damage import repaired
from bot.domain.transcript.seal import chain_in, restore_lines
from bot.storage.git.items import FilePlace, Items
from bot.storage.git.unfinished import FileChange, Unfinished

Committed = Callable[[str], bytes | None]
"""The content of a path in a commit: HEAD, or our last one."""
Versions = Callable[[str], Iterable[bytes]]
"""The contents of a path in the history, newest first."""


log = logging.getLogger(__name__)


class WrittenFiles(NamedTuple):
    """
    *files* are the contents for the commit, by path; None removes a file. *unwritten* are the edits of files that could
    not be written, *stopped* the edits that a change by hand is in the way of.
    """

    files: dict[str, bytes | None]
    troubles: tuple[Trouble, ...]
    unwritten: tuple[Edit, ...]
    stopped: tuple[CheckedEdit, ...] = ()


def replace_meta(items: Items, slug: str, content: bytes) -> dict[str, bytes | None]:
    """Write *content* as meta.json, with a copy of the old one beside it. Returns the files for a commit."""
    writing = _Writing(items, slug, lambda _path: None)
    writing.begin_anew(items.meta_file(slug), content)
    writing.change_files()
    return writing.files


class NotAdditive(ValueError):
    pass


def write(
    items: Items,
    slug: str,
    work: Commit,
    *,
    now: str,
    committed: Committed,
    ours: Committed = lambda _path: None,
    kept: Versions = lambda _path: (),
    mending: Callable[[int], None] = lambda _lines: None,
    home: SlackPlace | None = None,
    unfinished: Unfinished,
) -> WrittenFiles:
    """
    Signs *home*, or that of *work*. *mending* is told how many lines of the transcript are about to be restored.
    Raises OSError when meta.json or the transcript cannot be written; then the files say what they said before.
    *unfinished* does the same after a kill.
    """
    writing = _Writing(items, slug, committed, ours=ours, kept=kept, mending=mending)
    writing.folder(is_new=work.change.created is not None)
    for path, edits in _by_path(work.edits):
        writing.artifact(path, edits)
    spoken = writing.transcript(work.lines)
    writing.meta(work.change, now=now, home=home or work.change.slack, transcript=spoken.after or b"")
    if work.snapshot:
        writing.specification(work.snapshot)
    if spoken.after:
        writing.plan(*spoken)
    unfinished.begin(writing.changes)
    try:
        writing.change_files()
    except OSError:
        with suppress(OSError):
            unfinished.take_back()
        raise
    unfinished.end()
    return WrittenFiles(
        writing.files, tuple(writing.troubles), tuple(writing.unwritten), tuple(writing.stopped)
    )


def stopped(items: Items, slug: str, edits: Iterable[Edit]) -> Iterator[CheckedEdit]:
    """Those of *edits*, already committed, that a change by hand is in the way of."""
    for path, several in _by_path(edits):
        place = items.place(slug, path)
        with suppress(OSError, UnicodeDecodeError, UnreadableArtifact, Missing, NotAdditive):
            if place and any(isinstance(edit, CheckedEdit) for edit in several):
                yield from _edited(items.content(place), several)[1]


class _Writing:
    def __init__(
        self,
        items: Items,
        slug: str,
        committed: Committed,
        *,
        ours: Committed = lambda _path: None,
        kept: Versions = lambda _path: (),
        mending: Callable[[int], None] = lambda _lines: None,
    ) -> None:
        self._items = items
        self._slug = slug
        self._committed = committed
        self._ours = ours
        self._kept = kept
        self._mending = mending
        self.files: dict[str, bytes | None] = {}
        self.troubles: list[Trouble] = []
        self.unwritten: list[Edit] = []
        self.stopped: list[CheckedEdit] = []
        self.changes: list[FileChange] = []
        self._artifacts: dict[str, tuple[str, tuple[Edit, ...]]] = {}

    def change_files(self) -> None:
        """Raises OSError, except for an artifact: then the other files are still written."""
        for change in self.changes:
            path = change.place.path
            try:
                self._items.put(change.place, change.after)
            except OSError:
                if path not in self._artifacts:
                    raise
                del self.files[path]
                self._not_written(*self._artifacts[path])

    def folder(self, *, is_new: bool) -> None:
        if not is_new and not self._items.exists(self._slug):
            self.troubles.append(trouble("ERR-ART-001"))
        with self._items.folder_of(self._items.meta_file(self._slug), make=True):
            pass

    def artifact(self, path: str, edits: tuple[Edit, ...]) -> None:
        try:
            self._artifact(path, edits)
        except Missing:
            self.troubles.append(trouble("ERR-ELAB-013", filename=path))
        except NotAdditive:
            self.troubles.append(trouble("ERR-ELAB-008"))
        except OSError:
            self._not_written(path, edits)

    def meta(self, change: meta.MetaChange, *, now: str, home: SlackPlace | None, transcript: bytes) -> None:
        place = self._items.meta_file(self._slug)
        before = self._items.content(place)
        raw = self._raw(place, before, now)
        good = self._last_good(place, now) if raw is None else None
        if change.created is None or change.restart:
            raw = raw or good
        if raw is None:
            created = change.created or {"source": "manual", "slug": self._slug, "created_at": now}
            since = {"created_at": good["created_at"]} if good else {}
            raw = meta.apply({}, meta.MetaChange(created={**created, **since}))
        if before is None and change.created is None:
            self.troubles.append(trouble("ERR-META-001"))
        after = meta.apply(raw, change)
        if home and home.thread_ts:
            seal = self._items.seal
            chain = chain_in(reversed(transcript.split(b"\n")), seal.lines.trusted)
            after = meta.held_at(after, home, lambda one: seal.sign(self._slug, one, chain=chain))
        self.plan(place, before, meta.write(after).encode("utf-8", "replace"))

    def specification(self, text: str) -> None:
        place = self._items.specification_file(self._slug)
        self.plan(place, self._items.content(place), text.encode())

    def transcript(self, lines: Iterable[transcript.Line]) -> FileChange:
        place = self._items.transcript_file(self._slug)
        before = self._items.content(place)
        whole = self._restored(place, self._mended(place, before))
        return FileChange(place, before, self._items.seal.lines.append(whole, lines))

    def begin_anew(self, place: FilePlace, content: bytes) -> None:
        before = self._items.content(place)
        if before is not None:
            self._keep(place, before, why="corrupt")
        self.plan(place, before, content)

    def _mended(self, place: FilePlace, before: bytes | None) -> bytes:
        """Lines that a crash damaged are restored from HEAD."""
        if before is None:
            return b""
        found = repaired(before, self._committed(place.path) or b"")
        if not found.lossless:
            self._keep(place, before, why="corrupt")
        if found.lines:
            log.warning("%s had damaged lines; HEAD had them whole: %d", place.path, found.lines)
            self._mending(found.lines)
        return found.content

    def _restored(self, place: FilePlace, content: bytes) -> bytes:
        """With the sealed lines of our last commit that were deleted or changed since."""
        before, trusted = self._ours(place.path) or b"", self._items.seal.lines.trusted
        return restore_lines(content, before, trusted)

    def _artifact(self, path: str, edits: tuple[Edit, ...]) -> None:
        is_plan = all(isinstance(edit, PlanEdit) for edit in edits)
        place = (self._items.plan_file if is_plan else self._items.place)(self._slug, path)
        if place is None:
            raise PermissionError(f"{path!r} is not in the item's folder")
        before = self._items.content(place)
        if is_plan:
            self._keep_plan(place, before, edits)
        try:
            after, stopped = _edited(before, edits)
            self.stopped += stopped
            if len(stopped) == len(edits):
                return
        except (UnicodeDecodeError, UnreadableArtifact):
            after, _ = _edited(None, edits)
            if before and self._committed(place.path) != before:
                self._keep(place, before, why="unreadable")
            self.troubles.append(trouble("ERR-ART-003", artifact_name=path))
        self._artifacts[place.path] = path, edits
        self.plan(place, before, after)

    def _not_written(self, path: str, edits: tuple[Edit, ...]) -> None:
        self.troubles.append(trouble("ERR-ART-002", artifact_name=path))
        self.unwritten += edits

    def _keep_plan(self, place: FilePlace, before: bytes | None, edits: tuple[Edit, ...]) -> None:
        """Keep a copy of what others wrote in a file of the workshop, unless git has it."""
        after, _ = _edited(None, edits)
        known = map(_with_our_line_ends, (after, self._committed(place.path)))
        if before and after is not None and _with_our_line_ends(before) not in known:
            self._keep(place, before, why="replaced")

    def _raw(self, place: FilePlace, before: bytes | None, now: str) -> Mapping[str, Any] | None:
        """None when there is no readable meta.json."""
        if before is None:
            return None
        try:
            reading = meta.read(before, now=now)
        except meta.Corrupt as error:
            self._keep(place, before, why="corrupt")
            self.troubles.append(trouble("ERR-META-002", reason=str(error)))
            return None
        self.troubles += reading.troubles
        return reading.raw

    def _last_good(self, place: FilePlace, now: str) -> Mapping[str, Any] | None:
        """The newest in git, with the fields of other tools; it lacks only what is being written now."""
        for content in self._kept(place.path):
            with suppress(meta.Corrupt):
                return meta.read(content, now=now).raw
        return None

    def _keep(self, place: FilePlace, content: bytes, *, why: str) -> None:
        """Keep a copy of *content* beside the file that replaces it."""
        with self._items.folder_of(place) as found:
            aside = found.copy_aside(place.name, content, why=why)
        self.files[place._replace(name=aside).path] = content

    def plan(self, place: FilePlace, before: bytes | None, after: bytes | None) -> None:
        """The file is changed by `change_files`."""
        if after != before:
            self.changes.append(FileChange(place, before, after))
        self.files[place.path] = after


def _with_our_line_ends(content: bytes | None) -> bytes | None:
    """Git may check files out with Windows line ends."""
    return None if content is None else content.replace(b"\r\n", b"\n")


def _by_path(edits: Iterable[Edit]) -> Iterable[tuple[str, tuple[Edit, ...]]]:
    """Several edits of one file are one write."""
    grouped: dict[str, list[Edit]] = {}
    for edit in edits:
        path = artifacts.SHARED if artifacts.shared(edit.path) else edit.path
        grouped.setdefault(path, []).append(edit)
    return ((path, tuple(several)) for path, several in grouped.items())


def _edited(before: bytes | None, edits: tuple[Edit, ...]) -> tuple[bytes | None, tuple[CheckedEdit, ...]]:
    """The file as it is afterwards, and the edits that were left out because of a change by hand."""
    if before is not None and all(isinstance(edit, FileEdit) for edit in edits):
        return before, ()  # such an edit never changes a file that exists
    if isinstance(edits[-1], PlanEdit):  # replaces the whole file
        return None if edits[-1].takes_away else edits[-1].apply(None).encode("utf-8", "replace"), ()
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
    return (text or "").encode("utf-8", "replace"), tuple(left_out)
