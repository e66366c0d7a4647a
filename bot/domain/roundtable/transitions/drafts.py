"""
What becomes of drafts: another model reviews them, and people are told what a draft or its review lacks.

A review decides nothing: it confirms values that were proposed in other words than their quotes, and may object.
"""

from collections.abc import Iterator

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.policy import ReviewedBy
from bot.domain.messages import draft_wording as wording
from bot.domain.messages.menus import MenuKind
from bot.domain.messages.message import Choice, Message
from bot.domain.messages.step_scene import CardNote
from bot.domain.roundtable.effects import ReviewDraft, Speak, Tell
from bot.domain.roundtable.inputs import Press, TimeCame
from bot.domain.roundtable.outcomes import DraftNote, DraftReview, PersonaSpoke, Reviewed, spent
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.timers import TimerName
from bot.domain.roundtable.transitions import asking, pausing, speaking, specifying
from bot.domain.specification.entries import NOT_LISTED, Patch, unconfirmed
from bot.domain.transcript.lines import HOST
from bot.errors import NotNow

# --- reviews ---


def ask_for_review(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """Of new values in other words than their quotes, and at the end of a phase of what no review has seen."""
    if not may_review(rt, playbook) or not any(at > rt.review.seen for at in _to_see(rt, playbook)):
        return rt
    return _reviewing(rt)


def may_review(rt: Roundtable, playbook: Playbook) -> bool:
    is_wanted = playbook.policy.reviewed_by is not ReviewedBy.NOBODY and not rt.unaided
    return is_wanted and not rt.has_pending(ReviewDraft) and not asking.is_silenced(rt, playbook)


def _to_see(rt: Roundtable, playbook: Playbook) -> Iterator[int]:
    """The numbers of the changes that a review is for."""
    yield from (claim.at for _, _, claim in unconfirmed(rt.specification))
    if rt.menu and rt.menu.kind is MenuKind.PHASE and rt.stage is Stage.AT_BOUNDARY:
        of_phase = playbook.agenda.ids_of(rt.phase_key)
        for entry in rt.specification.entries.values():
            if entry.step in of_phase and entry.kind not in NOT_LISTED and rt.specification.lives(entry.id):
                yield from (claim.at for _, claim in entry.current())


def _reviewing(rt: Roundtable) -> Roundtable:
    first = rt.review.first_step or rt.step_id
    review = rt.review.but(seen=rt.specification.count, first_step=first)
    return rt.but(review=review).queueing(ReviewDraft())


def reviewed(rt: Roundtable, event: Reviewed, playbook: Playbook) -> Roundtable:
    """Verdicts are about the values that were reviewed: one that was changed meanwhile keeps its mark."""
    waiting = {(entry.id, field, claim.at) for entry, field, claim in unconfirmed(rt.specification)}
    patches = [
        Patch(id=one.id, checked={one.field: one.why})
        for one in event.verdicts
        if (one.id, one.field, one.at) in waiting
    ]
    review = DraftReview(
        seen=rt.review.seen,
        first_step=rt.review.first_step,
        step_id=rt.step_id,
        objection=event.objection,
        contradictions=event.contradictions,
        missing=event.missing,
    )
    said = [*wording.findings(event), wording.reviewed(len(patches))]
    rt = rt.but(review=review).proposing(
        "\n".join(said), actor=HOST, part=rt.part, **spent(event.facts), **specifying.facts_of(patches)
    )
    return pausing.notes_saved(rt)


def check_again(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    if not may_review(rt, playbook):
        raise NotNow(wording.NO_REVIEW_NOW)
    return _reviewing(asking.record_choice(rt, wording.CHECK_AGAIN.label, event.person, part=rt.part))


def hide_objection(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    if rt.review.objection is None:
        raise NotNow(wording.IS_HIDDEN)
    name = rt.name_of(event.person.id)
    told = wording.not_relevant(name, rt.review.objection.text)
    rt = rt.recording(told, part=rt.part, person=event.person.id, user_name=name)
    return pausing.notes_saved(rt.but(review=rt.review.but(objection=None)))


# --- drafts ---


def note_draft(rt: Roundtable, event: PersonaSpoke) -> Roundtable:
    """What people should know of an answer that was used."""
    raw, looks = str(event.facts.get("raw") or ""), len(event.facts.get("looked_at") or ())
    stopped = looks if event.facts.get("stopped_looking") else 0
    note = DraftNote(step_id=rt.step_id, persona=event.persona, looks=stopped, raw=raw)
    return rt.but(draft=note if raw or stopped else None)


def note_failure(rt: Roundtable, effect: Speak, reason: str, raw: str) -> Roundtable:
    return rt.but(draft=DraftNote(step_id=rt.step_id, persona=effect.persona, reason=reason, raw=raw))


def ask_other(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """The model that reviews drafts makes this one."""
    if not speaking.is_left_unread(rt, playbook):
        raise NotNow(wording.NO_DRAFT_WANTED)
    rt = asking.record_choice(rt, wording.ASK_OTHER.label, event.person, part=rt.part)
    return speaking.asking_to_speak(rt, asking.listening(rt, playbook).but(by_other=True), playbook)


def show_answer(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    if rt.draft is None or not rt.draft.raw:
        raise NotNow(wording.NO_ANSWER_KEPT)
    return rt.queueing(Tell(person=event.person.id, message=Message(text=wording.answer(rt.draft.raw))))


def stop_draft(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """What people said stays, and waits to be read."""
    rt = asking.record_choice(rt, wording.STOP_DRAFT.label, event.person, part=rt.part)
    return rt.dropping(Speak, ReviewDraft)


def is_at_work(rt: Roundtable) -> bool:
    """Whether people wait for a draft or its review."""
    return rt.stage in {Stage.DISCUSSING, Stage.AT_BOUNDARY} and rt.has_pending(Speak, ReviewDraft)


def slow_due(rt: Roundtable, event: TimeCame, playbook: Playbook) -> Roundtable:
    """The timer is over, and the card says so."""
    return rt


# --- what the card says of them ---


def notes(rt: Roundtable, playbook: Playbook) -> Iterator[CardNote]:
    """One for each thing that is wrong, with what to do."""
    yield from _of_work(rt, playbook)
    draft = rt.draft if rt.draft and rt.draft.step_id == rt.step_id else None
    if draft:
        persona = playbook.roster.get(draft.persona) or asking.speaker_of(rt, playbook)
        show = (wording.SHOW,) if draft.raw else ()
        if draft.reason and not rt.has_pending(Speak):
            yield CardNote(wording.no_draft(persona.first_name, draft.reason), (*_ways(rt, playbook), *show))
        elif draft.looks:
            yield CardNote(wording.stopped_looking(persona.first_name, draft.looks))
        elif draft.raw and not draft.reason:
            yield CardNote(wording.salvaged(persona.first_name), show)
    if (count := len(list(unconfirmed(rt.specification)))) and may_review(rt, playbook):
        yield CardNote(wording.nobody_checked(count), (wording.CHECK_AGAIN,))
    yield from _of_review(rt, playbook)


def _of_work(rt: Roundtable, playbook: Playbook) -> Iterator[CardNote]:
    if not is_at_work(rt):
        return
    if speak := next((one for one in rt.outbox if isinstance(one, Speak)), None):
        persona = playbook.roster.get(speak.persona) or asking.speaker_of(rt, playbook)
        if TimerName.SLOW not in rt.timers:
            yield CardNote(wording.is_drafting(persona.first_name), (wording.STOP_DRAFT,))
    elif TimerName.SLOW not in rt.timers:
        yield CardNote(wording.CHECKING_LONG, (wording.STOP_DRAFT,))
    else:
        yield CardNote(wording.CHECKING)


def _ways(rt: Roundtable, playbook: Playbook) -> tuple[Choice, ...]:
    is_refused = rt.draft is not None and rt.draft.reason == "refused"
    has_other = playbook.policy.reviewed_by is ReviewedBy.OTHER
    return (wording.ASK_OTHER,) if is_refused and has_other and rt.unread else ()


def _of_review(rt: Roundtable, playbook: Playbook) -> Iterator[CardNote]:
    review = rt.review
    if review.first_step == rt.step_id and playbook.policy.reviewed_by is ReviewedBy.SAME:
        yield CardNote(wording.ONE_MIND)
    if review.step_id != rt.step_id:
        return
    if review.objection:
        is_open = rt.stage is Stage.DISCUSSING
        answer = (wording.ANSWER.but(value=f"{rt.slug}/{rt.step_id}"),) if is_open else ()
        yield CardNote(wording.against(review.objection), (*answer, wording.NOT_RELEVANT))
    yield from (CardNote(wording.contradiction(one)) for one in review.contradictions)
    if review.missing:
        yield CardNote(wording.not_heard(review.missing))
