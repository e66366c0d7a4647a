"""Two people who plainly disagree are put side by side, once, and asked to decide (reference §2.7)."""

import re

from bot.domain.elaboration import Turn
from bot.voices.phrases import gist, is_question, quoted, sentences
from bot.voices.reading import because
from bot.voices.situation import Situation

LONGEST = 350
QUOTES = (40, 28, 18)
"""How long the quotes of the positions may be: the first that leaves everything in one short contribution."""

_DISAGREES = re.compile(
    r"""^\W{0,9}(?:no|nope|nah|nein|non)\b(?!\s+(?:problem|worries|idea|doubt|one|need|risk|issue))
      | \bI\s+(?:strongly\s+|respectfully\s+)?disagree\b | \bI\s+(?:do\s+not|don['’]t)\s+(?:agree|think\s+so)\b
      | \bnot\s+convinced\b | \b(?:I['’]?d|I\s+would|we\s+should|let['’]?s|but)\s+rather\b | \brather\s+not\b
      | \bich\s+bin\s+(?:da)?gegen\b""",
    re.IGNORECASE | re.VERBOSE,
)
_BARE_NO = re.compile(
    r"""(?:\W{0,9}\b(?:no|nope|nah|nein|non|sorry|but|well|I\s+(?:strongly\s+|respectfully\s+)?disagree
      | I\s+(?:do\s+not|don['’]t)\s+agree | I\s+(?:think|guess|believe|feel)(?:\s+that)?)\b[\s,.;:!–—-]*+)+""",
    re.IGNORECASE | re.VERBOSE,
)


def both_sides(here: Situation) -> str:
    """Empty unless the newest person to speak contradicts an earlier one, and the lead has not said so yet."""
    turns = here.debate.turns
    newest = next((number for number in reversed(range(len(turns))) if turns[number].human), None)
    if newest is None or not _DISAGREES.search(turns[newest].text):
        return ""
    against = turns[newest]
    if not position(against) or any(turn.by == here.persona.key for turn in turns[newest + 1 :]):
        return ""
    earlier = (turn for turn in reversed(turns[:newest]) if turn.human and turn.by != against.by)
    proposed = next((turn for turn in earlier if position(turn)), None)
    return _side_by_side(proposed, against) if proposed else ""


def position(turn: Turn) -> str:
    """The first thing said that is neither a question nor a bare no, without its "I think"."""
    for sentence in sentences(turn.text):
        no = _BARE_NO.match(sentence)
        bare = sentence[no.end() :] if no else sentence
        if gist(bare) and not is_question(sentence):
            return bare
    return ""


def _side_by_side(one: Turn, other: Turn) -> str:
    ways = [_sides(one, other, limit) for limit in QUOTES]
    return next((way for way in ways if len(way) <= LONGEST), ways[-1])


def _sides(one: Turn, other: Turn, limit: int) -> str:
    brief = f"{_stance(one, limit)} or {_stance(other, limit)}"
    return (
        f"{one.name} and {other.name} see this differently. {_favors(one, limit)} {_favors(other, limit)} "
        f"What matters more for your project: {brief}?"
    )


def _favors(turn: Turn, limit: int) -> str:
    _, why = because(position(turn))
    reason = f" because {quoted(why, limit)}" if quoted(why) else ""
    return f"{turn.name} favors {_stance(turn, limit)}{reason}."


def _stance(turn: Turn, limit: int) -> str:
    what, _ = because(position(turn))
    return quoted(what, limit) or quoted(position(turn), limit)
