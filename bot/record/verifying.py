"""
Whether a record holds: what the lines say is what meta.json and the artifacts say, and git knows of nothing else.

Lines cannot vouch for themselves, so what stands in the file is held against each version that was committed. Then
one flipped byte is found wherever it is: in a line by git, in a synthesis or in meta.json by the line.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from bot.domain import meta, replay_meta
from bot.domain.artifact import SHARED, applies_to
from bot.domain.progress import Record
from bot.domain.replay_discussion import KEPT
from bot.domain.replay_sections import Wrong, compared, marker
from bot.domain.replay_state import Concluded, State
from bot.record.difference import Difference, Version
from bot.record.history import lines_kept, sections_kept
from bot.record.ids import repeated
from bot.record.plans import plans_in_step
from bot.record.reading import replay

META = "meta.json"
TRANSCRIPT = "planning/meeting.jsonl"
OUR_FOLDERS = frozenset({"planning", "reviews"})


class Item(NamedTuple):
    """*shared* is the file that all items share, where there is one."""

    folder: Path
    transcript: Path
    shared: Path | None = None

    @property
    def name(self) -> str:
        """What the transcript is called in the folder."""
        return self.transcript.relative_to(self.folder).as_posix()

    @property
    def slug(self) -> str:
        return self.folder.name if self.name == TRANSCRIPT else self.transcript.stem


def differences(item: Item, versions: Sequence[Version] = ()) -> Iterator[Difference]:
    """Everything that is not as it should be; *versions* the newest first. Raises OSError."""
    state = replay(item.transcript).state()
    flaws = sorted((*state.flaws, *repeated(item.transcript)), key=lambda flaw: flaw.number)
    yield from (Difference(item.name, flaw.number, flaw.sentence) for flaw in flaws)
    yield from lines_kept(item.transcript, item.name, versions)
    content = _content(item.folder / META)
    yield from _progress(content, state, versions)
    held = list(_held(state, _recorded(content)))
    yield from (Difference(item.name, wrong.line, wrong.sentence) for wrong in _turns(held))
    texts = dict(_texts(item))
    forgotten = len(state.concluded) == KEPT
    yield from _sections(texts, held, strangers=forgotten or not state.progress.whole)
    yield from sections_kept(texts, versions)
    yield from plans_in_step(item.folder)


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
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


def _texts(item: Item) -> Iterator[tuple[str, str]]:
    """The artifacts that elaborations add to. A byte that is no UTF-8 stands for itself."""
    is_alone = item.name != TRANSCRIPT  # then who knows what is below the folder it lies in
    for path in sorted(item.folder.glob("*") if is_alone else item.folder.rglob("*")):
        name = path.relative_to(item.folder)
        if name.parts[0] not in OUR_FOLDERS and applies_to(path.name) and path.is_file():
            yield name.as_posix(), _read(path)
    if item.shared and item.shared.is_file():
        yield SHARED, _read(item.shared)


def _read(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "surrogateescape")
