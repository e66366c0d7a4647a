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

from bot.domain.item.item_paths import SHARED, SPECIFICATION
from bot.domain.specification.snapshot import HASH, hash_of, laid_out
from bot.domain.transcript import lines as transcripts
from bot.domain.transcript import scrubbing
from bot.domain.transcript.scrubbing import Redacting, ScrubbedFile
from bot.domain.transcript.seal import chain_in
from bot.domain.values.json_files import parse
from bot.errors import WorkspaceError
from bot.files import TooLarge
from bot.storage.git.branch import Branch, CommitDraft
from bot.storage.git.command import explained
from bot.storage.git.seal import Seal
from bot.storage.git.sync import FETCHED, JOINED
from bot.storage.git.tree import COMMITS_LOOKED_AT, ITEM, LOCK_SECONDS, SHORT, message_of
from bot.storage.git.work import scrub_unpushed
from bot.storage.git.workspace import Writer

ELSEWHERE = ("refs/remotes/", FETCHED, JOINED)
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
    """Commits on the tip of the branch; what is in no commit is not looked at. Raises WorkspaceError."""

    def __init__(
        self,
        root: Path,
        *,
        items_dir: str,
        redact: Redacting,
        lock_seconds: float = LOCK_SECONDS,
        seal: Seal | None = None,
    ) -> None:
        self._redact = redact
        self._branch = Branch(root.absolute(), items_dir, lock_seconds=lock_seconds)
        self._repository = self._branch.repository
        self._writer = Writer(self._branch, seal or Seal())
        self._places = self._branch.places
        self._clean: dict[Oid, bool] = {}
        """By the id of a file or a folder in git: whether it contains no secret."""
        self._clean_rows: set[bytes] = set()

    def scrub(self, slug: str, *, now: str) -> ScrubResult:
        large: list[str] = []
        changed: dict[str, ScrubbedFile] = {}

        def build(tip: Commit | None) -> tuple[Commit | None, str]:
            large.clear()
            changed.clear()
            changed.update((path, found) for path, found in self._scrubbed(slug, tip, large) if found.kinds)
            if not changed:
                return tip, ""
            made = self._branch.build(tip, CommitDraft(self._files(slug, changed, now), _message(slug), now))
            return made, str(made.id)[:SHORT]

        with explained():
            sha = self._writer.advance(build, "scrub secrets")
            scrub_unpushed(self._branch, self._redact)
            here, pushed = self._still_holding(slug)
        kinds = {path: found.kinds for path, found in changed.items()}
        return ScrubResult(kinds, sha, here, pushed, tuple(large))

    def _scrubbed(
        self, slug: str, tip: Commit | None, large: list[str]
    ) -> Iterator[tuple[str, ScrubbedFile]]:
        files = self._writer.worker.files(tip)
        for path in (found for top in self._paths(slug) for found in files.below(top)):
            try:
                content = files.read(path, LARGEST_BYTES)
            except TooLarge:
                large.append(path)
            else:
                if content is not None:
                    yield path, _file(content, self._redact, name=path.rpartition("/")[2])

    def _files(self, slug: str, changed: dict[str, ScrubbedFile], now: str) -> dict[str, bytes | None]:
        snapshot = changed.get(self._places.specification(slug))
        facts = {HASH: hash_of(snapshot.content)} if snapshot else {}
        files: dict[str, bytes | None] = {path: found.content for path, found in changed.items()}
        if found := changed.get(place := self._places.transcript(slug)):
            lines, rows = self._writer.worker.lines, found.content.split(b"\n")
            if any(one.reads for one in found.lines) and not chain_in(reversed(rows), lines.trusted):
                raise WorkspaceError(OTHER_KEY, reason="key")
            last = transcripts.ending(reversed(rows)).last
            note = scrubbing.note(found.lines, last=last, now=now, facts=facts)
            files[place] = lines.append(found.content, [note])
        return files

    def _paths(self, slug: str) -> tuple[str, ...]:
        """Of an item: its folder, and the files that all items share."""
        return self._places.item(slug), SHARED, self._places.people

    def _still_holding(self, slug: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Commits on our branch that contain a secret: those only here, and those that a remote has."""
        newest = self._branch.tip()
        if newest is None:
            return (), ()
        elsewhere = set(self._walk(*self._elsewhere()))
        here: list[str] = []
        pushed: list[str] = []
        for sha in self._walk(newest.id):
            tree = self._repository[sha].peel(Commit).tree
            if not all(self._is_clean(tree[path]) for path in self._paths(slug) if path in tree):
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


def _message(slug: str) -> str:
    return message_of(f"roundtable({slug}): scrub secrets", (f"{ITEM}: {slug}",))
