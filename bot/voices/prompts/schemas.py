"""
The forms of answers, as JSON schemas that providers hold a model to.

They keep to what all providers take: an object lists all of its fields, requires them, and has no others; what is
absent is empty. A schema depends on no step and on nothing that is said, because providers cache prompts behind it.
Which fields a kind has is said in words, and code reads no others.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from bot.domain.reviews.text import FindingSeverity
from bot.voices.model import AnswerSchema

JsonSchema = Mapping[str, Any]

TEXT: JsonSchema = {"type": "string"}
FLAG: JsonSchema = {"type": "boolean"}
COUNT: JsonSchema = {"type": "integer"}
ID: JsonSchema = {
    "type": "string",
    "description": "of an entry that exists, to fill its fields; empty for a new one",
}


def draft(kinds: Iterable[str]) -> AnswerSchema:
    """What a persona makes of what people say: entries, as far as they are of *kinds*."""
    questions = _list(_object(text=TEXT, to=TEXT, about=COUNT, recommended=TEXT, why=TEXT, quotes=_quotes()))
    fields = _list(_object(field=TEXT, value=TEXT))
    quotes = _list(_object(field=TEXT, line=TEXT, words=TEXT))
    entry = _object(kind=_choice(kinds), id=ID, part_of=TEXT, fields=fields, quotes=quotes)
    form = _object(
        declined=FLAG, say=_list(_sentence()), questions=questions, next=questions, entries=_list(entry)
    )
    return AnswerSchema("draft", form)


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
    return AnswerSchema("turn", _object(declined=FLAG, contributions=_list(one)))


def review(answers: Iterable[str]) -> AnswerSchema:
    """Of a draft by another model."""
    form = _object(
        verdicts=_list(_object(claim=COUNT, verdict=_choice(answers), words=TEXT)),
        objection=_sentence(),
        contradictions=_list(_object(one=TEXT, other=TEXT, because=TEXT)),
        missing=_object(person=TEXT, ask=TEXT),
    )
    return AnswerSchema("review", form)


def findings() -> AnswerSchema:
    severity = _choice(one.value for one in FindingSeverity)
    finding = _object(severity=severity, file=TEXT, line=COUNT, text=TEXT, quotes=_quotes())
    return AnswerSchema("findings", _object(findings=_list(finding)))


def _object(**fields: JsonSchema) -> JsonSchema:
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def _list(one: JsonSchema) -> JsonSchema:
    return {"type": "array", "items": one}


def _choice(values: Iterable[str]) -> JsonSchema:
    return {"type": "string", "enum": list(values)}


def _sentence() -> JsonSchema:
    """Of prose, with the words of people or of code that say it."""
    return _object(text=TEXT, quotes=_quotes())


def _quotes() -> JsonSchema:
    return _list(_object(line=TEXT, words=TEXT))
