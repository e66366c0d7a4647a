"""The first message of a roundtable's thread, which is the brief as it stands, and the brief at the end."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import assert_never

from bot.domain.catalog.steps import Depth
from bot.domain.messages import brief_wording, menus
from bot.domain.messages.message import ITEM, Card, CardPart, CardRow, Choice, Link, Message, card_in_words
from bot.domain.messages.step_card import AMEND
from bot.domain.messages.tracker_wording import issue_name
from bot.domain.specification.brief import IN_A_MESSAGE, Brief, BriefRow
from bot.domain.values.markdown import LAST_SECTION
from bot.domain.values.text import listed, one_line

ROW_CHARS = 140
NOT_SETTLED_SHOWN = 10
"""At the end; before it there are as few as of everything else."""
WITH_A_PRESS = 5
READ_ALL = "Read it all"
SETTLE = AMEND.but(label="Settle…")
"""Opens the form of the entry."""


class RootStatus(StrEnum):
    RUNNING = "running"
    PAUSED = "paused"
    COMPLETE = "complete"


class RootActivity(StrEnum):
    """What goes on with the step at which a roundtable is."""

    OPEN = "open"
    DISCUSSED = "discussed"
    FINISHED = "finished"


@dataclass(frozen=True, slots=True, kw_only=True)
class RootScene:
    """
    `item` is the value of buttons that are about the item. `current` is the step at which we are, `following` the next
    one, or the next phase; `place` says which of how many the current one is. `due` is when answers are due, `saved`
    when the brief was committed last. `ending` says at the end what is the case, `done` how much of the analysis has
    content, and `deeper` how many steps can be asked beyond that. `why` are permalinks to what was said about an
    entry, by its id. `models` are those that the personas think with, by their names; empty for one that follows
    rules. `issues` are addresses and states of the issues of pieces of work, by their ids; more of them can be created
    where `can_create`.
    """

    title: str
    item: str
    status: RootStatus
    brief: Brief
    current: str = ""
    following: str = ""
    place: str = ""
    activity: RootActivity = RootActivity.OPEN
    current_permalink: str = ""
    waiting: tuple[str, ...] = ()
    due: str = ""
    saved: str = ""
    paused_by: str = ""
    people: tuple[str, ...] = ()
    depth: Depth = Depth.STANDARD
    ending: str = ""
    done: str = ""
    deeper: int = 0
    models: Mapping[str, str] = field(default_factory=dict)
    why: Mapping[str, str] = field(default_factory=dict)
    issues: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    can_create: bool = False
    has_issue: bool = False


def root(scene: RootScene) -> Message:
    first = f"**Roundtable: {scene.title}**"
    read = (menus.READ_ISSUE,) if scene.has_issue else ()
    match scene.status:
        case RootStatus.RUNNING:
            settings, export = menus.SETTINGS.but(value=scene.item), menus.EXPORT.but(value=scene.item)
            more = (settings, export, *read, menus.STOP.but(label="Pause for today"))
            return _message(scene, first, (menus.CATCH_UP.but(value=scene.item), _so_far(scene)), more)
        case RootStatus.PAUSED:
            return _message(scene, first, (menus.RESUME, _so_far(scene)), read)
        case RootStatus.COMPLETE:
            return _complete(scene, first)
        case _:
            assert_never(scene.status)


def final_brief(scene: RootScene) -> Message:
    """Posted when the analysis is complete."""
    return _complete(scene, f"**{scene.title}**")


def _so_far(scene: RootScene) -> Choice:
    return menus.SO_FAR.but(value=f"{menus.SO_FAR_OF}{scene.item}")


def _complete(scene: RootScene, first: str) -> Message:
    choices = (menus.PLAN, _so_far(scene).but(label=READ_ALL))
    shown = (row.entry for section in scene.brief.sections for row in section.rows)
    reverse = (menus.REVERSE,) if any(id.startswith("DEC-") for id in shown) else ()
    deeper = (menus.go_deeper(scene.deeper),) if scene.deeper else ()
    create = (menus.ISSUES,) if scene.can_create else ()
    read = (menus.READ_ISSUE,) if scene.has_issue else ()
    export = menus.EXPORT.but(value=scene.item)
    return _message(scene, first, choices, (*create, *reverse, *deeper, *read, export))


def _message(scene: RootScene, first: str, choices: tuple[Choice, ...], more: tuple[Choice, ...]) -> Message:
    is_over = scene.status is RootStatus.COMPLETE
    card = Card(
        title=scene.title,
        subtitle=scene.ending if is_over else brief_wording.AS_IT_STANDS,
        parts=tuple(
            parts(
                scene.brief,
                NOT_SETTLED_SHOWN if is_over else IN_A_MESSAGE.rows,
                with_a_press=WITH_A_PRESS if is_over else 0,
            )
        ),
        more=more,
        foot=tuple(filter(None, [scene.done] if is_over else _foot(scene))),
    )
    here = Link(label=scene.current, url=scene.current_permalink)
    why = tuple(Link(label=f"{id}: why", url=url) for id, url in scene.why.items() if url)
    why += tuple(
        Link(label=f"{id}: {issue_name(url)} {state}".rstrip(), url=url)
        for id, (url, state) in scene.issues.items()
    )
    links = why if is_over else (here,) if scene.current_permalink and choices[0] != menus.RESUME else ()
    text = "\n\n".join((first, *((scene.ending,) if is_over else ()), card_in_words(card.but(subtitle=""))))
    return Message(text=text, choices=choices, links=links, card=card, token=ITEM)


# --- the brief ----------------------------------------------------------------------------------------------------


def parts(brief: Brief, unsettled: int, *, with_a_press: int = 0) -> Iterator[CardPart]:
    """Its sections, and the first *unsettled* rows of what is not settled, the first of them with a button."""
    for section in brief.cut(IN_A_MESSAGE):
        rows = tuple(row for one in section.rows for row in _rows(one))
        yield CardPart(title=section.title, rows=rows)
    if found := brief.open_points:
        title = f"{LAST_SECTION} ({len(found)})"
        pressed = found[:with_a_press]
        yield from (_open_point(one, title if one is found[0] else "") for one in pressed)
        shown = [one_line(one.text, ROW_CHARS) for one in found[len(pressed) : unsettled]]
        shown += [brief_wording.more(len(found) - unsettled)] if len(found) > unsettled else []
        if shown:
            rows = tuple(CardRow(text=one) for one in shown)
            yield CardPart(title="" if pressed else title, rows=rows)


def _open_point(row: BriefRow, title: str) -> CardPart:
    button = SETTLE.but(value=row.entry) if row.entry else None
    return CardPart(title=title, rows=(CardRow(text=one_line(row.text, ROW_CHARS)),), button=button)


def _rows(row: BriefRow, level: int = 0) -> Iterator[CardRow]:
    yield CardRow(id=row.label, text=one_line(row.text, ROW_CHARS), level=level)
    for one in row.below:
        yield from _rows(one, level + 1)


# --- small print --------------------------------------------------------------------------------------------------


def _foot(scene: RootScene) -> Iterator[str]:
    facts = (_step(scene), ", ".join(scene.people), f"{scene.depth} depth", scene.saved)
    yield " · ".join(filter(None, facts))
    if scene.status is RootStatus.PAUSED:
        by = f" by {scene.paused_by}" if scene.paused_by else ""
        yield f"**Paused{by}.** Everything said so far is kept."
    elif scene.waiting:
        due = f" · due {scene.due}" if scene.due else ""
        yield f"**Waiting for:** {', '.join(scene.waiting)}{due}"
    elif scene.due:
        yield f"**Due:** {scene.due}"
    yield thinking(scene.models)


def _step(scene: RootScene) -> str:
    """`Step 6 of 24, Core Feature Definition`"""
    if not scene.current:
        return f"Next: **{scene.following}**" if scene.following else ""
    step = ", ".join(filter(None, (scene.place, f"**{scene.current}**")))
    match scene.activity:
        case RootActivity.OPEN:
            return step
        case RootActivity.DISCUSSED:
            return f"{step} (in discussion)"
        case RootActivity.FINISHED:
            following = f". Next: **{scene.following}**" if scene.following else ""
            return f"{step} (finished){following}"
        case _:
            assert_never(scene.activity)


def thinking(models: Mapping[str, str]) -> str:
    """Which personas think with which model, and which follow rules."""
    by_model: dict[str, list[str]] = {}
    for name, model in models.items():
        by_model.setdefault(model, []).append(name)
    ruled = by_model.pop("", [])
    sentences = [
        f"{listed(names)} {_verb(names, 'think')} with {model}." for model, names in by_model.items()
    ]
    if ruled:
        sentences.append(f"{listed(ruled)} {_verb(ruled, 'follow')} rules, without a model.")
    return " ".join(sentences)


def _verb(names: Sequence[str], verb: str) -> str:
    return f"{verb}s" if len(names) == 1 else verb
