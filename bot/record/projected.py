"""
Every file of an item once more, from its transcript: what each has to be, byte for byte, and a unified diff where it is
something else. What is not ours in a file stays as it is found.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.schema import PLAN_PAGE
from bot.domain.item.artifacts import InsightEdit, UnreadableArtifact, applies_to, original
from bot.domain.item.item_paths import KEPT_BY_US, shared
from bot.domain.planning.plan_review import plan_edits
from bot.domain.specification import adr, files
from bot.domain.specification.brief import brief
from bot.domain.specification.snapshot import HASH, Snapshot, folded
from bot.domain.transcript.lines import USER_NAME, Line
from bot.domain.transcript.state import Concluded
from bot.domain.values.markdown import LAST_SECTION

DATA = (".json", ".csv")


def is_projected(name: str) -> bool:
    """Whether the file *name* of an item may have sections or records of ours."""
    return name.partition("/")[0] not in KEPT_BY_US and (applies_to(name) or name.endswith(DATA))


def committed(
    lines: Sequence[Line], *, foreign: Collection[str] = (), damage: tuple[str, ...] = ()
) -> Snapshot:
    """The specification at the last commit that has one, with what people are called by then."""
    newest = next((at for at in range(len(lines), 0, -1) if HASH in lines[at - 1].meta), 0)
    names = {one.person: one.person_name for one in lines if one.person_name}
    unnamed = (line.person in names and line.person_name in {"", line.person} for line in lines)
    named = (
        line.but(meta={**line.meta, USER_NAME: names[line.person]}) if is_unnamed else line
        for line, is_unnamed in zip(lines[:newest], unnamed, strict=False)
    )
    return folded(named, foreign=foreign, damage=damage)


def item_files(
    snapshot: Snapshot,
    held: Iterable[Concluded],
    item: files.ItemFacts,
    found: Mapping[str, str],
    playbook: Playbook,
) -> dict[str, str]:
    """
    The texts of all files with sections of entries, with what discussions added, and with what is said below them
    since. *found* are the texts of those that are there.
    """
    specification = snapshot.specification
    texts = {path: text for path, text in found.items() if not adr.is_ours(path)}
    ends = {f"{path}#{LAST_SECTION}": "" for path in found}
    for _, edit in files.sections(playbook, specification, item, {**ends, **snapshot.written}):
        try:
            text = edit.apply(texts.get(edit.path, found.get(edit.path)))
        except UnreadableArtifact as error:
            text = f"{error}\n"
        texts[edit.path] = text
    texts = {path: text for path, text in texts.items() if text}
    summary = files.brief_edit(brief(playbook.schema, specification), item)
    if snapshot.written.get(summary.path):
        texts[summary.path] = summary.text
    made = _with_syntheses(texts, held, item, playbook)
    for _, edits in files.follow_ups(playbook, specification):
        made |= {edit.path: edit.apply(made[edit.path]) for edit in edits if edit.path in made}
    return made


def plan_files(snapshot: Snapshot, item: files.ItemFacts, playbook: Playbook) -> dict[str, str]:
    """What the files of the plan have to be; none if its step is not finished."""
    step_id = playbook.agenda.plan.step_id
    if f"{PLAN_PAGE}#{step_id}" not in snapshot.written:
        return {}
    edits = plan_edits(item, step_id, playbook.schema, snapshot.specification)
    return {edit.path: edit.text for edit in edits}


def _with_syntheses(
    texts: Mapping[str, str], held: Iterable[Concluded], item: files.ItemFacts, playbook: Playbook
) -> dict[str, str]:
    """With what discussions added to the files of their steps; a copy that a merge kept may have it instead."""
    made = dict(texts)
    for one in held:
        step = playbook.agenda.get(one.step_id) if one.marker and one.whole else None
        for path in step.outputs if step else ():
            copies = [text for name, text in texts.items() if original(name) == path]
            if not applies_to(path) or path not in texts or any(one.marker in text for text in copies):
                continue
            words = item.title if shared(path) else step.title if step else ""
            title = files.document_title(path, item.title)
            edit = InsightEdit(path=path, keywords=(words,), marker=one.marker, body=one.text, title=title)
            made[path] = edit.apply(made.get(path))
    return made
