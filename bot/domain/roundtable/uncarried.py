"""
What was said in a step, or in its discussion, and stands in no entry: it is listed on the card when the step or the
synthesis is written, and stays there until an entry has it or a person says what becomes of it.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from bot.domain.discussion import dissent
from bot.domain.discussion.board import OPTION_LABELS, position_in
from bot.domain.discussion.elaboration import Turn
from bot.domain.roundtable.posts import UncarriedStatement
from bot.domain.roundtable.state import Roundtable
from bot.domain.specification import carried
from bot.domain.specification.carried import LostStatement
from bot.domain.specification.checks import text_of_entry
from bot.domain.specification.entries import ENTRIES, OF_DISCUSSIONS, Entry
from bot.domain.transcript.lines import Source

NOT_CARRIED = "not_carried"
"""In the `meta` of the line about a written step or a synthesis: what was listed, and why."""
MOST_KEPT = 40
"""Of one roundtable; the newest."""


def of_discussion(
    rt: Roundtable, claims: Sequence[str], cited: Collection[str]
) -> tuple[UncarriedStatement, ...]:
    """*claims* is all that the synthesis says, *cited* the turns that it rests on."""
    debate, texts = rt.debate, [*claims, *_texts(rt)]
    found: list[UncarriedStatement] = []
    for turn in debate.turns:
        by = turn.by, turn.name, turn.line
        found += (_statement(rt, one, *by) for one in _lost_in(rt, turn, texts, cited))
    for beside in debate.besides:
        by = beside.by, beside.name, rt.line_of(beside.ts)
        found += (
            _statement(rt, one, *by) for one in carried.lost(_plain(beside.text), texts, is_cited=False)
        )
    return tuple(found)


def of_step(rt: Roundtable) -> tuple[UncarriedStatement, ...]:
    """A message that gave entries is in those: what is in no form of them is a note."""
    texts, rests_on = _texts(rt), _sources(rt)
    found: list[UncarriedStatement] = []
    for answer in rt.answers:
        line = rt.line_of(answer.ts)
        if line not in rests_on:
            by = answer.person, rt.name_of(answer.person), line
            lost = carried.lost(answer.text, texts, is_cited=False)
            found += (_statement(rt, one, *by) for one in lost)
    for said in rt.lines:
        if (
            said.source is Source.MODEL
            and ENTRIES not in said.meta
            and said.meta.get("step_id") == rt.step_id
        ):
            by = said.actor, said.actor, said.message_id
            lost = carried.lost_citations(said.content, texts, rests_on)
            found += (_statement(rt, one, *by) for one in lost)
    return tuple(found)


def listed(rt: Roundtable, found: Iterable[UncarriedStatement]) -> tuple[Roundtable, dict[str, Any]]:
    """With what was *found*, each once and numbered; and the facts for the line that says what was written."""
    known = {(one.line, one.text) for one in rt.uncarried}
    number = max((one.number for one in rt.uncarried), default=0)
    new = {(one.line, one.text): one for one in found if (one.line, one.text) not in known}
    numbered = tuple(one.but(number=number + place) for place, one in enumerate(new.values(), start=1))
    if not numbered:
        return rt, {}
    told = [{"what": one.text, "by": one.name, "line": one.line, "why": one.why} for one in numbered]
    return rt.but(uncarried=(*rt.uncarried, *numbered)[-MOST_KEPT:]), {NOT_CARRIED: told}


def shown(rt: Roundtable, step_id: str) -> tuple[UncarriedStatement, ...]:
    """Those of the step that no entry has by now."""
    mine = [one for one in rt.uncarried if one.step_id == step_id]
    if not mine:
        return ()
    rests_on, texts = _sources(rt), _texts(rt)
    return tuple(one for one in mine if not (_is_used(one, rests_on) or _is_said(one, texts)))


def _is_used(one: UncarriedStatement, rests_on: Collection[str]) -> bool:
    """An entry rests on the message by now. A number that is missing is missing all the same."""
    return one.why == carried.RESTS_NOT and one.line in rests_on


def _is_said(one: UncarriedStatement, texts: Sequence[str]) -> bool:
    """In an entry that was made since."""
    if carried.citations_in(one.text):
        return not any(True for _ in carried.lost_citations(one.text, texts, frozenset()))
    return not any(True for _ in carried.lost(one.text, texts, is_cited=False))


def _lost_in(
    rt: Roundtable, turn: Turn, texts: Sequence[str], cited: Collection[str]
) -> Iterator[LostStatement]:
    if not turn.human:
        yield from carried.lost_citations(turn.text, texts, _sources(rt))
        return
    text = _plain(turn.text)
    takes_side = position_in(rt.debate, text) is not None
    yield from carried.lost(text, texts, is_cited=turn.id in cited or takes_side)


def _plain(text: str) -> str:
    """Without lines that people marked: those are decisions, objections and options."""
    return dissent.unmarked(text, OPTION_LABELS)


def _statement(rt: Roundtable, one: LostStatement, by: str, name: str, line: str) -> UncarriedStatement:
    step_id = rt.elaboration.step_id if rt.elaboration else rt.step_id
    return UncarriedStatement(
        number=0, step_id=step_id, text=one.text, by=by, name=name, line=line, why=one.why
    )


def _living(rt: Roundtable) -> Iterator[Entry]:
    return (
        one
        for one in rt.specification.entries.values()
        if one.kind not in OF_DISCUSSIONS and rt.specification.lives(one.id)
    )


def _texts(rt: Roundtable) -> list[str]:
    return [text_of_entry(one) for one in _living(rt)]


def _sources(rt: Roundtable) -> frozenset[str]:
    """Lines and code that some entry rests on."""
    claims = (claim for one in _living(rt) for _, claim in one.current())
    return frozenset(source for claim in claims for source in (claim.line, *claim.sources))
