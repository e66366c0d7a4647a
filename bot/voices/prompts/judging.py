"""The prompts for judging: roles of the planning workshop, and reviewers of an item's files."""

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from bot.domain.catalog.personas import Persona, Roster
from bot.domain.planning.briefing import briefing
from bot.domain.planning.plan import PlanDocument
from bot.domain.planning.verdict import title
from bot.domain.planning.workshop import FIRST_READING, RequestVerdict, Workshop
from bot.domain.transcript.lines import Line, Source
from bot.engine.ports import PlanningCase
from bot.voices.model import Prompt
from bot.voices.prompts import schemas
from bot.voices.prompts.fencing import FENCE, fenced, sealed
from bot.voices.prompts.scene import described, rules
from bot.voices.prompts.seen import row, sanitized
from bot.voices.prompts.shown_files import shown
from bot.voices.prompts.specification import NOTHING, lines_of
from bot.voices.prompts.texts import filled, part_of

FILES_CHARS = 24_000
BRIEFING_CHARS = 12_000
ENTRIES_CHARS = 40_000
MOST_LINES = 80
LINE_CHARS = 200
ID_CHARS = 100
MOST_FINDINGS = 20

Files = Mapping[str, str]


def entries(case: PlanningCase) -> str:
    """The specification with its ids, an entry a line."""
    return lines_of(case.schema, case.specification, room=ENTRIES_CHARS)


def judge(ws: Workshop, persona: Persona, table: Roster, *, files: Files, entries: str = "") -> Prompt:
    is_challenge = isinstance(ws.due, RequestVerdict) and ws.due.challenge
    reading = "challenge" if is_challenge else "first" if ws.round == FIRST_READING else "round"
    moving = filled(
        "judge",
        briefing=_briefing(ws),
        entries=_entries(entries),
        persona=described(persona, table),
        role=title(persona.actor),
        reading=part_of("readings", reading, round=str(ws.round)),
        answer=schemas.in_words(schemas.DATA),
    )
    return _prompt(ws, files, moving=moving)._replace(schema=schemas.verdict())


def formalize(
    ws: Workshop, files: Files, lines: Iterable[Line], *, entries: str = "", errors: Sequence[str] = ()
) -> Prompt:
    wrong = fenced("errors", "\n".join(f"- {row(one, LINE_CHARS)}" for one in errors))
    moving = filled(
        "formalize",
        briefing=_briefing(ws),
        entries=_entries(entries),
        lines=fenced("messages", "\n".join(_said(lines)) or "Nothing was said."),
        persona=part_of("readings", "writer"),
        answer=schemas.in_words(schemas.DATA),
        schema=json.dumps(PlanDocument.model_json_schema(), separators=(",", ":")),
        errors=f"\nAn earlier attempt could not be used:\n{wrong}" if errors else "",
    )
    return _prompt(ws, files, moving=moving)._replace(schema=schemas.plan())


def review(name: str, persona: Persona, table: Roster, *, files: Files, others: Sequence[str] = ()) -> Prompt:
    """
    *name* is the item's; it is the seed of the markers. With *others*, who found nothing serious, it is asked for what
    speaks against that.
    """
    answer = schemas.in_words(schemas.DATA)
    moving = filled("review", most=MOST_FINDINGS, persona=described(persona, table), answer=answer)
    if others:
        moving += "\n" + part_of("readings", "review", names=", ".join(others)) + "\n"
    prompt = sealed((rules(), _files(files, name)), moving, seed=f"review/{name}")
    return prompt._replace(schema=schemas.findings())


def _prompt(ws: Workshop, files: Files, *, moving: str) -> Prompt:
    stable = (filled("workshop", fence=FENCE), _files(files, ws.slug))
    return sealed(stable, moving, seed=f"planning/{ws.slug}/{ws.version}")


def _files(files: Files, slug: str) -> str:
    return filled("files", files=shown(files, slug=slug, room=FILES_CHARS))


def _entries(rows: str) -> str:
    return fenced("entries", rows or NOTHING)


def _briefing(ws: Workshop) -> str:
    return fenced("briefing", sanitized(briefing(ws, {}), BRIEFING_CHARS))


def _said(lines: Iterable[Line]) -> list[str]:
    """The newest messages of people, in order."""
    told = (line for line in reversed(tuple(lines)) if line.source is Source.USER and line.message_id)
    newest = list(islice(told, MOST_LINES))
    return [
        f"[{row(line.message_id, ID_CHARS)}] {row(line.content, LINE_CHARS)}" for line in reversed(newest)
    ]
