"""`entries.yaml` → Schema: the shipped kinds and views, and a team's own file beside its steps on top of them."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from bot.content.files import ContentFolder, Findings, UnreadableFile
from bot.content.frontmatter import BadFrontMatter, parse
from bot.domain.catalog.schema import Kind, PlanRule, Schema, SectionView, problems
from bot.domain.catalog.steps import Step
from bot.shipped import steps_dir

FILE = "entries.yaml"
WORDS = ("vague", "withdrawn")
PARTS = ("kinds", "views", "plan", *WORDS)
T = TypeVar("T", bound=BaseModel)


def read_schema(
    folder: Path, steps: Iterable[Step], findings: Findings, *, workspace: Path | None = None
) -> Schema:
    """
    The shipped schema with what the team's file adds to it, bound to *steps*.

    Each wrong part of the team's file is left out with a note; the rest is used.
    """
    shipped = parse(ContentFolder(steps_dir(), None).read(Path(FILE)))
    schema = _on_top(Schema(), shipped, findings, "the shipped entries.yaml")
    given = _given(folder, findings, workspace)
    if folder.absolute() != steps_dir().absolute() and given:
        schema = _on_top(schema, given, findings, FILE)
    return schema.bound(steps)


def _given(folder: Path, findings: Findings, workspace: Path | None) -> Mapping[str, Any]:
    shelf = ContentFolder(folder, workspace)
    try:
        if FILE not in shelf.names():
            return {}
        return parse(shelf.read(Path(FILE)))
    except OSError:
        return {}
    except (UnreadableFile, BadFrontMatter) as error:
        findings.note(f"{FILE} is not used: {error}.")
        return {}


def _on_top(schema: Schema, given: Mapping[str, Any], findings: Findings, file: str) -> Schema:
    for name in given.keys() - set(PARTS):
        findings.note(f"{file} has a part '{name}' that means nothing: the parts are {', '.join(PARTS)}.")
    kinds = dict(schema.kinds)
    for key, one in _mapping(given.get("kinds")).items():
        before = kinds[key].model_dump(mode="json", exclude_defaults=True) if key in kinds else {}
        if kind := _made(
            Kind, f"{file}: the kind '{key}'", _merged(before, {**_mapping(one), "key": key}), findings
        ):
            kinds[key] = kind
    views = {(view.file, view.section): view for view in schema.views}
    for one in given.get("views") or ():
        about = _mapping(one)
        name = f"{file}: the view of {about.get('file', '?')} {about.get('section', '')}".rstrip()
        if view := _made(SectionView, name, about, findings):
            views[view.file, view.section] = view
    plan = dict(schema.plan)
    for key, one in _mapping(given.get("plan")).items():
        if rule := _made(PlanRule, f"{file}: the plan's '{key}'", _mapping(one), findings):
            plan[key] = rule
    words = {name: _added(getattr(schema, name), given.get(name)) for name in WORDS}
    after = Schema(kinds=kinds, views=tuple(views.values()), plan=plan, **words)
    if wrong := problems(after):
        for sentence in wrong:
            findings.note(f"{file}: {sentence}")
        return schema
    return after


def _merged(before: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Labels, sentences and fields are added to those of the shipped kind; anything else takes its place."""
    fields = {**_mapping(before.get("fields")), **_mapping(given.get("fields"))}
    lists = {
        name: list(dict.fromkeys([*before.get(name, ()), *(given.get(name) or ())]))
        for name in ("labels", "sentences")
    }
    return {**before, **given, "fields": fields, **lists}


def _made(kind: type[T], name: str, given: Mapping[str, Any], findings: Findings) -> T | None:
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        what = first["msg"].removeprefix("Value error, ")
        findings.note(f"{name} is left out: {f'{where}: ' if where else ''}{what}.")
        return None


def _added(known: tuple[str, ...], given: Any) -> tuple[str, ...]:
    more = given if isinstance(given, list) else ()
    return tuple(dict.fromkeys((*known, *(str(one) for one in more if one))))


def _mapping(given: Any) -> Mapping[str, Any]:
    return given if isinstance(given, Mapping) else {}
