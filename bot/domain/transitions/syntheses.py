"""What an elaboration leaves behind: insights with names on them, in the thread, in the artifacts, in meta.json."""

from bot.domain import wording
from bot.domain.agenda import Playbook, Step
from bot.domain.artifact import Edit, InsightEdit, applies_to
from bot.domain.effects import Synthesize
from bot.domain.elaboration import Elaboration, Ending
from bot.domain.inputs import Committed, Say, Synthesized
from bot.domain.message import Message
from bot.domain.meta import Change, Record
from bot.domain.roundtable import MenuKind, Roundtable, Stage
from bot.domain.synthesis import markdown, sound
from bot.domain.taxonomy import trouble
from bot.domain.text import one_line
from bot.domain.transcript import Part
from bot.domain.transitions import boundary
from bot.domain.transitions.reporting import report
from bot.domain.transitions.saving import owe_commit, saved

SYNTHESES_TRIED = 2


def synthesized(rt: Roundtable, happened: Synthesized, playbook: Playbook) -> Roundtable:
    """Saved with the transcript, the record and the files; shown when that is done."""
    debate = _debate(rt)
    if not sound(happened.synthesis, turns=debate.turn_count):
        return unstructured(rt, happened.synthesis.summary, playbook)

    step = playbook.agenda.step(debate.step_id)
    text = markdown(
        happened.synthesis,
        step_id=step.step_id,
        title=step.title,
        participants=participants(playbook),
        turns=debate.turn_count,
        exit=(debate.ending or Ending.BY_PEOPLE).value,
    )
    edits = additions(step, text, rt.now)
    rt = rt.but(elaboration=debate.but(insights=len(happened.synthesis.insights)))
    return _save(rt, text, playbook, summary=happened.synthesis.summary, edits=edits)


def unstructured(rt: Roundtable, attempt: str, playbook: Playbook) -> Roundtable:
    """Tried once more; then one sentence has to do, and no file is touched (ERR-ELAB-007)."""
    debate = _debate(rt)
    debate = debate.but(failed_syntheses=debate.failed_syntheses + 1)
    rt = rt.but(elaboration=debate)
    if debate.failed_syntheses < SYNTHESES_TRIED:
        return rt.owing(Synthesize())
    said = [turn.text for turn in debate.turns if turn.human] or [debate.topic]
    summary = one_line(attempt or said[-1])
    rt = rt.logging(trouble("ERR-ELAB-007"))
    return _save(rt, wording.takeaway(summary), playbook, summary=summary)


def cut_short(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """Ended right after the framing: nothing to put together, and the record says so."""
    text = wording.ended_early(_debate(rt).topic)
    return _save(rt, text, playbook, summary=text)


def additions(step: Step, text: str, at: str) -> tuple[Edit, ...]:
    """The same addition for every text file of the step, under a marker that makes it findable."""
    marker = f"<!-- Elaboration: step {step.step_id}, {at} -->"
    keywords = tuple(word.lower() for word in step.title.split() if word.isalpha())
    return tuple(
        InsightEdit(path=output, keywords=keywords, marker=marker, body=text)
        for output in step.outputs
        if applies_to(output)
    )


def committed(rt: Roundtable, happened: Committed, playbook: Playbook) -> Roundtable:
    """The summary was shown by the post that followed the commit; now which files it went into, and the menu."""
    debate = _debate(rt)
    rt = saved(rt, happened)
    rt = report(rt, happened.troubles, part=Part.FORMALIZING)
    return return_to_menu(rt, playbook, wording.insights_added(happened.touched, debate.insights))


def not_recorded(rt: Roundtable, playbook: Playbook) -> Roundtable:
    return return_to_menu(report(rt, [trouble("ERR-ELAB-009")], part=Part.FORMALIZING), playbook, "")


def return_to_menu(rt: Roundtable, playbook: Playbook, text: str) -> Roundtable:
    kind = MenuKind.PHASE if _debate(rt).from_phase_menu else MenuKind.STEP
    rt = rt.but(elaboration=None, stage=Stage.AT_BOUNDARY)
    return boundary.present(rt, playbook, text, kind=kind)


def too_late(rt: Roundtable, happened: Say, playbook: Playbook) -> Roundtable:
    """Said while the synthesis is being made. If "done" was a misunderstanding, people can open it again."""
    rt = rt.heard(happened.person, happened.text, ts=happened.ts, part=Part.WORKSHOP)
    return rt.logging(trouble("ERR-ELAB-011")) if _debate(rt).ending is Ending.BY_PEOPLE else rt


def participants(playbook: Playbook) -> str:
    return ", ".join(f"{persona.name} ({persona.short})" for persona in playbook.roster)


def _save(
    rt: Roundtable, text: str, playbook: Playbook, *, summary: str, edits: tuple[Edit, ...] = ()
) -> Roundtable:
    debate = _debate(rt)
    step = playbook.agenda.step(debate.step_id)
    record = Record(
        step_id=step.step_id,
        turn_count=debate.turn_count,
        personas_active=tuple(persona.key for persona in playbook.roster),
        timestamp=rt.now,
        synthesis_summary=one_line(summary),
    )
    told = rt.telling(Message(text=text), part=Part.FORMALIZING)
    post = told.outbox[-1]
    rt = owe_commit(
        told.paid(post.id),
        f"elaboration {step.step_id} {step.title}",
        step=step.step_id,
        edits=edits,
        change=Change(elaborations=(record,)),
    )
    return rt.owing(post)


def _debate(rt: Roundtable) -> Elaboration:
    assert rt.elaboration, "there is an elaboration in these stages"
    return rt.elaboration
