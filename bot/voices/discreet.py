"""A mind that is told no secrets: whatever a prompt is made of, they are hidden before it leaves us."""

import re

from bot.domain.redaction import Redact
from bot.voices.mind import Mind, Prompt, Thought

_EDGE = re.compile(r"(^(?:<<<|>>>)[0-9a-f]+.*$)", re.MULTILINE)
"""Where material begins or ends (`prompts/fencing.py`), or looks like it."""


class DiscreetMind(Mind):
    """
    Files of the workspace go into prompts, and nobody redacted those. The same text is redacted in the same way, so
    what a provider keeps of the stable parts stays of use.
    """

    def __init__(self, mind: Mind, redact: Redact) -> None:
        self._mind = mind
        self._redact = redact

    async def think(self, prompt: Prompt, *, seconds: float, tokens: int) -> Thought:
        told = Prompt(tuple(map(self._hidden, prompt.stable)), self._hidden(prompt.moving))
        thought = await self._mind.think(told, seconds=seconds, tokens=tokens)
        return thought._replace(text=self._redact(thought.text))

    def _hidden(self, text: str) -> str:
        """Piece by piece: a key that begins in one file and ends in another would take all between with it."""
        return "".join(map(self._redact, _EDGE.split(text)))
