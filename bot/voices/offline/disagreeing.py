"""Two people who plainly disagree are put side by side, once, and asked to decide (reference §2.7)."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from bot.domain.discussion.elaboration import Turn
from bot.voices.offline.phrases import gist, is_question, quoted, sentences
from bot.voices.offline.reading import because
from bot.voices.offline.situation import Situation

LONGEST = 350
QUOTES = (40, 28, 18)
"""How long the quotes of the positions may be: the first that leaves everything in one short contribution."""

ANOTHER_WAY = "another way"
"""What somebody favors who says only what is wrong with the first."""

_DISAGREES = re.compile(
    r"""^\W{0,9}(?:(?:h+m+|um+|uh+|ok(?:ay)?|well|sorry)\W{1,9}){0,3}
        (?:no|nope|nah|nein|non)\b(?!\s+(?:problem|worries|idea|doubt|one|need|risk|issue))
      | \bI\s+(?:strongly\s+|respectfully\s+)?disagree\b
      | \b(?:do\s+not|don['’]?t)\s+(?:agree|think\s+(?:so|that['’]?s|it['’]?s|this|we))\b
      | \bnot\s+convinced\b | \b(?:I['’]?d|I\s+would|we\s+should|let['’]?s|but)\s+rather\b | \brather\s+not\b
      | \bich\s+bin\s+(?:da)?gegen\b""",
    re.IGNORECASE | re.VERBOSE,
)
_BARE_NO = re.compile(
    r"""(?:\W{0,9}\b(?:no|nope|nah|nein|non|h+m+|um+|uh+|ok(?:ay)?|sorry|but|well
      | I\s+(?:strongly\s+|respectfully\s+)?disagree | (?:I\s+)?(?:do\s+not|don['’]?t)\s+(?:agree|think\s+so)
      | I['’]d\s+rather
      | I\s+(?:think|guess|believe|feel)(?:\s+that)?)\b[\s,.;:!–—-]*+)+""",
    re.IGNORECASE | re.VERBOSE,
)
_PROPOSES = re.compile(
    r"\b(?:should|let['’]?s|rather|prefer|instead|need|want|use|keep|make|take|close|better|must|could|can|would|will"
    r"|is\s+(?:fine|enough|ok(?:ay)?|good))\b",
    re.IGNORECASE,
)


class Dispute(NamedTuple):
    """Who proposed something, and who spoke against it."""

    proposed: Turn
    against: Turn


def both_sides(here: Situation) -> str:
    """Empty unless the newest person to speak contradicts an earlier one, and the lead has not said so yet."""
    turns = here.debate.turns
    newest = next((number for number in reversed(range(len(turns))) if turns[number].human), None)
    if newest is None or any(turn.by == here.persona.key for turn in turns[newest + 1 :]):
        return ""
    found = _dispute_at(turns, newest)
    return _side_by_side(found) if found else ""


def dispute(turns: Sequence[Turn]) -> Dispute | None:
    """The newest one in *turns*."""
    found = (_dispute_at(turns, place) for place in reversed(range(len(turns))))
    return next((one for one in found if one), None)


def position(turn: Turn) -> str:
    """The first thing said that is neither a question nor a bare no, without its "I think"."""
    return next((bare for one in sentences(turn.text) if (bare := _bare(one)) and not is_question(one)), "")


def has_position(sentence: str) -> bool:
    """Whether it says more than no."""
    return bool(_bare(sentence))


def _bare(sentence: str) -> str:
    no = _BARE_NO.match(sentence)
    rest = sentence[no.end() :] if no else sentence
    return rest if gist(rest) else ""


def _dispute_at(turns: Sequence[Turn], place: int) -> Dispute | None:
    against = turns[place]
    if not against.human or not _DISAGREES.search(against.text) or not position(against):
        return None
    earlier = (turn for turn in reversed(turns[:place]) if turn.human and turn.by != against.by)
    proposed = next((turn for turn in earlier if position(turn)), None)
    return Dispute(proposed, against) if proposed else None


def _side_by_side(found: Dispute) -> str:
    ways = [_sides(found, limit) for limit in QUOTES]
    return next((way for way in ways if len(way) <= LONGEST), ways[-1])


def _sides(found: Dispute, limit: int) -> str:
    one, other = found
    rejects = not _PROPOSES.search(position(other))
    favored = _rejects(other, limit) if rejects else _favors(other, limit)
    brief = ANOTHER_WAY if rejects else _stance(other, limit)
    return (
        f"{one.name} and {other.name} see this differently. {_favors(one, limit)} {favored} "
        f"What matters more for your project: {_stance(one, limit)} or {brief}?"
    )


def _favors(turn: Turn, limit: int) -> str:
    _, why = because(position(turn))
    reason = f" because {quoted(why, limit)}" if quoted(why) else ""
    return f"{turn.name} favors {_stance(turn, limit)}{reason}."


def _rejects(turn: Turn, limit: int) -> str:
    return f"{turn.name} favors {ANOTHER_WAY} because {quoted(position(turn), 2 * limit)}."


def _stance(turn: Turn, limit: int) -> str:
    what, _ = because(position(turn))
    return quoted(what, limit) or quoted(position(turn), limit)
