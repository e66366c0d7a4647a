"""The first message of a roundtable's thread: where it stands, who is waited for, and what came of it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import assert_never

from bot.domain.catalog.steps import Depth
from bot.domain.messages import menus, planning_card, step_wording
from bot.domain.messages.attribution_wording import attribution_of
from bot.domain.messages.message import ITEM, Card, CardPart, CardRow, Choice, Link, Message, card_in_words
from bot.domain.messages.step_card import ENTRIES_SHOWN, REOPEN
from bot.domain.specification.entries import Entry, EntryState, Specification
from bot.domain.values.markdown import LAST_SECTION
from bot.domain.values.text import one_line
from bot.domain.values.value import Value

BAR = 10
ROW_CHARS = 300
SKIPPED_SHOWN = 8
"""With a button each."""
TEXT = "text"
"""The field with the text of decisions and objections."""
OPEN, KEPT = "open", "kept as risk"
READ_ALL = "Read it all"


class RootStatus(StrEnum):
    RUNNING = "running"
    PAUSED = "paused"
    COMPLETE = "complete"


class RootActivity(StrEnum):
    """What goes on with the step at which a roundtable is."""

    OPEN = "open"
    DISCUSSED = "discussed"
    FINISHED = "finished"
    PLANNED = "planned"
    """It is about no step: the planning workshop."""


class PhaseProgress(Value):
    name: str
    done: int
    steps: int


class SkippedInRoot(Value):
    """A step that was left out, and why."""

    step_id: str
    title: str
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RootScene:
    """
    `item` is the value of buttons that are about the item. `current` is the step at which we are, `following` the
    next one, or the next phase; `due` is when answers are due. `ending` says at the end what is the case. `why` are
    permalinks to what was said about an entry, by its id. `models` are those that the personas think with, by their
    names; empty for one that follows rules.
    """

    title: str
    slug: str
    item: str
    status: RootStatus
    phases: tuple[PhaseProgress, ...]
    specification: Specification
    goal: str = ""
    current: str = ""
    following: str = ""
    activity: RootActivity = RootActivity.OPEN
    current_permalink: str = ""
    persona: str = ""
    waiting: tuple[str, ...] = ()
    due: str = ""
    paused_by: str = ""
    people: tuple[str, ...] = ()
    personas: tuple[str, ...] = ()
    depth: Depth = Depth.STANDARD
    skipped: tuple[SkippedInRoot, ...] = ()
    ending: str = ""
    not_settled: tuple[str, ...] = ()
    models: Mapping[str, str] = field(default_factory=dict)
    why: Mapping[str, str] = field(default_factory=dict)
    can_plan: bool = False
    links: tuple[Link, ...] = ()
    lines: tuple[str, ...] = ()
    revision: int = 0

    @property
    def done(self) -> int:
        return sum(one.done for one in self.phases)

    @property
    def steps(self) -> int:
        return sum(one.steps for one in self.phases)


def root(scene: RootScene) -> Message:
    first = f"**Roundtable: {scene.title}**"
    match scene.status:
        case RootStatus.RUNNING:
            settings, export = menus.SETTINGS.but(value=scene.item), menus.EXPORT.but(value=scene.item)
            more = (settings, export, menus.STOP.but(label="Pause for today"))
            choices = (menus.CATCH_UP.but(value=scene.item), _so_far(scene))
            return _message(scene, first, tuple(_progress(scene)), choices, more)
        case RootStatus.PAUSED:
            return _message(scene, first, tuple(_progress(scene)), (menus.RESUME, _so_far(scene)), ())
        case RootStatus.COMPLETE:
            return _complete(scene, first)
        case _:
            assert_never(scene.status)


def _so_far(scene: RootScene) -> Choice:
    return menus.SO_FAR.but(value=f"{menus.SO_FAR_OF}{scene.item}")


def final_brief(scene: RootScene) -> Message:
    """What came of the analysis, posted once at its end."""
    return _complete(scene, f"**{scene.title}**")


def _complete(scene: RootScene, first: str) -> Message:
    plan = (planning_card.PLAN,) if scene.can_plan else ()
    choices = (*plan, _so_far(scene).but(label=READ_ALL))
    return _message(scene, first, tuple(_results(scene)), choices, (menus.EXPORT.but(value=scene.item),))


def _message(
    scene: RootScene,
    first: str,
    parts: tuple[CardPart, ...],
    choices: tuple[Choice, ...],
    more: tuple[Choice, ...],
) -> Message:
    card = Card(
        title=scene.title,
        parts=parts,
        more=more,
        foot=tuple(filter(None, (*_who(scene), *scene.lines))),
        revision=scene.revision,
    )
    here = Link(label=scene.current, url=scene.current_permalink)
    why = [Link(label=f"{id}: why", url=url) for id, url in scene.why.items() if url]
    links = (
        *((here,) if scene.current_permalink and scene.status is RootStatus.RUNNING else ()),
        *(why if scene.status is RootStatus.COMPLETE else ()),
        *scene.links,
    )
    text = f"{first}\n\n{card_in_words(card)}"
    return Message(text=text, choices=choices, links=links, card=card, token=ITEM)


def _who(scene: RootScene) -> Iterator[str]:
    if scene.status is not RootStatus.COMPLETE:
        personas = f"with {step_wording.listed(scene.personas)}" if scene.personas else ""
        yield " · ".join(filter(None, (", ".join(scene.people), personas, f"{scene.depth} depth")))
        yield thinking(scene.models)


def thinking(models: Mapping[str, str]) -> str:
    """Which personas think with which model, and which follow rules."""
    by_model: dict[str, list[str]] = {}
    for name, model in models.items():
        by_model.setdefault(model, []).append(name)
    ruled = by_model.pop("", [])
    sentences = [
        f"{step_wording.listed(names)} {_verb(names, 'think')} with {model}."
        for model, names in by_model.items()
    ]
    if ruled:
        sentences.append(f"{step_wording.listed(ruled)} {_verb(ruled, 'follow')} rules, without a model.")
    return " ".join(sentences)


def _verb(names: Sequence[str], verb: str) -> str:
    return f"{verb}s" if len(names) == 1 else verb


# --- while it goes on ---------------------------------------------------------------------------------------------


def _progress(scene: RootScene) -> Iterator[CardPart]:
    if scene.goal:
        yield CardPart(prose=one_line(scene.goal, ROW_CHARS))
    full = BAR * scene.done // max(scene.steps, 1)
    bar = "▰" * full + "▱" * (BAR - full)
    rows = [f"{bar}  **{scene.done} of {scene.steps} steps**", *_phases(scene.phases)]
    yield CardPart(prose="\n".join(rows))
    if now := "\n".join(_now(scene)):
        yield CardPart(prose=now)


def _phases(phases: Sequence[PhaseProgress]) -> Iterator[str]:
    """The first one that is not complete is the current one."""
    is_found = False
    for one in phases:
        count = f"{one.name}  {one.done} of {one.steps}"
        if one.done >= one.steps:
            yield f"✓ {count}"
        elif is_found:
            yield f"○ {count}"
        else:
            yield f"▸ **{count}**"
            is_found = True


def _now(scene: RootScene) -> Iterator[str]:
    doing = _doing(scene)
    if scene.status is RootStatus.PAUSED:
        by = f" by {scene.paused_by}" if scene.paused_by else ""
        yield f"**Paused{by}.** Everything said so far is kept."
        goes_on = "" if scene.activity is RootActivity.FINISHED else doing
        if following := goes_on or _following(scene):
            yield f"**Next:** {following}"
        return
    if doing:
        yield f"**Now:** {doing}"
    if scene.activity is RootActivity.FINISHED and scene.following:
        yield f"**Next:** {_following(scene)}"
    if scene.waiting:
        due = f" · due {scene.due}" if scene.due else ""
        yield f"**Waiting for:** {', '.join(scene.waiting)}{due}"
    elif scene.due:
        yield f"**Due:** {scene.due}"


def _doing(scene: RootScene) -> str:
    persona = f", with {scene.persona}" if scene.persona else ""
    match scene.activity:
        case RootActivity.OPEN:
            return f"{scene.current}{persona}" if scene.current else ""
        case RootActivity.DISCUSSED:
            return f"Discussion of {scene.current}{persona}"
        case RootActivity.FINISHED:
            return f"{scene.current} is finished" if scene.current else ""
        case RootActivity.PLANNED:
            return "Planning workshop"
        case _:
            assert_never(scene.activity)


def _following(scene: RootScene) -> str:
    return f"{scene.following}{f', with {scene.persona}' if scene.persona else ''}" if scene.following else ""


# --- at the end ---------------------------------------------------------------------------------------------------


def _results(scene: RootScene) -> Iterator[CardPart]:
    spec = scene.specification
    objections = spec.active("objection")
    yield CardPart(prose=scene.ending)
    yield from _list("Decided", (_by(one) for one in _accepted(spec.active("decision"))))
    yield from _list("Objections kept as risk", (_kept(one) for one in objections if one["outcome"] == KEPT))
    yield from _list(
        "Objections with an answer",
        (_answered(one) for one in objections if one["outcome"] not in {None, "", OPEN, KEPT}),
    )
    yield from _list("Who does what", (_owned(one) for one in _accepted(spec.active("action"))))
    if scene.not_settled:
        yield CardPart(title=LAST_SECTION, rows=tuple(CardRow(text=one) for one in scene.not_settled))
    for at, step in enumerate(scene.skipped[:SKIPPED_SHOWN]):
        why = f" – {step.why}" if step.why else ""
        yield CardPart(
            title="Not done" if at == 0 else "",
            rows=(CardRow(id=step.step_id, text=f"{step.title}{why}"),),
            numbered=True,
            button=REOPEN.but(label="Open it", value=step.step_id),
        )
    if len(scene.skipped) > SKIPPED_SHOWN:
        yield CardPart(prose=f"and {len(scene.skipped) - SKIPPED_SHOWN} more")


def _list(title: str, rows: Iterator[CardRow] | Sequence[CardRow]) -> Iterator[CardPart]:
    found = tuple(rows)
    if found:
        more = (CardRow(text=f"and {len(found) - ENTRIES_SHOWN} more"),) if len(found) > ENTRIES_SHOWN else ()
        yield CardPart(title=title, rows=(*found[:ENTRIES_SHOWN], *more))


def _accepted(entries: Sequence[Entry]) -> list[Entry]:
    return [one for one in entries if one.state is EntryState.ACCEPTED]


def _by(entry: Entry) -> CardRow:
    stale = "to be confirmed again" if entry.stale else ""
    return CardRow(id=entry.id, text=f"{_text(entry)} – {attribution_of(entry, TEXT)}", aside=stale)


def _owned(entry: Entry) -> CardRow:
    facts = [entry["owner"] or "no owner yet", f"by {entry['by_when']}" if entry["by_when"] else ""]
    return CardRow(id=entry.id, text=f"{_text(entry)} – {', '.join(filter(None, facts))}")


def _kept(entry: Entry) -> CardRow:
    said_by = attribution_of(entry, TEXT)
    risk = f": {one_line(str(entry['risk']), ROW_CHARS)}" if entry["risk"] else ""
    return CardRow(id=entry.id, text=f"{_text(entry)} – {said_by}, kept as risk{risk}")


def _answered(entry: Entry) -> CardRow:
    why = f": {one_line(str(entry['outcome_text']), ROW_CHARS)}" if entry["outcome_text"] else ""
    return CardRow(
        id=entry.id, text=f"{_text(entry)} – {attribution_of(entry, TEXT)}, {entry['outcome']}{why}"
    )


def _text(entry: Entry) -> str:
    return one_line(str(entry[TEXT] or ""), ROW_CHARS)
