"""Which personas are asked for a review: by name, role or lens, as in "Maya and Jordan", "the architect", "risks"."""

import re
from collections.abc import Callable, Mapping

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
    found = _asked_for(words, roster)
    if not found:
        return tuple(roster)
    unknown = [word for word, keys in found.items() if not keys]
    if unknown:
        there = "; ".join(f"{persona.name}: {persona.lens}" for persona in roster)
        raise UserError(f"No persona covers “{unknown[0]}”. You can ask {there}.")
    return tuple(persona for persona in roster if any(persona.key in keys for keys in found.values()))


def names_a_reviewer(words: str, roster: Roster) -> bool:
    found = _asked_for(words, roster)
    return bool(found) and all(found.values())


def _asked_for(words: str, roster: Roster) -> Mapping[str, frozenset[str]]:
    """By each word that says something, the keys of the personas that it means."""
    return {word: _meant(word, roster) for word in _telling(words)}


def _meant(word: str, roster: Roster) -> frozenset[str]:
    """A name counts before a role, a role before a lens: "designer" means the designer."""
    stem = _stem(word)
    readings: tuple[Callable[[Persona], bool], ...] = (
        lambda one: word in _telling(f"{one.name} {one.key} {one.key.replace('-', '')}"),
        lambda one: word in _telling(f"{one.role} {one.short}"),
        lambda one: word in _telling(one.lens),
        lambda one: stem in map(_stem, _telling(one.lens)),
    )
    found = (frozenset(one.key for one in roster if is_meant(one)) for is_meant in readings)
    return next(filter(None, found), frozenset())


def _telling(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.casefold()) if word not in SMALL_WORDS]


def _stem(word: str) -> str:
    return word.rstrip("s")[:STEM_LETTERS]
