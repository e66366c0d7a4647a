"""`entries.yaml` → Schema: the shipped kinds and views, and a team's own file beside its steps on top of them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from bot.content.files import Findings, shipped_and_own
from bot.content.operators import read_operators
from bot.domain.catalog.schema import Kind, KindField, PlanRule, Schema, SectionView, problems

FILE = "entries.yaml"
WORDS = (
    "withdrawn",
    "everyday",
    "before_label",
    "negations",
    "small",
    "positions",
    "conditions",
    "reasons",
    "myself",
)
BY_NAME = ("labels", "fields", "words")
"""Further words for kinds, fields and values, each by its name."""
PARTS = ("kinds", "views", "plan", "help", *BY_NAME, *WORDS)
T = TypeVar("T", bound=BaseModel)


def read_schema(folder: Path, findings: Findings, *, workspace: Path | None = None) -> Schema:
    """
    The shipped schema with what the team's file adds to it, bound to no step yet.

    Each wrong part of the team's file is left out with a note; the rest is used.
    """
    shipped, own = shipped_and_own(folder, FILE, findings, workspace)
    schema = _on_top(Schema(), shipped, findings, "the shipped entries.yaml")
    if own:
        schema = _on_top(schema, own, findings, FILE)
    return schema.but(operators=read_operators(folder, findings, workspace=workspace))


def _on_top(schema: Schema, given: Mapping[str, Any], findings: Findings, file: str) -> Schema:
    for name in given.keys() - set(PARTS):
        findings.note(f"{file} has a part '{name}' that means nothing: the parts are {', '.join(PARTS)}.")
    kinds = dict(schema.kinds)
    for key, one in mapping_of(given.get("kinds")).items():
        before = kinds[key].model_dump(mode="json", exclude_defaults=True) if key in kinds else {}
        if kind := _made(
            Kind, f"{file}: the kind '{key}'", _merged(before, {**mapping_of(one), "key": key}), findings
        ):
            kinds[key] = kind
    kinds = _worded(kinds, given, findings, file)
    views = {(view.file, view.section): view for view in schema.views}
    for one in given.get("views") or ():
        about = mapping_of(one)
        name = f"{file}: the view of {about.get('file', '?')} {about.get('section', '')}".rstrip()
        if view := _made(SectionView, name, about, findings):
            views[view.file, view.section] = view
    plan = dict(schema.plan)
    for key, one in mapping_of(given.get("plan")).items():
        if rule := _made(PlanRule, f"{file}: the plan's '{key}'", mapping_of(one), findings):
            plan[key] = rule
    words = {name: _added(getattr(schema, name), given.get(name)) for name in WORDS}
    topics = {
        topic: _added(schema.help.get(topic, ()), more)
        for topic, more in mapping_of(given.get("help")).items()
    }
    answers = {**schema.help, **topics}
    after = Schema(kinds=kinds, views=tuple(views.values()), plan=plan, help=answers, **words)
    if wrong := problems(after):
        for sentence in wrong:
            findings.note(f"{file}: {sentence}")
        return schema
    return after


def _worded(
    kinds: Mapping[str, Kind], given: Mapping[str, Any], findings: Findings, file: str
) -> dict[str, Kind]:
    """With further labels, and with further names of fields and values in every kind that has them."""
    labels, names, words = (
        {key: _added((), more) for key, more in mapping_of(given.get(part)).items()} for part in BY_NAME
    )
    known = {
        "labels": {*kinds},
        "fields": {name for kind in kinds.values() for name in kind.fields},
        "words": {value for kind in kinds.values() for field in kind.fields.values() for value in field.of},
    }
    for part, added in zip(BY_NAME, (labels, names, words), strict=True):
        for key in added.keys() - known[part]:
            findings.note(f"{file}: '{key}' in `{part}` is left out: no kind has it.")

    def field_of(name: str, field: KindField) -> KindField:
        further = {
            value: _added(field.words.get(value, ()), list(words[value]))
            for value in field.of
            if value in words
        }
        more = tuple(map(str.casefold, names.get(name, ())))
        return field.but(names=_added(field.names, list(more)), words={**field.words, **further})

    return {
        key: kind.but(
            labels=_added(kind.labels, list(labels.get(key, ()))),
            fields={name: field_of(name, field) for name, field in kind.fields.items()},
        )
        for key, kind in kinds.items()
    }


def _merged(before: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Labels, sentences and fields are added to those of the shipped kind; anything else takes its place."""
    fields = {**mapping_of(before.get("fields")), **mapping_of(given.get("fields"))}
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


def mapping_of(given: Any) -> Mapping[str, Any]:
    return given if isinstance(given, Mapping) else {}
