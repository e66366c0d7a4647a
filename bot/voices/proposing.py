"""
A model's proposals for the open step, as patches. A proposal that does not fit the kinds of the step, or names no
source that was shown, is left out with the reason and never repaired. Sources are messages, entries, and what a tool
of this turn showed, such as lines of code; one that was not shown is left out, too. A decision must be in the words of
a person who is named as its source. What the sources of the others do not say is marked.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from bot.domain.catalog.schema import CANONICAL_ID, NOTE, REMARK, Kind, Schema
from bot.domain.specification import checks, entailment
from bot.domain.specification.entries import DECIDED_BY_PEOPLE, NOT_LISTED, Entry, Patch, Specification
from bot.domain.transcript.lines import QUOTED
from bot.domain.values.text import one_line, sentences_in
from bot.engine.ports import Facts
from bot.voices.answers import rows_in
from bot.voices.model import Prompt
from bot.voices.prompts import tasks, wanted
from bot.voices.prompts.scene import Scene
from bot.voices.prompts.seen import sanitized
from bot.voices.sources import DROPPED_CHARS, MOST_SOURCES, Sources, dropped, quoted, texts_in

MOST_PROPOSALS = 8
"""As many as a card shows at once."""
MOST_READ = 60
"""Of an answer; what comes after them is not looked at."""

NOTHING_SEEN: Mapping[str, str] = {}

NO_SOURCE = "it names no source that was shown"
NOT_OF_A_PERSON = "no person said it in these words"
DOES_NOT_FIT = "it does not fit the entries of this step"
TOO_MANY = f"more than {MOST_PROPOSALS} were proposed"


class Proposals(NamedTuple):
    """
    *dropped* says of everything that was left out what it was, and why; *texts* are those of the sources that were
    shown, *quoted* the passages of those that cannot be looked up later.
    """

    patches: tuple[Patch, ...]
    dropped: tuple[Mapping[str, str], ...] = ()
    texts: Mapping[str, str] = {}
    quoted: Mapping[str, str] = {}

    def facts_with(self, facts: Facts, *also: Mapping[str, str]) -> Facts:
        """*facts* with what was left out, *also* of the answer around it, and with what is quoted."""
        left_out = [*self.dropped, *also]
        more = {"dropped": left_out, QUOTED: {**facts.get(QUOTED, {}), **self.quoted}}
        return {**facts, **{name: told for name, told in more.items() if told}}


def prompt(scene: Scene) -> Prompt | None:
    """None when nothing was said, or the step collects nothing."""
    return tasks.propose(scene) if scene.rt.answers and wanted.kinds(scene) else None


def proposals(answer: str, scene: Scene, shown: Mapping[str, str] = NOTHING_SEEN) -> Proposals | None:
    """None when the answer has no list of entries."""
    given = rows_in(answer, "entries")
    return None if given is None else proposed(given, scene, shown)


def proposed(given: Sequence[Any], scene: Scene, shown: Mapping[str, str] = NOTHING_SEEN) -> Proposals:
    """Of what a model gave as entries, what can be proposed. *shown* are texts that tools showed, by their ids."""
    rt, schema = scene.rt, scene.playbook.schema
    said = {rt.line_of(answer.ts): answer.text for answer in rt.answers}
    entries = {entry.id: checks.text_of_entry(entry) for entry in _entries_shown(scene)}
    spoken = {rt.line_of(answer.ts): f"{rt.name_of(answer.person)}: {answer.text}" for answer in rt.answers}
    sources = Sources({**entries, **spoken}, shown, rt.slug)
    reader = _Reader(schema, rt.specification, said, sources)
    found = tuple(reader.read(given, {kind.key for kind in wanted.kinds(scene)}))
    texts, known = sources.texts, rt.specification.entries
    marked = tuple(checks.checked(one, texts, schema, known) for one in found)
    passages: dict[str, str] = {}
    for one in found:
        claim = " ".join(map(str, one.set.values()))
        passages = {**quoted(one.sources, texts, claim), **passages}
    return Proposals(marked, tuple(reader.dropped), texts, passages)


class _Reader:
    """`said` are people's answers by the ids of their lines."""

    def __init__(
        self, schema: Schema, specification: Specification, said: Mapping[str, str], sources: Sources
    ) -> None:
        self._schema = schema
        self._spec = specification
        self._said = said
        self._sources = sources
        self._taken: list[str] = []
        self.dropped: list[Mapping[str, str]] = []

    def read(self, given: Sequence[Any], allowed: set[str]) -> Iterator[Patch]:
        for one in given[:MOST_READ]:
            if len(self._taken) >= MOST_PROPOSALS:
                self._drop(one, TOO_MANY)
                continue
            patch = self._patch(one, allowed) if isinstance(one, Mapping) else DOES_NOT_FIT
            if isinstance(patch, str):
                self._drop(one, patch)
                continue
            self._taken.append(patch.id)
            for named in _named(one):
                if not self._sources.find(named):
                    self.dropped.append(dropped(named))
            yield patch

    def _drop(self, given: Any, why: str) -> None:
        told = given.get("fields", given) if isinstance(given, Mapping) else given
        words = "; ".join(map(str, told.values())) if isinstance(told, Mapping) else str(told)
        self.dropped.append({"what": one_line(sanitized(words), DROPPED_CHARS), "why": why})

    def _patch(self, given: Mapping[str, Any], allowed: set[str]) -> Patch | str:
        """The patch, or why it is left out."""
        sources = tuple(dict.fromkeys(filter(None, map(self._sources.find, _named(given)))))
        if not sources:
            return NO_SOURCE
        id = str(given.get("id") or "")
        entry = self._spec.entries.get(id)
        kind = self._schema.kinds.get(entry.kind if entry else str(given.get("kind") or ""))
        values = self._values(kind, given.get("fields")) if kind else {}
        if kind is None or not values or kind.key == NOTE:
            return DOES_NOT_FIT
        decided = str(values.get(kind.text, "")) if kind.key in DECIDED_BY_PEOPLE else ""
        if decided and not self._is_said(decided, sources):
            return NOT_OF_A_PERSON
        if entry:
            new = {field: value for field, value in values.items() if entry[field] != value}
            fits = bool(new) and self._spec.lives(id)
            return Patch(id=id, set=new, sources=sources) if fits else DOES_NOT_FIT
        if kind.key not in allowed or kind.text not in values:
            return DOES_NOT_FIT
        owner = str(given.get("part_of") or "")
        if bool(kind.part_of) != self._spec.lives(owner):
            return DOES_NOT_FIT
        new_id = self._spec.next_id(kind, owner, self._taken)
        return Patch(id=new_id, kind=kind.key, part_of=owner, new=True, set=values, sources=sources)

    def _values(self, kind: Kind, given: Any) -> dict[str, Any]:
        """Of the fields that exist, with values of their shape; references have to exist."""
        found: dict[str, Any] = {}
        for name, value in given.items() if isinstance(given, Mapping) else ():
            field = kind.fields.get(str(name))
            if field is None or name == REMARK:
                continue
            read = field.read(sanitized(value)) if isinstance(value, str) else _sanitized(value)
            if field.many and isinstance(read, str):
                read = [read]
            ids = [one for one in texts_in(read) if CANONICAL_ID.fullmatch(one)] if field.to else []
            if field.accepts(read) and read != [] and all(map(self._spec.lives, ids)):
                found[str(name)] = read
        return found

    def _is_said(self, text: str, sources: Iterable[str]) -> bool:
        """Verbatim, by a person, and neither as a question nor with a word before it that denies it."""
        decided = _in_one_line(text)
        words = re.compile(rf"(?<!\w){re.escape(decided)}(?!\w)")
        sentences = (one for source in sources for one in sentences_in(self._said.get(source, "")))
        for sentence in sentences if decided else ():
            found = words.search(line := _in_one_line(sentence))
            if found and not line.endswith("?") and not entailment.is_left_open(line[: found.start()]):
                return True
        return False


def _entries_shown(scene: Scene) -> list[Entry]:
    spec, kinds = scene.rt.specification, scene.playbook.schema.kinds
    return [
        one for one in spec.entries.values() if one.kind in kinds.keys() - NOT_LISTED and spec.lives(one.id)
    ]


def _named(given: Mapping[str, Any]) -> list[str]:
    """The sources that a proposal names."""
    return list(dict.fromkeys(texts_in(given.get("sources"))))[:MOST_SOURCES]


def _sanitized(value: Any) -> Any:
    if isinstance(value, list):
        return [sanitized(one) if isinstance(one, str) else one for one in value]
    return value


def _in_one_line(text: str) -> str:
    return " ".join(sanitized(text).split()).casefold().rstrip(".!")
