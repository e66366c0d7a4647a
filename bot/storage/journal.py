"""
What a store keeps of one roundtable: its whole value at some version, and a line for each save since then.

Every save has a link: a checksum over what was written. A line says which save it follows (`after`), so a change is
never applied to another value than the one that it was made from, also when that has the same version.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.storage.changes import Change, applied, change
from bot.storage.serialization import SHAPE, UnreadableState, decoded, encoded

LINK_CHARACTERS = 32
CHANGES_TO_WHOLE = 8
"""How many times the bytes of the whole value its changes may have. More of them would make a process start slowly."""
FEWEST_BYTES = 64 * 1024
"""Changes that are always kept."""
BASES_REMEMBERED = 1_000
"""As many as the engine remembers roundtables, which are the same objects."""


class Base(NamedTuple):
    """
    A stored roundtable that a change can be made from. `link` is its save's, `begun` that of the whole value before it,
    `lines` are the changes since; `whole` and `changes` are numbers of bytes.
    """

    value: Roundtable
    link: str
    begun: str
    whole: int
    lines: int = 0
    changes: int = 0


class OpenedJournal(NamedTuple):
    """`base` is None when the next save has to be whole; `stale` are the lines that are older than the whole value."""

    value: Roundtable
    base: Base | None
    stale: int = 0


def whole(roundtable: Roundtable) -> tuple[bytes, Base]:
    content = encoded(roundtable)
    link = _link(content)
    return content, Base(roundtable, link, begun=link, whole=len(content))


def following(base: Base | None, roundtable: Roundtable) -> tuple[bytes, Base] | None:
    """
    The line of a change from *base*; None when the whole value has to be saved.

    Whole values come at distances that are proportional to their size, so all saves together write an eighth more than
    the changes alone, however large the roundtable is. One that is over is whole: it is kept for long, and listed.
    """
    if base is None or is_over(roundtable) or not _may_follow(base.value, roundtable):
        return None
    changed = change(base.value, roundtable)
    assert changed, "two versions differ"
    line = _line(changed, after=base.link, version=roundtable.version)
    changes = base.changes + len(line)
    if changes > max(CHANGES_TO_WHOLE * base.whole, FEWEST_BYTES):
        return None
    after = base._replace(value=roundtable, link=_link_of(line), lines=base.lines + 1, changes=changes)
    return line, after


def is_over(roundtable: Roundtable) -> bool:
    return roundtable.stage is Stage.ANALYSED and not roundtable.pending and not roundtable.timers


def opened(slug: str, content: bytes, lines: Sequence[bytes]) -> OpenedJournal:
    """The newest value, of the whole value *content* and the *lines* since. Raises NewerVersion and UnreadableState."""
    begun = _link(content)
    newest, link, stale = _replayed(slug, content, lines)
    found = decoded(slug, newest)
    base = Base(found, link, begun, len(content), len(lines), sum(map(len, lines)))
    return OpenedJournal(found, None if stale else _exact(base, newest), stale)


def resumed(base: Base, lines: Sequence[bytes]) -> OpenedJournal:
    """The newest value, of *base* and the *lines* since. Raises as `opened` does."""
    slug = base.value.slug
    if not lines:
        return OpenedJournal(base.value, base)
    with _explained(slug):
        fields, link = _followed(json.loads(encoded(base.value)), base.link, map(_told, lines))
        newest = _text(fields)
    found = decoded(slug, newest)
    count, changes = base.lines + len(lines), base.changes + sum(map(len, lines))
    after = base._replace(value=found, link=link, lines=count, changes=changes)
    return OpenedJournal(found, _exact(after, newest))


def _may_follow(before: Roundtable, after: Roundtable) -> bool:
    """One that was begun anew is saved whole, so that nothing is left of the other."""
    return before.incarnation == after.incarnation and before.version + 1 == after.version


def _exact(base: Base, content: bytes) -> Base | None:
    """
    None if this version would write *base* in another way than its JSON *content*: a change says nothing of fields that
    only another version has.
    """
    return base if encoded(base.value) == content else None


def _replayed(slug: str, content: bytes, lines: Sequence[bytes]) -> tuple[bytes, str, int]:
    """The newest value as JSON, its link, and how many of the lines are older than the whole value *content*."""
    link = _link(content)
    if not lines:
        return content, link, 0
    with _explained(slug):
        fields = json.loads(content)
        if fields["shape"] > SHAPE:
            return content, link, 0  # only a later version knows what its lines mean
        told = list(map(_told, lines))
        stale = 0
        while (
            stale < len(told) and told[stale]["after"] != link and told[stale]["version"] <= fields["version"]
        ):
            stale += 1
        fields, link = _followed(fields, link, told[stale:])
        return _text(fields) if stale < len(told) else content, link, stale


def _followed(fields: Any, link: str, told: Iterable[Any]) -> tuple[Any, str]:
    for one in told:
        if one["after"] != link:
            raise ValueError(f"the change to version {one['version']} follows another value")
        fields, link = applied(fields, one["change"]), one["link"]
    return fields, link


@contextmanager
def _explained(slug: str) -> Iterator[None]:
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise UnreadableState(f"the stored changes of {slug!r} cannot be read: {error}") from None


def _line(changed: Change, *, after: str, version: int) -> bytes:
    body = _text({"after": after, "version": version, "change": changed})
    return f"{_link(body)} ".encode() + body


def _told(line: bytes) -> Any:
    link, body = _link_of(line), line[LINK_CHARACTERS + 1 :]
    if link != _link(body):
        raise ValueError("a line is damaged")
    return {**json.loads(body), "link": link}


def _text(told: Any) -> bytes:
    return json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode()


def _link(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:LINK_CHARACTERS]


def _link_of(line: bytes) -> str:
    return line[:LINK_CHARACTERS].decode("ascii", "replace")
