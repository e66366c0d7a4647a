"""
Whether a record holds: what the lines say is what meta.json and the artifacts say, and git knows of nothing else.

Lines cannot vouch for themselves, so what stands in the file is held against each version that was committed. Then
one flipped byte is found wherever it is: in a line by git, in a synthesis or in meta.json by the line.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from bot.domain import meta, replay_meta
from bot.domain.artifact import SHARED, applies_to
from bot.domain.progress import Record
from bot.domain.replay_discussion import KEPT
from bot.domain.replay_sections import Wrong, compared, marker
from bot.domain.replay_state import Concluded, State
from bot.files import (
    ARTIFACT_BYTES,
    CHOSEN_RECORD_BYTES,
    META_BYTES,
    TRANSCRIPT_BYTES,
    File,
    Folder,
    Refused,
    folder,
)
from bot.record.difference import Difference, Version
from bot.record.history import lines_kept, sections_kept, witnessed
from bot.record.ids import repeated
from bot.record.plans import plans_in_step
from bot.record.reading import replay

META = "meta.json"
TRANSCRIPT = "planning/meeting.jsonl"
OUR_FOLDERS = frozenset({"planning", "reviews"})


class Item(NamedTuple):
    """*shared* is the file that all items share, where there is one. Nothing below *root* may be a link."""

    folder: Path
    transcript: Path
    shared: Path | None = None
    root: Path | None = None
    """The workspace; without one, somebody has chosen the file, and its folder is trusted."""

    @property
    def name(self) -> str:
        """What the transcript is called in the folder."""
        return self.transcript.relative_to(self.folder).as_posix()

    @property
    def record(self) -> File:
        return self.file(self.transcript, TRANSCRIPT_BYTES if self.root else CHOSEN_RECORD_BYTES)

    @property
    def slug(self) -> str:
        return self.folder.name if self.name == TRANSCRIPT else self.transcript.stem

    def file(self, path: Path, most: int) -> File:
        root = self.root or (self.folder if path.is_relative_to(self.folder) else path.parent)
        return File(root, path.relative_to(root).as_posix(), most)

    @contextmanager
    def opened(self) -> Iterator[Folder]:
        root = self.root or self.folder
        with folder(root, self.folder.relative_to(root).parts) as found:
            yield found


def differences(item: Item, versions: Sequence[Version] = ()) -> Iterator[Difference]:
    """Everything that is not as it should be; *versions* the newest first. Raises OSError."""
    state = replay(item.record).state()
    flaws = sorted((*state.flaws, *repeated(item.record)), key=lambda flaw: flaw.number)
    yield from (Difference(item.name, flaw.number, flaw.sentence) for flaw in flaws)
    yield from lines_kept(item.record, item.name, versions)
    yield from witnessed(item.name, versions)
    content = _content(item.file(item.folder / META, META_BYTES))
    yield from _progress(content, state, versions)
    held = list(_held(state, _recorded(content)))
    yield from (Difference(item.name, wrong.line, wrong.sentence) for wrong in _turns(held))
    texts: dict[str, str] = {}
    yield from _unreadable(item, texts)
    forgotten = len(state.concluded) == KEPT
    yield from _sections(texts, held, strangers=forgotten or not state.progress.whole)
    yield from sections_kept(texts, versions)
    with item.opened() as found:
        yield from plans_in_step(found)


def _content(file: File) -> bytes | None:
    try:
        return file.read()
    except FileNotFoundError:
        return None


def _progress(content: bytes | None, state: State, versions: Sequence[Version]) -> Iterator[Difference]:
    kept = versions[0].files.get(META) if versions else None
    if content is None:
        if kept or state.progress.whole:
            yield Difference(META, 1, "is not there")
        return
    wrong = list(replay_meta.compared(content, state.progress))
    if not wrong and kept:
        wrong = list(replay_meta.rewritten(content, kept.read()))
    yield from (Difference(META, one.line, one.sentence) for one in wrong)


def _recorded(content: bytes | None) -> list[Record]:
    try:
        return list(meta.read(content or b"", now="").meta.elaborations)
    except meta.Corrupt:
        return []


def _held(state: State, recorded: list[Record]) -> Iterator[tuple[Concluded, Record]]:
    """The elaborations and their records; what an older line does not say, meta.json does."""
    for one in state.concluded:
        record = one.record or next((other for other in recorded if other.step_id == one.step_id), None)
        if record in recorded:
            recorded.remove(record)
        if record:
            yield one, record


def _turns(held: Sequence[tuple[Concluded, Record]]) -> Iterator[Wrong]:
    """An elaboration that its framing never came to counts as one turn."""
    for one, record in held:
        if record.turn_count != max(one.turns, 1):
            sentence = f"is said to end {record.turn_count} turns, and the lines before it hold {one.turns}"
            yield Wrong(one.line, sentence)


def _sections(
    texts: Mapping[str, str], held: Sequence[tuple[Concluded, Record]], *, strangers: bool
) -> Iterator[Difference]:
    known = {marker(record.step_id, record.timestamp): one.text for one, record in held}
    for name, text in texts.items():
        for wrong in compared(text, known, strangers=strangers or name == SHARED):
            yield Difference(name, wrong.line, wrong.sentence)


def _unreadable(item: Item, texts: dict[str, str]) -> Iterator[Difference]:
    """
    Puts the artifacts that elaborations add to into *texts*, and yields those that are no plain files. A byte that is
    no UTF-8 stands for itself.
    """
    shared = [(SHARED, item.file(item.shared, ARTIFACT_BYTES))] if item.shared else []
    for name, file in (*_artifacts(item), *shared):
        try:
            texts[name] = file.read().decode("utf-8", "surrogateescape")
        except FileNotFoundError:
            continue
        except Refused as error:
            yield Difference(name, 1, error.reason)


def _artifacts(item: Item) -> Iterator[tuple[str, File]]:
    is_alone = item.name != TRANSCRIPT  # then who knows what is below the folder it lies in
    with item.opened() as found:
        names = sorted(found.files() if is_alone else found.tree())
    for name in names:
        if name.partition("/")[0] not in OUR_FOLDERS and applies_to(name):
            yield name, item.file(item.folder / name, ARTIFACT_BYTES)
