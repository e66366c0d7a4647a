"""
Whether a turn of a persona brings something new, and so when personas have nothing more to say: a round without a new
position, evidence or argument.

Agreement is nothing new, nor is the same position on the same grounds, nor the same words again. Stances
say more than words do, where there are some. What people say is always heard, and begins it all anew.
"""

import re
from collections.abc import Callable, Sequence
from enum import StrEnum

from bot.domain.discussion import positions
from bot.domain.discussion.elaboration import Elaboration, Turn
from bot.domain.discussion.words import name
from bot.domain.specification.citations import citations_in
from bot.domain.values.text import content_words

ENOUGH_TURNS = 2
"""Of personas, one after the other, without anything new."""
NEW_WORDS = 0.4
"""The share of words that nobody said before, from which words without a stance are an argument of their own."""
OWN_WORDS = 0.2
FEWEST_WORDS = 6
"""Of a turn without a stance. Fewer say too little to be judged by them."""
_FIGURE = re.compile(r"(?<![\w])\d+(?:[.,]\d+)*")


class SpentReason(StrEnum):
    """Why personas have nothing more to say; empty in the state while they have."""

    NOTHING_NEW = "nothing new"
    AGREED = "agreed"


def spent(debate: Elaboration) -> SpentReason | None:
    """After the first round, of what personas said since a person last spoke or pressed."""
    if not debate.first_round or (debate.turns and debate.turns[-1].human):
        return None
    since = max(debate.first_round, _last_of_people(debate))
    newest = range(since, debate.turn_count)[-ENOUGH_TURNS:]
    if len(newest) == ENOUGH_TURNS and not any(adds(debate, number) for number in newest):
        return SpentReason.NOTHING_NEW
    return SpentReason.AGREED if _is_agreed(debate) else None


def adds(debate: Elaboration, number: int) -> bool:
    """Whether the turn *number*, from 0, says what was not said before it."""
    turn, before = debate.turns[number], debate.turns[:number]
    if (
        turn.human
        or all(one.by != turn.by for one in before)
        or _evidence(turn.text) - _said(before, _evidence)
    ):
        return True
    if not turn.stances:
        is_short = len(content_words(turn.text)) < FEWEST_WORDS
        return is_short or _share_of_new(turn.text, before) >= NEW_WORDS
    held = {(name(one.issue), name(one.held)) for said in before for one in said.stances}
    return any(
        (name(one.issue), name(one.held)) not in held
        or (one.new_evidence and _share_of_new(turn.text, before) >= NEW_WORDS)
        for one in turn.stances
    )


def is_echo(debate: Elaboration) -> bool:
    """Whether the newest turn says in words what others said, without a number or citation of its own."""
    *before, newest = debate.turns
    has_evidence = bool(_evidence(newest.text) - _said(before, _evidence))
    has_words = bool(content_words(newest.text))
    return has_words and not has_evidence and _share_of_new(newest.text, before) <= OWN_WORDS


def repeats_itself(debate: Elaboration) -> bool:
    """Whether the newest turn, without a stance, says what its speaker said before, since a person last spoke."""
    if not debate.turns:
        return False
    newest = debate.turns[-1]
    if newest.human or newest.stances or newest.challenge or newest.by_rule:
        return False
    own = [one for one in debate.turns[_last_of_people(debate) : -1] if one.by == newest.by]
    is_long = len(content_words(newest.text)) >= FEWEST_WORDS
    has_evidence = bool(_evidence(newest.text) - _said(own, _evidence))
    return bool(own) and is_long and not has_evidence and _share_of_new(newest.text, own) <= OWN_WORDS


def _is_agreed(debate: Elaboration) -> bool:
    """Whether all hold the same after one of them made the case against it."""
    return debate.challenged and positions.is_unanimous(debate)


def _last_of_people(debate: Elaboration) -> int:
    """The turn count when a person last spoke, took a position or decided."""
    spoke = max((at for at, turn in enumerate(debate.turns, start=1) if turn.human), default=0)
    return max(spoke, debate.acted)


def _share_of_new(text: str, before: Sequence[Turn]) -> float:
    words = content_words(text)
    return len(words - _said(before, content_words)) / len(words) if words else 0.0


def _said(turns: Sequence[Turn], part: Callable[[str], frozenset[str]]) -> frozenset[str]:
    return frozenset(one for turn in turns for one in part(turn.text))


def _evidence(text: str) -> frozenset[str]:
    """Numbers, and lines of code that are cited."""
    return citations_in(text) | frozenset(_FIGURE.findall(text))
