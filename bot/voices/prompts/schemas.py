"""
The forms of answers, as JSON schemas that providers hold a model to.

They keep to what all providers take: an object lists all of its fields, requires them, and has no others. A text or a
list that is absent is empty, and only a choice or a number can be null: Anthropic takes at most 16 fields with several
types, and the kinds of one step have up to 55 fields. A schema depends on the step and on nothing that is said in it,
because providers cache prompts together with it.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bot.domain.catalog.schema import REMARK, FieldType, Kind, KindField
from bot.domain.reviews.text import FindingSeverity
from bot.voices.model import AnswerSchema
from bot.voices.prompts.texts import part_of

JsonSchema = Mapping[str, Any]

BLOCK, TURN, DATA = "block", "turn", "data"
"""The forms: one block, or one object, of which people see a part; data for us alone."""

NAME_CHARS = 60
_NO_NAME = re.compile(r"[^a-zA-Z0-9_-]")

TEXT: JsonSchema = {"type": "string"}
FLAG: JsonSchema = {"type": "boolean"}
COUNT: JsonSchema = {"type": "integer"}
NOTHING: JsonSchema = {"type": "null"}
ID: JsonSchema = {
    "type": "string",
    "description": "of an entry that exists, to fill its fields; empty for a new one",
}


def assessment(kinds: Sequence[Kind], step_id: str) -> AnswerSchema | None:
    """An answer to what people say on a step. None where it collects nothing."""
    questions = _list(_object(text=TEXT, to=TEXT, about=COUNT, recommended=TEXT, why=TEXT))
    form = _object(
        declined=FLAG,
        say=_list(_sentence()),
        questions=questions,
        next=questions,
        entries=_list(_entry(kinds)),
    )
    return _named(f"assessment_{step_id}", form, BLOCK) if kinds else None


def turn(personas: Iterable[str]) -> AnswerSchema:
    """What is said in a discussion, by any of *personas*."""
    one = _object(
        persona=_choice(personas),
        say=_list(_sentence()),
        issue=TEXT,
        option=TEXT,
        moved_by=TEXT,
        ask=_object(text=TEXT, to=TEXT),
    )
    return _named("turn", _object(declined=FLAG, contributions=_list(one)), TURN)


def review(answers: Iterable[str]) -> AnswerSchema:
    """Of a draft by another model."""
    form = _object(
        verdicts=_list(_object(claim=COUNT, verdict=_choice(answers), words=TEXT)),
        objection=_sentence(),
        contradictions=_list(_object(one=TEXT, other=TEXT, because=TEXT)),
        missing=_object(person=TEXT, ask=TEXT),
    )
    return _named("review", form)


def findings() -> AnswerSchema:
    severity = _choice(one.value for one in FindingSeverity)
    finding = _object(severity=severity, file=TEXT, line=COUNT, text=TEXT)
    return _named("findings", _object(findings=_list(finding)))


def in_words(form: str) -> str:
    """The sentence in a prompt that a schema takes the place of."""
    return part_of("schemas", f"words: {form}")


def _named(name: str, shape: JsonSchema, form: str = DATA) -> AnswerSchema:
    note = part_of("schemas", f"schema: {form}")
    return AnswerSchema(_NO_NAME.sub("_", name)[:NAME_CHARS], shape, in_words(form), note)


def _entry(kinds: Iterable[Kind]) -> JsonSchema:
    return {"anyOf": [_of_kind(kind) for kind in kinds]}


def _of_kind(kind: Kind) -> JsonSchema:
    """The kind comes first: a model that has chosen it is held to its fields."""
    fields = {
        name: _value(field) for name, field in kind.fields.items() if name != REMARK and not field.by_people
    }
    owner = {"part_of": TEXT} if kind.part_of else {}
    quote = _object(field=TEXT, line=TEXT, words=TEXT)
    return _object(kind=_choice([kind.key]), id=ID, **owner, fields=_object(**fields), quotes=_list(quote))


def _value(field: KindField) -> JsonSchema:
    match field.type:
        case FieldType.CHOICE:
            one = _choice(field.of)
        case FieldType.NUMBER:
            one = COUNT
        case _:
            one = TEXT
    return _list(one) if field.many else one if one is TEXT else _or_nothing(one)


def _object(**fields: JsonSchema) -> JsonSchema:
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def _list(one: JsonSchema) -> JsonSchema:
    return {"type": "array", "items": one}


def _choice(values: Iterable[str]) -> JsonSchema:
    return {"type": "string", "enum": list(values)}


def _sentence() -> JsonSchema:
    """Of prose, with the words of people or of code that say it."""
    return _object(text=TEXT, quotes=_list(_object(line=TEXT, words=TEXT)))


def _or_nothing(one: JsonSchema) -> JsonSchema:
    return {"anyOf": [one, NOTHING]}
