"""
Takes secrets, a person or an item out of the files of items, in commits on the tip of the branch.

History is not rewritten: other clones would keep it, it may be that of a company's code, and a secret has to be changed
anyway. The commits or blobs that still have it are named, for a program that rewrites them. What is in no commit is not
looked at.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pygit2
from pygit2 import Blob, Commit, Oid, Tree
from pygit2.enums import SortMode

from bot.domain.item.item_paths import SHARED, SPECIFICATION
from bot.domain.specification.exported import item_of
from bot.domain.specification.snapshot import HASH, hash_of, laid_out
from bot.domain.transcript import lines as transcripts
from bot.domain.transcript import people, scrubbing
from bot.domain.transcript.forgetting import Forgetting, ForgottenFiles
from bot.domain.transcript.people import PEOPLE_FILE, Names
from bot.domain.transcript.scrubbing import Redacting, ScrubbedFile
from bot.domain.transcript.seal import chain_in
from bot.domain.values.json_files import parse
from bot.engine.ports import Exports
from bot.errors import WorkspaceError
from bot.files import ARTIFACT_BYTES, META_BYTES, TooLarge
from bot.storage.git.branch import Branch, CommitDraft
from bot.storage.git.command import explained
from bot.storage.git.history import due_exports
from bot.storage.git.seal import Seal
from bot.storage.git.sync import FETCHED, JOINED
from bot.storage.git.tree import COMMITS_LOOKED_AT, ITEM, SHORT, TRANSCRIPT, Files, message_of
from bot.storage.git.work import drop_unpushed_of, scrub_unpushed
from bot.storage.git.workspace import Writer

ERASED = "Roundtable-Erased"
PERSON_COMMIT, ITEM_COMMIT, SECRET_COMMIT = "forget a person", "forget an item", "scrub secrets"
ELSEWHERE = ("refs/remotes/", FETCHED, JOINED)
"""The references to branches of remotes."""
OTHER_KEY = (
    "The transcript is sealed by a key that is not set here. Set ROUNDTABLE_SEAL_KEY or SLACK_BOT_TOKEN as the bot has"
    " it: else the bot takes the change for damage and puts the words back."
)
LARGEST_BYTES = 64 * 1024 * 1024

Found = Mapping[str, bytes]
"""The files of an item by their path in its folder, and the one that items share."""
Rewrite = Callable[[str, Found, Names, Names], ForgottenFiles]
"""Of the item with these files: what they become when people are called otherwise."""


class _Erasing:
    """Raises WorkspaceError."""

    def __init__(self, root: Path, *, items_dir: str, seal: Seal, exports: Exports | None = None) -> None:
        self._branch = Branch(root.absolute(), items_dir, exports=exports)
        self._repository = self._branch.repository
        self._writer = Writer(self._branch, seal)
        self._places = self._branch.places
        self._of_exports: dict[Oid, frozenset[str]] = {}
        """By the id of a folder in git: the items that files in it are exported from."""

    def _tops(self, files: Files, *slugs: str) -> tuple[str, ...]:
        """The folders of items and of their exports, and the files that all items share."""
        folders = (folder for slug in slugs for folder in self._export_folders(files, slug))
        shared = SHARED, self._places.people, *self._copies_of_people(files)
        return *map(self._places.item, slugs), *folders, *shared

    def _export_folders(self, files: Files, slug: str) -> Iterator[str]:
        """Folders of others may have the same name."""
        for place in self._branch.exports.folders(slug) if self._branch.exports else ():
            if (found := files.folder(place)) is None:
                continue
            if found.id not in self._of_exports:
                texts = (self._text(files, path) for path in files.below(place))
                self._of_exports[found.id] = frozenset(map(item_of, texts))
            if slug in self._of_exports[found.id]:
                yield place

    def _exported_files(self, files: Files, slug: str) -> Iterator[str]:
        """
        One in which others changed something is never in a commit with the trailer of the item: it would count as
        written by us, and be replaced by the next one.
        """
        for place in self._export_folders(files, slug):
            yield from files.below(place)

    def _text(self, files: Files, path: str) -> str:
        with suppress(TooLarge):
            return (files.read(path, ARTIFACT_BYTES) or b"").decode(errors="replace")
        return ""

    def _copies_of_people(self, files: Files) -> Iterator[str]:
        """Of a people.json that could not be read."""
        for name in files.names(self._places.items_dir):
            if name.startswith(f"{PEOPLE_FILE}.corrupt-"):
                yield f"{self._places.items_dir}/{name}"

    def _tips(self, *names: str) -> list[Oid]:
        """The commits of references that begin with one of *names*."""
        found = [name for name in self._repository.references if name.startswith(names)]
        commits = [self._repository.references[name].resolve().peel() for name in found]
        return [commit.id for commit in commits if isinstance(commit, Commit)]

    def _walk(self, tips: Iterable[Oid]) -> Iterator[Commit]:
        """The commits that lead to *tips*, the newest first."""
        if first := next(tips := iter(tips), None):
            walker = self._repository.walk(first, SortMode.TOPOLOGICAL)
            for tip in tips:
                walker.push(tip)
            yield from walker

    def _must_be_ours(self, rows: list[bytes]) -> None:
        """Else the changed lines would not be sealed, and count as damage."""
        if not chain_in(reversed(rows), self._writer.worker.lines.trusted):
            raise WorkspaceError(OTHER_KEY, reason="key")


# --- secrets ----------------------------------------------------------------------------------------------------------


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


class Scrubber(_Erasing):
    def __init__(
        self, root: Path, *, items_dir: str, redact: Redacting, seal: Seal, exports: Exports | None = None
    ) -> None:
        super().__init__(root, items_dir=items_dir, seal=seal, exports=exports)
        self._redact = redact
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
            files, at = self._files(slug, changed, now), self._branch.at(tip)
            due = due_exports(self._branch, slug, at, files).files
            theirs = {path: files.pop(path) for path in self._exported_files(at, slug) if path in changed}
            files |= {path: due[path].encode("utf-8", "replace") for path in theirs if path in due}
            message = message_of(f"roundtable({slug}): {SECRET_COMMIT}", (f"{ITEM}: {slug}",))
            made = self._branch.build(tip, CommitDraft(files, message, now))
            theirs = {path: content for path, content in theirs.items() if path not in due}
            message = message_of(f"roundtable: {SECRET_COMMIT}", ())
            made = self._branch.build(made, CommitDraft(theirs, message, now)) if theirs else made
            return made, str(made.id)[:SHORT]

        with explained():
            sha = self._writer.advance(build, SECRET_COMMIT)
            scrub_unpushed(self._branch, self._redact)
            here, pushed = self._still_holding(slug)
        kinds = {path: found.kinds for path, found in changed.items()}
        return ScrubResult(kinds, sha, here, pushed, tuple(large))

    def _scrubbed(
        self, slug: str, tip: Commit | None, large: list[str]
    ) -> Iterator[tuple[str, ScrubbedFile]]:
        files = self._branch.at(tip)
        for path in (found for top in self._tops(files, slug) for found in files.below(top)):
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
            rows = found.content.split(b"\n")
            if any(line.reads for line in found.lines):
                self._must_be_ours(rows)
            last = transcripts.ending(reversed(rows)).last
            note = scrubbing.note(found.lines, last=last, now=now, facts=facts)
            files[place] = self._writer.worker.lines.append(found.content, [note])
        return files

    def _still_holding(self, slug: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Commits on our branch that contain a secret: those only here, and those that a remote has."""
        newest = self._branch.tip()
        elsewhere = {commit.id for commit in islice(self._walk(self._tips(*ELSEWHERE)), COMMITS_LOOKED_AT)}
        here: list[str] = []
        pushed: list[str] = []
        for commit in islice(self._walk([newest.id] if newest else []), COMMITS_LOOKED_AT):
            found = self._tops(self._branch.at(commit), slug)
            tops = (commit.tree[path] for path in found if path in commit.tree)
            if not all(map(self._is_clean, tops)):
                (pushed if commit.id in elsewhere else here).append(str(commit.id)[:SHORT])
        return tuple(here), tuple(pushed)

    def _is_clean(self, found: pygit2.Object) -> bool:
        known = self._clean.get(found.id)
        if known is None:
            if isinstance(found, Tree):
                known = all(map(self._is_clean, found))
            else:
                known = not isinstance(found, Blob) or self._has_no_secret(str(found.name), found)
            self._clean[found.id] = known
        return known

    def _has_no_secret(self, name: str, blob: Blob) -> bool:
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


# --- a person, or an item ---------------------------------------------------------------------------------------------


class PersonForgotten(NamedTuple):
    """*items* are those in which something changed, *sha* is the newest commit; empty where there was nothing to do."""

    items: Mapping[str, ForgottenFiles]
    sha: str


class Forgetter(_Erasing):
    def recover(self) -> None:
        """The checkout follows the branch, if a process was killed before it did."""
        with explained():
            self._writer.recover()

    def known_people(self) -> people.PeopleFile:
        """Raises WorkspaceError where it cannot be read."""
        return self._people(self._branch.files())

    def slugs(self) -> tuple[str, ...]:
        return tuple(slug for slug, _ in self._branch.files().folders(self._places.items_dir))

    def item_files(self, slug: str) -> dict[str, bytes]:
        """The files of the item at the tip."""
        return self._found(self._branch.files(), slug)

    def exported_files(self, slug: str) -> tuple[str, ...]:
        """The paths of what is exported of the item, at the tip."""
        return tuple(self._exported_files(self._branch.files(), slug))

    def person(
        self, whom: Forgetting, rewrite: Rewrite, *, now: str, only: Iterable[str] = ()
    ) -> PersonForgotten:
        """In *only* these items; else in all of them. The name stays of a person whose words are only too old."""
        made: dict[str, ForgottenFiles] = {}

        def build(tip: Commit | None) -> tuple[Commit | None, str]:
            made.clear()
            known = self._people(self._branch.at(tip))
            after = known if whom.is_old else people.without_person(known, whom.person, on=whom.on)
            newest: Commit | None = tip
            copies = () if whom.is_old else self._copies_of_people(self._branch.at(tip))
            named: dict[str, bytes | None] = dict.fromkeys(copies)
            if after is not known:
                named[self._places.people] = people.text_of(after)
            if named:
                newest = self._commit(newest, whom, named, "", now)
            for slug in only or self.slugs():
                at = self._branch.at(newest)
                found = self._found(at, slug)
                made[slug] = rewrite(slug, found, known.names, after.names)
                files = self._paths(slug, made[slug].files)
                rows = found.get(TRANSCRIPT, b"").split(b"\n") if files else []
                if any(b'"seal"' in row for row in rows):
                    self._must_be_ours(rows)
                hide = made[slug].hide
                ours, theirs = self._exported(slug, at, files, hide) if hide else ({}, {})
                if files := {**files, **ours}:
                    newest = self._commit(newest, whom, files, slug, now)
                if theirs:
                    newest = self._commit(newest, whom, theirs, "", now)
            return newest, str(newest.id)[:SHORT] if newest and newest != tip else ""

        with explained():
            sha = self._writer.advance(build, PERSON_COMMIT)
        return PersonForgotten({slug: item for slug, item in made.items() if item.files or item.typed}, sha)

    def item(self, slug: str, shared: Callable[[str], str], *, now: str) -> str:
        """The commit that removes the item; empty if there is none. *shared* is what the file of all items becomes."""

        def build(tip: Commit | None) -> tuple[Commit | None, str]:
            files = self._branch.at(tip)
            item, exported = files.below(self._places.item(slug)), self._exported_files(files, slug)
            gone: dict[str, bytes | None] = dict.fromkeys((*item, *exported))
            if not gone:
                return tip, ""
            content = files.read(SHARED, LARGEST_BYTES)
            if content is not None:
                text = shared(content.decode("utf-8", "surrogateescape"))
                gone[SHARED] = text.encode("utf-8", "surrogateescape")
            message = message_of(f"roundtable: {ITEM_COMMIT}", (f"{ITEM}: {slug}", f"{ERASED}: {slug}"))
            made = self._branch.build(tip, CommitDraft(gone, message, now))
            return made, str(made.id)[:SHORT]

        with explained():
            drop_unpushed_of(self._branch, slug)  # first: without the item, a second run begins nothing
            return self._writer.advance(build, ITEM_COMMIT)

    def hide_unpushed(self, redact: Redacting) -> None:
        """In what would be applied again on the tip of a remote."""
        with explained():
            scrub_unpushed(self._branch, redact)

    def earlier(self, slugs: Iterable[str]) -> tuple[str, ...]:
        """The ids of all that the history of any branch has of the items, and of what they share, but not the tip."""
        slugs, tip = tuple(slugs), self._branch.tip()
        kept = set(_below(tip.tree)) if tip else set()  # another file may have the same content
        found: dict[str, None] = {}
        for commit in self._walk(self._tips("refs/")):
            for top in self._tops(self._branch.at(commit), *slugs):
                below = _below(commit.tree[top]) if top in commit.tree else ()
                found |= dict.fromkeys(str(id) for id in below if id not in kept)
        return tuple(found)

    def _commit(
        self, parent: Commit | None, whom: Forgetting, files: Mapping[str, bytes | None], slug: str, now: str
    ) -> Commit:
        subject = f"roundtable({slug}): {PERSON_COMMIT}" if slug else f"roundtable: {PERSON_COMMIT}"
        what = "words" if whom.words else "name"
        item = (f"{ITEM}: {slug}",) if slug else ()
        message = message_of(subject, (*item, f"{ERASED}: {whom.person} {what}"))
        return self._branch.build(parent, CommitDraft(files, message, now))

    def _people(self, files: Files) -> people.PeopleFile:
        known = people.read_people(files.read(self._places.people, META_BYTES))
        if known.flaw:
            raise WorkspaceError(known.flaw, reason="io")
        return known

    def _found(self, files: Files, slug: str) -> dict[str, bytes]:
        top = f"{self._places.item(slug)}/"
        paths = {path.removeprefix(top): path for path in files.below(top.rstrip("/"))}
        contents = {name: files.read(path, LARGEST_BYTES) for name, path in {**paths, SHARED: SHARED}.items()}
        return {name: content for name, content in contents.items() if content is not None}

    def _exported(
        self, slug: str, at: Files, changed: Mapping[str, bytes | None], hide: Redacting
    ) -> tuple[dict[str, bytes], dict[str, bytes]]:
        """What is exported already, as it is due now; and files that others changed, without what has to go."""
        due = due_exports(self._branch, slug, at, changed).files
        there = {path: at.read(path, LARGEST_BYTES) or b"" for path in self._exported_files(at, slug)}
        ours = {path: due[path].encode("utf-8", "replace") for path in there if path in due}
        hidden = {path: scrubbing.file(text, hide, name=path).content for path, text in there.items()}
        theirs = {path: text for path, text in hidden.items() if path not in due and text != there[path]}
        return {path: text for path, text in ours.items() if text != there[path]}, theirs

    def _paths(self, slug: str, files: Mapping[str, bytes]) -> dict[str, bytes | None]:
        item = self._places.item(slug)
        return {name if name == SHARED else f"{item}/{name}": content for name, content in files.items()}


def _below(found: pygit2.Object) -> Iterator[Oid]:
    if isinstance(found, Tree):
        for entry in found:
            yield from _below(entry)
    elif isinstance(found, Blob):
        yield found.id
