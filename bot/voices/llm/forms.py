"""
In which form the server of a model takes a prompt: with tools, with the schema of the answer, with both, or with
neither.

What a model can do is in its profile. What its server rejects, or does not heed, is seen from its answers and
remembered: then there are fewer tools or a first search, and the form of the answer is only described in words.
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from pydantic_ai.profiles import ModelProfile

from bot.domain.catalog.personas import ModelName
from bot.domain.values.json_files import parse
from bot.voices.llm.tool_support import ToolSupport
from bot.voices.model import AnswerSchema, Prompt, Tool

log = logging.getLogger(__name__)

EVERY = ""
"""In place of the name of a schema."""


class RequestForm(NamedTuple):
    tools: Sequence[Tool]
    schema: AnswerSchema | None


class RequestForms:
    def __init__(self, name: ModelName, profile: ModelProfile, tool_support: ToolSupport) -> None:
        self._name = name
        self._tool_support = tool_support
        self._keeps_schemas = bool(profile.get("supports_json_schema_output", False))
        # Gemini before version 3 takes one of the two. Other models have no such field in their profile.
        self._combines = bool(profile.get("google_supports_tool_combination", True))
        self._heeds_schemas: bool | None = None
        # By whether tools were offered with it, and its name: of several schemas one may be too complex.
        self._taken: set[tuple[bool, str]] = set()
        self._rejected: set[tuple[bool, str]] = set()

    def of(self, prompt: Prompt) -> Iterator[RequestForm]:
        """The best form first. What was taken once is not left out any more: a rejection has another reason then."""
        for tools in self._tool_support.offers(prompt.tools.tools if prompt.tools else ()):
            for schema in self._schemas(prompt.schema, tools=bool(tools)):
                yield RequestForm(tools, schema)
            if self._tool_support.has_taken(tools):
                return

    def _schemas(self, schema: AnswerSchema | None, *, tools: bool) -> Sequence[AnswerSchema | None]:
        if schema is None or not self._keeps_schemas or self._heeds_schemas is False:
            return (None,)
        if tools and not self._combines:
            return (None,)
        if not self._rejected.isdisjoint({(tools, EVERY), (tools, schema.name)}):
            return (None,)
        return (schema,) if (tools, schema.name) in self._taken else (schema, None)

    def taken(self, form: RequestForm) -> None:
        """The server did not reject a request in *form*."""
        self._tool_support.began(form.tools)
        if form.schema:
            self._taken.add((bool(form.tools), form.schema.name))

    def settled(self, form: RequestForm, rejected: Iterable[RequestForm]) -> None:
        """A prompt was answered in *form*, and not in those before it: what it lacks was the reason."""
        if any(len(one.tools) > len(form.tools) for one in rejected):
            self._tool_support.refused(but_took=form.tools)
        for one in rejected:
            if one.schema and not form.schema and bool(one.tools) is bool(form.tools):
                self._reject(one.schema.name, tools=bool(form.tools))

    def _reject(self, schema: str, *, tools: bool) -> None:
        takes_others = any(with_tools is tools for with_tools, _ in self._taken)
        rejected = tools, schema if takes_others else EVERY
        if rejected not in self._rejected:
            log.info("%s does not take the schema %s: it is told the form in words", self._name, schema)
            self._rejected.add(rejected)

    def heard(self, form: RequestForm, answer: str) -> None:
        """A server whose first answer to a schema is not in it ignores schemas, until one is."""
        if form.schema is None:
            return
        if _is_object(answer):
            self._heeds_schemas = True
        elif self._heeds_schemas is None:
            told = "%s does not answer in the schema %s: it is told the form in words"
            log.info(told, self._name, form.schema.name)
            self._heeds_schemas = False


def _is_object(text: str) -> bool:
    try:
        return isinstance(parse(text), dict)
    except ValueError:
        return False
