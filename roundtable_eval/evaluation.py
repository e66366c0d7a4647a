"""`roundtable eval`: the same meetings for each contender, several times, and whether the panel is better."""

import asyncio
import random
import time
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple, Protocol

from bot.domain.values.text import counted
from bot.errors import BotError, VoiceError
from roundtable_eval.judging import preferred
from roundtable_eval.meeting import Meeting
from roundtable_eval.people import Ask, People, Room
from roundtable_eval.scoring import Play, Score, score
from roundtable_eval.verdict import DRAWS, Comparison, Interval, Scores, Verdict, compared, interval, verdict

AT_ONCE = 8
"""Plays, each with one call of a model at a time."""


class UnequalEvidence(BotError):
    """A contender saw another file than its rivals: the comparison is void."""


class Contender(Protocol):
    @property
    def name(self) -> str: ...

    async def play(self, room: Room, seed: str) -> Play:
        """Raises nothing over a model that does not answer: the play says why there is no record."""
        ...


class Rules(NamedTuple):
    """*spent_beside* gives the dollars for simulated people and the judge, None when a price is unknown."""

    repeats: int = 5
    seed: int = 7
    draws: int = DRAWS
    most_dollars: Decimal | None = None
    judge: Ask | None = None
    spent_beside: Callable[[], Decimal | None] = lambda: Decimal(0)


class Judgement(NamedTuple):
    """Of the panel beside *rival*."""

    rival: str
    wins: int
    ties: int
    losses: int
    preference: Interval


class Evaluation(NamedTuple):
    """*scores* by contender, the panel first."""

    meetings: tuple[Meeting, ...]
    scores: Mapping[str, Scores]
    comparisons: tuple[Comparison, ...]
    judgements: tuple[Judgement, ...]
    verdict: Verdict
    repeats: int
    seed: int


class _Played(NamedTuple):
    score: Score
    play: Play
    said: str


async def evaluated(
    meetings: Sequence[Meeting], contenders: Sequence[Contender], people: People, rules: Rules
) -> Evaluation:
    """The first of *contenders* is the panel. Raises UnequalEvidence."""
    names = [one.name for one in contenders]
    scores: dict[str, list[list[Score]]] = {name: [] for name in names}
    preferences: dict[str, list[list[int]]] = {name: [] for name in names[1:]}
    stopped = ""
    for number, meeting in enumerate(meetings, start=1):
        played = await _played(meeting, contenders, people, rules)
        for name, plays in played.items():
            scores[name].append([one.score for one in plays])
        if rules.judge:
            for name in names[1:]:
                pairs = zip(played[names[0]], played[name], strict=True)
                judged = (_preference(rules.judge, ours, theirs) for ours, theirs in pairs)
                preferences[name].append(await asyncio.gather(*judged))
        if stopped := _stopped(scores, rules, number, len(meetings)):
            break
    panel, rivals = scores[names[0]], {name: scores[name] for name in names[1:]}
    comparisons = compared(panel, rivals, rules.seed, rules.draws)
    return Evaluation(
        tuple(meetings[: len(panel)]),
        scores,
        comparisons,
        tuple(_judgement(name, found, rules) for name, found in preferences.items() if found),
        verdict(comparisons, repeats=rules.repeats, stopped=stopped or _incomplete(scores)),
        rules.repeats,
        rules.seed,
    )


async def _played(
    meeting: Meeting, contenders: Sequence[Contender], people: People, rules: Rules
) -> Mapping[str, list[_Played]]:
    """Each contender has its repeats, and all have seen the same files."""
    free = asyncio.Semaphore(AT_ONCE)

    async def one(contender: Contender, repeat: int) -> _Played:
        async with free:
            room, began = Room(meeting, people), time.monotonic()
            play = await contender.play(room, f"{rules.seed}/{meeting.key}/{repeat}")
            spent = play.spent._replace(
                seconds=time.monotonic() - began,
                first_question_seconds=(room.first_asked or began) - began,
            )
        found = score(meeting, room, play._replace(spent=spent))
        return _Played(found, play, "\n".join(f"{line.speaker}: {line.text}" for line in room.lines))

    games = [(contender, repeat) for contender in contenders for repeat in range(rules.repeats)]
    found = await asyncio.gather(*(one(*game) for game in games))
    for (contender, _), played in zip(games, found, strict=True):
        _refuse_unequal(
            contender.name, played.play.evidence, contenders[0].name, found[0].play.evidence, meeting
        )
    return {
        one.name: found[place * rules.repeats : (place + 1) * rules.repeats]
        for place, one in enumerate(contenders)
    }


async def _preference(judge: Ask, ours: _Played, theirs: _Played) -> int:
    """0 also without an answer."""
    try:
        return await preferred(judge, (ours.said, theirs.said), (ours.play.record, theirs.play.record))
    except VoiceError:
        return 0


def _refuse_unequal(
    name: str, seen: Mapping[str, str], other: str, theirs: Mapping[str, str], meeting: Meeting
) -> None:
    if differing := sorted(path for path, _ in seen.items() ^ theirs.items()):
        raise UnequalEvidence(
            f"{meeting.key}: {name} and {other} saw different evidence ({differing[0]}), so nothing can be compared."
        )


def _stopped(scores: Mapping[str, Scores], rules: Rules, played: int, of: int) -> str:
    if all(one.failed for rows in scores.values() for one in rows[-1]):
        return f"stopped after {played} of {of} meetings, because no contender left a record."
    if rules.most_dollars is None or played == of:
        return ""
    took = [one.spent.dollars for rows in scores.values() for row in rows for one in row]
    took.append(rules.spent_beside())
    spent = sum(filter(None, took), Decimal(0))
    if spent < rules.most_dollars:
        return ""
    return f"stopped at {spent:.2f} $ after {played} of {of} meetings (--most-dollars)."


def _incomplete(scores: Mapping[str, Scores]) -> str:
    """Without a record or a review a contender is not what it is called."""
    incomplete = {
        name: sum(bool(one.failed or one.unreviewed) for row in rows for one in row)
        for name, rows in scores.items()
    }
    told = ", ".join(f"{name} ({counted(plays, 'play')})" for name, plays in incomplete.items() if plays)
    return f"a record or a review is missing of {told}." if told else ""


def _judgement(rival: str, found: Sequence[Sequence[int]], rules: Rules) -> Judgement:
    every = [one for row in found for one in row]
    preference = interval(found, random.Random(rules.seed), rules.draws)
    return Judgement(rival, every.count(1), every.count(0), every.count(-1), preference)
