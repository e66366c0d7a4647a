"""Where in the transcript something was said, so that a plan can be traced to people's own words."""

from bisect import bisect
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from itertools import islice

from bot.domain.transcript.lines import Line, Source
from bot.voices.offline.phrases import key
from bot.voices.offline.requirements import mentioned

MOST_TURNS = 5
SHORTEST = 6
"""Of letters, in what is looked for: "CSV" alone says nothing about who wanted what."""


class Evidence:
    """
    What people said, in comparable words. It is searched as one text: an item can have thousands of lines, and a
    plan hundreds of parts.
    """

    def __init__(self, lines: Iterable[Line]) -> None:
        told = [line for line in lines if line.source is Source.USER and line.message_id]
        self._ids = [line.message_id for line in told]
        self._naming: dict[int, list[int]] = defaultdict(list)
        self._starts: list[int] = []
        said: list[str] = []
        length = 0
        for place, line in enumerate(told):
            for number in mentioned(line.content):
                self._naming[number].append(place)
            said.append(f" {key(line.content)} \n")
            self._starts.append(length)
            length += len(said[-1])
        self._said = "".join(said)

    def of(self, texts: Sequence[str], *, number: int | None = None) -> tuple[str, ...]:
        """The `message_id`s of what has any of *texts* in it, in the same words, or names the requirement *number*."""
        wanted = dict.fromkeys(key(text.rstrip("… ")) for text in texts)
        found = [self._with(one) for one in wanted if len(one) >= SHORTEST]
        naming = self._naming.get(number, []) if number is not None else []
        places = islice(_once(merge(naming, *found)), MOST_TURNS)
        return tuple(self._ids[place] for place in places)

    def _with(self, words: str) -> Iterator[int]:
        """The lines that have *words* in them, in order."""
        at = self._said.find(f" {words} ")
        while at >= 0:
            place = bisect(self._starts, at) - 1
            yield place
            if place + 1 == len(self._starts):
                return
            at = self._said.find(f" {words} ", self._starts[place + 1])


def _once(places: Iterable[int]) -> Iterator[int]:
    last = -1
    for place in places:
        if place != last:
            yield place
        last = place
