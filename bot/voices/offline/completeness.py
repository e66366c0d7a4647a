"""What is missing from an item's files: whole files, sections that steps own, answers to questions."""

import csv
import io
import re
from collections.abc import Iterator
from itertools import groupby

from bot.domain.catalog.steps import Step
from bot.domain.discussion.synthesis import NONE
from bot.domain.reviews.text import Finding, FindingSeverity
from bot.domain.values.json_files import parse
from bot.domain.values.text import one_line
from bot.voices.offline.dossier import Dossier, Part, is_unset, noted, rows_in, without_author
from bot.voices.offline.pages import SKIPPED, is_placeholder, unescaped
from bot.voices.offline.qualities import FILE as SHARED_MATRIX
from bot.voices.offline.sections import OPEN_QUESTIONS

QUOTE_CHARS = 80
_BOLD_LINE = re.compile(r"\*\*([^*]+)\*\*:?")
_HEADING_MARK = re.compile(r"#{1,6}\s+(?:\d{1,3}\.\s+)?([^#\r\n]*)")
_BULLET = re.compile(r"[-*+]\s+(.*)")


def files(item: Dossier) -> Iterator[Finding]:
    """Finished steps without their files, and files with nothing in them, or nothing that can be read."""
    if not item.texts and not item.too_long:
        yield noted(
            FindingSeverity.CRITICAL,
            "draft.md",
            0,
            text="There is nothing to review yet: finish a first step.",
        )
    missing = {
        output: step.step_id
        for step in reversed(_finished(item))
        for output in step.outputs
        if output not in item.texts and output not in item.too_long
    }
    for output, step_id in missing.items():
        text = f"The file is not there, though step {step_id} is finished: bring it back from git, or do it again."
        yield noted(FindingSeverity.CRITICAL, output, 0, text=text)
    for path, content in item.texts.items():
        if flaw := _flaw(path, content, item):
            severity, text = flaw
            yield noted(severity, path, 0, text=text)


def sections(item: Dossier) -> Iterator[Finding]:
    """What a finished step owns and is not there, or says nothing; and what was written for a skipped one."""
    done = {step.step_id for step in _finished(item)}
    for step in item.agenda.steps:
        for path in dict.fromkeys(step.outputs):
            if path == SHARED_MATRIX:
                yield from _matrix_of(step, item, finished=step.step_id in done)
            elif path in item.pages and not _is_empty(path, item):
                yield from _sections_of(step, path, item, finished=step.step_id in done)


def open_questions(item: Dossier) -> Iterator[Finding]:
    """One finding for each section that has some left."""
    for path in item.pages:
        for part in item.sections(path):
            if left := tuple(_questions(item, part)):
                line, first = left[0]
                asked = f'"{one_line(unescaped(without_author(first)), QUOTE_CHARS)}"'
                count = f'{len(left)} questions are open in "{part.heading}", the first is'
                if len(left) == 1:
                    count = f'A question is open in "{part.heading}":'
                text = f"{count} {asked} — answer, or say who does by when."
                yield noted(FindingSeverity.MINOR, path, line, text=text)


def unfinished(item: Dossier) -> str:
    """What could not be looked at because it is not written yet; empty if all is."""
    done = {step.step_id for step in _finished(item)}
    left = [step.step_id for step in item.agenda.steps if step.step_id not in done]
    if not left:
        return ""
    return (
        f"{len(left)} of {len(item.agenda.steps)} steps are not finished, so what they write was not asked for"
        f" ({', '.join(_runs(left, item))})."
    )


def _runs(left: list[str], item: Dossier) -> Iterator[str]:
    """`01-05 to 01-08`: those of a phase that follow each other are one."""
    places = {step.step_id: place for place, step in enumerate(item.agenda.steps)}
    for _, run in groupby(enumerate(left), key=lambda one: (one[1][:2], places[one[1]] - one[0])):
        ids = [step_id for _, step_id in run]
        yield ids[0] if len(ids) == 1 else f"{ids[0]} to {ids[-1]}"


def has_something(item: Dossier, path: str) -> bool:
    """Whether the file is there, and more than headings."""
    return path in item.texts and not _flaw(path, item.texts[path], item)


def _finished(item: Dossier) -> tuple[Step, ...]:
    return tuple(step for step in item.agenda.steps if step.step_id in item.steps_completed)


def _flaw(path: str, content: str, item: Dossier) -> tuple[FindingSeverity, str] | None:
    if path in item.pages:
        empty = _is_empty(path, item)
        return (
            (FindingSeverity.CRITICAL, "There is nothing in the file: do its step again.") if empty else None
        )
    if path.endswith(".json"):
        return _flaw_of_json(content)
    return _flaw_of_csv(content) if path.endswith(".csv") else None


def _is_empty(path: str, item: Dossier) -> bool:
    page = item.pages[path]
    headings = {n for one in page.headings for n in range(one.line, one.body)}
    return not any(line.strip() for n, line in enumerate(page.lines) if n not in headings)


def _flaw_of_json(content: str) -> tuple[FindingSeverity, str] | None:
    try:
        found = parse(content) if content.strip() else []
    except ValueError:
        return (
            FindingSeverity.CRITICAL,
            "The file is no JSON, so nothing in it was looked at: mend it by hand.",
        )
    return None if found else (FindingSeverity.MAJOR, "No record is in the file: do its step again.")


def _flaw_of_csv(content: str) -> tuple[FindingSeverity, str] | None:
    try:
        rows = [row for row in csv.reader(io.StringIO(content, newline="")) if any(row)]
    except csv.Error:
        return (
            FindingSeverity.CRITICAL,
            "The file is no CSV, so nothing in it was looked at: mend it by hand.",
        )
    return None if len(rows) > 1 else (FindingSeverity.MAJOR, "No row is in the table: do its step again.")


def _matrix_of(step: Step, item: Dossier, *, finished: bool) -> Iterator[Finding]:
    if finished and SHARED_MATRIX in item.pages and not item.own[SHARED_MATRIX]:
        text = f"No section of it is this item's: do step {step.step_id} again."
        yield noted(FindingSeverity.MAJOR, SHARED_MATRIX, 0, text=text)


def _sections_of(step: Step, path: str, item: Dossier, *, finished: bool) -> Iterator[Finding]:
    present = {part.heading.casefold(): part for part in item.sections(path)}
    for owned in step.owned(path):
        part = present.get(owned.heading.casefold())
        body = item.text(part) if part else ""
        if part is None and finished:
            text = f'Section "{owned.heading}" is missing, although step {step.step_id} is finished: do it again.'
            yield noted(FindingSeverity.CRITICAL, path, 0, text=text)
        elif part and body.startswith(SKIPPED):
            text = f'"{owned.heading}" was skipped, so nothing in it was discussed: do step {step.step_id}.'
            yield noted(FindingSeverity.MAJOR, path, part.line + 1, text=text)
        elif part and finished and (not body or is_placeholder(body)):
            text = f'"{owned.heading}" says nothing: do step {step.step_id} again, or write why it does not apply.'
            yield noted(FindingSeverity.MAJOR, path, part.line + 1, text=text)


def _questions(item: Dossier, part: Part) -> Iterator[tuple[int, str]]:
    """In the list below the words "Open questions", or in a section of that name: there in a table, too."""
    section_asks = asking = part.heading.casefold().endswith(OPEN_QUESTIONS.casefold())
    lines = tuple(item.lines(part.file, item.said(part)))
    for number, line in lines:
        if label := _BOLD_LINE.fullmatch(line) or _HEADING_MARK.fullmatch(line):
            asking = label[1].strip().casefold() == OPEN_QUESTIONS.casefold()
        elif asking and (bullet := _BULLET.fullmatch(line)) and not is_unset(bullet[1].removesuffix(NONE)):
            yield number, bullet[1]
    for row in rows_in(part.file, lines) if section_asks else ():
        question, *whose = row.cells.values()
        if not is_unset(question) and (not whose or any(map(is_unset, whose))):
            yield row.line, question
