"""The records of items for the engine: the lines in git, and those that are not committed yet."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator

from bot.domain.messages import record_wording
from bot.domain.privacy.redaction import Redact, unchanged
from bot.domain.roundtable.digest import StateChange
from bot.domain.specification.entries import Specification
from bot.domain.transcript import lines as transcript
from bot.domain.transcript.lines import Line
from bot.domain.transcript.people import NO_NAMES, Names
from bot.engine.ports import ChangesSince, ExportFile, Records
from bot.record.brief import NO_LABELS, Labels, read_record
from bot.record.page import as_html
from bot.record.reading import Transcript, link_of, replay, specification_of
from bot.record.text import as_markdown


async def no_names() -> Names:
    return NO_NAMES


class KeptRecords(Records):
    """
    *content* is asked for the transcript of an item, *people* for what people are called. Records are folded in a
    thread, because long ones take time. Exports pass through *redact*, because others may have written secrets into the
    file.
    """

    def __init__(
        self,
        content: Callable[[str], Awaitable[bytes]],
        redact: Redact = unchanged,
        labels: Labels = NO_LABELS,
        people: Callable[[], Awaitable[Names]] = no_names,
    ) -> None:
        self._labels = labels
        self._content = content
        self._people = people
        self._redact = redact

    async def sheets(
        self, slug: str, pending: tuple[Line, ...], *, title: str, name: str
    ) -> tuple[ExportFile, ...]:
        record = await self._read(slug, pending)

        def make() -> tuple[ExportFile, ...]:
            sheets = _sheets(record, title=title, name=name, labels=self._labels)
            return tuple(
                ExportFile(one.name, one.title, self._redact(one.content.decode(errors="replace")).encode())
                for one in sheets
            )

        return await asyncio.to_thread(make)

    async def recall(
        self, slug: str, pending: tuple[Line, ...], *, person: str, permalink: str
    ) -> ChangesSince:
        record = await self._read(slug, pending)
        return await asyncio.to_thread(lambda: _recalled(record, person=person, permalink=permalink))

    async def _read(self, slug: str, pending: tuple[Line, ...]) -> Transcript:
        """The record as the next commit would write it."""
        content = await self._content(slug)
        ours = frozenset(line.message_id for line in pending)
        written = await asyncio.to_thread(transcript.append, content, pending) if pending else content
        return Transcript(written, await self._people(), ours)


def _sheets(record: Transcript, *, title: str, name: str, labels: Labels) -> Iterator[ExportFile]:
    known = read_record(record, labels)
    text = "".join(f"{row}\n" for row in as_markdown(known, title=title))
    yield ExportFile(f"{name}.md", record_wording.text_title(title), text.encode())
    page = "".join(as_html(known, title=title))
    yield ExportFile(f"{name}.html", record_wording.page_title(title), page.encode())


def _recalled(record: Transcript, *, person: str, permalink: str) -> ChangesSince:
    now = replay(record)
    last = next((one.last for one in now.people if one.key == person), 0)
    before = replay(record, until=last).progress.steps_completed if last else ()
    left_off = _said_at(record, last, permalink=permalink or now.permalink) if last else ""
    known = specification_of(record, until=last) if last else Specification()
    since = StateChange(
        is_said=bool(now.lines),
        away=bool(last),
        steps=tuple(one for one in now.progress.steps_completed if one not in before),
        people={one.key: one.name for one in now.people},
        known=known,
        specification=specification_of(record),
    )
    return ChangesSince(since, left_off)


def _said_at(record: Transcript, number: int, *, permalink: str) -> str:
    """The address in Slack of the line *number*."""
    row = next(row for found, row in record.rows if found == number)
    return link_of(permalink, row) if isinstance(row, Line) else ""
