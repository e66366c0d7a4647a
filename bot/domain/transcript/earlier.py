"""
Lines of earlier versions, with the entries that this version would have written beside them.

Those versions told positions, decisions, objections and questions by facts of a line's `meta`, or only by the bullets
of a synthesis. Nothing else reads these facts and bullets. Before there were entries, what people said in a step stood
in its line alone: each message is a note.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from bot.domain.catalog.schema import NOTE, VALUE_CHARS
from bot.domain.transcript.lines import ENTRIES, RULE, TO, VOICE, Line, LinePhase, Source
from bot.domain.transcript.seal import SEAL
from bot.domain.values.text import one_line

SYNTHESIS = "### Elaboration Insights (Step "
"""How the content of a line with a synthesis begins."""
DECISION, QUESTION, OBJECTION, POSITION = "decision", "question", "objection", "position"
PREFIXES = {DECISION: "DEC", QUESTION: "Q", OBJECTION: "OBJ", POSITION: "POS", NOTE: "NOTE"}
STANCES = "stances"
VERDICT = "verdict"
"""Of a role in the planning workshop; read where another tool wrote the line."""
FACTS = frozenset({DECISION, QUESTION, OBJECTION, POSITION, STANCES})
HEADINGS = {"#### Decisions Made": DECISION, "#### Open Questions": QUESTION, "#### Objections": OBJECTION}
NONE = "None recorded."
TEXT_CHARS = 400
_CHOSEN = re.compile(r" (?:--|[–—]) chosen by ")
"""A press in the planning workshop, which decides nothing about the item."""
_BY = re.compile(r" \((?P<by>[^()]{1,80})\)\Z")
_NAMES = re.compile(r"\A\[(?P<by>[^\]]{1,200})\] ")
_REFS = re.compile(r"(?<!\s)(?<!\d\])(?:\s*+\[t\d{2,}(?:, ?t\d{2,})*+\])++\s*+\Z")


class EarlierPosition(NamedTuple):
    """`told` is the position in the words that were used, `option` the one that is meant."""

    issue: str
    option: str
    told: str
    because: tuple[str, ...] = ()


def upcast(lines: Iterable[Line]) -> tuple[Line, ...]:
    """
    *lines* of a whole transcript. Entries that are added have numbers that no line gives to a new one, so they stay
    the same when later lines are added.
    """
    lines = tuple(lines)
    last = max((at for at, line in enumerate(lines, start=1) if is_earlier(line)), default=0)
    if not last:
        return lines
    reading = _Upcast(lines)
    return (*map(reading.upcast_line, lines[:last]), *lines[last:])


def is_earlier(line: Line) -> bool:
    told = not FACTS.isdisjoint(line.meta) or _is_foreign_verdict(line)
    ends_discussion = any(str(one.get("id")).startswith("DIS-") for one in line.patches)
    return told or _is_word(line) or (is_synthesis(line) and not ends_discussion)


def _is_word(line: Line) -> bool:
    """Whether a person said it in a step, and no fact of a later version stands beside it."""
    is_plain = {ENTRIES, SEAL, TO, "turn"}.isdisjoint(line.meta) and line.phase is LinePhase.CLARIFYING
    return (
        is_plain
        and line.source is Source.USER
        and bool(line.meta.get("step_id"))
        and "message_ts" in line.meta
    )


def _is_foreign_verdict(line: Line) -> bool:
    """Our roles say beside it of which plan it is; their questions stand in the plan's own files."""
    return VERDICT in line.meta and "plan_version" not in line.meta


def is_synthesis(line: Line) -> bool:
    return line.source is not Source.USER and line.content.startswith(SYNTHESIS)


def positions_of(meta: Mapping[str, Any]) -> Iterator[EarlierPosition]:
    found = meta.get(STANCES)
    for one in found if isinstance(found, list) else ():
        given = one if isinstance(one, Mapping) else {}
        issue, told = given.get("issue"), given.get("position")
        if isinstance(issue, str) and isinstance(told, str) and issue.strip() and told.strip():
            option, because = given.get("option"), given.get("because")
            named = tuple(one for one in because if isinstance(one, str)) if isinstance(because, list) else ()
            meant = option if isinstance(option, str) and option else told
            yield EarlierPosition(one_line(issue), one_line(meant), one_line(told), named)
    alone = meta.get(POSITION)
    if not found and isinstance(alone, str) and alone.strip():
        yield EarlierPosition("", one_line(alone), one_line(alone))


class _Upcast:
    def __init__(self, lines: Iterable[Line]) -> None:
        new = (one.get("id") for line in lines for one in line.patches if one.get("new"))
        self._taken = {id for id in new if isinstance(id, str)}
        self._numbers: Counter[str] = Counter()
        self._said: dict[str, set[str]] = defaultdict(set)
        self._lines: dict[str, str] = {}
        """By turn and by message: the id of the line."""
        self._positions: dict[tuple[str, str], tuple[str, str]] = {}
        self._notes: dict[str, list[str]] = defaultdict(list)
        """By the message: the ids of its notes. A long one has several."""
        self._read: set[str] = set()
        """The steps with entries: a word after them has none because it means nothing."""

    def upcast_line(self, line: Line) -> Line:
        if line.meta.get("turn") == 1:
            self._positions, self._lines = {}, {}
        for name in ("turn_id", "message_id"):
            if found := line.text(name):
                self._lines[found] = line.message_id
        known = line.patches
        for one in known:
            if isinstance(fields := one.get("set"), dict):
                self._said[str(one.get("kind"))].add(_key(str(fields.get("text", ""))))
        step = str(line.meta.get("step_id"))
        self._read |= {step} if ENTRIES in line.meta else set()
        if not is_earlier(line):
            return line
        added = [
            *(self._note(line) if _is_word(line) and step not in self._read else ()),
            *self._facts(line, known),
            *self._of_verdict(line),
            *self._bullets(line),
            *self._stands(line),
        ]
        told = {name: fact for name, fact in line.meta.items() if name not in FACTS | {VERDICT}}
        return line.but(meta={**told, **({ENTRIES: [*known, *added]} if known or added else {})})

    def _note(self, line: Line) -> Iterator[dict[str, Any]]:
        notes = self._notes[str(line.meta.get("amends") or line.message_id)]
        words = line.content if line.content.strip() else ""
        parts = [words[start : start + VALUE_CHARS] for start in range(0, len(words), VALUE_CHARS)]
        notes += [self._next(NOTE) for _ in parts[len(notes) :]]
        for id, text in zip(notes, parts, strict=False):
            yield {"id": id, "kind": NOTE, "new": True, "set": {"text": text}}
        if parts:
            yield from ({"id": id, "state": "withdrawn"} for id in notes[len(parts) :])

    def _facts(self, line: Line, known: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
        deciders, reason = (list(_texts(line.meta.get(name), "")) for name in ("deciders", "reason"))
        about = {"deciders": deciders, "reason": next(iter(reason), "")}
        for kind in (DECISION, QUESTION, OBJECTION):
            if not any(one.get("kind") == kind for one in known):
                for text in _texts(line.meta.get(kind), line.content):
                    yield from self._new(kind, text, **(about if kind == DECISION else {}))

    def _of_verdict(self, line: Line) -> Iterator[dict[str, Any]]:
        """A rule only says what is missing; it is against nothing."""
        verdict = line.meta.get(VERDICT)
        if not isinstance(verdict, Mapping) or not _is_foreign_verdict(line):
            return
        for text in _texts(verdict.get("blocking_questions") or verdict.get("blocking_open_questions"), ""):
            yield from self._new(QUESTION, text)
        if verdict.get("ok") is False and line.meta.get(VOICE) != RULE:
            for text in _texts(verdict.get("reasons"), ""):
                yield from self._new(OBJECTION, text)

    def _bullets(self, line: Line) -> Iterator[dict[str, Any]]:
        """Those under the headings of the template. Who it was stands behind a decision, and before the others."""
        kind = ""
        for row in line.content.split("\n") if is_synthesis(line) else ():
            if row.startswith("#"):
                kind = HEADINGS.get(row.strip(), "")
            elif kind and row.startswith("- ") and row[2:] != NONE:
                text = _REFS.sub("", row[2:])
                found = _NAMES.match(text) or (_BY.search(text) if kind == DECISION else None)
                by = one_line(found["by"]) if found else ""
                text = text[: found.start()] + text[found.end() :] if found else text
                yield from self._new(
                    kind, one_line(text, TEXT_CHARS), deciders=[by] if by and kind == DECISION else []
                )

    def _stands(self, line: Line) -> Iterator[dict[str, Any]]:
        key = line.person or line.person_name or line.actor
        for one in positions_of(line.meta):
            place = key, _key(one.issue)
            id, option = self._positions.get(place, ("", ""))
            if _key(option) == _key(one.option) and id:
                continue
            fields = {"option": one.option, **({"words": one.told} if one.told != one.option else {})}
            sources = list(dict.fromkeys(self._lines[name] for name in one.because if name in self._lines))
            more = {"sources": sources} if sources else {}
            if id:
                patch: dict[str, Any] = {"id": id, "set": fields, **more}
            else:
                id = self._next(POSITION)
                about = {"person": key, **({"issue": one.issue} if one.issue else {})}
                patch = {"id": id, "kind": POSITION, "new": True, "set": {**about, **fields}, **more}
            self._positions[place] = id, one.option
            yield patch

    def _new(self, kind: str, text: str, **fields: Any) -> Iterator[dict[str, Any]]:
        """Nothing for what was said before; a synthesis says "X: why" and "X: asked by Ada" of it."""
        keys = {_key(text), _key(text.rpartition(": ")[0] or text)}
        if text and not _CHOSEN.search(text) and keys.isdisjoint(self._said[kind]):
            self._said[kind].add(_key(text))
            given = {name: value for name, value in fields.items() if value}
            yield {"id": self._next(kind), "kind": kind, "new": True, "set": {"text": text, **given}}

    def _next(self, kind: str) -> str:
        prefix = PREFIXES[kind]
        while True:
            self._numbers[prefix] += 1
            if (id := f"{prefix}-{self._numbers[prefix]:03}") not in self._taken:
                return id


def _texts(found: object, content: str) -> Iterator[str]:
    """`true` stands for what the line says."""
    if found is True:
        yield one_line(content, TEXT_CHARS)
    for text in found if isinstance(found, list) else [found]:
        if isinstance(text, str) and text.strip():
            yield one_line(text, TEXT_CHARS)


def _key(text: str) -> str:
    return " ".join(text.split()).strip(" .").casefold()
