"""What an elaboration leaves behind: insights with names on them, in the thread, in the artifacts, in meta.json."""

from collections.abc import Mapping
from typing import Any

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.taxonomy import trouble
from bot.domain.discussion import attesting, board, dissent
from bot.domain.discussion.elaboration import EndedDiscussion, EndReason
from bot.domain.discussion.synthesis import (
    Decision,
    Objection,
    Synthesis,
    claims,
    markdown,
    outcome,
    sound,
)
from bot.domain.item.artifacts import Edit, InsightEdit, applies_to, marker, shared
from bot.domain.item.meta import MetaChange, Record
from bot.domain.messages import discussion_card, discussion_wording, step_wording, trouble_wording
from bot.domain.messages.menus import MenuKind
from bot.domain.messages.message import Message
from bot.domain.roundtable import citing, quality, uncarried, words
from bot.domain.roundtable.effects import Synthesize, Then
from bot.domain.roundtable.inputs import Say
from bot.domain.roundtable.outcomes import Committed, StancesCompared, Synthesized, spent
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import comparing, pausing, specifying, steps
from bot.domain.roundtable.transitions.saving import queue_commit, queue_commit_then_tell
from bot.domain.transcript.lines import LinePhase
from bot.domain.values.text import one_line

SYNTHESES_TRIED = 2
LAST_WORDS = {
    EndReason.TURN_LIMIT: discussion_wording.LIMIT_REACHED,
    EndReason.BY_PEOPLE: discussion_wording.WRAPPING_UP,
    EndReason.QUIET: discussion_wording.QUIET_SINCE,
    EndReason.DUE: discussion_wording.DUE_BY_NOW,
    EndReason.BUDGET: trouble_wording.USED_UP_IN_A_DISCUSSION,
}


def synthesized(rt: Roundtable, event: Synthesized, playbook: Playbook) -> Roundtable:
    """Saved with the transcript, the record and the files; shown when that is done."""
    attested = attesting.attested(citing.grounded(event.synthesis, rt.debate), rt.debate)
    delivered, facts = attested.synthesis, spent(event.facts)
    if not sound(delivered, turns=rt.debate.turn_count):
        return unstructured(rt, delivered.summary, playbook, facts=facts)
    if attested.notes:
        facts["unverified"] = list(attested.notes)
    lost = (*dissent.missing(delivered, rt.debate), *dissent.half_said(delivered, rt.debate))
    if lost and rt.debate.failed_syntheses + 1 < SYNTHESES_TRIED:
        return _refused(rt.but(elaboration=rt.debate.but(refused=delivered)), lost, facts)
    if event.dangling:
        rt = rt.telling(Message(text=step_wording.dangling(event.dangling)), part=LinePhase.FORMALIZING)
    return _taken(rt, delivered, playbook, facts=facts, quotes=attested.quotes)


def compared(rt: Roundtable, event: StancesCompared, playbook: Playbook) -> Roundtable:
    """Before the synthesis, which says what was agreed on too easily."""
    return comparing.taken(rt, event)


def _taken(
    rt: Roundtable,
    delivered: Synthesis,
    playbook: Playbook,
    *,
    facts: Mapping[str, Any],
    quotes: tuple[Decision, ...] = (),
) -> Roundtable:
    """With what it left out; measured as it was delivered."""
    card = quality.card(rt.debate, delivered, playbook.roster)
    positions = (
        discussion_wording.describe_side(one.option.letter, one.option.text, one.people)
        for one in board.sides(rt.debate)
    )
    synthesis = dissent.restored(delivered, rt.debate).but(positions=tuple(positions))
    shown, kept = _as_markdown(rt, synthesis, playbook)
    rt = rt.but(elaboration=rt.debate.but(insights=len(synthesis.insights)))
    edits = _additions(rt, kept, playbook)
    facts = {**facts, "quality": card.meta, **specifying.synthesized(rt, synthesis, quotes, playbook)}
    message = Message(text=shown, note=quality.line(card), links=citing.links(rt, synthesis))
    rt, lost = uncarried.listed(rt, uncarried.of_discussion(rt, claims(synthesis), citing.cites(synthesis)))
    facts |= lost
    return _save(rt, kept, playbook, summary=synthesis.summary, edits=edits, facts=facts, shown=message)


def unstructured(
    rt: Roundtable, attempt: str, playbook: Playbook, *, facts: Mapping[str, Any] | None = None
) -> Roundtable:
    """
    Tried once more; then one sentence has to do, and no file is touched (ERR-ELAB-007). One that was refused for what
    it left out is better than that. *facts* are of the attempt.
    """
    if rt.debate.refused:
        return _taken(rt, rt.debate.refused, playbook, facts=facts or {})
    debate = rt.debate.but(failed_syntheses=rt.debate.failed_syntheses + 1)
    rt = rt.but(elaboration=debate)
    if debate.failed_syntheses < SYNTHESES_TRIED:
        return rt.queueing(Synthesize())
    said = [turn.text for turn in debate.turns if turn.human] or [debate.topic]
    summary = one_line(attempt or said[-1])
    failed = trouble("ERR-ELAB-007", takeaway=summary)
    text, told = _with_dissent(rt, failed.sentence, playbook)
    rt, lost = uncarried.listed(rt, uncarried.of_discussion(rt, (text,), ()))
    return _save(rt.logging(failed), text, playbook, summary=summary, facts={**(facts or {}), **told, **lost})


def cut_short(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """Ended right after the framing: what people decided or object to by the card is all that there is."""
    text = discussion_wording.ended_early(rt.debate.topic)
    shown, told = _with_dissent(rt, text, playbook)
    return _save(rt, shown, playbook, summary=text, facts=told)


def saved(rt: Roundtable, playbook: Playbook, told: Committed | None) -> Roundtable:
    """The summary is shown by the post that follows the commit; now which files it went into, and the menu."""
    step = playbook.agenda.get(rt.debate.step_id)
    touched = [one for one in (told.touched if told else ()) if step and one.path in step.outputs]
    text = discussion_wording.insights_added(touched, rt.debate.insights)
    kind = MenuKind.PHASE if rt.debate.from_phase_menu else MenuKind.STEP
    rt = _kept_for_the_next(_shown_on_card(rt))
    return steps.menu(rt.but(elaboration=None), playbook, text, kind=kind, anew=True)


def _shown_on_card(rt: Roundtable) -> Roundtable:
    """The synthesis replaces the card of the discussion."""
    card = rt.board
    if card is None or card.ending is None:
        return rt
    rt = rt.but(board=card.but(shown=card.ending))
    if card.ts:  # people wait for it
        return rt.edited(ts=card.ts, message=card.ending, pressed=True)
    return rt.collapsing(card, card.ending)


def _kept_for_the_next(rt: Roundtable) -> Roundtable:
    """Another discussion of the step starts where this one ended."""
    debate = rt.debate
    ended = EndedDiscussion(
        options=debate.options,
        stands=debate.stands,
        objections=debate.objections,
        decided=(*debate.inherited, *debate.decided),
    )
    return rt.but(ended={**rt.ended, debate.step_id: ended})


def too_late(rt: Roundtable, event: Say, playbook: Playbook) -> Roundtable:
    """Said while the synthesis is being made. If "done" was a misunderstanding, people can open it again."""
    facts = specifying.said(rt, event.text, event.person, playbook, notes=False)
    rt = rt.heard(event.person, event.text, ts=event.ts, part=LinePhase.WORKSHOP, **facts)
    if words.stops(event.text):
        return pausing.stop_when_busy(rt, event.person, playbook)
    return rt.logging(trouble("ERR-ELAB-011")) if rt.debate.ending is EndReason.BY_PEOPLE else rt


def _refused(rt: Roundtable, lost: tuple[Objection, ...], facts: Mapping[str, Any]) -> Roundtable:
    """It leaves out an objection: asked for once more, and the voice is told what was missing."""
    left_out = tuple(one.text for one in lost)
    debate = rt.debate.but(failed_syntheses=rt.debate.failed_syntheses + 1, left_out=left_out)
    told = {**facts, "left_out": list(left_out)}
    rt = rt.recording(discussion_wording.asked_again(len(lost)), part=LinePhase.FORMALIZING, **told)
    return rt.but(elaboration=debate).queueing(Synthesize())


def _with_dissent(rt: Roundtable, sentence: str, playbook: Playbook) -> tuple[str, Mapping[str, Any]]:
    """Where one sentence has to do, what people decided and who objects is said all the same."""
    kept = dissent.restored(Synthesis(summary=sentence), rt.debate)
    facts = specifying.synthesized(rt, kept, (), playbook)
    return f"{sentence}\n\n{outcome(kept)}" if kept.decisions or kept.objections else sentence, facts


def _as_markdown(rt: Roundtable, synthesis: Synthesis, playbook: Playbook) -> tuple[str, str]:
    """As people read it in the thread, and as it is kept, with the lines that it rests on."""
    step, cited = playbook.agenda.get(rt.debate.step_id), citing.is_traced(synthesis, rt.debate)
    turns = (turn.name for turn in rt.debate.turns if turn.human)
    people = dict.fromkeys((*turns, *(one.name for one in rt.debate.besides)))
    personas = (f"{persona.name} ({persona.short})" for persona in playbook.roster)
    text = markdown(
        synthesis,
        step_id=rt.debate.step_id,
        title=step.title if step else rt.debate.topic,
        participants=", ".join((*people, *personas)),
        turns=rt.debate.turn_count,
        exit=(rt.debate.ending or EndReason.BY_PEOPLE).value,
        cited=cited,
    )
    sources = citing.sources(synthesis, rt.debate) if cited else ""
    return text, "\n".join(filter(None, (text, sources)))


def _additions(rt: Roundtable, text: str, playbook: Playbook) -> tuple[Edit, ...]:
    """
    The same addition for every text file of the step, under a marker that makes it findable; in the file that all
    items share, it belongs to the item's own section.
    """
    step = playbook.agenda.get(rt.debate.step_id)
    if step is None:
        return ()
    return tuple(
        InsightEdit(
            path=output,
            keywords=(rt.title if shared(output) else step.title,),
            marker=marker(step.step_id, rt.now),
            body=text,
        )
        for output in step.outputs
        if applies_to(output)
    )


def _save(
    rt: Roundtable,
    text: str,
    playbook: Playbook,
    *,
    summary: str,
    edits: tuple[Edit, ...] = (),
    facts: Mapping[str, Any] | None = None,
    shown: Message | None = None,
) -> Roundtable:
    step_id = rt.debate.step_id
    step = playbook.agenda.get(step_id)
    record = Record(
        step_id=step_id,
        turn_count=max(rt.debate.turn_count, 1),  # seed 001 counts from 1, even when the framing never came
        personas_active=tuple(persona.key for persona in playbook.roster),
        timestamp=rt.now,
        synthesis_summary=one_line(summary),
    )
    subject = f"elaboration {step_id} {step.title if step else rt.debate.topic}"
    change = MetaChange(elaborations=(record,))
    if rt.board is None:
        return queue_commit_then_tell(
            rt,
            subject,
            Message(text=text),
            part=LinePhase.FORMALIZING,
            then=Then.SYNTHESIS,
            step=step_id,
            edits=edits,
            change=change,
            facts=facts,
            shown=shown,
        )
    ending = discussion_card.ended_card(
        rt.debate.topic,
        shown or Message(text=text),
        heading=LAST_WORDS[rt.debate.ending or EndReason.BY_PEOPLE],
    )
    rt = rt.but(board=rt.board.but(ending=ending))
    rt = rt.saying_on_card(text, part=LinePhase.FORMALIZING, **(facts or {}))
    return queue_commit(rt, subject, then=Then.SYNTHESIS, step=step_id, edits=edits, change=change)
