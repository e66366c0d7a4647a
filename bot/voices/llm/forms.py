"""
In which form the server of a model takes a prompt: with tools, with the schema of the answer, with both, or with
neither.

What a model can do is in its profile. What its server refuses, or does not heed, is seen from its answers: a server
refuses a whole request because of one tool or schema that it cannot read. That is left out for a while, once a request
without it was served: then there are fewer tools or a first search, and the form of the answer is described in words.
"""

import json
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from pydantic_ai.profiles import ModelProfile

from bot.domain.catalog.personas import ModelName
from bot.domain.values.json_files import parse
from bot.voices.model import AnswerSchema, Prompt, Tool

REST_SECONDS = 3600.0
NO_FOREIGN = "{name} does not take the tools of servers: personas with this model have only the other tools."
NO_TOOLS = "{name} takes no tools: personas with this model are shown a first search instead."
IN_WORDS = "{name} does not take the schema {schema}: it is told the form in words."

Clock = Callable[[], float]

log = logging.getLogger(__name__)


class Part(NamedTuple):
    """What a server may refuse of a request, and the sentence about that."""

    key: str
    sentence: str


class RequestForm(NamedTuple):
    tools: Sequence[Tool]
    schema: AnswerSchema | None

    @property
    def parts(self) -> frozenset[Part]:
        """A schema beside tools is another one than alone."""
        found = [Part(_key(one), NO_FOREIGN if one.is_foreign else NO_TOOLS) for one in self.tools]
        if self.schema:
            found.append(Part(f"{self.schema.name} {bool(self.tools)}", IN_WORDS))
        return frozenset(found)


class RequestForms:
    def __init__(self, name: ModelName, profile: ModelProfile, clock: Clock = time.monotonic) -> None:
        self._name = name
        self._can_call = bool(profile.get("supports_tools", True))
        self._keeps_schemas = bool(profile.get("supports_json_schema_output", False))
        # Gemini before version 3 takes one of the two. Other models have no such field in their profile.
        self._combines = bool(profile.get("google_supports_tool_combination", True))
        self._clock = clock
        self._heeds_schemas = False
        self._taken: set[Part] = set()
        self._refused: dict[Part, float] = {}
        """When the rest of each ends."""

    @property
    def sentence(self) -> str:
        """About tools that are left out now, for those who run the bot; empty when none are."""
        sentences = {one.sentence for one, until in self._refused.items() if self._clock() < until}
        return next((one.format(name=self._name) for one in (NO_TOOLS, NO_FOREIGN) if one in sentences), "")

    def of(self, prompt: Prompt) -> Iterator[RequestForm]:
        """
        The best form first, the last one is words alone. What was taken once is not left out: a refusal has another
        reason then.
        """
        tools = prompt.tools.tools if prompt.tools and self._can_call else ()
        own = [one for one in tools if not one.is_foreign]
        for offered in [tools, *([own] if len(own) < len(tools) else []), *([()] if own or tools else [])]:
            has_schema = self._keeps_schemas and (self._combines or not offered)
            for schema in (prompt.schema, None) if has_schema and prompt.schema else (None,):
                form = RequestForm(offered, schema)
                if all(self._refused.get(one, 0.0) <= self._clock() for one in form.parts):
                    yield form
                    if form.parts <= self._taken:
                        return

    def taken(self, form: RequestForm) -> None:
        """The server did not refuse a request in *form*."""
        self._taken |= form.parts

    def leave_out_refused(self, form: RequestForm, refused: Iterable[RequestForm]) -> None:
        """A prompt was answered in *form*, and not in those before it: what it lacks was the reason."""
        self._leave_out({part for one in refused for part in one.parts} - form.parts - self._taken)

    def heard(self, form: RequestForm, answer: str) -> None:
        """A server whose first answer to a schema is not in it ignores schemas, until one is."""
        if form.schema is None:
            return
        self._heeds_schemas = self._heeds_schemas or _is_object(answer)
        if not self._heeds_schemas:
            self._leave_out({one for one in form.parts if one.sentence == IN_WORDS})

    def _leave_out(self, parts: Iterable[Part]) -> None:
        """Several calls at the same time find the same."""
        before = self.sentence
        new = [one for one in parts if self._refused.get(one, 0.0) <= self._clock()]
        self._refused |= dict.fromkeys(new, self._clock() + REST_SECONDS)
        if self.sentence != before:
            log.warning("%s All tools are tried again in %g s.", self.sentence, REST_SECONDS)
        if schemas := {one.key.split()[0] for one in new if one.sentence == IN_WORDS}:
            log.info("%s", IN_WORDS.format(name=self._name, schema=", ".join(sorted(schemas))))


def _key(tool: Tool) -> str:
    return f"{tool.name} {json.dumps(tool.parameters, sort_keys=True, default=str)}"


def _is_object(text: str) -> bool:
    try:
        return isinstance(parse(text), dict)
    except ValueError:
        return False
