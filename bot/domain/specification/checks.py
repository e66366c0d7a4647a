"""What a model proposes, held against the texts that it names. What they do not say is marked, nothing is changed."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from bot.domain.catalog.schema import FieldType, Schema
from bot.domain.specification.entailment import reasons
from bot.domain.specification.entries import Entry, Patch

SAID = frozenset(
    {
        FieldType.LINE,
        FieldType.TEXT,
        FieldType.AMOUNT,
        FieldType.NUMBER,
        FieldType.COUNT,
        FieldType.DATE,
        FieldType.PERSON,
    }
)
"""Fields with words that somebody has to have said: not choices, references, paths and code."""


def checked(patch: Patch, texts: Mapping[str, str], schema: Schema, entries: Mapping[str, Entry]) -> Patch:
    """
    *patch* with a mark on every field that its sources do not say. *texts* are those of sources, by their ids; with a
    source whose text is not known here, the marks that it has stay as they are.
    """
    if any(source not in texts for source in patch.sources):
        return patch
    entry = entries.get(patch.id)
    kind = schema.kinds.get(entry.kind if entry else patch.kind)
    found = {
        name: why
        for name, value in patch.set.items()
        if kind and name in kind.fields and kind.fields[name].type in SAID
        if (why := reasons("\n".join(_words(value)), (texts[source] for source in patch.sources)))
    }
    return patch.but(unverified={**patch.unverified, **found})


def text_of_entry(entry: Entry) -> str:
    """What an entry says, as a source of others: with the names of the people who said it."""
    words = (word for _, claim in entry.current() for word in _words(claim.value))
    names = dict.fromkeys(claim.author.name for _, claim in entry.current())
    return f"{', '.join(names)}: {'. '.join(words)}"


def marked(patches: Iterable[Patch]) -> list[dict[str, str]]:
    """For the record: what was marked, and why."""
    return [
        {"id": one.id, "field": field, "why": why} for one in patches for field, why in one.unverified.items()
    ]


def _words(value: Any) -> Iterator[str]:
    if isinstance(value, list | tuple):
        for one in value:
            yield from _words(one)
    elif value is not None:
        yield str(value)
