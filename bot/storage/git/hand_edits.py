"""What people changed by hand in a section that we wrote: by whom, in which commit, and what we wrote there last."""

from collections.abc import Iterator
from contextlib import suppress
from itertools import chain, islice
from typing import NamedTuple

import pygit2
from pygit2 import Commit

from bot.domain.item.artifacts import CheckedEdit, SectionEdit, UnreadableArtifact
from bot.domain.roundtable.outcomes import HandEdit
from bot.files import ARTIFACT_BYTES
from bot.storage.git.branch import Branch
from bot.storage.git.tree import COMMITS_LOOKED_AT, ITEM, SHORT, line_from, trailer

SOMEBODY = "somebody"


class SectionVersion(NamedTuple):
    """A section, or our records of a data file, at one commit; empty when there is none."""

    text: str = ""
    digest: str = ""


def described(branch: Branch, path: str, edit: CheckedEdit, content: str) -> HandEdit:
    """*content* is the file at the tip, *path* its place in the workspace."""
    section = _Section(branch, path, edit)
    digest = edit.digest_in(content)
    author, commit = section.changed_by()
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
    def __init__(self, branch: Branch, path: str, edit: CheckedEdit) -> None:
        self._branch = branch
        self._path = path
        self._edit = edit
        self._known: dict[pygit2.Oid, SectionVersion] = {}

    def changed_by(self) -> tuple[str, str]:
        """The last person who changed it, and the commit; our last change if only we did, as in an old item."""
        newest = self._branch.tip()
        if newest is None:
            return SOMEBODY, ""
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
        for commit in chain(line_from(self._branch.tip()), self._earlier_tips()):
            if (version := self._at(commit)).digest in digests:
                return version.text
        ours = (one for one in line_from(self._branch.tip()) if trailer(one, ITEM))
        newest = next((one for one in ours if self._branch.files(one).entry(self._path)), None)
        return self._at(newest).text if newest else ""

    def _changes(self, newest: Commit) -> Iterator[Commit]:
        """The commits that changed the section, the newest first; through a merge, on the side that it came from."""
        commit = newest
        for _ in range(COMMITS_LOOKED_AT):
            parents = tuple(parents_of(commit))
            same = next((one for one in parents if self._at(one).digest == self._at(commit).digest), None)
            if same is None:
                yield commit
                same = next((one for one in parents if self._at(one).digest), None)
            if same is None:
                return
            commit = same

    def _earlier_tips(self) -> Iterator[Commit]:
        """Where the branch was before, the newest first."""
        with suppress(pygit2.GitError):
            reference = self._branch.repository.lookup_reference(self._branch.name)
            for entry in islice(reference.log(), COMMITS_LOOKED_AT):
                found: object = self._branch.repository.get(entry.oid_old)
                if isinstance(found, Commit):
                    yield found

    def _at(self, commit: Commit) -> SectionVersion:
        files = self._branch.files(commit)
        entry = files.entry(self._path)
        if entry is None:
            return SectionVersion()
        if entry.id not in self._known:
            self._known[entry.id] = self._read(files.read(self._path, ARTIFACT_BYTES) or b"")
        return self._known[entry.id]

    def _read(self, content: bytes) -> SectionVersion:
        with suppress(UnicodeDecodeError, UnreadableArtifact):
            text = content.decode()
            return SectionVersion(self._edit.found(text), self._edit.digest_in(text))
        return SectionVersion()


def parents_of(commit: Commit) -> Iterator[Commit]:
    """None at the end of a shallow clone."""
    with suppress(KeyError, pygit2.GitError):
        yield from commit.parents
