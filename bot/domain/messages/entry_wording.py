"""One entry with all that is known of it, for a terminal."""

from collections.abc import Iterator

from bot.domain.messages.attribution_wording import credit
from bot.domain.messages.record_wording import became_of
from bot.domain.specification.shown import ShownClaim, ShownEntry, ShownSource
from bot.domain.values.text import one_line, value_text

VALUE_CHARS = 500


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
