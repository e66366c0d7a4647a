"""
Forms for entries, and what was entered in them as patches.

A field of a form has the name of the entry's field and, as its revision, the number of the last change that the form
shows. So the value that the person saw is known from the entry's history, and only what they changed becomes
a patch.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from bot.domain.catalog.schema import (
    LIST_ITEMS,
    NOTE,
    REMARK,
    FieldType,
    Kind,
    KindField,
    Schema,
)
from bot.domain.messages import form as wording
from bot.domain.messages import specification_wording
from bot.domain.messages.attribution_wording import attribution, attribution_of, credit
from bot.domain.messages.form import (
    FieldKind,
    FieldValue,
    FormField,
    FormName,
    FormOption,
    InputForm,
    OptionGroup,
    Submission,
    choice_field,
)
from bot.domain.specification import reader
from bot.domain.specification.claims import Entry, EntryState
from bot.domain.specification.entries import CONFIRMED_BY_AUTHOR, NOT_LISTED, Specification
from bot.domain.specification.fold import Patch
from bot.domain.values.places import Person
from bot.domain.values.text import one_line, value_text
from bot.domain.values.value import Value

KEEP, WITHDRAW = "keep", "withdraw"
ENTRY = "entry"
NEW_PART = "new_"
LEAVE_OUT = "out"
MOST_OFFERED = 4
"""Buttons for one note."""
"""Of a note: it is nothing for the record."""

FORM_CHARS = 3_000
"""Slack takes no longer value. A field whose value is longer is not in the form, so that nothing is cut."""
MOST_OPTIONS = 100
MOST_NOTES = 20
LABEL_CHARS = 70
NOTE_CHARS = 300

_KINDS: Mapping[FieldType, FieldKind] = {
    FieldType.LINE: FieldKind.LINE,
    FieldType.TEXT: FieldKind.TEXT,
    FieldType.NUMBER: FieldKind.NUMBER,
    FieldType.COUNT: FieldKind.LINE,
    FieldType.AMOUNT: FieldKind.LINE,
    FieldType.CHOICE: FieldKind.CHOICE,
    FieldType.REF: FieldKind.CHOICE,
    FieldType.PATH: FieldKind.LINE,
    FieldType.CODE: FieldKind.TEXT,
    FieldType.PERSON: FieldKind.LINE,
    FieldType.DATE: FieldKind.LINE,
}
_TEXTS = frozenset({FieldType.LINE, FieldType.TEXT})
_TYPED = _TEXTS | {FieldType.CHOICE, FieldType.PATH, FieldType.CODE}
_LIST_SIGNS = " \t-*•"
_WITHDRAW = FormOption(value=WITHDRAW, label="Withdraw it", about="It stays in the record, crossed out")
_KEEP = choice_field(KEEP, "Keep it?", (FormOption(value=KEEP, label="Yes"), _WITHDRAW), initial=KEEP)
_NEVER_EMPTY = "It can't be empty. To take the entry away, choose “Withdraw it” below."
_NOT_BOTH = "Save your changes, or withdraw the entry: not both at once."


class Reading(Value):
    """`opens` is the entry whose form comes next."""

    patches: tuple[Patch, ...] = ()
    errors: Mapping[str, str] = {}
    opens: str = ""


class _Typed(NamedTuple):
    value: Any = None
    problem: str = ""


# --- one entry ------------------------------------------------------------------------------------------------------


def entry_form(entry: Entry, specification: Specification, schema: Schema, *, slug: str) -> InputForm:
    """Raises KeyError when the schema does not have the entry's kind."""
    kind = schema.kinds[entry.kind]
    fields = [_field(entry, kind, name, specification) for name in kind.fields if name != REMARK]
    parts = _added(schema, kind)
    return InputForm(
        name=FormName.AMEND,
        slug=slug,
        subject=entry.id,
        title=f"Amend {entry.id}",
        intro=_said(entry),
        fields=(*(one for one in fields if one), *parts, _KEEP),
        revision=revision_of(entry),
    )


def entry_patches(submission: Submission, specification: Specification, schema: Schema) -> Reading:
    """Only what differs from what the form had shown. Saving the form of a proposal accepts what it shows."""
    entry = specification.entries[submission.subject]
    kind = schema.kinds[entry.kind]
    if submission.text(KEEP) == WITHDRAW:
        added = (submission.text(one.name) for one in _added(schema, kind))
        if _entered(submission, entry, kind) or any(added):
            return Reading(errors={KEEP: _NOT_BOTH})
        return Reading(patches=(Patch(id=entry.id, state=EntryState.WITHDRAWN),))
    values: dict[str, Any] = {}
    errors: dict[str, str] = {}
    for name, entered in _entered(submission, entry, kind).items():
        value, problem = _typed(kind.fields[name], entered, specification)
        if problem:
            errors[name] = problem
        elif value is None and (name == kind.text or kind.fields[name].required):
            errors[name] = _NEVER_EMPTY
        else:
            values[name] = value
    parts: list[Patch] = []
    for part in _part_kinds(schema, kind):
        value, problem = _typed(
            part.fields[part.text].but(many=True), submission.text(f"{NEW_PART}{part.key}"), specification
        )
        if problem:
            errors[f"{NEW_PART}{part.key}"] = problem
        for text in value or ():
            id = specification.next_id(part, entry.id, (one.id for one in parts))
            parts.append(Patch(id=id, kind=part.key, part_of=entry.id, new=True, set={part.text: text}))
    if errors:
        return Reading(errors=errors)
    own = Patch(id=entry.id, set=values, accept=entry.state is EntryState.PROPOSED)
    return Reading(patches=(*((own,) if values or own.accept else ()), *parts))


def conflict_form(
    submission: Submission, fields: Iterable[str], specification: Specification, schema: Schema
) -> InputForm:
    """
    For *fields* (`FR-003.title`) that another person changed after the form was made: it shows their values as text,
    and the values of this person in fields that can be saved again.
    """
    entry = specification.entries[submission.subject]
    kind = schema.kinds[entry.kind]
    told: list[str] = []
    for name in (one.partition(".")[2] for one in fields):
        claim = entry.claim(name)
        if claim:
            told.append(f"**{wording.overtaken(claim.owner.name)}**")
            told.append(f"{kind.label(name)}, theirs: “{_shown_text(claim.value)}”")
    told.append("Yours is below. Saving replaces theirs; theirs stays in the record.")
    mine = _entered(submission, entry, kind)
    form = entry_form(entry, specification, schema, slug=submission.slug)
    return form.but(
        intro="\n".join(dict.fromkeys(told)),
        fields=tuple(one.but(initial=mine[one.name]) for one in form.fields if one.name in mine),
        submit="Save mine",
        close="Keep theirs",
    )


def _entered(submission: Submission, entry: Entry, kind: Kind) -> dict[str, FieldValue]:
    """The fields whose values the person changed."""
    return {
        name: entered
        for name, entered in submission.values.items()
        if name in kind.fields
        and _bare(entered) != _bare(_seen(entry, kind, name, submission.revisions.get(name)))
    }


def revision_of(entry: Entry) -> int:
    return max(map(entry.revision, entry.claims), default=0)


def _field(entry: Entry, kind: Kind, name: str, specification: Specification) -> FormField | None:
    """None for what cannot be asked in a form: a value that is too long, a reference where there is nothing yet."""
    field = kind.fields[name]
    initial = _initial(entry, kind, name)
    if len(str(initial)) > FORM_CHARS:
        return None
    options: tuple[FormOption, ...] = ()
    if field.type is FieldType.REF:
        options = _referable(specification, field.to, entry.id, initial)
    elif field.type is FieldType.CHOICE:
        options = _options_of(field)
    if field.type in {FieldType.REF, FieldType.CHOICE} and not options:
        return None
    return FormField(
        name=name,
        label=kind.label(name),
        kind=_kind_of(field),
        initial=initial,
        options=options if _kind_of(field) is not FieldKind.LIST else (),
        required=name == kind.text or field.required,
        hint=_hint(entry, name, field),
        placeholder="One line for each" if _kind_of(field) is FieldKind.LIST else "",
        revision=entry.revision(name),
    )


def _kind_of(field: KindField) -> FieldKind:
    if field.many:
        return FieldKind.REFS if field.type is FieldType.REF else FieldKind.LIST
    return _KINDS[field.type]


def _part_kinds(schema: Schema, kind: Kind) -> Iterator[Kind]:
    for part in schema.kinds.values():
        if part.part_of == kind.key and part.fields[part.text].type in _TEXTS:
            yield part


def _added(schema: Schema, kind: Kind) -> list[FormField]:
    return [_new_field(part) for part in _part_kinds(schema, kind)]


def _new_field(kind: Kind) -> FormField:
    text, name = kind.fields[kind.text], f"{NEW_PART}{kind.key}"
    if text.type is FieldType.CHOICE:
        return FormField(name=name, label=kind.name, kind=FieldKind.CHOICE, options=_options_of(text))
    return FormField(
        name=name, label=f"{kind.name}: add", kind=FieldKind.LIST, placeholder="One line for each"
    )


def _options_of(field: KindField) -> tuple[FormOption, ...]:
    return tuple(
        FormOption(value=one, label=f"{one[:1].upper()}{one[1:]}") for one in field.of[:MOST_OPTIONS]
    )


def _said(entry: Entry) -> str:
    said = f"{credit(attribution(entry.first))}." if entry.first else ""
    proposed = "It is only suggested so far: saving accepts it." if entry.state is EntryState.PROPOSED else ""
    return " ".join(filter(None, (said, proposed)))


def _hint(entry: Entry, name: str, field: KindField) -> str:
    if sides := entry.contested(name):
        told = "; ".join(f"{one.owner.name} says {_shown_text(one.value)}" for one in sides)
        return f"{told}. What you put here settles it."
    if pending := entry.pending(name):
        return f"{_shown_text(pending.value)}: {attribution(pending)}"
    return "A number and a unit, such as 5 s" if field.type is FieldType.AMOUNT else ""


def _referable(specification: Specification, to: str, but: str, chosen: FieldValue) -> tuple[FormOption, ...]:
    """What is chosen already comes first, so that it is never left out."""
    kept = (chosen,) if isinstance(chosen, str) and chosen else chosen or ()
    living = [
        one
        for one in specification.entries.values()
        if (one.kind == to or (to == "any" and one.kind not in NOT_LISTED)) and specification.lives(one.id)
    ]
    ids = dict.fromkeys((*kept, *(one.id for one in living if one.id != but)))
    return tuple(_option(specification, id) for id in list(ids)[:MOST_OPTIONS])


def _option(specification: Specification, id: str) -> FormOption:
    entry = specification.entries.get(id)
    words = next((_shown_text(claim.value) for _, claim in entry.current()), "") if entry else ""
    gone = "" if specification.lives(id) else "(withdrawn) "
    return FormOption(value=id, label=one_line(f"{id}  {gone}{words}", LABEL_CHARS))


def _initial(entry: Entry, kind: Kind, name: str) -> FieldValue:
    """As the form shows it. Where people differ it shows nothing: what is put there settles it."""
    field, value = kind.fields[name], entry[name]
    if field.many and field.type is FieldType.REF:
        return tuple(map(str, value)) if isinstance(value, list | tuple) else (str(value),) if value else ()
    if value is None or entry.contested(name):
        return ""
    return "\n".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _seen(entry: Entry, kind: Kind, name: str, revision: int | None) -> FieldValue:
    """What a form of this *revision* showed: later claims are left out."""
    told = entry.claims.get(name, ())
    claims = {**entry.claims, name: tuple(one for one in told if revision is None or one.at <= revision)}
    return _initial(entry.but(claims=claims), kind, name)


def _bare(value: FieldValue) -> FieldValue:
    return "\n".join(line.strip() for line in value.strip().splitlines()) if isinstance(value, str) else value


def _shown_text(value: Any) -> str:
    return one_line(value_text(value), NOTE_CHARS)


# --- what was typed -------------------------------------------------------------------------------------------------


def _typed(field: KindField, entered: FieldValue, specification: Specification) -> _Typed:
    """None where nothing was entered."""
    if isinstance(entered, tuple):
        unknown = next((id for id in entered if id not in specification.entries), "")
        return _Typed(problem=f"There is no {unknown}.") if unknown else _Typed(list(entered) or None)
    if not entered.strip():
        return _Typed()
    if not field.many:
        value = field.read(entered)
        return _Typed(value) if value is not None else _Typed(problem=_problem(field))
    one = field.but(many=False)
    lines = [line.strip() for line in entered.splitlines() if line.strip()]
    if len(lines) > LIST_ITEMS:
        return _Typed(problem=f"That is more than {LIST_ITEMS} lines.")
    values = [one.read(line) for line in lines]
    return _Typed(problem=_problem(field)) if None in values else _Typed(values)


def _problem(field: KindField) -> str:
    match field.type:
        case FieldType.NUMBER:
            return "That has to be a whole number, such as 3."
        case FieldType.COUNT:
            return "That has to be a whole number or a range, such as 20-25."
        case FieldType.AMOUNT:
            return "Put a number in it, such as 5 s."
        case FieldType.CHOICE:
            return f"It is one of: {', '.join(field.of)}."
        case FieldType.REF:
            return "Give an id, such as FR-001."
        case _:
            return "That is longer than I can keep in a field."


# --- a step ---------------------------------------------------------------------------------------------------------


def section_form(
    step_id: str, specification: Specification, schema: Schema, *, slug: str
) -> InputForm | None:
    """What is recorded for the step, and empty fields for more of it. None where the schema has no notes."""
    if NOTE not in schema.kinds:
        return None
    entries = _entries_of(step_id, specification, schema)
    notes = specification.notes_of([step_id])[:MOST_NOTES]
    text = schema.kinds[NOTE].text
    fields = [
        FormField(
            name=note.id,
            label=one_line(str(note["asked"] or "") or attribution_of(note, text), NOTE_CHARS),
            kind=FieldKind.TEXT,
            initial=str(note[text] or ""),
            revision=note.revision(text),
        )
        for note in notes
    ]
    if entries:
        options = tuple(_option(specification, one.id) for one in entries[:MOST_OPTIONS])
        which = FormField(
            name=ENTRY,
            label="Which entry?",
            kind=FieldKind.CHOICE,
            options=options,
            hint="Its form opens next.",
            placeholder="Choose an entry",
        )
        fields.insert(0, which)
    for one in _single_kinds(step_id, specification, schema):
        fields += _fields_of_one(one, specification)
    fields += (field for field, _ in _empty_fields(step_id, schema))
    return InputForm(
        name=FormName.AMEND_SECTION,
        slug=slug,
        subject=step_id,
        title="Edit this step" if entries or notes else "Add to this step",
        intro="Empty a note to leave it out." if notes else "",
        fields=tuple(one for one in fields if len(str(one.initial)) <= FORM_CHARS),
    )


def _empty_fields(step_id: str, schema: Schema) -> Iterator[tuple[FormField, str]]:
    """For what the step collects, each with the label that opens it in a message; the person's own words last."""
    for kind in schema.shown_in(step_id):
        label = next(kind.own_labels(), "")
        if label and not kind.one_per_step and not kind.part_of and kind.fields[kind.text].type in _TYPED:
            yield _new_field(kind), label
    words = FormField(name=f"{NEW_PART}{NOTE}", label="In your own words", kind=FieldKind.TEXT)
    yield words, ""


def _single_kinds(step_id: str, specification: Specification, schema: Schema) -> Iterator[Kind]:
    """The kinds of which the step has one entry, and has none yet."""
    for kind in schema.shown_in(step_id):
        if kind.one_per_step and all(one.step != step_id for one in specification.active(kind.key)):
            yield kind


def _fields_of_one(kind: Kind, specification: Specification) -> Iterator[FormField]:
    empty = Entry(id=kind.prefix, kind=kind.key)
    for name in kind.fields:
        field = _field(empty, kind, name, specification) if name != REMARK else None
        if field:
            yield field.but(name=f"{NEW_PART}{kind.key}.{name}", required=False)


def added_words(submission: Submission, schema: Schema) -> str:
    """What was entered in the empty fields of a step's form, as the person would write it in a message."""
    rows: list[str] = []
    for field, label in _empty_fields(submission.subject, schema):
        entered = submission.text(field.name).strip()
        lines = (line.strip(_LIST_SIGNS) for line in entered.splitlines())
        rows += [f"{label}: {line}" for line in lines if line] if label else [entered]
    return "\n".join(filter(None, rows))


def section_patches(submission: Submission, specification: Specification, schema: Schema) -> Reading:
    patches: list[Patch] = []
    kind = schema.kinds.get(NOTE)
    for id, entered in submission.values.items():
        note = specification.entries.get(id)
        if kind is None or note is None or note.kind != NOTE or not isinstance(entered, str):
            continue
        if _bare(entered) == _bare(_seen(note, kind, kind.text, submission.revisions.get(id))):
            continue
        if not entered.strip():
            patches.append(Patch(id=id, state=EntryState.WITHDRAWN))
        else:
            patches.append(Patch(id=id, set={kind.text: entered.strip()}))
    added = _single_entries(submission, specification, schema)
    chosen = submission.text(ENTRY)
    known = specification.entries.get(chosen)
    opens = chosen if known and known.kind in schema.kinds else ""
    return added.but(patches=(*patches, *added.patches), opens=opens)


def _single_entries(submission: Submission, specification: Specification, schema: Schema) -> Reading:
    """The entry of each kind of which the step had none."""
    patches: list[Patch] = []
    errors: dict[str, str] = {}
    for kind in _single_kinds(submission.subject, specification, schema):
        values: dict[str, Any] = {}
        for field in _fields_of_one(kind, specification):
            name = field.name.rpartition(".")[2]
            value, problem = _typed(kind.fields[name], submission.values.get(field.name, ""), specification)
            if problem:
                errors[field.name] = problem
            elif value is not None:
                values[name] = value
        if values:
            patches.append(Patch(id=specification.next_id(kind), kind=kind.key, new=True, set=values))
    return Reading(patches=() if errors else tuple(patches), errors=errors)


def _entries_of(step_id: str, specification: Specification, schema: Schema) -> list[Entry]:
    """Those of the step first, then what else its sections show."""
    shown = {kind.key for kind in schema.shown_in(step_id)}
    found = [
        one
        for one in specification.entries.values()
        if one.kind not in NOT_LISTED
        and one.kind in schema.kinds
        and (one.step == step_id or one.kind in shown)
        and specification.lives(one.id)
    ]
    return sorted(found, key=lambda one: one.step != step_id)


# --- notes ----------------------------------------------------------------------------------------------------------


def sort_form(step_id: str, specification: Specification, schema: Schema, *, slug: str) -> InputForm | None:
    """None when there is nothing to sort."""
    notes = specification.notes_of([step_id])[:MOST_NOTES]
    if not notes:
        return None
    groups = tuple(_what_it_is(step_id, specification, schema))
    fields = tuple(
        FormField(
            name=note.id,
            label=f"{attribution_of(note, schema.kinds[NOTE].text)}: “{_shown_text(note[schema.kinds[NOTE].text])}”",
            kind=FieldKind.CHOICE,
            groups=groups,
            placeholder="What is it?",
            revision=revision_of(note),
        )
        for note in notes
    )
    return InputForm(
        name=FormName.SORT,
        slug=slug,
        subject=step_id,
        title="Sort 1 note" if len(notes) == 1 else f"Sort {len(notes)} notes",
        intro="Words stay as they were said. What you leave empty stays a note.",
        fields=fields,
    )


def sorted_patches(submission: Submission, specification: Specification, schema: Schema) -> Reading:
    """What people chose for notes: the entry that each becomes, or that it is left out."""
    patches: list[Patch] = []
    errors: dict[str, str] = {}
    for id in submission.values:
        note, choice = specification.entries.get(id), submission.text(id)
        if not choice or note is None or note.kind != NOTE or not specification.lives(id):
            continue
        if choice == LEAVE_OUT:
            patches.append(Patch(id=id, state=EntryState.WITHDRAWN))
            continue
        prefix, _, owner = choice.partition("/")
        kind = schema.of_id(prefix)
        if kind is None:
            continue
        if why := belongs_to_another(note, kind, submission.person):
            errors[id] = why
            continue
        read = sorted_as(note, kind, specification, schema, owner=owner, made=patches)
        errors |= read.errors
        patches += read.patches
    return Reading(errors=errors) if errors else Reading(patches=tuple(patches))


def offered_kinds(note: Entry, keys: Iterable[str], schema: Schema) -> Mapping[str, str]:
    """
    What a press may make of *note*: kinds with these *keys*, by the value that the form has for them. A question mark
    puts the question first. What has parts or a choice in place of words needs the form.
    """
    asks = ["question"] if "?" in str(note[schema.kinds[NOTE].text]) else []
    kinds = (schema.kinds[key] for key in dict.fromkeys((*asks, *keys)) if key in schema.kinds)
    fitting = (one for one in kinds if one.key != NOTE and not one.part_of and not one.one_per_step)
    new = [one for one in fitting if one.fields[one.text].type in _TEXTS]
    return {**{one.prefix: one.name for one in new[:MOST_OFFERED]}, LEAVE_OUT: "Leave it out"}


def sorted_as(
    note: Entry,
    kind: Kind,
    specification: Specification,
    schema: Schema,
    *,
    owner: str = "",
    made: Iterable[Patch] = (),
) -> Reading:
    """
    *note* is superseded by entries of *kind* with its words and author, which rest on the message it came from: one
    for each line. A line above a list stays a note.
    """
    claim = note.claim(schema.kinds[NOTE].text)
    lines, rest = reader.filed(str(claim.value) if claim else "", kind)
    field, patches = kind.fields[kind.text], list[Patch]()
    taken = [one.id for one in made]
    for line in lines:
        value, problem = _typed(field.but(many=False), line, specification)
        if claim is None or value is None:
            return Reading(errors={note.id: problem or _NEVER_EMPTY})
        id = specification.next_id(kind, owner, taken)
        taken.append(id)
        main = {kind.text: [value] if field.many else value}
        patches.append(
            Patch(
                id=id, kind=kind.key, part_of=owner, new=True, set=main, sources=(claim.line,), note=note.id
            )
        )
    if not patches:
        return Reading(errors={note.id: _NEVER_EMPTY})
    ids = tuple(patch.id for patch in patches)
    if rest and claim:
        about = {name: note[name] for name in ("question", "asked") if note[name]}
        id = specification.next_id(schema.kinds[NOTE], taken=taken)
        kept = {schema.kinds[NOTE].text: rest, **about}
        patches.append(Patch(id=id, kind=NOTE, new=True, set=kept, sources=(claim.line,), note=note.id))
    return Reading(patches=(*patches, Patch(id=note.id, state=EntryState.SUPERSEDED, replaced_by=ids)))


def belongs_to_another(note: Entry, kind: Kind, person: Person) -> str:
    """Why *person* cannot file *note*: nobody decides or objects in another person's words. Empty if they can."""
    claim = note.claim("text")
    if kind.key not in CONFIRMED_BY_AUTHOR or claim is None or claim.owner.by == person.id:
        return ""
    return specification_wording.not_your_words(claim.owner.name, kind.key)


def _what_it_is(step_id: str, specification: Specification, schema: Schema) -> Iterator[OptionGroup]:
    kinds = (*schema.shown_in(step_id), *(one for one in schema.kinds.values() if one.anywhere))
    new = [
        FormOption(value=kind.prefix, label=one_line(kind.name, LABEL_CHARS))
        for kind in {one.key: one for one in kinds}.values()
        if kind.key != NOTE and not kind.part_of and kind.fields[kind.text].type in _TEXTS
    ]
    if new:
        yield OptionGroup(label="It is a new", options=tuple(new[:MOST_OPTIONS]))
    for part in schema.kinds.values():
        owners = specification.active(part.part_of) if part.part_of else ()
        if owners and schema.kinds[part.part_of] in kinds and part.fields[part.text].type in _TEXTS:
            options = [
                _option(specification, one.id).but(value=f"{part.prefix}/{one.id}")
                for one in owners[:MOST_OPTIONS]
            ]
            yield OptionGroup(
                label=one_line(f"It is a part ({part.name}) of", LABEL_CHARS), options=tuple(options)
            )
    yield OptionGroup(label="Or", options=(FormOption(value=LEAVE_OUT, label="Nothing for the record"),))
