"""What a model proposes, held against the words that it quotes. What they do not say is marked, nothing is changed."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.schema import FieldType, KindField, Schema
from bot.domain.specification.claim_check import NOT_CONFIRMED, ClaimCheck, Root, is_part, stands_in
from bot.domain.specification.entries import (
    NOT_LISTED,
    Claim,
    Entry,
    EntryState,
    Patch,
    Quote,
    Specification,
)

SAID = frozenset(
    {
        FieldType.LINE,
        FieldType.TEXT,
        FieldType.AMOUNT,
        FieldType.NUMBER,
        FieldType.COUNT,
        FieldType.DATE,
        FieldType.PERSON,
        FieldType.CHOICE,
    }
)
"""The types of fields whose values have to quote a person or code. References, paths and code need no quote."""


def checked(
    patch: Patch, roots: Mapping[str, Root], check: ClaimCheck, schema: Schema, entries: Mapping[str, Entry]
) -> Patch:
    """
    *patch* with a mark on every field that its quotes do not say. *roots* are what may be quoted, by the ids of lines;
    with a quote of a line whose text is not known here, the marks that it has stay as they are. A choice is a name for
    what is quoted: it is enough that its quotes cut nothing off.
    """
    if any(one.line not in roots for quotes in patch.quotes.values() for one in quotes):
        return patch
    found, fields = {}, _fields(patch, schema, entries)
    for name in said_fields(patch, schema, entries):
        quotes = [(roots[one.line], one.words) for one in patch.quotes.get(name, ())]
        is_choice = fields[name].type is FieldType.CHOICE
        said = (span for _, span in quotes) if is_choice else _words(patch.set[name])
        if flaws := check.flaws("\n".join(said), quotes):
            found[name] = "; ".join(flaws)
    return patch.but(unverified={**patch.unverified, **found})


def check_for(playbook: Playbook, people: Iterable[str]) -> ClaimCheck:
    """*people* are the names of those who take part; the personas of the playbook do, too."""
    return ClaimCheck(playbook.schema.operators, people, (one.first_name for one in playbook.roster))


def roots_in(specification: Specification) -> dict[str, Root]:
    """What people accepted, by id: an entry, or a field, that was only proposed cannot be quoted."""
    found = {}
    for one in specification.entries.values():
        accepted = [claim for _, claim in one.current() if claim.accepted]
        is_root = one.kind not in NOT_LISTED and one.state is EntryState.ACCEPTED
        if accepted and is_root and specification.lives(one.id):
            found[one.id] = Root(_speakers(accepted), "\n".join(_words_in(accepted)))
    return found


def roots_heard(specification: Specification) -> dict[str, Root]:
    """What people said, by line."""
    return {line: Root(one.name, one.text) for line, one in specification.heard.items()}


def said_quotes(quote: Quote, specification: Specification) -> tuple[Quote, ...]:
    """Who quotes an accepted entry quotes the words of people that it rests on, where there are such words."""
    entry = specification.entries.get(quote.line)
    for _, claim in entry.current() if entry else ():
        if claim.accepted and any(is_part(quote.words, word) for word in _words(claim.value)):
            own = claim.quotes or (quote.but(line=claim.line),)
            heard = ((one, specification.heard.get(one.line)) for one in own)
            return tuple(one for one, said in heard if said and stands_in(one.words, said.text)) or (quote,)
    return (quote,)


def text_of_entry(entry: Entry) -> str:
    """What an entry says, as a source of others: with the names of the people who said it."""
    claims = [claim for _, claim in entry.current()]
    return f"{_speakers(claims)}: {'. '.join(_words_in(claims))}"


def said_fields(patch: Patch, schema: Schema, entries: Mapping[str, Entry]) -> list[str]:
    """The fields that *patch* sets with words that somebody has to have said."""
    known = _fields(patch, schema, entries)
    return [name for name in patch.set if name in known and known[name].type in SAID]


def _fields(patch: Patch, schema: Schema, entries: Mapping[str, Entry]) -> Mapping[str, KindField]:
    entry = entries.get(patch.id)
    kind = schema.kinds.get(entry.kind if entry else patch.kind)
    return kind.fields if kind else {}


def waiting(patch: Patch, schema: Schema, entries: Mapping[str, Entry]) -> Patch:
    """*patch*, whose choices, and values in other words than their quotes, wait for a second model, without a mark."""
    fields = _fields(patch, schema, entries)

    def is_quoted(name: str, word: str) -> bool:
        is_choice = fields[name].type is FieldType.CHOICE
        return not is_choice and any(is_part(word, quote.words) for quote in patch.quotes.get(name, ()))

    reworded = {
        name: NOT_CONFIRMED
        for name in said_fields(patch, schema, entries)
        if name not in patch.unverified and not all(is_quoted(name, word) for word in _words(patch.set[name]))
    }
    return patch.but(unverified={**patch.unverified, **reworded}) if reworded else patch


def _words_in(claims: Iterable[Claim]) -> Iterator[str]:
    return (word for claim in claims for word in _words(claim.value))


def _speakers(claims: Iterable[Claim]) -> str:
    return ", ".join(dict.fromkeys(claim.author.name for claim in claims))


def _words(value: Any) -> Iterator[str]:
    if isinstance(value, list | tuple):
        for one in value:
            yield from _words(one)
    elif value is not None:
        yield str(value)
