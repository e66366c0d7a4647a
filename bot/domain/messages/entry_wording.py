"""Entries with all that is known of them, for a terminal."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import assert_never

from bot.domain.messages.attribution_wording import credit
from bot.domain.specification.claims import EntryState
from bot.domain.specification.shown import ShownClaim, ShownEntry, ShownSource
from bot.domain.values.text import one_line, value_text

VALUE_CHARS = 500
LINE_CHARS = 300
Titles = Mapping[str, str]
"""Of items, by their slugs."""


def as_text(entry: ShownEntry) -> str:
    """The entry, what has become of it, and each of its values with the words that it rests on."""
    said = credit(entry.attribution)
    rows = [f"{entry.address}: {_line(entry.text)}", f"  {entry.kind}, {entry.state.value}{_end(said)}"]
    facts = (
        ("part of", entry.part_of),
        ("parts", ", ".join(entry.parts)),
        ("since then", became_of(entry.state, entry.replaced_by) if entry.is_gone else ""),
        ("contested", ", ".join(entry.contested)),
        ("to be confirmed", ", ".join(entry.doubtful)),
    )
    rows += [f"  {name}: {fact}" for name, fact in facts if fact]
    for field, claims in entry.claims.items():
        rows += (f"  {row}" for claim in claims for row in _claim(field, claim))
    return "\n".join(rows)


def unsealed(lines: int) -> str:
    """Of a record without any seal; empty for others."""
    if not lines:
        return ""
    have = "1 line of the record has no seal" if lines == 1 else f"{lines} lines of the record have no seal"
    return f"{have}: nothing proves who said what. They count as they stand."


def _claim(field: str, claim: ShownClaim) -> Iterator[str]:
    known = "" if claim.counts else " (does not count)"
    doubt = f" ({claim.doubtful})" if claim.doubtful not in claim.attribution else ""
    yield f"{field}: {_line(value_text(claim.value))}{known}"
    yield f"    {_line(credit(claim.attribution))}{doubt}"
    for source in claim.sources:
        yield f"    {_source(source) if isinstance(source, ShownSource) else _line(source)}"


def _source(source: ShownSource) -> str:
    words = f"“{source.quote}” " if source.quote else ""
    return " ".join(filter(None, (f"{words}{_line(source.by.name)}, {source.at[:10]}", source.link)))


def _end(sentence: str) -> str:
    return f". {sentence}." if sentence else "."


def _line(text: str) -> str:
    return one_line(text, VALUE_CHARS)


def became_of(state: EntryState, replaced_by: Sequence[str]) -> str:
    """Empty while an entry counts."""
    match state:
        case EntryState.SUPERSEDED:
            return f"replaced by {', '.join(replaced_by)}" if replaced_by else "replaced"
        case EntryState.WITHDRAWN:
            return "taken back"
        case EntryState.PROPOSED:
            return "proposed, not confirmed"
        case EntryState.ACCEPTED:
            return ""
        case _:
            assert_never(state)


def matching(found: Iterable[ShownEntry], words: str, titles: Titles) -> tuple[ShownEntry, ...]:
    """Those that have every one of *words* somewhere, the newest first."""
    wanted = words.casefold().split()
    kept = (one for one in found if all(word in _searched(one, titles) for word in wanted))
    return tuple(sorted(kept, key=lambda one: one.at, reverse=True))


def decisions_as_text(found: Sequence[ShownEntry]) -> str:
    """For a terminal."""
    if not found:
        return "No decision was found."
    return "\n".join(
        row
        for one in found
        for row in (one_line(f"{one.address} {one.text}", LINE_CHARS), *_decision_facts(one))
    )


def _decision_facts(one: ShownEntry) -> Iterable[str]:
    why, replaces = fact(one, "reason"), fact(one, "replaces")
    facts = [f"{one.attribution} {one.at[:10]}".strip(), why and f"because: {why}"]
    facts += [replaces and f"replaces {replaces}", fate(one), one.link]
    return (f"    {one_line(fact, LINE_CHARS)}" for fact in facts if fact)


def fact(one: ShownEntry, field: str) -> str:
    found = one.fields.get(field)
    return "" if found is None else value_text(found)


def fate(one: ShownEntry) -> str:
    is_doubtful = bool(one.doubtful) and one.state is EntryState.ACCEPTED
    again = "to be confirmed again" if is_doubtful else ""
    return "; ".join(filter(None, (became_of(one.state, one.replaced_by), again)))


def _searched(one: ShownEntry, titles: Titles) -> str:
    return f"{one.address} {titles[one.item]} {one.text} {one.attribution} {fact(one, 'reason')}".casefold()
