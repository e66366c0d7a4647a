"""
Our commits once more, on top of what others pushed meanwhile: one after the other, never a merge.

Items live in folders of their own, so mostly nothing meets. Where a file was changed on both sides, both are kept:
merged where that can be done without guessing, else theirs as the file and ours beside it, as a copy.
"""

import csv
import heapq
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import count, pairwise
from operator import attrgetter
from typing import Any, NamedTuple

import pygit2
from pygit2 import Commit, IndexEntry, Oid, Tree
from pygit2.enums import FileMode, SortMode

from bot.domain.item import meta
from bot.domain.transcript import lines
from bot.domain.transcript.witness import TRAILER as WITNESS
from bot.domain.transcript.witness import witness
from bot.domain.values.json_files import compact, parse_kept, pretty
from bot.domain.values.markdown import outline
from bot.errors import WorkspaceError
from bot.storage.git.history import EFFECT, ITEM
from bot.storage.git.items import CONFLICT, META, PLANNING, TRANSCRIPT
from bot.storage.git.repository import blob, trailer
from bot.storage.git.trees import Change, Entry, InTheWay, at, changes, graft

# A file that was changed here and at the remote: what both sides wanted, where that can be said.
#
# A transcript keeps every line of both, a meta.json every field, a Markdown file every section that only
# one side touched. Where both touched the same, theirs stands. (`rows.py` does arrays and tables.)


ABSENT = object()
SECTION = 2
NUMBERED = re.compile(r"## ([0-9]{1,6})\.")


def transcripts(theirs: bytes, ours: bytes) -> bytes:
    """Every line of both, once, in the order of time; rounds do not go back where two meetings meet."""
    kept = tuple(_rows(theirs))
    known = {row.identity for row in kept}
    added = [row for row in _rows(ours) if row.identity not in known]
    merged, floor = [], 0
    for row in heapq.merge(kept, added, key=attrgetter("moment", "round")):
        merged.append(row.from_round(floor))
        floor = max(floor, row.round)
    return b"".join(raw + b"\n" for raw in merged)


def progress(before: bytes | None, theirs: bytes, ours: bytes) -> bytes | None:
    """
    None when *theirs* cannot be read; unknown fields are merged like the others.

    Where both made the file, the earlier one knows how the item began: the other was made by a clone that had not
    heard of it yet.
    """
    base, *sides = (_object(content) for content in (before, theirs, ours))
    if sides[0] is None:
        return None
    if sides[1] is None:
        return theirs
    if base is None:
        sides.sort(key=lambda side: str((side or {}).get("created_at")))
    return meta.write(_merged(base or {}, *sides)).encode("utf-8", "replace")


def sections(before: bytes | None, theirs: bytes, ours: bytes) -> bytes | None:
    """A Markdown file, section by section; None when both sides changed the same one."""
    try:
        base, kept, mine = (_sections((content or b"").decode()) for content in (before, theirs, ours))
    except UnicodeDecodeError:
        return None
    if base is None or kept is None or mine is None:
        return None
    merged, after = dict(kept), ""
    for heading in (*mine, *(base.keys() - mine.keys())):
        was, now, wanted = (_bare(parts.get(heading)) for parts in (base, kept, mine))
        if wanted not in {was, now} and now != was:
            return None
        if wanted is None and now == was:
            merged.pop(heading, None)
        elif wanted not in {was, now}:
            merged = _put(merged, heading, mine[heading], after=after)
        after = heading if heading in merged else after
    return _joined(merged.values()).encode()


# --- transcripts --------------------------------------------------------------------------------------------------


class _Row(NamedTuple):
    """A line as it stands in the file; *moment* is its time, or that of the line before when it says none."""

    raw: bytes
    line: lines.Line | None
    moment: str

    @property
    def identity(self) -> str | bytes:
        return (self.line and self.line.message_id) or self.raw

    @property
    def round(self) -> int:
        return self.line.round if self.line else 0

    def from_round(self, floor: int) -> bytes:
        if self.line is None or self.line.round >= floor:
            return self.raw
        return lines.raised(self.raw, floor)


def _rows(content: bytes) -> Iterator[_Row]:
    """A tail that was cut off in the middle of being written is no line."""
    moment = ""
    for raw in content[: lines.read(content).sound_bytes].split(b"\n"):
        if raw.strip():
            line = next(iter(lines.read(raw).lines), None)
            moment = max(moment, line.ts if line else "")
            yield _Row(raw, line, moment)


# --- meta.json ----------------------------------------------------------------------------------------------------


def _object(content: bytes | None) -> dict[str, Any] | None:
    try:
        found = parse_kept((content or b"").decode())
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _merged(before: Any, theirs: Any, ours: Any) -> Any:
    if ours in (before, theirs):
        return theirs
    if theirs == before:
        return ours
    if isinstance(theirs, dict) and isinstance(ours, dict):
        base = before if isinstance(before, dict) else {}
        fields = {
            name: _merged(base.get(name, ABSENT), theirs.get(name, ABSENT), ours.get(name, ABSENT))
            for name in dict.fromkeys((*theirs, *ours))
        }
        return {name: value for name, value in fields.items() if value is not ABSENT}
    if isinstance(theirs, list) and isinstance(ours, list):
        known = before if isinstance(before, list) else []
        kept = [one for one in theirs if one in ours or one not in known]
        added = [one for one in ours if one not in known and one not in theirs]
        return sorted(kept + added, key=_rank) if _in_order(theirs) and _in_order(ours) else kept + added
    return theirs


def _in_order(found: list[Any]) -> bool:
    return all(_rank(one) <= _rank(other) for one, other in pairwise(found))


def _rank(one: Any) -> str:
    """Steps and phases begin with their number, and elaborations have a time."""
    return one if isinstance(one, str) else str(one.get("timestamp", "")) if isinstance(one, dict) else ""


# --- Markdown -----------------------------------------------------------------------------------------------------


def _sections(text: str) -> dict[str, str] | None:
    """By heading, what comes before the first one under none; None when two are called the same."""
    page = outline(text)
    starts = [heading.line for heading in page.headings if heading.level == SECTION]
    parts = {"": "".join(page.lines[: starts[0] if starts else None])}
    for start, end in pairwise([*starts, len(page.lines)]):
        name = page.lines[start].strip()
        if name in parts:
            return None
        parts[name] = "".join(page.lines[start:end])
    return parts


def _bare(part: str | None) -> str | None:
    """How many empty lines follow a section depends on what follows it."""
    return None if part is None else part.rstrip()


def _put(parts: dict[str, str], heading: str, text: str, *, after: str) -> dict[str, str]:
    """A new section stands where its number says, or behind the one it stood behind."""
    if heading in parts:
        return {**parts, heading: text}
    names = list(parts)
    place = names.index(after) + 1
    while place < len(names) and _number(names[place]) < _number(heading):
        place += 1
    names.insert(place, heading)
    return {name: parts.get(name, text) for name in names}


def _number(heading: str) -> int:
    found = NUMBERED.match(heading)
    return int(found[1]) if found else 0


def _joined(parts: Iterable[str]) -> str:
    text = ""
    for part in parts:
        gap = "" if not text or text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
        text += gap + part
    return text


# A JSON array or a CSV file that was changed on both sides: put together row by row, known by their keys.
#
# A row that both changed is for people; so is a table whose columns both moved.


BYTE_ORDER_MARK = "\ufeff"
KEY = "id"

Rows = Mapping[str, str]
"""By key, each as it is written, in the order of the file."""


class Keyless(ValueError):
    """The rows cannot be told apart: two have one key, or the file is not what its name says."""


def objects(before: bytes | None, theirs: bytes, ours: bytes) -> bytes | None:
    """An array of objects, by `id`; None when both changed the same one. Raises Keyless."""
    base, kept, mine = (_objects(content) for content in (before, theirs, ours))
    merged = _rows_merged(base, kept, mine)
    if merged is None or merged == kept:
        return None if merged is None else theirs
    text = pretty([parse_kept(row) for row in merged.values()])
    return (text.replace("\n", "\r\n") if b"\r\n" in theirs else text).encode()


def table(before: bytes | None, theirs: bytes, ours: bytes) -> bytes | None:
    """A CSV file, by its first column; None when both changed the same row, or the columns. Raises Keyless."""
    sides = [_table(content) for content in (before, theirs, ours)]
    header = _header([columns for columns, _ in sides])
    merged = _rows_merged(*(rows for _, rows in sides))
    if header is None or merged is None:
        return None
    if (header, merged) == sides[1]:
        return theirs
    mark = BYTE_ORDER_MARK if theirs.startswith(BYTE_ORDER_MARK.encode()) else ""
    eol = "\r\n" if b"\r\n" in theirs else "\n"
    return (mark + "".join(row + eol for row in (header, *merged.values()))).encode()


def is_json(content: bytes) -> bool:
    try:
        parse_kept(content.decode())
    except ValueError:
        return False
    return True


def _rows_merged(before: Rows, theirs: Rows, ours: Rows) -> Rows | None:
    """Theirs, with what only we added, changed or took away; None when both changed the same row."""
    touched = {key for key in before.keys() | ours.keys() if ours.get(key) != before.get(key)}
    if any(theirs.get(key) not in (before.get(key), ours.get(key)) for key in touched):
        return None
    kept = [key for key in theirs if key in ours or key not in touched]
    both = {**theirs, **{key: ours[key] for key in touched & ours.keys()}}
    return {key: both[key] for key in _woven(kept, [key for key in ours if key in both])}


def _woven(theirs: list[str], ours: list[str]) -> Iterator[str]:
    """What only we have stands behind what it stood behind, and what they put there too comes first."""
    shared = set(theirs)
    following: dict[str | None, list[str]] = {}
    last = None
    for key in ours:
        if key in shared:
            last = key
        else:
            following.setdefault(last, []).append(key)
    known, waiting = set(ours), following.get(None, [])
    for key in theirs:
        if key in known:
            yield from waiting
            waiting = following.get(key, [])
        yield key
    yield from waiting


# --- JSON ---------------------------------------------------------------------------------------------------------


def _objects(content: bytes | None) -> Rows:
    try:
        found = parse_kept((content or b"[]").decode())
    except ValueError as error:
        raise Keyless(str(error)) from None
    if not isinstance(found, list):
        raise Keyless("is not an array")
    return _unique((_key(row), compact(row)) for row in found)


def _key(row: Any) -> str:
    """An object without an id is only the same as its equal."""
    named = row[KEY] if isinstance(row, dict) and KEY in row else {"": row}
    return json.dumps(named, sort_keys=True)


def _unique(rows: Iterator[tuple[str, str]]) -> Rows:
    found: dict[str, str] = {}
    for key, row in rows:
        if key in found:
            raise Keyless(f"{key} is there twice")
        found[key] = row
    return found


# --- CSV ----------------------------------------------------------------------------------------------------------


def _table(content: bytes | None) -> tuple[str, Rows]:
    """The header, empty where there is no file, and the rows; empty ones are not kept."""
    if content is None:
        return "", {}
    try:
        found = list(_records(content.decode().removeprefix(BYTE_ORDER_MARK)))
    except (UnicodeDecodeError, csv.Error) as error:
        raise Keyless(str(error)) from None
    if not found:
        raise Keyless("has no columns")
    return found[0][1], _unique(iter(found[1:]))


def _records(text: str) -> Iterator[tuple[str, str]]:
    lines = list(io.StringIO(text, newline=""))
    reader = csv.reader(lines, strict=True)
    done = 0
    for cells in reader:
        if any(cells):
            yield cells[0], "".join(lines[done : reader.line_num]).rstrip("\r\n")
        done = reader.line_num


def _header(sides: list[str]) -> str | None:
    """The one with more columns, if those of the others stand where they stood."""
    before, theirs, ours = sides
    chosen = ours if theirs == before else theirs
    if ours not in (before, theirs) and theirs not in (before, ours):
        return None
    wide, *cells = (next(csv.reader([side]), []) for side in (chosen, *sides))
    return chosen if all(wide[: len(side)] == side for side in cells) else None


AGAIN = "Roundtable-Again"
"""The commit that was lost, and is made again by this one."""
CSV = ".csv"
JSON = ".json"
MARKDOWN = (".md", ".markdown")
BLOBS = (FileMode.BLOB, FileMode.BLOB_EXECUTABLE)


class Clash(NamedTuple):
    """Both changed it; *path* is where ours is now, *slug* the item that it belongs to: empty, if to nobody's."""

    slug: str
    path: str


class Replayed(NamedTuple):
    tip: Commit
    clashes: tuple[Clash, ...]


class Apart(WorkspaceError):
    """Only a person can bring the two together."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence, reason="diverged")


class Replay:
    """*ours* are the paths below which both are kept; anywhere else two changes of one file are for people."""

    def __init__(self, repository: pygit2.Repository, ours: tuple[str, ...]) -> None:
        self._repository = repository
        self._items, self._shared = ours

    def onto(self, remote: Commit, local: Commit, *, known: Oid | None) -> Replayed:
        """
        *local*'s own commits on top of *remote*; *known* is the last commit that both had, as far as we remember.

        Raises Apart, and OSError.
        """
        dropped = self._dropped(remote, known)
        own = tuple(self._own(remote, local, dropped))
        tip, both = remote, _Both(self._repository, (self._items, self._shared), theirs=remote.tree)
        for commit in own:
            last = self._repository[known].peel(Commit) if known and commit.id in dropped else local
            tip = self._put(tip, commit, both, last=last.tree)
        met = tuple(self._between(local.id, remote.id)) if self._shared in both.copies else ()
        return Replayed(tip, tuple(self._clashes(both, ours=own, theirs=met)))

    def again(self, head: Commit, lost: Commit, slug: str) -> Replayed:
        """
        Of what *lost* stands on and *head* does not, the commits of the item *slug* once more, on top of *head*.

        Raises Apart, and OSError.
        """
        made, both = head, _Both(self._repository, (self._items, self._shared), theirs=head.tree)
        own = [one for one in self._between(head.id, lost.id) if trailer(one, ITEM) == slug]
        for commit in own:
            made = self._put(made, commit, both, last=lost.tree, again=True)
        return Replayed(made, tuple(self._clashes(both, ours=own, theirs=())))

    def _own(self, remote: Commit, local: Commit, dropped: frozenset[Oid]) -> Iterable[Commit]:
        """Oldest first. What people took away at the remote stays away; what is ours comes back."""
        strangers = self._repository.merge_base(remote.id, local.id) is None
        for commit in self._between(remote.id, local.id):
            ours = bool(trailer(commit, EFFECT) or trailer(commit, ITEM))
            if commit.id in dropped and not ours:
                continue
            if len(commit.parent_ids) > 1:
                raise Apart(
                    f"The merge {commit.short_id} is not at the remote, and cannot be put on top of it."
                )
            if strangers and not ours:
                raise Apart("The workspace and the remote have no commit in common.")
            yield commit

    def _dropped(self, remote: Commit, known: Oid | None) -> frozenset[Oid]:
        """What was at the remote, and is not any more: somebody pushed with force."""
        if known is None or known not in self._repository:
            return frozenset()
        return frozenset(commit.id for commit in self._between(remote.id, known))

    def _between(self, old: Oid, new: Oid) -> Iterator[Commit]:
        walk = self._repository.walk(new, SortMode.TOPOLOGICAL | SortMode.REVERSE)
        walk.hide(old)
        return iter(walk)

    def _clashes(self, both: "_Both", *, ours: Iterable[Commit], theirs: Iterable[Commit]) -> Iterator[Clash]:
        """Of a file that all share, the items whose commits wrote to it; those of the other side when we have none."""
        for path, copy in both.copies.items():
            item = both.item_of(path)
            items = [item] if item else _writers(ours, path) or _writers(theirs, path) or [""]
            yield from (Clash(slug, copy) for slug in items)

    def _put(self, tip: Commit, commit: Commit, both: "_Both", *, last: Tree, again: bool = False) -> Commit:
        """A commit that adds nothing any more is left out."""
        before = commit.parents[0].tree if commit.parent_ids else None
        entries: dict[str, Entry | None] = {}
        try:
            for change in changes(before, commit.tree):
                theirs = at(tip.tree, change.path)
                if theirs != change.after:
                    entries |= both.kept(change, theirs, tip.tree, last=last)
        except InTheWay as error:
            raise Apart(f"{error} is a file on one side, and a folder on the other.") from None
        tree = graft(self._repository, tip.tree, entries)
        if tree == tip.tree_id:
            return tip
        made = self._repository.create_commit(
            None, commit.author, commit.committer, self._message(commit, tree, again=again), tree, [tip.id]
        )
        return self._repository[made].peel(Commit)

    def _message(self, commit: Commit, tree: Oid, *, again: bool) -> str:
        """Its own, but for a witness of lines that others' have been sorted into."""
        message = commit.message
        path = f"{self._items}/{trailer(commit, ITEM)}/{PLANNING}/{TRANSCRIPT}"
        before, after = blob(commit.tree, path), blob(self._repository[tree].peel(Tree), path)
        if after and after != before and trailer(commit, WITNESS):
            old = f"{WITNESS}: {trailer(commit, WITNESS)}\n"
            message = message.replace(old, f"{witness(after.data).trailer}\n")
        return f"{message.rstrip()}\n{AGAIN}: {commit.id}\n" if again else message


def _writers(commits: Iterable[Commit], path: str) -> list[str]:
    """The items that *commits* which changed *path* are about."""
    found = (trailer(commit, ITEM) for commit in commits if _touches(commit, path))
    return [slug for slug in dict.fromkeys(found) if slug]


def _touches(commit: Commit, path: str) -> bool:
    before = commit.parents[0].tree if commit.parent_ids else None
    return blob(before, path) != blob(commit.tree, path)


class _Both:
    """What becomes of a file that changed on both sides; *theirs* is the tree at the remote."""

    def __init__(self, repository: pygit2.Repository, ours: tuple[str, ...], *, theirs: Tree) -> None:
        self._repository = repository
        self._items, self._shared = ours
        self._theirs = theirs
        self.copies: dict[str, str] = {}
        """What of ours could not be merged, and where it is now."""

    def kept(
        self, change: Change, theirs: Entry | None, tree: Tree, *, last: Tree
    ) -> dict[str, Entry | None]:
        """*tree* is what has been put together so far, *last* what our commits come to."""
        path, ours = change.path, change.after
        if theirs == change.before:
            return {path: ours}
        if at(last, path) == at(self._theirs, path):
            return {}  # whatever the way there: somebody wrote our commits anew
        item = self.item_of(path)
        if not item and path != self._shared:
            raise Apart(f"{path} was changed here and at the remote.")
        if ours is None:
            return {}
        if (merged := self._merged(change, theirs)) is not None:
            return {path: merged}
        if path.rpartition("/")[2] == META:
            return self._beside(path, tree, stays=ours, moves=theirs)
        return self._beside(path, tree, stays=theirs, moves=ours)

    def _merged(self, change: Change, theirs: Entry | None) -> Entry | None:
        ours = change.after
        assert ours
        name = change.path.removeprefix(f"{self._items}/{self.item_of(change.path)}/")
        if theirs is None:
            return ours if name in {META, f"{PLANNING}/{TRANSCRIPT}"} else None
        if ours.mode not in BLOBS or theirs.mode not in BLOBS:
            return None
        base, kept, mine = (self._content(entry) for entry in (change.before, theirs, ours))
        assert kept is not None
        assert mine is not None
        if name == META:
            merged = progress(base, kept, mine)
        elif name == f"{PLANNING}/{TRANSCRIPT}":
            merged = transcripts(kept, mine)
        else:
            merged = self._text(change, theirs, (base, kept, mine))
        return None if merged is None else Entry(self._repository.create_blob(merged), theirs.mode)

    def _text(self, change: Change, theirs: Entry, sides: tuple[bytes | None, bytes, bytes]) -> bytes | None:
        name = change.path.lower()
        with suppress(Keyless):
            if name.endswith(JSON):
                return objects(*sides)
            if name.endswith(CSV):
                return table(*sides)
        merged = self._lines(change, theirs)
        if merged is None and name.endswith(MARKDOWN):
            return sections(*sides)
        broken = merged is not None and name.endswith(JSON) and not is_json(merged)
        return None if broken else merged

    def _lines(self, change: Change, theirs: Entry) -> bytes | None:
        """As git merges: line by line, None where that is not clear."""
        sides = [entry for entry in (change.before, theirs, change.after) if entry and self._is_text(entry)]
        if len(sides) < 3:
            return None
        base, kept, mine = (IndexEntry(change.path, *entry) for entry in sides)
        found = self._repository.merge_file_from_index(base, kept, mine)
        if isinstance(found, str) or not found.automergeable:
            return None
        return (found.contents or "").encode()

    def _beside(
        self, path: str, tree: Tree, *, stays: Entry | None, moves: Entry | None
    ) -> dict[str, Entry | None]:
        """One copy for all of our commits; one of an earlier day stays."""
        for number in count(1):
            copy = path + CONFLICT + (f"-{number}" if number > 1 else "")
            present = at(tree, copy)
            if present is None or copy == self.copies.get(path):
                self.copies[path] = copy
                return {path: stays, copy: moves}
            if present == moves:
                return {path: stays}
        raise AssertionError("there is always a number more")

    def item_of(self, path: str) -> str:
        folder, _, name = path.removeprefix(f"{self._items}/").partition("/")
        return folder if path.startswith(f"{self._items}/") and name else ""

    def _content(self, entry: Entry | None) -> bytes | None:
        found = self._repository[entry.id] if entry and entry.mode in BLOBS else None
        return found.data if isinstance(found, pygit2.Blob) else None

    def _is_text(self, entry: Entry | None) -> bool:
        try:
            return entry is not None and "\0" not in (self._content(entry) or b"\0").decode()
        except UnicodeDecodeError:
            return False
