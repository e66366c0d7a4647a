"""
The items of one commit, as every door to other tools reads them: commands, exports, the trace and agents. It needs git
alone, and the reader of the clone may read everything in it.
"""

from collections.abc import Callable, Collection, Iterator
from copy import copy
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import NamedTuple, Protocol

from bot.domain.catalog.schema import Schema
from bot.domain.item import meta
from bot.domain.item.item_paths import META, SPECIFICATION, TRANSCRIPT
from bot.domain.item.meta import Meta
from bot.domain.privacy.redaction import Redact, unchanged
from bot.domain.specification.address import no_item, read_entry_address
from bot.domain.specification.shown import ShownEntry, ShownItem
from bot.domain.specification.snapshot import NewerFormat, folded_content, vouched
from bot.domain.transcript import lines, people
from bot.domain.transcript.lines import Line
from bot.domain.transcript.people import PEOPLE_FILE, Names, with_names
from bot.domain.transcript.seal import TrustedKeys, foreign_ids, unsealed_lines
from bot.domain.values.text import one_line, visible
from bot.errors import UserError, WorkspaceError
from bot.files import ARTIFACT_BYTES, META_BYTES, TRANSCRIPT_BYTES, CommittedFiles

TITLE_CHARS = 300


class AgreedItem(NamedTuple):
    """`private`: only some people can see the channel of the item. None where meta.json does not say."""

    slug: str
    title: str
    private: bool | None
    shown: ShownItem


@dataclass(frozen=True, eq=False)
class AgreedItems:
    """
    Lines that the *trusted* keys did not seal only propose; without any, the key of a transcript's first line counts.
    What is shown passes through *redact*.
    """

    files: CommittedFiles
    _: KW_ONLY
    items_dir: str
    schema: Schema
    trusted: TrustedKeys | None = None
    redact: Redact = unchanged
    _known: dict[str, AgreedItem] = field(default_factory=dict, init=False)

    @cached_property
    def slugs(self) -> tuple[str, ...]:
        return tuple(slug for slug, _ in self.files.folders(self.items_dir))

    def limited_to(self, slugs: Collection[str]) -> "AgreedItems":
        """Others do not exist there. What is open here is open there, and the other way round."""
        limited = copy(self)
        limited.__dict__["slugs"] = tuple(slug for slug in self.slugs if slug in slugs)
        return limited

    def item(self, slug: str) -> AgreedItem:
        """Raises UserError where there is none, and WorkspaceError where it cannot be read."""
        if slug not in self.slugs:
            raise UserError(no_item(slug, self.slugs))
        if slug not in self._known:
            self._known[slug] = self._read(slug)
        return self._known[slug]

    def show(self, text: str, default: str = "") -> ShownEntry:
        """The entry at the address *text*. Raises UserError and WorkspaceError."""
        address = read_entry_address(text, self.slugs, default)
        return self.item(address.item).shown.show_entry(address.id)

    def _read(self, slug: str) -> AgreedItem:
        try:
            content = self._content(slug, TRANSCRIPT, TRANSCRIPT_BYTES) or b""
            text = self._content(slug, SPECIFICATION, ARTIFACT_BYTES)
            held = _meta(self._content(slug, META, META_BYTES))
        except OSError as error:
            raise WorkspaceError(f"The record of {slug} cannot be read: {error.strerror}.") from error
        names = self._names
        try:
            known = vouched(text, content, self.trusted)
        except NewerFormat as error:
            raise WorkspaceError(f"The record of {slug} cannot be read: {error}") from error

        def transcript() -> Iterator[Line]:
            return (with_names(line, names) for line in lines.read(content))

        shown = ShownItem(
            slug,
            known or folded_content(content, self.trusted, names).specification,
            transcript,
            schema=self.schema,
            names=names,
            foreign=lambda: foreign_ids(content, self.trusted),
            redact=self.redact,
            unsealed=unsealed_lines(content, self.trusted),
        )
        is_private = held.slack.private if held.slack else False
        title = one_line(self.redact(visible(held.description)), TITLE_CHARS)
        return AgreedItem(slug, title or visible(slug), is_private, shown)

    def _content(self, slug: str, path: str, most: int) -> bytes | None:
        return self.files.read(f"{self.items_dir}/{slug}/{path}", most)

    @cached_property
    def _names(self) -> Names:
        """Without the file, people are shown by their ids."""
        try:
            return people.read_people(self.files.read(f"{self.items_dir}/{PEOPLE_FILE}", META_BYTES)).names
        except OSError:
            return people.NO_NAMES


class FilesOfCommit(CommittedFiles, Protocol):
    @property
    def commit(self) -> object: ...


class NewestItems:
    """The items of the newest commit, which stay open until there is another one. For one thread."""

    def __init__(
        self, tip: Callable[[], FilesOfCommit], opened: Callable[[CommittedFiles], AgreedItems]
    ) -> None:
        self._tip = tip
        self._opened = opened
        self._known: tuple[object, AgreedItems] | None = None

    def __call__(self) -> AgreedItems:
        files = self._tip()
        if self._known is None or self._known[0] != files.commit:
            self._known = files.commit, self._opened(files)
        return self._known[1]


def _meta(content: bytes | None) -> Meta:
    try:
        return meta.read(content or b"", now="").meta
    except meta.Corrupt:
        return Meta()
