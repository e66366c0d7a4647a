"""
The end of a discussion: its block is made from the record, saved and shown, and no model is waited for. After that a
model reads what people said there, as it reads what they say about a step.
"""

from collections.abc import Iterator

from bot.domain.catalog.agenda import Playbook
from bot.domain.discussion.block import DiscussionBlock, block_of, markdown, sources
from bot.domain.discussion.elaboration import EndReason
from bot.domain.item.artifacts import Edit, InsightEdit, applies_to, digest_of, marker
from bot.domain.item.item_paths import shared
from bot.domain.item.meta import MetaChange, Record
from bot.domain.messages import discussion_card, discussion_wording, trouble_wording
from bot.domain.messages.menus import MenuKind
from bot.domain.messages.message import Link, Message
from bot.domain.roundtable import agreeing, ended, permalinks
from bot.domain.roundtable.effects import Then
from bot.domain.roundtable.marks import MarkKind
from bot.domain.roundtable.outcomes import Committed
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import speaking, specifying, steps
from bot.domain.roundtable.transitions.saving import queue_commit, queue_commit_then_tell
from bot.domain.specification.files import document_title
from bot.domain.transcript.lines import LinePhase
from bot.domain.values.text import one_line

MARK_CHARS = 200
SUMMARY_CHARS = 100
"""Seed 001: what the record of a discussion in meta.json has room for."""
LAST_WORDS = {
    EndReason.TURN_LIMIT: discussion_wording.LIMIT_REACHED,
    EndReason.BY_PEOPLE: discussion_wording.WRAPPING_UP,
    EndReason.QUIET: discussion_wording.QUIET_SINCE,
    EndReason.DUE: discussion_wording.DUE_BY_NOW,
    EndReason.BUDGET: trouble_wording.USED_UP_IN_A_DISCUSSION,
}


def concluded(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """Saved with the transcript, the record and the files; shown when that is done."""
    block = block_of(rt.discussed, rt.specification, rt.people, asked=_without_reason(rt))
    if rt.debate.only_framed and not block.has_rows:
        sentence = discussion_wording.ended_early(rt.debate.topic)
        return _save(rt, sentence, playbook, summary=sentence, shown=Message(text=sentence))
    text = _as_markdown(rt, block, playbook)
    kept = "\n".join(filter(None, (text, sources(block, rt.debate))))
    shown = Message(text=text, links=_links(rt, block))
    return _save(rt, kept, playbook, summary=_summary(rt), edits=_additions(rt, kept, playbook), shown=shown)


def saved(rt: Roundtable, playbook: Playbook, told: Committed | None) -> Roundtable:
    """The summary is shown by the post that follows the commit; now which files it went into, and the menu."""
    step = playbook.own_step(rt.debate.step_id)
    # The first edit of a file adds the block; those of its sections come after it.
    touched = {
        one.path: one for one in reversed(told.touched if told else ()) if step and one.path in step.outputs
    }
    insights = len(rt.discussed.own(rt.specification.active("insight")))
    text = discussion_wording.insights_added(tuple(reversed(touched.values())), insights)
    asked = playbook.agenda.get(rt.debate.step_id)
    ends_phase = rt.debate.from_phase_menu or (asked is not None and asked.is_card)
    kind = MenuKind.PHASE if ends_phase else MenuKind.STEP
    rt = ended.keep(_shown_on_card(rt))
    rt = steps.menu(rt.but(elaboration=None), playbook, text, kind=kind, anew=True)
    return speaking.drafting_next(rt, playbook)


def _shown_on_card(rt: Roundtable) -> Roundtable:
    """The block replaces the card of the discussion."""
    if rt.board is None or rt.board.ending is None:
        return rt
    # People wait for it: it goes out before the menu that is posted below.
    return rt.ending(rt.board.token, rt.board.ending).showing_ending(rt.board.token, pressed=True)


def _without_reason(rt: Roundtable) -> Iterator[str]:
    """An objection that is only a mark is no entry; that it is open is in the block all the same."""
    for one in agreeing.shown_marks(rt, rt.debate.step_id):
        if one.kind is MarkKind.OBJECTION and not one.entry:
            yield f"{discussion_wording.why_against(one.by, one_line(one.quote, MARK_CHARS))}: marked by {one.by}"


def _summary(rt: Roundtable) -> str:
    """One sentence for meta.json: what people decided, by ids, since their words stand in the entries alone."""
    ids = [one.id for one in rt.discussed.own(rt.discussed.current_decisions)]
    topic = rt.debate.topic
    said = discussion_wording.decided_on(ids, topic) if ids else discussion_wording.nothing_decided(topic)
    return one_line(said, SUMMARY_CHARS)


def _as_markdown(rt: Roundtable, block: DiscussionBlock, playbook: Playbook) -> str:
    step = playbook.agenda.get(rt.debate.step_id)
    turns = (turn.name for turn in rt.debate.turns if turn.human)
    people = dict.fromkeys((*turns, *(one.name for one in rt.debate.besides)))
    personas = (f"{persona.name} ({persona.short})" for persona in playbook.roster)
    return markdown(
        block,
        step_id=rt.debate.step_id,
        title=step.title if step else rt.debate.topic,
        participants=", ".join((*people, *personas)),
        turns=rt.debate.turns_recorded,
        exit=(rt.debate.ending or EndReason.BY_PEOPLE).value,
    )


def _links(rt: Roundtable, block: DiscussionBlock) -> tuple[Link, ...]:
    """To the messages that the block names, for those who read the thread."""
    held_in = permalinks.thread(rt.permalink)
    found = (
        (turn, permalinks.of_message(held_in, rt.place.channel, turn.ts or turn.posted))
        for turn in rt.debate.turns
        if turn.id in block.cited
    )
    return tuple(Link(label=f"{turn.id} {turn.name}", url=url) for turn, url in found if url)


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
    shown: Message,
    edits: tuple[Edit, ...] = (),
) -> Roundtable:
    step_id = rt.debate.step_id
    step = playbook.agenda.get(step_id)
    record = Record(
        step_id=step_id,
        turn_count=rt.debate.turns_recorded,
        personas_active=tuple(persona.key for persona in playbook.roster),
        timestamp=rt.now,
        synthesis_summary=summary,
    )
    subject = f"elaboration {step_id} {step.title if step else rt.debate.topic}"
    change = MetaChange(elaborations=(record,))
    facts = specifying.discussion_ended(rt)
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
    heading = LAST_WORDS[rt.debate.ending or EndReason.BY_PEOPLE]
    card = discussion_card.ended_card(rt.debate.topic, shown, heading=heading)
    rt = rt.but(board=rt.board.but(ending=card))
    rt = rt.saying_on_card(text, part=LinePhase.FORMALIZING, **facts)
    return queue_commit(rt, subject, then=Then.SYNTHESIS, step=step_id, edits=edits, change=change)
