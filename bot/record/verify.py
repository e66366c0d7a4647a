"""
Verifies a record: the transcript by its seals, and meta.json, specification.json, the artifacts and the plan by the
transcript. Each file is made again.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.schema import PLAN_PAGE
from bot.domain.item.item_paths import META, SHARED, SPECIFICATION, TRANSCRIPT
from bot.domain.item.meta import Corrupt, Meta, Record
from bot.domain.item.meta import read as read_meta
from bot.domain.specification import adr
from bot.domain.specification.claims import PartyKind
from bot.domain.specification.files import ItemFacts
from bot.domain.specification.snapshot import HASH, SCHEMA, Snapshot, first_difference, hash_of, read_known
from bot.domain.transcript import people
from bot.domain.transcript.fold import Row, fold
from bot.domain.transcript.lines import CHANGING_ENTRIES, Line
from bot.domain.transcript.people import PEOPLE_FILE
from bot.domain.transcript.seal import TrustedKeys, foreign_ids, lost_rows, read_chain
from bot.domain.transcript.state import Concluded, State
from bot.domain.transcript.verify import Difference, difference, meta_compared, sections_compared
from bot.domain.values.text import counted
from bot.engine.ports import ItemVersion
from bot.files import (
    ARTIFACT_BYTES,
    CHOSEN_RECORD_BYTES,
    META_BYTES,
    TRANSCRIPT_BYTES,
    File,
    FileRefused,
    Folder,
    folder,
)
from bot.record.projected import DATA, committed, is_projected, item_files, plan_files
from bot.record.reading import Transcript, in_sealed_order, repeated
from bot.record.words_kept import unkept, unknown_ids


def lines_kept(
    content: bytes, name: str, versions: Sequence[ItemVersion], keys: TrustedKeys | None
) -> Iterator[Difference]:
    """What is wrong with the seals, and the sealed lines that our newest commit has and *content* has not."""
    yield from (Difference(name, 1, flaw) for flaw in read_chain(content, keys).flaws)
    ours = next((one for one in versions if not one.author), None)
    held = ours.files.get(name) if ours else None
    if ours and held and (lost := lost_rows(content, held.read(), keys)):
        by = versions[0].author
        sentence = (
            f"lacks {counted(len(lost), 'line')} of commit {ours.sha}, from {lost[0].line.message_id} on"
        )
        if by:
            sentence = f"was edited by {by} in commit {versions[0].sha}: it {sentence}"
        yield Difference(name, max(content.count(b"\n"), 1), sentence)


class RecordedItem(NamedTuple):
    """*shared* is the file that all items share. Nothing below *root* may be a link."""

    folder: Path
    transcript: Path
    shared: Path | None = None
    root: Path | None = None
    """The workspace. None for a file named on the command line: then its folder is trusted."""

    @property
    def name(self) -> str:
        """The path of the transcript in the folder."""
        return self.transcript.relative_to(self.folder).as_posix()

    def read_transcript(self) -> Transcript:
        """Raises OSError."""
        most = TRANSCRIPT_BYTES if self.root else CHOSEN_RECORD_BYTES
        return Transcript(self.file(self.transcript, most).read(), self.people.names)

    @property
    def people(self) -> people.PeopleFile:
        """What people are called stands beside the items."""
        return people.read_people(self.people_text.encode("utf-8", "surrogateescape") or None)

    @property
    def people_text(self) -> str:
        with suppress(OSError):
            content = self.file(self.folder.parent / PEOPLE_FILE, META_BYTES).read()
            return content.decode("utf-8", "surrogateescape")
        return ""

    @property
    def slug(self) -> str:
        return self.folder.name if self.name == TRANSCRIPT else self.transcript.stem

    @property
    def meta(self) -> Meta:
        """What its meta.json says; nothing where there is none, or it cannot be read."""
        with suppress(OSError, Corrupt):
            return read_meta(self.file(self.folder / META, META_BYTES).read(), now="").meta
        return Meta()

    @property
    def title(self) -> str:
        return self.meta.description or self.slug

    def file(self, path: Path, most: int) -> File:
        root = self.root or (self.folder if path.is_relative_to(self.folder) else path.parent)
        return File(root, path.relative_to(root).as_posix(), most)

    @contextmanager
    def opened(self) -> Iterator[Folder]:
        root = self.root or self.folder
        with folder(root, self.folder.relative_to(root).parts) as found:
            yield found


def differences(
    item: RecordedItem,
    versions: Sequence[ItemVersion] = (),
    *,
    playbook: Playbook | None = None,
    keys: TrustedKeys | None = None,
) -> Iterator[Difference]:
    """
    All differences. *versions*: the newest first. Without a *playbook* files that follow from entries are not made
    again. *keys* are those that count: without any, the key of the first line does. Raises OSError.
    """
    if flaw := item.people.flaw:
        yield Difference(PEOPLE_FILE, 1, flaw)
    record = item.read_transcript()
    rows, transcript = in_sealed_order(record.rows), record.content
    foreign = foreign_ids(transcript, keys)
    state = fold(rows)
    flaws = sorted((*state.flaws, *repeated(rows)), key=lambda flaw: flaw.number)
    yield from (Difference(item.name, flaw.number, flaw.sentence) for flaw in flaws)
    yield from lines_kept(transcript, item.name, versions, keys)
    content = _content(item.file(item.folder / META, META_BYTES))
    if content is not None:
        yield from meta_compared(content, state.progress)
    elif (versions and META in versions[0].files) or state.progress.whole:
        yield Difference(META, 1, "is not there")
    lines = [line for _, line in rows if isinstance(line, Line)]
    yield from _pushed_since(item.name, rows, foreign)
    written = _content(item.file(item.folder / SPECIFICATION, TRANSCRIPT_BYTES))
    known = read_known(written)
    snapshot = committed(lines, foreign=foreign, damage=known.specification.damage if known else ())
    if known and written:
        yield from _renamed(known, item.people.names)
        yield from _specified(written, known, lines, snapshot, foreign=foreign)
    elif written is not None or any(line.text(HASH) for line in lines):
        yield Difference(SPECIFICATION, 1, "is not there" if written is None else "cannot be read")
    held = list(_with_records(state, list(item.meta.elaborations)))
    texts: dict[str, str] = {}
    yield from _unreadable(item, texts)
    is_foreign = not state.progress.whole
    syntheses = {one.marker: one.text for one in held}
    for name in (one for one in texts if not one.endswith(DATA)):
        yield from sections_compared(name, texts[name], syntheses, foreign=is_foreign or name == SHARED)
    wanted: Mapping[str, str] = {}
    if playbook and not has_other_schema(lines, playbook):
        facts = ItemFacts(item.title, item.slug)
        wanted = item_files(snapshot, () if is_foreign else held, facts, texts, playbook)
        yield from _projected(item, texts, wanted, versions, plan=plan_files(snapshot, facts, playbook))
    if playbook:
        yield from _second_check(item, transcript, texts, wanted)


def _projected(
    item: RecordedItem,
    texts: Mapping[str, str],
    wanted: Mapping[str, str],
    versions: Sequence[ItemVersion],
    *,
    plan: Mapping[str, str],
) -> Iterator[Difference]:
    """Every file made again from the lines."""
    for name, text in wanted.items():
        if name not in texts:
            if name != SHARED or item.shared:
                yield Difference(name, 1, "is missing")
        elif diff := difference(text, texts[name], name):
            by = _hand_edit(name, texts[name], versions)
            yield diff._replace(sentence=by or diff.sentence)
    for name in texts.keys() - wanted.keys():
        if adr.is_ours(name):
            yield Difference(name, 1, "is no file of this record")
    for name, text in plan.items():
        if diff := difference(text, _text(item.file(item.folder / name, ARTIFACT_BYTES)), name):
            yield diff


def _second_check(
    item: RecordedItem, transcript: bytes, texts: Mapping[str, str], wanted: Mapping[str, str]
) -> Iterator[Difference]:
    """It does not ask the code that makes the files."""
    kept = {**texts, PLAN_PAGE: _text(item.file(item.folder / PLAN_PAGE, ARTIFACT_BYTES))}
    rows = transcript.decode("utf-8", "replace")
    for number, sentence in unkept(rows, kept, item.people_text):
        yield Difference(item.name, number, sentence)
    for name, number, id in unknown_ids(rows, {name: kept[name] for name in wanted if name in kept}):
        yield Difference(name, number, f"{id} is in no line")


def _text(file: File) -> str:
    """Empty where there is no plain file; that is told elsewhere."""
    with suppress(FileNotFoundError, FileRefused):
        return file.read().decode("utf-8", "surrogateescape")
    return ""


def _hand_edit(name: str, text: str, versions: Sequence[ItemVersion]) -> str:
    """Who changed the file in a commit after our last one; empty if it is not committed, or we changed it last."""
    content = text.encode("utf-8", "surrogateescape")
    newest = versions[0].files.get(name) if versions else None
    if newest is None or newest.read() != content:
        return ""
    for version, before in pairwise(versions):
        kept, older = version.files.get(name), before.files.get(name)
        if kept and (older is None or kept.id != older.id):
            by = version.author
            return f"edited by {by} in {version.sha}, read at the next save" if by else ""
    return ""


def _content(file: File) -> bytes | None:
    try:
        return file.read()
    except FileNotFoundError:
        return None


def _specified(
    content: bytes, known: Snapshot, lines: Sequence[Line], snapshot: Snapshot, *, foreign: Collection[str]
) -> Iterator[Difference]:
    """
    The specification at the last commit that has one, and what the lines up to there give. Lines by others count as
    proposals, or not at all where the bot did not read them.
    """
    id, sentence = first_difference(known.specification, snapshot.specification)
    committed_as = next(filter(None, (line.text(HASH) for line in reversed(lines))), "")
    ours = [line for line in lines if line.message_id not in foreign]
    if id and first_difference(known.specification, committed(ours).specification)[0]:
        yield Difference(SPECIFICATION, _row_of(content, id), f"{id} {sentence}")
    elif committed_as and hash_of(content) != committed_as:
        yield Difference(
            SPECIFICATION, 1, "has the entries of the lines, and is not the file that was committed"
        )


def has_other_schema(lines: Sequence[Line], playbook: Playbook) -> bool:
    """Whether the files were made with another entries.yaml, so that they cannot be made again with this one."""
    told = next((line.meta.get(SCHEMA) for line in reversed(lines) if HASH in line.meta), None)
    return told not in {None, "", playbook.schema.fingerprint}


def _pushed_since(
    name: str, rows: Sequence[tuple[int, Row]], foreign: Collection[str]
) -> Iterator[Difference]:
    """Lines without a seal behind our last commit: our next one reads them, and then the files say so."""
    lines = [(number, line) for number, line in rows if isinstance(line, Line)]
    newest = max((at for at, (_, line) in enumerate(lines) if HASH in line.meta), default=len(lines))
    for number, line in lines[newest:]:
        if line.message_id in foreign and not CHANGING_ENTRIES.isdisjoint(line.meta):
            yield Difference(name, number, "was pushed without a seal: it only proposes, and is not read yet")


def _renamed(known: Snapshot, names: Mapping[str, str]) -> Iterator[Difference]:
    """Names of people that are not those of the last commit. One that it did not know was learned since."""
    claims = (one for entry in known.specification.entries.values() for one in entry.all_claims())
    parties = (party for claim in claims for party in (claim.said, claim.accepted) if party)
    people = {(one.by, one.name) for one in parties if one.kind is PartyKind.PERSON}
    for id, name in sorted(people):
        if name not in {"", id, names.get(id, name)}:
            yield Difference(PEOPLE_FILE, 1, f"calls {id} {names[id]}, and {SPECIFICATION} {name}")


def _row_of(content: bytes, id: str) -> int:
    """The line of the file that begins the entry; the first if there is none."""
    begins = f'"id": "{id}"'.encode()
    return next((at for at, row in enumerate(content.split(b"\n"), start=1) if begins in row), 1)


def _with_records(state: State, recorded: list[Record]) -> Iterator[Concluded]:
    """The elaborations with their records. Older lines carry none; then it comes from meta.json."""
    for one in state.concluded:
        record = one.record or next((other for other in recorded if other.step_id == one.step_id), None)
        if record in recorded:
            recorded.remove(record)
        if record:
            yield one.but(record=record)


def _unreadable(item: RecordedItem, texts: dict[str, str]) -> Iterator[Difference]:
    """
    Puts the artifacts that elaborations may change into *texts*, and yields those that are not plain files. Bytes that
    are not UTF-8 are kept as surrogates.
    """
    is_alone = item.name != TRANSCRIPT  # the folder may hold anything, so do not descend
    with item.opened() as found:
        names = sorted(found.files() if is_alone else found.tree())
    paths = {name: item.folder / name for name in names if is_projected(name)}
    for name, path in {**paths, **({SHARED: item.shared} if item.shared else {})}.items():
        try:
            texts[name] = item.file(path, ARTIFACT_BYTES).read().decode("utf-8", "surrogateescape")
        except FileNotFoundError:
            continue
        except FileRefused as error:
            yield Difference(name, 1, error.reason)
