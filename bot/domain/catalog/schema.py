"""
What an analysis is made of: the kinds of its entries, and the views that show them in files.

Both are data (`analysis-steps/entries.yaml`, and a team's own file on top of it), read by
`bot/content/entries.py`.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Any, Self

from pydantic import Field, field_validator, model_validator

from bot.domain.catalog.operators import Operators
from bot.domain.catalog.steps import Ask, Step
from bot.domain.values.value import Value

ID = r"[A-Z]{1,4}[-–‑]\d{1,4}(?:[-–‑]\d{1,3})?"
"""An id as people write it: phones put a typographic dash for the hyphen, and zeros are often left out."""
CANONICAL_ID = re.compile(r"[A-Z]{1,4}-\d{3,4}(?:-\d{2,3})?")
VALUE_CHARS = 4_000
"""The longest value of a field; longer texts stay notes."""
LIST_ITEMS = 100
PLAN_PAGE = "planning/plan.md"
"""A projection of the whole plan; no section of it is written by itself."""
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

PLANNED = ("work", "approval")
"""Kinds that a plan is made of, besides those that its roles ask for."""

_IDS = re.compile(rf"(?<![\w-]){ID}(?![\w-])")
_DASHES = re.compile("[–‑]")
_WHOLE = re.compile(r"[0-9]{1,6}")
_RANGE = re.compile(r"[0-9]{1,6}[ ]?[-–][ ]?[0-9]{1,6}")
_BLANK = " \t.*_`"


def ids_in(text: str) -> tuple[str, ...]:
    """The ids in *text*, each once, written in full: `FR-1` is FR-001, `AC-1-2` is AC-001-02."""
    return tuple(dict.fromkeys(canonical(found) for found in _IDS.findall(text)))


def canonical(written: str) -> str:
    prefix, first, *part = _DASHES.sub("-", written).split("-")
    return "-".join((prefix, first.zfill(3), *(one.zfill(2) for one in part)))


def folded(text: str) -> str:
    """For comparing words: case, hyphens and the width of spaces do not count."""
    return " ".join(text.replace("-", " ").split()).casefold()


def only_ids(text: str) -> tuple[str, ...]:
    """The ids of a list such as `FR-001, FR-2 and FR-3`; nothing when other words are in it."""
    rest = _IDS.sub("", text).replace("and", "").replace("und", "").strip(" ,;.&")
    return () if rest else ids_in(text)


class FieldType(StrEnum):
    LINE = "line"
    TEXT = "text"
    NUMBER = "number"
    """A whole number."""
    COUNT = "count"
    """A whole number, or a range of them as it was said: `20-25`."""
    AMOUNT = "amount"
    """Verbatim, with a number in it: `5 s p95`."""
    CHOICE = "choice"
    REF = "ref"
    PATH = "path"
    CODE = "code"
    PERSON = "person"
    DATE = "date"
    """Verbatim: `Friday` is as good as a calendar date."""


EXCLUSIVE = frozenset({FieldType.CHOICE, FieldType.NUMBER, FieldType.COUNT, FieldType.AMOUNT})
"""Two values of these contradict each other; two wordings of a text do not."""


class KindField(Value):
    """
    A field of a kind. `of` are the values of a choice and `words` further words for them (in other languages); `names`
    is what people call the field besides its label; `to` is the kind that a reference names, or `any`. A model never
    fills in what is `by_people`.
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
    names: tuple[str, ...] = ()

    def read(self, text: str) -> Any:
        """The value that *text* is, or None. Nothing is changed to make it fit."""
        text = text.strip()
        if not text or len(text) > VALUE_CHARS:
            return None
        match self.type:
            case FieldType.CHOICE:
                return self._chosen(text)
            case FieldType.NUMBER:
                return int(text) if _WHOLE.fullmatch(text) else None
            case FieldType.COUNT:
                return int(text) if _WHOLE.fullmatch(text) else text if _RANGE.fullmatch(text) else None
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
        if self.type is FieldType.COUNT:
            is_count = isinstance(value, (int, str)) and not isinstance(value, bool)
            return is_count and self.read(str(value)) == value
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
    plural: str = ""
    """Of the name, where an s is not all that it takes."""
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
        return next((field for field, one in self.fields.items() if name in one.names), "")

    @property
    def is_asked(self) -> bool:
        """Whether its entries are questions."""
        return self.key == "question"

    def heard_as(self) -> Iterator[str]:
        """The labels that open an entry of the kind in a message."""
        yield from self.own_labels()
        yield from self.built_in_labels()

    def built_in_labels(self) -> Iterator[str]:
        for label in BUILT_IN_LABELS.get(self.key, ()):
            yield from (label, f"{label}s")

    def further_labels(self) -> Iterator[str]:
        """What the kind is called, and plurals."""
        for label in (*self.own_labels(), self.key.replace("_", " "), self.name, self.prefix):
            yield from (label, f"{label}s")
        yield self.plural or self.name

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

    @property
    def key(self) -> str:
        """Of a JSON file or a CSV file: what the id is called there."""
        return next((name for name, field in self.fields.items() if field == "id"), "id")


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
    card: str = ""
    """The step under whose id the card of the phase asks, whatever depth it is asked at; empty without a card."""
    is_on_card: bool = False
    """Whether the card is asked: then its step collects for the section, too."""
    is_for_card: bool = False
    """Whether what is said in the card's step belongs `here`: no section of that step has the kinds `here` itself."""
    heading: str = ""
    """The whole heading as the step files write it: `6. Functional Requirements`."""

    @property
    def key(self) -> str:
        return f"{self.file}#{self.section}"

    @property
    def collecting(self) -> tuple[str, ...]:
        """The steps in which people are asked for the section."""
        return (*self.steps, self.card) if self.is_on_card else self.steps

    @property
    def kinds_here(self) -> frozenset[str]:
        return frozenset(one.kind for one in self.show if one.here)

    def has_said(self, step_id: str) -> bool:
        """Whether what is said in the step belongs `here`. The files are the same at every depth."""
        return step_id in self.steps or (self.is_for_card and step_id == self.card)

    @property
    def is_data(self) -> bool:
        return any(one.form in DATA for one in self.show)

    @property
    def is_page(self) -> bool:
        """Whether the file is one of text, in which sections have a meaning."""
        is_text = self.file != PLAN_PAGE and self.file.lower().endswith((".md", ".markdown", ".txt"))
        return is_text and not self.is_data


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
    withdrawn: tuple[str, ...] = ()
    """What takes an entry back: `DEC-003: withdrawn`."""
    everyday: tuple[str, ...] = ()
    """Labels that count inside a sentence only in a step that shows their kind."""
    before_label: tuple[str, ...] = ()
    """Words before a label that change nothing."""
    negations: tuple[str, ...] = ()
    """In a sentence with one of them, no choice is taken."""
    small: tuple[str, ...] = ()
    """Words and phrases without content: a message of them alone is in no file."""
    positions: tuple[str, ...] = ()
    """What says that its speaker is for `{x}`: the letter, or the whole name, of an option. In lower case."""
    conditions: tuple[str, ...] = ()
    """The words with which a condition of a position begins."""
    reasons: tuple[str, ...] = ()
    """The words with which its reason begins."""
    myself: tuple[str, ...] = ()
    """Where a person is named: who says it. In lower case."""

    operators: Operators = Operators()
    """What turns a sentence around (`operators.yaml`)."""

    help: Mapping[str, tuple[str, ...]] = {}
    """By topic: words of which one in a question to the bot is enough for the answer about it."""

    def topic_of(self, question: str) -> str:
        """Empty where no topic has a word of *question*, in lower case and without punctuation."""
        words = f" {question} "
        return next(
            (
                topic
                for topic, known in self.help.items()
                # Behind U+3000, no spaces stand between words.
                if any(f" {one} " in words or (one > "\u3000" and one in words) for one in known)
            ),
            "",
        )

    def small_words(self) -> frozenset[str]:
        return frozenset(map(str.casefold, self.small))

    @cached_property
    def openers(self) -> Mapping[str, tuple[Kind, ...]]:
        """By label, folded: the kinds that it opens. Those that name it come before those that are called so."""
        found: dict[str, dict[str, Kind]] = {}
        kinds = [kind for kind in self.kinds.values() if next(kind.heard_as(), "")]
        tiers = (Kind.own_labels, Kind.built_in_labels, Kind.further_labels)
        for tier in tiers:
            for kind in kinds:
                for label in tier(kind):
                    found.setdefault(folded(label), {}).setdefault(kind.key, kind)
        return {label: tuple(opened.values()) for label, opened in found.items()}

    @cached_property
    def fingerprint(self) -> str:
        """What files are made with: another one may make others of the same entries."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:16]

    def of_id(self, id: str) -> Kind | None:
        prefix = id.partition("-")[0]
        return next((one for one in self.kinds.values() if one.prefix == prefix), None)

    def ask(self, words: str) -> Ask | None:
        """`list risk`, `problem` or `estimate.scope`; None when it names no kind, or no field of it."""
        *before, name = words.split() or [""]
        kind, _, field = name.partition(".")
        is_known = kind in self.kinds and (not field or field in self.kinds[kind].fields)
        is_read = is_known and before in ([], ["list"])
        return Ask(kind=kind, field=field, is_list=bool(before)) if is_read else None

    def of_step(self, step_id: str) -> tuple[SectionView, ...]:
        return tuple(view for view in self.views if step_id in view.collecting)

    def is_prose(self, step_id: str) -> bool:
        """Whether what people say without a form is the content of the step."""
        return any(view.prose and view.is_page for view in self.of_step(step_id))

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
                    [] if (file.casefold(), "") in views else [(one, _title(one)) for one in step.owned(file)]
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

    def with_cards(self, phases: Iterable[Sequence[str]]) -> "Schema":
        """With the card of each view. *phases* are the steps for which a card stands; it has the id of the first."""
        card_of = {step: steps[0] for steps in phases for step in steps}

        def with_card(view: SectionView) -> SectionView:
            card = next((card_of[step] for step in view.steps if step in card_of), "")
            if not card or card in view.steps:
                return view
            own = {kind for other in self.of_step(card) for kind in other.kinds_here}
            return view.but(card=card, is_for_card=own.isdisjoint(view.kinds_here))

        return self.but(views=tuple(map(with_card, self.views)))

    def planned_in(self, step_id: str) -> "Schema":
        """With the view of the plan, which asks for what each role needs, wherever that is recorded."""
        needs = tuple(need for view in self.views if view.steps for need in view.needs if need.lane)
        asked = (key for need in needs for key in (need.of, need.every) if key)
        kinds = (key for key in dict.fromkeys((*PLANNED, *asked)) if key in self.kinds)
        shows = (Show(kind=key, form=ViewForm.BULLETS, fields=self._planned(key)) for key in kinds)
        view = SectionView(
            file=PLAN_PAGE,
            section=step_id,
            heading="Plan",
            items="work" if "work" in self.kinds else "",
            show=tuple(shows),
            needs=needs,
            steps=(step_id,),
        )
        return self.but(views=(*self.views, view))

    def _planned(self, key: str) -> Mapping[str, str]:
        """The fields of what the plan is made of; of other kinds, only the parts."""
        own = (name for name in self.kinds[key].fields if key in PLANNED and name != REMARK)
        parts = (kind.key for kind in self.kinds.values() if kind.part_of == key)
        return {name: name for name in (*own, *parts)}


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
