"""A step: opened, answered, finished, written down."""

from collections.abc import Iterable
from datetime import datetime

from bot.domain import menus, wording, words
from bot.domain.agenda import Pick, Playbook, Step, depth_of_step, next_step
from bot.domain.artifact import Edit
from bot.domain.effects import Draft, React, Speak, Survey
from bot.domain.inputs import Committed, Drafted, Finish, PersonaSpoke, Say, Surveyed
from bot.domain.message import Message
from bot.domain.meta import Change
from bot.domain.persona import Persona
from bot.domain.place import Person
from bot.domain.roundtable import Answer, MenuKind, Passed, Roundtable, Stage
from bot.domain.steps import SHARED, Depth
from bot.domain.taxonomy import trouble
from bot.domain.transcript import Part
from bot.domain.transitions import boundary, pausing
from bot.domain.transitions.reporting import report
from bot.domain.transitions.saving import owe_commit, saved

BURST_SECONDS = 120
"""Within this time after an acknowledgement, further answers get a reaction and no words."""

SURVEYED = frozenset({"00-02", "00-03"})
"""The steps whose facts come from searching the code base, when there is one."""

KEYWORDS = 5
KEYWORD_LETTERS = 4
NOTED = "memo"


# --- opening ------------------------------------------------------------------------------------------------------


def pick(rt: Roundtable, playbook: Playbook) -> Pick:
    passed = [one.step_id for one in rt.passed]
    facts = rt.scan.facts(rt.depth or Depth.STANDARD)
    return next_step(playbook.agenda, rt.phase_key, completed=rt.steps_completed, passed=passed, facts=facts)


def open_next(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """The next step of the phase; at its end, the menu of the phase."""
    picked = pick(rt, playbook)
    rt = rt.but(passed=(*rt.passed, *(Passed(step_id=skip.step_id, why=skip.why) for skip in picked.skipped)))
    rt = report(rt, picked.troubles, part=Part.CLARIFYING)
    if picked.step is None:
        return boundary.present(rt, playbook, "", kind=MenuKind.PHASE)

    step = picked.step
    rt = rt.but(
        stage=Stage.DISCUSSING, step_id=step.step_id, answers=(), drafted_answers=0, acknowledged_at=""
    )
    rt = rt.opening_round(Part.CLARIFYING)
    if step.step_id in SURVEYED:
        return rt.owing(Survey(keywords=keywords(rt)))
    return prompted(rt, playbook)


def surveyed(rt: Roundtable, happened: Surveyed, playbook: Playbook) -> Roundtable:
    """What the search found is shown with the questions, or goes into the file that is being written."""
    rt = rt.but(survey=happened.survey)
    return prompted(rt, playbook) if rt.stage is Stage.DISCUSSING and rt.menu is None else rt


def prompted(rt: Roundtable, playbook: Playbook, first: str = "") -> Roundtable:
    """The persona asks, at the depth that is active; *first* stands before the question."""
    step = playbook.agenda.step(rt.step_id)
    persona = speaker_of(rt, playbook)
    lead, _ = playbook.roster.lead_of(rt.phase_key)
    depth = depth_of_step(step, rt.depth_overrides, rt.depth)
    text, fell_back = step.text_at(depth)

    rt = rt.logging(
        *(trouble("ERR-STEP-007") for _ in (1,) if fell_back),
        *(trouble("ERR-PERSONA-002") for _ in (1,) if persona.key != lead.key),
    )
    facts = wording.surveyed(rt.survey) if rt.survey and step.step_id in SURVEYED else ""
    parts = (first, wording.header(persona, step), facts, wording.prompt(text, known_facts(rt)))
    message = menus.prompt(persona.key, "\n\n".join(part for part in parts if part), depth)
    return rt.offering(MenuKind.PROMPT, message, part=Part.CLARIFYING, actor=persona.actor)


def speaker_of(rt: Roundtable, playbook: Playbook) -> Persona:
    """The step's persona, for that step only; else the lead of the phase."""
    step = playbook.agenda.get(rt.step_id)
    own = playbook.roster.get(step.persona) if step else None
    return own or playbook.roster.lead_of(rt.phase_key)[0]


def known_facts(rt: Roundtable) -> dict[str, str]:
    """What the placeholders of a step's text can be filled with; unknown ones are empty."""
    hits = rt.survey.hits if rt.survey else ()
    return {
        "item": rt.title,
        "scope": "" if rt.scan.scope == "unknown" else rt.scan.scope,
        "complexity": "" if rt.scan.complexity == "unknown" else rt.scan.complexity,
        "file_count": str(rt.scan.file_count or ""),
        "keywords": ", ".join(one.keyword for one in hits),
        "hits": str(sum(one.count for one in hits) or ""),
        "areas": ", ".join(sorted({path.split("/")[0] for one in hits for path in one.files})),
    }


def keywords(rt: Roundtable) -> tuple[str, ...]:
    """Words to search the code base for: what people named in this step, else the words of the title."""
    said = " ".join(answer.text for answer in rt.answers) or rt.title
    found = [word.strip("`'\"()[]{}.,:;!?*_") for word in said.split()]
    long_enough = [word for word in found if len(word) >= KEYWORD_LETTERS and any(c.isalpha() for c in word)]
    named = [word for word in long_enough if _is_identifier(word)]
    return tuple(dict.fromkeys(named or [word.lower() for word in long_enough]))[:KEYWORDS]


# --- answering ----------------------------------------------------------------------------------------------------


def answered(rt: Roundtable, happened: Say, playbook: Playbook) -> Roundtable:
    """Every message in the thread is an answer, with its author; a few exact words are wishes."""
    rt = rt.heard(happened.person, happened.text, ts=happened.ts, part=Part.CLARIFYING)
    if words.finishes(happened.text):
        return finish(rt, happened.person, playbook)
    if words.stops(happened.text):
        return pausing.stop(rt, happened.person, playbook)
    if wanted := words.depth(happened.text, at_menu=False):
        return boundary.change_depth(rt, wanted, playbook)

    rt = with_answer(rt, happened, feedback=False).owing(React(ts=happened.ts, emoji=NOTED))
    if rt.owes(Speak) or not _burst_is_over(rt):
        return rt
    rt = rt.but(acknowledged_at=rt.now)
    return rt.owing(Speak(persona=speaker_of(rt, playbook).key, task="acknowledge"))


def with_answer(rt: Roundtable, said: Say, *, feedback: bool) -> Roundtable:
    answer = Answer(person=said.person.id, text=said.text, ts=said.ts, feedback=feedback)
    return rt.but(answers=(*rt.answers, answer))


def acknowledged(rt: Roundtable, happened: PersonaSpoke, playbook: Playbook) -> Roundtable:
    if not happened.text.strip():
        return rt
    persona = playbook.roster.get(happened.persona) or speaker_of(rt, playbook)
    message = Message(text=happened.text, speaker=persona.key)
    return rt.telling(message, part=Part.CLARIFYING, actor=persona.actor, **happened.facts)


# --- finishing ----------------------------------------------------------------------------------------------------


def finish_asked(rt: Roundtable, happened: Finish, playbook: Playbook) -> Roundtable:
    return finish(rt, happened.person, playbook)


def finish(rt: Roundtable, person: Person, playbook: Playbook, *, ts: str = "") -> Roundtable:
    """Only a person gets here. What is still being said about the step is not waited for."""
    step = playbook.agenda.step(rt.step_id)
    name = rt.name_of(person.id)
    rt = rt.closing_menu(wording.finished(name), ts=ts).without_owing(Speak, Survey)
    rt = rt.recording(
        wording.step_finished(name, step), part=Part.CLARIFYING, user_id=person.id, user_name=name
    )
    rt = rt.but(stage=Stage.WRITING)
    if step.step_id in SURVEYED and rt.answers:
        rt = rt.owing(Survey(keywords=keywords(rt)))
    return owe_draft(rt)


def owe_draft(rt: Roundtable) -> Roundtable:
    return rt.but(drafted_answers=len(rt.answers)).owing(Draft(steps=(rt.step_id,)))


def drafted(rt: Roundtable, happened: Drafted, playbook: Playbook) -> Roundtable:
    """Of what the voice wrote, only the files that are the step's own are taken."""
    step = playbook.agenda.step(rt.step_id)
    edits = own_edits(happened.edits, (step,))
    again = step.step_id in rt.steps_completed
    rt = rt.recording(wording.wrote(step, [edit.path for edit in edits]), part=Part.FORMALIZING)
    if again:
        return owe_commit(rt, f"feedback {step.step_id} {step.title}", edits=edits)
    change = Change(steps=(step.step_id,))
    return owe_commit(rt, f"step {step.step_id} {step.title}", step=step.step_id, edits=edits, change=change)


def own_edits(edits: Iterable[Edit], owners: Iterable[Step]) -> tuple[Edit, ...]:
    allowed = {
        path for step in owners for output in step.outputs for path in (output, SHARED.get(output, output))
    }
    return tuple(edit for edit in edits if edit.path in allowed)


def committed(rt: Roundtable, happened: Committed, playbook: Playbook) -> Roundtable:
    """In git; now people may go on. What they said in the meantime is feedback, and is written first."""
    again = rt.step_id in rt.steps_completed
    rt = report(saved(rt, happened), happened.troubles, part=Part.FORMALIZING)
    rt = rt.but(steps_completed=tuple(dict.fromkeys((*rt.steps_completed, rt.step_id))))
    if len(rt.answers) > rt.drafted_answers:
        return owe_draft(rt)
    if again and any(answer.feedback for answer in rt.answers):
        return rt.owing(Speak(persona=speaker_of(rt, playbook).key, task="acknowledge"))
    return boundary.present(rt, playbook, wording.saved(happened.touched))


def _burst_is_over(rt: Roundtable) -> bool:
    if not rt.acknowledged_at:
        return True
    since = datetime.fromisoformat(rt.now) - datetime.fromisoformat(rt.acknowledged_at)
    return since.total_seconds() >= BURST_SECONDS


def _is_identifier(word: str) -> bool:
    """`userId`, `user_id`, `OrderService`, `api.orders`: what stands in code, and hardly in prose."""
    return any(mark in word for mark in "_./-") or any(c.isupper() for c in word[1:])
