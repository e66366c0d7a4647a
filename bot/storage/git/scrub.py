"""
Removes secrets from the files of an item, in a commit of its own, and finds the commits that still contain them.

History is not rewritten: other clones would keep it, and a secret that was committed has to be changed anyway.
"""

from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pygit2
from pygit2 import Commit, Oid, Tree
from pygit2.enums import SortMode

from bot.domain.item.artifacts import SPECIFICATION
from bot.domain.specification.snapshot import HASH, hash_of, laid_out
from bot.domain.transcript import lines as transcripts
from bot.domain.transcript import scrubbing
from bot.domain.transcript.scrubbing import Redacting, ScrubbedFile
from bot.domain.values.json_files import parse
from bot.errors import WorkspaceError
from bot.files import DEEPEST, TEMPORARY, Folder, TooLarge, folder
from bot.storage.git.checkout import AUTHOR, EMAIL, Checkout, CheckoutConfig
from bot.storage.git.command import explained
from bot.storage.git.history import COMMITS_LOOKED_AT, ITEM, SHORT
from bot.storage.git.items import FilePlace, Items
from bot.storage.git.lock import LOCK_SECONDS
from bot.storage.git.repository import CommitDraft, open_repository, tip
from bot.storage.git.seal import Seal
from bot.storage.git.sync import FETCHED

ELSEWHERE = ("refs/remotes/", FETCHED)
"""The references to branches of remotes."""
OTHER_KEY = (
    "The transcript is sealed by a key that is not set here. Set ROUNDTABLE_SEAL_KEY or SLACK_BOT_TOKEN as the bot has"
    " it: else the bot takes the change for damage and puts the words back."
)
LARGEST_BYTES = 64 * 1024 * 1024


class ScrubResult(NamedTuple):
    """
    *files* are the kinds of secrets found, by path in the workspace; *sha* is the commit that removes them. *here* and
    *pushed* are commits that still contain a secret, newest first. *large* are files that are too large to be read.
    """

    files: dict[str, tuple[str, ...]]
    sha: str
    here: tuple[str, ...]
    pushed: tuple[str, ...]
    large: tuple[str, ...]


class Scrubber:
    """Waits for other programs that write to the workspace. Raises WorkspaceError."""

    def __init__(
        self,
        root: Path,
        *,
        items_dir: str,
        redact: Redacting,
        lock_seconds: float = LOCK_SECONDS,
        seal: Seal | None = None,
    ) -> None:
        where = CheckoutConfig(root.absolute(), items_dir, AUTHOR, EMAIL, lock_seconds, seal or Seal())
        self._where = where
        self._redact = redact
        self._repository = open_repository(where.root)
        self._checkout = Checkout(where)
        self._items = Items(where.root, where.items_dir, where.seal)
        self._clean: dict[Oid, bool] = {}
        """By the id of a file or a folder in git: whether it contains no secret."""
        self._clean_rows: set[bytes] = set()

    def scrub(self, slug: str, *, now: str) -> ScrubResult:
        large: list[str] = []
        with explained(), self._checkout.alone(slug):
            changed = {
                place: found for place, found in self._scrubbed(self._places(slug), large) if found.kinds
            }
            drafts = [CommitDraft(self._write(slug, changed, now), _message(slug), now)] if changed else []
            self._checkout.commit_files([draft for draft in drafts if draft.files])
            newest = tip(self._repository)
        with explained():
            here, pushed = self._still_holding(slug)
        return ScrubResult(
            {place.path: found.kinds for place, found in changed.items()},
            str(newest.id)[:SHORT] if newest and any(draft.files for draft in drafts) else "",
            here,
            pushed,
            tuple(large),
        )

    def _places(self, slug: str) -> Iterator[FilePlace]:
        for path in self._items.paths(slug):
            names = tuple(path.split("/"))
            if path.endswith(".md"):
                yield FilePlace(names[:-1], names[-1])
            else:
                with (
                    suppress(FileNotFoundError, NotADirectoryError),
                    folder(self._where.root, names) as found,
                ):
                    yield from _below(found, names)

    def _scrubbed(
        self, places: Iterator[FilePlace], large: list[str]
    ) -> Iterator[tuple[FilePlace, ScrubbedFile]]:
        for place in places:
            content = None
            with suppress(FileNotFoundError), self._items.folder_of(place) as found:
                try:
                    content = found.read(place.name, most=LARGEST_BYTES)
                except TooLarge:
                    large.append(place.path)
            if content is not None:
                yield place, _file(content, self._redact, name=place.name)

    def _write(self, slug: str, changed: dict[FilePlace, ScrubbedFile], now: str) -> dict[str, bytes | None]:
        """Write the files. Returns those for the commit: files that git does not track stay untracked."""
        record = self._items.transcript_file(slug)
        path = self._items.specification_file(slug).path
        snapshot = next((found for place, found in changed.items() if place.path == path), None)
        facts = {HASH: hash_of(snapshot.content)} if snapshot else {}
        files: dict[str, bytes | None] = {}
        for place, found in changed.items():
            content = found.content
            if place.path == record.path:
                last = transcripts.ending(reversed(content.split(b"\n"))).last
                note = scrubbing.note(found.lines, last=last, now=now, facts=facts)
                if any(one.reads for one in found.lines) and not self._items.chain(slug):
                    raise WorkspaceError(OTHER_KEY, reason="key")
                content = self._items.seal.lines.append(content, [note])
            with self._items.folder_of(place) as inside:
                inside.replace(place.name, content)
            if self._is_tracked(place.path):
                files[place.path] = content
        return files

    def _is_tracked(self, path: str) -> bool:
        newest = tip(self._repository)
        return newest is not None and path in newest.tree

    def _still_holding(self, slug: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Commits on our branch that contain a secret: those only here, and those that a remote has."""
        newest = tip(self._repository)
        if newest is None:
            return (), ()
        elsewhere = set(self._walk(*self._elsewhere()))
        here: list[str] = []
        pushed: list[str] = []
        for sha in self._walk(newest.id):
            tree = self._repository[sha].peel(Commit).tree
            if not all(self._is_clean(tree[path]) for path in self._items.paths(slug) if path in tree):
                (pushed if sha in elsewhere else here).append(str(sha)[:SHORT])
        return tuple(here), tuple(pushed)

    def _elsewhere(self) -> list[Oid]:
        names = [name for name in self._repository.references if name.startswith(ELSEWHERE)]
        found = [self._repository.references[name].resolve().peel() for name in names]
        return [one.id for one in found if isinstance(one, Commit)]

    def _walk(self, *tips: Oid) -> Iterator[Oid]:
        if not tips:
            return
        walker = self._repository.walk(tips[0], SortMode.TOPOLOGICAL)
        for one in tips[1:]:
            walker.push(one)
        yield from (commit.id for commit in islice(walker, COMMITS_LOOKED_AT))

    def _is_clean(self, found: pygit2.Object) -> bool:
        known = self._clean.get(found.id)
        if known is None:
            if isinstance(found, Tree):
                known = all(map(self._is_clean, found))
            else:
                known = not isinstance(found, pygit2.Blob) or self._has_no_secret(str(found.name), found)
            self._clean[found.id] = known
        return known

    def _has_no_secret(self, name: str, blob: pygit2.Blob) -> bool:
        """A transcript grows with each commit, so each row is checked once."""
        if blob.size > LARGEST_BYTES:
            return True
        if not name.endswith(".jsonl"):
            return not _file(blob.data, self._redact, name=name).kinds
        fresh = [row for row in blob.data.split(b"\n") if row not in self._clean_rows]
        if scrubbing.transcript(b"\n".join(fresh), self._redact).kinds:
            return False
        self._clean_rows.update(fresh)
        return True


def _file(content: bytes, redact: Redacting, *, name: str) -> ScrubbedFile:
    """The names in specification.json are headings and ids, and say nothing about a value."""
    if name == SPECIFICATION:
        with suppress(ValueError):
            kinds, value = scrubbing.redacted(parse(content.decode()), redact)
            return ScrubbedFile(laid_out(value).encode(), kinds) if kinds else ScrubbedFile(content)
    return scrubbing.file(content, redact, name=name)


def _below(found: Folder, names: tuple[str, ...]) -> Iterator[FilePlace]:
    yield from (FilePlace(names, name) for name in found.files() if name != TEMPORARY)
    for name in found.folders() if len(names) < DEEPEST else ():
        with found.below(name) as inner:
            yield from _below(inner, (*names, name))


def _message(slug: str) -> str:
    return f"roundtable({slug}): scrub secrets\n\n{ITEM}: {slug}\n"
