"""
What the claims of a synthesis rest on: turns that were really taken, and where they can be looked up.

In git that is a line of the transcript beside it, in the thread a link to the message.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any, TypeVar

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

WORDS = frozenset({"text", "rationale", "why", "because", "risk", "reopen_if"})
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


def is_traced(synthesis: Synthesis, debate: Elaboration) -> bool:
    """
    Whether sources can be asked for: a claim names some, a button made a decision, or a turn says on record what it
    rests on.
    """
    recorded = any(turn.stances or turn.unrecorded for turn in debate.turns)
    return recorded or bool(_cited(synthesis)) or any(_decisions(synthesis, debate))


def sources(synthesis: Synthesis, debate: Elaboration) -> str:
    """The section for those who read the file; empty where there is nothing to look up."""
    rows = [*_turns(synthesis, debate), *_decisions(synthesis, debate)]
    return "\n".join(("#### Sources", *rows, "")) if rows else ""


def links(rt: Roundtable, synthesis: Synthesis) -> tuple[Link, ...]:
    """For those who read the thread."""
    held_in = permalinks.thread(rt.permalink)
    if held_in is None:
        return ()
    found = (
        (turn, permalinks.of_message(held_in, rt.place.channel, turn.ts or turn.posted))
        for turn in _known(synthesis, rt.debate)
    )
    return tuple(Link(label=f"{turn.id} {turn.name}", url=url) for turn, url in found if url)


def cites(synthesis: Synthesis) -> frozenset[str]:
    """Every turn that some claim rests on."""
    return frozenset(_cited(synthesis))


def _claims(given: Iterable[Claim], known: Collection[str]) -> tuple[Claim, ...]:
    found = (_grounded(one, known) for one in given)
    return tuple(one for one in found if one.text)


def _grounded(claim: Claim, known: Collection[str]) -> Claim:
    said: dict[str, Any] = {name: _bare(text) for name, text in claim if name in WORDS}
    return claim.but(turns=tuple(dict.fromkeys(turn for turn in claim.turns if turn in known)), **said)


def _bare(text: str) -> str:
    text = _WRITTEN_IN.sub("", clean(text))
    return _WRITTEN_IN.sub(" …", text).strip()  # what is left around one may be another


def _cited(synthesis: Synthesis) -> set[str]:
    claims: tuple[Insight | Decision | OpenQuestion | Objection, ...]
    claims = (*synthesis.insights, *synthesis.decisions, *synthesis.questions, *synthesis.objections)
    return {turn for one in claims for turn in one.turns}


def _known(synthesis: Synthesis, debate: Elaboration) -> tuple[Turn, ...]:
    cited = _cited(synthesis)
    return tuple(turn for turn in debate.turns if turn.id in cited)


def _turns(synthesis: Synthesis, debate: Elaboration) -> Iterator[str]:
    for turn in _known(synthesis, debate):
        where = f", `{TRANSCRIPT}#{turn.line}`" if turn.line else ""
        yield f"- {turn.id}: {_named(turn.name)}{where}"


def _decisions(synthesis: Synthesis, debate: Elaboration) -> Iterator[str]:
    """Those made with a button are no turns."""
    kept = {(one.text, one.by) for one in synthesis.decisions}
    for one in debate.decided:
        if not one.typed and (one.text, one.attribution) in kept:
            yield f"- Decided by {_named(one.attribution)}: `{TRANSCRIPT}#{one.line}`"


def _named(name: str) -> str:
    """A name that ends no code and begins none: the reference behind it is to be found."""
    return bullet(name.replace("`", "'"))
