"""What a model proposes, held against the words that it quotes. What they do not say is marked, nothing is changed."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.schema import FieldType, KindField, Schema
from bot.domain.specification.citations import CodeCitation
from bot.domain.specification.claim_check import (
    CUT_OUT,
    NOT_CONFIRMED,
    ClaimCheck,
    Root,
    is_code,
    is_part,
    is_whole,
    stands_in,
)
from bot.domain.specification.claims import Claim, Entry, EntryState, Quote
from bot.domain.specification.entries import NOT_LISTED, Specification
from bot.domain.specification.fold import Patch

SAID = frozenset(
    {
        FieldType.LINE,
        FieldType.TEXT,
        FieldType.CODE,
        FieldType.AMOUNT,
        FieldType.NUMBER,
        FieldType.COUNT,
        FieldType.DATE,
        FieldType.PERSON,
        FieldType.CHOICE,
    }
)
"""The types of fields whose values have to quote a person or code. References and paths need no quote."""


def checked(
    patch: Patch, roots: Mapping[str, Root], check: ClaimCheck, schema: Schema, entries: Mapping[str, Entry]
) -> Patch:
    """
    *patch* with a mark on every field that its quotes do not say, and on every field that waits for a second model: all
    but whole sentences of a person, where no other word of the message may turn them around, and whole rows of code.
    *roots* are what may be quoted, by the ids of lines; of what a tool showed, and is not among them, only the words
    that are quoted are known.
    """

    def is_said(quote: Quote, word: str) -> bool:
        root = roots.get(quote.line)
        if CodeCitation.read(quote.line):
            return is_code(word, quote.words) and (root is None or is_code(word, root.text))
        is_quoted = is_part(word, quote.words) or is_part(quote.words, word)
        if root is None or not is_quoted or quote.line in entries or is_shown(quote.line):
            return False
        return is_whole(word, root.text) and not check.flaws(word, [(root, root.text)])

    fields = _fields(patch, schema, entries)
    marks = dict(patch.unverified)
    for name in said_fields(patch, schema, entries):
        given = [one for one in patch.quotes.get(name, ()) if one.line in roots or is_shown(one.line)]
        quotes = [(roots[one.line], one.words) for one in given if one.line in roots]
        words, is_choice = [*_words(patch.set[name])], fields[name].type is FieldType.CHOICE
        said = [span for _, span in quotes] if is_choice else words
        is_known = len(quotes) == len(given)
        if flaws := check.flaws("\n".join(said), quotes) if is_known else check.lost(quotes):
            marks[name] = "; ".join(flaws)
        elif is_choice or not all(any(is_said(one, word) for one in given) for word in words):
            is_cut = not is_choice and all(any(is_part(word, one.words) for one in given) for word in words)
            marks.setdefault(name, CUT_OUT if is_cut else NOT_CONFIRMED)
    return patch.but(unverified=marks)


def is_shown(line: str) -> bool:
    """Whether a tool shows what is quoted. Ids of messages, and of entries of this item, have none of these signs."""
    return not {*line}.isdisjoint(":@/")


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
