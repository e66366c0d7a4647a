"""
What one persona looks at in one turn: read-only tools, each result with the ids that it is cited by.

Limits: so many looks, so many characters of each and of all, so many seconds. What a tool returns was written by
others; secrets in it are redacted, and it cannot end the material that it becomes a part of.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from bot.domain.catalog.personas import Persona
from bot.domain.catalog.schema import Schema
from bot.domain.messages.attribution_wording import attribution
from bot.domain.privacy.redaction import Redact
from bot.domain.roundtable.state import Roundtable
from bot.domain.specification.claims import Entry
from bot.domain.specification.entries import Specification
from bot.domain.specification.keywords import keywords_of, words_in
from bot.domain.values.file_names import is_at
from bot.domain.values.text import one_line
from bot.engine.evidence_ports import Evidence, LookRefused, Passage, Sight
from bot.voices.model import ForeignTools, Look, Tool
from bot.voices.prompts.fencing import sanitized
from bot.voices.prompts.specification import EntryLines

MOST_LOOKS = 6
RESULT_CHARS = 6_000
TURN_CHARS = 24_000
SECONDS = 5.0
"""For a look of ours; servers of others have a time of their own."""
ASKED_CHARS = 200
MOST_ITEMS = 200
MOST_ENTRIES = 15
LONGEST_ID = 400
NO_MORE = "You have looked at enough for this turn. Answer now, from what you have seen."
NOTHING = "Nothing was found."
NO_WORDS = "Search for words of three letters or more that say what you look for."
_EDGE = re.compile(r"^[^\S\n]*+(?:<<<|>>>)", re.MULTILINE)
_WORDS = re.compile(r"\w{3,}")


def _tool(name: str, area: str, description: str, **parameters: str) -> Tool:
    """An optional parameter has `(optional)` in its description."""
    fields = {
        field: {"type": "integer" if field in {"first", "last"} else "string", "description": said}
        for field, said in parameters.items()
    }
    required = [field for field, said in parameters.items() if "(optional)" not in said]
    schema = {"type": "object", "properties": fields, "required": required, "additionalProperties": False}
    return Tool(name, description, schema, area)


CODE_AREAS = frozenset({"code", "history"})
WORDS = "at most 8 words, of code or as people say them; upper and lower case are the same"
PATH = "the path from the top of the repository"
LINE = "a number, counted from 1 (optional)"
ENTRY = "such as FR-003, or offline-sync/FR-003 of another item"
TOOLS = (
    _tool("search_code", "code", "Lines of tracked files, those with the rarest words first.", words=WORDS),
    _tool("read_file", "code", "Lines of a tracked file.", path=PATH, first=LINE, last=LINE),
    _tool("history", "history", "Commits that changed a file or folder, and files related to it.", path=PATH),
    _tool("read_entry", "entries", "One entry: who gave each value, when, and what it rests on.", id=ENTRY),
    _tool("search_items", "items", "Search what is recorded on earlier items.", words=WORDS),
)
"""`entries` is no area that can be taken away: a prompt may name entries that it has no room for."""


class LookSubject(NamedTuple):
    """The item that a turn is about. What else may be looked at is in *sight*."""

    slug: str
    sight: Sight
    specification: Specification
    title: str

    @classmethod
    def of(cls, rt: Roundtable, sight: Sight) -> "LookSubject":
        return cls(rt.slug, sight, rt.specification, rt.title)


class Looker:
    """For one turn of *persona*: a speaker, or a reviewer."""

    def __init__(
        self,
        evidence: Evidence,
        subject: LookSubject,
        schema: Schema,
        persona: Persona,
        *,
        redact: Redact,
        foreign: ForeignTools | None = None,
    ) -> None:
        self._evidence = evidence
        self._subject = subject
        self._schema = schema
        self._persona = persona
        self._filler = schema.operators.tables.filler
        self._redact = redact
        self._chars = 0
        self.looks: list[Look] = []
        self.shown: dict[str, str] = {}
        """The texts that were shown, by the ids that they are cited by."""
        self._foreign = foreign
        viewer = subject.sight.viewer
        of_others = foreign.tools if foreign and viewer.sees_code else ()
        self._of_others = frozenset(one.name for one in of_others)
        ours = [one for one in TOOLS if viewer.sees_code or one.area not in CODE_AREAS]
        offered = (*(ours if viewer.tools else ()), *of_others)
        self.tools = tuple(one for one in offered if any(map(persona.may_use, _areas(one))))
        self._named = frozenset(one.name for one in self.tools)

    @property
    def facts(self) -> Mapping[str, Any]:
        """For the `meta` of a line; nothing where nothing was looked at."""
        looked = [{"tool": one.tool, "for": one.asked, "ids": list(one.ids)} for one in self.looks]
        return {"looked_at": looked} if looked else {}

    async def look(self, name: str, given: Mapping[str, Any]) -> str:
        """The result, or a sentence about why there is none."""
        if len(self.looks) >= MOST_LOOKS or self._chars >= TURN_CHARS:
            return NO_MORE
        asked = self._shown(one_line(", ".join(str(one) for one in given.values()), ASKED_CHARS))
        found: Sequence[Passage] = ()
        told = NOTHING
        try:
            async with asyncio.timeout(None if name in self._of_others else SECONDS):
                found = await self._found(name, given)
        except TimeoutError:
            told = f"That took more than {SECONDS:g} seconds. Ask for less."
        except LookRefused as refused:
            told = str(refused)
        text, ids = self._fitting(found)
        self.looks.append(Look(name, asked, ids))
        self._chars += len(text)
        return text or self._shown(told)

    async def first_look(self) -> str:
        """For a model that cannot call tools: a search for the words of the item."""
        words = " ".join(keywords_of(self._subject.specification, self._filler)) or self._subject.title
        parts = []
        for name in ("search_code", "search_items") if words_in(words, self._filler) else ():
            found = await self.look(name, {"words": words}) if name in self._named else ""
            parts += [found] if found and self.looks[-1].ids else []
        return "\n".join(parts)

    async def first_search(self, said: str) -> str:
        """Of the code, for what people *said*, before a model is asked; empty when nothing was found."""
        if "search_code" not in self._named or not words_in(said, self._filler):
            return ""
        found = await self.look("search_code", {"words": said})
        if self.looks[-1].ids:
            return found
        self.looks.pop()
        return ""

    async def _found(self, name: str, given: Mapping[str, Any]) -> Sequence[Passage]:
        calls: Mapping[str, Callable[[], Awaitable[Sequence[Passage]]]] = {
            "search_code": lambda: self._searched(_text(given, "words")),
            "read_file": lambda: self._read(given),
            "history": lambda: self._history(self._mine(_text(given, "path"))),
            "read_entry": lambda: self._entry(_text(given, "id")),
            "search_items": lambda: self._searched_items(_text(given, "words")),
        }
        if name not in self._named:
            raise LookRefused(f"You have no tool {one_line(name, 40)}.")
        if self._foreign and name in self._of_others:
            return [await self._foreign.ask(name, given)]
        return await calls[name]()

    async def _searched(self, text: str) -> Sequence[Passage]:
        """Where the persona looks first stands first, behind the remark."""
        words = words_in(text, self._filler)
        if not words:
            raise LookRefused(NO_WORDS)
        found = await self._evidence.search_code(words, within=self._persona.only_paths)
        at = self._persona.first_paths
        return sorted(found, key=lambda one: bool(one.id) and not is_at(one.id.split(":")[0], *at))

    async def _read(self, given: Mapping[str, Any]) -> Sequence[Passage]:
        path, first = self._mine(_text(given, "path")), _number(given.get("first"), 1)
        return [await self._evidence.read_file(path, first, max(first, _number(given.get("last"), 10**9)))]

    async def _history(self, path: str) -> Sequence[Passage]:
        """Of the two areas, what the persona may look at."""
        found: list[Passage] = []
        if self._persona.may_use("history"):
            found += await self._evidence.git_log(path, sees=self._subject.sight.sees)
        if self._persona.may_use("code"):
            found += await self._evidence.related_files(path)
        return found

    def _mine(self, path: str) -> str:
        if self._persona.only_paths and not is_at(path, *self._persona.only_paths):
            raise LookRefused(f"You look only at {', '.join(self._persona.only_paths)}.")
        return path

    async def _entry(self, id: str) -> Sequence[Passage]:
        """Of an item that may not be known here, not even its existence is told."""
        slug, _, own = id.rpartition("/")
        spec, slug = self._subject.specification, slug or self._subject.slug
        if slug != self._subject.slug:
            if not self._persona.may_use("items"):
                raise LookRefused("You do not look at other items.")
            if not await self._subject.sight.sees(slug):
                raise LookRefused(f"There is no item {one_line(slug, 60)}.")
            spec = await self._evidence.specification(slug)
        entry = spec.entries.get(own)
        if entry is None or entry.kind not in self._schema.kinds:
            raise LookRefused(f"There is no entry {one_line(id, 60)}.")
        return [Passage(f"{slug}/{entry.id}", self._told(entry, spec))]

    async def _searched_items(self, text: str) -> Sequence[Passage]:
        words = {word.casefold() for word in words_in(text, self._filler)}
        if not words:
            raise LookRefused(NO_WORDS)
        found: list[Passage] = []
        looked_at = 0
        async for known in self._subject.sight.items():
            if known.slug == self._subject.slug:
                continue
            if (looked_at := looked_at + 1) > MOST_ITEMS:
                break
            spec = await self._evidence.specification(known.slug)
            found += (Passage(known.slug, known.title), *self._lines(known.slug, spec))
        counts = [(len(words.intersection(_WORDS.findall(one.text.casefold()))), one) for one in found]
        best = sorted((one for one in counts if one[0]), key=lambda one: -one[0])
        return [one for _, one in best[:MOST_ENTRIES]]

    def _lines(self, slug: str, spec: Specification) -> Iterable[Passage]:
        teller = EntryLines(self._schema, spec)
        for key in self._schema.kinds:
            for entry in spec.active(key):
                yield Passage(f"{slug}/{entry.id}", teller.full(entry).removeprefix(f"{entry.id} "))

    def _told(self, entry: Entry, spec: Specification) -> str:
        rows = [EntryLines(self._schema, spec).full(entry).removeprefix(f"{entry.id} ")]
        for field, claims in entry.claims.items():
            for one in claims:
                rests = f", rests on {', '.join(one.sources)}" if one.sources else ""
                rows.append(f"  {field}: {one.value} ({attribution(one)}, in {one.line}{rests})")
        return "\n".join(rows)

    def _fitting(self, found: Sequence[Passage]) -> tuple[str, tuple[str, ...]]:
        """Whole passages, as many as fit, and their ids; only a single one that is too long is cut, and says so."""
        room = min(RESULT_CHARS, TURN_CHARS - self._chars)
        rows: list[str] = []
        ids: list[str] = []
        for one in found:
            id = self._shown(one.id[:LONGEST_ID])
            between = "\n" if "\n" in one.text else ": "
            row = self._shown(between.join(filter(None, (one.id, one.text))))
            text = self._shown(one.text)
            if len(row) > room and not rows:
                text = text[: max(0, room - len(id))]
                row = f"{row[:room]}\n[cut: {len(row) - room} more characters]"
            if len(row) > room and rows:
                rows.append(f"({len(found) - len(rows)} more results are not shown: ask for less.)")
                break
            rows.append(row)
            room -= len(row)
            if id:
                ids.append(id)
            if id and text:
                self.shown[id] = text
        return "\n".join(rows), tuple(ids)

    def _shown(self, text: str) -> str:
        return _EDGE.sub("", sanitized(self._redact(text)))


LookerOf = Callable[[LookSubject, Schema, Persona], Looker | None]


def no_looker(*_: object) -> None:
    """For those that look at nothing."""


def _text(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name)
    if not isinstance(value, str) or not value.strip():
        raise LookRefused(f"`{name}` is missing.")
    return value.strip()


def _number(value: Any, otherwise: int) -> int:
    return value if type(value) is int and value > 0 else otherwise


def _areas(tool: Tool) -> Iterable[str]:
    """Commits are of the history, and related files of the code: a persona may be kept to either."""
    return CODE_AREAS if tool.area == "history" else (tool.area,)
