"""What is said about entries: what is missing, open, doubtful or not settled, one sentence each."""

from collections.abc import Iterable, Mapping, Sequence
from typing import assert_never

from bot.domain.catalog.schema import FieldType, Kind, KindField, Schema
from bot.domain.specification.claims import GONE, StaleCause
from bot.domain.specification.coverage import CoverageGap, GapKind
from bot.domain.specification.entries import Specification
from bot.domain.specification.not_settled import RowKind, Unsettled
from bot.domain.values.text import counted, listed, one_line

IDS_SHOWN = 6
QUOTE_CHARS = 200
SHORT_NAMES = {"criterion": "test", "so_that": "reason"}
"""What people call a part or field when it is missing; for all others it is the label."""


def finding(gap: CoverageGap, schema: Schema, specification: Specification) -> str:
    kind = schema.of_id(gap.id) if gap.id else None
    field = field_name(gap, schema)
    match gap.kind:
        case GapKind.CONTESTED:
            said = listed([one.replace(": ", " says ", 1) for one in gap.facts])
            return f"{gap.id} has more than one {field}: {said}. Which one is it?"
        case GapKind.STALE:
            return f"{gap.id} has to be confirmed again: what its {field} rests on has changed."
        case GapKind.DANGLING:
            return _dangling(gap, kind, schema, specification)
        case GapKind.CIRCLE:
            if len(gap.facts) == 1:
                return f"{gap.id} depends on itself."
            return f"{ids(gap.facts)} depend on each other. Which one comes first?"
        case GapKind.MISSING:
            if not gap.ask and _field(gap, kind).type is FieldType.AMOUNT:
                return f"{gap.id} has no number. What would you measure?"
            return gap.ask or lacking([gap.id], field)
        case GapKind.ALL_ALIKE:
            return f"Everything is “{gap.facts[-1]}”. {gap.ask}"
        case GapKind.UNKNOWN:
            return _unknown(gap.facts[0])
        case GapKind.OBJECTION:
            said = one_line(gap.facts[0], QUOTE_CHARS)
            return f"{gap.id} is open: “{said}”. Accepted, rejected, or kept as risk?"
        case GapKind.PROPOSED:
            return f"{gap.id} is suggested, not confirmed."
        case _:
            assert_never(gap.kind)


def missing(gaps: Iterable[CoverageGap], schema: Schema, specification: Specification) -> tuple[str, ...]:
    """The questions for what is missing; one that is asked about several entries is asked once."""
    asked: dict[str, list[CoverageGap]] = {}
    for gap in gaps:
        if gap.kind is GapKind.MISSING:
            same = gap.ask.replace(gap.id, "each") if gap.id and gap.ask else gap.ask
            asked.setdefault(same or f"{field_name(gap, schema)}", []).append(gap)
    return tuple(_asked(same, group, schema, specification) for same, group in asked.items())


def without(gaps: Iterable[CoverageGap], schema: Schema) -> tuple[str, ...]:
    """Which entries have no test, no priority and so on."""
    groups: dict[str, list[str]] = {}
    for gap in gaps:
        if gap.kind is GapKind.MISSING and gap.id:
            groups.setdefault(field_name(gap, schema), []).append(gap.id)
    return tuple(lacking(found, name) for name, found in groups.items())


def lacking(found: Sequence[str], name: str) -> str:
    """`FR-002 has no test yet.`"""
    return f"{ids(found)} {'has' if len(found) == 1 else 'have'} no {name} yet."


def field_name(gap: CoverageGap, schema: Schema) -> str:
    """What people call the field, part or reference that the gap is about."""
    name = gap.field.partition(".")[0]
    if short := SHORT_NAMES.get(name):
        return short
    if name in schema.kinds:
        return schema.kinds[name].name.lower()
    kind = schema.of_id(gap.id) if gap.id else None
    return kind.label(name).lower() if kind else name.replace("_", " ")


_CHANGES: Mapping[StaleCause, str] = {
    StaleCause.CHANGED: "{who} changed a message{which}",
    StaleCause.DELETED: "{who} deleted a message{which}",
    StaleCause.LEFT_OUT: "{who} left a message out of the record{which}",
    StaleCause.GIT: "{who} changed {source} in git",
    StaleCause.REVERSED: "{source} was reversed{told}",
    StaleCause.WITHDRAWN: "{source} was withdrawn{told}",
    StaleCause.RETURNED: "{source} was withdrawn{told}",
    StaleCause.CONTRADICTED: "contradicted by {source}",
}


def stale(cause: StaleCause, found: Sequence[str], *, by: str = "", source: str = "") -> str:
    """*source* is the id of a decision or another entry, or what was changed in git."""
    count = len(dict.fromkeys(found))
    change = _change(cause, by, source, told=f" by {by}" if by else "")
    if cause is StaleCause.CONTRADICTED:
        return f"{source} changes {ids(found)}{f', says {by}' if by else ''}."
    if cause is StaleCause.RETURNED:
        return f"{change}, so {ids(found)} {'stands' if count == 1 else 'stand'} again."
    return f"{change}. {count} {'entry rests' if count == 1 else 'entries rest'} on it: {ids(found)}."


def _change(cause: StaleCause, by: str, source: str, *, which: str = "", told: str = "") -> str:
    named = source or ("a file" if cause is StaleCause.GIT else "An entry")
    return _CHANGES[cause].format(who=by or "A person", source=named, which=which, told=told)


def above_a_limit(why: str) -> str:
    """For one person, whose value the record does not take."""
    return f"Nothing was recorded of it: {why}."


_IN_THESE_WORDS = {"decision": "decide", "objection": "object"}


def not_your_words(author: str, kind: str) -> str:
    return f"Only {author} can {_IN_THESE_WORDS[kind]} in these words. Write yours: `{kind}: …`."


ONE_BY_ONE = "Each of these needs a press of its own, or its number: `accept 1`."


def not_asked(author: str, starter: str) -> str:
    if author == starter:
        return f"Only {author} can answer that."
    return f"Only {author}, or {starter} who started this, can answer that."


def unfit(words: str, name: str) -> str:
    return f"“{one_line(words, 60)}” does not fit as {name.lower()}, so nothing was changed."


def no_such_line(number: int, still_open: Sequence[int]) -> str:
    """For one person, who named a suggestion that is not open."""
    first = f"There is no open line {number}."
    if not still_open:
        return first
    numbers = listed([str(one) for one in still_open])
    return (
        f"{first} The open one is {numbers}."
        if len(still_open) == 1
        else f"{first} The open ones are {numbers}."
    )


def not_there(id: str, *, is_known: bool, by: Sequence[str] = ()) -> str:
    """For one person, who named an entry that does not exist, or not any more. *by* replaced it."""
    if by:
        return f"{id} was replaced by {ids(by)}."
    return f"{id} was withdrawn or replaced before." if is_known else f"There is no {id}."


def part_of_what(part: str, whole: str, label: str) -> str:
    first = f" Write `{label}: …` first." if label else ""
    return f"It is not clear to which {whole.lower()} this {part.lower()} belongs.{first}"


def not_taken(why: Sequence[str]) -> str:
    """For one person, whose words are a form that changes no entry."""
    return f"{' '.join(why)} Your words stay as you wrote them."


def nothing_to_confirm(id: str) -> str:
    return f"{id} counts already, so there is nothing to confirm."


def ids(found: Sequence[str]) -> str:
    """All by name while they are few."""
    found = list(dict.fromkeys(found))
    more = len(found) - IDS_SHOWN
    return listed([*found[:IDS_SHOWN], *([f"{more} more"] if more > 0 else [])])


def _asked(same: str, group: Sequence[CoverageGap], schema: Schema, specification: Specification) -> str:
    if len(group) == 1:
        return finding(group[0], schema, specification)
    found = [gap.id for gap in group]
    return f"{same} ({ids(found)})" if group[0].ask else lacking(found, same)


def _dangling(gap: CoverageGap, kind: Kind | None, schema: Schema, specification: Specification) -> str:
    named, *replaced_by = gap.facts
    known = specification.entries.get(named)
    if known is None:
        return _unknown(named)
    if specification.lives(named):
        wanted = schema.kinds.get(_field(gap, kind).to)
        return f"{gap.id} names {named}, which is no {wanted.name.lower() if wanted else 'such entry'}."
    if known.replaced_by:
        return f"{gap.id} names {named}, which was replaced by {ids(replaced_by)}."
    return f"{gap.id} names {named}, which {'was withdrawn' if known.state in GONE else 'is gone'}."


def _unknown(id: str) -> str:
    return f"{id} is mentioned, but there is no {id}."


def _field(gap: CoverageGap, kind: Kind | None) -> KindField:
    return (kind.fields.get(gap.field) if kind else None) or KindField(type=FieldType.TEXT)


# --- what is not settled


TEXT_CHARS = 300
ALL_SETTLED = "Nothing."


def unsettled_row(one: Unsettled, schema: Schema) -> str:
    """`FR-001 Export as CSV: no acceptance criterion`, on one line."""
    about = f"{one.id} {one_line(one.text, TEXT_CHARS)}".strip()
    fields = ", ".join(_field_label(one, name, schema) for name in one.fields)
    match one.kind:
        case RowKind.DAMAGED:
            return one_line(one.facts[0], TEXT_CHARS)
        case RowKind.CONTESTED:
            said = ", ".join(fact.replace(": ", " says ", 1) for fact in one.facts)
            return f"{one.id} {fields}: {one_line(said, TEXT_CHARS)}. Which one counts?"
        case RowKind.OVERTAKEN:
            return f"{one.id} {fields}: {one_line(one.facts[0], TEXT_CHARS)}"
        case RowKind.STALE:
            again = "" if one.cause is StaleCause.CONTRADICTED else f"; confirm again ({fields})"
            return f"{about}: {_cause(one)}{again}"
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


def points_left(count: int) -> str:
    """`6 points are not settled`"""
    return f"{counted(count, 'point')} {'is' if count == 1 else 'are'} not settled"


def not_ready(lacking: Sequence[str]) -> str:
    """`Not ready: 2 contested, no requirement.`"""
    return f"Not ready: {', '.join(lacking)}."


def _cause(one: Unsettled) -> str:
    by, source = (*one.facts, "", "")[:2]
    if one.cause is None:
        return "what it rests on has changed"
    if one.cause is StaleCause.RETURNED:
        return f"what had replaced it ({source}) was withdrawn"
    return _change(one.cause, by, source, which=" that it rests on")


def _field_label(one: Unsettled, name: str, schema: Schema) -> str:
    kind = schema.kinds.get(one.of)
    return kind.label(name).lower() if kind else name
