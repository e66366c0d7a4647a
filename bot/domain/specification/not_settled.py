"""
What is not settled in a specification: one list, in one order, for every file, card and plan of the item.

Nothing is called ready while a row stands that comes before the open questions.
"""

from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from typing import Any

from bot.domain.catalog.schema import EXCLUSIVE, Kind, Schema
from bot.domain.messages.attribution_wording import attribution, attribution_of, overtaken
from bot.domain.specification.agent_questions import (
    ANSWER,
    QuestionState,
    answers_of,
    is_asked_by_agent,
    question_state,
)
from bot.domain.specification.claims import Claim, Entry, EntryState, StaleCause
from bot.domain.specification.entries import OF_DISCUSSIONS, Specification, author_to_ask
from bot.domain.specification.fold import REPLACES
from bot.domain.values.text import values
from bot.domain.values.value import Value

REQUIREMENT, CRITERION, WORK = "requirement", "criterion", "work"
OWNED = frozenset({WORK, "action"})
MAY_LACK = frozenset({"objection", "question", REQUIREMENT, "risk", *OWNED})
"""Kinds whose entries are not settled by their claims alone."""
OPEN = (None, "", "open")
"""The outcome of an objection that nothing has become of."""
NEEDS_CRITERION = ("must", "should")
EMPTY: tuple[Any, ...] = (None, "", [], ())


class RowKind(StrEnum):
    """In the order of the list. The words are counted in sentences: `2 contested`."""

    DAMAGED = "damaged"
    CONTESTED = "contested"
    OVERTAKEN = "edit overtaken"
    STALE = "to be confirmed again"
    OBJECTION = "objection open"
    PROPOSED = "not accepted"
    UNCHECKED = "unchecked"
    """Proposed, and its sources do not say it."""
    QUESTION = "question open"
    NO_CRITERION = "without a criterion"
    NO_ANSWER = "risk without an answer"
    NO_OWNER = "without an owner"
    NO_ORDER = "no order"


ORDER = tuple(RowKind)
BLOCKING = frozenset(ORDER[: ORDER.index(RowKind.QUESTION)])


class Unsettled(Value):
    """
    One row. `of` is the kind of the entry, and `step` where it was said; without an entry it concerns every file.
    `text` are the words of the entry, `facts` what the row's sentence needs besides: who says what, why, who and when.
    """

    kind: RowKind
    id: str = ""
    of: str = ""
    step: str = ""
    text: str = ""
    fields: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    cause: StaleCause | None = None


def not_settled(schema: Schema, specification: Specification) -> tuple[Unsettled, ...]:
    """What is wrong with lines comes first, and then the patches that were refused."""
    found = [
        Unsettled(kind=RowKind.DAMAGED, facts=(sentence,))
        for sentence in dict.fromkeys((*specification.damage, *specification.refused))
    ]
    for kind in (one for one in schema.kinds.values() if one.key not in OF_DISCUSSIONS):
        for entry in specification.active(kind.key):
            if entry.is_plain and kind.key not in MAY_LACK and REPLACES not in entry.claims:
                continue
            of_entry = {
                "id": entry.id,
                "of": kind.key,
                "step": entry.step,
                "text": str(entry[kind.text] or ""),
            }
            found += [Unsettled(**of_entry, **facts) for facts in _of_entry(specification, kind, entry)]
    if specification.active(REQUIREMENT) and not specification.active(WORK):
        found.append(Unsettled(kind=RowKind.NO_ORDER, of=REQUIREMENT))
    return tuple(sorted(found, key=lambda row: ORDER.index(row.kind)))


def lacking(schema: Schema, specification: Specification) -> tuple[str, ...]:
    """Why the item is not ready to build: `2 contested`, `no requirement`; nothing if it is."""
    counts = Counter(row.kind for row in not_settled(schema, specification) if row.kind in BLOCKING)
    requirements = specification.accepted(REQUIREMENT)
    untested = sum(
        one["priority"] in NEEDS_CRITERION and not specification.parts(one.id, CRITERION)
        for one in requirements
    )
    owned = any(one["owner"] for one in specification.accepted(WORK))
    return (
        *(f"{counts[kind]} {kind.value}" for kind in ORDER if counts[kind]),
        *(() if requirements else ("no requirement",)),
        *((f"{untested} must or should {RowKind.NO_CRITERION.value}",) if untested else ()),
        *(() if owned else ("no work with an owner",)),
    )


def _of_entry(specification: Specification, kind: Kind, entry: Entry) -> Iterator[dict[str, Any]]:
    for name, field in kind.fields.items():
        if field.type in EXCLUSIVE and (both := entry.contested(name)):
            sides = tuple(f"{one.owner.name}: {one.value}" for one in both)
            yield {"kind": RowKind.CONTESTED, "fields": (name,), "facts": sides}
        if sentence := overtaken(entry, name):
            yield {"kind": RowKind.OVERTAKEN, "fields": (name,), "facts": (sentence,)}
    for first in _replacing_the_same(specification, entry):
        said_by = ((one.owners[0].name, one[kind.text], one.id) for one in (first, entry) if one.owners)
        sides = tuple(f"{who}: {words} ({id})" for who, words, id in said_by)
        yield {"kind": RowKind.CONTESTED, "fields": (kind.text,), "facts": sides}
    claims = (entry.claim(name) for name in entry.stale)
    if why := next((one.stale for one in claims if one and one.stale), None):
        facts = (why.name or why.by, why.source)
        said = tuple(name for name in entry.stale if name in kind.fields and not kind.fields[name].by_people)
        yield {"kind": RowKind.STALE, "fields": said or entry.stale, "facts": facts, "cause": why.cause}
    if is_asked_by_agent(entry) and entry.state is EntryState.PROPOSED:
        yield from _of_agent(entry)
    elif kind.key == "objection" and entry["outcome"] in OPEN and author_to_ask(entry) is None:
        facts = (attribution_of(entry, kind.text), str(entry["settle"] or ""))
        yield {"kind": RowKind.OBJECTION, "facts": facts}
    elif entry.state is EntryState.PROPOSED and entry.first:
        unchecked = next((one for _, one in entry.current() if one.is_unchecked), entry.first)
        yield _proposed(unchecked)
    for name in entry.claims:
        if pending := entry.pending(name):
            yield {**_proposed(pending, f"{name}: {pending.value}"), "fields": (name,)}
    if entry.state is EntryState.ACCEPTED:
        yield from _incomplete(specification, kind.key, entry)


def _replacing_the_same(specification: Specification, entry: Entry) -> Iterator[Entry]:
    """What replaced it before this one did, and stands, too."""
    for id in values(entry[REPLACES]):
        old = specification.entries.get(id)
        standing = [one for one in old.replaced_by if specification.lives(one)] if old else []
        if entry.id in standing[1:]:
            yield specification.entries[standing[0]]


def _of_agent(entry: Entry) -> Iterator[dict[str, Any]]:
    """Its words are accepted by none, and need not be: what counts is the answer."""
    match question_state(entry):
        case QuestionState.OPEN:
            by = attribution(entry.first).removesuffix(", not accepted") if entry.first else ""
            yield {"kind": RowKind.QUESTION, "facts": (by.replace("proposed by", "asked by"), "")}
        case QuestionState.CONTESTED:
            said = tuple(f"{one.owner.name}: {one.value}" for one in answers_of(entry))
            yield {"kind": RowKind.CONTESTED, "fields": (ANSWER,), "facts": said}
        case QuestionState.ANSWERED | QuestionState.DECLINED | QuestionState.WITHDRAWN:
            return


def _proposed(claim: Claim, value: str = "") -> dict[str, Any]:
    kind = RowKind.UNCHECKED if claim.is_unchecked else RowKind.PROPOSED
    return {"kind": kind, "facts": (attribution(claim), value)}


def _incomplete(specification: Specification, kind: str, entry: Entry) -> Iterator[dict[str, Any]]:
    if kind == "question" and entry["answer"] in EMPTY:
        yield {
            "kind": RowKind.QUESTION,
            "facts": (str(entry["owner"] or ""), str(entry["by_when"] or "")),
        }
    if kind == REQUIREMENT and entry["priority"] != "won't" and not specification.parts(entry.id, CRITERION):
        yield {"kind": RowKind.NO_CRITERION}
    if kind == "risk" and entry["mitigation"] in EMPTY:
        yield {"kind": RowKind.NO_ANSWER}
    if kind in OWNED and entry["owner"] in EMPTY:
        yield {"kind": RowKind.NO_OWNER}
