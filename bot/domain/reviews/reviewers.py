"""Which personas are asked for a review: by name, role or lens, as in "Maya and Jordan", "the architect", "risks"."""

import re

from bot.domain.catalog.personas import Persona, Roster
from bot.errors import UserError

SMALL_WORDS = frozenset({"and", "the", "by", "for", "with", "of", "or", "a", "an", "please", "lens"})
STEM_LETTERS = 5
"""Enough for "risks" and "risk" to be one word, and "error" and "erratic" two."""

_WORD = re.compile(r"[^\W_]+")


def asked_for(words: str, roster: Roster) -> tuple[Persona, ...]:
    """
    In the order of the roster; all of them for no words. Raises UserError for a word that means no persona: otherwise a
    missing reviewer would not be noticed.
    """
    wanted = [word for word in _words(words) if word not in SMALL_WORDS]
    if not wanted:
        return tuple(roster)
    found = {word: _meant(word, roster) for word in wanted}
    unknown = [word for word, keys in found.items() if not keys]
    if unknown:
        there = "; ".join(f"{persona.name}: {persona.lens}" for persona in roster)
        raise UserError(f"No persona covers “{unknown[0]}”. You can ask {there}.")
    return tuple(persona for persona in roster if any(persona.key in keys for keys in found.values()))


def names_a_reviewer(words: str, roster: Roster) -> bool:
    wanted = [word for word in _words(words) if word not in SMALL_WORDS]
    return bool(wanted) and all(_meant(word, roster) for word in wanted)


def _meant(word: str, roster: Roster) -> frozenset[str]:
    """A name counts before a role, a role before a lens: "designer" means the designer."""
    for telling in (_named, _playing, _looking_at):
        if keys := frozenset(persona.key for persona in roster if word in telling(persona)):
            return keys
    stem = _stem(word)
    return frozenset(
        persona.key for persona in roster if stem in {_stem(one) for one in _looking_at(persona)}
    )


def _named(persona: Persona) -> frozenset[str]:
    return _words_of(persona.name, persona.key.replace("-", ""), persona.key)


def _playing(persona: Persona) -> frozenset[str]:
    return _words_of(persona.role, persona.short)


def _looking_at(persona: Persona) -> frozenset[str]:
    return _words_of(persona.lens) - SMALL_WORDS


def _words_of(*texts: str) -> frozenset[str]:
    return frozenset(word for text in texts for word in _words(text))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _stem(word: str) -> str:
    return word.rstrip("s")[:STEM_LETTERS]
