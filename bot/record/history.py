"""
What git knows of a record: lines were only ever added, and the sections of elaborations stay where they are.

Two meetings that were joined from two clones have their lines sorted into each other, and rounds raised so that they
do not go back. A line that was scrubbed has marks in place of secrets, and a later line says so. Nothing else may
happen to a line.
"""

import json
from collections.abc import Iterable, Iterator

from bot.domain.json_row import decoded
from bot.domain.replay_sections import markers
from bot.domain.scrubbing import Named, named
from bot.files import File
from bot.record.difference import Difference, Version

COMPARED_BYTES = 1024 * 1024


def lines_kept(record: File, name: str, versions: Iterable[Version]) -> Iterator[Difference]:
    """*versions* the newest first; the file *record* comes after all of them."""
    newer: bytes | None = None
    last = ""
    for version in versions:
        kept = version.files.get(name)
        if kept is None or kept.id == last:
            continue
        last, content = kept.id, kept.read()
        if newer is None:
            if not _begins_with(record, content):
                yield from _lost(record.read(), content, name, sha=version.sha)
                return
        elif not newer.startswith(content):
            yield from _lost(newer, content, name, sha=version.sha)
        newer = content


def sections_kept(texts: dict[str, str], versions: Iterable[Version]) -> Iterator[Difference]:
    """*texts* are the artifacts as they stand; in none of them has a marker been lost that an older one had."""
    newer = {name: set(markers(text)) for name, text in texts.items()}
    seen: dict[str, str] = {}
    for version in versions:
        for name, kept in version.files.items():
            if name not in newer or seen.get(name) == kept.id:
                continue
            seen[name] = kept.id
            found = markers(kept.read().decode("utf-8", "surrogateescape"))
            for gone in (one for one in found if one not in newer[name]):
                yield Difference(
                    name, 1, f"has lost the section under {gone}, which commit {version.sha} has"
                )
                newer[name].add(gone)


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
