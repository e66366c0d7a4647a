"""
What becomes of drafts: another model reviews them, and people are told what a draft or its review lacks.

A review decides nothing: it confirms values that were proposed in other words than their quotes, and may object.
"""

from collections.abc import Iterator, Sequence

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.personas import Persona
from bot.domain.catalog.policy import ReviewedBy
from bot.domain.discussion.elaboration import AnswerNote
from bot.domain.messages import draft_wording as wording
from bot.domain.messages.menus import MenuKind
from bot.domain.messages.message import Action, CardPart
from bot.domain.roundtable import ended, questions
from bot.domain.roundtable.effects import ReviewDraft, Speak
from bot.domain.roundtable.inputs import Press, TimeCame
from bot.domain.roundtable.outcomes import PersonaSpoke, Reviewed, looks_until_stopped, spent
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import ABOUT_A_STEP, Roundtable
from bot.domain.roundtable.timers import TimerName
from bot.domain.roundtable.transitions import asking, pausing, speaking
from bot.domain.specification.claims import Check
from bot.domain.specification.entries import NOT_LISTED, unconfirmed
from bot.domain.specification.fold import Patch
from bot.domain.transcript.lines import ENTRIES, HOST, LEFT_OUT, RAW, UNSEEN
from bot.domain.values.text import counted, one_line
from bot.errors import NotNow

UNSEEN_CHARS = 200

# --- reviews ---


def ask_for_review(rt: Roundtable, before: Roundtable, playbook: Playbook) -> Roundtable:
    """
    Of new values in other words than their quotes, when a discussion was drafted, and at the end of a phase of what no
    review has seen. Asked with every input: where nothing has changed since the last review, no entry is looked at.
    """
    discussed = () if ended.turns(rt) or rt.stage not in ABOUT_A_STEP else ended.said(before)
    if discussed and _has_reviewer(rt, playbook):
        return _reviewing(rt, tuple(rt.line_of(one.ts) for one in discussed))
    has_changed = rt.specification.count > rt.reviewed
    is_wanted = (
        has_changed and may_review(rt, playbook) and any(at > rt.reviewed for at in _to_see(rt, playbook))
    )
    return _reviewing(rt) if is_wanted else rt


def may_review(rt: Roundtable, playbook: Playbook) -> bool:
    return _has_reviewer(rt, playbook) and not rt.has_pending(ReviewDraft)


def _has_reviewer(rt: Roundtable, playbook: Playbook) -> bool:
    return playbook.policy.reviewed_by is not ReviewedBy.NOBODY and not asking.is_silenced(rt, playbook)


def _to_see(rt: Roundtable, playbook: Playbook) -> Iterator[int]:
    """The numbers of the changes that a review is for."""
    yield from (claim.at for _, _, claim in unconfirmed(rt.specification))
    if rt.menu and rt.menu.kind is MenuKind.PHASE and rt.stage is Stage.AT_BOUNDARY:
        of_phase = playbook.agenda.ids_of(rt.phase_key)
        for entry in rt.specification.entries.values():
            if entry.step in of_phase and entry.kind not in NOT_LISTED and rt.specification.lives(entry.id):
                yield from (claim.at for _, claim in entry.current() if claim.check is not Check.AGREED)


def _reviewing(rt: Roundtable, said: tuple[str, ...] = ()) -> Roundtable:
    first = rt.first_reviewed or rt.step_id
    return rt.but(reviewed=rt.specification.count, first_reviewed=first).queueing(ReviewDraft(said=said))


def reviewed(rt: Roundtable, event: Reviewed, playbook: Playbook) -> Roundtable:
    """Verdicts are about the values that were reviewed: one that was changed meanwhile keeps its mark."""
    waiting = {(entry.id, field, claim.at) for entry, field, claim in unconfirmed(rt.specification)}
    found = event.review
    patches = [
        Patch(id=one.id, checked={one.field: one.why})
        for one in found.verdicts
        if (one.id, one.field, one.at) in waiting
    ]
    said = "\n".join((*wording.findings(found), wording.reviewed(len(patches))))
    about = {**spent(event.facts), ENTRIES: patches}
    rt = rt.but(review=found.but(step_id=rt.step_id, verdicts=(), missing=None))
    rt = rt.proposing(said, actor=HOST, part=rt.part, **about)
    rt = questions.ask_on_next_card(rt, found.missing, playbook) if found.missing else rt
    return pausing.notes_saved(rt)


def check_again(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    if not may_review(rt, playbook):
        raise NotNow(wording.NO_REVIEW_NOW)
    return _reviewing(asking.record_choice(rt, wording.CHECK_AGAIN.label, event.person, part=rt.part))


def hide_objection(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    if rt.review.objection is None:
        raise NotNow(wording.IS_HIDDEN)
    told = wording.not_relevant(rt.name_of(event.person.id), rt.review.objection.text)
    rt = rt.recording(told, by=event.person.id)
    return pausing.notes_saved(rt.but(review=rt.review.but(objection=None)))


# --- drafts ---


def note_draft(rt: Roundtable, event: PersonaSpoke) -> Roundtable:
    """What people should know of an answer that was used."""
    raw, looks = str(event.facts.get(RAW) or ""), looks_until_stopped(event.facts)
    left_out = event.facts.get(LEFT_OUT) or {}
    unseen = one_line(str(event.facts.get(UNSEEN) or ""), UNSEEN_CHARS)
    note = AnswerNote(
        step_id=rt.step_id, persona=event.persona, looks=looks, raw=raw, left_out=left_out, unseen=unseen
    )
    return rt.but(draft=note if raw or looks or left_out or unseen else None)


def note_failure(rt: Roundtable, effect: Speak, reason: str, raw: str) -> Roundtable:
    return rt.but(draft=AnswerNote(step_id=rt.step_id, persona=effect.persona, reason=reason, raw=raw))


def ask_other(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """The model that reviews drafts makes this one, or says in a discussion what the other refused to say."""
    in_discussion = rt.stage is Stage.ELABORATING
    if not (
        any(map(_is_refused, rt.debate.notes)) if in_discussion else speaking.can_draft_again(rt, playbook)
    ):
        raise NotNow(wording.NO_DRAFT_WANTED)
    rt = asking.record_choice(rt, wording.ASK_OTHER.label, event.person, part=rt.part)
    if in_discussion:
        return speaking.asking_other(rt, playbook)
    return speaking.asking_to_speak(rt, asking.listening(rt, playbook).but(by_other=True), playbook)


def go_on_without(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """Without the draft, or the answer, that did not come. What people said stays, and no model reads it."""
    in_discussion = rt.stage is Stage.ELABORATING
    is_lost = (
        any(one.reason for one in rt.debate.notes) if in_discussion else speaking.is_lost(rt, rt.step_id)
    )
    if not is_lost and not rt.has_pending(Speak):
        raise NotNow(wording.NOTHING_IS_AWAITED)
    rt = asking.record_choice(rt, wording.GO_ON_WITHOUT.label, event.person, part=rt.part)
    if in_discussion:
        return rt.dropping(Speak).but(elaboration=rt.debate.but(is_round_wanted=False, notes=()))
    return rt.dropping(Speak).but(unread=(), draft=None)


def show_answer(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    kept = rt.debate.notes if rt.elaboration else filter(None, [rt.draft])
    if not (raw := "\n\n".join(one.raw for one in kept if one.raw)):
        raise NotNow(wording.NO_ANSWER_KEPT)
    return rt.whispering(event.person.id, wording.answer(raw))


def stop_draft(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """What people said stays, and waits to be read."""
    rt = asking.record_choice(rt, wording.STOP_DRAFT.label, event.person, part=rt.part)
    return rt.dropping(Speak, ReviewDraft)


def is_at_work(rt: Roundtable) -> bool:
    """Whether people wait for a draft, for its review, or for what personas say in a discussion."""
    return rt.stage in {*ABOUT_A_STEP, Stage.ELABORATING} and rt.has_pending(Speak, ReviewDraft)


def is_slow(rt: Roundtable) -> bool:
    return is_at_work(rt) and TimerName.SLOW not in rt.timers


def slow_due(rt: Roundtable, event: TimeCame, playbook: Playbook) -> Roundtable:
    """The timer is over, and the card says so."""
    return rt


# --- what the card says of them ---


def notes(rt: Roundtable, playbook: Playbook) -> Iterator[CardPart]:
    """On the card of a step or of a discussion: one for each thing that is wrong, with what to do."""
    yield from _notes_of_discussion(rt, playbook) if rt.elaboration else _notes_of_step(rt, playbook)


def _notes_of_discussion(rt: Roundtable, playbook: Playbook) -> Iterator[CardPart]:
    if is_slow(rt):
        yield _note("thinking_slowly", (), playbook)
    for one in rt.debate.notes:
        if one.looks:
            yield _note("stopped_looking", (), playbook, **_blanks(one, playbook.roster.get(one.persona)))
    if lost := [one for one in rt.debate.notes if one.reason]:
        names = ([one.first_name for one in playbook.roster if one.key in note.personas] for note in lost)
        lines = map(wording.no_answer, names, (note.reason for note in lost))
        yield _note("not_answered", lost, playbook, lines="\n".join(lines))


def _notes_of_step(rt: Roundtable, playbook: Playbook) -> Iterator[CardPart]:
    draft, review = rt.draft, rt.review
    at_work = next((one for one in rt.outbox if isinstance(one, Speak)), None)
    waiting = len(list(unconfirmed(rt.specification)))
    asked = at_work or (draft if draft and draft.step_id == rt.step_id else None)
    persona = (asked and playbook.roster.get(asked.persona)) or asking.speaker_of(rt, playbook)
    about = {**_blanks(draft, persona), "values": wording.unchecked(waiting)}
    for fault in _faults(rt, playbook, waiting):
        yield _note(fault, (draft,) if draft else (), playbook, **about)
    if review.step_id == rt.step_id:
        if review.objection:
            is_open = rt.stage is Stage.DISCUSSING
            answer = (wording.ANSWER.but(value=f"{rt.slug}/{rt.step_id}"),) if is_open else ()
            yield CardPart(prose=wording.against(review.objection), buttons=(*answer, wording.NOT_RELEVANT))
        yield from (CardPart(prose=wording.contradiction(one)) for one in review.contradictions)


def _note(fault: str, about: Sequence[AnswerNote], playbook: Playbook, **blanks: str) -> CardPart:
    """A row of `wording.FAULTS`, with the buttons that make sense for the answers that it is *about*."""
    text, *buttons = wording.FAULTS[fault]
    is_refused = any(map(_is_refused, about))
    offered: dict[str, bool] = {
        Action.SHOW_ANSWER: any(one.raw for one in about),
        Action.ASK_OTHER: is_refused and playbook.policy.reviewed_by is ReviewedBy.OTHER,
    }
    shown = (one for one in buttons if offered.get(one.action, True))
    return CardPart(prose=text.format(**blanks), buttons=tuple(shown))


def _is_refused(note: AnswerNote) -> bool:
    return note.reason == "refused"


def _blanks(note: AnswerNote | None, persona: Persona | None) -> dict[str, str]:
    name = persona.first_name if persona else "The persona"
    if note is None:
        return {"name": name}
    looks, left_out = counted(note.looks, "look"), wording.left_out(note.left_out)
    return {"name": name, "looks": looks, "left_out": left_out, "unseen": note.unseen}


def _faults(rt: Roundtable, playbook: Playbook, waiting: int) -> Iterator[str]:
    """The keys of `wording.FAULTS`."""
    is_here = rt.stage in ABOUT_A_STEP
    if is_here and rt.has_pending(Speak):
        yield from ("slow",) if is_slow(rt) else ()
    elif is_here and rt.has_pending(ReviewDraft):
        yield "checking_slowly" if is_slow(rt) else "checking"
    if (draft := rt.draft) and draft.step_id == rt.step_id:
        if draft.reason and not rt.has_pending(Speak):
            yield draft.reason if draft.reason in wording.FAILURES else "failed"
        elif draft.looks or draft.raw:
            yield "stopped_looking" if draft.looks else "salvaged"
        yield from ("left_out",) if draft.left_out else ()
        yield from ("unseen",) if draft.unseen else ()
    if waiting and may_review(rt, playbook):
        yield "unchecked"
    if rt.first_reviewed == rt.step_id and playbook.policy.reviewed_by is ReviewedBy.SAME:
        yield "one_mind"
