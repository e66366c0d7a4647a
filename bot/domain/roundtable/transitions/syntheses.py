"""What an elaboration leaves behind: insights with names on them, in the thread, in the artifacts, in meta.json."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.taxonomy import trouble
from bot.domain.discussion import attesting, positions
from bot.domain.discussion.block import DiscussionBlock, block_of, markdown, outcome
from bot.domain.discussion.elaboration import EndedDiscussion, EndReason
from bot.domain.discussion.synthesis import OpenQuestion, Synthesis
from bot.domain.item.artifacts import Edit, InsightEdit, applies_to, digest_of, marker
from bot.domain.item.item_paths import shared
from bot.domain.item.meta import MetaChange, Record
from bot.domain.messages import discussion_card, discussion_wording, step_wording, trouble_wording
from bot.domain.messages.menus import MenuKind
from bot.domain.messages.message import Message
from bot.domain.roundtable import agreeing, citing
from bot.domain.roundtable.effects import Synthesize, Then
from bot.domain.roundtable.inputs import Say
from bot.domain.roundtable.marks import MarkKind
from bot.domain.roundtable.outcomes import Committed, Synthesized, spent
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import specifying, steps
from bot.domain.roundtable.transitions.saving import queue_commit, queue_commit_then_tell
from bot.domain.specification import checks
from bot.domain.specification.files import document_title
from bot.domain.transcript.lines import LinePhase
from bot.domain.values.text import one_line

SYNTHESES_TRIED = 2
MARK_CHARS = 200
LAST_WORDS = {
    EndReason.TURN_LIMIT: discussion_wording.LIMIT_REACHED,
    EndReason.BY_PEOPLE: discussion_wording.WRAPPING_UP,
    EndReason.QUIET: discussion_wording.QUIET_SINCE,
    EndReason.DUE: discussion_wording.DUE_BY_NOW,
    EndReason.BUDGET: trouble_wording.USED_UP_IN_A_DISCUSSION,
}


def synthesized(rt: Roundtable, event: Synthesized, playbook: Playbook) -> Roundtable:
    """Saved with the transcript, the record and the files; shown when that is done."""
    given, facts = citing.grounded(event.synthesis, rt.debate), spent(event.facts)
    if given.is_empty and rt.debate.turn_count > 1:
        return unstructured(rt, given.summary, playbook, facts=facts)
    if event.dangling:
        rt = rt.telling(Message(text=step_wording.dangling(event.dangling)), part=LinePhase.FORMALIZING)
    check = checks.check_for(playbook, rt.people.values())
    attested = attesting.attested(given, rt.discussed, check)
    if attested.notes:
        facts["unverified"] = list(attested.notes)
    concluded = concluded_block(rt, attested.synthesis, playbook)
    shown, kept = _as_markdown(rt, concluded.block, playbook)
    rt = rt.but(elaboration=rt.debate.but(insights=len(attested.synthesis.insights)))
    edits = _additions(rt, kept, playbook)
    message = Message(text=shown, links=citing.links(rt, concluded.block))
    facts = {**facts, **concluded.facts}
    summary = attested.synthesis.summary
    return _save(rt, kept, playbook, summary=summary, edits=edits, facts=facts, shown=message)


class ConcludedBlock(NamedTuple):
    """The block as it stands once its line is in the record, and the facts for that line."""

    block: DiscussionBlock
    facts: Mapping[str, Any]


def concluded_block(rt: Roundtable, synthesis: Synthesis, playbook: Playbook) -> ConcludedBlock:
    """With what *synthesis* proposes, and what nobody has to propose: minority positions, and questions to people."""
    board = rt.discussed
    against = (*positions.minorities(rt.debate, board.settled), *synthesis.objections)
    questions = (*synthesis.questions, *_without_reason(rt))
    synthesis = synthesis.but(objections=against, questions=questions)
    entries, added = specifying.synthesized(rt, synthesis, playbook)
    after = rt.saying_on_card("", part=LinePhase.FORMALIZING, **entries)
    return ConcludedBlock(block_of(after.discussed, after.specification, added, rt.people), entries)


def _without_reason(rt: Roundtable) -> Iterator[OpenQuestion]:
    """An objection that is only a mark is no entry; that it is open is in the record all the same."""
    for one in agreeing.shown_marks(rt, rt.debate.step_id):
        if one.kind == MarkKind.OBJECTION and not one.has_reason:
            text = discussion_wording.why_against(one.by, one_line(one.quote, MARK_CHARS))
            yield OpenQuestion(text=text, why=f"marked by {one.by}")


def unstructured(
    rt: Roundtable, attempt: str, playbook: Playbook, *, facts: Mapping[str, Any] | None = None
) -> Roundtable:
    """Tried once more; then one sentence has to do, and no file is touched (ERR-ELAB-007). *facts* are of it."""
    debate = rt.debate.but(failed_syntheses=rt.debate.failed_syntheses + 1)
    rt = rt.but(elaboration=debate)
    if debate.failed_syntheses < SYNTHESES_TRIED:
        return rt.queueing(Synthesize())
    said = [turn.text for turn in debate.turns if turn.human] or [debate.topic]
    summary = one_line(attempt or said[-1])
    failed = trouble("ERR-ELAB-007", takeaway=summary)
    text, told = _with_outcome(rt, failed.sentence, playbook)
    return _save(rt.logging(failed), text, playbook, summary=summary, facts={**(facts or {}), **told})


def cut_short(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """Ended right after the framing: what people decided or object to by the card is all that there is."""
    text = discussion_wording.ended_early(rt.debate.topic)
    shown, told = _with_outcome(rt, text, playbook)
    return _save(rt, shown, playbook, summary=text, facts=told)


def saved(rt: Roundtable, playbook: Playbook, told: Committed | None) -> Roundtable:
    """The summary is shown by the post that follows the commit; now which files it went into, and the menu."""
    step = playbook.own_step(rt.debate.step_id)
    # The first edit of a file adds the block; those of its sections come after it.
    touched = {
        one.path: one for one in reversed(told.touched if told else ()) if step and one.path in step.outputs
    }
    text = discussion_wording.insights_added(tuple(reversed(touched.values())), rt.debate.insights)
    asked = playbook.agenda.get(rt.debate.step_id)
    ends_phase = rt.debate.from_phase_menu or (asked is not None and asked.is_card)
    kind = MenuKind.PHASE if ends_phase else MenuKind.STEP
    rt = _kept_for_the_next(_shown_on_card(rt))
    return steps.menu(rt.but(elaboration=None), playbook, text, kind=kind, anew=True)


def _shown_on_card(rt: Roundtable) -> Roundtable:
    """The synthesis replaces the card of the discussion."""
    if rt.board is None or rt.board.ending is None:
        return rt
    # People wait for it: it goes out before the menu that is posted below.
    return rt.ending(rt.board.token, rt.board.ending).showing_ending(rt.board.token, pressed=True)


def _kept_for_the_next(rt: Roundtable) -> Roundtable:
    """Another discussion of the step starts where this one ended."""
    debate = rt.debate
    ended = EndedDiscussion(options=debate.options)
    return rt.but(ended={**rt.ended, debate.step_id: ended})


def too_late(rt: Roundtable, event: Say, playbook: Playbook) -> Roundtable:
    """Said while the synthesis is being made. If "done" was a misunderstanding, people can open it again."""
    facts = specifying.said(rt, event.text, event.person, playbook)
    rt = rt.heard(event.person, event.text, ts=event.ts, part=LinePhase.WORKSHOP, **facts)
    return rt.logging(trouble("ERR-ELAB-011")) if rt.debate.ending is EndReason.BY_PEOPLE else rt


def _with_outcome(rt: Roundtable, sentence: str, playbook: Playbook) -> tuple[str, Mapping[str, Any]]:
    """Where one sentence has to do, what people decided and who objects is said all the same."""
    concluded = concluded_block(rt, Synthesis(summary=sentence), playbook)
    return "\n\n".join(filter(None, (sentence, outcome(concluded.block)))), concluded.facts


def _as_markdown(rt: Roundtable, block: DiscussionBlock, playbook: Playbook) -> tuple[str, str]:
    """As people read it in the thread, and as it is kept, with the lines that it rests on."""
    step = playbook.agenda.get(rt.debate.step_id)
    turns = (turn.name for turn in rt.debate.turns if turn.human)
    people = dict.fromkeys((*turns, *(one.name for one in rt.debate.besides)))
    personas = (f"{persona.name} ({persona.short})" for persona in playbook.roster)
    text = markdown(
        block,
        step_id=rt.debate.step_id,
        title=step.title if step else rt.debate.topic,
        participants=", ".join((*people, *personas)),
        turns=rt.debate.turns_recorded,
        exit=(rt.debate.ending or EndReason.BY_PEOPLE).value,
    )
    return text, "\n".join(filter(None, (text, citing.sources(block, rt.debate))))


def _additions(rt: Roundtable, text: str, playbook: Playbook) -> tuple[Edit, ...]:
    """
    The same addition for every text file of the step, under a marker that makes it findable; in the file that all
    items share, it belongs to the item's own section.
    """
    step = playbook.own_step(rt.debate.step_id)
    if step is None:
        return ()
    return tuple(
        InsightEdit(
            path=output,
            keywords=(rt.title if shared(output) else step.title,),
            marker=marker(step.step_id, rt.now),
            body=text,
            title="" if _is_written(rt, output) else document_title(output, rt.title),
        )
        for output in step.outputs
        if applies_to(output)
    )


def _is_written(rt: Roundtable, path: str) -> bool:
    """Whether we wrote a section there that still says something: a file that people removed since is not made anew."""
    return any(key.startswith(f"{path}#") and digest != digest_of("") for key, digest in rt.written.items())


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
        turn_count=rt.debate.turns_recorded,
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
