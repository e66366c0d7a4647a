"""
A model's proposals for the open step, as patches. What does not fit the kinds of the step is left out with the reason,
and never repaired. Quoted are messages of people, entries that they accepted, and what a tool of this turn showed, such
as lines of code; a quote of anything else is left out, too. Decisions and objections are the words of a person, and
quote nothing else. A value that its quotes do not say, or that has none, is marked.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from bot.domain.catalog.schema import CANONICAL_ID, NOTE, REMARK, Kind, Schema
from bot.domain.messages.draft_wording import (
    DOES_NOT_FIT,
    MOST_PROPOSALS,
    NO_SUCH_VALUE,
    NOT_OF_A_PERSON,
    TOO_MANY,
)
from bot.domain.specification import checks
from bot.domain.specification.claim_check import ClaimCheck, Root, stands_in
from bot.domain.specification.claims import Quote
from bot.domain.specification.entries import CONFIRMED_BY_AUTHOR, Specification
from bot.domain.specification.fold import DECIDED_BY_PEOPLE, QUOTE_CHARS, Patch
from bot.domain.transcript.lines import LEFT_OUT, QUOTED
from bot.domain.values.text import one_line
from bot.engine.ports import Facts
from bot.voices.answers import quotes_of_fields, rows_in
from bot.voices.prompts import wanted
from bot.voices.prompts.fencing import sanitized
from bot.voices.prompts.scene import Scene
from bot.voices.sources import (
    DROPPED_CHARS,
    MOST_DROPPED,
    ProseCheck,
    Sources,
    dropped,
    quoted,
    roots_to_read,
)

IN_THEIR_WORDS = DECIDED_BY_PEOPLE | CONFIRMED_BY_AUTHOR
MOST_READ = 60
"""Rows of an entry; what comes after them is not looked at."""

NOTHING_SEEN: Mapping[str, str] = {}

IS_RECORDED = "it is recorded already"


class Proposals(NamedTuple):
    """
    *dropped* says what was left out, and why; *left_out* counts entries and values by the reason. *quoted* are the
    passages of sources that cannot be looked up later.
    """

    patches: tuple[Patch, ...]
    dropped: tuple[Mapping[str, str], ...] = ()
    left_out: Mapping[str, int] = {}
    quoted: Mapping[str, str] = {}

    def facts_with(self, facts: Facts) -> Facts:
        """*facts* with what was left out, and with what is quoted."""
        more = {
            "dropped": [*self.dropped],
            LEFT_OUT: dict(self.left_out),
            QUOTED: {**facts.get(QUOTED, {}), **self.quoted},
        }
        return {**facts, **{name: told for name, told in more.items() if told}}


def proposed(given: Sequence[Any], scene: Scene, shown: Mapping[str, str] = NOTHING_SEEN) -> Proposals:
    """Of what a model gave as entries, what can be proposed. *shown* are texts that tools showed, by their ids."""
    rt, schema = scene.rt, scene.playbook.schema
    said = roots_to_read(rt)
    roots = {**checks.roots_in(rt.specification), **said}
    sources = Sources({line: f"{root.speaker}: {root.text}" for line, root in roots.items()}, shown, rt.slug)
    check = checks.check_for(scene.playbook, rt.people.values())
    reader = _Reader(schema, rt.specification, said, sources, check)
    found = tuple(reader.read(given, {kind.key for kind in wanted.kinds(scene)}))
    shown_roots = {id: Root("", text) for id, text in sources.texts.items()}
    roots = {**shown_roots, **checks.roots_heard(rt.specification), **roots}
    entries = rt.specification.entries
    marked = tuple(checks.checked(one, roots, check, schema, entries) for one in found)
    passages: dict[str, str] = {}
    for one in found:
        claim = " ".join(map(str, one.set.values()))
        passages = {**quoted(one.sources, sources.texts, claim), **passages}
    return Proposals(marked, tuple(reader.dropped[:MOST_DROPPED]), reader.left_out, passages)


def prose_check(scene: Scene, shown: Mapping[str, str] = NOTHING_SEEN) -> ProseCheck:
    """*shown* is as for `proposed`."""
    rt, debate = scene.rt, scene.rt.elaboration
    turns = [turn for turn in debate.turns if turn.human] if debate else []
    roots = {
        **checks.roots_in(rt.specification),
        **roots_to_read(rt),
        **{turn.line: Root(turn.name, turn.text) for turn in turns},
    }
    check = checks.check_for(scene.playbook, rt.people.values())
    return ProseCheck(roots, shown, rt.slug, check, {turn.id: turn.line for turn in turns})


class _Reader:
    """`said` are people's answers by the ids of their lines."""

    def __init__(
        self,
        schema: Schema,
        specification: Specification,
        said: Mapping[str, Root],
        sources: Sources,
        check: ClaimCheck,
    ) -> None:
        self._schema = schema
        self._spec = specification
        self._said = said
        self._sources = sources
        self._check = check
        self._taken: list[str] = []
        self._misfits: list[Mapping[str, Any]] = []
        self.dropped: list[Mapping[str, str]] = []
        self.left_out = Counter[str]()

    def read(self, given: Sequence[Any], allowed: set[str]) -> Iterator[Patch]:
        for one in given:
            if len(self._taken) >= MOST_PROPOSALS:
                self._drop(one, TOO_MANY)
                continue
            patch = self._patch(one, allowed) if isinstance(one, Mapping) else DOES_NOT_FIT
            if isinstance(patch, str):
                self._drop(one, patch)
                continue
            self._taken.append(patch.id)
            for value in self._misfits:
                self._drop(value, NO_SUCH_VALUE)
            named = (quote.line for _, quote in quotes_of_fields(one))
            unknown = (line for line in named if not self._sources.find(line))
            self.dropped += map(dropped, dict.fromkeys(unknown))
            yield patch

    def _drop(self, given: Any, why: str) -> None:
        if why != IS_RECORDED:
            self.left_out[why] += 1
        if len(self.dropped) >= MOST_DROPPED:
            return
        told = (_fields_in(given.get("fields")) or given) if isinstance(given, Mapping) else given
        words = "; ".join(map(str, told.values())) if isinstance(told, Mapping) else str(told)
        self.dropped.append({"what": one_line(sanitized(words), DROPPED_CHARS), "why": why})

    def _patch(self, given: Mapping[str, Any], allowed: set[str]) -> Patch | str:
        """The patch, or why it is left out."""
        quotes = [
            (field, one.but(line=line))
            for field, one in quotes_of_fields(given)
            if (line := self._sources.find(one.line))
        ]
        sources = tuple(dict.fromkeys(quote.line for _, quote in quotes))
        quotes = [(field, root) for field, one in quotes for root in checks.said_quotes(one, self._spec)]
        id = str(given.get("id") or "")
        entry = self._spec.entries.get(id)
        kind = self._schema.kinds.get(entry.kind if entry else str(given.get("kind") or ""))
        values = self._values(kind, given.get("fields")) if kind else {}
        if kind is None or not values or kind.key == NOTE:
            return DOES_NOT_FIT
        words = str(values.get(kind.text, "")) if kind.key in IN_THEIR_WORDS else ""
        said_in = self._said_in(words, sources) if words else ""
        if words and not said_in:
            return NOT_OF_A_PERSON
        if entry:
            values = {field: value for field, value in values.items() if entry[field] != value}
        quoted = {
            name: found
            for name in values
            if (found := tuple(quote for field, quote in quotes if (field or kind.text) == name))
        }
        if said_in and kind.text in values:
            quoted[kind.text] = (Quote(line=said_in, words=words[:QUOTE_CHARS]),)
        rests_on = {"sources": sources, "quotes": quoted}
        if entry:
            if not self._spec.lives(id):
                return DOES_NOT_FIT
            return Patch(id=id, set=values, **rests_on) if values else IS_RECORDED
        if kind.key not in allowed or kind.text not in values:
            return DOES_NOT_FIT
        owner = str(given.get("part_of") or "")
        if bool(kind.part_of) != self._spec.lives(owner):
            return DOES_NOT_FIT
        new_id = self._spec.next_id(kind, owner, self._taken)
        return Patch(id=new_id, kind=kind.key, part_of=owner, new=True, set=values, **rests_on)

    def _values(self, kind: Kind, given: Any) -> dict[str, Any]:
        """Of the fields that exist, with values of their shape; references have to exist. The others are misfits."""
        found: dict[str, Any] = {}
        self._misfits = []
        for name, value in _fields_in(given).items():
            field = kind.fields.get(name)
            if value in (None, "", []):
                continue
            if field is None or field.by_people or name == REMARK:
                self._misfits.append({"fields": {name: value}})
                continue
            read = field.read(sanitized(value)) if isinstance(value, str) else _sanitized(value)
            if field.many and isinstance(read, str):
                read = [read]
            named = map(str, read if isinstance(read, list) else [read])
            ids = [one for one in named if CANONICAL_ID.fullmatch(one)] if field.to else []
            if field.accepts(read) and read != [] and all(map(self._spec.lives, ids)):
                found[name] = read
            else:
                self._misfits.append({"fields": {name: value}})
        return found

    def _said_in(self, words: str, sources: Iterable[str]) -> str:
        """The line of a person with these *words*, neither as a question nor with a word around it that denies them."""
        for id in sources:
            line = self._said.get(id)
            if line and stands_in(words, line.text) and not self._check.flaws(words, [(line, words)]):
                return id
        return ""


def _fields_in(given: Any) -> dict[str, Any]:
    """Of rows, or of an object. Several rows of one field are a list."""
    if isinstance(given, Mapping):
        return {str(name): value for name, value in given.items()}
    found: dict[str, list[Any]] = {}
    for one in rows_in(given)[:MOST_READ]:
        found.setdefault(str(one.get("field")), []).append(one.get("value"))
    return {name: values if values[1:] else values[0] for name, values in found.items()}


def _sanitized(value: Any) -> Any:
    if isinstance(value, list):
        return [sanitized(one) if isinstance(one, str) else one for one in value]
    return value
