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
from bot.domain.specification.entries import Entry, Specification
from bot.domain.specification.keywords import words_to_search
from bot.domain.values.text import one_line
from bot.engine.evidence_ports import Evidence, LookRefused, Passage, Sight
from bot.voices.model import ForeignTools, Look, Tool
from bot.voices.prompts.seen import sanitized
from bot.voices.prompts.specification import EntryLines

MOST_LOOKS = 8
RESULT_CHARS = 6_000
TURN_CHARS = 24_000
SECONDS = 5.0
"""For a look of ours; servers of others have a time of their own."""
ASKED_CHARS = 200
MOST_ITEMS = 200
MOST_ENTRIES = 15
FIRST_WORDS = 3
LONGEST_ID = 400
NO_MORE = "You have looked at enough for this turn. Answer now, from what you have seen."
NOTHING = "Nothing was found."
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
TOOLS = (
    _tool(
        "search_code",
        "code",
        "Search the tracked files for a pattern. Gives lines with their ids.",
        pattern="a regular expression (RE2), in one line; upper and lower case are the same",
    ),
    _tool(
        "read_file",
        "code",
        "Read lines of a tracked file.",
        path="the path from the top of the repository",
        first="the first line, counted from 1 (optional)",
        last="the last line (optional)",
    ),
    _tool("list_files", "code", "List tracked files.", glob="such as src/**/*.py"),
    _tool(
        "related_files",
        "code",
        "Files that import a file, or often changed together with it.",
        path="the path from the top of the repository",
    ),
    _tool("git_log", "history", "The newest commits that changed a file or folder.", path="a path"),
    _tool(
        "read_entry",
        "entries",
        "One entry of a specification with all its values: who gave each, when, and what it rests on.",
        id="such as FR-003, or offline-sync/FR-003 of another item",
    ),
    _tool("search_items", "items", "Search what is recorded on earlier items.", text="a few words"),
    _tool("read_item", "items", "What is recorded on another item.", slug="such as offline-sync"),
)
"""`entries` is no area that can be taken away: a prompt may name entries that it has no room for."""


class LookSubject(NamedTuple):
    """The item that a turn is about. What else may be looked at is in *sight*; *words* are those of a first search."""

    slug: str
    sight: Sight
    specification: Specification
    words: tuple[str, ...] = ()

    @classmethod
    def of(cls, rt: Roundtable, sight: Sight) -> "LookSubject":
        return cls(rt.slug, sight, rt.specification, words_to_search(rt.specification, rt.title))


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
        self._redact = redact
        self._chars = 0
        self.looks: list[Look] = []
        self.shown: dict[str, str] = {}
        """The texts that were shown, by the ids that they are cited by."""
        self._foreign = foreign
        viewer = subject.sight.viewer
        of_others = foreign.tools if foreign and viewer.sees_code else ()
        self._of_others = frozenset(one.name for one in of_others)
        ours = (
            [one for one in TOOLS if viewer.sees_code or one.area not in CODE_AREAS] if viewer.tools else []
        )
        self.tools = tuple(one for one in (*ours, *of_others) if persona.may_use(one.area))

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
        """For a model that cannot call tools: a search for the words of the step, where the persona looks first."""
        parts = []
        words = [word for word in self._subject.words if _WORDS.fullmatch(word)][:FIRST_WORDS]
        for name in [one.name for one in self.tools if one.name in {"search_code", "search_items"}]:
            told = {"text": " ".join(words)} if name == "search_items" else {"pattern": "|".join(words)}
            found = await self.look(name, told) if words else ""
            parts += [found] if self.looks and self.looks[-1].ids else []
        return "\n".join(parts)

    async def _found(self, name: str, given: Mapping[str, Any]) -> Sequence[Passage]:
        calls: Mapping[str, Callable[[], Awaitable[Sequence[Passage]]]] = {
            "search_code": lambda: self._searched(_text(given, "pattern")),
            "read_file": lambda: self._read(given),
            "list_files": lambda: self._listed(_text(given, "glob")),
            "related_files": lambda: self._related(_text(given, "path")),
            "git_log": lambda: self._evidence.git_log(
                self._mine(_text(given, "path")), sees=self._subject.sight.sees
            ),
            "read_entry": lambda: self._entry(_text(given, "id")),
            "search_items": lambda: self._searched_items(_text(given, "text")),
            "read_item": lambda: self._item(_text(given, "slug")),
        }
        if name not in {one.name for one in self.tools}:
            raise LookRefused(f"You have no tool {one_line(name, 40)}.")
        if self._foreign and name in self._of_others:
            return [await self._foreign.ask(name, given)]
        return await calls[name]()

    # --- the code ---------------------------------------------------------------------------------------------------

    async def _searched(self, pattern: str) -> Sequence[Passage]:
        """Where the persona looks first stands first."""
        found = await self._evidence.search_code(pattern, within=self._persona.only_paths)
        first = self._persona.first_paths
        return sorted(found, key=lambda one: not _is_in(_path(one.id), first)) if first else found

    async def _read(self, given: Mapping[str, Any]) -> Sequence[Passage]:
        path, first = self._mine(_text(given, "path")), _number(given.get("first"), 1)
        return [await self._evidence.read_file(path, first, max(first, _number(given.get("last"), 10**9)))]

    async def _listed(self, glob: str) -> Sequence[Passage]:
        found = await self._evidence.list_files(glob)
        return [Passage(path, "") for path in found if not self._persona.only_paths or self._is_mine(path)]

    async def _related(self, path: str) -> Sequence[Passage]:
        return await self._evidence.related_files(self._mine(path))

    def _mine(self, path: str) -> str:
        if not self._is_mine(path):
            raise LookRefused(f"You look only at {', '.join(self._persona.only_paths)}.")
        return path

    def _is_mine(self, path: str) -> bool:
        return not self._persona.only_paths or _is_in(path, self._persona.only_paths)

    # --- items ------------------------------------------------------------------------------------------------------

    async def _entry(self, id: str) -> Sequence[Passage]:
        slug, slash, own = id.rpartition("/")
        is_other = bool(slash) and slug != self._subject.slug
        if is_other and not self._persona.may_use("items"):
            raise LookRefused("You do not look at other items.")
        spec = await self._specification(slug) if is_other else self._subject.specification
        entry = spec.entries.get(own)
        if entry is None or entry.kind not in self._schema.kinds:
            raise LookRefused(f"There is no entry {one_line(id, 60)}.")
        return [Passage(f"{slug if is_other else self._subject.slug}/{entry.id}", self._told(entry, spec))]

    async def _item(self, slug: str) -> Sequence[Passage]:
        spec = await self._specification(slug)
        return [Passage(f"{slug}/{id}", line) for id, line in self._lines(spec)]

    async def _searched_items(self, text: str) -> Sequence[Passage]:
        words = {word.casefold() for word in _WORDS.findall(text)}
        if not words:
            raise LookRefused("Search for words of three letters or more.")
        found: list[tuple[int, Passage]] = []
        looked_at = 0
        async for known in self._subject.sight.items():
            if known.slug == self._subject.slug:
                continue
            if (looked_at := looked_at + 1) > MOST_ITEMS:
                break
            title = (len(words & {*_folded(known.title)}), Passage(known.slug, known.title))
            lines = self._lines(await self._evidence.specification(known.slug))
            told = (
                (len(words & {*_folded(line)}), Passage(f"{known.slug}/{id}", line)) for id, line in lines
            )
            found += [one for one in (title, *told) if one[0]]
        return [passage for _, passage in sorted(found, key=lambda one: -one[0])[:MOST_ENTRIES]]

    async def _specification(self, slug: str) -> Specification:
        """Of an item that may be known here; of all others not even their existence is told."""
        if not await self._subject.sight.sees(slug):
            raise LookRefused(f"There is no item {one_line(slug, 60)}.")
        return await self._evidence.specification(slug)

    def _lines(self, spec: Specification) -> Iterable[tuple[str, str]]:
        teller = EntryLines(self._schema, spec)
        for key in self._schema.kinds:
            for entry in spec.active(key):
                yield entry.id, teller.full(entry).removeprefix(f"{entry.id} ")

    def _told(self, entry: Entry, spec: Specification) -> str:
        rows = [EntryLines(self._schema, spec).full(entry).removeprefix(f"{entry.id} ")]
        for field, claims in entry.claims.items():
            for one in claims:
                rests = f", rests on {', '.join(one.sources)}" if one.sources else ""
                rows.append(f"  {field}: {one.value} ({attribution(one)}, in {one.line}{rests})")
        return "\n".join(rows)

    # --- results ----------------------------------------------------------------------------------------------------

    def _fitting(self, found: Sequence[Passage]) -> tuple[str, tuple[str, ...]]:
        """Whole passages, as many as fit, and their ids; only a single one that is too long is cut, and says so."""
        room = min(RESULT_CHARS, TURN_CHARS - self._chars)
        rows: list[str] = []
        ids: list[str] = []
        for one in found:
            id = self._shown(one.id[:LONGEST_ID])
            row = self._shown(
                f"{one.id}{': ' if one.text and chr(10) not in one.text else chr(10)}{one.text}".strip()
            )
            text = self._shown(one.text)
            if len(row) > room and not rows:
                text = text[: max(0, room - len(id))]
                row = f"{row[:room]}\n[cut: {len(row) - room} more characters]"
            if len(row) > room and rows:
                rows.append(f"({len(found) - len(ids)} more results are not shown: ask for less.)")
                break
            rows.append(row)
            ids.append(id)
            if text:
                self.shown[id] = text
            room -= len(row)
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
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number and value > 0 else otherwise


def _path(id: str) -> str:
    return id.rpartition("@")[0].rpartition(":")[0] or id


def _is_in(path: str, globs: Iterable[str]) -> bool:
    return any(Persona.is_at(path, glob) for glob in globs)


def _folded(text: str) -> Iterable[str]:
    return (word.casefold() for word in _WORDS.findall(text))
