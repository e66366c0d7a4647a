"""
What git knows of a record: lines were only ever added, and the sections of elaborations stay where they are.

Two meetings that were joined from two clones have their lines sorted into each other, and rounds raised so that they
do not go back. A line that was scrubbed has marks in place of secrets, and a later line says so. Nothing else may
happen to a line.
"""

import json
from collections.abc import Iterable, Iterator
from itertools import islice

from bot.domain.json_row import decoded
from bot.domain.replay_sections import markers
from bot.domain.scrubbing import Named, named
from bot.domain.witness import SHORT, Witness, chain, read_trailer
from bot.files import File
from bot.record.difference import Difference, Version

COMPARED_BYTES = 1024 * 1024


def lines_kept(record: File, name: str, versions: Iterable[Version]) -> Iterator[Difference]:
    """*versions* the newest first; the file *record* comes after all of them."""
    newer: bytes | None = None
    by: Version | None = None
    last = ""
    for version in versions:
        kept = version.files.get(name)
        if kept is None and newer is None:
            continue
        if kept and kept.id == last:
            by = version
            continue
        last, content = (kept.id, kept.read()) if kept else ("", b"")
        if newer is None:
            if not _begins_with(record, content):
                yield from _lost(record.read(), content, name, sha=version.sha)
                return
        elif not newer.startswith(content):
            found = _lost(newer, content, name, sha=version.sha)
            yield from (_told_by(one, by) for one in found)
        newer, by = content, version


def witnessed(name: str, versions: Iterable[Version]) -> Iterator[Difference]:
    """
    What a commit of ours says of its lines is so. Versions that begin the next one are looked at together, and the
    first line that may be another is named.
    """
    longest = b""
    wanted: list[tuple[Witness, Version]] = []
    for version in versions:
        said, kept = read_trailer(version.witness), version.files.get(name)
        if kept is None or said is None:
            continue
        content = kept.read()
        if not longest.startswith(content):
            yield from _unlike(longest, wanted, name)
            longest, wanted = content, []
        wanted.append((said, version))
    yield from _unlike(longest, wanted, name)


def lines_before_witness(name: str, versions: Iterable[Version]) -> int:
    """How many lines there were when a commit first said something of them, if older ones say nothing."""
    first, silent = 0, False
    for version in versions:
        if name in version.files and not version.author:
            said = read_trailer(version.witness)
            silent = said is None
            first = said.lines if said else first
    return first if silent else 0


def sections_kept(texts: dict[str, str], versions: Iterable[Version]) -> Iterator[Difference]:
    """*texts* are the artifacts as they stand; in none of them has a marker been lost that an older one had."""
    newer = {name: set(markers(text)) for name, text in texts.items()}
    seen: dict[str, str] = {}
    by: dict[str, Version] = {}
    for version in versions:
        for name, there in newer.items():
            kept = version.files.get(name)
            stamp = kept.id if kept else ""
            if seen.get(name) != stamp:
                seen[name] = stamp
                found = markers(kept.read().decode("utf-8", "surrogateescape")) if kept else []
                for gone in (one for one in found if one not in there):
                    sentence = f"has lost the section under {gone}, which commit {version.sha} has"
                    yield _told_by(Difference(name, 1, sentence), by.get(name))
                    there.add(gone)
            by[name] = version


def _told_by(found: Difference, by: Version | None) -> Difference:
    """What is different since a commit of somebody else's is their edit."""
    if by is None or not by.author:
        return found
    return found._replace(
        sentence=f"was edited by {by.author} in commit {by.sha}: {found.sentence}", stands=True
    )


def _unlike(content: bytes, wanted: list[tuple[Witness, Version]], name: str) -> Iterator[Difference]:
    """*wanted* are the newest first; all of them are about beginnings of *content*."""
    if not wanted:
        return
    longest = max(said.lines for said, _ in wanted)
    asked = {said.lines for said, _ in wanted}
    hashes = {
        number: one for number, one in enumerate(islice(chain(content), longest), start=1) if number in asked
    }
    sound = 0
    for said, version in reversed(wanted):
        found = hashes.get(said.lines, "")
        if found and found.startswith(said.chain):
            sound = said.lines
            continue
        sentence = (
            f"or a line below it is not what was committed: commit {version.sha} says that its {said.lines} lines "
            f"have the hash {said.chain[:SHORT]}, and it is {found[:SHORT] or 'none, since there are fewer'}"
        )
        yield Difference(name, sound + 1, sentence)
        return


def _begins_with(record: File, content: bytes) -> bool:
    with record.opened() as file:
        for start in range(0, len(content), COMPARED_BYTES):
            piece = content[start : start + COMPARED_BYTES]
            if file.read(len(piece)) != piece:
                return False
    return True


def _lost(newer: bytes, older: bytes, name: str, *, sha: str) -> Iterator[Difference]:
    """The first row of *older* that is no longer there, apart from its round and a tail that was cut off."""
    rows = enumerate(newer.split(b"\n"), start=1)
    scrubbed = named(newer)
    number = 0
    for row in _whole(older):
        before = number
        number = next((at for at, other in rows if _is_still(row, other, scrubbed)), 0)
        if not number:
            yield Difference(name, _place(newer, before), f"is not what commit {sha} has: {_shown(row)}")
            return


def _whole(content: bytes) -> list[bytes]:
    *ended, last = content.split(b"\n")
    kept = [*ended, last] if not isinstance(decoded(last), str) else ended
    return [row for row in kept if row.strip()]


def _place(newer: bytes, before: int) -> int:
    """The row after the last one that was found, if there is one."""
    return min(before + 1, max(newer.count(b"\n"), 1))


def _is_still(row: bytes, other: bytes, scrubbed: Named) -> bool:
    if row == other:
        return True
    one, two = decoded(row), decoded(other)
    if isinstance(one, str) or isinstance(two, str):
        return False
    rounds = one.pop("round", 0), two.pop("round", 0)
    raised = all(isinstance(round_, int) for round_ in rounds) and rounds[0] <= rounds[1]
    if not raised:
        return False
    return json.dumps(one, sort_keys=True) == json.dumps(two, sort_keys=True) or scrubbed.allows(one, two)


def _shown(row: bytes) -> str:
    text = row.decode("utf-8", "replace")
    return json.dumps(text if len(text) <= 120 else text[:119] + "…", ensure_ascii=False)
