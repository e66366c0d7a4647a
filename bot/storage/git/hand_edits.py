"""What people changed by hand in a section that we wrote: by whom, in which commit, and what we wrote there last."""

from collections.abc import Iterator
from contextlib import suppress
from itertools import chain, islice
from typing import NamedTuple

import pygit2
from pygit2 import Commit

from bot.domain.item.artifacts import CheckedEdit, SectionEdit, UnreadableArtifact
from bot.domain.roundtable.outcomes import HandEdit
from bot.storage.git.history import COMMITS_LOOKED_AT, ITEM, SHORT, recent
from bot.storage.git.repository import blob, tip, trailer

UNCOMMITTED = "uncommitted"
SOMEBODY = "somebody"


class SectionVersion(NamedTuple):
    """A section, or our records of a data file, at one commit; empty when there is none."""

    text: str = ""
    digest: str = ""


def described(repository: pygit2.Repository, path: str, edit: CheckedEdit, content: str) -> HandEdit:
    """*content* is the file in the checkout, *path* its place in the workspace."""
    section = _Section(repository, path, edit)
    digest = edit.digest_in(content)
    author, commit = section.changed_by(digest)
    return HandEdit(
        path=edit.path,
        heading=edit.heading if isinstance(edit, SectionEdit) else "",
        found=edit.found(content),
        digest=digest,
        written=section.written(),
        author=author,
        commit=commit,
    )


class _Section:
    def __init__(self, repository: pygit2.Repository, path: str, edit: CheckedEdit) -> None:
        self._repository = repository
        self._path = path
        self._edit = edit
        self._known: dict[pygit2.Oid, SectionVersion] = {}

    def changed_by(self, digest: str) -> tuple[str, str]:
        """The last person who changed it, and the commit; our last change if only we did (an old item, or a merge)."""
        newest = tip(self._repository)
        if newest is None or self._at(newest).digest != digest:
            return self._person_here(), UNCOMMITTED
        changes = self._changes(newest)
        last = next(changes, newest)
        person = next((one for one in chain((last,), changes) if not trailer(one, ITEM)), last)
        return person.author.name or SOMEBODY, str(person.id)[:SHORT]

    def written(self) -> str:
        """
        What we wrote there last. It is found by its digest, because a later commit of ours may contain the change by
        hand. After a merge our version may be on no branch any more; then it is among the earlier tips of this one.
        """
        if not self._edit.replaces:
            return ""
        digests = {self._edit.replaces, self._edit.digest}
        for commit in chain(recent(self._repository), self._earlier_tips()):
            if (version := self._at(commit)).digest in digests:
                return version.text
        ours = (one for one in recent(self._repository) if trailer(one, ITEM) and blob(one.tree, self._path))
        newest = next(ours, None)
        return self._at(newest).text if newest else ""

    def _changes(self, newest: Commit) -> Iterator[Commit]:
        """The commits that changed the section, the newest first; through a merge, on the side that it came from."""
        commit = newest
        for _ in range(COMMITS_LOOKED_AT):
            parents = tuple(_parents(commit))
            same = next((one for one in parents if self._at(one).digest == self._at(commit).digest), None)
            if same is None:
                yield commit
                same = next((one for one in parents if self._at(one).digest), None)
            if same is None:
                return
            commit = same

    def _earlier_tips(self) -> Iterator[Commit]:
        """Where the branch of this checkout was before, the newest first."""
        with suppress(pygit2.GitError):
            for entry in islice(self._repository.head.log(), COMMITS_LOOKED_AT):
                found: object = self._repository.get(entry.oid_old)
                if isinstance(found, Commit):
                    yield found

    def _at(self, commit: Commit) -> SectionVersion:
        found = blob(commit.tree, self._path)
        if found is None:
            return SectionVersion()
        if found.id not in self._known:
            self._known[found.id] = self._read(found.data)
        return self._known[found.id]

    def _read(self, content: bytes) -> SectionVersion:
        with suppress(UnicodeDecodeError, UnreadableArtifact):
            text = content.decode()
            return SectionVersion(self._edit.found(text), self._edit.digest_in(text))
        return SectionVersion()

    def _person_here(self) -> str:
        with suppress(KeyError, pygit2.GitError):
            return str(self._repository.config["user.name"]).strip() or SOMEBODY
        return SOMEBODY


def _parents(commit: Commit) -> Iterator[Commit]:
    """None at the end of a shallow clone."""
    with suppress(KeyError, pygit2.GitError):
        yield from commit.parents
