"""personas/*.md → Roster. A persona needs a name, a key and a role; all other fields and the prose are optional."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from bot.content.files import ContentFolder, Findings, UnreadableFile, name_of, problem_sentence
from bot.content.frontmatter import BadFrontMatter, sections, split
from bot.domain.catalog.personas import Persona, Principle, Roster
from bot.domain.catalog.steps import BULLET, items
from bot.errors import ContentError

FIELDS = ("key", "name", "role", "short", "actor", "icon", "phases", "lens", "model", "looks_at")
PROSE = {"identity": "identity", "style": "style"}
LISTS = {
    "looks for": "looks_for",
    "changes my mind": "changes_my_mind",
    "does not": "does_not",
}
TITLED = re.compile(r"\*\*(?P<title>.+?):?\*\*\s*(?:(?:[—–:]|-+)\s*)?(?P<text>.*)", re.DOTALL)


def read_roster(folder: Path, findings: Findings, *, workspace: Path | None = None) -> Roster:
    """Personas that lead a phase come first, in the order of the phases; the others follow by name."""
    try:
        refused: set[str] = set()
        personas = list(_personas(ContentFolder(folder, workspace), findings, refused))
    except OSError:
        raise ContentError(f"There is no folder of personas at {folder}.") from None
    if not personas:
        reasons = "; ".join(trouble.facts["reason"] for trouble in findings.troubles)
        raise ContentError(f"There is no usable persona in {folder}{f': {reasons}' if reasons else ''}.")

    _check_phases(personas, findings)
    return Roster(sorted(personas, key=_speaking_order), unusable=refused)


def _personas(shelf: ContentFolder, findings: Findings, refused: set[str]) -> Iterator[Persona]:
    """Adds the keys of unusable files to *refused*."""
    keys: set[str] = set()
    for path in shelf.markdown():
        front: Mapping[str, Any] = {}
        try:
            front, body = split(shelf.read(path))
            _check_icon(path, front, findings)
            persona = _persona(front, body)
        except (UnreadableFile, BadFrontMatter, ValidationError) as error:
            _refuse(path, _reason(error), findings)
            refused.add(str(front.get("key") or path.stem))
            continue
        if persona.key in keys:
            _refuse(path, f"the key {persona.key} is taken", findings)
            continue
        keys.add(persona.key)
        yield persona


def _check_icon(path: Path, front: dict[str, Any], findings: Findings) -> None:
    """An icon that is an emoji, not the name of one, is a common mistake: it is dropped, and the persona is kept."""
    icon = front.get("icon")
    if isinstance(icon, str) and not icon.isascii():
        del front["icon"]
        findings.note(f"{name_of(path)} has the icon {icon}: Slack needs its name, such as :wave:.")


def _persona(front: Mapping[str, Any], body: str) -> Persona:
    prose = sections(body)
    given = {name: front[name] for name in FIELDS if front.get(name)}
    if isinstance(phases := given.get("phases"), str):
        given["phases"] = [phases]
    if isinstance(places := given.get("looks_at"), str):
        given["looks_at"] = [places]
    return Persona.model_validate(given | _from_prose(prose))


def _from_prose(prose: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {name: prose.get(heading, "") for heading, name in PROSE.items()}
    found |= {name: items(prose.get(heading, ""), BULLET) for heading, name in LISTS.items()}
    found["principles"] = tuple(_principle(item) for item in items(prose.get("principles", ""), BULLET))
    return found


def _principle(item: str) -> Principle:
    if titled := TITLED.fullmatch(item):
        return Principle(title=titled["title"], text=titled["text"])
    return Principle(title=item)


def _refuse(path: Path, reason: str, findings: Findings) -> None:
    filename = name_of(path)
    findings.trouble("ERR-RT-002", filename=filename, reason=f"{filename}: {reason}")


def _reason(error: Exception) -> str:
    if not isinstance(error, ValidationError):
        return str(error)
    name, _, why = problem_sentence(error)
    return f"{name}: {why}"


def _speaking_order(persona: Persona) -> tuple[bool, str, str]:
    return not persona.phases, min(persona.phases, default=""), persona.name


def _check_phases(personas: list[Persona], findings: Findings) -> None:
    leads: dict[str, Persona] = {}
    for persona in sorted(personas, key=_speaking_order):
        for phase_key in persona.phases:
            lead = leads.setdefault(phase_key, persona)
            if lead is not persona:
                findings.note(f"{lead.name} leads {phase_key}; {persona.name} would, too.")
