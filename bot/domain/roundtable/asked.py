"""
Whom a message in an open step asks: the personas that it names, or all of them. A question without a name is for the
persona whose lens has most of its words.
"""

from enum import StrEnum
from typing import NamedTuple

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.personas import AddressKind, Persona, Roster, asks_all
from bot.domain.roundtable.state import Answer, Roundtable
from bot.domain.values.text import content_words, sentences_in


class AskedAs(StrEnum):
    """The values are headings of what the prompt of such a message says."""

    NAMED = "asked by name"
    ALL = "asked with all"
    UNNAMED = "asked without a name"


class AskedPersonas(NamedTuple):
    how: AskedAs
    personas: tuple[str, ...]


def asked_in(answer: Answer, rt: Roundtable, playbook: Playbook, *, lead: str) -> AskedPersonas | None:
    """None for what is no question, and for a question to a person. The lead of the step is asked in case of doubt."""
    roster = playbook.roster
    address = roster.addressed(answer.text, lead=lead)
    if address.kind is AddressKind.DIRECT:
        return AskedPersonas(AskedAs.NAMED, address.personas)
    if asks_all(answer.text):
        return AskedPersonas(AskedAs.ALL, tuple(one.key for one in roster))
    if not _only_asks(answer.text) or _speaks_to_a_person(answer.text, rt):
        return None
    return AskedPersonas(AskedAs.UNNAMED, (_whose_lens(answer.text, roster) or lead,))


def _only_asks(text: str) -> bool:
    """Quoted rows do not count."""
    sentences = sentences_in("\n".join(row for row in text.splitlines() if not row.lstrip().startswith(">")))
    return bool(sentences) and all(sentence.endswith(("?", "？")) for sentence in sentences)


def _speaks_to_a_person(text: str, rt: Roundtable) -> bool:
    names = {name.split()[0].casefold() for name in rt.people.values() if name.strip()}
    said = {word.strip(".,:;!?@").casefold() for word in text.split()}
    return "<@" in text or not names.isdisjoint(said)


def _whose_lens(text: str, roster: Roster) -> str:
    """Empty where none has words of the question, or two have as many."""
    words = content_words(text)

    def shared(persona: Persona) -> int:
        return len(words & content_words(persona.lens))

    first, *others = sorted(roster, key=shared, reverse=True)
    is_one = shared(first) > max(map(shared, others), default=0)
    return first.key if is_one else ""
