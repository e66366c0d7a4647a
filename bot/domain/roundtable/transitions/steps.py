"""A step: answered, finished by a person, written down."""

from collections.abc import Iterable, Mapping
from typing import Any

from bot.domain.catalog.agenda import Playbook, Step
from bot.domain.catalog.steps import SHARED
from bot.domain.item.artifacts import Edit
from bot.domain.item.meta import Change
from bot.domain.messages import step_wording, trouble_wording
from bot.domain.messages.menus import MenuKind
from bot.domain.messages.message import Message
from bot.domain.roundtable import words
from bot.domain.roundtable.effects import Draft, React, Speak, Survey, Tell, Then
from bot.domain.roundtable.inputs import Finish, Press, Say
from bot.domain.roundtable.outcomes import Committed, Drafted, PersonaSpoke, spent
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import asking, depths, pausing, speaking
from bot.domain.roundtable.transitions.saving import owe_commit, saying_what_is_saved
from bot.domain.transcript.lines import Part
from bot.domain.values.places import Person
from bot.domain.values.timestamps import seconds_since

BURST_SECONDS = 120
"""Within this time after an acknowledgement, further answers get a reaction and no words."""

NOTED = "memo"


# --- answering ----------------------------------------------------------------------------------------------------


def answered(rt: Roundtable, happened: Say, playbook: Playbook) -> Roundtable:
    """Every message in the thread is an answer, with its author; a few exact words are wishes."""
    rt = rt.heard(happened.person, happened.text, ts=happened.ts, part=Part.CLARIFYING)
    if words.finishes(happened.text):
        return finish(rt, happened.person, playbook)
    if words.stops(happened.text):
        return pausing.pause(rt, happened.person, playbook)
    if wanted := words.depth(happened.text, at_menu=False):
        return depths.change(rt, wanted, playbook, person=happened.person)

    rt = rt.answering(happened, feedback=False).owing(React(ts=happened.ts, emoji=NOTED))
    if words.exit_wish(happened.text) is words.Exit.YES:
        rt = rt.owing(Tell(person=happened.person.id, message=Message(text=step_wording.how_to_finish())))
    if rt.owes(Speak) or not _burst_is_over(rt):
        return rt
    rt = rt.but(acknowledged_at=rt.now)
    speak = Speak(persona=asking.speaker_of(rt, playbook).key, task="acknowledge")
    return speaking.asking_to_speak(rt, speak, playbook)


def interjected(rt: Roundtable, happened: Say, playbook: Playbook) -> Roundtable:
    """Said while we were writing: kept as feedback on what is being written. A command has to be given again."""
    rt = rt.heard(happened.person, happened.text, ts=happened.ts, part=Part.CLARIFYING)
    if words.answers(happened.text) or not happened.text.strip():
        return rt.answering(happened, feedback=True)
    return rt.owing(Tell(person=happened.person.id, message=Message(text=trouble_wording.saving())))


def acknowledged(rt: Roundtable, happened: PersonaSpoke, playbook: Playbook) -> Roundtable:
    if not happened.text.strip():
        return rt
    persona = playbook.roster.get(happened.persona) or asking.speaker_of(rt, playbook)
    if speaking.answers_on(rt, happened):
        return _overtaken(
            speaking.late_words_noted(rt, persona, happened, part=Part.CLARIFYING), happened, playbook
        )
    message = Message(text=happened.text, speaker=persona.key)
    return rt.telling(message, part=Part.CLARIFYING, actor=persona.actor, **happened.meta)


def _overtaken(rt: Roundtable, happened: PersonaSpoke, playbook: Playbook) -> Roundtable:
    """Once more with all that was said; when people go on even then, whatever they say next is answered."""
    if happened.redone:
        return rt.but(acknowledged_at="")
    speak = Speak(persona=asking.speaker_of(rt, playbook).key, task="acknowledge", redone=True)
    return speaking.asking_to_speak(rt, speak, playbook)


# --- finishing ----------------------------------------------------------------------------------------------------


def finish_asked(rt: Roundtable, happened: Finish, playbook: Playbook) -> Roundtable:
    return finish(rt, happened.person, playbook)


def finish_pressed(rt: Roundtable, happened: Press, playbook: Playbook) -> Roundtable:
    return finish(rt, happened.person, playbook, ts=happened.ts)


def finish(rt: Roundtable, person: Person, playbook: Playbook, *, ts: str = "") -> Roundtable:
    """Only a person gets here. What is still being said about the step is not waited for."""
    step = playbook.agenda.get(rt.step_id)
    if step is None:
        return asking.next_question(rt, playbook)
    name = rt.name_of(person.id)
    rt = rt.closing_menu(step_wording.finished(name), ts=ts).without_owing(Speak, Survey)
    rt = rt.recording(
        step_wording.step_finished(name, step), part=Part.CLARIFYING, user_id=person.id, user_name=name
    )
    rt = rt.but(stage=Stage.WRITING)
    if step.step_id in asking.SURVEYED and rt.answers:
        rt = rt.owing(Survey(keywords=asking.keywords(rt)))
    return write(rt)


def write(rt: Roundtable) -> Roundtable:
    """All that was said about the step so far is given to the voice."""
    return rt.but(stage=Stage.WRITING, drafted=rt.answers).owing(Draft(steps=(rt.step_id,)))


def drafted(rt: Roundtable, happened: Drafted, playbook: Playbook) -> Roundtable:
    """Of what the voice wrote, only the files that are the step's own are taken."""
    step = playbook.agenda.get(rt.step_id)
    title = f"{rt.step_id} {step.title}" if step else rt.step_id
    edits = own_edits(happened.edits, (step,) if step else ())
    rt = rt.recording(
        step_wording.wrote(title, [edit.path for edit in edits]),
        part=Part.FORMALIZING,
        **spent(happened.facts),
    )
    if happened.dangling:
        rt = rt.telling(Message(text=step_wording.dangling(happened.dangling)), part=Part.FORMALIZING)
    if rt.step_id in rt.steps_completed:
        return owe_commit(rt, f"feedback {title}", then=Then.FEEDBACK, edits=edits)
    change = Change(steps=(rt.step_id,))
    return owe_commit(rt, f"step {title}", then=Then.STEP, step=rt.step_id, edits=edits, change=change)


def own_edits(edits: Iterable[Edit], owners: Iterable[Step]) -> tuple[Edit, ...]:
    allowed = {
        path for step in owners for output in step.outputs for path in (output, SHARED.get(output, output))
    }
    return tuple(edit for edit in edits if edit.path in allowed)


# --- written ------------------------------------------------------------------------------------------------------


def step_written(rt: Roundtable, playbook: Playbook, told: Committed | None) -> Roundtable:
    """In git; now people may go on."""
    return menu_or_write(rt, playbook, saying_what_is_saved(rt, told))


def feedback_written(rt: Roundtable, playbook: Playbook, told: Committed | None) -> Roundtable:
    if rt.answers != rt.drafted:
        return write(rt)
    if speaking.hushed(rt, playbook):
        return menu_or_write(rt, playbook, saying_what_is_saved(rt))
    return rt.owing(Speak(persona=asking.speaker_of(rt, playbook).key, task="acknowledge"))


def feedback_acknowledged(rt: Roundtable, happened: PersonaSpoke, playbook: Playbook) -> Roundtable:
    """What people said meanwhile is written down before anything is said about it."""
    if rt.answers != rt.drafted:
        persona = playbook.roster.get(happened.persona) or asking.speaker_of(rt, playbook)
        rt = speaking.late_words_noted(rt, persona, happened, part=Part.CLARIFYING)
    text = happened.text.strip() or saying_what_is_saved(rt)
    return menu_or_write(rt, playbook, text, facts=happened.meta)


def menu_or_write(
    rt: Roundtable,
    playbook: Playbook,
    text: str,
    *,
    kind: MenuKind | None = None,
    facts: Mapping[str, Any] | None = None,
) -> Roundtable:
    """What people said or changed in the meantime is written first."""
    if rt.answers != rt.drafted and playbook.agenda.get(rt.step_id):
        return write(rt)
    return asking.menu(rt, playbook, text, kind=kind, facts=facts)


def _burst_is_over(rt: Roundtable) -> bool:
    return not rt.acknowledged_at or seconds_since(rt.acknowledged_at, rt.now) >= BURST_SECONDS
