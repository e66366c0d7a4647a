"""The folders of the items: where each file is, and what the files say, without git."""

import logging
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from bot.domain.catalog.agenda import QuickScan, read_quick_scan
from bot.domain.catalog.taxonomy import Trouble, trouble
from bot.domain.item import artifacts as artifact
from bot.domain.item import meta
from bot.domain.item.item import TITLE_CHARS, KnownItem
from bot.domain.item.meta import Meta
from bot.domain.planning.record import under_way
from bot.domain.planning.workshop import is_planned
from bot.domain.roundtable.outcomes import ThreadMessage
from bot.domain.transcript import lines, open_step
from bot.domain.transcript.lines import TranscriptTail
from bot.domain.transcript.seal import chain_in
from bot.domain.values.text import one_line
from bot.engine.ports import Listing
from bot.files import (
    ARTIFACT_BYTES,
    BACKLOG_BYTES,
    META_BYTES,
    REVIEW_BYTES,
    TEMPORARY,
    TRANSCRIPT_BYTES,
    Folder,
    Stamp,
    folder,
)
from bot.storage.git.seal import Seal

META = "meta.json"
PLANNING = "planning"
PLANS_DEPTH = 2
"""Folders below `planning/`: `versions`, and one for each version."""
REVIEWS = "reviews"
TRANSCRIPT = "meeting.jsonl"
QUICK_SCAN = "quick-scan.md"
BACKLOG = "BACKLOG.md"
NAMED_CHAIN = re.compile(rb'"chain"\s*:\s*"([0-9a-f]{16})"')
ROWS = 20
"""The newest rows, one of which names the chain."""
ASIDE = re.compile(r"\.(corrupt|unreadable)-\d+$|\.roundtable-conflict(-\d+)?$")
"""Names of copies of what could not be read or, by older versions, merged."""

log = logging.getLogger(__name__)


class FilePlace(NamedTuple):
    """The folders below the top of the workspace, the name of the file, and its largest size in bytes."""

    folders: tuple[str, ...]
    name: str
    most: int = ARTIFACT_BYTES

    @classmethod
    def of(cls, path: str, most: int = ARTIFACT_BYTES) -> "FilePlace":
        """*path* begins at the top of the workspace."""
        *folders, name = path.split("/")
        return cls(tuple(folders), name, most)

    @property
    def path(self) -> str:
        return "/".join((*self.folders, self.name))


class Contents(NamedTuple):
    """What the files of an item say."""

    meta: Meta | None
    troubles: tuple[Trouble, ...] = ()
    scan: QuickScan = QuickScan()
    last_round: int = 0
    last_ts: str = ""
    heard: tuple[str, ...] = ()
    about: str = ""
    artifacts: tuple[str, ...] = ()
    planning: bool = False
    spent: Mapping[str, Any] = {}


class Items:
    """Raises OSError."""

    def __init__(self, root: Path, items_dir: str, seal: Seal | None = None) -> None:
        self._root = root
        self.seal = seal or Seal()
        self._folders = tuple(items_dir.split("/"))
        self._listed: dict[str, tuple[Stamp, Listing]] = {}
        self._backlog_flaw = ""
        self._chains: dict[str, str] = {}

    def place(self, slug: str, path: str) -> FilePlace | None:
        """The place of the artifact *path*; None when the path is not allowed."""
        if artifact.shared(path):
            return _place(*artifact.SHARED.split("/"))
        return _place(*self._folders, slug, *path.split("/")) if artifact.safe_path(path) else None

    def plan_file(self, slug: str, path: str) -> FilePlace | None:
        """The place of the file *path* of the workshop, where steps must not write; None when it is not allowed."""
        return _place(*self._folders, slug, *path.split("/")) if is_planned(path) else None

    def planning(self, slug: str) -> Mapping[str, str]:
        """The readable files of the workshop and of its earlier versions, without the transcript."""
        return dict(self._plans(slug))

    def meta_file(self, slug: str) -> FilePlace:
        return _place(*self._folders, slug, META, most=META_BYTES)

    def transcript_file(self, slug: str) -> FilePlace:
        return _place(*self._folders, slug, PLANNING, TRANSCRIPT, most=TRANSCRIPT_BYTES)

    def specification_file(self, slug: str) -> FilePlace:
        return _place(*self._folders, slug, artifact.SPECIFICATION, most=TRANSCRIPT_BYTES)

    def reviews_file(self, slug: str, name: str) -> FilePlace:
        return _place(*self._folders, slug, REVIEWS, name, most=REVIEW_BYTES)

    def paths(self, slug: str) -> tuple[str, ...]:
        """The paths of an item: its folder, and the file that all items share."""
        return "/".join((*self._folders, slug)), artifact.SHARED

    @contextmanager
    def folder_of(self, place: FilePlace, *, make: bool = False) -> Iterator[Folder]:
        with folder(self._root, place.folders, make=make) as found:
            yield found

    def content(self, place: FilePlace) -> bytes | None:
        try:
            with self.folder_of(place) as found:
                return found.read(place.name, place.most)
        except FileNotFoundError:
            return None

    def put(self, place: FilePlace, content: bytes | None) -> None:
        """None removes the file."""
        with self.folder_of(place, make=True) as found:
            found.remove(place.name) if content is None else found.replace(place.name, content)

    def has(self, place: FilePlace) -> bool:
        with suppress(FileNotFoundError), self.folder_of(place) as found:
            return found.stamp(place.name) is not None
        return False

    def exists(self, slug: str) -> bool:
        with suppress(FileNotFoundError), folder(self._root, (*self._folders, slug)):
            return True
        return False

    def texts(self, slug: str, paths: tuple[str, ...]) -> Mapping[str, str]:
        found = {}
        for path in paths:
            with suppress(OSError, UnicodeDecodeError):
                if (place := self.place(slug, path)) and (content := self.content(place)) is not None:
                    found[path] = content.decode()
        return found

    def lines(self, slug: str) -> tuple[lines.Line, ...]:
        """The transcript, as far as it can be read."""
        return lines.read(self.content(self.transcript_file(slug)) or b"").lines

    def holds(self, slug: str, message_id: str) -> bool:
        """Searches from the end, because the line is usually among the last."""
        place, sought = self.transcript_file(slug), f'"{message_id}"'.encode()
        with suppress(FileNotFoundError), self.folder_of(place) as found:
            return any(sought in row for row in found.rows(place.name, place.most))
        return False

    def tidy(self, slug: str) -> None:
        """Remove the temporary files that a killed bot left in the folders of an item."""
        for place in (
            (self.meta_file(slug), self.transcript_file(slug), _place(*artifact.SHARED.split("/")))
            if slug
            else ()
        ):
            with suppress(OSError), self.folder_of(place) as found:
                found.remove(TEMPORARY)

    def backlog(self) -> str:
        """Empty when it cannot be read, because many commands need it. The reason is logged once."""
        text, flaw = self._backlog()
        if flaw and flaw != self._backlog_flaw:
            log.warning("the backlog counts as empty: %s", flaw)
        self._backlog_flaw = flaw
        return text

    def listing(self) -> tuple[Listing, ...]:
        """Reads only the items that changed since the last call."""
        listed = {}
        with suppress(FileNotFoundError), folder(self._root, self._folders) as items:
            for name in items.folders():
                if stamp := _stamp(items, name):
                    known = self._listed.get(name)
                    listed[name] = (
                        known if known and known[0] == stamp else (stamp, self._listing(items, name))
                    )
        self._listed = listed
        return tuple(listing for _, listing in listed.values())

    def contents(self, slug: str, *, now: str) -> Contents | None:
        """None when the item has no folder."""
        place = self.meta_file(slug)
        try:
            with self.folder_of(place) as item:
                content = item.read(META, META_BYTES)
                names = item.files()
        except FileNotFoundError:
            return None
        if content is None:
            return Contents(None, (trouble("ERR-META-001"),))
        try:
            reading = meta.read(content, now=now)
        except meta.Corrupt as error:
            return Contents(None, (trouble("ERR-META-002", reason=str(error)),))
        ending = self._ending(slug)
        return Contents(
            reading.meta if self._is_sealed(slug, reading.meta) else reading.meta.but(slack=None),
            reading.troubles,
            scan=read_quick_scan(self.texts(slug, (QUICK_SCAN,)).get(QUICK_SCAN, "")),
            last_round=ending.last.round if ending.last else 0,
            last_ts=ending.last.ts if ending.last else "",
            heard=ending.heard,
            about=ending.about,
            spent=ending.spent,
            artifacts=tuple(name for name in names if _is_artifact(name)),
            planning=under_way(ending.last),
        )

    def _listing(self, items: Folder, slug: str) -> Listing:
        content = b""
        with suppress(OSError), items.below(slug) as found:
            content = found.read(META, META_BYTES) or b""
        return self.listed(slug, content)

    def listed(self, slug: str, content: bytes) -> Listing:
        """By the *content* of its meta.json."""
        try:
            understood = meta.read(content, now="").meta
        except meta.Corrupt:
            understood = Meta()
        thread, sealed = understood.slack or meta.SlackPlace(), self._is_sealed(slug, understood)
        return Listing(
            KnownItem(
                slug=slug,
                title=one_line(understood.description, TITLE_CHARS) or slug,
                source_id=understood.source_id,
            ),
            understood.derived_status,
            len(understood.steps_completed),
            team=thread.team_id,
            channel=thread.channel_id,
            thread=thread.thread_ts,
            private=thread.private if sealed or thread.private else None,
            sealed=sealed,
        )

    def _is_sealed(self, slug: str, understood: Meta) -> bool:
        home = understood.slack
        if home is None or not home.seal:
            return False
        return self.seal.is_valid(slug, home, chain=self.chain(slug))

    def chain(self, slug: str) -> str:
        """The chain of the item's transcript; empty where no line has a good seal."""
        place = self.transcript_file(slug)
        with suppress(OSError), self.folder_of(place) as found:
            return chain_in(found.rows(place.name, place.most), self.seal.lines.trusted)
        return ""

    def others_with(self, chain: str, slug: str) -> tuple[str, ...]:
        """The other folders with a transcript of the same *chain*. Each is looked into once."""
        names: tuple[str, ...] = ()
        with suppress(FileNotFoundError), folder(self._root, self._folders) as items:
            names = items.folders() if chain else ()
        known = self._chains
        self._chains = {name: known[name] if name in known else self._named_chain(name) for name in names}
        same = (name for name, other in self._chains.items() if other == chain and name != slug)
        return tuple(name for name in same if self.chain(name) == chain)

    def _named_chain(self, slug: str) -> str:
        """What the newest lines say, which is not verified."""
        place = self.transcript_file(slug)
        with suppress(OSError), self.folder_of(place) as found:
            named = (NAMED_CHAIN.search(row) for row in islice(found.rows(place.name, place.most), ROWS))
            return next((one[1].decode() for one in named if one), "")
        return ""

    def said(self, slug: str, done: Collection[str]) -> tuple[ThreadMessage, ...]:
        """The answers to the open step, unless it is *done*."""
        place = self.transcript_file(slug)
        with suppress(FileNotFoundError), self.folder_of(place) as found:
            return open_step.answers(found.rows(place.name, place.most), done=done)
        return ()

    def _backlog(self) -> tuple[str, str]:
        """The text, and what is wrong with the file."""
        try:
            return (self.content(_place(BACKLOG, most=BACKLOG_BYTES)) or b"").decode(), ""
        except OSError as error:
            return "", str(error.strerror)
        except UnicodeDecodeError:
            return "", f"{BACKLOG} is not UTF-8"

    def _plans(self, slug: str) -> Iterator[tuple[str, str]]:
        with suppress(OSError), self.folder_of(self.transcript_file(slug)) as found:
            for path in (f"{PLANNING}/{path}" for path in found.tree(depth=PLANS_DEPTH)):
                with suppress(OSError, UnicodeDecodeError):
                    place = self.plan_file(slug, path)
                    if place and (content := self.content(place)) is not None:
                        yield path, content.decode()

    def _ending(self, slug: str) -> TranscriptTail:
        """Reads only the end, so that a long transcript costs no more than a short one."""
        place = self.transcript_file(slug)
        with suppress(FileNotFoundError), self.folder_of(place) as found:
            return lines.ending(found.rows(place.name, place.most))
        return TranscriptTail()


def _stamp(items: Folder, slug: str) -> Stamp | None:
    """Changes with an item's meta.json. None when it is missing or cannot be accessed."""
    with suppress(OSError):
        return items.stamp(f"{slug}/{META}")
    return None


def _is_artifact(name: str) -> bool:
    return (
        artifact.safe_path(name)
        and "." in name
        and not ASIDE.search(name)
        and artifact.original(name) == name
    )


def _place(*names: str, most: int = ARTIFACT_BYTES) -> FilePlace:
    return FilePlace(names[:-1], names[-1], most)
