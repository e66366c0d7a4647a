"""What the storage tests save and commit, and how they wait."""

import errno
import os
from collections.abc import Callable
from itertools import count
from typing import Any

from bot.domain.item.artifacts import SectionEdit
from bot.domain.item.meta import MetaChange
from bot.domain.roundtable.effects import Commit, React
from bot.domain.roundtable.outcomes import ItemState
from bot.domain.roundtable.state import Roundtable
from bot.domain.transcript.lines import Line, LinePhase, Source
from bot.domain.values.places import Place
from bot.engine.ports import Workspace

NOW = "2026-11-21T10:00:00.000Z"
SLUG = "bright-night"
PLACE = Place(team="T1", channel="C1", thread="1700000000.000100")
OWED = (React(id="bright-night.i1.1", ts="1.1", emoji="eyes"),)


def a_roundtable(slug: str = SLUG, **fields: Any) -> Roundtable:
    """Version 1 of a roundtable that is held in `PLACE` and owes nothing."""
    given = {"incarnation": "i1", "title": "Too bright at night", "place": PLACE, "now": NOW, "version": 1}
    return Roundtable(slug=slug, **(given | fields))


def fsync_failing(nth: int) -> Callable[[int], None]:
    """`os.fsync`, which the disk refuses the *nth* time."""
    flush, calls = os.fsync, count(1)

    def fsync(descriptor: int) -> None:
        if next(calls) == nth:
            raise OSError(errno.EIO, "Input/output error")
        flush(descriptor)

    return fsync


def a_line(message_id: str, content: str = "It is too bright.", **fields: Any) -> Line:
    given = {"ts": NOW, "round": 1, "actor": "User", "phase": LinePhase.CLARIFYING, "role": "user"}
    return Line(
        **(given | {"source": Source.USER, "content": content, "meta": {"message_id": message_id}} | fields)
    )


def a_section(body: str, *, path: str = "requirements-spec.md", heading: str = "1. Scope") -> SectionEdit:
    return SectionEdit(path=path, heading=heading, title="Requirements", body=body)


async def state_of(workspace: Workspace, slug: str = SLUG, **more: Any) -> ItemState:
    """Of an item that there is."""
    state = (await workspace.read(slug, now=NOW, **more)).state
    assert state
    return state


def a_commit(number: int = 1, **fields: Any) -> Commit:
    """The *number*-th commit of an item, each a finished step with an artifact and a line."""
    slug = str(fields.get("id", SLUG)).partition(".")[0]
    given = {
        "id": f"{SLUG}.i1.{number}",
        "subject": f"roundtable({SLUG}): step 01-{number:02} Needs",
        "step": f"01-{number:02}",
        "edits": (a_section(f"What we know after step {number}."),),
        "change": MetaChange(
            steps=(f"01-{number:02}",), created={"source": "manual", "slug": SLUG, "created_at": NOW}
        ),
        "lines": (a_line(f"C1.{number}" if slug == SLUG else f"{slug}.{number}"),),
    }
    return Commit(**(given | fields))
