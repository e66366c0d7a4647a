"""
What the claims of a synthesis rest on: turns that were really taken, and where they can be looked up.

In git that is a line of the transcript beside it, in the thread a link to the message.
"""

import re
from collections.abc import Collection, Iterable
from typing import Any, TypeVar

from bot.domain.discussion.block import DiscussionBlock
from bot.domain.discussion.elaboration import Elaboration, Turn
from bot.domain.discussion.synthesis import Decision, Insight, Objection, OpenQuestion, Synthesis
from bot.domain.messages.message import Link
from bot.domain.roundtable import permalinks
from bot.domain.roundtable.state import Roundtable
from bot.domain.values.markdown import bullet
from bot.domain.values.text import clean

TRANSCRIPT = "planning/meeting.jsonl"
"""Relative to the item's folder, with the `message_id` of a line behind a #."""

_HIDDEN = "[\u00ad\u200b-\u200f\u2060-\u2064]*+"
_TURN = rf"t{_HIDDEN}(?:\d{_HIDDEN}){{2,}}"
_WRITTEN_IN = re.compile(
    rf"(?<![ \t])[ \t]*+\[{_HIDDEN}\s*+{_HIDDEN}{_TURN}(?:\s*+,\s*+{_HIDDEN}{_TURN})*+\s*+\]", re.IGNORECASE
)
"""What looks like our references, wherever it stands."""

WORDS = frozenset({"text", "rationale", "why"})
"""Of a claim, as people read them."""

Claim = TypeVar("Claim", Insight, Decision, OpenQuestion, Objection)


def grounded(synthesis: Synthesis, debate: Elaboration) -> Synthesis:
    """
    Only with turns that were taken. A turn named in the words of a claim is no citation. A claim without words is
    left out.
    """
    known = frozenset(turn.id for turn in debate.turns)
    return synthesis.but(
        insights=_claims(synthesis.insights, known),
        decisions=_claims(synthesis.decisions, known),
        questions=_claims(synthesis.questions, known),
        objections=_claims(synthesis.objections, known),
        actions=tuple(filter(None, map(_bare, synthesis.actions))),
        summary=_bare(synthesis.summary),
    )


def sources(block: DiscussionBlock, debate: Elaboration) -> str:
    """The section for those who read the file; empty where there is nothing to look up."""
    turns = (turn for turn in debate.turns if turn.id in block.cited)
    rows = [*map(_turn, turns), *(_pressed(*one) for one in block.pressed)]
    return "\n".join(("#### Sources", *rows, "")) if rows and block.is_traced else ""


def links(rt: Roundtable, block: DiscussionBlock) -> tuple[Link, ...]:
    """For those who read the thread."""
    held_in = permalinks.thread(rt.permalink)
    if held_in is None:
        return ()
    found = (
        (turn, permalinks.of_message(held_in, rt.place.channel, turn.ts or turn.posted))
        for turn in rt.debate.turns
        if turn.id in block.cited
    )
    return tuple(Link(label=f"{turn.id} {turn.name}", url=url) for turn, url in found if url)


def _claims(given: Iterable[Claim], known: Collection[str]) -> tuple[Claim, ...]:
    found = (_grounded(one, known) for one in given)
    return tuple(one for one in found if one.text)


def _grounded(claim: Claim, known: Collection[str]) -> Claim:
    said: dict[str, Any] = {name: _bare(text) for name, text in claim if name in WORDS}
    return claim.but(turns=tuple(dict.fromkeys(turn for turn in claim.turns if turn in known)), **said)


def _bare(text: str) -> str:
    text = _WRITTEN_IN.sub("", clean(text))
    return _WRITTEN_IN.sub(" …", text).strip()  # what is left around one may be another


def _turn(turn: Turn) -> str:
    where = f", `{TRANSCRIPT}#{turn.line}`" if turn.line else ""
    return f"- {turn.id}: {_named(turn.name)}{where}"


def _pressed(by: str, line: str) -> str:
    """A decision that was made with a button is in no turn."""
    return f"- Decided by {_named(by)}: `{TRANSCRIPT}#{line}`"


def _named(name: str) -> str:
    """A name that ends no code and begins none: the reference behind it is to be found."""
    return bullet(name.replace("`", "'"))
