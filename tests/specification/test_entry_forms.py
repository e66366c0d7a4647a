"""Forms for entries: they show what is recorded, and only what a person changed in them becomes a patch."""

from collections.abc import Mapping

import pytest

from bot.domain.catalog.schema import NOTE, FieldType, Kind
from bot.domain.messages.form import FieldKind, FieldValue, FormField, FormName, InputForm, Submission
from bot.domain.specification import entry_forms
from bot.domain.specification.claims import EntryState
from bot.domain.specification.entry_forms import Reading
from bot.domain.specification.fold import Patch
from bot.domain.values.places import Person
from tests.specification.meeting import Meeting, make_entry

STEP = "01-06"
REQUIREMENTS = "Requirement: Limit requests\nAC: the 601st gets a 429\nRequirement: Ask for a higher limit"


def meeting() -> Meeting:
    held = Meeting()
    held.say("ada", STEP, REQUIREMENTS)
    return held


def form_of(held: Meeting, id: str) -> InputForm:
    return entry_forms.entry_form(held.specification.entries[id], held.specification, held.schema, slug="x")


def section_of(held: Meeting, step: str = STEP) -> InputForm:
    form = entry_forms.section_form(step, held.specification, held.schema, slug="x")
    assert form
    return form


def field(form: InputForm, name: str) -> FormField:
    return next(one for one in form.fields if one.name == name)


def filled(form: InputForm, **entered: FieldValue) -> Submission:
    """What Slack sends back when a person changes *entered* and nothing else."""
    values: Mapping[str, FieldValue] = {one.name: one.initial for one in form.fields} | entered
    return Submission(
        key="view.V1",
        at="2026-01-01T10:00:00.000Z",
        person=Person(id="UGRACE", name="Grace"),
        name=form.name,
        slug=form.slug,
        subject=form.subject,
        values=values,
        revisions={one.name: one.revision for one in form.fields},
    )


def read(held: Meeting, submission: Submission) -> Reading:
    reading = {
        FormName.AMEND: entry_forms.entry_patches,
        FormName.AMEND_SECTION: entry_forms.section_patches,
        FormName.SORT: entry_forms.sorted_patches,
    }[submission.name]
    return reading(submission, held.specification, held.schema)


def pressed(held: Meeting, reading: Reading, *, step: str = STEP) -> None:
    held.press("grace", *(one.as_json() for one in reading.patches), step=step)


# --- one entry ------------------------------------------------------------------------------------------------------


def test_a_form_shows_the_fields_of_the_kind_with_their_values() -> None:
    held = meeting()
    held.say("ada", STEP, "Must: FR-001")
    form = form_of(held, "FR-001")

    assert (field(form, "title").initial, field(form, "title").kind) == ("Limit requests", FieldKind.LINE)
    assert field(form, "title").required
    assert field(form, "priority").initial == "must"
    assert [one.value for one in field(form, "depends").options] == ["FR-002"]
    assert form.fields[-1].name == entry_forms.KEEP


ENTERED: list[tuple[dict[str, FieldValue], tuple[Patch, ...], str]] = [
    # what is changed in the form, what it means, the field with a sentence
    ({}, (), ""),
    ({"title": " "}, (), "title"),
    ({"priority": ""}, (Patch(id="FR-001", set={"priority": None}),), ""),
    ({"keep": entry_forms.WITHDRAW}, (Patch(id="FR-001", state=EntryState.WITHDRAWN),), ""),
    ({"title": "x", "keep": entry_forms.WITHDRAW}, (), entry_forms.KEEP),
    ({"new_criterion": "one more\n" * 400}, (), "new_criterion"),
]


@pytest.mark.parametrize(("entered", "patches", "refused"), ENTERED)
def test_only_what_is_changed_is_a_patch(
    entered: dict[str, FieldValue], patches: tuple[Patch, ...], refused: str
) -> None:
    """What does not fit has a sentence at its field, and then nothing is recorded."""
    held = meeting()
    held.say("ada", STEP, "Must: FR-001")
    reading = read(held, filled(form_of(held, "FR-001"), **entered))

    assert (reading.patches, set(reading.errors)) == (patches, {refused} - {""})


def test_what_is_changed_is_one_patch_and_new_parts_follow() -> None:
    held = meeting()
    form = form_of(held, "FR-001")
    reading = read(
        held, filled(form, title="Limit calls", depends=("FR-002",), new_criterion="is fast\nis told")
    )

    assert reading.patches[0] == Patch(id="FR-001", set={"title": "Limit calls", "depends": ["FR-002"]})
    assert [(one.id, one.set["text"]) for one in reading.patches[1:]] == [
        ("AC-001-02", "is fast"),
        ("AC-001-03", "is told"),
    ]
    pressed(held, reading)
    assert held["FR-001.title"] == "Limit calls"
    assert held["AC-001-03.text"] == "is told"


def test_a_value_that_does_not_fit_has_a_sentence_and_nothing_is_recorded() -> None:
    held = Meeting()
    held.press("ada", make_entry("MET-001", {"text": "answers"}))
    reading = read(held, filled(form_of(held, "MET-001"), target="soon"))

    assert reading == Reading(errors={"target": "Put a number in it, such as 5 s."})


def test_saving_the_form_of_a_proposal_accepts_it() -> None:
    held = meeting()
    held.propose(make_entry("FR-003", {"title": "Tell why"}), step=STEP)
    pressed(held, read(held, filled(form_of(held, "FR-003"), priority="could")))

    assert held.specification.entries["FR-003"].state is EntryState.ACCEPTED
    assert (held["FR-003.title"], held["FR-003.priority"]) == ("Tell why", "could")


def test_a_contested_field_is_empty_and_is_settled_by_what_is_put_there() -> None:
    """Also by the value that counts already; left empty, it stays contested."""
    held = meeting()
    held.say("ada", STEP, "Must: FR-001")
    held.say("linus", STEP, "Should: FR-001")
    form = form_of(held, "FR-001")

    assert field(form, "priority").initial == ""
    assert "ada says must; linus says should" in field(form, "priority").hint
    assert read(held, filled(form)) == Reading()
    pressed(held, read(held, filled(form, priority="should")))
    assert held.specification.entries["FR-001"].contested("priority") == ()


def test_what_others_changed_meanwhile_is_not_undone_by_a_form_that_shows_the_old_value() -> None:
    held = meeting()
    form = form_of(held, "FR-001")
    held.say("linus", STEP, "FR-001: Limit all requests")

    assert read(held, filled(form, priority="must")).patches == (
        Patch(id="FR-001", set={"priority": "must"}),
    )


def test_the_conflict_form_has_theirs_in_words_and_mine_in_the_fields() -> None:
    held = meeting()
    form = form_of(held, "FR-001")
    held.say("linus", STEP, "FR-001: Limit all requests")
    mine = filled(form, title="Limit calls", priority="must")
    conflict = entry_forms.conflict_form(mine, ["FR-001.title"], held.specification, held.schema)

    assert "linus changed this while you were writing." in conflict.intro
    assert "Limit all requests" in conflict.intro
    assert {one.name: one.initial for one in conflict.fields} == {"title": "Limit calls", "priority": "must"}
    assert field(conflict, "title").revision > field(form, "title").revision
    assert read(held, filled(conflict)).patches == (
        Patch(id="FR-001", set={"title": "Limit calls", "priority": "must"}),
    )


def test_a_value_too_long_for_a_form_is_left_out_and_stays() -> None:
    held = meeting()
    held.press("ada", {"id": "FR-001", "set": {"detail": "word " * 700}})
    form = form_of(held, "FR-001")

    assert "detail" not in {one.name for one in form.fields}
    assert read(held, filled(form)) == Reading()


# --- a step ---------------------------------------------------------------------------------------------------------


def test_a_step_asks_for_the_entry_and_shows_its_notes() -> None:
    held = meeting()
    held.say("grace", STEP, "Billing wants to see this")
    form = section_of(held)

    which, note, *empty = form.fields
    assert [one.initial for one in empty] == [""] * len(empty)
    assert [one.value for one in which.options] == ["FR-001", "AC-001-01", "FR-002"]
    assert (note.name, note.initial) == ("NOTE-001", "Billing wants to see this")
    reading = read(held, filled(form, entry="FR-002", **{"NOTE-001": "Billing has to see this"}))
    assert reading.opens == "FR-002"
    assert reading.patches == (Patch(id="NOTE-001", set={"text": "Billing has to see this"}),)


def test_an_emptied_note_is_withdrawn() -> None:
    held = Meeting()
    held.say("grace", "01-01", "One thing")
    held.say("ada", "01-01", "Another thing")
    form = section_of(held, "01-01")

    assert read(held, filled(form, **{"NOTE-001": ""})).patches == (
        Patch(id="NOTE-001", state=EntryState.WITHDRAWN),
    )


def test_a_step_without_anything_has_an_empty_form_and_nothing_to_sort() -> None:
    """A field for each kind that the step collects, and one for any words."""
    held = Meeting()
    form = section_of(held)

    assert [(one.label, one.initial, one.required) for one in form.fields] == [
        ("Functional requirement: add", "", False),
        ("Exclusion: add", "", False),
        ("In your own words", "", False),
    ]
    assert entry_forms.sort_form(STEP, held.specification, held.schema, slug="x") is None


def test_what_a_step_has_once_is_asked_field_by_field() -> None:
    """Until it is there: then it is one of the entries."""
    held = Meeting()
    form = section_of(held, "00-01")
    assert {"new_estimate.scope", "new_estimate.complexity"} < {one.name for one in form.fields}

    held.say("ada", "00-01", "Scope: medium")
    form = section_of(held, "00-01")
    assert [one.name for one in form.fields] == ["entry", "new_note"]


# --- notes ----------------------------------------------------------------------------------------------------------


def test_notes_are_sorted_into_kinds_and_parts() -> None:
    """Their words stay; the entry rests on the message, and goes stale with it."""
    held = meeting()
    said = held.say("linus", STEP, "Acme just drops them")
    held.say("grace", STEP, "can billing see this?")
    held.say("grace", STEP, "lol ok then, whatever")
    form = entry_forms.sort_form(STEP, held.specification, held.schema, slug="x")
    assert form

    assert form.title == "Sort 3 notes"
    reading = read(held, filled(form, **{"NOTE-001": "FR", "NOTE-002": "AC/FR-002", "NOTE-003": "out"}))
    pressed(held, reading)
    assert held["FR-003.title"] == "Acme just drops them"
    assert held["AC-002-01.text"] == "can billing see this?"
    assert held.specification.notes_of([STEP]) == ()
    assert held.stale() == set()
    held.delete("linus", said)
    assert held.stale() == {"FR-003.title"}


def test_a_note_that_nobody_sorts_stays_one() -> None:
    held = meeting()
    held.say("linus", STEP, "Acme just drops them")
    form = entry_forms.sort_form(STEP, held.specification, held.schema, slug="x")
    assert form

    assert read(held, filled(form)) == Reading()


# --- what does not fit ----------------------------------------------------------------------------------------------


def field_of_type(held: Meeting, wanted: FieldType) -> tuple[Kind, str]:
    """A kind with a single field of the type, which is not its text."""
    return next(
        (kind, name)
        for kind in held.schema.kinds.values()
        for name, one in kind.fields.items()
        if one.type is wanted and not one.many and name != kind.text and not kind.part_of and kind.key != NOTE
    )


@pytest.mark.parametrize("wanted", [FieldType.NUMBER, FieldType.AMOUNT, FieldType.CHOICE, FieldType.REF])
def test_each_type_of_field_says_what_it_takes(wanted: FieldType) -> None:
    held = meeting()
    kind, name = field_of_type(held, wanted)
    held.press("ada", make_entry(f"{kind.prefix}-901", {kind.text: "Fast"}))
    entry = f"{kind.prefix}-901"
    reading = read(held, filled(form_of(held, entry), **{name: "?!"}))

    assert reading.patches == ()
    assert set(reading.errors) == {name}
    assert {
        FieldType.NUMBER: "a whole number",
        FieldType.AMOUNT: "Put a number in it",
        FieldType.CHOICE: "It is one of: ",
        FieldType.REF: "Give an id",
    }[wanted] in reading.errors[name]


def test_what_is_suggested_for_a_field_is_shown_below_it() -> None:
    held = meeting()
    held.press("ada", {"id": "FR-001", "set": {"priority": "should"}})
    held.propose({"id": "FR-001", "set": {"priority": "must"}}, step=STEP)

    assert (
        field(form_of(held, "FR-001"), "priority").hint
        == "must: proposed by BusinessAnalyst (persona), not accepted"
    )


def test_the_only_entry_of_a_step_can_be_chosen_and_others_added() -> None:
    held = Meeting()
    held.press("ada", make_entry("FR-001", {"title": "Print"}), step=STEP)
    form = section_of(held)
    assert [one.value for one in field(form, "entry").options] == ["FR-001"]
    assert "new_requirement" in {one.name for one in form.fields}


def test_a_note_is_not_sorted_into_what_is_no_kind() -> None:
    held = Meeting()
    held.say("ada", STEP, "It prints.")
    (note,) = held.specification.notes_of([STEP])
    form = entry_forms.sort_form(STEP, held.specification, held.schema, slug="x")
    assert form

    assert read(held, filled(form, **{note.id: "XYZ"})) == Reading()
