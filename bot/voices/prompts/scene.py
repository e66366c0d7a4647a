"""
The speaker, the item and its files: the parts of a prompt that stay the same from turn to turn.

What changes least comes first, so that a provider can cache as much as possible: rules and persona never change, the
item and its step change with the step, and the files when one of them is written.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from bot.domain.catalog.agenda import Depth, Playbook, Step, depth_of_step
from bot.domain.catalog.personas import Persona, Roster
from bot.domain.roundtable.state import Roundtable
from bot.voices.prompts.fencing import FENCE, fenced
from bot.voices.prompts.own import own_turns
from bot.voices.prompts.seen import row, sanitized
from bot.voices.prompts.texts import filled, part_of

WORDS = 120
FILE_CHARS = 6_000
FILES_CHARS = 12_000
TITLE_CHARS = 200
EARLIER = 3

CAST = {
    "analyst": "business-analyst",
    "architect": "solutions-architect",
    "designer": "system-designer",
}
"""The personas for which `reflexes.md` has a part; it is used only when all three are there."""


class Scene(NamedTuple):
    rt: Roundtable
    playbook: Playbook
    persona: Persona
    files: Mapping[str, str]

    @property
    def step(self) -> Step | None:
        debate = self.rt.elaboration
        return self.playbook.agenda.get(debate.step_id if debate else self.rt.step_id)

    @property
    def seed(self) -> str:
        return f"{self.rt.slug}/{self.rt.incarnation}"


def stable(scene: Scene) -> tuple[str, ...]:
    return f"{rules()}\n\n{who(scene)}", item(scene), filled("files", files=_files(scene))


def rules() -> str:
    return filled("rules", words=WORDS, fence=FENCE)


def who(scene: Scene) -> str:
    return described(scene.persona, scene.playbook.roster, reflexes=_reflexes(scene))


def described(persona: Persona, table: Roster, *, reflexes: str = "") -> str:
    return filled(
        "persona",
        name=persona.name,
        role=persona.role,
        lens=persona.lens,
        identity=persona.identity,
        style=persona.style,
        principles=_list(f"{one.title}: {one.text}".rstrip(": ") for one in persona.principles),
        does=_list(persona.does),
        does_not=_list(persona.does_not),
        colleagues=_list(
            f"{one.first_name} ({one.role}): {one.lens}" for one in table if one.key != persona.key
        ),
        reflexes=reflexes,
    )


def item(scene: Scene) -> str:
    rt, step = scene.rt, scene.step
    depth = depth_of_step(step, rt.depth_overrides, rt.depth) if step else rt.depth or Depth.STANDARD
    return filled(
        "item",
        phase=rt.phase_key,
        step_id=rt.step_id,
        title=step.title if step else "",
        depth=depth,
        item=fenced("title", row(rt.title, TITLE_CHARS)),
        questions=_questions(step, depth),
        validation=_list(step.validation if step else ()),
        outputs=_list(_outputs(step)),
        earlier=_earlier(rt),
    )


def _questions(step: Step | None, depth: Depth) -> str:
    if step is None:
        return _list(())
    return _list(step.questions_at(depth)) if step.questions_at(depth) else step.text_at(depth)[0]


def _outputs(step: Step | None) -> Iterator[str]:
    if step is None:
        return
    for output in step.outputs:
        for owned in step.owned(output):
            yield "; ".join((f'{output}, "{owned.heading}"', *owned.hints))


def _earlier(rt: Roundtable) -> str:
    rows = [f"{one.step_id}: {row(one.synthesis_summary, 120)}" for one in rt.elaborations[-EARLIER:]]
    return "\nEarlier discussions:\n" + fenced("discussions", "\n".join(rows)) if rows else ""


def _files(scene: Scene) -> str:
    """As many as fit, those of the step first."""
    wanted = scene.step.outputs if scene.step else ()
    return shown(scene.files, slug=scene.rt.slug, room=FILES_CHARS, first=wanted)


def shown(files: Mapping[str, str], *, slug: str, room: int, first: Collection[str] = ()) -> str:
    """As many of the *files* of the item *slug* as fit, those named in *first* before the others."""
    paths = sorted(files, key=lambda path: (path.rpartition("/")[2] not in first, path))
    parts: list[str] = []
    for path in paths:
        text = sanitized(own_turns(path, files[path], slug=slug), min(FILE_CHARS, room)) if room > 0 else ""
        room -= len(text)
        if text:
            parts.append(fenced(f"file {path}", text))
    return "\n\n".join(parts) or "There are none yet."


def _reflexes(scene: Scene) -> str:
    cast = {part: scene.playbook.roster.get(key) for part, key in CAST.items()}
    names = {part: one.first_name for part, one in cast.items() if one}
    if len(names) < len(CAST) or scene.persona.key not in CAST.values():
        return ""
    return part_of("reflexes", scene.persona.key, **names)


def _list(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines) or "- (nothing in particular)"
