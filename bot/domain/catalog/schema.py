"""
What an analysis is made of: the kinds of its entries, and the views that show them in files.

Both are data (`analysis-steps/entries.yaml`, and a team's own file on top of it), read by
`bot/content/entries.py`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any, Self

from pydantic import Field, field_validator, model_validator

from bot.domain.catalog.steps import Step
from bot.domain.values.value import Value

ID = r"[A-Z]{1,4}[-–‑]\d{1,4}(?:[-–‑]\d{1,3})?"
"""An id as people write it: phones put a typographic dash for the hyphen, and zeros are often left out."""
CANONICAL_ID = re.compile(r"[A-Z]{1,4}-\d{3,4}(?:-\d{2,3})?")
VALUE_CHARS = 4_000
"""The longest value of a field; longer texts stay notes."""
LIST_ITEMS = 100
NOTE = "note"
REMARK = "remark"
"""Every kind has this field: what people wrote by hand below an entry, as it stands."""

BUILT_IN_LABELS: Mapping[str, tuple[str, ...]] = {
    "decision": (
        *("decision", "decided", "i decide", "i decided", "we decide", "we decided", "agreed", "resolution"),
        *("entscheidung", "beschluss", "décision", "decisión", "決定"),
    ),
    "objection": ("objection", "i object", "einspruch", "einwand", "objeción", "異議"),
}
"""
By kind: what opens it in every step and discussion, in every folder of steps, also with an "s" behind it. A label that
a folder gives to another kind opens that one.
"""

_IDS = re.compile(rf"(?<![\w-]){ID}(?![\w-])")
_DASHES = re.compile("[–‑]")
_BLANK = " \t.*_`"


def ids_in(text: str) -> tuple[str, ...]:
    """The ids in *text*, each once, written in full: `FR-1` is FR-001, `AC-1-2` is AC-001-02."""
    return tuple(dict.fromkeys(canonical(found) for found in _IDS.findall(text)))


def canonical(written: str) -> str:
    prefix, first, *part = _DASHES.sub("-", written).split("-")
    return "-".join((prefix, first.zfill(3), *(one.zfill(2) for one in part)))


def only_ids(text: str) -> tuple[str, ...]:
    """The ids of a list such as `FR-001, FR-2 and FR-3`; nothing when other words are in it."""
    rest = _IDS.sub("", text).replace("and", "").replace("und", "").strip(" ,;.&")
    return () if rest else ids_in(text)


class FieldType(StrEnum):
    LINE = "line"
    TEXT = "text"
    NUMBER = "number"
    """A whole number."""
    AMOUNT = "amount"
    """Verbatim, with a number in it: `5 s p95`."""
    CHOICE = "choice"
    REF = "ref"
    PATH = "path"
    CODE = "code"
    PERSON = "person"
    DATE = "date"
    """Verbatim: `Friday` is as good as a calendar date."""


EXCLUSIVE = frozenset({FieldType.CHOICE, FieldType.NUMBER, FieldType.AMOUNT})
"""Two values of these contradict each other; two wordings of a text do not."""


class KindField(Value):
    """
    A field of a kind. `of` are the values of a choice and `words` further words for them (in other languages);
    `to` is the kind that a reference names, or `any`. A model never fills in what is `by_people`.
    """

    type: FieldType
    of: tuple[str, ...] = ()
    words: Mapping[str, tuple[str, ...]] = {}
    to: str = ""
    many: bool = False
    required: bool = False
    acyclic: bool = False
    by_people: bool = False
    label: str = ""

    def read(self, text: str) -> Any:
        """The value that *text* is, or None. Nothing is changed to make it fit."""
        text = text.strip()
        if not text or len(text) > VALUE_CHARS:
            return None
        match self.type:
            case FieldType.CHOICE:
                return self._chosen(text)
            case FieldType.NUMBER:
                return int(text) if re.fullmatch(r"[0-9]{1,6}", text) else None
            case FieldType.AMOUNT:
                return text if re.search(r"\d", text) else None
            case FieldType.REF:
                ids = only_ids(text)
                return (list(ids) if self.many else ids[0] if len(ids) == 1 else None) if ids else None
            case FieldType.PATH | FieldType.CODE:
                bare = text.strip("`").strip()
                return self._listed(bare) if self.many else bare or None
            case FieldType.LINE | FieldType.TEXT | FieldType.PERSON | FieldType.DATE:
                return self._listed(text) if self.many else text

    def accepts(self, value: Any) -> bool:
        """Whether *value* (of a patch that a model or a form made) has the field's shape."""
        if self.many:
            one = self.but(many=False)
            return isinstance(value, list) and len(value) <= LIST_ITEMS and all(map(one.accepts, value))
        if self.type is FieldType.NUMBER:
            return isinstance(value, int) and not isinstance(value, bool)
        return isinstance(value, str) and self.read(value) == value

    def _chosen(self, text: str) -> str | None:
        said = text.strip(_BLANK).casefold()
        for value in self.of:
            if said in {value.casefold(), *(word.casefold() for word in self.words.get(value, ()))}:
                return value
        return None

    def _listed(self, text: str) -> list[str] | None:
        return [one.strip() for one in text.split(";") if one.strip()][:LIST_ITEMS] or None


class Kind(Value):
    """
    A kind of entries. `text` is the field that takes what stands behind a label, `arrow` the one behind `->`;
    `by_value` is a choice whose values may list ids (`Must: FR-001, FR-002`); `by_label` maps a value of the
    field `into` to labels that mean it; `sentences` are forms of a whole line with fields in braces.
    """

    key: str
    prefix: str = Field(pattern=r"^[A-Z]{1,4}$")
    name: str = Field(min_length=1)
    text: str
    fields: Mapping[str, KindField]
    labels: tuple[str, ...] = ()
    anywhere: bool = False
    arrow: str = ""
    by_value: str = ""
    sentences: tuple[str, ...] = ()
    part_of: str = ""
    by_label: Mapping[str, tuple[str, ...]] = {}
    into: str = ""
    split: str = ""
    one_per_step: bool = False

    @field_validator("fields", mode="before")
    @classmethod
    def _short_forms(cls, given: Any) -> Any:
        """`reason: text` is short for `reason: {type: text}`."""
        if not isinstance(given, Mapping):
            return given
        long = {name: {"type": one} if isinstance(one, str) else one for name, one in given.items()}
        return {**long, REMARK: {"type": FieldType.TEXT}}

    @model_validator(mode="after")
    def _names_its_fields(self) -> Self:
        for role in ("text", "arrow", "by_value", "into"):
            if (name := getattr(self, role)) and name not in self.fields:
                raise ValueError(f"{role} names the field '{name}', which it does not have")
        for sentence in self.sentences:
            for name in re.findall(r"{(\w+)}", sentence):
                if name not in self.fields:
                    raise ValueError(
                        f"the sentence '{sentence}' names the field '{name}', which it does not have"
                    )
        for name in (self.by_value, self.into):
            if name and self.fields[name].type is not FieldType.CHOICE:
                raise ValueError(f"'{name}' has to be a choice")
        return self

    def label(self, field: str) -> str:
        """What people read in front of the field's value."""
        found = self.fields[field].label if field in self.fields else ""
        return found or field.replace("_", " ").capitalize()

    def field_named(self, name: str) -> str:
        """The field that people call *name*, or nothing."""
        name = " ".join(name.replace("_", " ").split()).casefold()
        if name in {self.name.casefold(), self.key}:
            return self.text
        for field in self.fields:
            if name in {field.replace("_", " "), self.label(field).casefold()}:
                return field
        return ""

    def heard_as(self) -> Iterator[str]:
        """The labels that open an entry of the kind in a message."""
        yield from self.own_labels()
        yield from self.built_in_labels()

    def built_in_labels(self) -> Iterator[str]:
        for label in BUILT_IN_LABELS.get(self.key, ()):
            yield from (label, f"{label}s")

    def own_labels(self) -> Iterator[str]:
        """Those that its folder of steps gives it."""
        yield from self.labels
        for labels in self.by_label.values():
            yield from labels


class ViewForm(StrEnum):
    """How a view shows entries."""

    FACTS = "facts"
    BULLETS = "bullets"
    NUMBERED = "numbered"
    HEADINGS = "headings"
    TABLE = "table"
    COUNTS = "counts"
    CODE = "code"
    DIAGRAM = "diagram"
    JSON = "json"
    CSV = "csv"


DATA = frozenset({ViewForm.JSON, ViewForm.CSV})


class Show(Value):
    """
    One part of a view. `fields` may rename: JSON keys and CSV columns to what they show. `here`: only entries
    first recorded in the steps that own the section.
    """

    kind: str = ""
    kinds: tuple[str, ...] = ()
    form: ViewForm
    here: bool = False
    style: str = ""
    fields: Mapping[str, str] = {}
    where: Mapping[str, tuple[str, ...]] = {}
    order: str = ""
    group: str = ""
    id_column: str = ""

    @model_validator(mode="before")
    @classmethod
    def _short_forms(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        given = dict(given)
        if "as" in given:
            given["form"] = given.pop("as")
        if given.get("from") == "here":
            given["here"] = bool(given.pop("from"))
        if isinstance(fields := given.get("fields"), list):
            given["fields"] = {one: one for one in fields}
        given["where"] = _where(given.get("where"))
        return given


class Need(Value):
    """
    What is looked for in a section: one of `at_least`, `every` (has, or named_by), `not_all`. It never blocks a
    step.
    """

    ask: str
    lane: str = ""
    at_least: int = 0
    of: str = ""
    every: str = ""
    has: str = ""
    named_by: str = ""
    not_all: str = ""
    are: Mapping[str, str] = {}

    @model_validator(mode="after")
    def _is_one_of_three(self) -> Self:
        whole = (
            bool(self.at_least and self.of),
            bool(self.every and (self.has or self.named_by)),
            bool(self.not_all and self.are),
        )
        if sum(whole) != 1:
            raise ValueError(
                "a need is one of: at_least and of; every and has (or named_by); not_all and are"
            )
        return self


class SectionView(Value):
    """
    A section of a file, by its heading without the number, and the entries that it shows; without a section the
    view is the whole file. `items` is the kind that a bullet is proposed as. In `prose`, what people said
    without a form is the text itself.
    """

    file: str
    section: str = ""
    items: str = ""
    prose: bool = False
    always: bool = False
    """Written as soon as there is an entry, whichever step is led."""
    show: tuple[Show, ...] = ()
    needs: tuple[Need, ...] = ()
    steps: tuple[str, ...] = ()
    """The steps whose Artifacts name the section; filled in by `Schema.bound`."""
    heading: str = ""
    """The whole heading as the step files write it: `6. Functional Requirements`."""

    @property
    def key(self) -> str:
        return f"{self.file}#{self.section}"

    @property
    def is_data(self) -> bool:
        return any(one.form in DATA for one in self.show)

    @property
    def is_page(self) -> bool:
        """Whether the file is one of text, in which sections have a meaning."""
        return not self.is_data and self.file.lower().endswith((".md", ".markdown", ".txt"))


class PlanRule(Value):
    """How a list of planning.ai.json is made of entries."""

    kind: str = ""
    otherwise: str = ""
    kinds: Mapping[str, str] = {}
    where: Mapping[str, tuple[str, ...]] = {}
    each: str = ""
    fields: Mapping[str, str | tuple[str, ...]] = {}
    map: Mapping[str, Mapping[str, str]] = {}

    @model_validator(mode="before")
    @classmethod
    def _short_forms(cls, given: Any) -> Any:
        """`or: KIND` is what is listed when there is no entry of the first kind."""
        if not isinstance(given, Mapping):
            return given
        long = {"otherwise" if name == "or" else name: value for name, value in given.items()}
        return {**long, "where": _where(long.get("where"))}


class Schema(Value):
    """All kinds by key, the views in the order of the files, and the mapping of the plan."""

    kinds: Mapping[str, Kind] = {}
    views: tuple[SectionView, ...] = ()
    plan: Mapping[str, PlanRule] = {}
    vague: tuple[str, ...] = ()
    """Words that leave open how much or when."""
    withdrawn: tuple[str, ...] = ()
    """What takes an entry back: `DEC-003: withdrawn`."""

    def of_id(self, id: str) -> Kind | None:
        prefix = id.partition("-")[0]
        return next((one for one in self.kinds.values() if one.prefix == prefix), None)

    def of_step(self, step_id: str) -> tuple[SectionView, ...]:
        return tuple(view for view in self.views if step_id in view.steps)

    def shown_in(self, step_id: str) -> tuple[Kind, ...]:
        """The kinds that the sections of a step show: what is collected there."""
        keys = (key for view in self.of_step(step_id) for key in self.kinds_in(view))
        return tuple(self.kinds[key] for key in dict.fromkeys(keys))

    def kinds_in(self, view: SectionView) -> Iterator[str]:
        """The kinds that the view lists, and those that it shows as parts: a field may be called as a kind is."""
        for one in view.show:
            if kind := self.kinds.get(one.kind):
                yield kind.key
                yield from (name for name in one.fields if name in self.kinds and name not in kind.fields)

    def items_in(self, step_id: str) -> Kind | None:
        """What a bullet is proposed as while the step is open."""
        return next(
            (self.kinds[view.items] for view in self.of_step(step_id) if view.items in self.kinds), None
        )

    def bound(self, steps: Iterable[Step]) -> "Schema":
        """
        With each view bound to the steps whose Artifacts name its section; a section that no view is for gets
        one of prose, so that what is said there has a place.
        """
        views = {(view.file.casefold(), view.section.casefold()): view for view in self.views}
        for step in steps:
            for file in step.outputs:
                named = (
                    []
                    if (file.casefold(), "") in views
                    else [(one.heading, _title(one.heading)) for one in step.owned(file)]
                )
                for heading, section in named or [("", "")]:
                    key = file.casefold(), section.casefold()
                    other = views.get(key)
                    if other is None or other.heading.casefold() not in {"", heading.casefold()}:
                        # "2. Topic" is not "1. Topic", also when the step of that one is gone.
                        key = file.casefold(), heading.casefold()
                    view = views.get(key) or SectionView(file=file, section=heading, prose=True)
                    views[key] = view.but(
                        heading=view.heading or heading,
                        steps=tuple(dict.fromkeys((*view.steps, step.step_id))),
                    )
        return self.but(views=tuple(views.values()))


def problems(schema: Schema) -> tuple[str, ...]:
    """What does not fit together, one sentence each."""
    return (*_wrong_kinds(schema), *_wrong_views(schema))


def _wrong_kinds(schema: Schema) -> Iterator[str]:
    prefixes: dict[str, str] = {}
    labels: dict[str, str] = {}
    for key, kind in schema.kinds.items():
        if (other := prefixes.setdefault(kind.prefix, key)) != key:
            yield f"The kinds '{other}' and '{key}' have the same prefix, {kind.prefix}."
        if kind.part_of and kind.part_of not in schema.kinds:
            yield f"The kind '{key}' is part of '{kind.part_of}', which is no kind."
        for name, field in kind.fields.items():
            if field.type is FieldType.REF and field.to != "any" and field.to not in schema.kinds:
                yield f"The field '{name}' of the kind '{key}' refers to '{field.to}', which is no kind."
            if field.type is FieldType.CHOICE and not field.of:
                yield f"The field '{name}' of the kind '{key}' is a choice of nothing: it needs `of`."
        for label in kind.own_labels() if kind.anywhere else ():
            if (other := labels.setdefault(label.casefold(), key)) != key:
                yield f"The label '{label}' opens '{other}' and '{key}', both in every step."


def _wrong_views(schema: Schema) -> Iterator[str]:
    for view in schema.views:
        if view.items and view.items not in schema.kinds:
            yield f"The view {view.key} proposes bullets as '{view.items}', which is no kind."
        for show in view.show:
            for key in (*((show.kind,) if show.kind else ()), *show.kinds):
                if key not in schema.kinds:
                    yield f"The view {view.key} shows '{key}', which is no kind."
            if not show.kind and not show.kinds:
                yield f"The view {view.key} does not say which kind it shows."
            kind = schema.kinds.get(show.kind)
            if kind is None:
                continue
            for name in (*show.fields.values(), *show.where, *filter(None, (show.order, show.group))):
                if not is_shown(schema, kind, name):
                    yield f"The view {view.key} shows '{name}' of '{kind.key}', which has no such field."
        for need in view.needs:
            for key in filter(None, (need.of, need.every, need.not_all, need.named_by.partition(".")[0])):
                if key not in schema.kinds:
                    yield f"The view {view.key} needs '{key}', which is no kind."


def is_shown(schema: Schema, kind: Kind, name: str) -> bool:
    """
    Whether *name* means something for the kind: a field, `id`, `by`, `owner`, a part, `#part`, or a path
    through references.
    """
    head, _, rest = name.partition(".")
    if rest:
        return head in schema.kinds or (head in kind.fields and kind.fields[head].type is FieldType.REF)
    return name in {"id", "by", "owner"} or name in kind.fields or name.removeprefix("#") in schema.kinds


def _where(given: Any) -> Any:
    if not isinstance(given, Mapping):
        return {} if given is None else given
    return {field: [one] if isinstance(one, str) else one for field, one in given.items()}


def _title(heading: str) -> str:
    """A heading without its number: `6. Functional Requirements` is Functional Requirements."""
    return re.sub(r"^\d{1,3}(?:\.\d{1,3})*\.\s+", "", heading)
