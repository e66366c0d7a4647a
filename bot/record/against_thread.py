"""
Compares a record with its thread in Slack, message by message: is it there, whose is it, and what does it say?

The newest words count that the record has. Asides are no differences. Messages after the last one in the record wait
for the next commit.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from bot.domain.roundtable import words
from bot.domain.roundtable.outcomes import ThreadMessage
from bot.domain.transcript.last_line import LastLine
from bot.domain.transcript.lines import Line, Source, read
from bot.domain.transcript.verify import Difference
from bot.domain.values.places import Place
from bot.domain.values.text import counted
from bot.record.verify import RecordedItem

SHOWN_CHARS = 60


class ThreadCopy(NamedTuple):
    """What was read of the thread. `until` is the last timestamp read, if there are more messages."""

    place: Place
    said: Sequence[ThreadMessage]
    stamps: AbstractSet[str]
    posts: Sequence[tuple[str, LastLine]]
    until: str = ""


class Compared(NamedTuple):
    """`waiting` counts messages that are newer than the last commit."""

    found: tuple[Difference, ...]
    waiting: int


def compared(
    item: RecordedItem, thread: ThreadCopy, person_of: Callable[[str], str] = lambda id: id
) -> Compared:
    """*person_of* gives the id of a person for Slack's, which lines of earlier versions have. Raises OSError."""
    content = item.read_transcript().content
    lines = read(content)
    here = f"{thread.place.channel}."
    known = {line.message_id.removeprefix(here) for line in lines if line.message_id.startswith(here)}
    known |= {line.heard for line in lines if line.heard}
    gone = {str(line.meta.get(name)).removeprefix(here) for line in lines for name in ("retracts", "amends")}
    newest = max((one.ts for one in thread.said if one.ts in known), default="")
    last = max(content.count(b"\n"), 1)

    def differences() -> Iterator[Difference]:
        for ts, end in thread.posts:
            if not end.is_in(content):
                many = counted(end.n, "line")
                sentence = f"lacks {end.id}: the post {ts} in the thread says that {many} were committed"
                yield Difference(item.name, last, sentence)
        written = _newest(lines, here)
        for one in thread.said:
            if found := written.get(one.ts):
                number, line = found
                person = person_of(line.person)
                if person != one.person.id:
                    by = f"names {person or 'nobody'} for the message {one.ts}, and {one.person.id} wrote it"
                    yield Difference(item.name, number, by)
                if line.content.split() != one.text.split():
                    other = f"has other words than the message {one.ts} of the thread: {_shown(one)}"
                    yield Difference(item.name, number, other)
            if one.ts <= newest and one.ts not in known | gone and not _is_wish(one.text):
                yield Difference(item.name, last, f"lacks the message {one.ts} of the thread: {_shown(one)}")
        for number, line in enumerate(lines, start=1):
            ts = line.message_id.removeprefix(here)
            is_here = line.source is Source.USER and line.message_id == f"{here}{line.heard}"
            expected = thread.place.thread <= ts and (not thread.until or ts <= thread.until)
            if is_here and expected and ts not in thread.stamps | gone:
                yield Difference(item.name, number, f"is the message {ts}, which is not in the thread")

    waiting = sum(one.ts > newest and not _is_wish(one.text) for one in thread.said)
    return Compared(tuple(differences()), waiting)


def _newest(lines: Iterable[Line], here: str) -> dict[str, tuple[int, Line]]:
    """The line with the newest words of each message, by its timestamp, without those that were deleted."""
    found: dict[str, tuple[int, Line]] = {}
    for number, line in enumerate(lines, start=1):
        if gone := str(line.meta.get("retracts") or ""):
            found.pop(gone.removeprefix(here), None)
        elif line.source is Source.USER and "message_ts" in line.meta:
            found[str(line.meta["message_ts"])] = number, line
    return found


def _is_wish(text: str) -> bool:
    """A wish, such as "finish", is carried out and is in no transcript."""
    return bool(text.strip()) and not words.answers(text)


def _shown(one: ThreadMessage) -> str:
    text = " ".join(one.text.split())
    return f"{one.person.id} wrote {text[:SHOWN_CHARS]!r}"
