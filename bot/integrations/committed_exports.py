"""
ROUNDTABLE_EXPORTS: the files of other tools in the commits of an item. What others wrote there is never overwritten:
changed and new blocks become proposals and stay until people decided on them, and other words of theirs stay for good.
Where nothing is written by itself, what people changed in an export of the command is read all the same.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import PurePosixPath

from bot.domain.catalog.schema import Schema
from bot.domain.item.export_places import ExportPlace
from bot.domain.roundtable.outcomes import ExportFlaw, ExportNote
from bot.domain.specification.claims import EntryState
from bot.domain.specification.exported import MOST_ROWS, ExportEdit, Heard, HeardBefore, item_of
from bot.engine.ports import DueExports, FoundEdits, FoundFile, FoundFolder
from bot.errors import ConfigError
from bot.files import CommittedFiles
from bot.integrations.agreed import AgreedItem, AgreedItems
from bot.integrations.exported_edits import SECTIONS, other_rows, read_back
from bot.integrations.exports import TASKS, Agreed, exported, format_of

log = logging.getLogger(__name__)

Look = Callable[[str], FoundFolder]
LookAtFiles = Callable[[str], Mapping[str, FoundFile]]


@dataclass(frozen=True)
class CommittedExports:
    """Files are written in *places*, and read in those of the command, too. *agreed* reads the items of a commit."""

    places: Sequence[ExportPlace]
    usual: Sequence[ExportPlace]
    agreed: Callable[[CommittedFiles], AgreedItems]
    schema: Schema

    @property
    def above(self) -> tuple[str, ...]:
        return tuple(one.above for one in self.places)

    def folders(self, slug: str) -> tuple[str, ...]:
        return tuple(place.of(slug) for place in (*self.places, *self.usual))

    def due(self, slug: str, record: CommittedFiles, look: Look) -> DueExports:
        """Nothing of an item whose channel is private, and nothing before there is a requirement."""
        if not self.places:
            return DueExports({}, ())
        item = self.agreed(record).item(slug)
        files: dict[str, str] = {}
        notes: list[ExportNote] = []
        for place in self.places if item.private is False else ():
            folder = place.of(slug)
            found = look(folder)
            try:
                texts = exported(item, place.format, place.folder)
            except ConfigError as error:
                log.warning("%s was not exported: %s", slug, error)
                notes.append(ExportNote(path=folder, flaw=ExportFlaw.BROKEN))
                continue
            if found.is_gone:
                notes.append(ExportNote(path=folder, flaw=ExportFlaw.GONE))
            elif foreign := in_the_way(texts, {path: one.text for path, one in found.files.items()}):
                notes.append(ExportNote(path=foreign, flaw=ExportFlaw.FOREIGN))
            elif found.files or Agreed(item).requirements():
                due, changed = self._due(item, texts, found.files, sections_of((place.format,)))
                files |= due
                notes += (ExportNote(path=path, flaw=ExportFlaw.CHANGED) for path in changed)
        return DueExports(files, tuple(notes))

    def edits(self, slug: str, record: CommittedFiles, look: LookAtFiles) -> FoundEdits:
        folders = map(look, self.folders(slug))
        others = ((path, one.text) for files in folders for path, one in files.items() if not one.is_ours)
        theirs = dict(_few_rows(slug, ((path, text) for path, text in others if item_of(text) == slug)))
        headings = SECTIONS if not theirs else sections_of(one.format for one in self.places)
        if not any(edits_in(theirs, {}, headings)):
            return FoundEdits(iter(()), lambda _: ())
        item = self.agreed(record).item(slug)
        known, heard = known_words(item), HeardBefore(item.shown.specification, self.schema)
        found = (one.but(path=path) for path, edits in edits_in(theirs, known, headings) for one in edits)
        new = (one for one in found if heard.state(one) is Heard.NEW)

        def proposals_in(text: str) -> frozenset[tuple[str, ...]]:
            edits = read_back(text, known, headings) if item_of(text) else ()
            return frozenset(one.proposal for one in edits)

        return FoundEdits(new, proposals_in)

    def _due(
        self,
        item: AgreedItem,
        texts: Mapping[str, str],
        there: Mapping[str, FoundFile],
        headings: Mapping[str, str],
    ) -> tuple[Mapping[str, str], Sequence[str]]:
        """Also the paths of files with words of others that are no entry."""
        due: dict[str, str] = {}
        changed, known = [], known_words(item)
        heard = HeardBefore(item.shown.specification, self.schema)
        for path, text in texts.items():
            found = there.get(path)
            if is_tasks(path) and there and not (found and found.is_ours):
                continue
            if found is None or found.is_ours:
                due[path] = text
            elif any(heard.state(one) is not Heard.SETTLED for one in read_back(found.text, known, headings)):
                continue
            elif found.text != text and other_rows(found.text, headings, found.written or "", text):
                changed.append(path)
            else:
                due[path] = text
        return due, changed


def known_words(item: AgreedItem) -> Mapping[str, str]:
    """Of the entries that stand in an export, by their ids."""
    return {one.id: one.text for one in item.shown.entries(states=[EntryState.ACCEPTED, EntryState.PROPOSED])}


def is_tasks(path: str) -> bool:
    return PurePosixPath(path).name == TASKS


def sections_of(formats: Iterable[str]) -> Mapping[str, str]:
    """The kinds by headings. A format that is broken has none of its own."""
    found = dict(SECTIONS)
    for name in formats:
        with suppress(ConfigError):
            found |= format_of(name).sections
    return found


def edits_in(
    texts: Mapping[str, str], known: Mapping[str, str], headings: Mapping[str, str] = SECTIONS
) -> Iterator[tuple[str, tuple[ExportEdit, ...]]]:
    """What others wrote into files of ours, by the paths of these. The tasks are theirs."""
    for path, text in texts.items():
        if not is_tasks(path) and item_of(text) and (found := read_back(text, known, headings)):
            yield path, found


def in_the_way(texts: Mapping[str, str], there: Mapping[str, str]) -> str:
    """The path of a file of others where we would write, or in a folder of theirs; empty if there is none."""
    foreign = (path for path, text in there.items() if not item_of(text) and texts.get(path) != text)
    others = [path for path in foreign if not is_tasks(path)]
    ours = [path for path in others if path in texts]
    is_theirs = bool(others) and len(others) == len(there)
    return next(iter([*ours, *(others if is_theirs else ())]), "")


def _few_rows(slug: str, texts: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """As many of them as have no more rows together than one may have."""
    rows = 0
    for path, text in texts:
        rows += text.count("\n") + 1
        if rows > MOST_ROWS:
            log.warning(
                "%s has more than %d changed rows: %s and what follows is not read", slug, MOST_ROWS, path
            )
            return
        yield path, text
