"""Kinds and views are data: checked when they are read, extended by a team's own file."""

from pathlib import Path

import pytest

from bot.content.entries import read_schema
from bot.content.files import Findings
from bot.domain.catalog.schema import FieldType, KindField, Schema, canonical, ids_in, problems
from bot.domain.catalog.steps import Depth, Step, StepHeading
from tests.specification.meeting import PLAYBOOK, SCHEMA, Meeting


def read(folder: Path, text: str) -> tuple[Schema, list[str]]:
    (folder / "entries.yaml").write_text(text, encoding="utf-8")
    findings = Findings()
    schema = read_schema(folder, findings).bound(PLAYBOOK.agenda.steps)
    return schema.planned_in(PLAYBOOK.agenda.plan.step_id), findings.notes


def test_the_shipped_kinds_and_views_fit_together() -> None:
    assert problems(SCHEMA) == ()
    assert (len(SCHEMA.kinds), len(SCHEMA.views)) == (40, 40)


def test_every_section_of_every_shipped_step_has_a_view() -> None:
    assert all(view.show and (view.steps or view.always) for view in SCHEMA.views)


def test_a_section_that_no_view_is_for_keeps_what_is_said_there() -> None:
    step = Step(
        step_id="05-01",
        title="Rollout",
        persona="business-analyst",
        depth=Depth.STANDARD,
        outputs=("rollout.md",),
        sections={StepHeading.ARTIFACTS: '- Create `rollout.md`:\n  - Section: "1. Phases"\n'},
    )
    meeting = Meeting(SCHEMA.bound([step]))
    meeting.say("Ada", "05-01", "First the depot, then the line.")

    assert meeting.section("1. Phases") == "- Ada: First the depot, then the line."


def test_a_team_adds_kinds_labels_and_choices_in_its_language(tmp_path: Path) -> None:
    schema, notes = read(
        tmp_path,
        """
kinds:
  requirement:
    labels: [exigence]
    fields:
      priority: {type: choice, of: [must, should, could], words: {must: [muss]}}
  regulation:
    prefix: REG
    name: Regulation
    anywhere: true
    labels: [regulation, vorschrift]
    text: text
    fields: {text: {type: text, required: true}, paragraph: line}
views:
  - {file: requirements-spec.md, section: Out of Scope, show: [{kind: regulation, as: bullets, fields: [paragraph]}]}
""",
    )
    meeting = Meeting(schema)
    meeting.say("Ada", "01-06", "exigence: Trier\nrequirement: Sort\nVorschrift: DSGVO; paragraph: 17")
    meeting.say("Ada", "01-08", "Muss: FR-001")

    assert notes == []
    assert (meeting["FR-001.priority"], meeting["REG-001.paragraph"]) == ("must", "17")
    assert meeting.section("Out of Scope") == "- **REG-001** DSGVO — Ada\n  - Paragraph: 17"


def folder_without_labels() -> Schema:
    """Of a team whose entries.yaml names other labels, and opens a kind of its own with one of the built-in words."""
    decision = SCHEMA.kinds["decision"].but(labels=("beschlossen",), anywhere=False)
    objection = SCHEMA.kinds["objection"].but(labels=())
    risk = SCHEMA.kinds["risk"].but(labels=("resolution",), anywhere=True)
    return SCHEMA.but(kinds={**SCHEMA.kinds, "decision": decision, "objection": objection, "risk": risk})


@pytest.mark.parametrize(
    ("text", "id"),
    [
        ("異議: 返金の処理が決まっていない", "OBJ-001"),
        ("Einspruch: der Drucker ist laut", "OBJ-001"),
        ("Objections: too slow", "OBJ-001"),
        ("決定：紙で", "DEC-001"),
        ("We decided: on paper", "DEC-001"),
        ("beschlossen: Papier", "DEC-001"),
        ("resolution: a second printer", "RSK-001"),
    ],
)
def test_built_in_labels_open_decisions_and_objections_in_every_folder(text: str, id: str) -> None:
    """In a step that shows neither. What the folder says of a label goes first."""
    meeting = Meeting(folder_without_labels())
    meeting.say("Ada", "00-01", text)

    assert [one for one in meeting.specification.entries if not one.startswith("NOTE")] == [id] * bool(id)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("kinds: {a: [", "entries.yaml is not used: line 2: a value or a closing bracket is missing."),
        (
            "colours: {}",
            (
                "entries.yaml has a part 'colours' that means nothing: the parts are kinds, views, plan, help, labels, "
                "fields, words, withdrawn, everyday, before_label, negations, small, positions, "
                "conditions, reasons, myself."
            ),
        ),
        (
            "kinds: {law: {prefix: LAW, name: Law, text: words, fields: {text: text}}}",
            "entries.yaml: the kind 'law' is left out: text names the field 'words', which it does not have.",
        ),
        (
            "kinds: {law: {prefix: FR, name: Law, text: text, fields: {text: text}}}",
            "entries.yaml: The kinds 'requirement' and 'law' have the same prefix, FR.",
        ),
        (
            "kinds: {law: {prefix: LAW, name: Law, text: text, fields: {text: text, of: {type: ref, to: land}}}}",
            "entries.yaml: The field 'of' of the kind 'law' refers to 'land', which is no kind.",
        ),
        (
            "views: [{file: a.md, section: A, show: [{kind: law, as: bullets}]}]",
            "entries.yaml: The view a.md#A shows 'law', which is no kind.",
        ),
        (
            "views: [{file: a.md, section: A, show: [{kind: risk, as: bullets, fields: [colour]}]}]",
            "entries.yaml: The view a.md#A shows 'colour' of 'risk', which has no such field.",
        ),
        (
            "kinds: {law: {prefix: LAW, name: Law, text: text, sentences: ['{text} by {who}'], fields: {text: text}}}",
            (
                "entries.yaml: the kind 'law' is left out:"
                " the sentence '{text} by {who}' names the field 'who', which it does not have."
            ),
        ),
        (
            "kinds: {law: {prefix: LAW, name: Law, text: text, by_value: text, fields: {text: text}}}",
            "entries.yaml: the kind 'law' is left out: 'text' has to be a choice.",
        ),
        (
            "kinds: {law: {prefix: LAW, name: Law, text: text, part_of: land, fields: {text: text}}}",
            "entries.yaml: The kind 'law' is part of 'land', which is no kind.",
        ),
        (
            "kinds: {law: {prefix: LAW, name: Law, text: text, fields: {text: text, of: {type: choice}}}}",
            "entries.yaml: The field 'of' of the kind 'law' is a choice of nothing: it needs `of`.",
        ),
        (
            "kinds: {law: {prefix: LAW, name: Law, anywhere: true, labels: [todo], text: text, fields: {text: text}}}",
            "entries.yaml: The label 'todo' opens 'action' and 'law', both in every step.",
        ),
        (
            "views: [{file: a.md, section: A, items: law, show: [{kind: risk, as: bullets}]}]",
            "entries.yaml: The view a.md#A proposes bullets as 'law', which is no kind.",
        ),
        (
            "views: [{file: a.md, section: A, show: [{as: bullets}]}]",
            "entries.yaml: The view a.md#A does not say which kind it shows.",
        ),
        (
            "views: [{file: a.md, section: A, needs: [{at_least: 1, of: law, ask: What?}]}]",
            "entries.yaml: The view a.md#A needs 'law', which is no kind.",
        ),
        (
            "views: [{file: a.md, section: A, needs: [{ask: What?}]}]",
            (
                "entries.yaml: the view of a.md A is left out: needs.0:"
                " a need is one of: at_least and of; every and has (or named_by); not_all and are."
            ),
        ),
    ],
)
def test_a_mistake_is_told_in_one_sentence_and_the_shipped_kinds_serve(
    tmp_path: Path, text: str, sentence: str
) -> None:
    schema, notes = read(tmp_path, text)

    assert notes == [sentence]
    assert schema.kinds == SCHEMA.kinds


def test_ids_are_written_in_many_ways() -> None:
    """A phone types a dash."""
    assert ids_in("FR-1, FR–002 and AC-1-2, not UTF-8x or A-1-B") == ("FR-001", "FR-002", "AC-001-02")
    assert canonical("FR‑12") == "FR-012"


@pytest.mark.parametrize(
    ("field", "value", "accepted"),
    [
        (KindField(type=FieldType.NUMBER), 3, True),
        (KindField(type=FieldType.NUMBER), True, False),
        (KindField(type=FieldType.LINE), "one", True),
        (KindField(type=FieldType.LINE), 3, False),
        (KindField(type=FieldType.LINE), " spaced ", False),
        (KindField(type=FieldType.LINE, many=True), ["one", "two"], True),
        (KindField(type=FieldType.LINE, many=True), "one", False),
        (KindField(type=FieldType.LINE, many=True), ["one", 2], False),
        (KindField(type=FieldType.LINE, many=True), ["one"] * 10_000, False),
    ],
)
def test_a_value_of_a_model_has_the_shape_of_its_field(
    field: KindField, value: object, *, accepted: bool
) -> None:
    assert field.accepts(value) is accepted
