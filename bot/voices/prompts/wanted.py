"""What the open step wants from an answer: its kinds of entries, the points that are open, and who is spoken to."""

from collections.abc import Iterable
from typing import NamedTuple

from bot.domain.catalog.schema import NOTE, REMARK, Kind
from bot.domain.messages import specification_wording
from bot.domain.roundtable import ended, questions, waiting
from bot.domain.roundtable.asked import asked_in
from bot.domain.roundtable.state import Answer
from bot.domain.roundtable.transitions import asking, specifying
from bot.domain.specification.claims import EntryState
from bot.domain.specification.coverage import CoverageGap, GapKind, of_step
from bot.domain.specification.discussions import CONCLUDED_IN
from bot.domain.specification.entries import Specification
from bot.voices.prompts.fencing import fenced, named, row, sanitized
from bot.voices.prompts.scene import Scene, listed_questions
from bot.voices.prompts.texts import part_of

MOST_POINTS = 6
POINT_CHARS = 300
FOR_PEOPLE = frozenset({GapKind.CONTESTED, GapKind.STALE, GapKind.MISSING, GapKind.OBJECTION})
"""What a question to people can settle."""
SILENT = " (has said nothing in this phase)"


class OpenPoint(NamedTuple):
    """Something that is not settled on the step; `gap` is None for a question of the step itself."""

    text: str
    gap: CoverageGap | None = None


def kinds(scene: Scene) -> tuple[Kind, ...]:
    """The kinds of the step, of steps of which nobody has read all, of every step, and what a discussion comes to."""
    schema, step = scene.playbook.schema, scene.step
    steps = dict.fromkeys((scene.step_id, *(one.step_id for one in scene.rt.unread)))
    shown = (kind for step_id in steps for kind in schema.shown_in(step_id))
    discussed = ended.turns(scene.rt)
    concluded = CONCLUDED_IN if any(one.ts in discussed for one in scene.rt.unread) else ()
    heard = (kind for key, kind in schema.kinds.items() if kind.anywhere or key in concluded)
    return tuple({kind.key: kind for kind in (*shown, *heard) if kind.key != NOTE}.values()) if step else ()


def described(wanted: Iterable[Kind]) -> str:
    return "\n".join(map(_described, wanted)) or "- (none)"


def _described(kind: Kind) -> str:
    owner = f", `part_of` names the {kind.part_of} it belongs to" if kind.part_of else ""
    fields = "; ".join(
        f"{name} ({', '.join(field.of) if field.of else field.type.value}{', a list' if field.many else ''})"
        for name, field in kind.fields.items()
        if name != REMARK and not field.by_people
    )
    return f"- {kind.key} ({kind.name}{owner}): {fields}"


def open_points(scene: Scene) -> tuple[OpenPoint, ...]:
    """What coverage finds, the most pressing first, and then the step's questions that nobody answered."""
    rt, step, schema = scene.rt, scene.step, scene.playbook.schema
    if step is None:
        return ()
    gaps = of_step(schema, rt.specification, step.step_id)
    found = [
        OpenPoint(gap.ask or specification_wording.finding(gap, schema, rt.specification), gap)
        for gap in gaps
        if _is_for_people(gap, rt.specification)
    ]
    prepared = specifying.asked_of(rt, step, scene.playbook, gaps)
    found += [OpenPoint(one.text) for one in prepared if not one.is_answered and not one.gaps]
    return tuple(found[:MOST_POINTS])


def _is_for_people(gap: CoverageGap, specification: Specification) -> bool:
    """What a suggestion lacks is no question yet: it has to be accepted first."""
    entry = specification.entries.get(gap.id)
    return gap.kind in FOR_PEOPLE and not (entry and entry.state is EntryState.PROPOSED)


def listed(points: Iterable[OpenPoint]) -> str:
    rows = [f"{n}. {row(one.text, POINT_CHARS)}" for n, one in enumerate(points, start=1)]
    return fenced("open points", sanitized("\n".join(rows))) if rows else "Nothing that coverage knows of."


def people(scene: Scene) -> str:
    """Whom a question can be put to, and who has said nothing in the phase."""
    rt = scene.rt
    silent = questions.silent_in_phase(rt, scene.playbook)
    told = [f"{named(rt.name_of(one))}{SILENT if one in silent else ''}" for one in waiting.participants(rt)]
    return fenced("people", "; ".join(told)) if told else "not known yet"


def following(scene: Scene) -> str:
    """The step after this one, with what its card asks by itself."""
    step = asking.following_step(scene.rt, scene.playbook)
    asked = listed_questions(scene, step) if step else ""
    return f"{step.step_id}: {step.title}. It asks:\n{asked}" if step else "There is none."


def standing(scene: Scene) -> str:
    """What drafts before this one ask on the card."""
    asked = questions.asked_on(scene.rt, scene.step_id, scene.playbook)
    rows = "\n".join(f"- {row(one.text, POINT_CHARS)}" for one in asked)
    return f"\n{part_of('turns', 'standing')}\n{fenced('questions', rows)}\n" if asked else ""


def call(scene: Scene) -> str:
    """That the persona is asked in a message that it has not answered yet; empty when it is not."""
    rt, own = scene.rt, scene.persona.key
    lead = asking.speaker_of(rt, scene.playbook).key
    discussed = ended.turns(rt)
    for answer in reversed([one for one in rt.to_read if one.ts not in discussed and _is_new_to(scene, one)]):
        found = asked_in(answer, rt, scene.playbook, lead=lead)
        if found and own in found.personas:
            return part_of("turns", found.how, message=rt.line_of(answer.ts)) + "\n"
    return ""


def _is_new_to(scene: Scene, answer: Answer) -> bool:
    """Where several are asked, each answers: that another one has looked at the message does not count."""
    rt, persona = scene.rt, scene.persona
    places = {line.message_id: place for place, line in enumerate(rt.lines)}
    own = (
        place
        for place, line in enumerate(rt.lines)
        if line.actor == persona.actor or line.meta.get("persona") == persona.key
    )
    said = places.get(rt.line_of(answer.ts))
    return answer in rt.unread if said is None else said > max(own, default=-1)
