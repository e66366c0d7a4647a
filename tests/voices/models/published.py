"""
What providers publish about the schema of an answer: where it stands in a request, and what of JSON schema they take.

- OpenAI, structured outputs: every field is required, no others, 10 levels, 5,000 fields, 1,000 values of choices.
- Anthropic, structured outputs (also on Bedrock): no limits of length, 16 fields with several types, 24 optional ones.
- Google, `responseJsonSchema`: a list of keywords, no empty value of a choice; before Gemini 3 not together with tools.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

Json = dict[str, Any]

COMMON = {"type", "properties", "required", "additionalProperties", "items", "anyOf", "enum", "description"}
TYPES = {"object", "array", "string", "integer", "number", "boolean", "null"}
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
LEVELS, FIELDS, VALUES, CHARS = 10, 5_000, 1_000, 120_000
UNIONS = 16


class SentSchema(NamedTuple):
    """*name* is empty for a provider that takes none."""

    name: str
    form: Json
    strict: bool


def schema_in(path: str, body: Json) -> SentSchema | None:
    """Where each way of speaking has it."""
    if path.endswith("/chat/completions"):
        return _named(body.get("response_format", {}).get("json_schema"))
    if path.endswith("/responses"):
        return _named(body.get("text", {}).get("format"))
    if path.endswith("/messages"):
        found = body.get("output_config", {}).get("format")
        return SentSchema("", found["schema"], strict=True) if found else None
    if path.endswith("/converse"):
        found = body.get("outputConfig", {}).get("textFormat")
        told = found["structure"]["jsonSchema"] if found else None
        return SentSchema(told["name"], json.loads(told["schema"]), strict=True) if told else None
    found = body.get("generationConfig", {}).get("responseJsonSchema")
    return SentSchema("", found, strict=True) if found else None


def _named(found: Json | None) -> SentSchema | None:
    return SentSchema(found["name"], found["schema"], found.get("strict") is True) if found else None


def breaches(path: str, body: Json) -> list[str]:
    """Why the provider would answer 400."""
    sent = schema_in(path, body)
    if sent is None:
        return []
    is_google = "generationConfig" in body
    found = list(_of_all(sent.form, COMMON | {"title"} if is_google else COMMON))
    if path.endswith(("/chat/completions", "/responses")):
        found += [] if NAME.fullmatch(sent.name) else ["its name is not in the form of one"]
    elif path.endswith(("/messages", "/converse")):
        unions = sum("anyOf" in one or isinstance(one.get("type"), list) for one in _fields(sent.form))
        found += [f"{unions} fields have several types"] if unions > UNIONS else []
    else:
        mime = body["generationConfig"].get("responseMimeType")
        found += [] if mime == "application/json" else ["the schema has no mime type of JSON"]
        found += ["no tools with a schema"] if body.get("tools") and "gemini-2" in path else []
        found += ["an empty value of a choice"] if "" in _values(sent.form) else []
    return found


def _of_all(form: Json, words: set[str]) -> Iterator[str]:
    if form.get("type") != "object":
        yield "the schema is not of an object"
    for one in _schemas(form):
        if unknown := one.keys() - words:
            yield f"{sorted(unknown)} means nothing there"
        if not ({"type", "anyOf", "enum"} & one.keys()) or ("type" in one and one["type"] not in TYPES):
            yield "it does not say of what type"
        if one.get("type") == "object" and (
            one.get("additionalProperties") is not False or set(one["required"]) != set(one["properties"])
        ):
            yield "an object does not require all that it may have, and nothing else"
    names = [name for one in _schemas(form) for name in one.get("properties", {})]
    if len(names) > FIELDS or len(_values(form)) > VALUES or _levels(form) > LEVELS:
        yield "it is too large"
    if sum(map(len, (*names, *map(str, _values(form))))) > CHARS:
        yield "its words are too long"


def _schemas(form: Json) -> Iterator[Json]:
    yield form
    for one in (*form.get("properties", {}).values(), *form.get("anyOf", ())):
        yield from _schemas(one)
    if "items" in form:
        yield from _schemas(form["items"])


def _fields(form: Json) -> list[Json]:
    return [field for one in _schemas(form) for field in one.get("properties", {}).values()]


def _values(form: Json) -> list[Any]:
    return [value for one in _schemas(form) for value in one.get("enum", ())]


def _levels(form: Json) -> int:
    inside = [*form.get("properties", {}).values(), *form.get("anyOf", ())]
    inside += [form["items"]] if "items" in form else []
    return (form.get("type") == "object") + max(map(_levels, inside), default=0)
