"""
What a persona thinks with: one call to a model, whoever's it is.

Prompts are made above this line, and know no provider; providers are called below it, and know no roundtable.
"""

from decimal import Decimal
from typing import NamedTuple, Protocol


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


class Thought(NamedTuple):
    text: str
    usage: Usage


class Mind(Protocol):
    async def think(self, prompt: Prompt, *, seconds: float, tokens: int) -> Thought:
        """
        An answer of at most *tokens*, within *seconds* for one attempt.

        Raises VoiceError; `reason` is "timeout", "unavailable", "refused" (by the model), "context" (the prompt is
        too long), "empty", "cut_off" (the answer was), or "denied" (our key); `again` as for every EffectError.
        """
        ...
