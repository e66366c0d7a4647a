"""
Which tools the server of a model takes: all, only ours, or none.

A server refuses a whole request because of one tool that it cannot read: tools of other servers come with JSON schemas
in words that not every server knows. Then only ours are offered, else a first search is shown; after a rest, all are
tried again. Fewer are offered only after a request with fewer was served, since it may have been refused for another
reason.
"""

import json
import logging
import time
from collections.abc import Callable, Iterator, Sequence

from bot.domain.catalog.personas import ModelName
from bot.voices.model import Tool

REST_SECONDS = 3600.0
NO_FOREIGN = "{name} does not take the tools of servers: personas with this model have only the other tools."
NO_TOOLS = "{name} takes no tools: personas with this model are shown a first search instead."

Clock = Callable[[], float]
Offer = Sequence[Tool]

log = logging.getLogger(__name__)


class ToolSupport:
    """Of one model; *can_call* says that it is known to call tools at all."""

    def __init__(self, name: ModelName, *, can_call: bool, clock: Clock = time.monotonic) -> None:
        self._name = name
        self._can_call = can_call
        self._clock = clock
        self._taken: set[str] = set()
        self._refused: dict[str, float] = {}
        """The sentence about what is refused, and when its rest ends."""

    @property
    def sentence(self) -> str:
        """What is left out now, for those who run the bot; empty when nothing is."""
        return next((one for one, until in self._refused.items() if self._clock() < until), "")

    def offers(self, tools: Offer) -> Iterator[Offer]:
        """What to offer, the most first. The last offer is nothing."""
        refused = self.sentence
        own = [one for one in tools if not one.is_foreign]
        if self._can_call and not refused and len(own) < len(tools):
            yield tools
        if self._can_call and own and refused != NO_TOOLS.format(name=self._name):
            yield own
        yield ()

    def began(self, offered: Offer) -> None:
        """A first request with these was served."""
        self._taken |= {*map(_key, offered)}

    def has_taken(self, offered: Offer) -> bool:
        """Then a refusal has another reason. Nothing is always taken."""
        return self._taken.issuperset(map(_key, offered))

    def refused(self, *, but_took: Offer) -> None:
        """All that was offered before *but_took*."""
        sentence = (NO_FOREIGN if but_took else NO_TOOLS).format(name=self._name)
        if sentence != self.sentence:  # several calls at the same time find the same
            log.warning("%s All tools are tried again in %g s.", sentence, REST_SECONDS)
        self._refused = {sentence: self._clock() + REST_SECONDS}


def _key(tool: Tool) -> str:
    return f"{tool.name} {json.dumps(tool.parameters, sort_keys=True, default=str)}"
