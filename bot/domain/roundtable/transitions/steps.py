"""A step: answered, finished by a person, written down."""

from collections.abc import Collection, Mapping
from typing import Any

from bot.domain.catalog.agenda import Playbook, SkippedStep
from bot.domain.catalog.personas import AddressKind, Persona
from bot.domain.catalog.steps import Step
from bot.domain.item.meta import MetaChange
from bot.domain.messages import menus, step_wording, trouble_wording, verb_wording
from bot.domain.messages.menus import MenuKind
from bot.domain.messages.message import Action, Message
from bot.domain.roundtable import covering, ended, questions, words
from bot.domain.roundtable.effects import React, ReadItem, Speak, Survey, Tell, Then
from bot.domain.roundtable.inputs import Press, Say
from bot.domain.roundtable.outcomes import CommitResult, PersonaSpoke
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import (
    asking,
    cards,
    deciding,
    drafts,
    speaking,
    specifying,
)
from bot.domain.roundtable.transitions.cards import NOTED
from bot.domain.roundtable.transitions.saving import has_content, queue_commit, saying_what_is_saved
from bot.domain.specification.reader import is_question
from bot.domain.transcript.lines import LinePhase
from bot.domain.values.timestamps import slack_time
from bot.errors import NotNow

# --- answering ----------------------------------------------------------------------------------------------------


def answered(rt: Roundtable, event: Say, playbook: Playbook) -> Roundtable:
    """Every message in the thread is an answer, with its author; a few exact words are wishes."""
    if (after := cards.typed(rt, event, playbook)) is not None:
        return after
    is_answer = words.answers(event.text)
    patches = deciding.said_in_step(rt, event, playbook) if is_answer else ()
    rt = rt.hearing(event, part=LinePhase.CLARIFYING, entries=patches)
    if Action.END_ELABORATION.read_words(event.text) is not None:
        return rt.whispering(event.person.id, step_wording.HOW_TO_FINISH)

    rt = _told_who_has_no_model(rt, event, playbook)
    before, rt = rt, rt.answering(event, feedback=False)
    if asking.lacks_step(rt, playbook):
        return asking.offer_skip(rt.queueing(React(ts=event.ts, emoji=NOTED)), playbook)
    if not specifying.is_small(event.text, playbook):
        rt = rt.queueing(React(ts=event.ts, emoji=NOTED))
    elif not asking.thinks(asking.listening(rt, playbook).persona, playbook):
        return before  # a model may have asked for a "yes"; nothing else here waits for one
    return speaking.taking_up(rt, playbook)


def _told_who_has_no_model(rt: Roundtable, event: Say, playbook: Playbook) -> Roundtable:
    """Who asks a persona that cannot answer. What stayed a note can be kept as an open question of theirs."""
    address = playbook.roster.addressed(event.text, lead="")
    called = address.personas if address.kind is AddressKind.DIRECT and is_question(event.text) else ()
    silent = {key for key in called if not asking.thinks(key, playbook)}
    if not silent:
        return rt
    line, question = rt.line_of(event.ts), playbook.schema.kinds.get("question")
    notes = rt.specification.notes_of([rt.step_id]) if question else ()
    made = (one.id for one in notes if (claim := one.claim("text")) and claim.line == line)
    note = next((id for id in made), "")
    names = [one.first_name for one in playbook.roster if one.key in silent]
    value = f"{note}/{question.prefix}" if note and question else ""
    return rt.queueing(Tell(person=event.person.id, message=verb_wording.no_model(names, value)))


def interjected(rt: Roundtable, event: Say, playbook: Playbook) -> Roundtable:
    """Said while we were writing: kept as feedback on what is being written. A command has to be given again."""
    is_answer = words.answers(event.text)
    patches = specifying.said(rt, event.text, event.person, playbook) if is_answer else ()
    rt = rt.hearing(event, part=LinePhase.CLARIFYING, entries=patches)
    if is_answer or not event.text.strip():
        return rt.answering(event, feedback=True).queueing(React(ts=event.ts, emoji=NOTED))
    return rt.whispering(event.person.id, trouble_wording.SAVING)


def drafted(rt: Roundtable, event: PersonaSpoke, playbook: Playbook) -> Roundtable:
    """What a persona makes of people's words: entries and questions for the card, and words only if it has any."""
    rt = drafts.note_draft(rt, event)
    persona = playbook.roster.get(event.persona) or asking.speaker_of(rt, playbook)
    asked = dict.fromkeys((*event.then, *asking.called(rt, playbook)))
    then = tuple(key for key in asked if key != persona.key)
    speaks = bool(event.text.strip())
    rt = _take_proposals(rt, persona, event, playbook, facts={} if speaks else event.meta)
    if speaks:
        message = Message(text=event.text, speaker=persona.key)
        rt = rt.telling(message, part=LinePhase.CLARIFYING, actor=persona.actor, **event.meta)
    rt = questions.take_questions(rt, persona, event, playbook)
    if then and not rt.has_pending(Speak):
        speak = Speak(persona=then[0], task="draft", then=then[1:])
        return speaking.asking_to_speak(rt, speak, playbook)
    return speaking.reading_on(rt, playbook, is_read=bool(event.read))


def _take_proposals(
    rt: Roundtable, persona: Persona, event: PersonaSpoke, playbook: Playbook, *, facts: Mapping[str, Any]
) -> Roundtable:
    """What the call took stands in the record once: on the line of its words, if there are any."""
    rt = rt.but(unread=tuple(one for one in rt.unread if one.ts not in event.read))
    if event.patches is None:
        return rt
    rt = ended.without_turns(rt)
    if event.patches:
        return specifying.proposed(rt, persona, event.patches, playbook, part=LinePhase.CLARIFYING, **facts)
    if not facts:
        return rt
    told = step_wording.nothing_new if event.read else step_wording.nothing_found
    return rt.recording(told(persona), part=LinePhase.CLARIFYING, persona=persona.key, **facts)


def can_be_read(rt: Roundtable, _: Press, playbook: Playbook) -> bool:
    return speaking.can_draft_again(rt, playbook)


def read_again(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    if not speaking.can_draft_again(rt, playbook):
        raise NotNow(step_wording.ALL_IS_READ)
    rt = asking.record_choice(rt, menus.READ_AGAIN.label, event.person, part=LinePhase.CLARIFYING)
    return (
        speaking.reading(rt, playbook) if rt.unread else asking.drafting(rt, asking.listening(rt, playbook))
    )


# --- finishing ----------------------------------------------------------------------------------------------------


def save_and_go_on(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """On the card of a phase: finished, and then the phase is closed as by *Continue*."""
    after = finish_first(rt, event, playbook, heading_for=Stage.DISCUSSING)
    if after.stage is not Stage.WRITING:
        return after
    following = playbook.agenda.first_open((*rt.phases_completed, rt.phase_key))
    label = step_wording.continue_to(following)
    return asking.record_choice(after, label, event.person, part=LinePhase.CLARIFYING)


def finish_first(rt: Roundtable, event: Press, playbook: Playbook, *, heading_for: Stage) -> Roundtable:
    """On the card of an open step: the step is finished and saved before anything else."""
    after = finish(rt, event, playbook)
    return after.but(heading_for=heading_for) if after.stage is Stage.WRITING else after


def finish(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """Only a person gets here. What is still being said about the step is not waited for."""
    step = playbook.agenda.get(rt.step_id)
    if asking.lacks_step(rt, playbook):
        return asking.offer_skip(rt, playbook, asked_by=event.person.id)
    if step is None:
        return asking.next_question(rt, playbook)
    name = rt.name_of(event.person.id)
    rt = rt.closing_menu(step_wording.finished(name)).dropping(Speak, Survey)
    rt = rt.but(questions=tuple(one for one in rt.questions if one.step_id != rt.step_id))
    rt = rt.but(card=rt.card.but(by=name) if rt.card else None, finished_at=rt.specification.count)
    rt = rt.recording(step_wording.step_finished(name, step), part=LinePhase.CLARIFYING, by=event.person.id)
    return write(rt, playbook)


def write(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """The files are made of entries, and committed. No model is waited for: it reads on while people choose."""
    rt = rt.but(stage=Stage.WRITING, filed=rt.answers)
    step = playbook.agenda.get(rt.step_id)
    title = f"{rt.step_id} {step.title}" if step else rt.step_id
    is_done = rt.has_finished(rt.step_id)
    is_plan = rt.step_id == playbook.agenda.plan.step_id
    done: tuple[str, ...] = () if is_plan or is_done else (rt.step_id,)
    if step and step.is_card:
        done = covering.covered_steps(rt, playbook)
        rt = _card_saved(rt, step, done)
    rt, edits = specifying.written(rt, playbook, [rt.step_id])
    rt = rt.recording(step_wording.wrote(title, [edit.path for edit in edits]), part=LinePhase.FORMALIZING)
    change = MetaChange(steps=done) if done or not is_done else None
    if is_done:
        return queue_commit(rt, f"feedback {title}", then=Then.STEP, edits=edits, change=change)
    return queue_commit(rt, f"step {title}", then=Then.STEP, step=rt.step_id, edits=edits, change=change)


def _card_saved(rt: Roundtable, card: Step, done: Collection[str]) -> Roundtable:
    """The card is saved; steps of the phase that its answers leave out are passed over, and not recorded as done."""
    left = [one for one in card.covers if one not in (*rt.steps_completed, *done)]
    others = (one for one in rt.passed if one.step_id not in card.covers)
    passed = (SkippedStep(step_id=one, why=step_wording.NOT_DISCUSSED) for one in left)
    saved = tuple(dict.fromkeys((*rt.saved_cards, card.step_id)))
    return rt.but(passed=(*others, *passed), saved_cards=saved)


# --- written ------------------------------------------------------------------------------------------------------


def step_written(rt: Roundtable, playbook: Playbook, told: CommitResult | None) -> Roundtable:
    """In git; now people may go on, or discuss it as they wished."""
    if rt.heading_for is Stage.ELABORATING and rt.answers == rt.filed:
        return rt.but(heading_for=None).queueing(ReadItem(discussing="step"))
    return menu(rt, playbook, saying_what_is_saved(rt, told))


def fed_back(rt: Roundtable, event: Say, playbook: Playbook) -> Roundtable:
    """Added to the step that is finished. The menu stays where it is; it is committed when people go on."""
    rt = rt.answering(event, feedback=True)
    return speaking.taking_up(rt.but(filed=rt.answers).queueing(React(ts=event.ts, emoji=NOTED)), playbook)


def feedback_saved(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """One commit for everything that was said since the step was saved; the word that chooses is nothing to save."""
    if not has_content(rt.unheld):
        return rt
    step = playbook.agenda.get(rt.step_id)
    return queue_commit(rt, f"feedback {rt.step_id} {step.title}" if step else "feedback")


def menu(
    rt: Roundtable,
    playbook: Playbook,
    text: str,
    *,
    kind: MenuKind | None = None,
    anew: bool = False,
) -> Roundtable:
    """
    What people said or changed in the meantime is written first. *anew*: the menu is posted, not edited in place. Below
    a discussion it always is.
    """
    if rt.answers != rt.filed and (playbook.agenda.get(rt.step_id) or rt.has_finished(rt.step_id)):
        return write(rt, playbook)
    anew = anew or _is_above_the_discussion(rt)
    rt = asking.menu(rt, playbook, text, kind=kind, anew=anew)
    return asking.surveying(rt, playbook)


def _is_above_the_discussion(rt: Roundtable) -> bool:
    """Whether the card of the step stands in the thread before the discussion that people come from."""
    card, board = (slack_time(rt.stands_at(one.token)) if one else None for one in (rt.card, rt.board))
    return card is not None and board is not None and card < board
