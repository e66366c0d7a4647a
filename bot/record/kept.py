"""The records of a workspace's items, as the engine asks for them: git's lines, and those that are not there yet."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import dropwhile
from pathlib import Path
from tempfile import TemporaryDirectory

from bot.domain import export_wording, transcript
from bot.domain.digest import Since
from bot.domain.redaction import Redact, unchanged
from bot.domain.replay_state import State
from bot.domain.transcript import Line
from bot.engine.ports import Recalled, Records, Sheet
from bot.errors import WorkspaceError
from bot.record.entries import Entry, entries, link_of
from bot.record.markdown import as_markdown
from bot.record.page import as_html
from bot.record.reading import replay, rows
from bot.record.verifying import TRANSCRIPT


class KeptRecords(Records):
    """
    *items* is the folder of the items. Long records take their time, and a thread of their own. What is given away of
    them goes through *redact*: they are also of what others wrote into the file.
    """

    def __init__(self, items: Path, redact: Redact = unchanged) -> None:
        self._items = items
        self._redact = redact

    async def sheets(
        self, slug: str, pending: tuple[Line, ...], *, title: str, name: str
    ) -> tuple[Sheet, ...]:
        def made() -> tuple[Sheet, ...]:
            with self._current(slug, pending) as path:
                sheets = _sheets(path, title=title, name=name)
                return tuple(Sheet(one.name, one.title, self._redacted(one.content)) for one in sheets)

        return await asyncio.to_thread(made)

    async def recall(self, slug: str, pending: tuple[Line, ...], *, person: str, permalink: str) -> Recalled:
        def recalled() -> Recalled:
            with self._current(slug, pending) as path:
                return _recalled(path, person=person, permalink=permalink)

        return await asyncio.to_thread(recalled)

    def _redacted(self, content: bytes) -> bytes:
        return self._redact(content.decode(errors="replace")).encode()

    @contextmanager
    def _current(self, slug: str, pending: tuple[Line, ...]) -> Iterator[Path]:
        """The record as the next commit would leave it, beside the one in the workspace."""
        kept = self._items / slug / TRANSCRIPT
        try:
            if not pending and kept.is_file():
                yield kept
                return
            with TemporaryDirectory(prefix="roundtable-") as folder:
                path = Path(folder) / kept.name
                path.write_bytes(transcript.append(_content(kept), pending))
                yield path
        except OSError as error:
            sentence = f"The record of {slug} cannot be read: {error.strerror}."
            raise WorkspaceError(sentence, reason="unreadable") from error


def _content(path: Path) -> bytes:
    """Nothing before the first commit."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def _sheets(path: Path, *, title: str, name: str) -> Iterator[Sheet]:
    state = replay(path).state()

    def lines() -> Iterator[Entry]:
        return entries(path, permalink=state.permalink)

    text = "".join(f"{row}\n" for row in as_markdown(lines(), state, title=title))
    yield Sheet(f"{name}.md", export_wording.text_title(title), text.encode())
    page = "".join(as_html(lines, state, title=title))
    yield Sheet(f"{name}.html", export_wording.page_title(title), page.encode())


def _recalled(path: Path, *, person: str, permalink: str) -> Recalled:
    now = replay(path).state()
    last = next((one.last for one in now.people if one.key == person), 0)
    before = replay(path, until=last).state() if last else State()
    left_off = _said_at(path, last, permalink=permalink or now.permalink) if last else ""
    return Recalled(Since(before, now), left_off)


def _said_at(path: Path, number: int, *, permalink: str) -> str:
    """Where in Slack the line *number* stands."""
    with path.open("rb") as file:
        _, row = next(dropwhile(lambda found: found[0] < number, rows(file)))
    return link_of(permalink, row.get("meta", {})) if isinstance(row, dict) else ""
