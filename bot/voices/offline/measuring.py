"""Requirements as far as somebody could check them: criteria that are there, and words that can be measured."""

import re
from collections.abc import Iterator

from bot.domain.reviews.text import Finding, FindingSeverity
from bot.domain.values.json_files import parse
from bot.voices.offline import qualities, story_file
from bot.voices.offline.dossier import Dossier, Part, is_unset, noted, without_author
from bot.voices.offline.lexicon import VAGUE
from bot.voices.offline.pages import SECTION
from bot.voices.offline.priorities import read_moscow

MUST = "Must"
_FR = re.compile(r"FR-0*(?P<number>[0-9]{1,6})\s*[:–—-]\s*(?P<title>\S.*)", re.IGNORECASE)
_AC = re.compile(r"[-*+]\s+\**(?P<id>AC-[0-9]{1,6}-[0-9]{1,3})\**\s*:?\**\s*(?P<text>.*)", re.IGNORECASE)
_PRIORITY = re.compile(r"[-*+]\s+\**Priority\**\s*:\**\s*(?P<text>\w+)", re.IGNORECASE)
_STORY = re.compile(r"\"id\"\s*:\s*\"(?P<id>[^\"]{1,40})\"")
LONGEST_LINE = 2000


def criteria(item: Dossier) -> Iterator[Finding]:
    """Requirements that nobody could accept; it blocks where it is a must."""
    for path in item.pages:
        musts = {name for name, rank in read_moscow(item.texts[path]).items() if rank.priority == MUST}
        for part, number, _ in _requirements(item, path):
            lines = [line for _, line in item.lines(path, part.lines)]
            if any(_AC.fullmatch(line) for line in lines):
                continue
            must = number in musts or any(
                found["text"].title() == MUST for line in lines if (found := _PRIORITY.match(line))
            )
            severity = FindingSeverity.CRITICAL if must else FindingSeverity.MAJOR
            text = f"{number} has no acceptance criterion: write what somebody would see if it worked."
            yield noted(severity, path, part.line + 1, text=text)


def vague_words(item: Dossier) -> Iterator[Finding]:
    """In criteria, in titles of requirements that have no number in their criteria, and in quality rows."""
    for path in item.pages:
        for part, number, title in _requirements(item, path):
            lines = tuple(item.lines(path, part.lines))
            accepted = [(n, found) for n, line in lines if (found := _AC.fullmatch(line[:LONGEST_LINE]))]
            if not any(qualities.threshold(found["text"]) for _, found in accepted):
                yield from _vague(
                    title, f"the title of {number}", FindingSeverity.MINOR, at=(path, part.line + 1)
                )
            for n, found in accepted:
                yield from _vague(found["text"], found["id"].upper(), FindingSeverity.MAJOR, at=(path, n))


def quality_rows(item: Dossier) -> Iterator[Finding]:
    """Of the matrix that all items share, and of any table with thresholds: a quality without a number is a wish."""
    for row in item.rows():
        name = row.cells.get("nfr id") or row.cells.get("quality")
        if not name or "threshold" not in row.cells:
            continue
        limit = row.cells["threshold"]
        if is_unset(limit):
            text = f"{name} has no threshold: write the number that is still good enough."
            yield noted(FindingSeverity.MAJOR, row.file, row.line, text=text)
        else:
            yield from _vague(limit, name, FindingSeverity.MAJOR, at=(row.file, row.line))


def stories(item: Dossier) -> Iterator[Finding]:
    """Stories that trace to nothing, and so are nobody's requirement."""
    text = item.texts.get(story_file.FILE, "")
    try:
        found = parse(text) if text.strip() else []
    except ValueError:
        return
    lines = {one["id"]: n for n, line in enumerate(text.splitlines(), 1) for one in _STORY.finditer(line)}
    for story in found if isinstance(found, list) else []:
        name = str(story.get("id") or "") if isinstance(story, dict) else ""
        if name.startswith(story_file.STORY) and not story.get("traces"):
            text = f"{name} traces to no requirement: name the FR it belongs to, or drop it."
            yield noted(FindingSeverity.MINOR, story_file.FILE, lines.get(name, 0), text=text)


def _requirements(item: Dossier, path: str) -> Iterator[tuple[Part, str, str]]:
    """Each with its id and title."""
    for part in item.parts[path]:
        if part.level > SECTION and (found := _FR.fullmatch(part.heading[:LONGEST_LINE])):
            yield part, f"FR-{int(found['number']):03}", found["title"]


def _vague(text: str, where: str, severity: FindingSeverity, *, at: tuple[str, int]) -> Iterator[Finding]:
    """The first word only: who gives that one a number sees the others."""
    said = without_author(text)[:LONGEST_LINE]
    found = VAGUE.search(said)
    if found and not qualities.threshold(said):
        path, line = at
        text = f'"{found[0]}" in {where} cannot be measured: say how much, how many or by when.'
        yield noted(severity, path, line, text=text)
