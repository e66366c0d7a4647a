"""
The item, its specification and its step: the parts of a prompt that stay the same from turn to turn, and the speaker.

What changes least comes first, so that a provider can cache as much as possible: the rules of a task change with who
drafts, the item when something was discussed, the specification grows with what is recorded, the step changes with what
people answer. All personas of a discussion share these parts; who may speak is described last.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from bot.domain.catalog.agenda import Playbook, depth_of_step
from bot.domain.catalog.personas import ALL_ELSE, Persona, Roster
from bot.domain.catalog.steps import Depth, Step
from bot.domain.messages import specification_wording, step_wording
from bot.domain.roundtable import ended
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions.asking import known_facts
from bot.domain.specification.coverage import of_step
from bot.voices.prompts.digest import PEOPLE, told, told_in_answers
from bot.voices.prompts.fencing import FENCE, fenced, row, sanitized
from bot.voices.prompts.shown_files import shown
from bot.voices.prompts.specification import ENTRIES_CHARS, PLAN_CHARS, lines_of
from bot.voices.prompts.texts import filled

FILES_CHARS = 16_000
TITLE_CHARS = 200
EARLIER = 8
HITS = 20
MOST_GAPS = 20
UNKNOWN_HERE = {
    "item": "the item",
    "keywords": "the words that were searched for",
    "areas": "the areas that the search found",
}
"""What stands for facts of other people's wording in the questions of a step: those are no text of ours."""
OURS = ("scope", "complexity", "file_count", "hits")
"""These are words of ours and numbers."""

LENS_WORDS = 120
"""Of a persona's file, in a prompt."""


class Scene(NamedTuple):
    rt: Roundtable
    playbook: Playbook
    persona: Persona
    files: Mapping[str, str]

    @property
    def step(self) -> Step | None:
        return self.playbook.agenda.get(self.step_id)

    @property
    def step_id(self) -> str:
        return self.rt.elaboration.step_id if self.rt.elaboration else self.rt.step_id

    @property
    def seed(self) -> str:
        return f"{self.rt.slug}/{self.rt.incarnation}"


def stable(scene: Scene, task_rules: str) -> tuple[str, ...]:
    return f"{rules()}\n\n{task_rules}", item(scene), specification(scene), step(scene)


def rules() -> str:
    return filled("rules", fence=FENCE)


def who(scene: Scene) -> str:
    return described(scene.persona, scene.playbook.roster)


def lens(persona: Persona) -> str:
    """One of several who may speak."""
    name = f"## {persona.name}, {persona.role} (`{persona.key}`)"
    about = _about(persona).replace("## ", "### ")
    return "\n\n".join(filter(None, (name, f"Lens: {persona.lens}.", about)))


def described(persona: Persona, table: Roster) -> str:
    return filled(
        "persona",
        name=persona.name,
        role=persona.role,
        lens=persona.lens,
        about=_about(persona),
        looks=_looks(persona),
        colleagues=_list(
            f"{one.first_name} ({one.role}): {one.lens}" for one in table if one.key != persona.key
        ),
    )


def _about(persona: Persona) -> str:
    """What makes it look at things in its own way: whole rows, as far as there is room for them."""
    principles = (f"{one.title}: {one.text}".rstrip(": ") for one in persona.principles)
    has_lens = persona.looks_for or persona.changes_my_mind
    parts = {
        "What you look for": persona.looks_for if has_lens else (),
        "What changes your mind": persona.changes_my_mind,
        "What you go by": () if has_lens else tuple(principles),
        "What you leave to others": persona.does_not,
        "How you sound": (" ".join(persona.style.split()),) if persona.style else (),
    }
    told, room = list[str](), LENS_WORDS
    for heading, rows in parts.items():
        kept = list[str]()
        for one in rows:
            if (words := len(one.split())) <= room:
                kept.append(one)
                room -= words
        told += [f"## {heading}\n\n{_list(kept)}"] if kept else []
    return "\n\n".join(told)


def _looks(persona: Persona) -> str:
    """For one who has no preference, nothing."""
    first = [one for one in persona.looks_at if one != ALL_ELSE]
    return f"## Where you look first\n\n{_list(first)}\n\n" if first else ""


def item(scene: Scene) -> str:
    rt = scene.rt
    return filled(
        "item",
        item=fenced("title", row(rt.title, TITLE_CHARS)),
        survey=_survey(rt),
        earlier=_earlier(rt),
    )


def specification(scene: Scene) -> str:
    """All entries, and what of the files is in none of them."""
    rt, wanted = scene.rt, scene.step.outputs if scene.step else ()
    step_id = scene.step.step_id if scene.step else ""
    room = PLAN_CHARS if step_id == scene.playbook.agenda.plan.step_id else ENTRIES_CHARS
    entries = lines_of(scene.playbook.schema, rt.specification, step_id=step_id, room=room)
    files = shown(
        scene.files,
        slug=rt.slug,
        room=FILES_CHARS,
        first=("draft.md", *wanted),
        written=frozenset(rt.written.values()),
    )
    return filled("specification", entries=fenced("entries", entries), files=files)


def step(scene: Scene) -> str:
    rt, step = scene.rt, scene.step
    depth = depth_of_step(step, rt.depth_overrides, rt.depth) if step else rt.depth or Depth.STANDARD
    discussed = ended.turns(rt)
    answers = [one for one in rt.to_read if one.ts not in discussed]
    return filled(
        "step",
        phase=rt.phase_key,
        step_id=step.step_id if step else rt.step_id,
        title=step.title if step else "",
        depth=depth,
        questions=listed_questions(scene, step),
        validation=_list(step.validation if step else ()),
        answers=fenced("answers", told(told_in_answers(rt, answers), PEOPLE)),
    )


def listed_questions(scene: Scene, step: Step | None) -> str:
    """What the card of the step asks by itself."""
    if step is None:
        return _list(())
    depth = depth_of_step(step, scene.rt.depth_overrides, scene.rt.depth)
    asked = _list(step.questions_at(depth)) if step.questions_at(depth) else step.text_at(depth)[0]
    return step_wording.prompt(asked, _facts(scene.rt))


def _facts(rt: Roundtable) -> Mapping[str, str]:
    """Of the quick scan, what is a word of ours or a number."""
    known = known_facts(rt)
    return UNKNOWN_HERE | {name: known[name] for name in OURS if known[name]}


def missing(scene: Scene) -> str:
    """Of what coverage finds, the most pressing; the sentences name values that people gave."""
    schema, spec, step = scene.playbook.schema, scene.rt.specification, scene.step
    gaps = of_step(schema, spec, step.step_id) if step else ()
    rows = [f"- {sanitized(specification_wording.finding(gap, schema, spec))}" for gap in gaps[:MOST_GAPS]]
    if more := len(gaps) - len(rows):
        rows.append(f"- and {more} more of this kind")
    return fenced("coverage", "\n".join(rows)) if rows else _list(())


def _survey(rt: Roundtable) -> str:
    """What the search of the quick scan found, as it was found: files and counts, never a retelling."""
    if rt.survey is None or not rt.survey.tracked_files:
        return ""
    hits = [
        f"{one.keyword}: {one.count} hits in {one.file_count} files: {', '.join(one.files)}"
        for one in rt.survey.hits[:HITS]
    ]
    related = [f"{one.path}: {one.why}" for one in rt.survey.related]
    rows = "\n".join(sanitized(one) for one in (*hits, *related))
    heading = f"\nWhat a search of the code found, in {rt.survey.tracked_files} tracked files:\n"
    return heading + fenced("search of the code", rows) + "\n" if rows else ""


def _earlier(rt: Roundtable) -> str:
    """Earlier discussions; what they came to stands among the entries."""
    held = rt.elaborations[-EARLIER:]
    rows = "\n".join(f"{one.step_id}: {sanitized(one.synthesis_summary)}" for one in held)
    return f"\nEarlier discussions:\n{fenced('discussions', rows)}\n" if rows else ""


def _list(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines) or "- (nothing in particular)"
