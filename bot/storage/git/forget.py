"""
Forgets a person or an item in the workspace: commits that take them out of the tip, in one move of the branch.

History is not rewritten: the repository may hold a company's code. What the history still has can be listed by the ids
of its blobs, for a program that takes them out.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pygit2
from pygit2 import Blob, Commit, Oid, Tag, Tree

from bot.domain.item.item_paths import SHARED
from bot.domain.transcript import people
from bot.domain.transcript.forgetting import Forgetting, ForgottenFiles
from bot.domain.transcript.people import Names
from bot.domain.transcript.scrubbing import Redacting
from bot.domain.transcript.seal import chain_in
from bot.errors import WorkspaceError
from bot.files import META_BYTES
from bot.storage.git.branch import Branch, CommitDraft
from bot.storage.git.command import explained
from bot.storage.git.scrub import LARGEST_BYTES, OTHER_KEY
from bot.storage.git.seal import Seal
from bot.storage.git.tree import ITEM, LOCK_SECONDS, SHORT, Files, message_of
from bot.storage.git.work import drop_unpushed_of, scrub_unpushed
from bot.storage.git.workspace import Writer

ERASED = "Roundtable-Erased"
PERSON_COMMIT, ITEM_COMMIT = "forget a person", "forget an item"

Found = Mapping[str, bytes]
"""The files of an item by their path in its folder, and the one that items share."""
Rewrite = Callable[[str, Found, Names, Names], ForgottenFiles]
"""Of the item with these files: what they become when people are called otherwise."""


class PersonForgotten(NamedTuple):
    """*items* are those in which something changed, *sha* is the newest commit; empty where there was nothing to do."""

    items: Mapping[str, ForgottenFiles]
    sha: str


class Forgetter:
    """On the tip of the branch; what is in no commit is not looked at. Raises WorkspaceError."""

    def __init__(self, root: Path, *, items_dir: str, seal: Seal, lock_seconds: float = LOCK_SECONDS) -> None:
        self._branch = Branch(root.absolute(), items_dir, lock_seconds=lock_seconds)
        self._writer = Writer(self._branch, seal)
        self._places = self._branch.places

    def known_people(self) -> people.PeopleFile:
        """Raises WorkspaceError where it cannot be read."""
        return self._people(self._branch.files())

    def slugs(self) -> tuple[str, ...]:
        return tuple(slug for slug, _ in self._branch.files().folders(self._places.items_dir))

    def item_files(self, slug: str) -> dict[str, bytes]:
        """The files of the item at the tip."""
        return self._found(self._branch.files(), slug)

    def person(
        self, whom: Forgetting, rewrite: Rewrite, *, now: str, only: Iterable[str] = ()
    ) -> PersonForgotten:
        """In *only* these items; else in all of them. The name stays of a person whose words are only too old."""
        made: dict[str, ForgottenFiles] = {}

        def build(tip: Commit | None) -> tuple[Commit | None, str]:
            made.clear()
            known = self._people(self._branch.files(tip))
            after = known if whom.is_old else people.without_person(known, whom.person, on=whom.on)
            newest: Commit | None = tip
            if after is not known:
                newest = self._commit(newest, whom, {self._places.people: people.text_of(after)}, "", now)
            for slug in only or self.slugs():
                found = self._found(self._branch.files(newest), slug)
                made[slug] = rewrite(slug, found, known.names, after.names)
                if files := self._paths(slug, made[slug].files):
                    self._must_be_ours(found)
                    newest = self._commit(newest, whom, files, slug, now)
            return newest, str(newest.id)[:SHORT] if newest and newest != tip else ""

        with explained():
            sha = self._writer.advance(build, PERSON_COMMIT)
        return PersonForgotten({slug: one for slug, one in made.items() if one.files or one.typed}, sha)

    def item(self, slug: str, shared: Callable[[str], str], *, now: str) -> str:
        """The commit that removes the item; empty if there is none. *shared* is what the file of all items becomes."""

        def build(tip: Commit | None) -> tuple[Commit | None, str]:
            files = self._branch.files(tip)
            gone: dict[str, bytes | None] = dict.fromkeys(files.below(self._places.item(slug)))
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
            sha = self._writer.advance(build, ITEM_COMMIT)
            drop_unpushed_of(self._branch, slug)
        return sha

    def hide_unpushed(self, redact: Redacting) -> None:
        """In what would be applied again on the tip of a remote."""
        with explained():
            scrub_unpushed(self._branch, redact)

    def earlier(self, slugs: Iterable[str]) -> tuple[str, ...]:
        """The ids of all that the history of any branch has of the items, and of what they share, but not the tip."""
        tops = (*map(self._places.item, slugs), self._places.people, SHARED)
        tip = self._branch.tip()
        kept = set(_blobs(tip.tree, tops)) if tip else set()
        found: dict[str, None] = {}
        for commit in self._commits():
            found |= dict.fromkeys(str(id) for id in _blobs(commit.tree, tops) if id not in kept)
        return tuple(found)

    def _commits(self) -> Iterator[Commit]:
        repository, todo, seen = self._branch.repository, list[Oid](), set[Oid]()
        for name in repository.references:
            target = repository.references[name].resolve().target
            pointed: object = repository.get(target)
            while isinstance(pointed, Tag):
                pointed = pointed.get_object()
            todo += [pointed.id] if isinstance(pointed, Commit) else []
        while todo:
            if (id := todo.pop()) not in seen:
                seen.add(id)
                commit = repository[id].peel(Commit)
                yield commit
                todo += commit.parent_ids

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
        found = {path.removeprefix(top): path for path in files.below(top.rstrip("/"))}
        contents = {name: files.read(path, LARGEST_BYTES) for name, path in {**found, SHARED: SHARED}.items()}
        return {name: content for name, content in contents.items() if content is not None}

    def _paths(self, slug: str, files: Mapping[str, bytes]) -> dict[str, bytes | None]:
        return {
            name if name == SHARED else f"{self._places.item(slug)}/{name}": one
            for name, one in files.items()
        }

    def _must_be_ours(self, found: Found) -> None:
        rows = found.get("planning/meeting.jsonl", b"").split(b"\n")
        if any(b'"seal"' in row for row in rows) and not chain_in(
            reversed(rows), self._writer.worker.lines.trusted
        ):
            raise WorkspaceError(OTHER_KEY, reason="key")


def _blobs(tree: Tree, tops: Iterable[str]) -> Iterator[Oid]:
    for top in tops:
        if top in tree:
            yield from _below(tree[top])


def _below(found: pygit2.Object) -> Iterator[Oid]:
    if isinstance(found, Tree):
        for one in found:
            yield from _below(one)
    elif isinstance(found, Blob):
        yield found.id
