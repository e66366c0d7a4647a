"""
What is in the workspace, for `roundtable items` and `roundtable show`: read from its files and git alone.

Looking makes nothing: where there is no workspace yet, there are no items. Titles and summaries come from people, so
they are made fit for a terminal; scripts get them as they are.
"""

import logging
from collections.abc import Iterable, Sequence
from typing import Any

from bot import app
from bot.domain.catalog import budget
from bot.domain.catalog.agenda import Agenda
from bot.domain.catalog.budget import Spent
from bot.domain.roundtable.outcomes import ItemState, LoadedItem
from bot.domain.specification import address
from bot.domain.specification.entries import Specification
from bot.domain.transcript.lines import Line
from bot.domain.values.text import counted, one_line
from bot.engine.ports import Listing, Workspace, now
from bot.errors import ConfigError, WorkspaceError
from bot.settings import Settings
from bot.storage.git.tree import is_ignored

log = logging.getLogger(__name__)

TEXT_CHARS = 150
UNREADABLE = "unreadable"
"""The status of an item whose meta.json says nothing, beside those of the format."""


async def items(settings: Settings) -> list[dict[str, Any]]:
    if not _begun(settings):
        return []
    async with app.workspace(settings) as files:
        return [_row(one, await _status(files, one)) for one in await files.items()]


async def show(settings: Settings, slug: str) -> dict[str, Any]:
    """Raises ConfigError with a sentence when there is no such item, or its meta.json says nothing."""
    if not _begun(settings):
        raise ConfigError(no_item(slug, ()))
    async with app.workspace(settings) as files:
        slugs = [one.known.slug for one in await files.items()]
        if slug not in slugs:
            raise ConfigError(no_item(slug, slugs))
        try:
            reading = await files.read(slug, now=now())
            lines = (await files.planning(slug)).lines
        except WorkspaceError as error:
            raise ConfigError(f"The progress of {slug} is unknown: {error}") from error
    if reading.state is None:
        raise _unreadable(settings, slug, reading)
    return _progress(slug, reading.state, app.playbook(settings).agenda) | {
        "entries": _counts(reading.state.specification),
        "troubles": [one.log for one in reading.troubles],
        "spent": _spent(lines),
    }


def items_as_text(found: list[dict[str, Any]]) -> str:
    if not found:
        return "There are no items yet."
    slugs = [one_line(row["slug"], TEXT_CHARS) for row in found]
    width = max(map(len, slugs))
    return "\n".join(
        f"{slug:<{width}}  {row['status']:<10}  {counted(row['steps_completed'], 'step'):>8}  "
        f"{_line(row['title'])}".rstrip()
        for slug, row in zip(slugs, found, strict=True)
    )


def show_as_text(found: dict[str, Any]) -> str:
    rows = [f"{_line(found['title'])} ({_line(found['slug'])}): {found['status']}"]
    rows += [
        f"  [{'x' if phase['complete'] else ' '}] {phase['key']:<20} {phase['done']}/{phase['steps']} steps"
        for phase in found["phases"]
    ]
    facts = [
        ("next", f"{found['next']['step_id']} {found['next']['title']}" if found["next"] else ""),
        ("depth", ", ".join(f"{key} {depth}" for key, depth in found["depth_overrides"].items())),
        *(("discussed", f"{one['step_id']}: {one['synthesis_summary']}") for one in found["elaborations"]),
        ("artifacts", ", ".join(found["artifacts"])),
        ("entries", ", ".join(f"{kind} {sum(states.values())}" for kind, states in found["entries"].items())),
        ("models", found["spent"]["words"]),
        *(("", f"{step}: {spent['words']}") for step, spent in found["spent"]["steps"].items()),
        (
            "code",
            f"changed since, {counted(found['commits_behind'], 'commit')}" if found["commits_behind"] else "",
        ),
        *(("note", trouble) for trouble in found["troubles"]),
    ]
    rows += [f"  {name:<10} {_line(fact)}" for name, fact in facts if fact]
    return "\n".join(rows)


def _counts(specification: Specification) -> dict[str, dict[str, int]]:
    """How many entries there are, by kind and state."""
    found: dict[str, dict[str, int]] = {}
    for one in specification.entries.values():
        states = found.setdefault(one.kind, {})
        states[one.state.value] = states.get(one.state.value, 0) + 1
    return {kind: dict(sorted(states.items())) for kind, states in sorted(found.items())}


def _spent(lines: Iterable[Line]) -> dict[str, Any]:
    """Of the item, its steps and turns, folded from its transcript."""
    found = budget.accounts(line.meta for line in lines)
    parts = {"steps": found.steps, "turns": found.turns}
    return _told(found.item) | {
        name: {one: _told(spent) for one, spent in part.items()} for name, part in parts.items()
    }


def _told(spent: Spent) -> dict[str, Any]:
    """Unknown values are null."""
    known = spent.model_dump(mode="json")
    known["cost"] = None if spent.calls and spent.unpriced == spent.calls else known["cost"]
    return known | {"words": budget.in_words(spent)}


def _begun(settings: Settings) -> bool:
    """Whether there are items, or, at the path or above it, a repository that is opened or has to be refused."""
    root = settings.workspace.absolute()
    own = (root / settings.items_dir, root / "HEAD", root / ".git")
    around = (place / ".git" for place in root.parents)
    return any(sign.exists() for sign in own) or (
        any(sign.exists() for sign in around) and not is_ignored(root)
    )


def no_item(slug: str, known: Sequence[str]) -> str:
    return f"{address.no_item(slug, known)} `roundtable items` lists what there is."


async def _status(files: Workspace, one: Listing) -> str:
    """A list takes what it cannot read for an item that has just begun; here the two are told apart."""
    if one.known.title != one.known.slug or one.steps_completed:
        return one.status
    try:
        reading = await files.read(one.known.slug, now=now())
    except WorkspaceError:
        return UNREADABLE
    return one.status if reading.state else UNREADABLE


def _row(one: Listing, status: str) -> dict[str, Any]:
    return {
        "slug": one.known.slug,
        "title": one.known.title,
        "status": status,
        "steps_completed": one.steps_completed,
        "source_id": one.known.source_id,
    }


def _unreadable(settings: Settings, slug: str, reading: LoadedItem) -> ConfigError:
    codes = ", ".join(one.code for one in reading.troubles)
    path = settings.items_dir / slug / "meta.json"
    why = next(filter(None, (one.facts.get("reason", "") for one in reading.troubles)), "cannot be read")
    return ConfigError(
        f"The progress of {slug} is unknown: {path} {why.removeprefix('meta.json ')} ({codes})."
        f" Mend it, or take an earlier version: `git log -- {path}` in the workspace lists them."
    )


def _progress(slug: str, state: ItemState, agenda: Agenda) -> dict[str, Any]:
    meta = state.meta
    done = set(meta.steps_completed)
    open_steps = (
        step
        for step in agenda.steps
        if step.step_id not in done and step.phase_key not in meta.phases_completed
    )
    upcoming = next(open_steps, None)
    return {
        "slug": slug,
        "title": meta.description or slug,
        "status": meta.derived_status,
        "source_id": meta.source_id,
        "phases": [
            {
                "key": phase.key,
                "complete": phase.key in meta.phases_completed,
                "done": sum(step.step_id in done for step in agenda.steps_of(phase.key)),
                "steps": len(agenda.steps_of(phase.key)),
            }
            for phase in agenda.phases
        ],
        "steps_completed": list(meta.steps_completed),
        "next": {"step_id": upcoming.step_id, "title": upcoming.title} if upcoming else None,
        "depth_overrides": dict(meta.depth_overrides),
        "elaborations": [record.model_dump(mode="json") for record in meta.elaborations],
        "artifacts": list(state.artifacts),
        "codebase_hash": meta.codebase_hash,
        "commits_behind": state.commits_behind,
        "rounds": state.last_round,
    }


def _line(text: str) -> str:
    return one_line(text, TEXT_CHARS)
