"""
What a persona thinks with: one call to a model, whoever's it is.

Prompts are made above this line, and know no provider; providers are called below it, and know no roundtable.
"""

import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, NamedTuple, Protocol

from bot.domain.privacy.redaction import Redact
from bot.engine.ports import Facts


class Prompt(NamedTuple):
    """
    *stable* parts come first, the most lasting one first of all, and are the same to the byte from turn to turn, so
    that a provider can keep them; *moving* is what is new.
    """

    stable: tuple[str, ...]
    moving: str


class Usage(NamedTuple):
    """
    What a thought took. Tokens are None where the provider does not say, and so is *dollars* where nobody knows the
    price: unknown is not free. *tokens_cached* are among *tokens_in*.
    """

    provider: str
    model: str
    seconds: float
    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_cached: int | None = None
    dollars: Decimal | None = None


class Completion(NamedTuple):
    text: str
    usage: Usage


class LanguageModel(Protocol):
    async def think(self, prompt: Prompt, *, seconds: float, tokens: int) -> Completion:
        """
        An answer of at most *tokens*, within *seconds* for one attempt.

        Raises VoiceError; `reason` is "timeout", "unavailable", "refused" (by the model), "context" (the prompt is
        too long), "empty", "cut_off" (the answer was), or "denied" (our key); `again` as for every EffectError.
        """
        ...


# A mind that is told no secrets: whatever a prompt is made of, they are hidden before it leaves us.


_EDGE = re.compile(r"(^(?:<<<|>>>)[0-9a-f]+.*$)", re.MULTILINE)
"""Where material begins or ends (`prompts/fencing.py`), or looks like it."""


class RedactingModel(LanguageModel):
    """
    Files of the workspace go into prompts, and nobody redacted those. The same text is redacted in the same way, so
    what a provider keeps of the stable parts stays of use.
    """

    def __init__(self, mind: LanguageModel, redact: Redact) -> None:
        self._mind = mind
        self._redact = redact

    async def think(self, prompt: Prompt, *, seconds: float, tokens: int) -> Completion:
        told = Prompt(tuple(map(self._hidden, prompt.stable)), self._hidden(prompt.moving))
        thought = await self._mind.think(told, seconds=seconds, tokens=tokens)
        return thought._replace(text=self._redact(thought.text))

    def _hidden(self, text: str) -> str:
        """Piece by piece: a key that begins in one file and ends in another would take all between with it."""
        return "".join(map(self._redact, _EDGE.split(text)))


# What a persona's part took, for the line that keeps it: all calls of it together.


def facts_of(usages: Iterable[Usage]) -> Facts:
    """Which model answered last, and what all calls took. A sum of which a part is unknown is unknown."""
    used = tuple(usages)
    if not used:
        return {}
    facts = {
        "provider": used[-1].provider,
        "model": used[-1].model,
        "tokens_in": _sum(one.tokens_in for one in used),
        "tokens_out": _sum(one.tokens_out for one in used),
        "tokens_cached": _sum(one.tokens_cached for one in used),
        "seconds": round(sum(one.seconds for one in used), 3),
        "cost": _sum(one.dollars for one in used),
    }
    facts["cost"] = None if facts["cost"] is None else str(facts["cost"])
    return {name: fact for name, fact in facts.items() if fact is not None}


def _sum(amounts: Iterable[Any]) -> Any:
    known = tuple(amounts)
    return None if None in known else sum(known)
