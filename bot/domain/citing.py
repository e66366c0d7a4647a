"""
What the claims of a synthesis rest on: turns that were really taken, and where they can be looked up.

In git that is a line of the transcript beside it, in the thread a link to the message.
"""

from collections.abc import Iterator

from bot.domain import permalinks
from bot.domain.elaboration import Elaboration, Turn
from bot.domain.markdown import bullet
from bot.domain.message import Link
from bot.domain.roundtable import Roundtable
from bot.domain.synthesis import REFS, Decision, Insight, Objection, Question, Synthesis

TRANSCRIPT = "planning/meeting.jsonl"
"""Relative to the item's folder, with the `message_id` of a line behind a #."""


def grounded(synthesis: Synthesis, debate: Elaboration) -> Synthesis:
    """With no turn that nobody took; who writes some into the words of a claim has not cited anything."""
    known = {turn.id for turn in debate.turns}

    def real(turns: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(turn for turn in turns if turn in known))

    def bare(text: str) -> str:
        return REFS.sub("", text)

    return synthesis.but(
        insights=tuple(one.but(text=bare(one.text), turns=real(one.turns)) for one in synthesis.insights),
        decisions=tuple(one.but(text=bare(one.text), turns=real(one.turns)) for one in synthesis.decisions),
        questions=tuple(one.but(text=bare(one.text), turns=real(one.turns)) for one in synthesis.questions),
        objections=tuple(one.but(text=bare(one.text), turns=real(one.turns)) for one in synthesis.objections),
    )


def is_traced(synthesis: Synthesis, debate: Elaboration) -> bool:
    """Whether sources can be asked for: somebody names some, or said on record what they rest on."""
    recorded = any(turn.stances or turn.unrecorded for turn in debate.turns)
    return recorded or bool(_cited(synthesis))


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


def _cited(synthesis: Synthesis) -> set[str]:
    claims: tuple[Insight | Decision | Question | Objection, ...]
    claims = (*synthesis.insights, *synthesis.decisions, *synthesis.questions, *synthesis.objections)
    return {turn for one in claims for turn in one.turns}


def _known(synthesis: Synthesis, debate: Elaboration) -> tuple[Turn, ...]:
    cited = _cited(synthesis)
    return tuple(turn for turn in debate.turns if turn.id in cited)


def _turns(synthesis: Synthesis, debate: Elaboration) -> Iterator[str]:
    for turn in _known(synthesis, debate):
        where = f", `{TRANSCRIPT}#{turn.line}`" if turn.line else ""
        yield f"- {turn.id}: {bullet(turn.name)}{where}"


def _decisions(synthesis: Synthesis, debate: Elaboration) -> Iterator[str]:
    """Those made with a button are no turns."""
    kept = {(one.text, one.by) for one in synthesis.decisions}
    for one in debate.decided:
        if (one.text, one.name) in kept:
            yield f"- Decided by {bullet(one.name)}: `{TRANSCRIPT}#{one.line}`"
