"""Each row of what is not settled as a sentence, and why an item is not ready."""

from collections.abc import Sequence
from typing import assert_never

from bot.domain.catalog.schema import Schema
from bot.domain.specification.claims import StaleCause
from bot.domain.specification.not_settled import RowKind, Unsettled
from bot.domain.values.text import one_line

ROWS_SHOWN = 10
"""In Slack; a file has all of them."""
TEXT_CHARS = 300


def row(one: Unsettled, schema: Schema) -> str:
    """`FR-001 Export as CSV: no acceptance criterion`, on one line."""
    about = f"{one.id} {one_line(one.text, TEXT_CHARS)}".strip()
    fields = ", ".join(_label(one, name, schema) for name in one.fields)
    match one.kind:
        case RowKind.DAMAGED:
            return one_line(one.facts[0], TEXT_CHARS)
        case RowKind.CONTESTED:
            said = ", ".join(fact.replace(": ", " says ", 1) for fact in one.facts)
            return f"{one.id} {fields}: {one_line(said, TEXT_CHARS)}. Which one counts?"
        case RowKind.OVERTAKEN:
            return f"{one.id} {fields}: {one_line(one.facts[0], TEXT_CHARS)}"
        case RowKind.STALE:
            return f"{about}: {_cause(one)}; confirm again ({fields})"
        case RowKind.OBJECTION:
            by, settle = one.facts
            return f"{about} – {by}" + (
                f". Would settle it: {one_line(settle, TEXT_CHARS)}" if settle else ""
            )
        case RowKind.PROPOSED | RowKind.UNCHECKED:
            who, value = one.facts
            what = f"{one.id} {one_line(value, TEXT_CHARS)}" if value else about
            return f"{what}: {one_line(who, TEXT_CHARS)}"
        case RowKind.QUESTION:
            owner, when = one.facts
            return f"{about} ({owner or 'no owner'}{f', by {when}' if when else ''})"
        case RowKind.NO_CRITERION:
            return f"{about}: no acceptance criterion"
        case RowKind.NO_ANSWER:
            return f"{about}: no answer to this risk"
        case RowKind.NO_OWNER:
            return f"{about}: no owner"
        case RowKind.NO_ORDER:
            return "Nobody has said what is done first."
        case _:
            assert_never(one.kind)


def rows(found: Sequence[Unsettled], schema: Schema, *, most: int = ROWS_SHOWN) -> tuple[str, ...]:
    """The first rows, and how many more there are."""
    more = (f"and {len(found) - most} more",) if len(found) > most else ()
    return (*(row(one, schema) for one in found[:most]), *more)


def not_ready(lacking: Sequence[str]) -> str:
    """`Not ready: 2 contested, no requirement.`"""
    return f"Not ready: {', '.join(lacking)}."


def _cause(one: Unsettled) -> str:
    by, source = (*one.facts, "", "")[:2]
    who = by or "A person"
    match one.cause:
        case None:
            return "what it rests on has changed"
        case StaleCause.CHANGED:
            return f"{who} changed a message that it rests on"
        case StaleCause.DELETED:
            return f"{who} deleted a message that it rests on"
        case StaleCause.LEFT_OUT:
            return f"{who} left a message out of the record that it rests on"
        case StaleCause.REVERSED:
            return f"{source or 'what it rests on'} was reversed"
        case StaleCause.WITHDRAWN:
            return f"{source or 'what it rests on'} was withdrawn"
        case StaleCause.CONTRADICTED:
            return f"contradicted by {source or 'a decision'}"
        case StaleCause.RETURNED:
            return f"what had replaced it ({source}) was withdrawn"
        case StaleCause.GIT:
            return f"{who} changed {source or 'a file'} in git"
        case _:
            assert_never(one.cause)


def _label(one: Unsettled, name: str, schema: Schema) -> str:
    kind = schema.kinds.get(one.of)
    return kind.label(name).lower() if kind else name
