"""A mind that is told no secrets: whatever a prompt is made of, they are hidden before it leaves us."""

from bot.domain.redaction import Redact
from bot.voices.mind import Mind, Prompt, Thought


class DiscreetMind(Mind):
    """
    Files of the workspace go into prompts, and nobody redacted those. The same text is redacted in the same way, so
    what a provider keeps of the stable parts stays of use.
    """

    def __init__(self, mind: Mind, redact: Redact) -> None:
        self._mind = mind
        self._redact = redact

    async def think(self, prompt: Prompt, *, seconds: float, tokens: int) -> Thought:
        told = Prompt(tuple(map(self._redact, prompt.stable)), self._redact(prompt.moving))
        thought = await self._mind.think(told, seconds=seconds, tokens=tokens)
        return thought._replace(text=self._redact(thought.text))
