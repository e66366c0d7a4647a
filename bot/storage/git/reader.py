"""Reads items from the tip of the branch: what stands in a checkout and in no commit is not looked at."""

import errno
import logging
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

import pygit2
from pygit2 import Commit, Oid

from bot.domain.catalog import budget
from bot.domain.catalog.agenda import read_quick_scan
from bot.domain.catalog.taxonomy import trouble
from bot.domain.item import artifacts, meta
from bot.domain.item.item import TITLE_CHARS, KnownItem
from bot.domain.item.item_paths import SHARED, safe_path
from bot.domain.item.meta import Meta
from bot.domain.planning.projections import WRITTEN
from bot.domain.roundtable.outcomes import ItemState, LoadedItem, ThreadMessage
from bot.domain.specification.entries import Specification
from bot.domain.specification.snapshot import folded_content
from bot.domain.transcript import lines, open_step, people
from bot.domain.transcript.last_line import LastLine
from bot.domain.transcript.people import Names, PeopleFile, with_names
from bot.domain.transcript.seal import chain_in, old_lines
from bot.domain.values.text import one_line
from bot.engine.ports import NOTHING, Listing, Planning
from bot.engine.review_ports import KeptReview
from bot.errors import ConfigError
from bot.files import ARTIFACT_BYTES, BACKLOG_BYTES, META_BYTES, TRANSCRIPT_BYTES
from bot.storage.git.branch import LAST, Branch
from bot.storage.git.command import Git
from bot.storage.git.history import found_edits
from bot.storage.git.reviews import newest_reviews
from bot.storage.git.seal import Seal
from bot.storage.git.tree import (
    BRANCHES,
    INITIAL_BRANCH,
    Files,
    existing_repository,
    files_at_tip,
    refuse_state_in_git,
    tip,
    usable_branch,
)

QUICK_SCAN, BACKLOG = "quick-scan.md", "BACKLOG.md"
ASIDE = re.compile(r"\.(corrupt|unreadable)-\d+$|\.roundtable-conflict(-\d+)?$")
"""Names of copies of what could not be read or, by older versions, merged."""

_OF_SLACK = re.compile("[UW][A-Z0-9]{2,30}")

log = logging.getLogger(__name__)


class ItemReader:
    """For one thread. Raises OSError and GitError."""

    def __init__(self, branch: Branch, seal: Seal) -> None:
        self._branch = branch
        self._seal = seal
        self._places = branch.places
        self._listed: dict[str, tuple[Oid, Listing]] = {}
        self._chains: dict[str, tuple[Oid, str]] = {}
        self._held_before: dict[str, tuple[Oid, Listing | None]] = {}
        self._backlog_flaw = ""
        self._people_flaw = ""

    def items(self) -> tuple[Listing, ...]:
        """Reads only the items that changed since the last call."""
        files, listed = self._branch.files(), {}
        for slug, folder in files.folders(self._places.items_dir):
            known = self._listed.get(slug)
            is_known = known is not None and known[0] == folder.id
            listed[slug] = known if known and is_known else (folder.id, self._listing(files, slug))
        self._listed = listed
        return tuple(found if found.channel else self._as_held_before(found) for _, found in listed.values())

    def backlog(self) -> str:
        """Empty when it cannot be read, because many commands need it. The reason is logged once."""
        text, flaw = "", ""
        try:
            text = (self._branch.files().read(BACKLOG, BACKLOG_BYTES) or b"").decode()
        except OSError as error:
            flaw = str(error.strerror)
        except UnicodeDecodeError:
            flaw = f"{BACKLOG} is not UTF-8"
        if flaw and flaw != self._backlog_flaw:
            log.warning("the backlog counts as empty: %s", flaw)
        self._backlog_flaw = flaw
        return text

    def files(self, slug: str, paths: Iterable[str]) -> Mapping[str, str]:
        return self._texts((path, self._places.artifact(slug, path)) for path in paths)

    def _texts(self, places: Iterable[tuple[str, str | None]]) -> Mapping[str, str]:
        """What can be read, of the names and places."""
        files, found = self._branch.files(), {}
        for name, place in places:
            with suppress(OSError, UnicodeDecodeError):
                if place and (content := files.read(place, ARTIFACT_BYTES)) is not None:
                    found[name] = content.decode()
        return found

    def reviews(self, slug: str, most: int) -> tuple[KeptReview, ...]:
        return newest_reviews(self._branch, slug, most)

    def planning(self, slug: str) -> Planning:
        found = self._texts((path, f"{self._places.item(slug)}/{path}") for path in WRITTEN)
        names, content = self.people(), self.transcript(slug)
        return Planning(found, tuple(with_names(line, names) for line in lines.read(content)))

    def people(self) -> Names:
        """What people are called; empty where people.json cannot be read."""
        return self.known_people().names

    def known_people(self) -> PeopleFile:
        try:
            found = people.read_people(self._branch.files().read(self._places.people, META_BYTES))
        except OSError as error:
            found = PeopleFile(flaw=f"{people.UNREADABLE}{error.strerror}")
        if found.flaw and found.flaw != self._people_flaw:
            log.warning("%s", found.flaw)
        self._people_flaw = found.flaw
        return found

    def transcript(self, slug: str) -> bytes:
        return self._branch.files().read(self._places.transcript(slug), TRANSCRIPT_BYTES) or b""

    def read(self, slug: str, *, now: str, after: LastLine = NOTHING) -> LoadedItem:
        found = self.load(slug, now=now, after=after)
        if found.state is None:
            return found
        state = self._with_answers(slug, found.state)
        if trusted := self._seal.lines.trusted:
            state = state.but(old_lines=old_lines(self.transcript(slug), trusted))
        return found.but(state=state if after else self.specified(slug, state))

    def load(self, slug: str, *, now: str, after: LastLine = NOTHING) -> LoadedItem:
        """Without the specification and the answers to the open step: commits do not need them."""
        files, place = self._branch.files(), self._places.meta(slug)
        if files.folder(self._places.item(slug)) is None:
            return LoadedItem()
        content = files.read(place, META_BYTES)
        if content is None:
            gone = trouble("ERR-META-001")
            return LoadedItem(troubles=(gone,), restorable=self._branch.good_meta(slug, now) is not None)
        try:
            reading = meta.read(content, now=now)
        except meta.Corrupt as error:
            found = trouble("ERR-META-002", reason=str(error))
            return LoadedItem(troubles=(found,), restorable=self._branch.good_meta(slug, now) is not None)
        spoken = files.read(self._places.transcript(slug), TRANSCRIPT_BYTES) or b""
        ending = lines.ending(reversed(spoken.split(b"\n")))
        understood = (
            reading.meta if self._is_sealed(files, slug, reading.meta) else reading.meta.but(slack=None)
        )
        state = ItemState(
            meta=self._with_people(understood),
            scan=read_quick_scan(self.files(slug, (QUICK_SCAN,)).get(QUICK_SCAN, "")),
            last_round=ending.last.round if ending.last else 0,
            last_ts=ending.last.ts if ending.last else "",
            heard=ending.heard,
            about=ending.about,
            spent=budget.kept(ending.spent),
            codebase=self._branch.codebase(),
            commits_behind=self._branch.commits_behind(understood.codebase_hash),
            artifacts=tuple(filter(_is_artifact, files.names(self._places.item(slug)))),
            behind=not after.is_in(spoken),
            people=self.people(),
            exported=found_edits(self._branch, slug, files),
        )
        return LoadedItem(state=state, troubles=reading.troubles)

    def _with_answers(self, slug: str, state: ItemState) -> ItemState:
        """With the answers to the open step, which may be far up in the transcript."""
        rows = reversed(self.transcript(slug).split(b"\n"))
        said = open_step.answers(rows, done=state.meta.steps_completed)
        return state.but(said=tuple(self._by_person(one, state) for one in said))

    def _by_person(self, said: ThreadMessage, state: ItemState) -> ThreadMessage:
        id = self._person(state.meta, said.person.id)
        return said.but(person=said.person.but(id=id, name=state.people.get(id, said.person.name)))

    def _person(self, held: Meta, id: str) -> str:
        """Earlier versions wrote Slack's ids."""
        return self._seal.person(held.slack.team_id, id) if held.slack and _OF_SLACK.fullmatch(id) else id

    def _with_people(self, held: Meta) -> Meta:
        participants = tuple(self._person(held, id) for id in held.seats.participants)
        starter = self._person(held, held.slack.started_by) if held.slack else ""
        slack = held.slack and held.slack.but(started_by=starter)
        return held.but(slack=slack, seats=held.seats.but(participants=participants))

    def specified(self, slug: str, state: ItemState) -> ItemState:
        """With the specification that the lines give."""
        path, trusted = self._places.transcript(slug), self._seal.lines.trusted
        committed = self._branch.content(self._branch.newest_of(slug), path) or b""
        found = folded_content(self.transcript(slug), trusted, self.people(), committed=committed)
        return state.but(specification=found.specification, written=found.written)

    def known_at(self, slug: str, commit: Commit | None) -> Specification:
        """What the lines of *commit* say."""
        content = self._branch.content(commit, self._places.transcript(slug)) or b""
        return folded_content(content, self._seal.lines.trusted, self.people()).specification

    # --- listings -----------------------------------------------------------------------------------------------------

    def _listing(self, files: Files, slug: str) -> Listing:
        content = b""
        with suppress(OSError):
            content = files.read(self._places.meta(slug), META_BYTES) or b""
        try:
            understood = meta.read(content, now="").meta
        except meta.Corrupt:
            understood = Meta()
        thread, sealed = understood.slack or meta.SlackPlace(), self._is_sealed(files, slug, understood)
        title = one_line(understood.description, TITLE_CHARS) or slug
        return Listing(
            KnownItem(slug=slug, title=title, source_id=understood.source_id),
            understood.derived_status,
            len(understood.steps_completed),
            team=thread.team_id,
            channel=thread.channel_id,
            thread=thread.thread_ts,
            private=thread.private if sealed or thread.private else None,
            sealed=sealed,
        )

    def _is_sealed(self, files: Files, slug: str, understood: Meta) -> bool:
        home = understood.slack
        if home is None or not home.seal:
            return False
        return self._seal.is_valid(slug, home, chain=self._chain(files, slug))

    def others_with_chain_of(self, slug: str) -> tuple[str, ...]:
        """The other folders with a transcript of the same chain."""
        files = self._branch.files()
        if not (chain := self._chain(files, slug)):
            return ()
        names = (name for name, _ in files.folders(self._places.items_dir) if name != slug)
        return tuple(name for name in names if self._chain(files, name) == chain)

    def _chain(self, files: Files, slug: str) -> str:
        """Empty where no line has a good seal."""
        entry = files.entry(self._places.transcript(slug))
        if entry is None:
            return ""
        known = self._chains.get(slug)
        if known is None or known[0] != entry.id:
            content = b""
            with suppress(OSError):
                content = files.read(self._places.transcript(slug), TRANSCRIPT_BYTES) or b""
            found = chain_in(reversed(content.split(b"\n")), self._seal.lines.trusted)
            known = self._chains[slug] = entry.id, found
        return known[1]

    def _as_held_before(self, listed: Listing) -> Listing:
        """
        A push may take the channel out of meta.json, but a private item stays private: what a commit of ours said last
        counts, and what we signed before what anyone may have written.
        """
        slug = listed.known.slug
        commits = self._branch.commits_of(slug)
        if not commits:
            return listed
        known = self._held_before.get(slug)
        if known is None or known[0] != commits[0]:
            known = self._held_before[slug] = commits[0], self._held_in(slug, commits)
        before = known[1]
        if before is None:
            return listed
        return listed._replace(team=before.team, channel=before.channel, private=before.private)

    def _held_in(self, slug: str, commits: Iterable[Oid]) -> Listing | None:
        unsigned = None
        for commit in commits:
            files = self._branch.at(self._branch.repository[commit].peel(Commit))
            found = self._listing(files, slug)
            if found.sealed:
                return found
            unsigned = unsigned or (found if found.channel else None)
        return unsigned


def _is_artifact(name: str) -> bool:
    return safe_path(name) and "." in name and not ASIDE.search(name) and artifacts.original(name) == name


def slugs_at_tip(root: Path, items_dir: str) -> tuple[str, ...]:
    """The items of what is checked out, without opening the workspace. Raises ConfigError."""
    return tuple(slug for slug, _ in files_at_tip(root).folders(items_dir))


# --- for `roundtable check` -------------------------------------------------------------------------------------------


class WorkspaceInspection(NamedTuple):
    """
    `begun` is whether there is a repository already. *notes* say what a person should know: files that differ in the
    checkout, and another branch than that of the bot.
    """

    items: int
    branch: str
    begun: bool
    notes: tuple[str, ...] = ()


def inspected(root: Path, items_dir: str) -> WorkspaceInspection:
    """Looks at a workspace without changing it. Raises ConfigError when the bot could not work here."""
    repository = existing_repository(root)
    _must_be_writable(root)
    if repository is None:
        return WorkspaceInspection(0, INITIAL_BRANCH, begun=False)
    refuse_state_in_git(repository, root)
    _must_be_writable(Path(repository.path))
    here = usable_branch(repository, root, items_dir)
    files = Files(repository, tip(repository))
    notes = tuple(_notes(repository, root, items_dir, here))
    count = sum(1 for _ in files.folders(items_dir))
    return WorkspaceInspection(count, here.removeprefix(BRANCHES), begun=True, notes=notes)


def _notes(repository: pygit2.Repository, root: Path, items_dir: str, here: str) -> Iterator[str]:
    refs, now = repository.references, here.removeprefix(BRANCHES)
    ours = (name for name in refs if name.startswith(LAST))
    newest = max(ours, key=lambda name: refs[name].peel(Commit).commit_time, default="")
    before = unquote(newest.removeprefix(LAST))
    if newest and before != now:
        yield f"{now} is checked out, and a bot that runs goes on to commit to {one_line(before)}."
    if repository.is_bare or repository.head_is_unborn:
        return
    with suppress(OSError, TimeoutError):
        said = Git(root).at_once("diff", "--name-only", "-z", "HEAD", "--", items_dir, SHARED)
        for path in filter(None, said.out.split("\0")):
            yield f"{one_line(path)} has changes that are not committed, so the bot does not read them."


def _must_be_writable(place: Path) -> None:
    """Or, if it does not exist, the folder in which it would be made."""
    nearest = next(folder for folder in (place, *place.parents) if folder.exists())
    if not nearest.is_dir():
        raise ConfigError(f"the workspace {str(place)!r} cannot be used: {nearest} is not a folder")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise ConfigError(
            f"the workspace {str(place)!r} cannot be used: {os.strerror(errno.EACCES)}: {nearest}"
        )
    if not os.statvfs(nearest).f_bavail:
        raise ConfigError(f"the workspace {str(place)!r} cannot be used: {os.strerror(errno.ENOSPC)}")
