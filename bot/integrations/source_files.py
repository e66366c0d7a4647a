"""What an item begins with: a Markdown file, a folder of OpenSpec, spec-kit or Kiro, or the text of an issue."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import PurePosixPath

from bot.domain.catalog.schema import Schema
from bot.domain.item.item import TITLE_CHARS, TrackerIssue
from bot.domain.item.item_paths import MARKDOWN
from bot.domain.messages import tracker_wording as wording
from bot.domain.specification.exported import ExportEdit, SourceFiles, item_of
from bot.domain.values.markdown import outline
from bot.domain.values.text import clean, one_line
from bot.engine.evidence_ports import LookRefused
from bot.engine.source_ports import CommittedTexts, ReadFiles
from bot.files import CommittedFiles
from bot.integrations.agreed import AgreedItem, AgreedItems
from bot.integrations.committed_exports import is_tasks, known_words
from bot.integrations.exported_edits import SECTIONS, read_back, read_tasks
from bot.integrations.exports import EXPORTED

MOST_BYTES = 256 * 1024
_OF_FORMATS = re.compile(r"(?:requirements|proposal|spec|specs/[^/]+/spec|design|plan|tasks)\.md")
_FIRST = ("requirements.md", "proposal.md", "spec.md", "specs")
"""What people read first. Tasks are the last."""
_NAMED = re.compile(r"(?:Feature Specification|Change|Proposal|PRD): (?P<title>.+)", re.IGNORECASE)
_NAMELESS = re.compile(
    r"(?:change )?proposal|requirements(?: document)?|spec(?:ification)?(?: delta)?|design(?: document)?|tasks",
    re.IGNORECASE,
)
"""Headings of the formats that do not say what the folder is about."""

Texts = Callable[..., Awaitable[CommittedTexts]]


def source_reader(texts: Texts, agreed: Callable[[CommittedFiles], AgreedItems], schema: Schema) -> ReadFiles:
    """*texts* are those of `GitEvidence`, *agreed* reads the items of a commit."""

    async def read(path: str) -> SourceFiles:
        found = await texts(path, _OF_FORMATS, most=MOST_BYTES)
        return await asyncio.to_thread(read_source, path.rstrip("/"), found, agreed, schema)

    return read


def read_issue_text(issue: TrackerIssue, schema: Schema) -> tuple[ExportEdit, ...]:
    """What stands in it at the time of the issue. No file of it is ours, so every row is a new entry."""
    rows = (_as_new(row, {}, schema) for row in read_back(issue.text, headings=headings_of(schema)))
    return tuple(row.but(path=issue.url, commit=issue.updated) for row in rows)


def headings_of(schema: Schema) -> Mapping[str, str]:
    """Also what people say before such an entry in a message, in any of their languages."""
    kinds = [
        one for one in schema.kinds.values() if one.key in {*EXPORTED, *SECTIONS.values()} and not one.part_of
    ]
    labels = {f"{label.casefold()}{s}": one.key for one in kinds for label in one.labels for s in ("", "s")}
    return {**labels, **SECTIONS}


def read_source(
    path: str, found: CommittedTexts, agreed: Callable[[CommittedFiles], AgreedItems], schema: Schema
) -> SourceFiles:
    """Raises LookRefused for what is of no format."""
    if path in found.texts and not path.lower().endswith(MARKDOWN):
        raise LookRefused(wording.no_markdown(path))
    texts = dict(sorted(found.texts.items(), key=lambda one: _place(one[0].removeprefix(f"{path}/"))))
    first = next(iter(texts), "").removeprefix(f"{path}/")
    if not first.partition("/")[0].endswith(_FIRST) and path not in texts:
        raise LookRefused(wording.no_specification(path))
    slug = next(filter(None, map(item_of, texts.values())), "")
    items = agreed(found.files)
    item = items.item(slug) if slug in items.slugs else None
    return SourceFiles(
        path=path,
        commit=found.commit,
        title=one_line(clean(_title(path, texts)), TITLE_CHARS),
        texts=texts,
        edits=tuple(_edits(found.commit, texts, item, schema, is_export=bool(slug))),
        item=slug,
    )


def _place(path: str) -> tuple[int, str]:
    top = path.partition("/")[0]
    return (_FIRST.index(top) if top in _FIRST else len(_FIRST), path)


def _title(path: str, texts: Mapping[str, str]) -> str:
    """The first heading, else what the file or folder is called."""
    headings = outline(next(iter(texts.values()))).headings
    title = next((one.text for one in headings if one.level == 1), "")
    title = found["title"] if (found := _NAMED.fullmatch(title)) else title
    if title and (path in texts or not _NAMELESS.fullmatch(title)):
        return title
    name = re.sub(r"^[0-9]+-", "", PurePosixPath(path).name.removesuffix(MARKDOWN)).replace("-", " ")
    return f"{name[:1].upper()}{name[1:]}"


def _edits(
    commit: str, texts: Mapping[str, str], item: AgreedItem | None, schema: Schema, *, is_export: bool
) -> Iterator[ExportEdit]:
    """Of an export, its tasks are our words. A changed block of an item that is not here is a new entry."""
    known, headings = known_words(item) if item else {}, headings_of(schema)
    for path, text in texts.items():
        tasks = () if is_export else read_tasks(text)
        rows = tasks if is_tasks(path) else read_back(text, known, headings)
        for row in rows:
            yield _as_new(row, known, schema).but(path=path, commit=commit)


def _as_new(row: ExportEdit, known: Mapping[str, str], schema: Schema) -> ExportEdit:
    if not row.id or row.id in known:
        return row
    kind = schema.of_id(row.id)
    return row.but(id="", kind=kind.key if kind else "", named=row.id)
