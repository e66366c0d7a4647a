"""Who spoke how often, and what the models' part of it took."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any

from bot.domain.replay_line import Columns, Fields
from bot.domain.replay_state import Speaker, Spent, Totals
from bot.domain.text import one_line
from bot.domain.transcript import HOST

NAME_CHARS = 80
MOST_NAMES = 5_000
"""So many are told apart; a file with more is not about a meeting, and its others are counted together."""
OTHERS = "(others)"
HIGHEST_AMOUNT = 10**15

LINES, CALLS, UNRECORDED, IN = range(4)
AMOUNTS = ("tokens_in", "tokens_out", "cost", "seconds")
CALL = frozenset({"provider", "tokens_in", "tokens_out"})
"""A line with one of these says something of a call."""


class Tally:
    """Lines are counted by the hundred; only those that say something more are looked at one by one."""

    def __init__(self) -> None:
        self._by_actor: dict[str, list[float]] = {}
        self._by_provider: dict[str, list[float]] = {}
        self._speakers: dict[tuple[str, str], list[Any]] = {}

    def take(self, first: int, found: Columns, calling: Iterable[int]) -> None:
        """The lines from the number *first* on; those at *calling* say something of a call."""
        heard = list(zip(found.sources, found.actors, strict=True))
        last = dict(zip(heard, range(first, first + len(heard)), strict=True))
        for (source, actor), lines in Counter(heard).items():
            spent = _of(self._by_actor, actor)
            spent[LINES] += lines
            if source == "model":
                spent[UNRECORDED] += lines
            if source != "user":
                begun = first + heard.index((source, actor))
                self._heard_of((source, actor, actor), lines, first=begun, last=last[source, actor])
        for at, source in enumerate(found.sources):
            if source == "user":
                who = named(source, found.actors[at], found.metas[at])
                self._heard_of(who, 1, first=first + at, last=first + at)
        calls: dict[tuple[str, ...], list[Fields]] = {}
        for at in calling:
            meta = found.metas[at]
            calls.setdefault((*heard[at], called(meta)), []).append(meta)
        for (source, actor, provider), metas in calls.items():
            self._called(source, actor, provider, metas=metas)

    def speakers(self) -> tuple[Speaker, ...]:
        """In the order in which they were first heard."""
        return tuple(sorted(self._as_speakers(), key=attrgetter("first")))

    def totals(self) -> Totals:
        by_actor = {_name(actor): _spent(spent) for actor, spent in self._by_actor.items()}
        by_provider = {_name(provider): _spent(spent) for provider, spent in self._by_provider.items()}
        return Totals(
            all=_spent([sum(column) for column in zip(*self._by_actor.values(), strict=True)] or [0] * 7),
            by_actor=by_actor,
            by_provider=by_provider,
        )

    def _heard_of(self, who: tuple[str, str, str], lines: int, *, first: int, last: int) -> None:
        """Somebody, with so many more *lines*; whom they call themselves by now is what they are called."""
        source, key, name = who
        speaker = self._speakers.get((source, key))
        if speaker is None:
            known = len(self._speakers) < MOST_NAMES
            name = name if known else OTHERS
            speaker = self._speakers.setdefault((source, key if known else OTHERS), [name, 0, first, 0])
        speaker[0] = name
        speaker[1] += lines
        speaker[3] = max(speaker[3], last)

    def _called(self, source: str, actor: str, provider: str, *, metas: Sequence[Fields]) -> None:
        spent = self._by_actor.get(actor) or self._by_actor[OTHERS]
        answered = _of(self._by_provider, provider)
        answered[LINES] += len(metas)
        spent[UNRECORDED] -= len(metas) if source == "model" else 0
        amounts = [total([meta.get(name, 0) for meta in metas]) for name in AMOUNTS]
        for counted in (spent, answered):
            counted[CALLS] += len(metas)
            for place, amount in enumerate(amounts, start=IN):
                counted[place] += amount

    def _as_speakers(self) -> Iterator[Speaker]:
        kinds = {"user": "person", "model": "persona"}
        for (source, key), (name, lines, first, last) in self._speakers.items():
            yield Speaker(
                key=_name(key),
                name=_name(name),
                kind=kinds.get(source, "host" if key == HOST else "persona"),
                lines=lines,
                first=first,
                last=last,
            )


def called(meta: Fields) -> str:
    """The provider, and the model where the line names one."""
    provider, model = meta.get("provider"), meta.get("model")
    if type(provider) is str and type(model) is str:
        return f"{provider}/{model}"
    return provider if type(provider) is str else model if type(model) is str else "unnamed"


def total(found: Sequence[Any]) -> float:
    """What other tools write there may be anything; only what can be added up is."""
    usual = set(map(type, found)) <= {int, float} and min(found) >= 0 and 0 <= sum(found) <= HIGHEST_AMOUNT
    if not usual:
        found = [one for one in found if type(one) in {int, float} and 0 <= one <= HIGHEST_AMOUNT]
    return float(sum(found))


def named(source: str, actor: str, meta: Fields) -> tuple[str, str, str]:
    """A person is known by an id, and called by a name; everybody else is an actor."""
    if source != "user":
        return source, actor, actor
    known, name = meta.get("user_id"), meta.get("user_name")
    name = name if type(name) is str and name else ""
    key = known if type(known) is str and known else name or actor
    return source, key, name or key


def _of(known: dict[str, list[float]], name: str) -> list[float]:
    return known.setdefault(name if name in known or len(known) < MOST_NAMES else OTHERS, [0] * 7)


def _name(found: object) -> str:
    return one_line(found, NAME_CHARS) if isinstance(found, str) else OTHERS


def _spent(counted: list[float]) -> Spent:
    lines, calls, unrecorded, tokens_in, tokens_out, cost, seconds = counted
    return Spent(
        lines=int(lines),
        calls=int(calls),
        unrecorded=int(unrecorded),
        tokens_in=int(tokens_in),
        tokens_out=int(tokens_out),
        cost=round(cost, 6),
        seconds=round(seconds, 3),
    )
